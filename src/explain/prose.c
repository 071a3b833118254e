// SPDX-License-Identifier: LGPL-2.1-or-later
#include "explain/prose.h"

#include <string.h>

#include "formats/text/text.h"
#include "formats/text/text_fit.h"

void prose_init(struct prose *p, struct buf *out, unsigned int width)
{
	*p = (struct prose){ .out = out, .width = width };
}

void prose_free(struct prose *p)
{
	prose_end(p);
	buf_free(&p->text);
}

/* Lines -------------------------------------------------------------------------- */

void prose_end(struct prose *p)
{
	char *text = p->text.data;
	size_t n = 0;

	if (!p->text.len)
		return;
	for (size_t i = 0; i < p->text.len; i++) /* merge blanks */
		if (text[i] != ' ' || (n && text[n - 1] != ' '))
			text[n++] = text[i];
	n -= n && text[n - 1] == ' ';
	buf_pad(p->out, p->indent);
	text_fill(p->out, text, n, p->indent, p->hang, p->width ? p->width : SIZE_MAX);
	buf_addc(p->out, '\n');
	buf_reset(&p->text);
	p->any = true;
}

void prose_line(struct prose *p, unsigned int indent, unsigned int hang)
{
	prose_end(p);
	p->indent = indent;
	p->hang = hang;
}

void prose_para(struct prose *p)
{
	prose_line(p, 0, 0);
	if (p->any)
		buf_addc(p->out, '\n');
	p->any = false;
}

void prose_item(struct prose *p)
{
	prose_line(p, 2, 4);
	prose_adds(p, "- ");
}

void prose_head(struct prose *p, const char *title)
{
	prose_para(p);
	text_colored(p->out, p->color, COLOR_CALL, title);
	buf_addc(p->out, '\n');
	if (!p->color) {
		for (size_t i = strlen(title); i; i--)
			buf_addc(p->out, '-');
		buf_addc(p->out, '\n');
	}
}

/* Text --------------------------------------------------------------------------- */

void prose_adds(struct prose *p, const char *s)
{
	buf_adds(&p->text, s);
}

void prose_addf(struct prose *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&p->text, fmt, ap);
	va_end(ap);
}

void prose_name(struct prose *p, const char *hostile)
{
	text_escaped(&p->text, hostile);
}

void prose_quoted(struct prose *p, const char *hostile)
{
	text_quoted(&p->text, hostile, strlen(hostile), 200, false, HEX_NEVER);
}

void prose_meaning(struct prose *p, const char *meaning)
{
	text_meaning(&p->text, meaning);
}

void prose_count(struct prose *p, uint64_t n, const char *one, const char *more)
{
	prose_addf(p, " %llu %s", (unsigned long long)n, n == 1 ? one : more);
}

void prose_times(struct prose *p, uint64_t n)
{
	if (n == 1 || n == 2)
		prose_adds(p, n == 1 ? "once" : "twice");
	else
		prose_addf(p, "%llu times", (unsigned long long)n);
}

void prose_page(struct prose *p, const char *page)
{
	const char *section = strncmp(page, "pevtrace", 8) ? strchr(page, '(') : NULL;
	int len = (int)strcspn(page, ",");

	if (!p->links || !section) {
		buf_adds(&p->text, page);
		return;
	}
	buf_addf(&p->text, "\033]8;;https://man7.org/linux/man-pages/man%c/%.*s.%c.html\033\\"
		 "%.*s\033]8;;\033\\%s", section[1], (int)(section - page), page, section[1],
		 len, page, page + len);
}

const char *prose_sep(uint64_t i, uint64_t count)
{
	return !i ? "" : i + 1 == count ? " and " : ", ";
}
