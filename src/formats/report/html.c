// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/report/html.h"

#include "formats/report/page_internal.h"

static int is_printable(unsigned char c)
{
	return (c >= ' ' && c < 0x7f) || c == '\n';
}

void html_add(struct buf *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			buf_adds(out, "&amp;");
			break;
		case '<':
			buf_adds(out, "&lt;");
			break;
		case '>':
			buf_adds(out, "&gt;");
			break;
		case '"':
			buf_adds(out, "&quot;");
			break;
		case '\'':
			buf_adds(out, "&#39;");
			break;
		default:
			if (is_printable((unsigned char)*text))
				buf_addc(out, *text);
			else
				buf_addf(out, "\\%03o", (unsigned char)*text);
		}
	}
}

void html_put(struct buf *out, const char *before, const char *text, const char *after)
{
	buf_adds(out, before);
	html_add(out, text);
	buf_adds(out, after);
}

void html_addf(struct buf *out, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	html_add(out, buf_str(&text));
	buf_free(&text);
}

void script_add(struct buf *out, const char *text)
{
	buf_addc(out, '"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\') {
			buf_addc(out, '\\');
			buf_addc(out, (char)c);
		} else if (c == '<' || c == '>' || c == '&' || c == '\n') {
			buf_addf(out, "\\u%04x", c);
		} else if (is_printable(c)) {
			buf_addc(out, (char)c);
		} else {
			buf_addf(out, "\\\\%03o", c);
		}
	}
	buf_addc(out, '"');
}

/* Parts of the page ------------------------------------------------------------------- */

enum { FLUSH = 1 << 20 };

void page_flush(const struct report *r, struct buf *out)
{
	if (out->len < FLUSH)
		return;
	output_write(r->out, 0, out->data, out->len);
	buf_reset(out);
}

void page_link_event(struct buf *out, unsigned int number)
{
	buf_addf(out, "<a href=\"#event-%u\">#%u</a>", number, number);
}

void page_table_begin(struct buf *out, const char *label, const char *caption,
		      const char *const *columns)
{
	buf_addf(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n"
		 "<table>\n<caption>%s</caption>\n<thead><tr>", label, caption);
	for (; *columns; columns++)
		buf_addf(out, "<th scope=\"col\"%s>%s</th>",
			 **columns == '>' ? " class=\"num\"" : "",
			 *columns + (**columns == '>'));
	buf_adds(out, "</tr></thead>\n<tbody>\n");
}

void page_table_end(struct buf *out)
{
	buf_adds(out, "</tbody>\n</table>\n</div>\n");
}
