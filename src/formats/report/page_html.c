// SPDX-License-Identifier: LGPL-2.1-or-later
/* HTML that several parts of the page share. */
#include "formats/report/escape.h"
#include "formats/report/page_internal.h"

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
