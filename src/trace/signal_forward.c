// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * We stand where the launched program would stand: whoever signals it has our
 * pid, and our process group is its own.  What was sent to us alone is handed
 * on; what the whole group got is not, and neither does it harm us.
 */
#include "trace/signal_forward.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "trace/task.h"

/* So many requests to end within so long mean: now. */
enum { URGES = 3 };
static const uint64_t urge_ns = 2000000000;

/* A group gets its signal at one time; we look at ours up to a pulse later. */
static const uint64_t same_ns = 1000000000;

bool signal_forward_is_end(int sig)
{
	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
}

static bool is_stop(int sig)
{
	return sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* What a terminal sends to the whole of its foreground group, or a background one. */
static bool is_terminals(int sig)
{
	return sig == SIGINT || sig == SIGQUIT || sig == SIGHUP || sig == SIGCONT ||
	       sig == SIGWINCH || is_stop(sig);
}

void signal_forward_take(struct tracer *t)
{
	struct sigaction action;

	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		/* the pulse is ours, and a sanitizer has some for itself */
		if (sig == SIGCHLD || sigismember(&t->inherited.ignored, sig) ||
		    sigaction(sig, NULL, &action) ||
		    (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN))
			continue;
		sigaddset(&t->taken, sig);
		if (is_stop(sig))
			sigaddset(&t->stops, sig);
	}
	sigprocmask(SIG_BLOCK, &t->taken, NULL);
}

void signal_forward_saw(struct tracer *t, const struct task *task, const siginfo_t *info)
{
	const int sig = info->si_signo;
	struct signal_forward_reached *r = &t->reached[sig < RELAY_SIGNALS ? sig : 0];
	uint64_t now = now_ns();
	bool more = sig >= SIGRTMIN && r->from == info->si_pid && now - r->ns <= same_ns;

	if (task->pid == t->launched)
		*r = (struct signal_forward_reached){ info->si_pid, now, more ? r->times + 1 : 1 };
}

/* It came from the kernel: has the program got it, too, or one of its own? */
static bool kernel_told(const struct tracer *t, int sig)
{
	/* a hangup is told to the leader of the session alone */
	if (sig == SIGHUP && getsid(0) == getpid())
		return false;
	/* A program like timeout(1) leaves our group, and so the terminal's. */
	if (is_terminals(sig))
		return getpgid(t->launched) == getpgrp();
	return sig == SIGXCPU; /* each has a limit of its own */
}

/*
 * One that waits in the program yet is no concern: another one of its kind adds
 * nothing to it.
 */
static bool sender_told(struct tracer *t, const siginfo_t *info)
{
	int sig = info->si_signo;
	struct signal_forward_reached *r = &t->reached[sig];

	/* a write of ours that failed */
	if (info->si_pid == getpid() && (sig == SIGPIPE || sig == SIGXFSZ))
		return true;
	/* it signals its own group, or its parent, which the program is not */
	if (task_find(t, info->si_pid))
		return true;
	if (!r->times || r->from != info->si_pid || now_ns() - r->ns > same_ns)
		return false;
	r->times--;
	return true;
}

static bool has_it(struct tracer *t, const siginfo_t *info)
{
	switch (info->si_code) {
	case SI_KERNEL:
		return kernel_told(t, info->si_signo);
	case SI_USER:
	case SI_QUEUE:
	case SI_TKILL:
		return sender_told(t, info);
	}
	return false;
}

/* Counts requests that come in quick succession. */
static bool urgent(struct tracer *t)
{
	uint64_t now = now_ns();

	if (now - t->urged_ns > urge_ns)
		t->urges = 0;
	t->urged_ns = now;
	return ++t->urges >= URGES;
}

/* With its value, but from us: else signal_forward_saw() would take it for one sent to both. */
static void queue(pid_t to, siginfo_t info)
{
	info.si_pid = getpid();
	syscall(SYS_rt_sigqueueinfo, to, info.si_signo, &info);
}

static void pass_on(struct tracer *t, const siginfo_t *info)
{
	int sig = info->si_signo;

	if (signal_forward_is_end(sig) && urgent(t))
		kill(t->launched, SIGKILL);
	else if (info->si_code == SI_QUEUE)
		queue(t->launched, *info);
	else
		kill(t->launched, sig);
}

static bool has_stopped(const struct tracer *t)
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&t->tasks, &at))) {
		const struct task *task = slot->value;

		if (task->pid == t->launched && task->listening)
			return true;
	}
	return false;
}

static void look_for_stops(struct tracer *t, bool look)
{
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (sigismember(&t->stops, sig) == 1)
			look ? sigaddset(&t->taken, sig) : sigdelset(&t->taken, sig);
}

void signal_forward_halt(struct tracer *t)
{
	sigprocmask(SIG_UNBLOCK, &t->stops, NULL);
	/* here we are stopped, until SIGCONT: that one is looked at as others are */
	sigprocmask(SIG_BLOCK, &t->stops, NULL);
	look_for_stops(t, true);
}

/*
 * The program may have a handler that sets the terminal right before it stops,
 * and the shell must not have the terminal before.  So the signal stays in our
 * queue until then.  If SIGCONT comes first, the kernel takes it away.
 */
void signal_forward_stop(struct tracer *t, int sig)
{
	look_for_stops(t, false);
	kill(getpid(), sig);
	if (t->launched_ended || has_stopped(t))
		signal_forward_halt(t);
}

void signal_forward_signal(struct tracer *t, const siginfo_t *info)
{
	int sig = info->si_signo;

	if (!has_it(t, info))
		pass_on(t, info);
	if (is_stop(sig))
		signal_forward_stop(t, sig);
	else if (sig == SIGCONT)
		look_for_stops(t, true);
}
