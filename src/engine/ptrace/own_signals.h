/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals sent to pevtrace, which it blocks and fetches between stops. */
#pragma once

struct tracer;

/* Save the inherited mask and ignored signals; block SIGINT, SIGTERM, SIGHUP and SIGQUIT. */
void own_signals_block(struct tracer *t);

/* Act on all pending signals, which may remove all tasks. */
void own_signals_handle(struct tracer *t);

/*
 * Restore the inherited mask and actions.  The next SIGINT, SIGTERM, SIGHUP and SIGQUIT
 * only interrupt a system call, so that pending output can be written.
 */
void own_signals_restore(struct tracer *t);
