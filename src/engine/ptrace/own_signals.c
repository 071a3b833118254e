// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/own_signals.h"

#include "core/lib/die.h"
#include "engine/ptrace/delay.h"
#include "engine/ptrace/leave.h"
#include "engine/ptrace/task.h"

void own_signals_block(struct tracer *t)
{
	struct sigaction action;
	sigset_t blocked;

	sigemptyset(&t->inherited.ignored);
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (!sigaction(sig, NULL, &action) && action.sa_handler == SIG_IGN)
			sigaddset(&t->inherited.ignored, sig);

	/* While SIGCHLD is ignored, the kernel reaps children without a wait status. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&t->fetched);
	sigemptyset(&t->stop_signals);
	/* nohup(1) and shells that run a job in the background ignore some of these */
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (signal_forward_is_end(sig) && !sigismember(&t->inherited.ignored, sig))
			sigaddset(&t->fetched, sig);
	blocked = t->fetched;
	sigaddset(&blocked, SIGTTOU); /* pevtrace may write while in the background */
	sigprocmask(SIG_BLOCK, &blocked, &t->inherited.mask);
}

static void own_signals_ignore(int sig)
{
	(void)sig;
}

void own_signals_restore(struct tracer *t)
{
	const struct sigaction once = {
		.sa_handler = own_signals_ignore, .sa_flags = (int)SA_RESETHAND
	};
	static const struct timespec at_once;
	struct sigaction action;

	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (sigismember(&t->fetched, sig) == 1 &&
		    !sigismember(&t->stop_signals, sig) &&
		    !sigaction(sig, NULL, &action) && action.sa_handler == SIG_DFL)
			sigaction(sig, &once, NULL);
	/* Discard pending signals: what they ask for has been done. */
	while (sigtimedwait(&t->fetched, NULL, &at_once) > 0 ||
	       sigtimedwait(&t->stop_signals, NULL, &at_once) > 0)
		;
	if (sigismember(&t->inherited.ignored, SIGCHLD))
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, &t->inherited.mask, NULL);
}

static size_t count_filtered(const struct tracer *t)
{
	struct task *task;
	size_t at = 0, n = 0;

	while ((task = task_next(t, &at)))
		n += task->filtered;
	return n;
}

/* Warn at the first request to end, leave at the second: n tasks cannot be detached. */
static void leave_remains(struct tracer *t, size_t n)
{
	if (t->end_requests++) {
		leave_start(t);
		return;
	}
	warn("cannot detach from %zu task%s that the program left behind: a seccomp filter "
	     "requires the tracer; send the signal again to kill %s",
	     n, n == 1 ? "" : "s", n == 1 ? "it" : "them");
}

static void own_signals_act(struct tracer *t, const siginfo_t *info)
{
	size_t filtered;

	if (t->launched && !t->launched_ended && !t->leaving) {
		signal_forward(t, info);
		return;
	}
	if (sigismember(&t->stop_signals, info->si_signo) == 1)
		signal_forward_stop(t, info->si_signo);
	if (!signal_forward_is_end(info->si_signo))
		return; /* sent to the launched program, which has ended */
	if (t->leaving) {
		/* Some task does not stop; the exit of pevtrace detaches it. */
		leave_kill_filtered(t);
		leave_forget(t);
		return;
	}
	filtered = count_filtered(t);
	if (filtered)
		leave_remains(t, filtered);
	else
		leave_start(t);
}

void own_signals_handle(struct tracer *t)
{
	static const struct timespec at_once;
	siginfo_t info;

	while (sigtimedwait(&t->fetched, &info, &at_once) > 0) {
		own_signals_act(t, &info);
		/* The sender of a signal such as SIGINT does not wait for delays. */
		delay_end_all(t);
	}
}
