/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A list of events on each of several targets: open, map, read, close. */
#pragma once

#include "core/abi/read_format.h"
#include "core/host/event_syntax.h"
#include "engine/rings/own_call.h"
#include "experiment/stream.h"

/* The arguments pid and cpu of perf_event_open(2). */
struct target {
	pid_t pid;
	int cpu;
};

struct batch {
	/* Set by the caller, and not freed. */
	struct own_calls *own_calls;
	struct event_list *events;
	const struct target *targets;
	size_t ntargets;
	uint64_t flags;		/* PERF_FLAG_* of every open */
	/* Set by batch_open(). */
	int *fds;		/* indexed by target, then event; -1: not open */
	int *errors;		/* indexed by event: errno of the last failed open, or 0 */
	size_t nopen;
};

/* Called when an open failed; return true after changing e, to try again. */
typedef bool batch_retry_fn(void *ctx, struct event_spec *e, int error);

/*
 * Open every event on every target, siblings after their leaders; skip a group whose
 * leader fails.  Stop at EMFILE and ENFILE.
 */
void batch_open(struct batch *b, batch_retry_fn *retry, void *ctx);

/* Return the descriptor, or -1. */
static inline int batch_fd(const struct batch *b, size_t target, size_t event)
{
	return b->fds[target * b->events->n + event];
}

/*
 * Map a ring buffer of pages data pages for every CPU or, for events on any CPU, for every
 * target, and add it to s.  The first event is mapped, the others are redirected with
 * PERF_EVENT_IOC_SET_OUTPUT.  write_backward events share rings of their own.
 * Return 0, or the errno of mmap(2) or ioctl(2).
 */
int batch_map(struct batch *b, struct stream *s, size_t pages);

/*
 * Map an AUX area of pages pages for each forward ring, by its first event whose PMU
 * has AUX data.  Return 0 or an errno: EOPNOTSUPP if no PMU has.
 */
int batch_map_aux(struct batch *b, struct stream *s, size_t pages, bool snapshot);

/* Apply PERF_EVENT_IOC_ENABLE or PERF_EVENT_IOC_DISABLE to every leader. */
void batch_control(struct batch *b, uint32_t request);

/* Receives the count of an event on a target. */
typedef void batch_value_fn(void *ctx, size_t target, size_t event,
			    const struct read_value *v);

/*
 * Read every event, a group at once if its leader has PERF_FORMAT_GROUP.  quiet: without
 * own_calls, so that no view sees the reads.
 */
void batch_read(struct batch *b, bool quiet, batch_value_fn *hook, void *ctx);

/* Close all descriptors and free what batch_open() allocated. */
void batch_close(struct batch *b);
