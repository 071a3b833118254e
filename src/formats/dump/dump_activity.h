/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the writer and the reader of dumps share; see pevtrace-json(5).
 *
 * The members of lines about activities are generated from xlat/activities.in into
 * xlat/activities.c.
 */
#pragma once

#include "core/abi/call.h"
#include "formats/json/json_text.h"
#include "xlat/activities.h"

/* Increment it if older readers would misread a dump. */
#define DUMP_SCHEMA 1

/* Values of "kind" of the lines that no table describes. */
#define KIND_HEADER "header"
#define KIND_MACHINE "machine"	/* of a machine file, which has no other line of these */
#define KIND_NAME "name"
#define KIND_CALL "call"	/* a whole call */
#define KIND_ENTER "enter"	/* the start of a call, if other lines precede its return */
#define KIND_EXIT "exit"	/* the return of that call */
#define KIND_END "end"

/* Values of "byte_order" in the header; by default it is that of "arch". */
#define BYTE_ORDER_BIG "big"
#define BYTE_ORDER_LITTLE "little"

enum dump_field_type {
	MEMBER_INT,		/* int or pid_t, min to max */
	MEMBER_S64,
	MEMBER_UINT,		/* uint32_t or uint64_t; to max if that is not 0 */
	MEMBER_HEX,		/* uint64_t */
	MEMBER_BOOL,
	MEMBER_TEXT,		/* const char *, of at least min bytes */
	MEMBER_TEXT_OR_NULL,
	MEMBER_CHARS,		/* an array of char, which cuts longer ones */
	MEMBER_BYTES,		/* const uint8_t *, and their number in len */
	MEMBER_ARRAY,		/* an array of uint8_t */
	MEMBER_WORDS,		/* char *const *, with NULL behind the last one */
	MEMBER_HEXES,		/* const uint64_t *, and their number in len */
	MEMBER_EVENT,		/* struct event *; a line about one that is not known is skipped */
	MEMBER_EVENT_OR_NULL,
	MEMBER_RING,		/* struct ring *; likewise */
	MEMBER_ENUM,		/* one of names */
	MEMBER_LIST,		/* an array of objects, and their number in len */
	MEMBER_OWN,		/* written by a function, and read by reader_activity.c if at all */
};

/* When a member is on the line. */
enum dump_when {
	WHEN_ALWAYS,
	WHEN_NOT_ZERO,
	WHEN_OLD,		/* always, but in dumps of older versions */
	WHEN_WRITTEN,		/* always; the session derives it, so it is not read */
	WHEN_IF,		/* if cond is not 0 */
	WHEN_FLAG,		/* likewise; reading sets cond: all members of one cond, or none */
	WHEN_HOW,		/* if cond is how */
	WHEN_HOW_OLD,		/* likewise, but in dumps of older versions */
};

/* Add members that no other type describes. */
typedef void dump_own(struct json_text *o, const struct activity *a, const struct names *n);

/* The members of the elements of a list. */
struct dump_object {
	const struct dump_field *fields;
	size_t n;
	size_t size;		/* of the struct */
};

struct dump_field {
	const char *key;
	enum dump_field_type type;
	enum dump_when when;
	/* offsets in the struct of: the member, its length, the member that when is about */
	uint16_t at, len, cond;
	uint8_t size, cond_size;
	unsigned int how;
	int64_t min, max;
	const char *const *names;
	const struct dump_object *object;
	dump_own *own;
};

/* What comes before a line. */
enum dump_order {
	ORDER_NONE,
	ORDER_TIME,		/* the beginnings of calls that began earlier */
	ORDER_SPLITS,		/* that of the task's own call */
};

struct dump_kind {
	const char *line;	/* its member "kind" */
	const char *of;		/* its member "of", or NULL */
	const struct dump_field *fields;
	size_t n;
	uint16_t tid, ns;	/* offsets of these members, or 0 */
	enum dump_order order;
};

extern const struct dump_kind dump_kinds[ACTIVITY_KINDS];

dump_own dump_own_described_attr, dump_own_measured_here, dump_own_abandoned_call,
	 dump_own_record_record, dump_own_signal_signal, dump_own_signal_info, dump_own_signal_hex,
	 dump_own_gone_exit;
