// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/attr_value.h"

#include <string.h>

#include "core/lib/nearest.h"
#include "core/lib/scan_text.h"
#include "xlat/tables.h"

enum { DEPTH = 16 };	/* of brackets and signs */

struct expression {
	struct text_cursor *c;
	const struct xlat *xlat;
	unsigned int depth;
};

/* Skip blanks and return the next character, NUL at the end. */
static char value_next(struct text_cursor *c)
{
	c->at = scan_blanks(c->at, c->end);
	return c->at < c->end ? *c->at : 0;
}

/* Read a number by C's rules, with a suffix of U and L, that is all of the word. */
static bool value_number(struct text_cursor *c, const char *word, size_t len, uint64_t *v)
{
	const char *at = word;

	while (len > 1 && strchr("uUlL", word[len - 1]))
		len--;
	if (scan_number(&at, word + len, SCAN_C, v) && at == word + len)
		return true;
	return at == word + len ?
	       text_cursor_fail(c, "%.*s is more than 64 bits", (int)len, word) :
	       text_cursor_fail(c, "'%.*s' is not a number", (int)len, word);
}

/* Return the constant of that name; names without prefix must be of the own table. */
static const struct xlat_entry *value_constant(const struct xlat *own, const char *name)
{
	const struct xlat_entry *e = xlat_by_name(own, name);

	for (size_t i = 0; !e && xlat_tables[i]; i++) {
		e = xlat_by_name(xlat_tables[i], name);
		if (e && strcmp(e->name, name))
			e = NULL;
	}
	return e;
}

/* Store the error of an unknown name, with the nearest constant: of the own table if one is. */
static bool value_unknown(struct expression *x, const char *word, size_t len)
{
	int some = len < 60 ? (int)len : 60;
	struct nearest n;

	nearest_start(&n, word, len);
	xlat_offer(x->xlat, true, &n);
	for (size_t i = 0, own = *n.best; !own && xlat_tables[i]; i++)
		xlat_offer(xlat_tables[i], false, &n);
	return text_cursor_fail(x->c, x->xlat ? "unknown constant '%.*s'%s" :
				"'%.*s' is neither a number nor a constant%s",
				some, word, nearest_hint(&n));
}

static bool value_of_name(struct expression *x, const char *word, size_t len, uint64_t *v)
{
	const struct xlat_entry *e;
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
		e = value_constant(x->xlat, name);
		if (e) {
			*v = e->value;
			return true;
		}
	}
	return value_unknown(x, word, len);
}

/* Read "sizeof(...)"; whatever its operand, it is the size of an attr. */
static bool value_sizeof(struct text_cursor *c, uint64_t *v)
{
	unsigned int depth = 0;

	if (value_next(c) != '(')
		return text_cursor_fail(c, "sizeof: expected '('");
	do {
		depth += *c->at == '(';
		depth -= *c->at == ')';
		c->at++;
	} while (depth && c->at < c->end);
	*v = layout_perf_event_attr.size;
	return !depth || text_cursor_fail(c, "sizeof: expected ')'");
}

static bool value_any_of(struct expression *x, uint64_t *v);

static bool value_primary(struct expression *x, uint64_t *v)
{
	struct text_cursor *c = x->c;
	char ch = value_next(c);
	const char *word = c->at;
	bool ok;

	if (ch == '-' || ch == '~' || ch == '(') {
		if (++x->depth > DEPTH)
			return text_cursor_fail(c, "brackets are nested too deep");
		c->at++;
		ok = ch == '(' ? value_any_of(x, v) : value_primary(x, v);
		x->depth--;
		if (!ok)
			return false;
		if (ch == '(') {
			if (value_next(c) != ')')
				return text_cursor_fail(c, "expected ')'");
			c->at++;
		}
		*v = ch == '-' ? -*v : ch == '~' ? ~*v : *v;
		return true;
	}
	c->at += scan_word(c->at, c->end);
	if (c->at == word)
		return ch ? text_cursor_fail(c, "expected a number or a name at '%c'", ch) :
			    text_cursor_fail(c, "expected a number or a name");
	if (scan_is_digit(*word))
		return value_number(c, word, (size_t)(c->at - word), v);
	if (c->at - word == 6 && !memcmp(word, "sizeof", 6))
		return value_sizeof(c, v);
	return value_of_name(x, word, (size_t)(c->at - word), v);
}

static bool value_shifted(struct expression *x, uint64_t *v)
{
	struct text_cursor *c = x->c;
	uint64_t by;

	if (!value_primary(x, v))
		return false;
	while (value_next(c) == '<' && c->end - c->at >= 2 && c->at[1] == '<') {
		c->at += 2;
		if (!value_primary(x, &by))
			return false;
		if (by > 63)
			return text_cursor_fail(c, "a shift by %llu bits",
						(unsigned long long)by);
		*v <<= by;
	}
	return true;
}

static bool value_any_of(struct expression *x, uint64_t *v)
{
	uint64_t more;

	if (!value_shifted(x, v))
		return false;
	while (value_next(x->c) == '|') {
		x->c->at++;
		if (!value_shifted(x, &more))
			return false;
		*v |= more;
	}
	return true;
}

bool value_read(struct text_cursor *c, const struct xlat *x, uint64_t *v)
{
	struct expression e = { .c = c, .xlat = x };

	if (!value_any_of(&e, v))
		return false;
	return !value_next(c) || text_cursor_fail(c, "'%.*s' is left over; values are joined by |",
					     text_cursor_some(c), c->at);
}
