/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The members of a dump's lines about calls. */
#pragma once

#include "core/abi/call.h"
#include "formats/json/json_text.h"
#include "core/model/model.h"

/*
 * Add the members that are known when the call begins, and those of stack, which ends: a list
 * of frames, or nothing.
 */
void dump_call_beginning(struct json_text *o, const struct call *c, struct json_text *stack);

/* Add a list of the memory captured at the beginning, at the return, or both. */
void dump_call_add_memory(struct json_text *o, const struct call *c, bool enter, bool exit);

/* The event and the ring (0: none) that a call is about. */
struct dump_about {
	struct json_text event;
	unsigned int ring;
};

/* Fill in *about when the call begins: a close takes effect then. */
void dump_call_about(const struct call *c, const struct model *m, struct dump_about *about);

/* The decoded return. */
struct dump_return {
	struct json_text args, results, notes;
};

/*
 * Decode the return into *r.  To be called before anything of the return is written: decoding
 * may look up names, whose lines precede it.
 */
void dump_call_decode_return(const struct call *c, const struct names *n,
			     struct dump_return *r);

/*
 * Add the result, what the call created, and decoded, about and args, which end.  args: the
 * arguments of the beginning if that is on this line too, or NULL.
 */
void dump_call_return(struct json_text *o, const struct call *c, const struct model *m,
		      struct json_text *args, struct dump_about *about,
		      struct dump_return *decoded);
