/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records made by hand, and what they are decoded to, whole and cut at every length. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/abi/arch.h"
#include "core/abi/record.h"
#include "fake.h"
#include "formats/text/text.h"

/* A record that grows; done() fills in its size. */
struct rec {
	uint8_t bytes[1024];
	size_t len;
};

static inline void add(struct rec *r, size_t width, uint64_t v)
{
	uint32_t u32 = (uint32_t)v;
	uint16_t u16 = (uint16_t)v;
	uint8_t u8 = (uint8_t)v;

	assert_true(r->len + width <= sizeof(r->bytes));
	memcpy(r->bytes + r->len, width == 8 ? (void *)&v : width == 4 ? (void *)&u32 :
	       width == 2 ? (void *)&u16 : (void *)&u8, width);
	r->len += width;
}

static inline void add_bytes(struct rec *r, const void *p, size_t len)
{
	memcpy(r->bytes + r->len, p, len);
	r->len += len;
}

static inline struct rec begin(uint32_t type, uint16_t misc)
{
	struct rec r = { .len = 0 };

	add(&r, 4, type);
	add(&r, 2, misc);
	add(&r, 2, 0);
	return r;
}

static inline void done(struct rec *r)
{
	uint16_t size = (uint16_t)r->len;

	memcpy(r->bytes + 6, &size, 2);
}

static const char *event_of(void *ctx, uint64_t id)
{
	(void)ctx;
	return id == 77 ? "cycles" : NULL;
}

static inline bool raw_of(void *ctx, const uint8_t *data, size_t len, struct sink *s)
{
	(void)ctx;
	if (len != 12 || load_uint(data, 2) != 1)
		return false;
	sink_uint(s, "common_type", 1);
	return true;
}

static const char *symbol_of(void *ctx, int32_t pid, uint64_t ip,
			     unsigned int cpumode, bool after_call)
{
	static char text[64];

	(void)ctx;
	if (ip != 0x1234 && ip != 0x5678)
		return NULL;
	snprintf(text, sizeof(text), "%s of %d in mode %u", after_call ? "call" : "main", pid,
		 cpumode);
	return text;
}

static const struct record_hooks hooks = {
	.event = event_of, .raw = raw_of, .symbol = symbol_of,
};

/* What a copy of exactly len bytes is decoded to; *used what was returned. */
static const char *decode(const uint8_t *bytes, size_t len,
			  const struct record_format *f, bool full, size_t *used)
{
	static struct buf out;
	uint8_t *copy = malloc(len ? len : 1);
	struct record_id id;
	struct text_sink t;
	struct sink_ops const *ops;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	buf_reset(&out);
	text_sink_init(&t, &out);
	t.sink.full = full;
	t.sink.max_string = 64;
	ops = t.sink.ops;
	text_sink_top(&t, false, NULL);
	*used = record_emit(copy, len, f, &fake_names, &t.sink, &hooks);
	assert_int_equal(t.depth, 0);
	assert_ptr_equal(t.sink.ops, ops);
	record_identify(copy, len, f, &id);
	free(copy);
	return buf_str(&out);
}

/* Expect a record's text, and the last surplus bytes to belong to no field. */
static inline void expect_surplus(struct rec *r, const struct record_format *f, size_t surplus,
			   const char *text)
{
	const char *got;
	size_t used;

	done(r);
	got = decode(r->bytes, r->len, f, false, &used);
	assert_string_equal(got, text);
	assert_int_equal(used, r->len - surplus);
	/* the bytes of the next record are none of its business */
	got = decode(r->bytes, r->len + 8, f, false, &used);
	assert_string_equal(got, text);
	assert_int_equal(used, r->len - surplus);
	for (size_t len = 0; len < r->len; len++) {
		decode(r->bytes, len, f, true, &used);
		assert_true(used <= len);
	}
}

static inline void expect(struct rec *r, const struct record_format *f, const char *text)
{
	expect_surplus(r, f, 0, text);
}

static const struct record_format plain = { .arch = &arch_x86_64 };
static const struct record_format no_build_id = { .arch = &arch_x86_64, .no_build_id = true };
/* TID, TIME, ID, CPU, STREAM_ID, IDENTIFIER */
static const struct record_format all_ids = {
	.sample_type = 0x102c6, .sample_id_all = true, .arch = &arch_x86_64,
};

static inline void add_ids(struct rec *r)
{
	add(r, 4, 11);
	add(r, 4, 12);
	add(r, 8, 1000);
	add(r, 8, 77);
	add(r, 8, 78);
	add(r, 4, 1);
	add(r, 4, 0);
	add(r, 8, 77);
}

#define IDS "sample_id={pid=11, tid=12, time=1000, id=77, stream_id=78, cpu=1, " \
	    "identifier=77 /* cycles */}}"
