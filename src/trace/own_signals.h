/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals sent to pevtrace, which it blocks and fetches between stops. */
#ifndef PEVTRACE_TRACE_OWN_SIGNALS_H
#define PEVTRACE_TRACE_OWN_SIGNALS_H

struct tracer;

/* Note the inherited mask and ignored signals; block the signals that ask for the end. */
void own_signals_block(struct tracer *t);

/* Act on all pending signals.  No task may be left afterwards. */
void own_signals_handle(struct tracer *t);

/*
 * Restore the inherited mask and actions.  The next signal of each kind that asks for
 * the end only interrupts a system call, so that pending output can be written.
 */
void own_signals_restore(struct tracer *t);

#endif
