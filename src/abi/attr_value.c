// SPDX-License-Identifier: LGPL-2.1-or-later
#include "abi/attr_value.h"

#include <string.h>

#include "xlat/tables.h"

enum { DEPTH = 16 };	/* of brackets and signs */

struct expression {
	struct text_cursor *c;
	const struct xlat *xlat;
	unsigned int depth;
};

static bool is_word(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       (ch >= '0' && ch <= '9') || ch == '_';
}

static char next(struct text_cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || (*c->at >= '\t' && *c->at <= '\r')))
		c->at++;
	return c->at < c->end ? *c->at : 0;
}

static unsigned int digit_of(char ch)
{
	if (ch >= '0' && ch <= '9')
		return (unsigned int)(ch - '0');
	ch = (char)(ch | ' ');
	return ch >= 'a' && ch <= 'z' ? (unsigned int)(ch - 'a') + 10 : 99;
}

/* A number by C's rules, with its suffix of U and L. */
static bool number(struct text_cursor *c, const char *word, size_t len, uint64_t *v)
{
	unsigned int base = 10;
	size_t i = 0;

	while (len > 1 && ((word[len - 1] | ' ') == 'u' || (word[len - 1] | ' ') == 'l'))
		len--;
	if (len > 2 && word[0] == '0' && (word[1] | ' ') == 'x') {
		base = 16;
		i = 2;
	} else if (len > 1 && word[0] == '0') {
		base = 8;
	}
	for (*v = 0; i < len; i++) {
		unsigned int d = digit_of(word[i]);

		if (d >= base)
			return text_cursor_fail(c, "'%.*s' is no number", (int)len, word);
		if (*v > (UINT64_MAX - d) / base)
			return text_cursor_fail(c, "%.*s is more than 64 bits",
						(int)len, word);
		*v = *v * base + d;
	}
	return true;
}

/* The constant of that name; a short name counts in its own table only. */
static const struct xlat_entry *constant(const struct xlat *own, const char *name)
{
	const struct xlat_entry *e = xlat_by_name(own, name);

	for (size_t i = 0; !e && xlat_tables[i]; i++) {
		e = xlat_by_name(xlat_tables[i], name);
		if (e && strcmp(e->name, name))
			e = NULL;
	}
	return e;
}

static bool name_value(struct expression *x, const char *word, size_t len, uint64_t *v)
{
	const struct xlat_entry *e;
	struct text_cursor *c = x->c;
	char name[80];

	if (len < sizeof(name)) {
		memcpy(name, word, len);
		name[len] = 0;
		if (!strcmp(name, "NULL") || !strcmp(name, "false")) {
			*v = 0;
			return true;
		}
		if (!strcmp(name, "true")) {
			*v = 1;
			return true;
		}
		e = constant(x->xlat, name);
		if (e) {
			*v = e->value;
			return true;
		}
	}
	return text_cursor_fail(c, x->xlat ? "no constant is called '%.*s'" :
				"'%.*s' is neither a number nor a constant",
				len < 60 ? (int)len : 60, word);
}

/* sizeof(...): whatever it is of, an attr says so of itself. */
static bool size_of(struct text_cursor *c, uint64_t *v)
{
	unsigned int depth = 0;

	if (next(c) != '(')
		return text_cursor_fail(c, "sizeof without its bracket");
	do {
		depth += *c->at == '(';
		depth -= *c->at == ')';
		c->at++;
	} while (depth && c->at < c->end);
	*v = layout_perf_event_attr.size;
	return !depth || text_cursor_fail(c, "sizeof without its closing bracket");
}

static bool any_of(struct expression *x, uint64_t *v);

static bool primary(struct expression *x, uint64_t *v)
{
	struct text_cursor *c = x->c;
	char ch = next(c);
	const char *word = c->at;
	bool ok;

	if (ch == '-' || ch == '~' || ch == '(') {
		if (++x->depth > DEPTH)
			return text_cursor_fail(c, "brackets are nested too deep");
		c->at++;
		ok = ch == '(' ? any_of(x, v) : primary(x, v);
		x->depth--;
		if (!ok)
			return false;
		if (ch == '(') {
			if (next(c) != ')')
				return text_cursor_fail(c, "a bracket is not closed");
			c->at++;
		}
		*v = ch == '-' ? -*v : ch == '~' ? ~*v : *v;
		return true;
	}
	while (c->at < c->end && is_word(*c->at))
		c->at++;
	if (c->at == word)
		return ch ? text_cursor_fail(c, "a number or a name is missing at '%c'", ch) :
			    text_cursor_fail(c, "a number or a name is missing");
	if (*word >= '0' && *word <= '9')
		return number(c, word, (size_t)(c->at - word), v);
	if (c->at - word == 6 && !memcmp(word, "sizeof", 6))
		return size_of(c, v);
	return name_value(x, word, (size_t)(c->at - word), v);
}

static bool shifted(struct expression *x, uint64_t *v)
{
	struct text_cursor *c = x->c;
	uint64_t by;

	if (!primary(x, v))
		return false;
	while (next(c) == '<' && c->end - c->at >= 2 && c->at[1] == '<') {
		c->at += 2;
		if (!primary(x, &by))
			return false;
		if (by > 63)
			return text_cursor_fail(c, "a shift by %llu bits",
						(unsigned long long)by);
		*v <<= by;
	}
	return true;
}

static bool any_of(struct expression *x, uint64_t *v)
{
	uint64_t more;

	if (!shifted(x, v))
		return false;
	while (next(x->c) == '|') {
		x->c->at++;
		if (!shifted(x, &more))
			return false;
		*v |= more;
	}
	return true;
}

bool value_read(struct text_cursor *c, const struct xlat *x, uint64_t *v)
{
	struct expression e = { .c = c, .xlat = x };

	if (!any_of(&e, v))
		return false;
	return !next(c) || text_cursor_fail(c, "'%.*s' is left over; values are joined by |",
					     text_cursor_some(c), c->at);
}
