// SPDX-License-Identifier: LGPL-2.1-or-later
/* Attrs as the perf tool prints them and writes them to files. */
#include <stdio.h>

#include "core/abi/attr_forms.h"
#include "core/abi/attr_member.h"

static void take_label(struct attr_text *out, const char *from, const char *to)
{
	while (from < to && scan_is_blank(*from))
		from++;
	while (to > from && (scan_is_blank(to[-1]) || to[-1] == ':'))
		to--;
	snprintf(out->label, sizeof(out->label), "%.*s",
		 to - from < 255 ? (int)(to - from) : 255, from);
}

/* perf -vv and perf evlist -v ------------------------------------------------ */

/* Read the first name of "{ sample_period, sample_freq }" or "size". */
static size_t perf_key(struct text_cursor *c, const char **key)
{
	const char *close;
	size_t n;

	if (*c->at != '{') {
		*key = c->at;
		n = text_word_at(c);
		c->at += n;
		return n;
	}
	c->at++;
	text_skip_blanks(c);
	*key = c->at;
	n = text_word_at(c);
	close = memchr(c->at, '}', (size_t)(c->end - c->at));
	c->at = close ? close + 1 : c->end;
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

enum attr_read attr_next_columns(struct text_cursor *c, bool headed,
				 struct attr_text *out)
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
const char *attr_line_members(const char *at, const char *end)
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

enum attr_read attr_next_line(struct text_cursor *c, struct attr_text *out)
{
	while (c->at < c->end) {
		const char *end = memchr(c->at, '\n', (size_t)(c->end - c->at));
		const char *from = c->at, *key;
		struct text_cursor line = { .end = end ? end : c->end };
		size_t n;

		line.at = attr_line_members(from, line.end);
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

/* PERF_TEST_ATTR ------------------------------------------------------------- */

/* Return whether the name is another argument of the call, or its result. */
static bool perf_is_argument(const char *key, size_t n)
{
	const struct call_desc *d = call_by_name("perf_event_open");

	for (unsigned int i = 0; d && i < d->nargs; i++)
		if (strlen(d->args[i].name) == n && !memcmp(d->args[i].name, key, n))
			return true;
	return n == 2 && !memcmp(key, "fd", 2);
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
	if (perf_is_argument(key, n))
		return true;
	/* the reference files of perf's tests hold alternatives, not values */
	if (memchr(value, '*', (size_t)(c->at - value)) ||
	    (memchr(value, '|', (size_t)(c->at - value)) && *value >= '0' && *value <= '9'))
		return text_cursor_fail(c, "%.*s=%.*s is what a test expects, not a value",
					n < 60 ? (int)n : 60, key,
					c->at - value < 60 ? (int)(c->at - value) : 60, value);
	return attr_member_set(c, key, n, value, (size_t)(c->at - value), NULL, out);
}

enum attr_read attr_next_section(struct text_cursor *c, struct attr_text *out)
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
