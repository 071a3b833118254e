/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A growable run of bytes that is also always a C string. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Zero-initialised is empty and valid.  data is NULL until the first byte is
 * added, then NUL-terminated at data[len].  The buffer owns data.
 */
struct buf {
	char *data;
	size_t len;
	size_t cap;
	bool failed;	/* in libpevtrace: memory was exhausted, so that something is missing */
};

/* The text so far; "" when nothing was added.  Valid until the next change. */
static inline const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

/*
 * Reserve space for extra more bytes and a NUL.  If memory is exhausted, die; in libpevtrace, set
 * failed and return false.
 */
bool buf_reserve(struct buf *b, size_t extra);

void buf_add(struct buf *b, const void *data, size_t len);
void buf_pad(struct buf *b, size_t n); /* append n blanks */
void buf_addf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *b, const char *fmt, va_list ap);

/* Decoders add most of their text byte by byte: a byte for which there is room costs no call. */
static inline void buf_addc(struct buf *b, char c)
{
	if (b->len + 2 > b->cap && !buf_reserve(b, 1))
		return;
	b->data[b->len++] = c;
	b->data[b->len] = '\0';
}

static inline void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

/* Append the bytes of an integer, in the byte order of this machine. */
static inline void buf_add_u32(struct buf *b, uint32_t v)
{
	buf_add(b, &v, sizeof(v));
}

static inline void buf_add_u64(struct buf *b, uint64_t v)
{
	buf_add(b, &v, sizeof(v));
}

/* Append the number in decimal or 0x hexadecimal; faster than printf(3). */
void buf_addu(struct buf *b, unsigned long long v);
void buf_addx(struct buf *b, unsigned long long v);

/* Append numbers, which are sorted by this, as "3-6,9". */
void buf_add_ranges(struct buf *b, uint32_t *list, size_t n);

/* Clear the content, keep the memory. */
void buf_reset(struct buf *b);

/* Free the memory; the buffer is empty and usable again. */
void buf_free(struct buf *b);
