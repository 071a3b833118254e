/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls to tamper with: -e inject=, --as-kernel. */
#pragma once

#include "core/abi/call.h"
#include "core/host/host.h"
#include "core/lib/nearest.h"
#include "core/model/model.h"

struct injections;

/*
 * Parse "SET:error=E:when=..." into *i, which is allocated if NULL; die if it is invalid.
 * otherwise: 0 for -e inject=; for -e fault=, which has no parts but error= and when=, the
 * result, a negative errno, if expr says none.
 */
void injections_add(struct injections **i, const char *expr, int64_t otherwise);

/* Do the same for --as-kernel=RELEASE. */
void injections_as_kernel(struct injections **i, const char *release);

/* Offer the parts that follow the calls in -e inject= or -e fault=, "error=" and so on. */
void injections_offer_parts(struct nearest *n, bool fault);

/* Read the facts about this machine.  i may be NULL. */
void injections_begin(struct injections *i, struct host *host);

/* Return whether calls with that id must be stopped.  i may be NULL. */
bool injections_want(const struct injections *i, enum call_id id);

/*
 * Decide at the beginning of a call that concerns perf, whose memory is captured, what to
 * do to it, and set c->inject.  i may be NULL.
 */
void injections_ask(struct injections *i, const struct model *m, struct call *c);

/*
 * Move the counts of calls of task from to task to, after an exec; or drop those of a task that has
 * exited (0), as its tid may be used again.  i may be NULL.
 */
void injections_move(struct injections *i, pid_t from, pid_t to);

void injections_free(struct injections *i);
