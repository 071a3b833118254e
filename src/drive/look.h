/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading the counts and records of a tracee's events, through borrowed descriptors, while
 * it is in a ptrace stop.
 */
#ifndef PEVTRACE_DRIVE_LOOK_H
#define PEVTRACE_DRIVE_LOOK_H

#include "abi/record.h"
#include "drive/ring.h"
#include "model/model.h"

struct looker;

struct look_ops {
	/*
	 * A new record.  e is the event that wrote it, format its layout; not sure:
	 * another event may have written it.
	 */
	void (*record)(void *ctx, const struct ring *r, const struct event *e,
		       bool sure, const struct record_format *format,
		       const uint8_t *bytes, size_t len);
	/* A ring was read.  May be NULL. */
	void (*looked)(void *ctx, const struct ring *r, const struct ring_result *result);
	/* A ring could not be read.  error is a positive errno.  May be NULL. */
	void (*blind)(void *ctx, const struct ring *r, int error);
	/* The kernel's id of an event became known.  May be NULL. */
	void (*learnt)(void *ctx, const struct event *e);
	/* The count of an event was read.  May be NULL. */
	void (*counted)(void *ctx, const struct event *e);
};

/* m, ops and ctx must outlive the looker. */
struct looker *looker_new(struct model *m, const struct look_ops *ops, void *ctx);
void looker_free(struct looker *l);

/*
 * Read all rings that the task's process has mapped, or those of one event, or those that
 * an address range overlaps.  Skip rings whose descriptors are all closed.  Count
 * records, losses and failures (missing rights or descriptors) in the model.
 */
void look_all(struct looker *l, pid_t pid, pid_t tid);
void look_event(struct looker *l, pid_t pid, pid_t tid, const struct event *e);
void look_range(struct looker *l, pid_t pid, pid_t tid, uint64_t start, uint64_t end);

/* Read the event's count into the model. */
void look_count(struct looker *l, pid_t pid, pid_t tid, struct event *e);

/* Read the counts of all events that the task's process has open. */
void look_counts(struct looker *l, pid_t pid, pid_t tid);

/* Return why rings cannot be read on this machine, or NULL. */
const char *look_refusal(void);

#endif
