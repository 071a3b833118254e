// SPDX-License-Identifier: LGPL-2.1-or-later
/* Attaching to what runs already, and letting it go unharmed. */
#include "trace_run.h"

#include <errno.h>
#include <sys/prctl.h>

static pid_t start_crowd(const char *n, int *out)
{
	int p[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(p), 0);
	pid = fork();
	if (pid == 0) {
		dup2(p[1], 1);
		close(p[0]);
		close(p[1]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(target("crowd"), "crowd", n, (char *)NULL);
		_exit(127);
	}
	close(p[1]);
	assert_int_equal(read(p[0], &byte, 1), 1);
	*out = p[0];
	return pid;
}

static long tracer_of(pid_t tid)
{
	char path[64], line[256];
	long tracer = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "TracerPid: %ld", &tracer) == 1)
			break;
	fclose(f);
	return tracer;
}

static char state_of(pid_t tid)
{
	char path[64], state = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	f = fopen(path, "r");
	if (!f)
		return '?';
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	fclose(f);
	return state;
}

/* Attach, be told to stop, and the process has not noticed anything. */
static void test_attach(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		struct run r = make_run(false);
		int out, status;
		pid_t pid = start_crowd("5", &out);

		alarm(300);
		r.term_at = 20 + 37 * i;
		r.t = trace_new(&r.opts, &ops, &r);
		assert_int_equal(trace_attach(r.t, pid), 0);
		assert_int_equal(tracer_of(pid), getpid());
		assert_int_equal(trace_run(r.t), 0);
		trace_free(r.t);
		assert_sane(&r);
		assert_int_equal(count(&r, BORN, ANY), 11);
		assert_int_equal(count(&r, GONE, -1), 11);
		assert_true(r.events[0].attached);
		assert_int_equal(r.events[0].tid, pid);
		assert_true(count(&r, ENTER, 10) > 0);
		for (size_t j = 0; j < 11; j++)
			assert_int_equal(tracer_of(find(&r, BORN, ANY, j)->tid),
					 0);
		kill(pid, SIGUSR1);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		close(out);
		alarm(0);
		done(&r);
	}
}

/* A stopped process can be traced, and let go, and stays stopped. */
static void test_attach_stopped(void **state)
{
	struct run r = make_run(false);
	int out, status;
	pid_t pid = start_crowd("3", &out);

	(void)state;
	alarm(300);
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	r.term_at = 7; /* all are born */
	r.t = trace_new(&r.opts, &ops, &r);
	assert_int_equal(trace_attach(r.t, pid), 0);
	assert_int_equal(trace_run(r.t), 0);
	trace_free(r.t);
	assert_int_equal(count(&r, ENTER, ANY), 0);
	assert_int_equal(count(&r, GONE, -1), 7);
	for (int i = 0; i < 1000 && state_of(pid) != 'T'; i++)
		usleep(10000);
	usleep(50000);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	assert_int_equal(state_of(pid), 'T');
	kill(pid, SIGUSR1);
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(out);
	alarm(0);
	done(&r);
}

/* The whole of an attached process ends by itself. */
static void test_attach_ends(void **state)
{
	struct run r = make_run(false);
	int out, status;
	pid_t pid = start_crowd("3", &out), parent = getpid();

	(void)state;
	alarm(300);
	r.t = trace_new(&r.opts, &ops, &r);
	assert_int_equal(trace_attach(r.t, pid), 0);
	if (fork() == 0) {
		usleep(100000);
		kill(pid, SIGUSR1);
		_exit(parent == 0);
	}
	assert_int_equal(trace_run(r.t), 0);
	trace_free(r.t);
	assert_sane(&r);
	assert_int_equal(count(&r, GONE, 0), 7);
	assert_int_equal(waitpid(pid, &status, 0), -1); /* we took its end */
	close(out);
	alarm(0);
	done(&r);
}

/* The first thread has ended, and the others are a process still. */
static void test_attach_orphan(void **state)
{
	struct run r = make_run(false);
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(target("execs"), "execs", "headless", (char *)NULL);
		_exit(127);
	}
	alarm(300);
	while (state_of(pid) != 'Z')
		usleep(1000);
	r.t = trace_new(&r.opts, &ops, &r);
	assert_int_equal(trace_attach(r.t, pid), 0);
	assert_int_equal(count(&r, BORN, ANY), 3);
	trace_free(r.t);
	assert_int_equal(count(&r, GONE, -1), 3);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	alarm(0);
	done(&r);
}

/* Nothing there any more to attach to. */
static void test_attach_zombie(void **state)
{
	struct run r = make_run(false);
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	while (state_of(pid) != 'Z')
		usleep(1000);
	r.t = trace_new(&r.opts, &ops, &r);
	assert_int_equal(trace_attach(r.t, pid), ESRCH);
	trace_free(r.t);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_attach_refused(void **state)
{
	struct run r = make_run(false);
	int out;
	pid_t pid = start_crowd("1", &out);
	char none[1];

	(void)state;
	r.t = trace_new(&r.opts, &ops, &r);
	assert_int_equal(trace_attach(r.t, getpid()), EINVAL);
	assert_int_equal(trace_attach(r.t, 0x3ffffff), ESRCH);
	assert_int_equal(trace_attach(r.t, -1), ESRCH);
	/* a thread of the kernel, which has no program, unless this is another PID namespace */
	if (!access("/proc/2", F_OK) && readlink("/proc/2/exe", none, sizeof(none)) < 0)
		assert_int_equal(trace_attach(r.t, 2), EPERM);
	assert_int_equal(r.n, 0);
	assert_int_equal(trace_attach(r.t, pid), 0);
	assert_int_equal(trace_attach(r.t, pid), 0); /* once more: nothing to do */
	trace_free(r.t); /* lets go of it */
	assert_int_equal(tracer_of(pid), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(out);
	done(&r);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attach),
		cmocka_unit_test(test_attach_stopped),
		cmocka_unit_test(test_attach_ends),
		cmocka_unit_test(test_attach_orphan),
		cmocka_unit_test(test_attach_zombie),
		cmocka_unit_test(test_attach_refused),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return run_traced(tests);
}
