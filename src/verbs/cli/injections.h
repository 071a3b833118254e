/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls to tamper with: -e inject=, --as-kernel. */
#pragma once

#include "core/host/host.h"
#include "core/lib/nearest.h"
#include "core/model/model.h"
#include "verbs/cli/verb.h"

struct injections;

/*
 * Setters of a struct injections *, which they allocate if it is NULL.  "SET:error=E:when=..." of
 * --inject; of --fault, with no parts but error= and when=, and ENOSYS if none is given.
 */
verb_set_fn injections_add;
verb_set_fn injections_as_kernel;	/* RELEASE */

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
