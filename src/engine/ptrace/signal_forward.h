/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals that pevtrace receives in place of the program that it launched. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct task;
struct tracer;

enum { FORWARD_SIGNALS = 65 };

/* A signal that the launched program and pevtrace get in quick succession from one sender. */
struct signal_count {
	pid_t from;
	uint64_t ns;		/* when either last got it */
	int more;		/* the program got than pevtrace; beyond 1 for signals that queue */
	unsigned int forwarded;	/* by pevtrace, and not delivered yet */
};

/* Block all signals that are neither ignored nor handled, and fetch them from now on. */
void signal_forward_block(struct tracer *t);

/* Return whether the signal asks a program to end. */
bool signal_forward_is_end(int sig);

/* Act on a signal to pevtrace while the launched program lives. */
void signal_forward(struct tracer *t, const siginfo_t *info);

/* Note that a signal is delivered to a task. */
void signal_forward_note(struct tracer *t, const struct task *task, const siginfo_t *info);

/* Stop pevtrace by one of tracer.stop_signals once the launched program has stopped or ended. */
void signal_forward_stop(struct tracer *t, int sig);

/* Let a pending stop signal stop pevtrace: the launched program is in group-stop. */
void signal_forward_group_stop(struct tracer *t);
