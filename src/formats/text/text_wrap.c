// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/text/text_wrap.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Return the end of the character, colour or hyperlink (OSC 8) at p; *columns: its width. */
static const char *text_step(const char *p, const char *end, size_t *columns)
{
	bool link = !strncmp(p, "\033]", 2);

	*columns = *p++ != '\033';
	if (*columns)
		while (p < end && (*p & 0xc0) == 0x80) /* UTF-8 */
			p++;
	else
		while (p < end && !(link ? p[-1] == '\033' && *p == '\\' : *p == 'm'))
			p++;
	return p + (!*columns && p < end);
}

/* Return whether a mask, as A|B or A+B, can be broken before p. */
static bool text_in_mask(const char *p)
{
	return (p[-1] == '|' || p[-1] == '+') && isalnum((unsigned char)p[-2]) &&
	       isupper((unsigned char)*p);
}

/*
 * Return where the line can be broken: before a blank, or in a mask.  If nothing before width
 * columns can be, return the next such place; if the line fits, NULL.
 */
static const char *text_break(const char *line, const char *end, size_t column, size_t width)
{
	const char *p = line + strspn(line, " "), *second = p + 1, *at = NULL;
	size_t step;

	for (column += (size_t)(p - line); p < end && (column <= width || !at); column += step) {
		if (p > second && (*p == ' ' || text_in_mask(p)))
			at = p;
		p = text_step(p, end, &step);
	}
	return column > width ? at : NULL;
}

void text_fill(struct buf *out, const char *text, size_t len, size_t column, size_t hang,
	       size_t width)
{
	const char *end = text + len, *at;

	while ((at = text_break(text, end, column, width)) && at + strspn(at, " ") < end) {
		len = (size_t)(at - text);
		while (len && text[len - 1] == ' ')
			len--;
		buf_add(out, text, len);
		buf_addf(out, "\n%*s", (int)hang, "");
		text = at + strspn(at, " ");
		column = hang;
	}
	buf_add(out, text, (size_t)(end - text));
}

/* Return where the last column of a table begins, if there is one that leaves room for its text. */
static size_t text_hang(const char *line, const char *end, size_t width)
{
	size_t column = strspn(line, " "), hang = column + 2, step;

	for (line += column; line < end && column < width / 2; column += step) {
		size_t blanks = strspn(line, " ");

		if (blanks > 1 && column + blanks < width / 2)
			hang = column + blanks;
		line = text_step(line, end, &step);
	}
	return hang;
}

void text_wrap(struct buf *text, size_t width)
{
	const char *line = buf_str(text);
	struct buf out = { 0 };

	while (*line) {
		size_t len = strcspn(line, "\n");

		text_fill(&out, line, len, 0, text_hang(line, line + len, width), width);
		line += len;
		if (*line)
			buf_addc(&out, *line++);
	}
	buf_free(text);
	*text = out;
}
