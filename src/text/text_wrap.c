// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text/text_wrap.h"

#include <stdbool.h>
#include <string.h>

/* Return the end of the character at p, which a colour may precede; *columns: its width. */
static const char *text_step(const char *p, size_t *columns)
{
	*columns = *p != '\033';
	if (!*columns) {
		p += strcspn(p, "m\n");
		return p + (*p == 'm');
	}
	while ((p[!!*p] & 0xc0) == 0x80) /* UTF-8 */
		p++;
	return p + !!*p;
}

/*
 * Return the last blank at which the line can be broken, or NULL if it fits or has none.  *indent:
 * columns before what follows; on entry, those of the line, and 0 for the first part of a line.
 */
static const char *text_break(const char *line, size_t width, size_t *indent)
{
	const char *at = NULL, *next;
	size_t column = *indent, start = *indent, step;
	bool first = !*indent;

	if (first) {
		column = strspn(line, " ");
		line += column;
		start = column;
		*indent = column + 2;
	}
	for (; *line && *line != '\n' && column <= width; line = next, column += step) {
		next = text_step(line, &step);
		if (*line != ' ' || column == start)
			continue;
		at = line;
		/* a further column of a table, which leaves room for its text */
		if (first && line[1] == ' ' && column + strspn(line, " ") < width / 2)
			*indent = column + strspn(line, " ");
	}
	return column > width ? at : NULL;
}

static void text_wrap_line(const char *line, size_t len, size_t width, struct buf *out)
{
	const char *end = line + len, *at;
	size_t indent = 0;

	while ((at = text_break(line, width, &indent))) {
		while (at > line && at[-1] == ' ')
			at--;
		buf_add(out, line, (size_t)(at - line));
		buf_addf(out, "\n%*s", (int)indent, "");
		line = at + strspn(at, " ");
	}
	buf_add(out, line, (size_t)(end - line));
}

void text_wrap(struct buf *text, size_t width)
{
	struct buf out = { 0 };
	const char *line = buf_str(text);

	while (*line) {
		size_t len = strcspn(line, "\n");

		text_wrap_line(line, len, width, &out);
		line += len;
		if (*line)
			buf_addc(&out, *line++);
	}
	buf_free(text);
	*text = out;
}
