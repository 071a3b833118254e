// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"

bool buf_reserve(struct buf *b, size_t extra)
{
	size_t need = b->len + extra + 1;
	size_t cap = b->cap ? b->cap : 64;
	char *data;

	/* no object is that large */
	if (extra >= PTRDIFF_MAX - b->len) {
		b->failed = true;
		return false;
	}
	if (need <= b->cap)
		return true;
	while (cap < need)
		cap *= 2;
	data = xrealloc(b->data, cap);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	b->data[b->len] = '\0';
	return true;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	if (!len || !buf_reserve(b, len))
		return;
	memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_pad(struct buf *b, size_t n)
{
	if (!buf_reserve(b, n))
		return;
	memset(b->data + b->len, ' ', n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	if (!buf_reserve(b, 64))
		return;
	va_copy(again, ap);
	n = vsnprintf(b->data + b->len, b->cap - b->len, fmt, ap);
	if (n > 0 && (size_t)n >= b->cap - b->len) {
		if (buf_reserve(b, (size_t)n))
			vsnprintf(b->data + b->len, b->cap - b->len, fmt, again);
		else
			n = 0;
	}
	b->len += n > 0 ? (size_t)n : 0;
	b->data[b->len] = '\0';
	va_end(again);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(b, fmt, ap);
	va_end(ap);
}

static void add_digits(struct buf *b, unsigned long long v, unsigned int base)
{
	char digits[24];
	char *p = digits + sizeof(digits);

	do {
		*--p = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	buf_add(b, p, (size_t)(digits + sizeof(digits) - p));
}

void buf_addu(struct buf *b, unsigned long long v)
{
	add_digits(b, v, 10);
}

void buf_addx(struct buf *b, unsigned long long v)
{
	buf_add(b, "0x", 2);
	add_digits(b, v, 16);
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->data)
		b->data[0] = '\0';
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}

static int buf_compare_numbers(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void buf_add_ranges(struct buf *out, uint32_t *list, size_t n)
{
	qsort(list, n, sizeof(*list), buf_compare_numbers);
	for (size_t i = 0, k; i < n; i = k + 1) {
		for (k = i; k + 1 < n && list[k + 1] <= list[k] + 1; k++)
			;
		buf_adds(out, i ? "," : "");
		buf_addf(out, list[k] > list[i] ? "%u-%u" : "%u", list[i], list[k]);
	}
}
