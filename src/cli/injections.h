/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the user wants done to the calls of the target: -e inject=, --as-kernel. */
#ifndef PEVTRACE_CLI_INJECTIONS_H
#define PEVTRACE_CLI_INJECTIONS_H

#include "abi/call.h"
#include "host/host.h"
#include "model/model.h"

struct injections;

/*
 * Takes "SET:error=E:when=..." and makes *i if it is NULL.  Dies with a message
 * on what it does not understand.
 */
void injections_add(struct injections **i, const char *expr);

/* The same for --as-kernel=RELEASE. */
void injections_as_kernel(struct injections **i, const char *release);

/* Reads what must be known of this machine.  i may be NULL. */
void injections_begin(struct injections *i, struct host *host);

/* Whether calls of that kind may have to be stopped for it.  i may be NULL. */
bool injections_want(const struct injections *i, enum call_id id);

/*
 * A call that concerns perf begins, and its memory is captured: says in
 * c->inject what is to be done to it.  i may be NULL.
 */
void injections_ask(struct injections *i, const struct model *m, struct call *c);

/*
 * Occasions are counted by task, from its birth to its end, whatever programs it
 * runs: its number may come again.  As in struct trace_ops.
 */
void injections_execed(struct injections *i, pid_t tid, pid_t former);
void injections_gone(struct injections *i, pid_t tid);

void injections_free(struct injections *i);

#endif
