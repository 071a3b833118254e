/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of the events that share a ring wrote a record. */
#ifndef PEVTRACE_DRIVE_WRITER_H
#define PEVTRACE_DRIVE_WRITER_H

#include "abi/record.h"
#include "model/model.h"

struct writer {
	struct event *event;
	struct record_format format;	/* how it writes */
	bool sure;			/* no other one may have written it */
};

/* Never without an event: where nothing tells, it is the ring's own. */
void writer_find(struct model *m, struct ring *r, const uint8_t *bytes, size_t len,
		 struct writer *out);

#endif
