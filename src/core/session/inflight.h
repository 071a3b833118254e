/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls that have begun and not yet returned, in the order of their start.  struct
 * inflight is the first member of a view's state of such a call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/lib/map.h"

struct inflight {
	struct inflight *prev, *next;
	pid_t tid;
	uint64_t enter_ns;
	bool split;		/* its first half has been written */
};

struct inflights {
	struct map by_tid;
	bool held;		/* the head of a file is written: inflight_split() does nothing */
	struct inflight head;	/* head.next is the oldest */
};

void inflights_init(struct inflights *l);

/* Free the list, not its members. */
void inflights_free(struct inflights *l);

/* Append a call; its task must have none in the list. */
void inflight_add(struct inflights *l, struct inflight *p, pid_t tid, uint64_t enter_ns);

struct inflight *inflight_get(const struct inflights *l, pid_t tid);

/* Remove and return the call of the task, or NULL. */
struct inflight *inflight_take(struct inflights *l, pid_t tid);

/*
 * Change the tid of former's call to tid, as exec does.  Remove and return the call that
 * tid had, or NULL.
 */
struct inflight *inflight_rename(struct inflights *l, pid_t former, pid_t tid);

/* Let no call be split: a file begins that has none of their first halves. */
void inflights_join(struct inflights *l);

/*
 * Call write() for each call that began before ns and is not split yet, except that of
 * tid, so that lines are in the order in which calls began.
 */
void inflight_split(struct inflights *l, uint64_t ns, pid_t tid,
		    void (*write)(void *ctx, struct inflight *p), void *ctx);
