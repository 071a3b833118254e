/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The raw data of a tracepoint's samples (PERF_SAMPLE_RAW), field by field, as
 * tracefs' events/SYSTEM/NAME/format lays it out.
 */
#ifndef PEVTRACE_HOST_RAWDATA_H
#define PEVTRACE_HOST_RAWDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sink.h"

struct rawdata;

/*
 * format gives the text of a tracepoint's format file, or NULL; it is asked
 * once for each id that it knows.  Never NULL.
 */
struct rawdata *rawdata_new(const char *(*format)(void *ctx, uint64_t id), void *ctx);
void rawdata_free(struct rawdata *r);

/*
 * Hands the len bytes of raw data to the sink, a value for each field, into an
 * object that has begun.  The fields that all events share (common_*) are for
 * a sink that wants everything (full).  Keys live as long as r.
 *
 * tracepoint_id is attr.config of the event.  0 is for a caller who knows that
 * this is a tracepoint's but not whose: the id is then taken from the data,
 * which starts with it.  Do not ask for events of other types (BPF output,
 * other PMUs): their bytes could pass for any tracepoint's.
 *
 * False, and nothing handed over: the tracepoint or its format is not known,
 * the data has another's id, or it holds none of its fields.  What data too
 * short has no bytes for is left out, with a note "size"; what points beyond
 * the data has a note "unreadable".
 */
bool rawdata_emit(struct rawdata *r, uint64_t tracepoint_id,
		  const uint8_t *data, size_t len, struct sink *s);

#endif
