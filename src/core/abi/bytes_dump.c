// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines of xxd, hexdump, od, gdb's x and the kernel's print_hex_dump: an address, then numbers. */
#include "core/abi/bytes_text.h"

enum { LINE_NUMBERS = 32, ATTR_SIZE_MAX = 4096 };

/* One line: numbers of the same width. */
struct dump_line {
	uint64_t hex, octal;	/* the address, by either base */
	size_t digits;		/* of the address */
	bool colon;		/* behind it: xxd, gdb and the kernel; xxd has the bytes in order */
	bool repeat;		/* "*": lines like the one before are left out */
	size_t n, width;	/* of numbers, and bytes of each */
	unsigned int base;
	uint64_t numbers[LINE_NUMBERS];
};

/* Return how many bytes a number of that many digits has, and its base; 0: none. */
static size_t width_of(size_t len, unsigned int *base)
{
	static const uint8_t bytes[][2] = {
		[2] = { 1, 16 }, [3] = { 1, 8 }, [4] = { 2, 16 }, [6] = { 2, 8 }, [8] = { 4, 16 },
		[16] = { 8, 16 },
	};

	if (len >= sizeof(bytes) / sizeof(*bytes) || !bytes[len][0])
		return 0;
	*base = bytes[len][1];
	return bytes[len][0];
}

/* Read the address and what is before it: "[   1.25] attr: ", and gdb's "<attr+8>" behind it. */
static bool take_address(struct text_cursor *c, struct dump_line *l)
{
	const char *at;
	uint64_t v;
	size_t n;

	if (text_take(c, "["))
		while (c->at < c->end && *c->at++ != ']')
			;
	/* prefixes of print_hex_dump() */
	while (text_skip_blanks(c), n = text_word_at(c), at = c->at + 2 * text_ahead(c, "0x"),
	       n && n < (size_t)(c->end - c->at) && c->at[n] == ':' &&
	       !(scan_number(&at, c->end, SCAN_HEX, &v) && *at == ':'))
		c->at += n + 1;
	l->repeat = text_take(c, "*");
	text_take(c, "0x");
	at = c->at;
	scan_number(&at, c->end, 8, &l->octal);
	at = c->at;
	scan_number(&c->at, c->end, SCAN_HEX, &l->hex);
	l->digits = (size_t)(c->at - at);
	if (text_ahead(c, " <"))
		while (c->at < c->end && *c->at++ != '>')
			;
	l->colon = c->at < c->end && *c->at == ':';
	c->at += l->colon;
	return l->repeat || (l->digits >= 6 && (c->at == c->end || scan_is_blank(*c->at)));
}

/* Read a line, with numbers of that base unless it is 0; false: it is none of a dump. */
static bool dump_line_take(struct text_cursor *c, unsigned int base, struct dump_line *l)
{
	const char *end = memchr(c->at, '\n', (size_t)(c->end - c->at)), *blanks;
	struct text_cursor t = { .at = c->at, .end = end ?: c->end };

	*l = (struct dump_line){ .n = 0 };
	c->at = end ? end + 1 : c->end;
	if (!take_address(&t, l))
		return false;
	for (; t.at < t.end && l->n < LINE_NUMBERS; l->n++) {
		size_t width, len, gap;
		bool prefixed;

		blanks = t.at;
		text_skip_blanks(&t);
		gap = (size_t)(t.at - blanks);
		prefixed = text_take(&t, "0x");
		len = text_word_at(&t);
		/* od -tu1 aligns numbers of one to three digits; the first is a small type */
		base = !base && len == 1 && !prefixed ? 10 : base;
		width = base == 10 ? len && len < 4 : width_of(len, &base);
		blanks = t.at;
		/* more than two blanks, or two behind 16 bytes, are before characters */
		if (!gap || !width || (l->n && base != 10 && (gap > 2 || width != l->width)) ||
		    (l->n * l->width >= 16 && gap > 1) ||
		    !scan_number(&t.at, blanks + len, base, &l->numbers[l->n]) ||
		    t.at != blanks + len)
			break;
		l->width = width;
		l->base = base;
	}
	return true;
}

static size_t put_line(const struct dump_line *l, bool swap, uint8_t *out, size_t room)
{
	size_t len = l->n * l->width;

	len = len < room ? len : room;
	for (size_t i = 0; i < len; i++) {
		size_t byte = swap ? l->width - 1 - i % l->width : i % l->width;

		out[i] = (uint8_t)(l->numbers[i / l->width] >> 8 * byte);
	}
	return len;
}

bool bytes_dump_like(const char *text, size_t len)
{
	struct text_cursor c = { .at = text, .end = text + len };
	struct dump_line l;
	bool first = true;

	for (text_skip_blanks(&c); c.at < c.end; first = false) {
		/* numbers alone may begin with one that is as long as an address */
		if (!dump_line_take(&c, 0, &l) || l.repeat || l.n * l.width < 8 ||
		    (!l.colon && (l.digits == 2 * l.width || l.hex)))
			continue;
		/* of a line in the midst of a text more must be right */
		if (first || (l.n * l.width == 16 && !l.hex))
			return true;
	}
	return false;
}

bool bytes_dump_read(struct text_cursor *c, uint8_t *out, size_t max, size_t *len)
{
	struct dump_line l, before = { .n = 0 };
	bool swap = false, repeat = false, octal = false;
	uint64_t first = 0, at;
	size_t n = 0;

	for (*len = 0; c->at < c->end; repeat = l.repeat) {
		const char *start = c->at;

		l.repeat = repeat;
		if (!dump_line_take(c, before.base, &l) || l.repeat)
			continue;
		/* od's addresses are octal: the second line of 16 bytes is at 20 */
		octal |= before.n && n == 16 && l.hex - first == 32;
		if (!before.n) {
			first = l.hex;
			/* xxd has bytes, or with -e words, as others have */
			swap = l.colon && l.width > 1;
			if (put_line(&l, swap, out, max) < 8)
				continue;
			swap ^= l.width > 2 &&
				(out[6] || out[7] || (out[4] | out[5] << 8) > ATTR_SIZE_MAX);
		}
		at = (octal ? l.octal : l.hex) - first;
		while (repeat && n < at && n < max)
			n += put_line(&before, swap, out + n, max - n);
		if (before.n && at < n) {
			/* the next dump begins, or the last word was not full */
			n = l.n ? n : (size_t)at;
			c->at = l.n ? start : c->at;
			break;
		}
		if (!l.n)
			break;
		if (at != n)
			return text_cursor_fail(c, "a line of the dump is missing");
		before = l;
		n += put_line(&l, swap, out + n, max - n);
	}
	*len = n;
	return n;
}
