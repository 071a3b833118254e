/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding which of the events that share a ring buffer wrote a record. */
#ifndef PEVTRACE_DRIVE_WRITER_H
#define PEVTRACE_DRIVE_WRITER_H

#include "abi/record.h"
#include "model/model.h"

struct writer {
	struct event *event;
	struct record_format format;	/* of its records */
	bool sure;			/* no other event can have written it */
};

/* Find the writer of a record; by default it is the event that the ring belongs to. */
void writer_find(struct model *m, struct ring *r, const uint8_t *bytes, size_t len,
		 struct writer *out);

#endif
