/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading the members of a struct by its description, and writing them to a sink. */
#pragma once

#include "core/abi/call.h"
#include "core/abi/sink.h"
#include "core/abi/xlat.h"

enum { BIG_ENDIAN_HERE = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

/* Return the integer of 1, 2, 4 or 8 bytes in this machine's byte order. */
uint64_t load_uint(const void *bytes, size_t width);

/* Store the lowest bytes of v as an integer of 1, 2, 4 or 8 bytes. */
void store_uint(uint8_t *p, size_t width, uint64_t v);

/* Return the number of the member's lowest bit in its integer on machines of a byte order. */
unsigned int field_shift(const struct field *f, bool big_endian);

/*
 * Return the member's value; bytes beyond len count as zero, as in the kernel for a
 * struct shorter than its own.
 */
uint64_t field_get(const struct field *f, const void *bytes, size_t len);

/*
 * Store v in n bits, from first on, of the integer that holds the member, all of which
 * must be in bytes. The layout must not be one word.
 */
void field_set_bits(const struct field *f, unsigned int first, unsigned int n,
		    uint64_t v, uint8_t *bytes);

/* Store v in the member, all of which must be in bytes. */
static inline void field_set(const struct field *f, uint64_t v, uint8_t *bytes)
{
	field_set_bits(f, f->bit, f->nbits ? f->nbits : 8u * f->width, v, bytes);
}

/* Set the member to 0 if len covers all of it. */
static inline void field_clear(const struct field *f, uint8_t *bytes, size_t len)
{
	if (f->offset + (size_t)f->width <= len)
		field_set(f, 0, bytes);
}

/* Return the value of the member with that index (see xlat/layouts.h). */
static inline uint64_t layout_get(const struct layout *l, unsigned int index,
				  const void *bytes, size_t len)
{
	return field_get(&l->fields[index], bytes, len);
}

/* A struct in bytes of a tracee, and the context of its members. */
struct walk {
	const struct layout *layout;
	const uint8_t *bytes;
	size_t len;		/* readable bytes; members beyond are left out */
	const struct call *call; /* for strings and descriptors; may be NULL */
	const char *string;		/* without a call: what a string member points to, or NULL */
	const struct arch *arch; /* for register masks; may be NULL */
	const struct names *names; /* may be NULL */
	enum call_phase phase;	/* in which strings were captured */
	/* the struct before a change, whose differences are noted; may be NULL */
	const uint8_t *before;
	size_t before_len;
};

bool cond_holds(const struct walk *w, const struct cond *c);

/*
 * Return the next member that applies; of those in a union the one whose WHEN holds.
 * Start with *at = 0; NULL at the end.
 */
const struct field *layout_next(const struct walk *w, size_t *at);

/* Return the next member that applies and has another value in other, which has len bytes. */
const struct field *layout_next_change(const struct walk *w, const uint8_t *other, size_t len,
				       size_t *at);

/* Write the member with that index, whether it applies or not. */
void layout_emit_member(const struct walk *w, unsigned int index, struct sink *s);

/*
 * Write the members that apply into the object that the caller has begun: those that
 * are not zero or always shown, and all of them if s->full.
 */
void layout_emit(const struct walk *w, struct sink *s);

/* Write the bytes behind the last member in the tables, as the member "unknown". */
void layout_emit_tail(const struct walk *w, struct sink *s);

/* Members of perf_event_attr ------------------------------------------------------------ */

/* The kernel refuses an attr larger than a page; 4 KiB is the smallest page. */
enum { ATTR_MAX_SIZE = 4096 };

/* Return the member of that name, or NULL. */
const struct field *attr_member(const char *name, size_t len);

/* Copy config, config1 and so on to ATTR_CONFIGS words: 0 for what len does not hold. */
void attr_get_configs(const uint8_t *attr, size_t len, uint64_t *configs);

/* Return the constants that a config of that type may be, or NULL. */
const struct xlat *attr_config_values(uint64_t type);
