// SPDX-License-Identifier: LGPL-2.1-or-later
/* The findings to show, and lines for them. */
#include <stdarg.h>
#include <string.h>

#include "conform/verb/conform.h"
#include "core/lib/utf8.h"

bool conform_wanted(const struct conform_cmd *cmd, const struct finding *f)
{
	const char *since = f->since;

	if (cmd->section && !strcasestr(f->section, cmd->section))
		return false;
	return !cmd->since || (since && release_read(&since) >= cmd->since);
}

size_t conform_count(const struct conform_cmd *cmd, enum finding_severity severity)
{
	size_t n = 0;

	for (size_t i = 0; i < cmd->c.found.n; i++)
		n += cmd->c.found.all[i].severity == severity &&
		     conform_wanted(cmd, &cmd->c.found.all[i]);
	return n;
}

/* Return whether a character moves the cursor or changes the direction of text (C1, bidi). */
static bool line_is_control(const char *s, size_t n)
{
	unsigned char c = (unsigned char)*s, d = n > 1 ? (unsigned char)s[1] : 0;

	if (n == 1)
		return c < ' ' || c == 0x7f;
	if (n == 2)
		return c == 0xc2 && d < 0xa0;
	return n == 3 && c == 0xe2 && (d == 0x80 || d == 0x81) && (unsigned char)s[2] > 0x8d;
}

/* Add a text that may be in any language: UTF-8 as it is, all else and controls as \ooo. */
void conform_printable(const char *s, struct buf *out)
{
	size_t left = strlen(s);

	while (left) {
		size_t n = utf8_at(s, left);

		if (n && !line_is_control(s, n)) {
			buf_add(out, s, n);
		} else {
			n = n ? n : 1;
			for (size_t i = 0; i < n; i++)
				buf_addf(out, "\\%03o", (unsigned char)s[i]);
		}
		s += n;
		left -= n;
	}
}

void conform_line(struct conform_cmd *cmd, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	showing_begin(&cmd->out, true);
	conform_printable(buf_str(&text), &cmd->out.line);
	showing_end(&cmd->out);
	buf_free(&text);
}
