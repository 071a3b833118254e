// SPDX-License-Identifier: LGPL-2.1-or-later
/* Ends, signals, and that the program finds nothing changed. */
#include "trace_run.h"
#include "tree.h"

#include <errno.h>

#include "machine.h"

static void test_exit_statuses(void **state)
{
	static const char *const codes[] = { "0", "1", "42", "255" };
	static const char *const deaths[] = { "9", "15", "11", "1", "2", "6" };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct run r = make_run(i % 2);

		launch(&r, "signals", "exit", codes[i]);
		assert_exit(&r, atoi(codes[i]));
		done(&r);
	}
	for (size_t i = 0; i < 6; i++) {
		struct run r = make_run(i % 2);

		launch(&r, "signals", "die", deaths[i]);
		assert_true(WIFSIGNALED(r.status));
		assert_int_equal(WTERMSIG(r.status), atoi(deaths[i]));
		assert_sane(&r);
		done(&r);
	}
}

static void test_cannot_run(void **state)
{
	static char *const argv[3][2] = {
		{ (char *)"no-such-program-here", NULL },
		{ (char *)"/etc/passwd", NULL },
		{ (char *)"/no/such/file", NULL },
	};
	struct run r = make_run(false);

	(void)state;
	/* exec fails with EACCES if one of the directories may not be searched */
	setenv("PATH", "/usr/bin:/bin", 1);
	r.t = trace_new(&r.opts, &ops, &r);
	assert_int_equal(trace_launch(r.t, argv[0]), ENOENT);
	assert_int_equal(trace_launch(r.t, argv[1]), EACCES);
	assert_int_equal(trace_launch(r.t, argv[2]), ENOENT);
	assert_int_equal(trace_run(r.t), 0);
	assert_int_equal(r.n, 0);
	trace_free(r.t);
}

static void storm_body(bool no_seccomp)
{
	struct run r = make_run(no_seccomp);

	launch(&r, "signals", "storm", "500");
	assert_exit(&r, 0);
	assert_int_equal(count(&r, SIGNALLED, SIGUSR1), 500);
	done(&r);
	r = make_run(no_seccomp);
	launch(&r, "signals", "kids", "30");
	assert_exit(&r, 0);
	assert_int_equal(count(&r, SIGNALLED, SIGCHLD), 30);
	assert_int_equal(count(&r, GONE, SIGKILL), 30);
	done(&r);
}

static void test_signals(void **state)
{
	(void)state;
	both_ways(storm_body);
}

/* A stop in the middle of poll: restarted, and its result shown as it is. */
static void stop_body(bool no_seccomp)
{
	struct run r = make_run(no_seccomp);
	size_t restarts = 0;

	r.close_later = true;
	launch(&r, "signals", "stop", NULL);
	assert_exit(&r, 0);
	assert_sane(&r);
	for (size_t i = 0; i < r.n; i++)
		if (r.events[i].what == EXIT && is_poll(&r.events[i])) {
			assert_true(r.events[i].flag);
			assert_true(r.events[i].ret >= 512 && r.events[i].ret <= 516);
			restarts++;
		}
	assert_int_equal(restarts, 1);
	done(&r);
	r = make_run(no_seccomp);
	launch(&r, "signals", "tstp", NULL);
	assert_exit(&r, 0);
	assert_sane(&r);
	done(&r);
}

static void test_job_control(void **state)
{
	(void)state;
	both_ways(stop_body);
}

static char *slurp(const char *path)
{
	char *text = calloc(1, 1 << 20);
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	return text;
}

/* The program finds what it would find without us. */
static void mirror_body(bool no_seccomp)
{
	char path[TREE_PATH], *native, *traced;
	struct run r = make_run(no_seccomp);
	int status;
	pid_t pid;

	tree_template(path, "mirror");
	close(mkstemp(path));
	pid = fork();
	if (pid == 0) {
		execl(target("mirror"), "mirror", path, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	native = slurp(path);
	launch(&r, "mirror", path, NULL);
	assert_exit(&r, 0);
	traced = slurp(path);
	unlink(path);
	/* documented: only root may have a filter without this; none where another one answers */
	if (geteuid() && !no_seccomp && events_open() && strstr(native, "nnp 0"))
		strstr(native, "nnp 0")[4] = '1';
	assert_string_equal(native, traced);
	free(native);
	free(traced);
	done(&r);
}

static void test_unnoticed(void **state)
{
	sigset_t set, old;

	(void)state;
	both_ways(mirror_body);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	both_ways(mirror_body);
	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* Our caller's ignored SIGCHLD reaches the program and comes back to us. */
static void test_ignored_sigchld(void **state)
{
	char path[TREE_PATH], *text, line[64];
	struct run r = make_run(false);
	struct sigaction action;

	(void)state;
	tree_template(path, "mirror");
	close(mkstemp(path));
	signal(SIGCHLD, SIG_IGN);
	launch(&r, "mirror", path, NULL);
	sigaction(SIGCHLD, NULL, &action);
	signal(SIGCHLD, SIG_DFL);
	assert_true(action.sa_handler == SIG_IGN);
	assert_exit(&r, 0);
	text = slurp(path);
	unlink(path);
	snprintf(line, sizeof(line), "signal %d blocked 0 ignored 1\n",
		 SIGCHLD);
	assert_non_null(strstr(text, line));
	free(text);
	done(&r);
}

/* The target dies at any stop at all: no hang, no second end. */
static void test_killed_anywhere(void **state)
{
	static const char *const verbs[] = { "many", "threads", "fork",
					     "vfork" };

	(void)state;
	srand(1);
	for (int i = 0; i < 200; i++) {
		struct run r = make_run(i % 2);

		r.kill_at = 1 + rand() % (i % 4 < 2 ? 40 : 8);
		launch(&r, "tree", verbs[i % 4], "12");
		assert_sane(&r);
		done(&r);
	}
}

/* SIGTERM by kill(2) goes to the launched program. */
static void test_forwarded(void **state)
{
	struct run r = make_run(false);

	(void)state;
	r.term_at = 2; /* its mark: the handler is there */
	launch(&r, "signals", "term", NULL);
	assert_exit(&r, 3);
	assert_int_equal(count(&r, SIGNALLED, SIGTERM), 1);
	done(&r);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_statuses),
		cmocka_unit_test(test_cannot_run),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_job_control),
		cmocka_unit_test(test_unnoticed),
		cmocka_unit_test(test_ignored_sigchld),
		cmocka_unit_test(test_killed_anywhere),
		cmocka_unit_test(test_forwarded),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return run_traced(tests);
}
