// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/attr_pairs.h"

#include "core/abi/attr_member.h"
#include "core/abi/tables.h"

enum { VALUE_MAX = 20000 };	/* a page of bytes, each as \ooo, and some */

bool pairs_comment(struct text_cursor *c, struct text_cursor *bits)
{
	const char *end;

	if (text_ahead(c, "//")) {
		while (c->at < c->end && *c->at != '\n')
			c->at++;
		return true;
	}
	if (!text_ahead(c, "/*"))
		return false;
	end = text_find(c->at + 2, c->end, "*/");
	for (; bits && c->at < (end ? end : c->end); c->at++) {
		if (!text_ahead(c, "Bits "))
			continue;
		bits->at = c->at + 5;
		bits->end = end ? end : c->end;
	}
	c->at = end ? end + 2 : c->end;
	return true;
}

/* Read the last word of "attr->size", ".size" or "'size'". */
static size_t last_word(struct text_cursor *c, const char **name)
{
	char quote;
	size_t n;

	do {
		if (!text_take(c, "->"))
			text_take(c, ".");
		text_skip_blanks(c);
		quote = c->at < c->end && (*c->at == '\'' || *c->at == '"') ? *c->at++ : '\0';
		*name = c->at;
		n = text_word_at(c);
		c->at += n;
		if (quote && (c->at == c->end || *c->at++ != quote))
			return 0;
		text_skip_blanks(c);
	} while (n && (text_ahead(c, "->") || (text_ahead(c, ".") && !text_ahead(c, ".."))));
	return n;
}

size_t pairs_name(struct text_cursor *c, bool columns, const char **name)
{
	struct text_cursor t = { .at = c->at, .end = c->end };
	bool group = text_take(&t, "{");
	size_t n = last_word(&t, name);
	const char *close;

	if (!n || t.at == t.end)
		return 0;
	if (group) {
		/* perf's "{ sample_period, sample_freq }", by its first name */
		close = *t.at == ',' ? memchr(t.at, '}', (size_t)(t.end - t.at)) : NULL;
		if (!close || memchr(t.at, '\n', (size_t)(close - t.at)))
			return 0;
		t.at = close + 1;
	}
	if (text_ahead(&t, "==") || text_ahead(&t, "=>") || text_ahead(&t, "::"))
		return 0;
	if (!text_take(&t, "=") && !text_take(&t, ":") && !columns)
		return 0;
	t.at += t.at < t.end && *t.at == '=';	/* Go's := */
	c->at = t.at;
	return n;
}

/* Return whether a value ends at the blank at c->at: a name, a note or a line follows. */
static bool value_ends(const struct text_cursor *c, char last, bool is_sizeof)
{
	struct text_cursor t = { .at = scan_blanks(c->at, c->end), .end = c->end };
	bool line = memchr(c->at, '\n', (size_t)(t.at - c->at));
	const char *unused;

	if (strchr("|+<~-(&", last))
		return false;
	if (t.at == t.end || *t.at == '#' || text_ahead(&t, "as "))
		return true;
	if (*t.at == '(')
		return !is_sizeof;
	if (*t.at == '|' || text_ahead(&t, "<<"))
		return false;
	return line || *t.at == '<' || pairs_name(&t, false, &unused);
}

/* Move behind what follows a value and is not part of it: "(PERF_TYPE_RAW)", "<attr>", "# all". */
static void skip_note(struct text_cursor *c)
{
	const char *at = c->at;
	char until = 0;

	while (at < c->end && (*at == ' ' || *at == '\t'))
		at++;
	if (at < c->end)
		until = *at == '(' ? ')' : *at == '<' ? '>' : *at == '#' ? '\n' : 0;
	if (c->end - at > 3 && !memcmp(at, "as ", 3)) {
		c->at = at + 3;
		c->at += text_word_at(c);
	} else if (until) {
		for (c->at = at; c->at < c->end && *c->at != '\n'; c->at++)
			if (*c->at == until) {
				c->at++;
				break;
			}
	}
}

/* Read one value, without comments, up to its comma, bracket, semicolon or the next name. */
static bool take_value(struct text_cursor *c, bool columns, char *value, size_t *len,
		       struct text_cursor *bits)
{
	bool quoted = false;
	int depth = 0;

	text_skip_blanks(c);
	for (*len = 0; c->at < c->end; ) {
		char ch = *c->at;

		if (!quoted && pairs_comment(c, bits))
			continue;
		if (!quoted && !depth && (strchr(",;}", ch) || text_ahead(c, "=>")))
			break;
		if (!quoted && !depth && *len && scan_is_blank(ch) &&
		    (columns || value_ends(c, value[*len - 1], *len >= 6 &&
					   !memcmp(value + *len - 6, "sizeof", 6))))
			break;
		quoted ^= ch == '"';
		if (!quoted)
			depth += strchr("([", ch) ? 1 : strchr(")]", ch) ? -1 : 0;
		if (depth < 0)
			break;
		if (*len + 2 >= VALUE_MAX)
			return text_cursor_fail(c, "a value is longer than %d bytes", VALUE_MAX);
		value[(*len)++] = ch;
		c->at++;
		if (quoted && ch == '\\' && c->at < c->end)
			value[(*len)++] = *c->at++;
	}
	while (*len && scan_is_blank(value[*len - 1]))
		--*len;
	skip_note(c);
	/* the value after "=>" is the kernel's, not the one passed */
	if (text_take(c, "=>"))
		while (c->at < c->end && !strchr(",;}", *c->at))
			if (!pairs_comment(c, NULL))
				c->at++;
	return true;
}

/* Move to the brace of a struct or union, if the value is one: "&Type {", "(union){", "{". */
static bool take_nested(struct text_cursor *c)
{
	struct text_cursor t = { .at = c->at, .end = c->end };
	const char *close;

	while (text_take(&t, "&") || text_take(&t, "*"))
		;
	if (text_ahead(&t, "(")) {
		close = memchr(t.at, ')', (size_t)(t.end - t.at));
		t.at = close ? close + 1 : t.at;
	}
	text_skip_blanks(&t);
	while (t.at < t.end && (scan_is_word(*t.at) || *t.at == ':' || *t.at == '.'))
		t.at++;
	text_skip_blanks(&t);
	if (!text_ahead(&t, "{"))
		return false;
	c->at = t.at;
	return true;
}

static bool take_pair(struct text_cursor *c, const char *name, size_t n, enum pairs_form form,
		      struct attr_text *out)
{
	struct text_cursor bits = { .at = NULL };
	char value[VALUE_MAX];
	size_t len;

	if (n == 7 && !memcmp(name, "unknown", 7) && text_ahead(c, "["))
		return attr_member_tail(c, out);
	if (form != PAIRS_COLUMNS && take_nested(c))
		return true;
	if (form == PAIRS_PROGRAM && c->at[-1] == ':' && !attr_member_like(name, n))
		return true;	/* "attr:" before its members */
	if (!take_value(c, form == PAIRS_COLUMNS, value, &len, &bits))
		return false;
	value[len] = '\0';
	if (form == PAIRS_PROGRAM && !attr_member_like(name, n))
		return true;
	return attr_member_set(c, name, n, value, len, bits.at ? &bits : NULL, out);
}

/* Return whether the attr ends before what follows, which is not part of it. */
static bool ends_before(const struct text_cursor *c, enum pairs_form form)
{
	return form == PAIRS_COLUMNS && (*c->at == '-' || text_ahead(c, "sys_perf_event_open") ||
					 text_ahead(c, "perf_event_attr:"));
}

/* Move behind what is no pair: a type's name, a bracket, in a program a statement. */
static bool skip_other(struct text_cursor *c, enum pairs_form form, struct attr_text *out)
{
	size_t n = text_word_at(c);
	const char *start = c->at;

	if (form == PAIRS_PROGRAM) {
		while (n && c->at < c->end && !strchr("\n;,({", *c->at))
			c->at++;
		c->at += !n || c->at == start;
		return true;
	}
	while (c->at < c->end && (scan_is_word(*c->at) || *c->at == ':'))
		c->at++;
	text_skip_blanks(c);
	if (c->at > start && c->at < c->end && *c->at == '}')
		out->elided = true;	/* "{ union }" */
	if (c->at > start && c->at < c->end && strchr("{()}", *c->at) && !scan_is_digit(*start))
		return true;
	if (c->at == start && text_take(c, ".."))
		return true;	/* "..Default::default()" */
	c->at = start;
	return text_cursor_fail(c, form == PAIRS_COLUMNS ? "expected a member at '%.*s'" :
				"expected member=value at '%.*s'", text_cursor_some(c), c->at);
}

enum attr_read pairs_read(struct text_cursor *c, enum pairs_form form, struct attr_text *out)
{
	bool any = false, typed = false;
	const char *name;
	int depth = 0;

	while (c->at < c->end) {
		const char *start = c->at;
		size_t n;

		if (scan_is_blank(*c->at) || strchr(",;&*", *c->at)) {
			c->at++;
			continue;
		}
		if (pairs_comment(c, NULL))
			continue;
		if (ends_before(c, form))
			break;
		if (text_take(c, "...")) {
			out->elided = true;
			continue;
		}
		n = pairs_name(c, form == PAIRS_COLUMNS, &name);
		if (n && form == PAIRS_PROGRAM && n == 4 && !memcmp(name, "type", 4)) {
			if (typed) {
				c->at = start;
				break;
			}
			typed = true;
		}
		if (n) {
			any |= attr_member_like(name, n);
			if (!take_pair(c, name, n, form, out))
				return ATTR_BAD;
		} else if (strchr("{([", *c->at)) {
			depth++;
			c->at++;
		} else if (strchr("})]", *c->at)) {
			c->at++;
			if (--depth <= 0 && form == PAIRS_BRACKET)
				return ATTR_READ;
		} else if (!skip_other(c, form, out)) {
			return ATTR_BAD;
		}
	}
	if (form != PAIRS_BRACKET)
		return any || form == PAIRS_COLUMNS ? ATTR_READ : ATTR_END;
	text_cursor_fail(c, "truncated: expected a closing brace");
	return ATTR_BAD;
}
