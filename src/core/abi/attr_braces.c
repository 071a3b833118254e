// SPDX-License-Identifier: LGPL-2.1-or-later
/* Attrs in C syntax, as pevtrace and strace print them. */
#include <stdio.h>
#include <string.h>

#include "core/abi/attr_forms.h"
#include "core/abi/attr_member.h"
#include "core/abi/strings.h"
#include "core/lib/nearest.h"
#include "xlat/tables.h"

enum {
	VALUE_MAX = 20000,	/* a page of bytes, each as \ooo, and some */
	LOOK_AHEAD = 4096,
};

/* Skip a comment, if one begins here; set *bits to the text behind "Bits" in it. */
static bool skip_comment(struct text_cursor *c, struct text_cursor *bits)
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

/* Read one value up to its comma, bracket or semicolon, without comments. */
static bool braces_value(struct text_cursor *c, char *value, size_t *len,
			 struct text_cursor *bits)
{
	int depth = 0;
	bool quoted = false;

	for (*len = 0; c->at < c->end; ) {
		char ch = *c->at;

		if (!quoted && skip_comment(c, bits))
			continue;
		if (!quoted && !depth && (strchr(",;}", ch) || text_ahead(c, "=>")))
			break;
		if (ch == '"')
			quoted = !quoted;
		depth += !quoted && ch == '(' ? 1 : !quoted && ch == ')' ? -1 : 0;
		if (depth < 0)
			break;
		if (*len + 2 >= VALUE_MAX)
			return text_cursor_fail(c, "a value is longer than %d bytes",
						VALUE_MAX);
		value[(*len)++] = ch;
		c->at++;
		if (quoted && ch == '\\' && c->at < c->end)
			value[(*len)++] = *c->at++;
	}
	/* the value after "=>" is the kernel's, not the one passed */
	while (c->at < c->end && !strchr(",;}", *c->at))
		if (!skip_comment(c, NULL))
			c->at++;
	while (*len && scan_is_blank(value[*len - 1]))
		--*len;
	return true;
}

/* Find the last word of "size", ".size", "attr.size" or "attr->size"; 0: none of these. */
static size_t take_key(struct text_cursor *c, const char **key)
{
	size_t n;

	do {
		text_skip_blanks(c);
		if (text_ahead(c, "->"))
			c->at += 2;
		else if (text_ahead(c, "."))
			c->at++;
		text_skip_blanks(c);
		*key = c->at;
		n = text_word_at(c);
		c->at += n;
		text_skip_blanks(c);
	} while (n && (text_ahead(c, ".") || text_ahead(c, "->")));
	if (!n || !text_ahead(c, "=") || text_ahead(c, "=="))
		return 0;
	c->at++;
	text_skip_blanks(c);
	return n;
}

static bool braces_member(struct text_cursor *c, struct attr_text *out)
{
	char value[VALUE_MAX];
	struct text_cursor bits = { .at = NULL };
	const char *key = NULL;
	size_t n = take_key(c, &key), len;

	if (!n)
		return text_cursor_fail(c, "expected member=value at '%.*s'",
					text_cursor_some(c), c->at);
	if (n == 7 && !memcmp(key, "unknown", 7))
		return attr_member_tail(c, out);
	if (!braces_value(c, value, &len, &bits))
		return false;
	value[len] = 0;
	return attr_member_set(c, key, n, value, len, bits.at ? &bits : NULL, out);
}

const char *attr_find_braces(const char *from, const char *end)
{
	struct text_cursor c = { .at = from, .end = end };
	const char *key;

	while ((c.at = memchr(c.at, '{', (size_t)(end - c.at)))) {
		const char *open = c.at++;
		size_t n;

		/* bound the length of leading comments */
		c.end = end - open < LOOK_AHEAD ? end : open + LOOK_AHEAD;
		text_skip_blanks(&c);
		while (skip_comment(&c, NULL))
			text_skip_blanks(&c);
		n = take_key(&c, &key);
		if (n && attr_member(key, n))
			return open;
		c.at = open + 1;
	}
	return NULL;
}

bool attr_misnamed(struct text_cursor *c, bool *near)
{
	const char *key;
	size_t n;

	text_skip_blanks(c);
	if (!text_ahead(c, "{"))
		return false;
	c->at++;
	n = take_key(c, &key);
	if (!n || attr_member(key, n))
		return false;
	*near = attr_member_unknown(c, key, n);
	return true;
}

const char *attr_find_call(const char *from, const char *end)
{
	static const char name[] = "perf_event_open(";
	struct text_cursor c = { .at = from, .end = end };

	while ((c.at = text_find(c.at, end, name))) {
		c.at += sizeof(name) - 1;
		text_skip_blanks(&c);
		if (text_ahead(&c, "{"))
			return c.at;
	}
	return NULL;
}

/* Read an int; strace may write a name or comment behind it. */
static bool call_number(struct text_cursor *c, int32_t *out)
{
	bool minus;
	uint64_t v;

	text_skip_blanks(c);
	minus = text_ahead(c, "-");
	c->at += minus;
	if (!scan_number(&c->at, c->end, SCAN_C, &v) || v > INT32_MAX)
		return false;
	*out = minus ? -(int32_t)v : (int32_t)v;
	while (c->at < c->end && !strchr(",)\n", *c->at))
		if (!skip_comment(c, NULL))
			c->at++;
	return true;
}

/* Read the result behind the arguments: "= 3", "= -1 ENOENT (...)". */
static void call_result_of(struct text_cursor *c, struct attr_text_call *call)
{
	struct nearest unused;
	char name[32];
	int32_t v;
	size_t n;

	text_skip_blanks(c);
	if (!text_ahead(c, "="))
		return;
	c->at++;
	text_skip_blanks(c);
	if (text_ahead(c, "-1 ")) {
		c->at += 3;
		n = text_word_at(c);
		snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : 0), c->at);
		call->error = error_by_name(name, &unused);
		call->returned = call->error;
	} else {
		call->returned = call_number(c, &v);
	}
}

/* Read ", pid, cpu, group_fd, flags) = result" behind an attr, if that is there. */
static void call_read(struct text_cursor *c, struct attr_text_call *call)
{
	struct text_cursor t = *c, flags;
	struct attr_text_call got = { .given = true };
	int32_t *const numbers[] = { &got.pid, &got.cpu, &got.group_fd };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		text_skip_blanks(&t);
		if (!text_ahead(&t, ","))
			return;
		t.at++;
		if (!call_number(&t, numbers[i]))
			return;
	}
	text_skip_blanks(&t);
	if (!text_ahead(&t, ","))
		return;
	t.at++;
	text_skip_blanks(&t);
	flags = (struct text_cursor){ .at = t.at, .end = t.at };
	while (flags.end < c->end && !strchr(") \t\n", *flags.end))
		flags.end++;
	t.at = flags.end;
	if (!value_read(&flags, &xlat_perf_event_open_flags, &got.flags))
		return;
	text_skip_blanks(&t);
	if (text_ahead(&t, ")")) {
		t.at++;
		call_result_of(&t, &got);
	}
	*call = got;
	c->at = t.at;
}

enum attr_read attr_next_braces(struct text_cursor *c, struct attr_text *out)
{
	const char *open = attr_find_braces(c->at, c->end);
	int depth = 0;

	if (!open)
		return ATTR_END;
	for (c->at = open; c->at < c->end; ) {
		if (scan_is_blank(*c->at) || *c->at == ',' || *c->at == ';') {
			c->at++;
		} else if (skip_comment(c, NULL)) {
			;
		} else if (text_ahead(c, "...")) {
			out->elided = true;
			c->at += 3;
		} else if (*c->at == '{') {
			depth++;
			c->at++;
		} else if (*c->at == '}') {
			c->at++;
			if (!--depth) {
				call_read(c, &out->call);
				return ATTR_READ;
			}
		} else if (!braces_member(c, out)) {
			return ATTR_BAD;
		}
	}
	text_cursor_fail(c, "truncated: expected a closing brace");
	return ATTR_BAD;
}

/* Read "attr.type = ...;" or "type=..., size=...": the whole text is one attr. */
enum attr_read attr_next_statements(struct text_cursor *c, struct attr_text *out)
{
	bool any = false;

	while (c->at < c->end) {
		struct text_cursor t = *c;
		const char *key;
		size_t n;

		if (scan_is_blank(*c->at) || strchr(",;{}", *c->at)) {
			c->at++;
			continue;
		}
		if (skip_comment(c, NULL))
			continue;
		if (text_ahead(c, "...")) {
			out->elided = true;
			c->at += 3;
			continue;
		}
		n = take_key(&t, &key);
		if (n && attr_member(key, n)) {
			if (!braces_member(c, out))
				return ATTR_BAD;
			any = true;
			continue;
		}
		/* skip memset(), declarations and other statements */
		while (c->at < c->end && *c->at != ';' && *c->at != ',')
			c->at++;
	}
	return any ? ATTR_READ : ATTR_END;
}
