// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/attr_log.h"

#include <stdio.h>

#include "core/abi/attr_member.h"
#include "core/abi/attr_pairs.h"
#include "core/abi/ioctl.h"
#include "core/abi/strings.h"
#include "core/lib/nearest.h"
#include "xlat/tables.h"

enum { LOOK_AHEAD = 1 << 20 };	/* for the line that resumes an unfinished call */

const char *attr_log_find(const char *from, const char *end)
{
	static const char name[] = "perf_event_open";
	struct text_cursor c = { .at = from, .end = end };

	while ((c.at = text_find(c.at, end, name))) {
		c.at += sizeof(name) - 1;
		if (!text_take(&c, "(") && !text_take(&c, "resumed>"))
			continue;
		text_take(&c, "attr_uptr:");
		text_skip_blanks(&c);
		if (text_ahead(&c, "{"))
			return c.at;
	}
	return NULL;
}

/* Return the task of a line, "4711  12:00:01 perf_event_open(" or "[pid 4711] ..."; 0: none. */
static int32_t caller_of_line(const char *start, const char *at, const char *end)
{
	struct text_cursor c = { .at = at, .end = end };
	uint64_t tid;

	while (c.at > start && c.at[-1] != '\n')
		c.at--;
	text_take(&c, "[pid");
	text_skip_blanks(&c);
	if (!scan_number(&c.at, end, SCAN_DECIMAL, &tid) || tid > INT32_MAX || c.at == end ||
	    !strchr(" ]\t", *c.at))
		return 0;
	return (int32_t)tid;
}

static bool read_int(struct text_cursor *c, int32_t *out)
{
	bool minus = text_take(c, "-");
	uint64_t v;

	text_skip_blanks(c);
	if (!scan_number(&c->at, c->end, SCAN_C, &v) || v > INT32_MAX)
		return false;
	*out = minus ? -(int32_t)v : (int32_t)v;
	return true;
}

/* Read "= 3" or "= -1 ENOENT (...)"; perf trace has "(unknown)" in place of some names. */
static void read_result(struct text_cursor *c, struct attr_text_call *got)
{
	struct nearest unused;
	char name[32];
	size_t n;

	if (!text_take(c, "="))
		return;
	if (!text_take(c, "-1 ")) {
		got->returned = read_int(c, &got->fd) && got->fd >= 0;
		return;
	}
	if (text_take(c, "(unknown) (")) {
		n = (size_t)(c->end - c->at);
		for (int e = 1; e <= ERRNO_MAX && !got->error; e++)
			if (error_meaning(e) && strlen(error_meaning(e)) < n &&
			    text_ahead(c, error_meaning(e)))
				got->error = e;
	} else {
		n = text_word_at(c);
		snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : 0), c->at);
		got->error = error_by_name(name, &unused);
	}
	got->returned = got->error;
}

/* Find the line on which the task's unfinished call returns, and read the result. */
static void read_resumed(const struct text_cursor *c, const char *start,
			 struct attr_text_call *got)
{
	static const char resumed[] = "perf_event_open resumed>";
	struct text_cursor t = {
		.at = c->at, .end = c->end - c->at < LOOK_AHEAD ? c->end : c->at + LOOK_AHEAD,
	};

	while ((t.at = text_find(t.at, t.end, resumed))) {
		bool own = caller_of_line(start, t.at, t.end) == got->tid;

		t.at += sizeof(resumed) - 1;
		if (!own)
			continue;
		text_take(&t, ")");
		read_result(&t, got);
		return;
	}
}

/* Read one argument behind the attr: by its name, as perf trace has it, or by its place. */
static bool read_arg(struct text_cursor *c, size_t place, struct attr_text_call *got)
{
	static const char *const names[] = { "pid:", "cpu:", "group_fd:", "flags:" };
	int32_t *const numbers[] = { &got->pid, &got->cpu, &got->group_fd };
	struct text_cursor flags;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (text_take(c, names[i]))
			place = i;
	if (place < 3) {
		if (!read_int(c, numbers[place]))
			return false;
		/* strace may write a name or comment behind it */
		while (c->at < c->end && !strchr(",)\n", *c->at))
			if (!pairs_comment(c, NULL))
				c->at++;
		return true;
	}
	text_skip_blanks(c);
	flags = (struct text_cursor){ .at = c->at, .end = c->at };
	while (flags.end < c->end && !strchr(") \t\n", *flags.end))
		flags.end++;
	c->at = flags.end;
	text_skip_blanks(c);
	pairs_comment(c, NULL);
	return value_read(&flags, &xlat_perf_event_open_flags, &got->flags);
}

void attr_log_call(struct text_cursor *c, const char *start, struct attr_text_call *call)
{
	struct text_cursor t = { .at = c->at, .end = c->end };
	struct attr_text_call got = { .given = true, .tid = caller_of_line(start, c->at, c->end) };
	size_t place = 0;

	while (place < 4 && text_take(&t, ","))
		if (!read_arg(&t, place++, &got))
			return;
	/* perf trace leaves out arguments that are 0 */
	if (place < 2)
		return;
	if (text_take(&t, "<unfinished ...>"))
		read_resumed(&t, start, &got);
	else if (text_take(&t, ")"))
		read_result(&t, &got);
	*call = got;
	c->at = t.at;
}

/* Read "3, 0x40042408, 0xd) = 0" behind "ioctl(": what strace has as numbers. */
static bool read_ioctl(struct text_cursor *c, struct attr_text_ioctl *out)
{
	*out = (struct attr_text_ioctl){ .given = true };
	if (!read_int(c, &out->fd))
		return false;
	while (c->at < c->end && *c->at != ',' && *c->at != '\n')
		c->at++;
	if (!text_take(c, ",") || (text_skip_blanks(c), false) ||
	    !scan_number(&c->at, c->end, SCAN_C, &out->request) || !ioctl_is_perf(out->request) ||
	    !text_take(c, ",") || (text_skip_blanks(c), false) ||
	    !scan_number(&c->at, c->end, SCAN_C, &out->arg) || !text_take(c, ")"))
		return false;
	read_result(c, &out->result);
	return true;
}

bool attr_log_ioctl(struct text_cursor *c, struct attr_text_ioctl *out)
{
	struct text_cursor t = { .at = c->at, .end = c->end };

	while ((t.at = text_find(t.at, t.end, "ioctl("))) {
		t.at += 6;
		if (!read_ioctl(&t, out))
			continue;
		c->at = t.at;
		return true;
	}
	out->given = false;
	return false;
}

bool attr_log_columns(struct text_cursor *c, struct attr_text_call *call)
{
	struct attr_text_call got = { .given = true };
	struct text_cursor t = { .at = c->at, .end = c->end };
	int32_t error;

	while (text_take(&t, "-"))
		;
	/* where perf tries again with another call, its reason may be between */
	if (!text_take(&t, "sys_perf_event_open: pid") || !read_int(&t, &got.pid) ||
	    !text_take(&t, "cpu") || !read_int(&t, &got.cpu) ||
	    !text_take(&t, "group_fd") || !read_int(&t, &got.group_fd) ||
	    !text_take(&t, "flags") || (text_skip_blanks(&t), false) ||
	    !scan_number(&t.at, t.end, SCAN_C, &got.flags))
		return false;
	read_result(&t, &got);
	if (!got.returned && text_take(&t, "sys_perf_event_open failed, error") &&
	    read_int(&t, &error) && error < 0) {
		got.error = -error;
		got.returned = true;
	}
	*call = got;
	c->at = t.at;
	return true;
}
