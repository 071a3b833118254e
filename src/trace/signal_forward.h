/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals that reached us and are meant for the program that we launched. */
#ifndef PEVTRACE_TRACE_SIGNAL_FORWARD_H
#define PEVTRACE_TRACE_SIGNAL_FORWARD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct task;
struct tracer;

enum { RELAY_SIGNALS = 65 };

/* Who sent a signal that the launched program got, and when. */
struct signal_forward_reached {
	pid_t from;
	uint64_t ns;
	unsigned int times;	/* of late; those that queue count more than once */
};

/* From now on whatever can be caught waits for us; what was ignored stays so. */
void signal_forward_take(struct tracer *t);

/* Is it one of those that ask a program to end? */
bool signal_forward_is_end(int sig);

/* Acts on a signal to us while the launched program lives. */
void signal_forward_signal(struct tracer *t, const siginfo_t *info);

/* A task is handed a signal. */
void signal_forward_saw(struct tracer *t, const struct task *task, const siginfo_t *info);

/* We got one of tracer.stops: stops us as soon as the launched program has stopped or ended. */
void signal_forward_stop(struct tracer *t, int sig);

/* The launched program has stopped: now we may, if a stop is waiting for us. */
void signal_forward_halt(struct tracer *t);

#endif
