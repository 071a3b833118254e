/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every event of a list on every one of some targets: opened, mapped, read. */
#ifndef PEVTRACE_DRIVE_BATCH_H
#define PEVTRACE_DRIVE_BATCH_H

#include "abi/read_format.h"
#include "drive/own_call.h"
#include "drive/stream.h"
#include "host/event_syntax.h"

/* What perf_event_open takes as pid and cpu. */
struct target {
	pid_t pid;
	int cpu;
};

struct batch {
	/* the caller's, which must outlive it */
	struct own_calls *own_calls;
	struct event_list *events;
	const struct target *targets;
	size_t ntargets;
	uint64_t flags;		/* PERF_FLAG_* of every open */
	/* ours */
	int *fds;		/* for each target, one for each event; -1: not open */
	int *errors;		/* of each event: the errno of the last open that failed */
	size_t nopen;
};

/* The event could not be opened: true when e was changed, to be tried again. */
typedef bool batch_retry_fn(void *ctx, struct event_spec *e, int error);

/*
 * Opens all that can be, siblings behind their leaders; a group whose leader
 * fails is left out.  Stops at EMFILE and ENFILE, which all others would meet.
 */
void batch_open(struct batch *b, batch_retry_fn *retry, void *ctx);

/* The descriptor, or -1. */
static inline int batch_fd(const struct batch *b, size_t target, size_t event)
{
	return b->fds[target * b->events->n + event];
}

/*
 * Gives every event a ring of pages data pages in s: one for each CPU, or, for
 * events on any CPU, for each target; backward events have theirs.  The first
 * to come has its own ring, the others write there.  0, or the errno of mmap or
 * ioctl.
 */
int batch_map(struct batch *b, struct stream *s, size_t pages);

/*
 * Gives each ring that can be written to an AUX area of pages pages beside it, by the
 * first event there whose PMU makes such data.  0, or an errno: EOPNOTSUPP where no
 * event has such a PMU.
 */
int batch_map_aux(struct batch *b, struct stream *s, size_t pages, bool snapshot);

/* PERF_EVENT_IOC_ENABLE or _DISABLE for every leader. */
void batch_control(struct batch *b, uint32_t request);

/* What was counted by that event on that target. */
typedef void batch_value_fn(void *ctx, size_t target, size_t event,
			    const struct read_value *v);

/*
 * Reads every event, those of a group at once where its leader has
 * PERF_FORMAT_GROUP.  quiet: past the issuer, so that nobody is told.
 */
void batch_read(struct batch *b, bool quiet, batch_value_fn *hook, void *ctx);

/* Closes what is open and frees what is ours. */
void batch_close(struct batch *b);

#endif
