/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding which of the events that share a ring buffer wrote a record. */
#pragma once

#include "core/abi/record.h"
#include "core/model/model.h"
#include "core/session/view.h"

/*
 * Find the event that wrote a record, by default the one that the ring belongs to, and fill in
 * *format and *out.  out->format is *format; out->bytes are those given.
 */
void writer_find(struct model *m, struct ring *r, const uint8_t *bytes, size_t len,
		 struct record_format *format, struct activity_record *out);
