// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines of xxd, hexdump, od, gdb's x and the kernel's print_hex_dump: an address, then numbers. */
#include "core/abi/bytes_text.h"

enum { LINE_MAX_BYTES = 64, SIZE_MAX_ATTR = 4096 };

/* One line: numbers of the same width, in memory's order or that of the processor. */
struct dump_line {
	const char *address;	/* its digits */
	size_t digits;
	bool colon;		/* behind the address: xxd */
	bool repeat;		/* "*": lines like the one before are left out */
	size_t n, width;	/* of numbers, and bytes of each */
	unsigned int base;
	uint64_t numbers[LINE_MAX_BYTES];
};

/* Read a run of digits in that base, with its length. */
static size_t run_of(const struct text_cursor *c, unsigned int base, uint64_t *v)
{
	const char *at = c->at, *end = c->at + text_word_at(c);

	return scan_number(&at, end, base, v) && at == end ? (size_t)(at - c->at) : 0;
}

/* Return how many bytes a number of that many characters has, and its base; 0: none. */
static size_t width_of(size_t len, bool prefixed, unsigned int *base)
{
	static const struct {
		size_t len, width;
		unsigned int base;
	} widths[] = {
		{ 2, 1, 16 }, { 4, 2, 16 }, { 8, 4, 16 }, { 16, 8, 16 },
		{ 3, 1, 8 }, { 6, 2, 8 }, { 11, 4, 8 }, { 22, 8, 8 },
	};

	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		if (widths[i].len != len || (prefixed && widths[i].base != 16))
			continue;
		*base = widths[i].base;
		return widths[i].width;
	}
	return 0;
}

/* Read the address and what is before it: "[   1.25] attr: ", gdb's "<attr+8>" behind it. */
static bool take_address(struct text_cursor *c, struct dump_line *l)
{
	uint64_t v;
	size_t n;

	text_skip_blanks(c);
	l->repeat = text_take(c, "*");
	if (l->repeat)
		return true;
	if (text_take(c, "[")) {
		while (c->at < c->end && *c->at++ != ']')
			;
		text_skip_blanks(c);
	}
	/* a prefix of print_hex_dump() */
	n = text_word_at(c);
	if (n < (size_t)(c->end - c->at) && c->at[n] == ':' && !run_of(c, 16, &v))
		c->at += n + 1;
	text_skip_blanks(c);
	text_take(c, "0x");
	l->address = c->at;
	l->digits = run_of(c, 16, &v);
	c->at += l->digits;
	if (text_ahead(c, " <"))
		while (c->at < c->end && *c->at++ != '>')
			;
	l->colon = c->at < c->end && *c->at == ':';
	c->at += l->colon;
	return l->digits >= 6 && (c->at == c->end || scan_is_blank(*c->at));
}

/* Read the numbers, up to the column of characters. */
static void take_numbers(struct text_cursor *c, unsigned int base, struct dump_line *l)
{
	while (c->at < c->end && l->n < LINE_MAX_BYTES) {
		const char *blanks = c->at;
		size_t width, len, gap;
		bool prefixed;

		text_skip_blanks(c);
		gap = (size_t)(c->at - blanks);
		prefixed = text_take(c, "0x");
		len = text_word_at(c);
		/* od -tu1 aligns numbers of one to three digits; the first is a small type */
		base = !base && len == 1 && !prefixed ? 10 : base;
		width = base == 10 ? len && len < 4 : width_of(len, prefixed, &base);
		/* more than two blanks, or two behind 16 bytes, are before characters */
		if (!gap || !width || (l->n && base != 10 && (gap > 2 || width != l->width)) ||
		    (l->n * l->width >= 16 && gap > 1) ||
		    run_of(c, base, &l->numbers[l->n]) != len)
			break;
		l->width = width;
		l->base = base;
		l->n++;
		c->at += len;
	}
}

/* Read a line; false: it is none of a dump. */
static bool dump_line_take(struct text_cursor *c, unsigned int base, struct dump_line *l)
{
	const char *end = memchr(c->at, '\n', (size_t)(c->end - c->at));
	struct text_cursor line = { .at = c->at, .end = end ?: c->end };

	*l = (struct dump_line){ .n = 0 };
	c->at = end ? end + 1 : c->end;
	if (!take_address(&line, l))
		return false;
	if (!l->repeat)
		take_numbers(&line, base, l);
	return true;
}

static uint64_t address(const struct dump_line *l, unsigned int base)
{
	const char *at = l->address;
	uint64_t v = 0;

	scan_number(&at, at + l->digits, base, &v);
	return v;
}

static size_t put_line(const struct dump_line *l, bool swap, uint8_t *out, size_t room)
{
	size_t len = l->n * l->width;

	for (size_t i = 0; i < len && i < room; i++) {
		size_t byte = i % l->width;

		out[i] = (uint8_t)(l->numbers[i / l->width] >>
				   8 * (swap ? l->width - 1 - byte : byte));
	}
	return len < room ? len : room;
}

/* Return whether the second word of an attr, its size, is possible on a little-endian machine. */
static bool size_possible(const uint8_t *bytes)
{
	return (bytes[4] | bytes[5] << 8) <= SIZE_MAX_ATTR && !bytes[6] && !bytes[7];
}

bool bytes_dump_like(const char *text, size_t len)
{
	struct text_cursor c = { .at = text, .end = text + len };
	struct dump_line l;
	bool first = true;

	for (text_skip_blanks(&c); c.at < c.end; first = false) {
		/* numbers alone may begin with one that is as long as an address */
		if (!dump_line_take(&c, 0, &l) || l.repeat || l.n * l.width < 8 ||
		    (!l.colon && (l.digits == 2 * l.width || strspn(l.address, "0") < l.digits)))
			continue;
		/* of a line in the midst of a text more must be right */
		if (first || (l.n * l.width == 16 && strspn(l.address, "0") == l.digits))
			return true;
	}
	return false;
}

bool bytes_dump_read(struct text_cursor *c, uint8_t *out, size_t max, size_t *len)
{
	struct dump_line l, before = { .n = 0 };
	uint64_t first = 0, at;
	unsigned int base = 16;
	bool swap = false, repeat = false;
	size_t n = 0;

	while (c->at < c->end) {
		const char *start = c->at;

		if (!dump_line_take(c, before.base, &l))
			continue;
		if (l.repeat) {
			repeat = true;
			continue;
		}
		/* od's addresses are octal: the second line of 16 bytes is at 20 */
		if (n == 16 && before.n && address(&l, 16) - first == 32)
			base = 8;
		at = address(&l, base) - (before.n ? address(&before, base) : 0);
		if (before.n && address(&l, base) < first + n) {
			c->at = start;	/* the next dump */
			break;
		}
		if (!before.n) {
			first = address(&l, base);
			/* xxd has bytes, others words of the processor */
			swap = l.colon && l.width > 1;
			if (put_line(&l, swap, out, max) < 8)
				continue;
			swap ^= l.width > 2 && !size_possible(out);
		}
		while (repeat && n < at + (size_t)(address(&before, base) - first) && n < max)
			n += put_line(&before, swap, out + n, max - n);
		repeat = false;
		if (!l.n) {
			n = n < address(&l, base) - first ? n : (size_t)(address(&l, base) - first);
			break;
		}
		if (before.n && address(&l, base) != first + n)
			return text_cursor_fail(c, "a line of the dump is missing");
		before = l;
		n += put_line(&l, swap, out + n, max - n);
		before.n = l.n;
	}
	*len = n;
	return n;
}
