/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a dump tells of one call. */
#ifndef PEVTRACE_DUMP_DUMP_CALL_H
#define PEVTRACE_DUMP_DUMP_CALL_H

#include <json-c/json_object.h>

#include "abi/call.h"
#include "model/model.h"

/* Adds what is known when it begins; stack is a list of frames, or NULL. */
void dump_call_beginning(struct json_object *o, const struct call *c,
			 struct json_object *stack);

/* A new list of the captured memory, of its beginning, its return or both. */
struct json_object *dump_call_memory(const struct call *c, bool enter, bool exit);

/*
 * What it is about, in the model's words (event, ring), as a new object.  To be
 * asked when it begins: a close has its effect there.
 */
struct json_object *dump_call_about(const struct call *c, const struct model *m);

/* What the return tells; results and notes are NULL where there are none. */
struct dump_return {
	struct json_object *args, *results, *notes;
};

/*
 * Decodes it, as new objects.  To be done before anything of the call's return
 * is written: it may ask for names, whose lines have their place between the
 * beginning and the return.
 */
struct dump_return dump_call_decode_return(const struct call *c, const struct names *n);

/*
 * Adds the result, what it made, and what was decoded, which is taken over; so
 * are about, and args: those that the beginning has told and that belong on this
 * line too, or NULL.
 */
void dump_call_return(struct json_object *o, const struct call *c, const struct model *m,
		      struct json_object *args, struct json_object *about,
		      const struct dump_return *decoded);

#endif
