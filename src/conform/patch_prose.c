// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/patch_prose.h"

#include <ctype.h>
#include <string.h>

#include "conform/compare_internal.h"
#include "conform/tables.h"
#include "formats/text/text_wrap.h"

enum { COLUMNS = 72, CLAUSE = 40, SHORT = 12 };

/* A line that is being written. */
struct prose {
	const struct conform *c;
	struct buf line;
	struct buf *out;
};

static void end_line(struct prose *p)
{
	if (p->line.len)
		buf_addf(p->out, "%s%s\n", strchr(".'", *p->line.data) ? "\\&" : "",
			 p->line.data);
	buf_reset(&p->line);
}

/* End the line after its last clause, if that is not too short, or after its last word. */
static void break_line(struct prose *p)
{
	size_t at = p->line.len;
	struct buf rest = { 0 };

	while (at > SHORT && !(p->line.data[at - 1] == ' ' && strchr(",;:", p->line.data[at - 2])))
		at--;
	if (at > SHORT) {
		buf_adds(&rest, p->line.data + at);
		p->line.data[at - 1] = '\0';
	}
	end_line(p);
	buf_adds(&p->line, buf_str(&rest));
	buf_free(&rest);
}

/* Return the font of a word, or '\0' for that of the text. */
static char font_of(const struct conform *c, const char *word)
{
	if (compare_knows(c, word) || page_is_errno(word) || page_is_constant(word))
		return 'B';
	return strchr(word, '_') && compare_knows_member(c, word) ? 'I' : '\0';
}

static void add_escaped(const char *s, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] == '\\')
			buf_adds(out, "\\e");
		else if (s[i] == '-' && isdigit((unsigned char)s[i + 1]))
			buf_adds(out, "\\-");
		else
			buf_addc(out, s[i]);
}

/* Add a word with punctuation around it as a line of a font macro; false: it has no font. */
static bool marked_word(struct prose *p, const char *s, size_t n)
{
	size_t head = strspn(s, "("), tail = n;
	char word[128], font;

	if (head >= n)
		return false;
	while (tail > head && strchr(",.;:)", s[tail - 1]))
		tail--;
	if (tail - head >= sizeof(word) || tail <= head)
		return false;
	memcpy(word, s + head, tail - head);
	word[tail - head] = '\0';
	font = font_of(p->c, word);
	if (!font)
		return false;
	end_line(p);
	if (head)
		buf_addf(p->out, ".R%c %.*s %s%s", font, (int)head, s, word,
			 tail < n ? " " : "");
	else
		buf_addf(p->out, ".%c%s %s%s", font, tail < n ? "R" : "", word,
			 tail < n ? " " : "");
	buf_addf(p->out, "%.*s\n", (int)(n - tail), s + tail);
	return true;
}

void patch_prose(const struct conform *c, const char *text, struct buf *out)
{
	struct prose p = { .c = c, .out = out };

	while (*text) {
		size_t n = strcspn(text, " ");

		if (n && !marked_word(&p, text, n)) {
			if (p.line.len + n + 1 > COLUMNS)
				break_line(&p);
			if (p.line.len)
				buf_addc(&p.line, ' ');
			add_escaped(text, n, &p.line);
			if (strchr(".?!", text[n - 1]) ||
			    (p.line.len > CLAUSE && strchr(",;:", text[n - 1])))
				end_line(&p);
		}
		text += n;
		text += strspn(text, " ");
	}
	end_line(&p);
	buf_free(&p.line);
}

void patch_tag(char font, const char *name, uint32_t since, struct buf *out)
{
	char release[16];

	if (since)
		buf_addf(out, ".%cR %s \" (since Linux %s)\"\n", font, name,
			 tables_release(since, release));
	else
		buf_addf(out, ".%c %s\n", font, name);
}

void patch_wrap(const char *text, size_t hang, struct buf *out)
{
	for (size_t column = 0, len; *text; column = hang, text += len + !!text[len]) {
		len = strcspn(text, "\n");
		buf_pad(out, len ? column : 0);
		text_fill(out, text, len, column, hang, COLUMNS);
		buf_addc(out, '\n');
	}
}
