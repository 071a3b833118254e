// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/delay.h"

#include <errno.h>
#include <string.h>

#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "engine/ptrace/resume.h"
#include "engine/ptrace/task.h"

/*
 * Waiting for children and signals at once costs three system calls where wait4(2)
 * alone is one.  So signals stay blocked until this timer's signal, the only one
 * unblocked, interrupts wait4().  Its handler is set without SA_RESTART, so that
 * a blocked write of the output is interrupted as well.
 */

/* A signal that no program sends by accident; valgrind reserves SIGRTMAX. */
#define PULSE_SIGNAL (SIGRTMAX - 1)

enum { PERIOD_MS = 100 };

static void pulse_ignore(int sig)
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
	const struct sigaction action = { .sa_handler = pulse_ignore };
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

/* Return a task whose delay is over, or NULL. */
static struct task *delay_find_over(const struct tracer *t)
{
	uint64_t now = clock_ns();
	struct task *task;
	size_t at = 0;

	while ((task = task_next(t, &at)))
		if (task->delayed_until_ns && (t->leaving || task->delayed_until_ns <= now))
			return task;
	return NULL;
}

void delay_resume(struct tracer *t)
{
	struct task *task;

	if (!t->delayed_tasks)
		return;
	while (t->delayed_tasks && (task = delay_find_over(t))) {
		task->delayed_until_ns = 0;
		t->delayed_tasks--;
		if (task->in_call)
			task->call->start_ns = clock_ns();
		resume_task(t, task, 0);
	}
	if (!t->delayed_tasks)
		pulse_set(t);
}
