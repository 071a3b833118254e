/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding which of the events that share a ring buffer wrote a record. */
#ifndef PEVTRACE_DRIVE_WRITER_H
#define PEVTRACE_DRIVE_WRITER_H

#include "abi/record.h"
#include "model/model.h"
#include "session/view.h"

/*
 * Describe a record of a ring, without hooks: its writer is by default the event that the
 * ring belongs to.  out->format is *format; out->bytes are those given.
 */
void writer_find(struct model *m, struct ring *r, const uint8_t *bytes, size_t len,
		 struct record_format *format, struct view_record *out);

#endif
