/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of events.h. */
#pragma once

#include "engine/rings/events.h"

/* Load the programs; return NULL and say why in a sentence. */
struct events_programs *events_programs_load(struct buf *why);

/*
 * Call hook for each reference to an event.  Return false if descriptors could not be
 * read; set *links to whether BPF links were read, too.
 */
bool events_programs_run(struct events_programs *p, bool *links,
			 void (*hook)(void *ctx, const struct events_record *r), void *ctx);

void events_programs_free(struct events_programs *p);
