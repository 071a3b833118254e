// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/attr_text.h"

#include <stdio.h>
#include <string.h>

#include "core/abi/attr_log.h"
#include "core/abi/attr_member.h"
#include "core/abi/attr_pairs.h"
#include "core/abi/strings.h"
#include "core/lib/nearest.h"
#include "core/lib/scan_text.h"
#include "xlat/tables.h"

enum { LOOK_AHEAD = 4096 };	/* for the first member */

/* Between brackets, and in statements ------------------------------------------------ */

/* Return whether an attr begins with this bracket and name, whose separator ends at c->at. */
static bool begins_attr(char bracket, const struct text_cursor *c, const char *key, size_t n)
{
	static const char *const first[] = { "type", "size", "config" };

	/* "task:" and "(comm=" are frequent elsewhere */
	if (bracket == '{' && c->at[-1] == '=')
		return attr_member_like(key, n);
	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		if (n >= strlen(first[i]) && !strncasecmp(key, first[i], strlen(first[i])))
			return attr_member_like(key, n);
	return false;
}

/* Return the bracket that begins an attr, whose first word is a member, or NULL. */
static const char *find_braces(const char *from, const char *end)
{
	struct text_cursor c = { .at = from, .end = end };
	const char *key;

	for (; c.at < end; c.at++) {
		const char *open = c.at;
		size_t n;

		if (*open != '{' && *open != '(')
			continue;
		/* bound the length of leading comments */
		c.at++;
		c.end = end - open < LOOK_AHEAD ? end : open + LOOK_AHEAD;
		do
			text_skip_blanks(&c);
		while (pairs_comment(&c, NULL));
		n = pairs_name(&c, false, &key);
		if (n && begins_attr(*open, &c, key, n))
			return open;
		c.at = open;
	}
	return NULL;
}

/* Read {type=..., size=..., ...} as pevtrace, strace, gdb, C, Go, Rust and Python have it. */
static enum attr_read next_braces(struct attr_reader *r, struct attr_text *out)
{
	struct text_cursor *c = &r->in;
	const char *open = r->calls ? attr_log_find(c->at, c->end) : find_braces(c->at, c->end), *line;
	struct text_cursor before = { .at = c->at, .end = open ?: c->end };
	enum attr_read got;

	if (r->calls && attr_log_ioctl(&before, &out->ioctl)) {
		c->at = before.at;
		return ATTR_READ;
	}
	if (!open)
		return ATTR_END;
	c->at = open;
	got = pairs_read(c, PAIRS_BRACKET, out);
	if (got == ATTR_READ && r->calls)
		attr_log_call(c, r->start, &out->call);
	/* behind an attr that cannot be read, a log goes on in the next line */
	line = r->calls ? memchr(open, '\n', (size_t)(c->end - open)) : NULL;
	r->resume = line ?: c->end;
	return got;
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

/* Read the columns of perf -vv below "perf_event_attr:", again for each call that they are of. */
static enum attr_read next_columns(struct attr_reader *r, struct attr_text *out)
{
	static const char head[] = "perf_event_attr:";
	struct text_cursor *c = &r->in, of_attr = { .at = c->at, .end = c->end };
	enum attr_read got;

	out->again = r->columns && attr_log_columns(c, &out->call);
	if (!out->again)
		r->columns = text_find(c->at, c->end, head);
	if (!r->columns)
		return ATTR_END;
	of_attr.at = r->columns + sizeof(head) - 1;
	got = pairs_read(&of_attr, PAIRS_COLUMNS, out);
	if (got == ATTR_BAD)
		memcpy(c->why, of_attr.why, sizeof(c->why));
	if (!out->again)
		c->at = of_attr.at;
	if (!out->again && got == ATTR_READ)
		attr_log_columns(c, &out->call);
	r->resume = c->at;
	return got;
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
		if (!n || end - p <= (long)n + 1 || p[n] != ':' || p[n + 1] != ' ' ||
		    !attr_member(p, n))
			continue;
		/* "unknown attr type: 8: type: 8, ..." */
		for (c.at = p + n + 2; c.at < end && !strchr(":,\n ", *c.at); c.at++)
			;
		if (c.at == end || *c.at != ':')
			return p;
	}
	return NULL;
}

/* Read a line of perf evlist -v: "name: type: 1, size: 128, ...". */
static enum attr_read next_evlist(struct attr_reader *r, struct attr_text *out)
{
	struct text_cursor *c = &r->in;

	while (c->at < c->end) {
		const char *end = memchr(c->at, '\n', (size_t)(c->end - c->at)), *from = c->at;
		struct text_cursor line = { .end = end ? end : c->end };

		line.at = line_members(from, line.end);
		r->resume = c->at = end ? end + 1 : c->end;
		if (!line.at || *from == '#')
			continue;
		take_label(out, from, line.at);
		if (pairs_read(&line, PAIRS_LINE, out) == ATTR_READ)
			return ATTR_READ;
		c->at = from;
		text_cursor_fail(c, "%s", line.why);
		return ATTR_BAD;
	}
	return ATTR_END;
}

/* Read a section of PERF_TEST_ATTR: "[event-1-0-5]", type=1, ... */
static enum attr_read next_section(struct attr_reader *r, struct attr_text *out)
{
	struct text_cursor *c = &r->in, section;
	const char *close, *next;

	for (text_skip_blanks(c); c->at < c->end; c->at = section.end) {
		close = memchr(c->at, ']', (size_t)(c->end - c->at));
		if (*c->at != '[' || !close) {
			text_cursor_fail(c, "a section is missing its ]");
			return ATTR_BAD;
		}
		take_label(out, c->at + 1, close);
		next = text_find(close, c->end, "\n[");
		section = (struct text_cursor){ .at = close + 1, .end = next ? next + 1 : c->end };
		if (strncmp(out->label, "event", 5))
			continue;
		/* the reference files of perf's tests hold alternatives, not values */
		for (const char *p = section.at; p + 1 < section.end; p++) {
			if (*p != '*' && !(*p == '|' && scan_is_digit(p[1])))
				continue;
			c->at = p;
			text_cursor_fail(c, "'%c' is what a test expects, no value", *p);
			return ATTR_BAD;
		}
		c->at = section.end;
		return pairs_read(&section, PAIRS_PROGRAM, out);
	}
	return ATTR_END;
}

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

/* Return whether the text begins with bytes as Python prints them: b'\x01...'. */
static bool python_bytes(struct text_cursor *c)
{
	text_take(c, "bytearray(");
	text_skip_blanks(c);
	if (!text_ahead(c, "b'") && !text_ahead(c, "b\""))
		return false;
	c->at++;
	return true;
}

/* Detect the form by its most specific features first; *calls: of a log of calls. */
static enum attr_style style_of(const char *text, const char *end, bool *calls, char *why)
{
	struct text_cursor c = { .at = text, .end = end }, py = { .at = text, .end = end };
	struct text_cursor log = { .at = text, .end = end };
	struct attr_text_ioctl ioctl;
	const char *name;
	size_t n;
	bool several = memchr(text, ',', (size_t)(end - text)) ||
		       memchr(text, ';', (size_t)(end - text));

	if (text_find(text, end, "perf_event_attr:\n"))
		return ATTR_COLUMNS;
	*calls = attr_log_find(text, end) || attr_log_ioctl(&log, &ioctl);
	if (*calls || find_braces(text, end))
		return ATTR_BRACES;
	if (python_bytes(&py) || bytes_dump_like(text, (size_t)(end - text)))
		return ATTR_DUMPS;
	if (bytes_like(text, (size_t)(end - text)))
		return ATTR_BYTES;
	if (text_find(text, end, "perf_event_attr:"))
		return ATTR_COLUMNS;
	/* an attr whose first member is misspelt */
	if (text_take(&c, "{") && (n = pairs_name(&c, false, &name)) && c.at[-1] == '=') {
		attr_member_unknown(&c, name, n);
		if (nearest_hinted(c.why) || !several) {
			memcpy(why, c.why, sizeof(c.why));
			return ATTR_UNKNOWN;
		}
	}
	if (text_find(text, end, "perf_event_open(0x") || text_find(text, end, "attr_uptr: 0x")) {
		strcpy(why, "the log has addresses in place of attrs; use strace -v or pevtrace");
		return ATTR_UNKNOWN;
	}
	if (has_section(text, end))
		return ATTR_SECTIONS;
	if (line_members(text, end) && text_find(text, end, ", "))
		return ATTR_LINES;
	if (memchr(text, '=', (size_t)(end - text)) || line_members(text, end))
		return ATTR_STATEMENTS;
	if (text_find(text, end, "size "))
		return ATTR_BARE_COLUMNS;
	return ATTR_UNKNOWN;
}

void attr_reader_init(struct attr_reader *r, const char *text, size_t len)
{
	*r = (struct attr_reader){
		.in = { .at = text, .end = text + len }, .start = text, .resume = text + len,
	};
	r->style = len ? style_of(text, text + len, &r->calls, r->in.why) : ATTR_UNKNOWN;
}

/* Read all bytes of the text, or the next dump in it. */
static enum attr_read next_bytes(struct attr_reader *r, struct attr_text *out)
{
	struct text_cursor *c = &r->in;
	uint8_t bytes[ATTR_TEXT_MAX];
	bool read;
	size_t len;

	if (r->style == ATTR_DUMPS)
		text_take(c, ")");
	text_skip_blanks(c);
	if (c->at == c->end)
		return ATTR_END;
	if (r->style == ATTR_BYTES)
		read = bytes_read(c, bytes, sizeof(bytes), &len);
	else if (python_bytes(c))
		read = bytes_read_literal(c, bytes, sizeof(bytes), &len);
	else
		read = bytes_dump_read(c, bytes, sizeof(bytes), &len);
	if (r->style == ATTR_DUMPS && !read && c->at == c->end && !*c->why)
		return ATTR_END;
	return read && attr_text_bytes(c, bytes, len, out) ? ATTR_READ : ATTR_BAD;
}

static enum attr_read next_of(struct attr_reader *r, struct attr_text *out)
{
	enum attr_read got = ATTR_END;

	switch (r->style) {
	case ATTR_BYTES:
	case ATTR_DUMPS:
		return next_bytes(r, out);
	case ATTR_BRACES:
		return next_braces(r, out);
	case ATTR_STATEMENTS:
		return pairs_read(&r->in, PAIRS_PROGRAM, out);
	case ATTR_COLUMNS:
		return next_columns(r, out);
	case ATTR_BARE_COLUMNS:
		if (r->in.at < r->in.end)
			got = pairs_read(&r->in, PAIRS_COLUMNS, out);
		r->in.at = r->in.end; /* without a heading the whole text is one attr */
		return got;
	case ATTR_LINES:
		return next_evlist(r, out);
	case ATTR_SECTIONS:
		return next_section(r, out);
	case ATTR_UNKNOWN:
		break;
	}
	text_cursor_fail(&r->in, "unknown format: neither bytes nor an attr");
	return ATTR_BAD;
}

enum attr_read attr_reader_next(struct attr_reader *r, struct attr_text *out)
{
	bool text = r->style != ATTR_BYTES && r->style != ATTR_DUMPS;
	const char *end = r->in.end;
	char why[sizeof(r->in.why)];
	enum attr_read got;
	size_t line = 1;

	memset(out, 0, sizeof(*out));
	got = next_of(r, out);
	/* arguments that are wrong may be behind the line of their attr */
	if (got == ATTR_BAD && text && r->style != ATTR_LINES && r->resume < r->in.at)
		r->resume = r->in.at;
	if (got == ATTR_BAD && text) {
		/* in texts of several lines, the error begins with the number of its line */
		for (const char *p = r->start; p < r->in.at; p++)
			line += *p == '\n';
		memcpy(why, r->in.why, sizeof(why));
		if (line > 1)
			snprintf(r->in.why, sizeof(r->in.why), "line %zu: %.160s", line, why);
	} else if (r->style == ATTR_BYTES) {
		r->in.end = end; /* not that of a list in braces */
		r->in.at = got == ATTR_READ ? end : r->in.at;
	} else if (got == ATTR_READ && text && !out->ioctl.given) {
		attr_member_done(out);
	}
	return got;
}
