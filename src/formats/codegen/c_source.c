// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/codegen/c_source.h"

#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"

/* What the source needs ---------------------------------------------------------- */

void c_need_header(struct c_needs *n, const char *header)
{
	const char **more;

	for (size_t i = 0; i < n->nheaders; i++)
		if (!strcmp(n->headers[i], header))
			return;
	more = xrealloc(n->headers, (n->nheaders + 1) * sizeof(*more));
	n->failed |= !more;
	if (!more)
		return;
	n->headers = more;
	n->headers[n->nheaders++] = header;
}

static void need_entry(struct c_needs *n, const struct xlat *x, const struct xlat_entry *e)
{
	const struct xlat_entry **more;

	c_need_header(n, x->header);
	if (e->since <= C_HEADERS)
		return;
	for (size_t i = 0; i < n->ndefines; i++)
		if (!strcmp(n->defines[i]->name, e->name))
			return;
	more = xrealloc(n->defines, (n->ndefines + 1) * sizeof(*more));
	n->failed |= !more;
	if (!more)
		return;
	n->defines = more;
	n->defines[n->ndefines++] = e;
}

void c_needs_free(struct c_needs *n)
{
	free(n->defines);
	free(n->headers);
	*n = (struct c_needs){ 0 };
}

/* Text -------------------------------------------------------------------------- */

void c_string(struct buf *out, const char *bytes, size_t len)
{
	buf_addc(out, '"');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c < ' ' || c >= 0x7f) {
			buf_addf(out, "\\%03o", c);
		} else {
			if (strchr("\"\\?", c))
				buf_addc(out, '\\');
			buf_addc(out, (char)c);
		}
	}
	buf_addc(out, '"');
}

void c_comment(struct buf *out, const char *text, size_t len)
{
	char before = ' ';

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		/* avoid the end or start of a comment, and trigraphs */
		if ((before == '*' && c == '/') || (before == '/' && c == '*') ||
		    (before == '?' && c == '?'))
			buf_addc(out, ' ');
		if (c < ' ' || c >= 0x7f)
			buf_addf(out, "<%02x>", c);
		else
			buf_addc(out, (char)c);
		before = (char)c;
	}
	if (before == '\\' || before == '*')
		buf_addc(out, ' ');
}

void c_identifier(struct buf *out, const char *name)
{
	size_t start = out->len;

	for (; *name; name++) {
		bool word = (*name >= 'a' && *name <= 'z') || (*name >= '0' && *name <= '9') ||
			    (*name >= 'A' && *name <= 'Z');
		bool first = out->len == start;

		if (word && first && *name >= '0' && *name <= '9')
			buf_adds(out, "event_");
		if (word)
			buf_addc(out, *name);
		else if (!first && out->data[out->len - 1] != '_')
			buf_addc(out, '_');
	}
	while (out->len > start && out->data[out->len - 1] == '_')
		out->data[--out->len] = '\0';
	if (out->len == start)
		buf_adds(out, "event");
}

/* Values ------------------------------------------------------------------------ */

void c_add_hex(struct buf *out, uint64_t v)
{
	buf_addx(out, v);
	if (v > INT32_MAX)
		buf_adds(out, v > UINT32_MAX ? "ULL" : "U");
}

void c_add_number(struct buf *out, uint64_t v)
{
	buf_addu(out, v);
	if (v > INT32_MAX)
		buf_adds(out, v > INT64_MAX ? "ULL" : v > UINT32_MAX ? "LL" : "U");
}

const char *c_constant(struct c_needs *n, const struct xlat *x, uint64_t v)
{
	const struct xlat_entry *e = x && x->header ? xlat_find(x, v) : NULL;

	if (e)
		need_entry(n, x, e);
	return e ? e->name : NULL;
}

void c_add_enum(struct buf *out, struct c_needs *n, const struct xlat *x, uint64_t v)
{
	const char *name = c_constant(n, x, v);

	if (name)
		buf_adds(out, name);
	else if (xlat_negative(x, v))
		buf_addf(out, "%lld", (long long)v);
	else
		c_add_number(out, v);
}

void c_add_flags(struct buf *out, struct c_needs *n, const struct xlat *x, uint64_t v)
{
	const struct xlat_entry *e;
	const char *sep = "";
	size_t at = 0;

	while (x->header && x->kind == XLAT_FLAGS && (e = xlat_next_flag(x, &v, &at))) {
		need_entry(n, x, e);
		buf_addf(out, "%s%s", sep, e->name);
		sep = " | ";
	}
	if (v) {
		buf_adds(out, sep);
		c_add_hex(out, v);
	} else if (!*sep) {
		buf_addc(out, '0');
	}
}
