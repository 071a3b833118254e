// SPDX-License-Identifier: LGPL-2.1-or-later
/* Starting a program under trace, so that it finds nothing changed. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/die.h"
#include "trace/proc.h"
#include "trace/task.h"

enum trouble_at { AT_FILTER, AT_EXEC };

/* What the child has to say, through a pipe that its exec closes. */
struct trouble {
	enum trouble_at at;
	int err;
};

struct launch {
	int go[2]; /* parent to child: we trace you now */
	int report[2]; /* child to parent: struct trouble */
	char *const *argv;
	bool filtered;
};

static void report(const struct launch *l, enum trouble_at at, int err)
{
	struct trouble trouble = { at, err };
	ssize_t n;

	do
		n = write(l->report[1], &trouble, sizeof(trouble));
	while (n < 0 && errno == EINTR);
}

/* Only what was ignored stays so across exec: undo what we did since. */
static void restore_signals(const struct inherited *in)
{
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		signal(sig,
		       sigismember(&in->ignored, sig) == 1 ? SIG_IGN : SIG_DFL);
}

static _Noreturn void child(const struct tracer *t, const struct launch *l)
{
	char byte;
	ssize_t n;
	int err;

	close(l->go[1]); /* or the tracer's sudden end would not be noticed */
	do
		n = read(l->go[0], &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		report(l, AT_EXEC, errno);
	if (n != 1)
		_exit(EXIT_TROUBLE); /* the tracer gave up, and said why */
	setrlimit(RLIMIT_NOFILE, &t->inherited.nofile);
	restore_signals(&t->inherited);
	if (l->filtered) {
		err = filter_install(&t->filter);
		if (err)
			report(l, AT_FILTER, err);
	}
	sigprocmask(SIG_SETMASK, &t->inherited.mask, NULL);
	execvp(l->argv[0], l->argv);
	report(l, AT_EXEC, errno);
	_exit(127);
}

static bool want_filter(struct tracer *t)
{
	int err;

	/* A child that is let go would be left with a filter: see leave.c. */
	if (t->opts->no_seccomp || t->opts->detach_on_exec)
		return false;
	if (t->filter.len)
		return true;
	err = filter_build(&t->filter, t->opts, &t->nrs);
	if (err)
		warn("cannot make a seccomp filter: %s; every system call of "
		     "the program will stop it, so it will run slower",
		     strerror(err));
	else
		filter_mark(&t->filter, t->mark);
	return !err;
}

static const char *advice(const char *file, int err)
{
	switch (err) {
	case ENOENT:
		if (!strchr(file, '/'))
			return "; no directory of PATH has it";
		if (!access(file, F_OK))
			return "; the file is there, but the interpreter or "
			       "loader that it names is not";
		return "; check the path";
	case EACCES:
		return "; is it an executable file, and may you run it?";
	case ENOEXEC:
		return "; it is not a program for this machine";
	case E2BIG:
		return "; shorten the arguments or the environment";
	}
	return "";
}

/* Takes the child's words, if it left any; true if it could exec. */
static int heed(struct tracer *t, struct launch *l, struct task *task)
{
	struct trouble trouble;
	int err = 0;

	while (read(l->report[0], &trouble, sizeof(trouble)) ==
	       (ssize_t)sizeof(trouble)) {
		if (trouble.at == AT_EXEC) {
			err = trouble.err;
			warn("cannot run '%s': %s%s", l->argv[0], strerror(err),
			     advice(l->argv[0], err));
			continue;
		}
		if (task)
			task->filtered = false;
		filter_free(&t->filter);
		warn("cannot install a seccomp filter: %s; every system call "
		     "of the program will stop it, so it will run slower",
		     strerror(trouble.err));
	}
	return err;
}

static int seize(pid_t pid, bool filtered)
{
	int err;

	if (!ptrace_do(PTRACE_SEIZE, pid, 0, seize_options(true, filtered)))
		return 0;
	err = errno;
	if (err == EPERM && proc_status(getpid(), "TracerPid") > 0)
		warn("cannot trace the program: pevtrace itself is traced by "
		     "process %ld, and so is all that it starts; a task has "
		     "one tracer",
		     proc_status(getpid(), "TracerPid"));
	else
		warn("cannot trace the program: %s%s", strerror(err),
		     err == EPERM || err == ENOSYS || err == EACCES
			     ? "; does a container, a security module or "
			       "kernel.yama.ptrace_scope forbid ptrace?"
			     : "");
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return err;
}

/*
 * Sees the child through to its exec, or to its end: the exec's stop is
 * handled here, and the task left in it until heed() has spoken.  err: it was
 * killed for that.
 */
static int see_off(struct tracer *t, struct launch *l, pid_t pid, int err)
{
	int status = 0;

	for (;;) {
		unsigned int event;
		pid_t got = wait4(pid, &status, __WALL, NULL);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || !WIFSTOPPED(status))
			break;
		event = (unsigned int)status >> 16;
		if (event == PTRACE_EVENT_EXEC) {
			err = heed(t, l, task_find(t, pid));
			stop_handle(t, pid, status);
			return err;
		}
		stop_handle(t, pid, status);
	}
	if (!err)
		err = heed(t, l, NULL);
	if (!err) {
		/* A signal came between: the program had a short life. */
		struct trace_birth birth = { .tid = pid, .pid = pid };

		task_find(t, pid)->starting = false;
		t->ops->born(t->ctx, &birth);
	} else {
		t->launched = 0;
	}
	task_gone(t, task_find(t, pid), status);
	return err;
}

static int parent(struct tracer *t, struct launch *l, pid_t pid)
{
	struct task *task;
	int err = seize(pid, l->filtered);

	if (err)
		return err;
	task = task_add(t, pid, pid);
	task->starting = true;
	task->root = true;
	task->filtered = l->filtered;
	if (l->filtered)
		task->guard = second_filter_new();
	t->launched = pid;
	if (write(l->go[1], "", 1) != 1) {
		err = errno;
		warn("cannot start '%s': %s", l->argv[0], strerror(err));
		kill(pid, SIGKILL);
	}
	return see_off(t, l, pid, err);
}

static void close_pipe(int p[2])
{
	close(p[0]);
	close(p[1]);
}

int trace_launch(struct tracer *t, char *const argv[])
{
	struct launch l = { .argv = argv };
	pid_t pid = -1;
	int err = 0;

	signal_forward_take(t);
	l.filtered = want_filter(t);
	if (pipe2(l.go, O_CLOEXEC)) {
		err = errno;
	} else if (pipe2(l.report, O_CLOEXEC)) {
		err = errno;
		close_pipe(l.go);
	} else {
		pid = fork();
		if (pid == 0)
			child(t, &l);
		if (pid < 0) {
			err = errno;
			close_pipe(l.report);
			close_pipe(l.go);
		}
	}
	if (err) {
		warn("cannot start '%s': %s%s", argv[0], strerror(err), error_advice(err));
		return err;
	}
	close(l.report[1]);
	err = parent(t, &l, pid);
	close(l.report[0]);
	close_pipe(l.go);
	return err;
}
