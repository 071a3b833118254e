// SPDX-License-Identifier: LGPL-2.1-or-later
/* The attr of a perf_event_open as rows of an HTML table. */
#include <string.h>

#include "core/abi/attr.h"
#include "core/abi/tables.h"
#include "formats/report/html.h"
#include "formats/report/report.h"
#include "formats/text/text.h"

/* A sink that writes a row for each member. */
struct rows {
	struct sink sink;
	struct buf *out;
	const char *key;	/* of the current row; NULL: none */
	bool zero;
	struct buf value, notes, terms; /* HTML */
	size_t nterms;
	unsigned int depth;	/* 1: in the attr itself */
	struct attr_rows_count count;
};

static void rows_flush(struct rows *r)
{
	const struct field *f = r->key ? attr_member(r->key, strlen(r->key)) : NULL;

	if (!r->key)
		return;
	r->zero ? r->count.unset++ : r->count.set++;
	buf_addf(r->out, "<tr class=\"%s\">", r->zero ? "zero" : "set");
	html_put(r->out, "<th scope=\"row\"><code>", r->key, "</code></th>");
	buf_addf(r->out, "<td><code>%s</code>%s</td>", buf_str(&r->value), buf_str(&r->notes));
	html_put(r->out, "<td>", f ? f->meaning : "", "");
	if (r->nterms)
		buf_addf(r->out, "<details><summary>%zu value%s</summary><dl>%s</dl></details>",
			 r->nterms, r->nterms == 1 ? "" : "s", buf_str(&r->terms));
	buf_adds(r->out, "</td></tr>\n");
	r->key = NULL;
}

/* Begin a value, in a row of its own, or deeper in the attr as part of the current row. */
static struct buf *rows_value(struct sink *s, const char *key, bool zero)
{
	struct rows *r = sink_self(s);

	if (r->depth > 1) {
		if (r->value.len)
			buf_addc(&r->value, ' ');
		if (key)
			html_addf(&r->value, "%s=", key);
		return &r->value;
	}
	rows_flush(r);
	r->key = key ? key : "attr";
	r->zero = zero;
	r->nterms = 0;
	buf_reset(&r->value);
	buf_reset(&r->notes);
	buf_reset(&r->terms);
	return &r->value;
}

static void rows_begin(struct sink *s, const char *key, enum sink_shape shape)
{
	struct rows *r = sink_self(s);

	(void)shape;
	if (r->depth++ == 1)
		rows_value(s, key, false);
}

static void rows_end(struct sink *s)
{
	struct rows *r = sink_self(s);

	if (--r->depth == 0)
		rows_flush(r);
}

static void rows_add_hex(struct buf *out, uint64_t v)
{
	buf_addf(out, v ? "0x%llx" : "0", (unsigned long long)v);
}

static void rows_add_term(struct rows *r, struct buf *out, const struct xlat_entry *e)
{
	html_put(out, "<abbr title=\"", e->meaning, "\">");
	html_put(out, "", e->name, "</abbr>");
	if (!*e->meaning)
		return;
	html_put(&r->terms, "<dt><code>", e->name, "</code></dt>");
	html_put(&r->terms, "<dd>", e->meaning, "</dd>");
	r->nterms++;
}

static void rows_add_flags(struct rows *r, struct buf *out, const struct xlat *x, uint64_t v)
{
	const struct xlat_entry *e;
	const char *sep = "";
	uint64_t rest = v;
	size_t at = 0;

	if (!v)
		buf_addc(out, '0');
	while ((e = xlat_next_flag(x, &rest, &at))) {
		buf_adds(out, sep);
		rows_add_term(r, out, e);
		sep = "|<wbr>";
	}
	if (rest)
		buf_addf(out, "%s0x%llx", sep, (unsigned long long)rest);
}

static void rows_add_packed(struct rows *r, struct buf *out, const struct sink_part *parts,
			    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct xlat_entry *e = parts[i].xlat ?
			xlat_find(parts[i].xlat, parts[i].value) : NULL;

		buf_adds(out, i ? "|<wbr>" : "");
		if (e)
			rows_add_term(r, out, e);
		else
			buf_addf(out, "0x%llx", (unsigned long long)parts[i].value);
		if (parts[i].shift)
			buf_addf(out, "&lt;&lt;%u", parts[i].shift);
	}
}

static void rows_put(struct sink *s, const char *key, const struct value *v)
{
	struct rows *r = sink_self(s);
	bool has_text = v->kind == VALUE_SYMBOL || v->kind == VALUE_STRING || v->kind == VALUE_BYTES;
	struct buf *out = rows_value(s, key, !has_text && !v->number);
	const struct xlat_entry *e;
	struct buf text = { 0 };

	switch (v->kind) {
	case VALUE_UINT:
		buf_addu(out, v->number);
		break;
	case VALUE_SINT:
	case VALUE_FD:
		buf_addf(out, "%lld", (long long)v->number);
		if (v->text)
			html_addf(out, "<%s>", v->text);
		break;
	case VALUE_HEX:
	case VALUE_ADDR:
		rows_add_hex(out, v->number);
		break;
	case VALUE_ENUM:
		e = xlat_find(v->xlat, v->number);
		if (e)
			rows_add_term(r, out, e);
		else if (xlat_negative(v->xlat, v->number))
			buf_addf(out, "%lld", (long long)v->number);
		else
			rows_add_hex(out, v->number);
		break;
	case VALUE_FLAGS:
		rows_add_flags(r, out, v->xlat, v->number);
		break;
	case VALUE_PACKED:
		rows_add_packed(r, out, v->parts, v->len);
		break;
	case VALUE_SYMBOL:
		html_add(out, v->text);
		break;
	case VALUE_STRING:
	case VALUE_BYTES:
		text_quoted(&text, v->text, v->len, r->sink.max_string, v->cut, HEX_NEVER);
		html_add(out, buf_str(&text));
		buf_free(&text);
		break;
	}
}

static void rows_note(struct sink *s, const char *key, const char *text)
{
	struct rows *r = sink_self(s);

	(void)key;
	if (!r->key) /* of the attr as a whole */
		rows_value(s, "attr", false);
	html_put(&r->notes, " <span class=\"note\">", text, "</span>");
}

static const struct sink_ops rows_ops = {
	.begin = rows_begin, .end = rows_end, .value = rows_put, .note = rows_note,
};

struct attr_rows_count attr_rows(const struct call *c, const struct event *e,
				 const struct names *n, struct buf *out)
{
	struct rows r = {
		.sink = { .ops = &rows_ops, .full = true, .max_string = 256 }, .out = out,
	};

	if (c) {
		attr_emit(c, AT_SYSCALL_ENTER, "attr", c->args[0], n, &r.sink);
	} else {
		const struct walk w = {
			.layout = &layout_perf_event_attr, .bytes = e->attr, .len = e->attr_len,
			.names = n,
		};

		rows_begin(&r.sink, "attr", SINK_OBJECT);
		layout_emit(&w, &r.sink);
		rows_end(&r.sink);
	}
	rows_flush(&r);
	buf_free(&r.value);
	buf_free(&r.notes);
	buf_free(&r.terms);
	return r.count;
}
