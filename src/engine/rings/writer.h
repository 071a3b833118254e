/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding which of the events that share a ring buffer wrote a record. */
#pragma once

#include "core/abi/record.h"
#include "core/model/model.h"
#include "core/session/view.h"

/*
 * Describe a record of a ring, without hooks: its writer is by default the event that the
 * ring belongs to.  out->format is *format; out->bytes are those given.
 */
void writer_find(struct model *m, struct ring *r, const uint8_t *bytes, size_t len,
		 struct record_format *format, struct activity_record *out);
