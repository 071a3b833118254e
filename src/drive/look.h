/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looking at what a traced task's events have counted and recorded, at moments
 * when it is held: through borrowed descriptors, so that it does not notice.
 */
#ifndef PEVTRACE_DRIVE_LOOK_H
#define PEVTRACE_DRIVE_LOOK_H

#include "abi/record.h"
#include "drive/ring.h"
#include "model/model.h"

struct looker;

struct look_ops {
	/*
	 * A record that was not seen before.  e is the event that wrote it,
	 * format how; not sure: another one may have as well.
	 */
	void (*record)(void *ctx, const struct ring *r, const struct event *e,
		       bool sure, const struct record_format *format,
		       const uint8_t *bytes, size_t len);
	/* One look at a ring is over.  May be NULL. */
	void (*looked)(void *ctx, const struct ring *r, const struct ring_result *result);
	/* A look failed: nobody knows what there is.  error is a positive errno.  May be NULL. */
	void (*blind)(void *ctx, const struct ring *r, int error);
	/* The kernel's id of an event was asked for.  May be NULL. */
	void (*learnt)(void *ctx, const struct event *e);
	/* The count of an event was read.  May be NULL. */
	void (*counted)(void *ctx, const struct event *e);
};

/* m, ops and ctx must outlive the looker. */
struct looker *looker_new(struct model *m, const struct look_ops *ops, void *ctx);
void looker_free(struct looker *l);

/*
 * Looks into all rings that the task's process has mapped, or into those of
 * one event, or the one mapping that a range of addresses touches.  A ring whose
 * descriptors are all closed is passed over.  Records and losses are counted in the
 * model, and the looks that fail (for want of rights, or of descriptors of ours).
 */
void look_all(struct looker *l, pid_t pid, pid_t tid);
void look_event(struct looker *l, pid_t pid, pid_t tid, const struct event *e);
void look_range(struct looker *l, pid_t pid, pid_t tid, uint64_t start, uint64_t end);

/* Reads what the event has counted so far into the model. */
void look_count(struct looker *l, pid_t pid, pid_t tid, struct event *e);

/* The same for every event that the task's process has open. */
void look_counts(struct looker *l, pid_t pid, pid_t tid);

/*
 * Why rings cannot be looked into on this machine, in words; NULL if they can.
 */
const char *look_refusal(void);

#endif
