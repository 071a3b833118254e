// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/text/text.h"

#include <ctype.h>
#include <stdio.h>

static struct text_sink *text_self(struct sink *s)
{
	return (struct text_sink *)s; /* sink is its first member */
}

/* Begin a colour, or with COLOR_NONE end it. */
static void text_color(struct buf *out, bool color, enum text_color c)
{
	static const char *const codes[] = {
		[COLOR_NONE] = "\033[0m", [COLOR_CALL] = "\033[1m", [COLOR_ERROR] = "\033[31m",
		[COLOR_WARNING] = "\033[33m", [COLOR_NOTE] = "\033[2m", [COLOR_STRING] = "\033[32m",
	};

	if (color)
		buf_adds(out, codes[c]);
}

void text_colored(struct buf *out, bool color, enum text_color c, const char *text)
{
	text_color(out, color && c, c);
	buf_adds(out, text);
	text_color(out, color && c, COLOR_NONE);
}

static void text_add_octal(struct buf *out, unsigned char c, bool digit_follows)
{
	char text[5] = { '\\' };
	size_t n = 1;

	if (c >= 0100 || digit_follows)
		text[n++] = (char)('0' + (c >> 6));
	if (c >= 010 || digit_follows)
		text[n++] = (char)('0' + (c >> 3 & 7));
	text[n++] = (char)('0' + (c & 7));
	buf_add(out, text, n);
}

static void text_add_escaped(struct buf *out, unsigned char c, bool digit_follows)
{
	static const char special[] = "\"\\\n\t\r\v\f", letters[] = "\"\\ntrvf";
	const char *p;

	if (c >= ' ' && c < 0x7f && c != '"' && c != '\\') {
		buf_addc(out, (char)c);
	} else if (c && (p = strchr(special, c))) {
		buf_addc(out, '\\');
		buf_addc(out, letters[p - special]);
	} else {
		text_add_octal(out, c, digit_follows);
	}
}

/* Return whether strace counts the byte as ASCII: printable, or blank. */
static bool text_is_ascii(unsigned char c)
{
	return (c >= ' ' && c < 0x7f) || (c >= '\t' && c <= '\r');
}

void text_quoted(struct buf *out, const char *bytes, size_t len, size_t max, bool cut,
		 enum text_hex hex)
{
	if (len > max) {
		len = max;
		cut = true;
	}
	if (hex == HEX_NON_ASCII) { /* all bytes or none */
		hex = HEX_NEVER;
		for (size_t i = 0; i < len; i++)
			if (!text_is_ascii((unsigned char)bytes[i]))
				hex = HEX_ALL;
	}
	buf_addc(out, '"');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (hex == HEX_ALL || (hex && !text_is_ascii(c)))
			buf_addf(out, "\\x%02x", c);
		else
			text_add_escaped(out, c, i + 1 < len && bytes[i + 1] >= '0' &&
					 bytes[i + 1] <= '9');
	}
	buf_addc(out, '"');
	if (cut)
		buf_adds(out, "...");
}

void text_escaped(struct buf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '*' && text[1] == '/')
			buf_adds(out, "*\\");
		else if (c < ' ' || c >= 0x7f)
			text_add_octal(out, c, true);
		else
			buf_addc(out, (char)c);
	}
}

void text_meaning(struct buf *out, const char *meaning)
{
	size_t n = strcspn(meaning, " ,;:");
	bool name = false;

	for (size_t i = 1; i < n; i++)
		name |= isupper((unsigned char)meaning[i]) || meaning[i] == '_' ||
			isdigit((unsigned char)meaning[i]);
	if (!name && *meaning)
		buf_addc(out, (char)tolower((unsigned char)*meaning++));
	buf_adds(out, meaning);
}

/* Append what precedes a value: a comma, and the key where keys are written. */
static void text_lead(struct text_sink *t, const char *key)
{
	bool keyed;

	if (t->level[t->depth].any)
		buf_adds(t->out, ", ");
	t->level[t->depth].any = true;
	if (!key)
		return;
	if (t->depth) {
		if (t->level[t->depth].shape != SINK_OBJECT)
			return;
		buf_adds(t->out, key);
		buf_addc(t->out, '=');
		return;
	}
	keyed = t->results;
	for (unsigned int i = 0; keyed && t->plain && i < t->plain->nargs; i++)
		keyed = strcmp(t->plain->args[i].name, key);
	if (keyed) {
		buf_adds(t->out, key);
		buf_addc(t->out, ' ');
	}
}

static void text_begin(struct sink *s, const char *key, enum sink_shape shape)
{
	struct text_sink *t = text_self(s);

	text_lead(t, key);
	buf_addc(t->out, shape == SINK_OBJECT ? '{' : '[');
	if (t->depth + 1 < TEXT_DEPTH)
		t->depth++;
	t->level[t->depth].shape = shape;
	t->level[t->depth].any = false;
}

static void text_end(struct sink *s)
{
	struct text_sink *t = text_self(s);

	buf_addc(t->out, t->level[t->depth].shape == SINK_OBJECT ? '}' : ']');
	if (t->depth)
		t->depth--;
}

static void text_add_hex(struct buf *out, uint64_t v)
{
	if (v)
		buf_addx(out, v);
	else
		buf_addc(out, '0');
}

static void text_add_signed(struct buf *out, int64_t v)
{
	if (v < 0)
		buf_addc(out, '-');
	buf_addu(out, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* Append " / * PERF_TYPE_??? * /" after a value that the table does not have. */
static void text_add_unknown(struct text_sink *t, const struct xlat *x)
{
	char note[128];

	if (!*x->prefix)
		return;
	snprintf(note, sizeof(note), " /* %s??? */", x->prefix);
	text_colored(t->out, t->color, COLOR_NOTE, note);
}

static void text_add_enum(struct text_sink *t, const struct xlat *x, uint64_t v)
{
	const char *name = xlat_name(x, v);

	if (name) {
		buf_adds(t->out, name);
		return;
	}
	if (xlat_negative(x, v))
		text_add_signed(t->out, (int64_t)v);
	else
		text_add_hex(t->out, v);
	if (v) /* 0 without a name is not unknown, but unset */
		text_add_unknown(t, x);
}

static void text_add_flags(struct text_sink *t, const struct xlat *x, uint64_t v)
{
	const struct xlat_entry *e;
	const char *sep = "";
	uint64_t rest = v;
	size_t at = 0;

	if (!v) {
		const struct xlat_entry *zero = xlat_find(x, 0);

		/* PROT_NONE names all bits; a value under a mask does not */
		buf_adds(t->out, zero && x->kind == XLAT_FLAGS && !zero->mask ?
				 zero->name : "0");
		return;
	}
	while ((e = xlat_next_flag(x, &rest, &at))) {
		buf_adds(t->out, sep);
		buf_adds(t->out, e->name);
		sep = "|";
	}
	if (!rest)
		return;
	buf_adds(t->out, sep);
	buf_addx(t->out, rest);
	if (!*sep)
		text_add_unknown(t, x);
}

static void text_add_packed(struct text_sink *t, const struct sink_part *parts, size_t n)
{
	const struct xlat *unknown = NULL;
	const char *sep = "";

	for (size_t i = 0; i < n; i++) {
		const struct sink_part *p = &parts[i];
		const char *name = p->xlat ? xlat_name(p->xlat, p->value) : NULL;

		buf_adds(t->out, sep);
		sep = "|";
		if (name)
			buf_adds(t->out, name);
		else
			text_add_hex(t->out, p->value);
		if (p->shift) {
			buf_adds(t->out, "<<");
			buf_addu(t->out, p->shift);
		}
		if (!name && p->xlat)
			unknown = p->xlat;
	}
	if (unknown)
		text_add_unknown(t, unknown);
}

static void text_value(struct sink *s, const char *key, const struct value *v)
{
	struct text_sink *t = text_self(s);
	bool color = t->color && v->kind == VALUE_STRING;

	text_lead(t, key);
	switch (v->kind) {
	case VALUE_UINT:
		buf_addu(t->out, v->number);
		break;
	case VALUE_SINT:
	case VALUE_FD:
		text_add_signed(t->out, (int64_t)v->number);
		if (v->text && t->labels) {
			buf_addc(t->out, '<');
			text_escaped(t->out, v->text);
			buf_addc(t->out, '>');
		}
		break;
	case VALUE_HEX:
		text_add_hex(t->out, v->number);
		break;
	case VALUE_ADDR:
		if (v->number)
			buf_addx(t->out, v->number);
		else
			buf_adds(t->out, "NULL");
		break;
	case VALUE_ENUM:
		text_add_enum(t, v->xlat, v->number);
		break;
	case VALUE_FLAGS:
		text_add_flags(t, v->xlat, v->number);
		break;
	case VALUE_PACKED:
		text_add_packed(t, v->parts, v->len);
		break;
	case VALUE_SYMBOL:
		buf_adds(t->out, v->text);
		break;
	case VALUE_STRING:
	case VALUE_BYTES:
		text_color(t->out, color, COLOR_STRING);
		text_quoted(t->out, v->text, v->len, t->sink.max_string, v->cut, t->hex);
		text_color(t->out, color, COLOR_NONE);
		break;
	}
}

static void text_note(struct sink *s, const char *key, const char *text)
{
	struct text_sink *t = text_self(s);

	(void)key;
	if (t->out->len && t->out->data[t->out->len - 1] != '{' &&
	    t->out->data[t->out->len - 1] != '[')
		buf_addc(t->out, ' ');
	text_color(t->out, t->color, COLOR_NOTE);
	buf_adds(t->out, "/* ");
	text_escaped(t->out, text);
	buf_adds(t->out, " */");
	text_color(t->out, t->color, COLOR_NONE);
}

static const struct sink_ops text_ops = {
	.begin = text_begin, .end = text_end, .value = text_value, .note = text_note,
};

void text_sink_init(struct text_sink *t, struct buf *out)
{
	memset(t, 0, offsetof(struct text_sink, level[1])); /* others are set when they begin */
	t->sink.ops = &text_ops;
	t->sink.max_string = 32;
	t->out = out;
}

void text_sink_top(struct text_sink *t, bool results, const struct call_desc *d)
{
	t->results = results;
	t->plain = d;
	t->depth = 0;
	t->level[0].any = false;
}
