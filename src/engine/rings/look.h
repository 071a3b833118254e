/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading the counts and records of a tracee's events, through borrowed descriptors, while
 * it is in a ptrace stop.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/session/session.h"

/* Zero-initialise it. */
struct pace {
	unsigned int ms;	/* between two reads; 0: not chosen yet */
	bool read;		/* a ring was read since the last choice */
	bool filling, nearly_empty; /* one had much, all had little that was new */
};

/* Begin with a short interval: there is a ring that was never read. */
void pace_reset(struct pace *p);

/* Tell that new bytes were found in a ring of size bytes. */
void pace_note(struct pace *p, uint64_t new_bytes, uint64_t size);

/* Choose the interval until the next read, in milliseconds. */
unsigned int pace_next(struct pace *p);

struct looker;

/* Create a looker, which passes what it reads to the session.  The session must outlive it. */
struct looker *looker_new(struct session *s);
void looker_free(struct looker *l);

/*
 * Read all rings that the task's process has mapped, or those of one event, or those that
 * an address range overlaps.  Skip rings whose descriptors are all closed. 
 */
void look_all(struct looker *l, pid_t pid, pid_t tid);
void look_event(struct looker *l, pid_t pid, pid_t tid, const struct event *e);
void look_range(struct looker *l, pid_t pid, pid_t tid, uint64_t start, uint64_t end);

/*
 * For a task that is not stopped: map the rings of its process that are not mapped yet.  From
 * the first call on, rings are read only so, also once their owner has let them go.
 */
void look_keep(struct looker *l, pid_t pid, pid_t tid);

/* Let go of the rings that no task has mapped any more. */
void look_forget(struct looker *l);

/*
 * Also read AUX areas, except those that are snapshots, but no more than most bytes in total.
 * What exceeds that is reported as missed.
 */
void look_take_aux(struct looker *l, uint64_t most);

/*
 * Return the milliseconds after which to read the rings again so that none is overwritten before,
 * judged by how full they were since the last call of this function.
 */
unsigned int look_pace(struct looker *l);

/* Read the event's count. */
void look_count(struct looker *l, pid_t pid, pid_t tid, struct event *e);

/* Read the counts of all events that the task's process has open. */
void look_counts(struct looker *l, pid_t pid, pid_t tid);

/*
 * Return the id (PERF_EVENT_IOC_ID) of the event at descriptor fd of tid, or 0 if it is no
 * event or cannot be borrowed.
 */
uint64_t look_id(pid_t pid, pid_t tid, int fd);
