/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The members of a dump's lines about calls. */
#ifndef PEVTRACE_DUMP_DUMP_CALL_H
#define PEVTRACE_DUMP_DUMP_CALL_H

#include <json-c/json_object.h>

#include "abi/call.h"
#include "model/model.h"

/* Add the members that are known when the call begins; stack is a list of frames, or NULL. */
void dump_call_beginning(struct json_object *o, const struct call *c,
			 struct json_object *stack);

/* Return a new list of the memory captured at the beginning, at the return, or both. */
struct json_object *dump_call_memory(const struct call *c, bool enter, bool exit);

/*
 * Return a new object with the event or ring that the call is about.  To be called when
 * the call begins: a close takes effect then.
 */
struct json_object *dump_call_about(const struct call *c, const struct model *m);

/* The decoded return; results and notes may be NULL. */
struct dump_return {
	struct json_object *args, *results, *notes;
};

/*
 * Decode the return into new objects.  To be called before anything of the return is
 * written: decoding may look up names, whose lines precede it.
 */
struct dump_return dump_call_decode_return(const struct call *c, const struct names *n);

/*
 * Add the result, what the call created, and decoded, about and args, which it takes
 * over.  args: the arguments of the beginning if that is on this line too, or NULL.
 */
void dump_call_return(struct json_object *o, const struct call *c, const struct model *m,
		      struct json_object *args, struct json_object *about,
		      const struct dump_return *decoded);

#endif
