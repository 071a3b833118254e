/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The raw data of a tracepoint's samples (PERF_SAMPLE_RAW), field by field, as
 * tracefs' events/SYSTEM/NAME/format lays it out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/abi/sink.h"

struct rawdata;

/*
 * Create a decoder; never NULL.  format returns the text of a tracepoint's format file, or
 * NULL; it is called until it succeeds once for the id.
 */
struct rawdata *rawdata_new(const char *(*format)(void *ctx, uint64_t id), void *ctx);
void rawdata_free(struct rawdata *r);

/*
 * Emit a value for each field of the len bytes of raw data, into an object that has begun.
 * Fields that all events share (common_*) go only to a sink with full set.  Keys live as
 * long as r.
 *
 * tracepoint_id is attr.config of the event, or 0 if the event is not known: then the id at
 * the start of the data is used.  Do not call this for events of other types (BPF output,
 * other PMUs): their bytes could match any tracepoint's.
 *
 * Return false, with nothing emitted, if the tracepoint or its format is not known, the data
 * has another id, or it contains none of the fields.  Fields beyond the end of the data are
 * omitted, with a note "size"; a field that points beyond it has a note "unreadable".
 */
bool rawdata_emit(struct rawdata *r, uint64_t tracepoint_id,
		  const uint8_t *data, size_t len, struct sink *s);

/*
 * Convert raw data of the other byte order to that of this machine by the same format; leave it
 * if rawdata_emit() would return false.
 */
void rawdata_swap(struct rawdata *r, uint64_t tracepoint_id, uint8_t *data, size_t len);
