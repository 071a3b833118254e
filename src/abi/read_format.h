/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What read(2) on an event returns (perf_event_open(2), "Reading results"). */
#ifndef PEVTRACE_ABI_READ_FORMAT_H
#define PEVTRACE_ABI_READ_FORMAT_H

#include "abi/sink.h"

/*
 * Decodes len bytes by a read_format mask into one object.  Bytes are
 * trusted for nothing: counts that do not fit are cut, what is left over is
 * handed on as bytes.
 */
void read_format_emit(const uint8_t *bytes, size_t len, uint64_t read_format,
		      const char *key, struct sink *s);

#endif
