// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/learn/learn.h"

#include "formats/text/text_fit.h"

enum { WIDTH = 78, INDENT = 4, DEEPER = 8, LEAST = 8 };

#define BOLD "\033[1m"
#define CODE "\033[36m"
#define PLAIN "\033[m"

static const char *color_code(const struct lesson_text *t, const char *how)
{
	return t->color ? how : "";
}

void lesson_text_title(const struct lesson_text *t, const char *name, const char *title)
{
	if (t->markdown)
		fprintf(t->out, "# %s\n", title);
	else
		fprintf(t->out, "%s%s%s (%s)\n", color_code(t, BOLD), title,
			color_code(t, PLAIN), name);
}

void lesson_text_heading(const struct lesson_text *t, unsigned int number, unsigned int of,
			 const char *text)
{
	fprintf(t->out, "\n%s", t->markdown ? "## " : color_code(t, BOLD));
	if (number && t->markdown)
		fprintf(t->out, "%u. ", number);
	else if (number)
		fprintf(t->out, "Step %u of %u: ", number, of);
	fprintf(t->out, "%s%s\n", text, t->markdown ? "" : color_code(t, PLAIN));
}

/*
 * Write text in lines of WIDTH columns, of which the first has at columns already.  Backquotes
 * around code are kept in documents and become colors in text.
 */
static void write_wrapped(const struct lesson_text *t, const char *text, size_t at)
{
	struct buf marked = { 0 }, out = { 0 };
	bool code = false;

	for (; *text; text++) {
		if (*text != '`' || t->markdown) {
			buf_addc(&marked, *text);
			continue;
		}
		code = !code;
		buf_adds(&marked, color_code(t, code ? CODE : PLAIN));
	}
	text_fill(&out, buf_str(&marked), marked.len, at, 0, WIDTH);
	fprintf(t->out, "%s\n", buf_str(&out));
	buf_free(&marked);
	buf_free(&out);
}

void lesson_text_paragraph(const struct lesson_text *t, const char *text)
{
	putc('\n', t->out);
	write_wrapped(t, text, 0);
}

void lesson_text_marked(const struct lesson_text *t, const char *mark, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	fprintf(t->out, "\n%s%s:%s ", t->markdown ? "**" : color_code(t, BOLD), mark,
		t->markdown ? "**" : color_code(t, PLAIN));
	write_wrapped(t, buf_str(&text), strlen(mark) + 2 + (t->markdown ? 4 : 0));
	buf_free(&text);
}

void lesson_text_block(const struct lesson_text *t, const char *lines)
{
	fputs(t->markdown ? "\n```\n" : "\n", t->out);
	while (*lines) {
		size_t len = strcspn(lines, "\n");

		fprintf(t->out, "%*s%.*s\n", t->markdown || !len ? 0 : INDENT, "", (int)len,
			lines);
		lines += len + (lines[len] == '\n');
	}
	fputs(t->markdown ? "```\n" : "", t->out);
}

/*
 * Return the last place for a break up to columns, or 0: behind '|', at a blank behind a
 * comma, or, with any, at any blank.
 */
static size_t last_break(const char *text, size_t columns, bool any)
{
	for (size_t at = columns; at > LEAST; at--) {
		bool blank = text[at] == ' ', piece = text[at - 1] == '|';

		if (piece || (blank && (any || text[at - 1] == ',')))
			return at;
	}
	return 0;
}

/* Return how many bytes go on a line: up to a comma, if this fills at least half of it. */
static size_t break_at(const char *text, size_t len, size_t columns)
{
	size_t at;

	if (len <= columns)
		return len;
	at = last_break(text, columns, false);
	if (at < columns / 2)
		at = last_break(text, columns, true);
	return at ? at : columns - 1;
}

void lesson_text_trace(const struct lesson_text *t, const char *lines)
{
	fputs(t->markdown ? "\n```\n" : "\n", t->out);
	while (*lines) {
		size_t len = strcspn(lines, "\n"), indent = t->markdown ? 0 : INDENT;

		while (len) {
			size_t n = break_at(lines, len, WIDTH - indent);
			bool blank = n < len && lines[n] == ' ';
			bool torn = n < len && !blank && lines[n - 1] != '|';

			fprintf(t->out, "%*s%.*s%s\n", (int)indent, "", (int)n, lines,
				torn ? "\\" : "");
			lines += n + blank;
			len -= n + blank;
			indent = t->markdown ? DEEPER - INDENT : DEEPER;
		}
		lines += *lines == '\n';
	}
	fputs(t->markdown ? "```\n" : "", t->out);
}
