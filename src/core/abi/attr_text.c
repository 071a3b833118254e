// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/attr_text.h"

#include <stdio.h>
#include <string.h>

#include "core/abi/attr_member.h"
#include "core/abi/strings.h"
#include "core/lib/nearest.h"
#include "core/lib/scan_text.h"
#include "xlat/tables.h"

/* C syntax, as pevtrace and strace print attrs -------------------------------------- */

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
		if (!text_take(c, "->"))
			text_take(c, ".");
		text_skip_blanks(c);
		*key = c->at;
		n = text_word_at(c);
		c->at += n;
		text_skip_blanks(c);
	} while (n && (text_ahead(c, ".") || text_ahead(c, "->")));
	if (!n || text_ahead(c, "==") || !text_take(c, "="))
		return 0;
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

/* Return the brace that begins an attr, whose first word is a member, or NULL. */
static const char *find_braces(const char *from, const char *end)
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

/*
 * Return whether the text begins with a brace and "WORD=" where no member is WORD; then store
 * the error in c.  *near is set if a member has almost that name.
 */
static bool misnamed_member(struct text_cursor *c, bool *near)
{
	const char *key;
	size_t n;

	if (!text_take(c, "{"))
		return false;
	n = take_key(c, &key);
	if (!n || attr_member(key, n))
		return false;
	*near = attr_member_unknown(c, key, n);
	return true;
}

/* Return the brace of the next "perf_event_open({" in a text, or NULL. */
static const char *find_call(const char *from, const char *end)
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
static bool read_int_arg(struct text_cursor *c, int32_t *out)
{
	bool minus = text_take(c, "-");
	uint64_t v;

	if (!scan_number(&c->at, c->end, SCAN_C, &v) || v > INT32_MAX)
		return false;
	*out = minus ? -(int32_t)v : (int32_t)v;
	while (c->at < c->end && !strchr(",)\n", *c->at))
		if (!skip_comment(c, NULL))
			c->at++;
	return true;
}

/* Read ", pid, cpu, group_fd, flags) = result" behind an attr, if that is there. */
static void call_read(struct text_cursor *c, struct attr_text_call *call)
{
	struct text_cursor t = *c, flags;
	struct attr_text_call got = { .given = true };
	int32_t result, *const numbers[] = { &got.pid, &got.cpu, &got.group_fd };
	struct nearest unused;
	char name[32];
	size_t n;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!text_take(&t, ",") || !read_int_arg(&t, numbers[i]))
			return;
	if (!text_take(&t, ","))
		return;
	text_skip_blanks(&t);
	flags = (struct text_cursor){ .at = t.at, .end = t.at };
	while (flags.end < c->end && !strchr(") \t\n", *flags.end))
		flags.end++;
	t.at = flags.end;
	if (!value_read(&flags, &xlat_perf_event_open_flags, &got.flags))
		return;
	/* the result: "= 3", "= -1 ENOENT (...)" */
	if (text_take(&t, ")") && text_take(&t, "=")) {
		if (text_take(&t, "-1 ")) {
			n = text_word_at(&t);
			snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : 0), t.at);
			got.error = error_by_name(name, &unused);
			got.returned = got.error;
		} else {
			got.returned = read_int_arg(&t, &result);
		}
	}
	*call = got;
	c->at = t.at;
}

/* Read {type=..., size=..., ...}: pevtrace, strace, initializers in C. */
static enum attr_read next_braces(struct text_cursor *c, struct attr_text *out)
{
	const char *open = find_braces(c->at, c->end);
	int depth = 0;

	if (!open)
		return ATTR_END;
	for (c->at = open; c->at < c->end; ) {
		if (scan_is_blank(*c->at) || *c->at == ',' || *c->at == ';') {
			c->at++;
		} else if (skip_comment(c, NULL)) {
			;
		} else if (text_take(c, "...")) {
			out->elided = true;
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
static enum attr_read next_statements(struct text_cursor *c, struct attr_text *out)
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
		if (text_take(c, "...")) {
			out->elided = true;
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

/* As the perf tool prints attrs and writes them to files ----------------------------- */

static void take_label(struct attr_text *out, const char *from, const char *to)
{
	while (from < to && scan_is_blank(*from))
		from++;
	while (to > from && (scan_is_blank(to[-1]) || to[-1] == ':'))
		to--;
	snprintf(out->label, sizeof(out->label), "%.*s",
		 to - from < 255 ? (int)(to - from) : 255, from);
}

/* Read the first name of "{ sample_period, sample_freq }" or "size". */
static size_t perf_key(struct text_cursor *c, const char **key)
{
	bool braces = text_take(c, "{");
	const char *close;
	size_t n;

	text_skip_blanks(c);
	*key = c->at;
	n = text_word_at(c);
	c->at += n;
	if (braces) {
		close = memchr(c->at, '}', (size_t)(c->end - c->at));
		c->at = close ? close + 1 : c->end;
	}
	return n;
}

/* Read the value of "0x9 (PERF_COUNT_SW_DUMMY)", without the explanation in brackets. */
static bool perf_member(struct text_cursor *c, const char *key, size_t n,
			struct attr_text *out)
{
	const char *value, *end;

	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
		c->at++;
	value = c->at;
	while (c->at < c->end && !scan_is_blank(*c->at) && *c->at != ',')
		c->at++;
	end = c->at;
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
		c->at++;
	if (c->at < c->end && *c->at == '(')
		while (c->at < c->end && *c->at != '\n' && *c->at++ != ')')
			;
	return attr_member_set(c, key, n, value, (size_t)(end - value), NULL, out);
}

/* Read the columns of perf -vv, below "perf_event_attr:" if headed. */
static enum attr_read next_columns(struct text_cursor *c, bool headed, struct attr_text *out)
{
	static const char head[] = "perf_event_attr:";
	const char *at = headed ? text_find(c->at, c->end, head) : NULL, *key;
	bool any = false;
	size_t n;

	if (headed && !at)
		return ATTR_END;
	if (at)
		c->at = at + sizeof(head) - 1;
	for (text_skip_blanks(c); c->at < c->end; text_skip_blanks(c)) {
		/* a line of dashes, the call, or the next attr ends this one */
		if (*c->at == '-' || text_ahead(c, "sys_perf_event_open") || text_ahead(c, head))
			break;
		n = perf_key(c, &key);
		if (!n) {
			text_cursor_fail(c, "expected a member at '%.*s'",
					 text_cursor_some(c), c->at);
			return ATTR_BAD;
		}
		if (!perf_member(c, key, n, out))
			return ATTR_BAD;
		any = true;
	}
	/* without a heading the whole text is one attr */
	if (!headed)
		c->at = c->end;
	return any || headed ? ATTR_READ : ATTR_END;
}

/* Where the members begin in "sched:sched_switch: type: 2, size: 128, ..." */
static const char *line_members(const char *at, const char *end)
{
	for (const char *p = at; p < end; p++) {
		struct text_cursor c = { .at = p, .end = end };
		size_t n;

		if (p > at && !scan_is_blank(p[-1]))
			continue;
		n = text_word_at(&c);
		if (n && end - p > (long)n + 1 && p[n] == ':' && p[n + 1] == ' ' &&
		    attr_member(p, n))
			return p;
	}
	return NULL;
}

/* Read a line of perf evlist -v: "name: type: 1, size: 128, ...". */
static enum attr_read next_evlist(struct text_cursor *c, struct attr_text *out)
{
	while (c->at < c->end) {
		const char *end = memchr(c->at, '\n', (size_t)(c->end - c->at));
		const char *from = c->at, *key;
		struct text_cursor line = { .end = end ? end : c->end };
		size_t n;

		line.at = line_members(from, line.end);
		c->at = end ? end + 1 : c->end;
		if (!line.at || *from == '#')
			continue;
		take_label(out, from, line.at);
		for (; line.at < line.end; text_skip_blanks(&line)) {
			if (scan_is_blank(*line.at) || *line.at == ',') {
				line.at++;
				continue;
			}
			n = perf_key(&line, &key);
			if (!n || line.at == line.end || *line.at != ':') {
				c->at = from;
				text_cursor_fail(c, "expected member: value");
				return ATTR_BAD;
			}
			line.at++;
			if (!perf_member(&line, key, n, out)) {
				c->at = from;
				text_cursor_fail(c, "%s", line.why);
				return ATTR_BAD;
			}
		}
		return ATTR_READ;
	}
	return ATTR_END;
}

static bool assignment(struct text_cursor *c, struct attr_text *out)
{
	const char *key = c->at, *value;
	size_t n = text_word_at(c);

	c->at += n;
	if (!n || c->at == c->end || *c->at != '=')
		return text_cursor_fail(c, "expected member=value");
	value = ++c->at;
	while (c->at < c->end && !scan_is_blank(*c->at))
		c->at++;
	/* another argument of the call, or its result */
	if (call_arg(call_by_name("perf_event_open"), key, n) || (n == 2 && !memcmp(key, "fd", 2)))
		return true;
	/* the reference files of perf's tests hold alternatives, not values */
	if (memchr(value, '*', (size_t)(c->at - value)) ||
	    (memchr(value, '|', (size_t)(c->at - value)) && *value >= '0' && *value <= '9'))
		return text_cursor_fail(c, "%.*s=%.*s is what a test expects, not a value",
					n < 60 ? (int)n : 60, key,
					c->at - value < 60 ? (int)(c->at - value) : 60, value);
	return attr_member_set(c, key, n, value, (size_t)(c->at - value), NULL, out);
}

/* Read a section of PERF_TEST_ATTR: "[event-1-0-5]", type=1, ... */
static enum attr_read next_section(struct text_cursor *c, struct attr_text *out)
{
	bool any = false, wanted = true;
	const char *close;

	for (text_skip_blanks(c); c->at < c->end; text_skip_blanks(c)) {
		if (*c->at == '[') {
			if (any)
				return ATTR_READ;
			close = memchr(c->at, ']', (size_t)(c->end - c->at));
			if (!close) {
				text_cursor_fail(c, "a section is missing its ]");
				return ATTR_BAD;
			}
			take_label(out, c->at + 1, close);
			wanted = !strncmp(out->label, "event", 5);
			c->at = close + 1;
		} else if (!wanted || *c->at == '#' || *c->at == ';') {
			while (c->at < c->end && *c->at != '\n')
				c->at++;
		} else if (!assignment(c, out)) {
			return ATTR_BAD;
		} else {
			any = true;
		}
	}
	return any ? ATTR_READ : ATTR_END;
}

/* The form of a text -------------------------------------------------------------- */

/* Find "[event" or another section at the start of a line. */
static bool has_section(const char *text, const char *end)
{
	for (const char *p = text; p < end; p++) {
		if (*p == '[' && p + 1 < end && p[1] >= 'a' && p[1] <= 'z')
			return true;
		if (scan_is_blank(*p))
			continue;
		p = memchr(p, '\n', (size_t)(end - p));
		if (!p)
			break;
	}
	return false;
}

/* Detect the form by its most specific features first. */
static enum attr_style style_of(const char *text, const char *end)
{
	struct text_cursor c = { .at = text, .end = end };
	bool near = false, misnamed = misnamed_member(&c, &near);
	bool several = memchr(text, ',', (size_t)(end - text)) ||
		       memchr(text, ';', (size_t)(end - text));

	if (text_find(text, end, "perf_event_attr:\n"))
		return ATTR_COLUMNS;
	if (find_braces(text, end))
		return ATTR_BRACES;
	if (bytes_like(text, (size_t)(end - text)))
		return ATTR_BYTES;
	if (text_find(text, end, "perf_event_attr:"))
		return ATTR_COLUMNS;
	if (misnamed && (near || !several))
		return ATTR_MISNAMED;
	if (has_section(text, end))
		return ATTR_SECTIONS;
	if (line_members(text, end))
		return ATTR_LINES;
	if (memchr(text, '=', (size_t)(end - text)))
		return several ? ATTR_STATEMENTS : ATTR_SECTIONS;
	if (text_find(text, end, "size "))
		return ATTR_BARE_COLUMNS;
	return ATTR_UNKNOWN;
}

void attr_reader_init(struct attr_reader *r, const char *text, size_t len)
{
	*r = (struct attr_reader){
		.in = { .at = text, .end = text + len }, .start = text,
		.style = len ? style_of(text, text + len) : ATTR_UNKNOWN,
	};
	r->calls = find_call(text, r->in.end);
}

static enum attr_read next_of(struct attr_reader *r, struct attr_text *out)
{
	uint8_t bytes[ATTR_TEXT_MAX];
	const char *at;
	size_t len;
	bool near;

	switch (r->style) {
	case ATTR_BYTES:
		if (r->in.at == r->in.end)
			return ATTR_END;
		return bytes_read(&r->in, bytes, sizeof(bytes), &len) &&
		       attr_text_bytes(&r->in, bytes, len, out) ? ATTR_READ : ATTR_BAD;
	case ATTR_BRACES:
		at = r->calls ? find_call(r->in.at, r->in.end) : r->in.at;
		if (!at)
			return ATTR_END;
		r->in.at = at;
		return next_braces(&r->in, out);
	case ATTR_STATEMENTS:
		return next_statements(&r->in, out);
	case ATTR_COLUMNS:
		return next_columns(&r->in, true, out);
	case ATTR_BARE_COLUMNS:
		return next_columns(&r->in, false, out);
	case ATTR_LINES:
		return next_evlist(&r->in, out);
	case ATTR_SECTIONS:
		return next_section(&r->in, out);
	case ATTR_MISNAMED:
		misnamed_member(&r->in, &near);
		return ATTR_BAD;
	case ATTR_UNKNOWN:
		break;
	}
	text_cursor_fail(&r->in, "unknown format: neither bytes nor an attr");
	return ATTR_BAD;
}

enum attr_read attr_reader_next(struct attr_reader *r, struct attr_text *out)
{
	const char *end = r->in.end;
	char why[sizeof(r->in.why)];
	enum attr_read got;
	size_t line = 1;

	memset(out, 0, sizeof(*out));
	got = next_of(r, out);
	if (got == ATTR_BAD && r->style != ATTR_BYTES) {
		/* in texts of several lines, the error begins with the number of its line */
		for (const char *p = r->start; p < r->in.at; p++)
			line += *p == '\n';
		memcpy(why, r->in.why, sizeof(why));
		if (line > 1)
			snprintf(r->in.why, sizeof(r->in.why), "line %zu: %.160s", line, why);
	} else if (got == ATTR_READ && r->style == ATTR_BYTES) {
		r->in.at = r->in.end = end;
	} else if (got == ATTR_READ) {
		attr_member_done(out);
	}
	return got;
}
