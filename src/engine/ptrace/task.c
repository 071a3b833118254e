// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "engine/ptrace/proc.h"

struct task *task_add(struct tracer *t, pid_t tid, pid_t pid)
{
	struct task *task = xcalloc(1, sizeof(*task));

	task->tid = tid;
	task->pid = pid;
	map_set(&t->tasks, (uint64_t)tid, task);
	return task;
}

void task_interrupt(struct task *task)
{
	task->interrupted = ptrace_must(PTRACE_INTERRUPT, task->tid, 0, 0);
}

void task_drop(struct tracer *t, struct task *task)
{
	map_del(&t->tasks, (uint64_t)task->tid);
	if (task->early)
		t->early_tasks--;
	if (task->delayed_until_ns)
		t->delayed_tasks--;
	if (task->call)
		call_free(task->call);
	free(task->call);
	stack_forget(t, task);
	second_filter_free(task->second_filter);
	free(task);
}

void task_gone(struct tracer *t, struct task *task, int status)
{
	/* The exec of another thread, whose status is negative, does not end the launched program. */
	if (task->tid == t->launched && status >= 0) {
		t->launched_ended = true;
		t->launched_status = status;
	}
	/* The hook may ask which tasks are left. */
	map_del(&t->tasks, (uint64_t)task->tid);
	if (!task->starting && !task->early)
		t->ops->gone(t->ctx, task->tid, status,
			     task->in_call ? task->call : NULL);
	task_drop(t, task);
}

/* Return whether the task is killed and not detached. */
static bool leave_kills(const struct tracer *t, const struct task *task)
{
	return task->filtered || t->opts->kill_on_exit;
}

void leave_kill_filtered(struct tracer *t)
{
	struct task *task;
	size_t at = 0;

	while ((task = task_next(t, &at)))
		if (leave_kills(t, task))
			kill(task->pid, SIGKILL);
}

void leave_task(struct tracer *t, struct task *task, int sig)
{
	if (leave_kills(t, task))
		kill(task->pid, SIGKILL);
	/* The kernel keeps a process in group-stop stopped. */
	else if (ptrace_must(PTRACE_DETACH, task->tid, 0, (uintptr_t)sig))
		task_gone(t, task, TRACE_DETACHED);
}

void trace_leave(struct tracer *t)
{
	struct task *task;
	size_t at = 0;

	if (t->leaving)
		return;
	t->leaving = true;
	leave_kill_filtered(t);
	while ((task = task_next(t, &at)))
		task_interrupt(task);
}

void leave_forget(struct tracer *t)
{
	struct task *task;
	size_t at;

	while (at = 0, (task = task_next(t, &at)))
		task_gone(t, task, TRACE_DETACHED);
}

void trace_recheck(struct tracer *t)
{
	struct task *task;
	size_t at = 0;

	while ((task = task_next(t, &at))) {
		if (task->every_call || task->early || task->starting || !task->filtered ||
		    second_filter_covers(t, task) ||
		    !(second_filter_is_hidden(task) || t->ops->close_watch(t->ctx, task->tid)))
			continue;
		/* An interrupt would fail the call that it sleeps in: wait for its next stop. */
		if (nr_is_interruptible(&t->nrs, task->arch ? task->arch : arch_native(),
					proc_syscall(task->tid)))
			continue;
		task->every_call = true;
		task_interrupt(task);
	}
}

/*
 * Descriptors are numbered consecutively.  A range for each would need many filters,
 * and too large a range stops calls without need.  So a new range exceeds
 * the sum of the others by a quarter.
 */
void trace_watch_fd(struct tracer *t, int fd)
{
	uint32_t first = (uint32_t)fd, all = 0;

	for_each(r, t->ranges, t->nranges) {
		if (first >= r->first && first <= r->last)
			return;
		all += r->last - r->first + 1;
	}
	APPEND(t->ranges, t->nranges) = (struct fd_range){ first, first + all / 4 };
	t->ranges_grown = true;
}

void resume_task(struct tracer *t, struct task *task, int sig)
{
	bool before = task->close, every = !task->starting;

	if (t->leaving) {
		leave_task(t, task, sig);
		return;
	}
	if (task->filtered && !task->starting) {
		task->close = t->ops->close_watch(t->ctx, task->tid) != TRACE_DISTANT;
		if (t->ranges_grown || (task->close && !before)) {
			t->ranges_grown = false;
			task->every_call = true;
			trace_recheck(t);
		}
		every = task->every_call = (task->close && !second_filter_covers(t, task)) ||
					   task->in_call || task->entered ||
					   task->conceal.strict || second_filter_is_hidden(task);
	}
	ptrace_must(every ? PTRACE_SYSCALL : PTRACE_CONT, task->tid, 0, (uintptr_t)sig);
}

/*
 * Waiting for children and signals at once costs three system calls where wait4(2)
 * alone is one.  So signals stay blocked until this timer's signal, the only one
 * unblocked, interrupts wait4().  Its handler is set without SA_RESTART, so that
 * a blocked write of the output is interrupted as well.
 */

/* A signal that no program sends by accident; valgrind reserves SIGRTMAX. */
#define PULSE_SIGNAL (SIGRTMAX - 1)

enum { PERIOD_MS = 100 };

void signal_interrupts(int sig)
{
	(void)sig;
}

void pulse_set(const struct tracer *t)
{
	unsigned int tick = t->tick_ms;
	long ms = t->delayed_tasks ? 1 : tick && tick < PERIOD_MS ? tick : PERIOD_MS;
	const struct timespec period = { .tv_nsec = ms * 1000000L };

	if (timer_settime(t->pulse, 0, &(struct itimerspec){ period, period }, NULL))
		die("cannot set a timer: %s", strerror(errno));
}

void pulse_start(struct tracer *t)
{
	const struct sigaction action = { .sa_handler = signal_interrupts };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = PULSE_SIGNAL };
	sigset_t set;

	if (sigaction(PULSE_SIGNAL, &action, &t->inherited.pulse))
		die("cannot handle the signal of a timer: %s", strerror(errno));
	sigemptyset(&set);
	sigaddset(&set, PULSE_SIGNAL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &t->pulse))
		die("cannot create a timer: %s", strerror(errno));
	pulse_set(t);
}

void pulse_stop(struct tracer *t)
{
	timer_delete(t->pulse);
	sigaction(PULSE_SIGNAL, &t->inherited.pulse, NULL);
}

enum { SLEEP_NS = 2000000 };	/* sleep for shorter delays: the pulse is too slow */

bool delay_task(struct tracer *t, struct task *task, uint64_t ns)
{
	if (!ns || t->leaving)
		return false;
	if (ns < SLEEP_NS) {
		const struct timespec ts = { .tv_nsec = (long)ns };

		nanosleep(&ts, NULL);
		return false;
	}
	task->delayed_until_ns = clock_ns() + ns;
	t->delayed_tasks++;
	pulse_set(t);
	return true;
}

void delay_end_all(struct tracer *t)
{
	struct task *task;
	size_t at = 0;

	while (t->delayed_tasks && (task = task_next(t, &at)))
		if (task->delayed_until_ns)
			task->delayed_until_ns = 1;
}

void delay_resume(struct tracer *t)
{
	uint64_t now = clock_ns();
	struct task *task;
	size_t at = 0;

	if (!t->delayed_tasks)
		return;
	while (t->delayed_tasks && (task = task_next(t, &at))) {
		if (!task->delayed_until_ns || (!t->leaving && task->delayed_until_ns > now))
			continue;
		task->delayed_until_ns = 0;
		t->delayed_tasks--;
		if (task->in_call)
			task->call->start_ns = clock_ns();
		resume_task(t, task, 0);
		at = 0; /* the map may have changed */
	}
	if (!t->delayed_tasks)
		pulse_set(t);
}
