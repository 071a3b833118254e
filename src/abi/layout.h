/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Walking over bytes by a struct's description. */
#ifndef PEVTRACE_ABI_LAYOUT_H
#define PEVTRACE_ABI_LAYOUT_H

#include "abi/call.h"
#include "abi/sink.h"
#include "abi/xlat.h"

/* The little-endian or big-endian (as this machine) integer of 1 to 8 bytes. */
uint64_t load_uint(const void *bytes, size_t width);

/*
 * The member's value; bytes that len does not cover count as zero, as the
 * kernel takes a struct that is shorter than its own.
 */
uint64_t field_get(const struct field *f, const void *bytes, size_t len);

/*
 * Puts v into n bits, from first on, of the integer that holds the member.
 * bytes must reach to the member's end.
 */
void field_set_bits(const struct field *f, unsigned int first, unsigned int n,
		    uint64_t v, uint8_t *bytes);

/* The member's value into bytes that reach to its end. */
static inline void field_set(const struct field *f, uint64_t v, uint8_t *bytes)
{
	field_set_bits(f, f->bit, f->nbits ? f->nbits : 8u * f->width, v, bytes);
}

/* Makes the member 0, where len covers all of it. */
static inline void field_clear(const struct field *f, uint8_t *bytes, size_t len)
{
	if (f->offset + (size_t)f->width <= len)
		field_set(f, 0, bytes);
}

/* Like field_get for the field with that index (see xlat/layouts.h). */
static inline uint64_t layout_get(const struct layout *l, unsigned int index,
				  const void *bytes, size_t len)
{
	return field_get(&l->fields[index], bytes, len);
}

/* The target's bytes under a walk. */
struct walk {
	const struct layout *layout;
	const uint8_t *bytes;
	size_t len;		/* readable bytes; members beyond are left out */
	const struct call *call; /* for strings and descriptors; may be NULL */
	const struct arch *arch; /* for register masks; may be NULL */
	const struct names *names; /* may be NULL */
	/* what the same struct held before; what differs is marked; may be NULL */
	const uint8_t *before;
	size_t before_len;
};

bool cond_holds(const struct walk *w, const struct cond *c);

/*
 * Walks the members that apply, in order: of those that share a place only
 * the one whose WHEN holds.  Start with *at = 0; NULL at the end.
 */
const struct field *layout_next(const struct walk *w, size_t *at);

#endif
