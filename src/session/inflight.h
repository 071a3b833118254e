/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls that have begun and not yet returned, in the order of their beginning.
 * Embedded as the first member of what a view keeps of such a call.
 */
#ifndef PEVTRACE_SESSION_INFLIGHT_H
#define PEVTRACE_SESSION_INFLIGHT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/map.h"

struct inflight {
	struct inflight *prev, *next;
	pid_t tid;
	uint64_t enter_ns;
	bool split;		/* its beginning is written already */
};

struct inflights {
	struct map by_tid;
	struct inflight head;	/* head.next is the oldest */
};

void inflights_init(struct inflights *l);

/* Frees the list, not what is in it. */
void inflights_free(struct inflights *l);

/* Appends; the task must not have one. */
void inflight_add(struct inflights *l, struct inflight *p, pid_t tid, uint64_t enter_ns);

struct inflight *inflight_get(const struct inflights *l, pid_t tid);

/* Takes the task's call out; NULL if there is none. */
struct inflight *inflight_take(struct inflights *l, pid_t tid);

/*
 * The task's number is another one now.  Returns what stood under that number,
 * taken out, or NULL.
 */
struct inflight *inflight_rename(struct inflights *l, pid_t former, pid_t tid);

/*
 * Lines stand in the order in which their calls began.  Before one that began
 * at ns is written, write() is called for those that began earlier, still run,
 * and are not written yet; not for tid's own.
 */
void inflight_split(struct inflights *l, uint64_t ns, pid_t tid,
		    void (*write)(void *ctx, struct inflight *p), void *ctx);

#endif
