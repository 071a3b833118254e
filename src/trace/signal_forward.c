// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The parent of pevtrace knows the launched program by the pid of pevtrace, and signals
 * that.  Both are in one process group.  A signal to pevtrace alone is forwarded, one to
 * the whole group is not.  Neither ends pevtrace.
 */
#include "trace/signal_forward.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "lib/clock.h"
#include "trace/task.h"

/* Kill the program at this number of requests to end within this time. */
enum { END_REQUESTS = 3 };
static const uint64_t end_requests_ns = 2000000000;

/* If one signal went to both, pevtrace fetches it within this time of the program's delivery. */
static const uint64_t same_ns = 1000000000;

bool signal_forward_is_end(int sig)
{
	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
}

static bool is_stop(int sig)
{
	return sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* Return whether a terminal sends the signal, to the whole of a process group. */
static bool is_from_terminal(int sig)
{
	return sig == SIGINT || sig == SIGQUIT || sig == SIGHUP || sig == SIGCONT ||
	       sig == SIGWINCH || is_stop(sig);
}

void signal_forward_block(struct tracer *t)
{
	struct sigaction action;

	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		/* pulse.c and sanitizers handle some signals */
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

void signal_forward_note(struct tracer *t, const struct task *task, const siginfo_t *info)
{
	const int sig = info->si_signo;
	struct signal_delivery *d = &t->delivered[sig < FORWARD_SIGNALS ? sig : 0];
	uint64_t now = clock_ns();
	bool more = sig >= SIGRTMIN && d->from == info->si_pid && now - d->ns <= same_ns;

	if (task->pid == t->launched)
		*d = (struct signal_delivery){ info->si_pid, now, more ? d->times + 1 : 1 };
}

/* Return whether the kernel sent the signal to the program as well. */
static bool program_got_from_kernel(const struct tracer *t, int sig)
{
	/* the kernel sends a hangup to the session leader only */
	if (sig == SIGHUP && getsid(0) == getpid())
		return false;
	/* A program like timeout(1) leaves the process group, and so that of the terminal. */
	if (is_from_terminal(sig))
		return getpgid(t->launched) == getpgrp();
	return sig == SIGXCPU; /* every process has its own limit */
}

/*
 * Return whether the sender signalled the program as well.  Signals that are still pending
 * in the program are not considered: sending them once more has no effect.
 */
static bool program_got_from_sender(struct tracer *t, const siginfo_t *info)
{
	int sig = info->si_signo;
	struct signal_delivery *d = &t->delivered[sig];

	/* a write of pevtrace failed */
	if (info->si_pid == getpid() && (sig == SIGPIPE || sig == SIGXFSZ))
		return true;
	/* a tracee signals its own process group, or its parent, which is pevtrace */
	if (task_find(t, info->si_pid))
		return true;
	if (!d->times || d->from != info->si_pid || clock_ns() - d->ns > same_ns)
		return false;
	d->times--;
	return true;
}

static bool program_got(struct tracer *t, const siginfo_t *info)
{
	switch (info->si_code) {
	case SI_KERNEL:
		return program_got_from_kernel(t, info->si_signo);
	case SI_USER:
	case SI_QUEUE:
	case SI_TKILL:
		return program_got_from_sender(t, info);
	}
	return false;
}

/* Count requests in quick succession; return whether there are enough. */
static bool end_at_once(struct tracer *t)
{
	uint64_t now = clock_ns();

	if (now - t->end_request_ns > end_requests_ns)
		t->end_requests = 0;
	t->end_request_ns = now;
	return ++t->end_requests >= END_REQUESTS;
}

/*
 * Forward a signal with its value, but with the pid of pevtrace, so that
 * signal_forward_note() does not mistake it for one sent to both.
 */
static void queue_signal(pid_t to, siginfo_t info)
{
	info.si_pid = getpid();
	syscall(SYS_rt_sigqueueinfo, to, info.si_signo, &info);
}

static void send_on(struct tracer *t, const siginfo_t *info)
{
	int sig = info->si_signo;

	if (signal_forward_is_end(sig) && end_at_once(t))
		kill(t->launched, SIGKILL);
	else if (info->si_code == SI_QUEUE)
		queue_signal(t->launched, *info);
	else
		kill(t->launched, sig);
}

static bool has_stopped(const struct tracer *t)
{
	struct task *task;
	size_t at = 0;

	while ((task = task_next(t, &at)))
		if (task->pid == t->launched && task->group_stopped)
			return true;
	return false;
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
void signal_forward_stop(struct tracer *t, int sig)
{
	fetch_stop_signals(t, false);
	kill(getpid(), sig);
	if (t->launched_ended || has_stopped(t))
		signal_forward_group_stop(t);
}

void signal_forward(struct tracer *t, const siginfo_t *info)
{
	int sig = info->si_signo;

	if (!program_got(t, info))
		send_on(t, info);
	if (is_stop(sig))
		signal_forward_stop(t, sig);
	else if (sig == SIGCONT)
		fetch_stop_signals(t, true);
}
