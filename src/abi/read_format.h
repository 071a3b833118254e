/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What read(2) on an event returns (perf_event_open(2), "Reading results"). */
#ifndef PEVTRACE_ABI_READ_FORMAT_H
#define PEVTRACE_ABI_READ_FORMAT_H

#include "abi/call.h"
#include "abi/sink.h"

/*
 * Decodes len bytes by a read_format mask into one object.  Bytes are
 * trusted for nothing: counts that do not fit are cut, what is left over is
 * handed on as bytes.  n may be NULL; it names the members of a group by id.
 * Where the event ran for a part of the time only, a note has the count scaled
 * to all of it (perf_event_open(2), "Reading results").
 */
void read_format_emit(const uint8_t *bytes, size_t len, uint64_t read_format,
		      const char *key, const struct names *n, struct sink *s);

/* One value out of a read, with what came along. */
struct read_value {
	size_t index;		/* place in the group, 0 for the leader */
	uint64_t value, enabled, running, id, lost;	/* times in ns */
	bool timed, has_id, has_lost;	/* timed: both times are there */
};

/* Calls hook for each whole value in len bytes of that read_format. */
void read_format_each(const uint8_t *bytes, size_t len, uint64_t read_format,
		      void (*hook)(void *ctx, const struct read_value *v),
		      void *ctx);

#endif
