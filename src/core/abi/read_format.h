/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The result of read(2) on an event (perf_event_open(2), "Reading results"). */
#pragma once

#include "core/abi/call.h"
#include "core/abi/sink.h"

/*
 * Write len bytes as one object by a read_format mask.  The bytes are not trusted: the
 * number of values is limited to those present, bytes left over are written as bytes.
 * n may be NULL; it names the members of a group by id.  If the event was multiplexed,
 * a note holds the scaled count (perf_event_open(2), "Reading results").
 */
void read_format_emit(const uint8_t *bytes, size_t len, uint64_t read_format,
		      const char *key, const struct names *n, struct sink *s);

/* One value of a read, with its times, id and lost samples. */
struct read_value {
	size_t index;		/* index in the group, 0 for the leader */
	uint64_t value, enabled, running, id, lost;	/* times in ns */
	bool timed, has_id, has_lost;	/* timed: both times are present */
};

/* Call hook for each complete value in len bytes of that read_format. */
void read_format_each(const uint8_t *bytes, size_t len, uint64_t read_format,
		      void (*hook)(void *ctx, const struct read_value *v),
		      void *ctx);
