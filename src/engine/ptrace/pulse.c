// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Waiting for children and signals at once costs three system calls where wait4(2)
 * alone is one.  So signals stay blocked until this timer's signal, the only one
 * unblocked, interrupts wait4().  Its handler is set without SA_RESTART, so that
 * a blocked write of the output is interrupted as well.
 */
#include "engine/ptrace/pulse.h"

#include <errno.h>
#include <string.h>

#include "core/lib/die.h"
#include "engine/ptrace/task.h"

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
