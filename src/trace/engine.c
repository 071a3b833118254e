// SPDX-License-Identifier: LGPL-2.1-or-later
/* The tracer itself: its making, its tasks, and the loop that waits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/die.h"
#include "trace/stack.h"
#include "trace/task.h"

enum {
	/* Stops handled in a row before we look around. */
	BURST = 256,
	/* How often we look around when nothing happens. */
	PULSE_MS = 100,
	/* Shorter delays are slept through. */
	HOLD_NS = 2000000,
};

long ptrace_do(unsigned int request, pid_t tid, uintptr_t addr, uintptr_t data)
{
	return syscall(SYS_ptrace, (long)request, (long)tid, addr, data);
}

bool ptrace_must(unsigned int request, pid_t tid, uintptr_t addr, uintptr_t data)
{
	if (!ptrace_do(request, tid, addr, data))
		return true;
	if (errno != ESRCH)
		die("cannot go on with task %d: ptrace request %#x: %s", (int)tid, request,
		    strerror(errno));
	return false;
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uintptr_t seize_options(bool launched, bool filtered)
{
	return PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
	       PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
	       (filtered ? PTRACE_O_TRACESECCOMP : 0) | (launched ? PTRACE_O_EXITKILL : 0);
}

struct task *task_find(const struct tracer *t, pid_t tid)
{
	return map_get(&t->tasks, (uint64_t)tid);
}

struct task *task_add(struct tracer *t, pid_t tid, pid_t pid)
{
	struct task *task = xcalloc(1, sizeof(*task));

	task->tid = tid;
	task->pid = pid;
	map_set(&t->tasks, (uint64_t)tid, task);
	return task;
}

void task_ask(struct task *task)
{
	task->asked = ptrace_must(PTRACE_INTERRUPT, task->tid, 0, 0);
}

void task_drop(struct tracer *t, struct task *task)
{
	map_del(&t->tasks, (uint64_t)task->tid);
	if (task->early)
		t->nearly--;
	if (task->held_ns)
		t->nheld--;
	if (task->call)
		call_free(task->call);
	free(task->call);
	stack_forget(t, task);
	second_filter_free(task->guard);
	free(task);
}

void task_gone(struct tracer *t, struct task *task, int status)
{
	/* Not TRACE_SUPERSEDED: an exec may replace the launched program's first thread. */
	if (task->tid == t->launched && status >= 0) {
		t->launched_ended = true;
		t->launched_status = status;
	}
	/* Out of the table first: the hook may ask who is left. */
	map_del(&t->tasks, (uint64_t)task->tid);
	if (!task->starting)
		t->ops->gone(t->ctx, task->tid, status,
			     task->in_call ? task->call : NULL);
	task_drop(t, task);
}

/* What the signals do that ended up with us and belong to the target too. */
static void take_signals(struct tracer *t)
{
	struct sigaction action;
	sigset_t held;

	sigemptyset(&t->inherited.ignored);
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (!sigaction(sig, NULL, &action) &&
		    action.sa_handler == SIG_IGN)
			sigaddset(&t->inherited.ignored, sig);

	/* An ignored SIGCHLD would have the kernel reap our children. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&t->taken);
	sigemptyset(&t->stops);
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (signal_forward_is_end(sig) && !sigismember(&t->inherited.ignored, sig))
			sigaddset(&t->taken, sig); /* nohup and & */
	held = t->taken;
	sigaddset(&held, SIGTTOU); /* we may write from the background */
	sigprocmask(SIG_BLOCK, &held, &t->inherited.mask);
}

/* Nobody sends it by accident; valgrind keeps the last one for itself. */
#define PULSE_SIGNAL (SIGRTMAX - 1)

static void no_matter(int sig)
{
	(void)sig;
}

static void set_pulse(const struct tracer *t)
{
	unsigned int tick = t->opts->tick_ms;
	long ms = t->nheld ? 1 : tick && tick < PULSE_MS ? tick : PULSE_MS;
	const struct timespec period = { .tv_nsec = ms * 1000000L };

	if (timer_settime(t->pulse, 0, &(struct itimerspec){ period, period }, NULL))
		die("cannot set a timer: %s", strerror(errno));
}

/*
 * To wait for children is one call where SIGCHLD is left alone, and three where
 * one waits for signals, too.  So the signals wait until this one, which comes
 * regularly, interrupts wait4().  Writing is not to be restarted either: output
 * goes on by itself.
 */
static void start_pulse(struct tracer *t)
{
	const struct sigaction action = { .sa_handler = no_matter };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = PULSE_SIGNAL };
	sigset_t set;

	if (sigaction(PULSE_SIGNAL, &action, &t->inherited.pulse))
		die("cannot handle a timer's signal: %s", strerror(errno));
	sigemptyset(&set);
	sigaddset(&set, PULSE_SIGNAL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &t->pulse))
		die("cannot have a timer: %s", strerror(errno));
	set_pulse(t);
}

static void stop_pulse(struct tracer *t)
{
	timer_delete(t->pulse);
	sigaction(PULSE_SIGNAL, &t->inherited.pulse, NULL);
}

/*
 * One that comes now asks for what is happening anyway: the end.  It must not take
 * with it what is still to be written.  Another one like it acts as before us.
 */
static void give_back_signals(struct tracer *t)
{
	const struct sigaction once = { .sa_handler = no_matter, .sa_flags = (int)SA_RESETHAND };
	static const struct timespec at_once;
	struct sigaction action;

	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (sigismember(&t->taken, sig) == 1 && !sigismember(&t->stops, sig) &&
		    !sigaction(sig, NULL, &action) && action.sa_handler == SIG_DFL)
			sigaction(sig, &once, NULL);
	/* What came while we let go has been answered by that. */
	while (sigtimedwait(&t->taken, NULL, &at_once) > 0 ||
	       sigtimedwait(&t->stops, NULL, &at_once) > 0)
		;
	if (sigismember(&t->inherited.ignored, SIGCHLD))
		signal(SIGCHLD, SIG_IGN);
	stop_pulse(t);
	sigprocmask(SIG_SETMASK, &t->inherited.mask, NULL);
}

struct tracer *trace_new(const struct trace_options *opts,
			 const struct trace_ops *ops, void *ctx)
{
	struct tracer *t = xcalloc(1, sizeof(*t));

	t->opts = opts;
	t->ops = ops;
	t->ctx = ctx;
	nr_build(&t->nrs);
	/* early in a machine's life nothing is random yet */
	if (getrandom(&t->mark, sizeof(t->mark), GRND_NONBLOCK) != sizeof(t->mark))
		t->mark = VEIL_DATA;
	t->mark |= 0x8000; /* small numbers are what others use */
	getrlimit(RLIMIT_NOFILE, &t->inherited.nofile);
	take_signals(t);
	start_pulse(t);
	return t;
}

/* Who sends a signal such as ^C will not wait for them. */
static void end_holds(struct tracer *t)
{
	struct map_slot *slot;
	size_t at = 0;

	while (t->nheld && (slot = map_next(&t->tasks, &at))) {
		struct task *task = slot->value;

		if (task->held_ns)
			task->held_ns = 1;
	}
}

/* What comes to us by signals that are blocked. */
void tracer_heed(struct tracer *t)
{
	static const struct timespec at_once;
	siginfo_t info;

	while (sigtimedwait(&t->taken, &info, &at_once) > 0) {
		leave_signal(t, &info);
		end_holds(t);
	}
}

/* Ticks if it is time to. */
static void tick(struct tracer *t)
{
	uint64_t now = now_ns();

	if (!t->opts->tick_ms || !t->ops->tick || t->leaving || now < t->tick_ns)
		return;
	t->tick_ns = now + t->opts->tick_ms * 1000000ULL;
	t->ops->tick(t->ctx);
}

bool task_hold(struct tracer *t, struct task *task, uint64_t ns)
{
	if (!ns || t->leaving)
		return false;
	if (ns < HOLD_NS) { /* the pulse is too slow for it */
		const struct timespec ts = { .tv_nsec = (long)ns };

		nanosleep(&ts, NULL);
		return false;
	}
	task->held_ns = now_ns() + ns;
	t->nheld++;
	set_pulse(t);
	return true;
}

/* One whose time has come; NULL if there is none. */
static struct task *held_enough(const struct tracer *t)
{
	uint64_t now = now_ns();
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&t->tasks, &at))) {
		struct task *task = slot->value;

		if (task->held_ns && (t->leaving || task->held_ns <= now))
			return task;
	}
	return NULL;
}

static void release_held(struct tracer *t)
{
	struct task *task;

	while (t->nheld && (task = held_enough(t))) {
		task->held_ns = 0;
		t->nheld--;
		if (task->in_call)
			task->call->start_ns = now_ns();
		task_resume(t, task, 0);
	}
	if (!t->nheld)
		set_pulse(t);
}

static void loop(struct tracer *t)
{
	unsigned int stops = 0;

	while (t->tasks.len) {
		int status = 0;
		pid_t tid = wait4(-1, &status, __WALL, NULL);

		if (tid > 0)
			wait_rounds_handle(t, tid, status);
		else if (errno == ECHILD)
			break;
		if (tid > 0 && ++stops % BURST)
			continue;
		tracer_heed(t);
		if (t->nheld)
			release_held(t);
		if (t->nearly)
			birth_adopt(t);
		stack_rest(t);
		tick(t);
	}
	/* Tasks without a child to wait for: someone else reaped them. */
	leave_forget(t);
}

int trace_run(struct tracer *t)
{
	loop(t);
	return t->launched_status;
}

void trace_free(struct tracer *t)
{
	if (t->tasks.len) {
		leave_start(t);
		loop(t);
	}
	stack_end(t);
	give_back_signals(t);
	map_free(&t->tasks);
	nr_free(&t->nrs);
	filter_free(&t->filter);
	free(t->fair.late);
	free(t->ranges);
	free(t);
}
