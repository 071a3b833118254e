// SPDX-License-Identifier: LGPL-2.1-or-later
#include "experiment/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/lib/program.h"

static _Noreturn void child(int go, int report, const struct program *p, char *const *argv,
			    const sigset_t *mask)
{
	char byte;
	ssize_t n;
	int err;

	do
		n = read(go, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (!n)
		_exit(EXIT_TROUBLE); /* nothing could be measured; the parent warned */
	if (n > 0) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		err = program_exec(p, argv);
	} else {
		err = errno;
	}
	n = write(report, &err, sizeof(err));
	_exit(n < 0 ? EXIT_TROUBLE : 127);
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

bool workload_fork(struct workload *w, const struct program *p, char *const *argv,
		   const sigset_t *mask)
{
	int report[2] = { -1, -1 };

	*w = (struct workload){ .pid = -1, .go = { -1, -1 }, .name = argv[0] };
	if (!pipe2(w->go, O_CLOEXEC) && !pipe2(report, O_CLOEXEC))
		w->pid = fork();
	if (!w->pid) {
		close(w->go[1]);
		child(w->go[0], report[1], p, argv, mask);
	}
	w->report = report[0];
	if (w->pid < 0)
		warn("cannot start '%s': %s%s", argv[0], strerror(errno), error_advice(errno));
	shut(&report[1]);
	if (w->pid > 0)
		return true;
	w->pid = 0;
	workload_end(w);
	return false;
}

bool workload_go(struct workload *w)
{
	int err;
	ssize_t n;

	/* we have a reading end, too: no SIGPIPE if the child was killed */
	do
		n = write(w->go[1], "", 1);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		warn("cannot start '%s': %s", w->name, strerror(errno));
		return false;
	}
	shut(&w->go[0]);
	shut(&w->go[1]);
	do
		n = read(w->report, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	shut(&w->report);
	if (n != (ssize_t)sizeof(err))
		return true;
	program_warn(w->name, err);
	return false;
}

static void reap(struct workload *w, int flags)
{
	pid_t got;

	if (!w->pid || w->ended)
		return;
	do
		got = waitpid(w->pid, &w->status, flags);
	while (got < 0 && errno == EINTR);
	w->ended = got == w->pid || got < 0;
}

void workload_reap(struct workload *w)
{
	reap(w, WNOHANG);
}

void workload_end(struct workload *w)
{
	shut(&w->go[0]);
	shut(&w->go[1]);
	shut(&w->report);
	workload_reap(w);
	if (w->pid && !w->ended)
		kill(w->pid, SIGKILL);
	reap(w, 0);
}

int end_like(int status)
{
	sigset_t set;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* do not overwrite its core dump with ours */
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	signal(WTERMSIG(status), SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	kill(getpid(), WTERMSIG(status)); /* raise(3) refuses the signals of libc */
	return 128 + WTERMSIG(status); /* the init of a PID namespace survives */
}
