// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/bytes_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_cursor_note(struct text_cursor *c, const char *fmt, ...)
{
	va_list ap;

	if (*c->why)
		return;
	va_start(ap, fmt);
	vsnprintf(c->why, sizeof(c->why), fmt, ap);
	va_end(ap);
}

static int bytes_digit(char ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	ch = (char)(ch | ' ');
	return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

static void skip(struct text_cursor *c, const char *set)
{
	while (c->at < c->end && (scan_is_blank(*c->at) || (*c->at && strchr(set, *c->at))))
		c->at++;
}

static bool take_0x(struct text_cursor *c)
{
	if (c->end - c->at < 2 || c->at[0] != '0' || (c->at[1] | ' ') != 'x')
		return false;
	c->at += 2;
	return true;
}

static bool bytes_put(struct text_cursor *c, uint8_t *out, size_t max, size_t *len,
		      unsigned int byte)
{
	if (byte > 255)
		return text_cursor_fail(c, "a number of the list is above 255");
	if (*len == max)
		return text_cursor_fail(c, "longer than %zu bytes", max);
	out[(*len)++] = (uint8_t)byte;
	return true;
}

/* Return the first character that is not blank, or 0. */
static char first(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!scan_is_blank(text[i]))
			return text[i];
	return 0;
}

/* Find the list between the braces of "unsigned char attr[] = { 1, 0, ...};". */
static bool list_inside(const char *text, size_t len, struct text_cursor *c)
{
	const char *open = memchr(text, '{', len), *close;
	char ch;

	if (!open)
		return false;
	close = memchr(open, '}', len - (size_t)(open - text));
	if (!close)
		close = text + len;
	ch = first(open + 1, (size_t)(close - open - 1));
	if (ch < '0' || ch > '9')
		return false;
	c->at = open + 1;
	c->end = close;
	return true;
}

bool bytes_like(const char *text, size_t len)
{
	struct text_cursor list;
	char ch = first(text, len);

	if (!ch)
		return false;
	if (ch == '"' || ch == '\\' || list_inside(text, len, &list))
		return true;
	for (size_t i = 0; i < len; i++)
		if (!scan_is_blank(text[i]) && bytes_digit(text[i]) < 0 &&
		    !(text[i] && strchr("xX,", text[i])))
			return false;
	return true;
}

/* Read numbers in C notation, separated by commas. */
static bool read_list(struct text_cursor *c, uint8_t *out, size_t max, size_t *len)
{
	for (skip(c, ","); c->at < c->end; skip(c, ",")) {
		bool hex = take_0x(c);
		unsigned int base = hex ? 16 : 10, v = 0;
		int d = -1;

		for (; c->at < c->end && (d = bytes_digit(*c->at)) >= 0; c->at++) {
			if ((unsigned int)d >= base)
				break;
			v = v > 255 ? v : v * base + (unsigned int)d;
			hex = false;
		}
		if (hex || (c->at < c->end && !scan_is_blank(*c->at) && *c->at != ','))
			return text_cursor_fail(c, "not a list of bytes at '%.*s'",
						text_cursor_some(c), c->at);
		if (!bytes_put(c, out, max, len, v))
			return false;
	}
	return true;
}

/* Read pairs of hexadecimal digits; behind 0x a single digit is allowed. */
static bool read_digits(struct text_cursor *c, uint8_t *out, size_t max, size_t *len)
{
	for (skip(c, ""); c->at < c->end; skip(c, "")) {
		bool prefixed = take_0x(c);
		const char *run = c->at;
		size_t n;

		while (c->at < c->end && bytes_digit(*c->at) >= 0)
			c->at++;
		n = (size_t)(c->at - run);
		if (!n)
			return text_cursor_fail(c, "no hexadecimal digits at '%.*s'",
						text_cursor_some(c), c->at);
		if (n == 1 && prefixed) {
			if (!bytes_put(c, out, max, len, (unsigned int)bytes_digit(*run)))
				return false;
			continue;
		}
		if (n % 2)
			return text_cursor_fail(c, "a run of %zu hexadecimal digits: "
						"two make a byte", n);
		for (; run < c->at; run += 2)
			if (!bytes_put(c, out, max, len, (unsigned int)bytes_digit(run[0]) << 4 |
				 (unsigned int)bytes_digit(run[1])))
				return false;
	}
	return true;
}

/* Read the escape behind a backslash. */
static bool read_escape(struct text_cursor *c, unsigned int *byte)
{
	static const char letters[] = "n\nt\tr\rv\vf\fa\ab\b\"\"\\\\''";
	unsigned int v = 0, n = 0;
	const char *p;

	if (c->at == c->end)
		return text_cursor_fail(c, "ends in a backslash");
	if (*c->at == 'x') {
		for (c->at++; n < 2 && c->at < c->end && bytes_digit(*c->at) >= 0; n++)
			v = v << 4 | (unsigned int)bytes_digit(*c->at++);
		*byte = v;
		return n || text_cursor_fail(c, "\\x without digits");
	}
	for (; n < 3 && c->at < c->end && *c->at >= '0' && *c->at <= '7'; n++)
		v = v << 3 | (unsigned int)(*c->at++ - '0');
	*byte = v;
	if (n)
		return true;
	for (p = letters; *p; p += 2) {
		if (*p == *c->at) {
			*byte = (unsigned char)p[1];
			c->at++;
			return true;
		}
	}
	return text_cursor_fail(c, "unknown escape \\%c", *c->at);
}

/* Read up to quote (0: up to the end, ignoring blanks). */
static bool read_escaped(struct text_cursor *c, char quote, uint8_t *out, size_t max,
			 size_t *len)
{
	while (c->at < c->end && (!quote || *c->at != quote)) {
		unsigned int byte = (unsigned char)*c->at++;

		if (!quote && scan_is_blank((char)byte))
			continue;
		if (byte == '\\' && !read_escape(c, &byte))
			return false;
		if (!bytes_put(c, out, max, len, byte))
			return false;
	}
	return true;
}

bool bytes_read_literal(struct text_cursor *c, uint8_t *out, size_t max, size_t *len)
{
	char quote = *c->at++;

	*len = 0;
	if (!read_escaped(c, quote, out, max, len))
		return false;
	if (c->at == c->end)
		return text_cursor_fail(c, "a string is missing its closing quote");
	c->at++;
	return true;
}

bool bytes_read(struct text_cursor *c, uint8_t *out, size_t max, size_t *len)
{
	size_t n = (size_t)(c->end - c->at);

	*len = 0;
	if (list_inside(c->at, n, c) || memchr(c->at, ',', n))
		return read_list(c, out, max, len);
	skip(c, "");
	if (c->at < c->end && *c->at == '"') {
		/* adjacent literals are one, as in C */
		for (; c->at < c->end && *c->at == '"'; *len += n, skip(c, ";"))
			if (!bytes_read_literal(c, out + *len, max - *len, &n))
				return false;
		return c->at == c->end ||
		       text_cursor_fail(c, "more behind the string, at '%.*s'",
					text_cursor_some(c), c->at);
	}
	if (c->at < c->end && *c->at == '\\')
		return read_escaped(c, 0, out, max, len);
	return read_digits(c, out, max, len);
}
