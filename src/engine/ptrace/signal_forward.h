/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals that pevtrace receives in place of the program that it launched. */
#pragma once

#include <signal.h>
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

/* Note that a signal is delivered to a task. */
void signal_forward_note(struct tracer *t, const struct task *task, const siginfo_t *info);

/* Let a pending stop signal stop pevtrace: the launched program is in group-stop. */
void signal_forward_group_stop(struct tracer *t);

/* Save the inherited mask and ignored signals; block SIGINT, SIGTERM, SIGHUP and SIGQUIT. */
void own_signals_block(struct tracer *t);

/* Act on all pending signals, which may remove all tasks. */
void own_signals_handle(struct tracer *t);

/*
 * Restore the inherited mask and actions.  The next SIGINT, SIGTERM, SIGHUP and SIGQUIT
 * only interrupt a system call, so that pending output can be written.
 */
void own_signals_restore(struct tracer *t);
