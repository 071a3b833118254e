// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The parent of pevtrace knows the launched program by the pid of pevtrace, and signals
 * that.  Both are in one process group.  A signal to pevtrace alone is forwarded, one to
 * the whole group is not.  Neither ends pevtrace.
 */
#include "engine/ptrace/signal_forward.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/lib/program.h"
#include "engine/ptrace/proc.h"
#include "engine/ptrace/task.h"

/* Kill the program at this number of requests to end within this time. */
enum { END_REQUESTS = 3 };
static const uint64_t end_requests_ns = 2000000000;

/* If one signal went to both, both get it within this time. */
static const uint64_t same_ns = 1000000000;

/* Return whether the signal asks a program to end. */
static bool signal_forward_is_end(int sig)
{
	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
}

static bool is_stop(int sig)
{
	return sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

void signal_forward_block(struct tracer *t)
{
	struct sigaction action;

	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		/* pulse_start() and sanitizers handle some signals */
		if (sig == SIGCHLD || sigismember(&t->inherited.ignored, sig) ||
		    sigaction(sig, NULL, &action) ||
		    (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN))
			continue;
		sigaddset(&t->fetched, sig);
		if (is_stop(sig))
			sigaddset(&t->stop_signals, sig);
	}
	sigprocmask(SIG_BLOCK, &t->fetched, NULL);
}

/* Return how often the program got the signal and pevtrace did not yet, or minus the reverse. */
static int more_to_program(const struct signal_count *c, const siginfo_t *info)
{
	return c->from == info->si_pid && clock_ns() - c->ns <= same_ns ? c->more : 0;
}

/* Count a signal that the program (by: 1) or pevtrace (by: -1) got. */
static void signal_forward_count(struct tracer *t, const siginfo_t *info, int by)
{
	struct signal_count *c = &t->signals[info->si_signo];

	by += more_to_program(c, info);
	if (info->si_signo < SIGRTMIN) /* several may have become one */
		by = by < -1 ? -1 : by > 1 ? 1 : by;
	c->from = info->si_pid;
	c->ns = clock_ns();
	c->more = by;
}

void signal_forward_note(struct tracer *t, const struct task *task, const siginfo_t *info)
{
	int sig = info->si_signo;

	if (task->pid != t->launched || sig < 1 || sig >= FORWARD_SIGNALS)
		return;
	if (info->si_pid == getpid() && t->signals[sig].forwarded)
		t->signals[sig].forwarded = sig < SIGRTMIN ? 0 : t->signals[sig].forwarded - 1;
	signal_forward_count(t, info, 1);
}

/* Return whether the kernel sent the signal to the program as well. */
static bool program_got_from_kernel(const struct tracer *t, int sig)
{
	/* the kernel sends a hangup to the session leader only */
	if (sig == SIGHUP && getsid(0) == getpid())
		return false;
	/*
	 * A terminal sends these to the whole of a process group.  A program like timeout(1)
	 * leaves that.
	 */
	if (sig == SIGINT || sig == SIGQUIT || sig == SIGHUP || sig == SIGCONT ||
	    sig == SIGWINCH || is_stop(sig))
		return getpgid(t->launched) == getpgrp();
	return sig == SIGXCPU; /* every process has its own limit */
}

/* Return whether a task of the program has stopped for the signal, which wait4() has yet to say. */
static bool stops_for(const struct tracer *t, const siginfo_t *info)
{
	struct task *task;
	siginfo_t got;
	size_t at = 0;

	while ((task = task_next(t, &at)))
		if (task->pid == t->launched &&
		    !ptrace_do(PTRACE_GETSIGINFO, task->tid, 0, (uintptr_t)&got) &&
		    got.si_signo == info->si_signo && got.si_code == info->si_code &&
		    got.si_pid == info->si_pid)
			return true;
	return false;
}

/* Return whether the sender signalled the program as well, which may have yet to take it. */
static bool program_got_from_sender(struct tracer *t, const siginfo_t *info)
{
	int sig = info->si_signo;
	const struct signal_count *c = &t->signals[sig];

	/* a write of pevtrace failed */
	if (info->si_pid == getpid() && (sig == SIGPIPE || sig == SIGXFSZ))
		return true;
	/* a tracee signals its own process group, or its parent, which is pevtrace */
	if (task_find(t, info->si_pid))
		return true;
	/* A group's members are signalled from the youngest on, so the program before pevtrace. */
	if (more_to_program(c, info) <= 0 &&
	    (c->forwarded || !proc_is_pending(t->launched, "ShdPnd", sig)) &&
	    !stops_for(t, info))
		return false;
	signal_forward_count(t, info, -1);
	return true;
}

static void fetch_stop_signals(struct tracer *t, bool fetch)
{
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (sigismember(&t->stop_signals, sig) == 1)
			fetch ? sigaddset(&t->fetched, sig) : sigdelset(&t->fetched, sig);
}

void signal_forward_group_stop(struct tracer *t)
{
	sigprocmask(SIG_UNBLOCK, &t->stop_signals, NULL);
	/* A pending signal stops pevtrace here until SIGCONT, which is fetched like others. */
	sigprocmask(SIG_BLOCK, &t->stop_signals, NULL);
	fetch_stop_signals(t, true);
}

/*
 * A handler of the program may reset the terminal before it stops, and the shell must
 * not get the terminal earlier.  So the signal stays pending until the program has
 * stopped.  If SIGCONT comes first, the kernel discards the signal.
 */
static void signal_forward_stop(struct tracer *t, int sig)
{
	bool stopped = t->launched_ended;
	struct task *task;
	size_t at = 0;

	fetch_stop_signals(t, false);
	kill(getpid(), sig);
	while (!stopped && (task = task_next(t, &at)))
		stopped = task->pid == t->launched && task->group_stopped;
	if (stopped)
		signal_forward_group_stop(t);
}

/* Send a signal on to the launched program, or kill that at enough requests to end. */
static void send_on(struct tracer *t, const siginfo_t *info)
{
	int sig = info->si_signo;
	uint64_t now = clock_ns();
	siginfo_t queued = *info;

	t->signals[sig].forwarded++;
	if (signal_forward_is_end(sig)) {
		if (now - t->end_request_ns > end_requests_ns)
			t->end_requests = 0;
		t->end_request_ns = now;
		t->end_requests++;
	}
	if (signal_forward_is_end(sig) && t->end_requests >= END_REQUESTS) {
		kill(t->launched, SIGKILL);
	} else if (info->si_code == SI_QUEUE) {
		/* with its value, but not mistaken by signal_forward_note() for one sent to both */
		queued.si_pid = getpid();
		syscall(SYS_rt_sigqueueinfo, t->launched, sig, &queued);
	} else {
		kill(t->launched, sig);
	}
}

/* Act on a signal to pevtrace while the launched program lives. */
static void signal_forward(struct tracer *t, const siginfo_t *info)
{
	int sig = info->si_signo, code = info->si_code;
	bool sent = code == SI_USER || code == SI_QUEUE || code == SI_TKILL;

	if (!(code == SI_KERNEL ? program_got_from_kernel(t, sig) :
				  sent && program_got_from_sender(t, info)))
		send_on(t, info);
	if (is_stop(sig))
		signal_forward_stop(t, sig);
	else if (sig == SIGCONT)
		fetch_stop_signals(t, true);
}

void own_signals_block(struct tracer *t)
{
	sigset_t blocked;

	sigemptyset(&t->inherited.ignored);
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (signal_is_ignored(sig))
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

void own_signals_restore(struct tracer *t)
{
	const struct sigaction once = {
		.sa_handler = signal_interrupts, .sa_flags = (int)SA_RESETHAND
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

static void own_signals_act(struct tracer *t, const siginfo_t *info)
{
	struct task *task;
	size_t at = 0, n = 0;

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
	while ((task = task_next(t, &at)))
		n += task->filtered;
	/* if tasks cannot be detached, warn at the first request to end, and leave at the second */
	if (!n || t->end_requests++)
		trace_leave(t);
	else
		warn("cannot detach from %zu task%s that the program left behind: a seccomp filter "
		     "requires the tracer; send the signal again to kill %s",
		     n, n == 1 ? "" : "s", n == 1 ? "it" : "them");
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
