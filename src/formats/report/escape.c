// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/report/escape.h"

static int is_printable(unsigned char c)
{
	return (c >= ' ' && c < 0x7f) || c == '\n';
}

static void add_octal_escape(struct buf *out, const char *backslash, unsigned char c)
{
	buf_addf(out, "%s%03o", backslash, c);
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
				add_octal_escape(out, "\\", (unsigned char)*text);
		}
	}
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
			add_octal_escape(out, "\\\\", c);
		}
	}
	buf_addc(out, '"');
}
