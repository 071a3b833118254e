// SPDX-License-Identifier: LGPL-2.1-or-later
/* Detection of the form of a text. */
#include "core/abi/attr_text.h"

#include <stdio.h>

#include "core/abi/attr_forms.h"
#include "core/abi/attr_member.h"

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
	bool near = false, misnamed = attr_misnamed(&c, &near);
	bool several = memchr(text, ',', (size_t)(end - text)) ||
		       memchr(text, ';', (size_t)(end - text));

	if (text_find(text, end, "perf_event_attr:\n"))
		return ATTR_COLUMNS;
	if (attr_find_braces(text, end))
		return ATTR_BRACES;
	if (bytes_like(text, (size_t)(end - text)))
		return ATTR_BYTES;
	if (text_find(text, end, "perf_event_attr:"))
		return ATTR_COLUMNS;
	if (misnamed && (near || !several))
		return ATTR_MISNAMED;
	if (has_section(text, end))
		return ATTR_SECTIONS;
	if (attr_line_members(text, end))
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
	r->calls = attr_find_call(text, r->in.end);
}

static enum attr_read next_bytes(struct text_cursor *c, struct attr_text *out)
{
	uint8_t bytes[ATTR_TEXT_MAX];
	size_t len;

	if (!bytes_read(c, bytes, sizeof(bytes), &len) ||
	    !attr_text_bytes(c, bytes, len, out))
		return ATTR_BAD;
	return ATTR_READ;
}

static enum attr_read next_of(struct attr_reader *r, struct attr_text *out)
{
	const char *at;
	bool near;

	switch (r->style) {
	case ATTR_BYTES:
		return r->in.at < r->in.end ? next_bytes(&r->in, out) : ATTR_END;
	case ATTR_BRACES:
		at = r->calls ? attr_find_call(r->in.at, r->in.end) : r->in.at;
		if (!at)
			return ATTR_END;
		r->in.at = at;
		return attr_next_braces(&r->in, out);
	case ATTR_STATEMENTS:
		return attr_next_statements(&r->in, out);
	case ATTR_COLUMNS:
		return attr_next_columns(&r->in, true, out);
	case ATTR_BARE_COLUMNS:
		return attr_next_columns(&r->in, false, out);
	case ATTR_LINES:
		return attr_next_line(&r->in, out);
	case ATTR_SECTIONS:
		return attr_next_section(&r->in, out);
	case ATTR_MISNAMED:
		attr_misnamed(&r->in, &near);
		return ATTR_BAD;
	case ATTR_UNKNOWN:
		break;
	}
	text_cursor_fail(&r->in, "unknown format: neither bytes nor an attr");
	return ATTR_BAD;
}

/* Prefix the error with its line number in texts of several lines. */
static void text_add_line(struct attr_reader *r)
{
	char why[sizeof(r->in.why)];
	size_t line = 1;

	for (const char *p = r->start; p < r->in.at; p++)
		line += *p == '\n';
	if (line == 1)
		return;
	memcpy(why, r->in.why, sizeof(why));
	snprintf(r->in.why, sizeof(r->in.why), "line %zu: %.160s", line, why);
}

enum attr_read attr_reader_next(struct attr_reader *r, struct attr_text *out)
{
	const char *end = r->in.end;
	enum attr_read got;

	memset(out, 0, sizeof(*out));
	got = next_of(r, out);
	if (got == ATTR_BAD) {
		if (r->style != ATTR_BYTES)
			text_add_line(r);
	} else if (got == ATTR_READ && r->style == ATTR_BYTES) {
		r->in.at = r->in.end = end;
	} else if (got == ATTR_READ) {
		attr_member_done(out);
	}
	return got;
}
