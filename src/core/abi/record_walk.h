/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A record and the decoding position, for the record decoders only. */
#pragma once

#include "core/abi/record.h"

enum { RECORD_HEADER = 8 };	/* bytes of struct perf_event_header */

struct record {
	const uint8_t *bytes;
	/* the same bytes if each part is to be converted before it is decoded, else NULL */
	uint8_t *swap;
	size_t at;		/* bytes accounted for */
	size_t end;		/* end of the part being decoded */
	size_t wants;		/* the end that it requires if it does not fit, else 0 */
	const struct slot *slot; /* the one whose size is asked for */
	uint32_t type;
	uint16_t misc, size;
	int32_t pid;		/* of the task; -1 while not known */
	const struct record_format *format;
	const struct names *names;
	const struct record_hooks *hooks;
	struct sink *s;
};

/*
 * Consume need bytes.  If they are missing, return false and record the first such
 * request in r->wants.
 */
bool record_take(struct record *r, size_t need);

/* Return the integer at a position that is not consumed yet. */
uint64_t record_count(const struct record *r, size_t at, size_t width);

/*
 * Write and consume the members of a layout whose offsets are relative to base, as far
 * as they are present.  Return false if some are missing.
 */
bool record_fields(struct record *r, const struct layout *l, size_t base);

/* As record_fields(), of members that are in this machine's byte order. */
bool record_members(struct record *r, const struct layout *l, size_t base);

/* Write and consume the NUL-terminated string and padding at the end of the record. */
void record_string(struct record *r, const char *key);

/* Write bytes that form one number, with a note of it in hexadecimal. */
void record_digest(struct record *r, const char *key, const uint8_t *p,
		   size_t len, bool cut);

/* Note what code is at an address, if the hook knows; see struct record_hooks. */
void record_note_symbol(const struct record *r, uint64_t ip, unsigned int cpumode,
			bool after_call);

/* Return the name of the event with that id, or NULL. */
const char *record_event(const struct record *r, uint64_t id);

/* A part of a sample or of a sample_id. */
struct slot {
	uint64_t bits;			/* present with any of these in sample_type */
	const struct layout *layout;	/* of a part of fixed size, or NULL */
	const char *key;		/* NULL: the members are not in an object of their own */
	/* without a layout: return its size at a position; SIZE_MAX: more than the record has */
	size_t (*need)(const struct record *r, size_t at);
	/* write its len bytes, as returned by need */
	void (*emit)(struct record *r, const char *key, const uint8_t *p, size_t len);
	/* convert its len bytes; NULL: they are 64-bit integers */
	void (*swap)(struct record *r, uint8_t *p, size_t len);
};

/* The parts in their order in a record; bits is 0 in the last. */
extern const struct slot sample_slots[];
extern const struct slot sample_id_slots[];

/* Write and consume all the slots that the record has of these. */
void record_slots(struct record *r, const struct slot *slots);

/* Write and consume the part that one slot describes. */
bool record_slot(struct record *r, const struct slot *slot);

/* Return the end of the slots behind r->slot if they began at that place. */
size_t record_tail(const struct record *r, size_t at);

/* The parts of a sample whose size varies. */
size_t read_need(const struct record *r, size_t at);
size_t callchain_need(const struct record *r, size_t at);

void read_emit(struct record *r, const char *key, const uint8_t *p, size_t len);
void callchain_emit(struct record *r, const char *key, const uint8_t *p, size_t len);
