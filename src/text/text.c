// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text/text.h"

#include <string.h>

static struct text_sink *self(struct sink *s)
{
	return (struct text_sink *)s; /* sink is its first member */
}

void text_colored(struct buf *out, bool color, enum text_color c, const char *text)
{
	static const char *const codes[] = {
		[COLOR_CALL] = "\033[1m", [COLOR_ERROR] = "\033[31m",
		[COLOR_NOTE] = "\033[2m", [COLOR_STRING] = "\033[32m",
	};

	if (!color || c == COLOR_NONE) {
		buf_adds(out, text);
		return;
	}
	buf_adds(out, codes[c]);
	buf_adds(out, text);
	buf_adds(out, "\033[0m");
}

static void add_octal(struct buf *out, unsigned char c, bool digit_follows)
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

static void add_escaped(struct buf *out, unsigned char c, bool digit_follows)
{
	static const char letters[] = "\"\"\\\\\nn\tt\rr\vv\ff";
	const char *p;

	if (c >= ' ' && c < 0x7f && c != '"' && c != '\\') {
		buf_addc(out, (char)c);
		return;
	}
	for (p = letters; *p; p += 2) {
		if (c == (unsigned char)*p) {
			buf_addc(out, '\\');
			buf_addc(out, p[1]);
			return;
		}
	}
	add_octal(out, c, digit_follows);
}

void text_quoted(struct buf *out, const char *bytes, size_t len, size_t max,
		 bool cut)
{
	if (len > max) {
		len = max;
		cut = true;
	}
	buf_addc(out, '"');
	for (size_t i = 0; i < len; i++)
		add_escaped(out, (unsigned char)bytes[i],
			    i + 1 < len && bytes[i + 1] >= '0' && bytes[i + 1] <= '9');
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
			add_octal(out, c, true);
		else
			buf_addc(out, (char)c);
	}
}

/* What stands before a value: the comma, and its key where keys are written. */
static void lead(struct text_sink *t, const char *key)
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

static void begin(struct sink *s, const char *key, enum sink_shape shape)
{
	struct text_sink *t = self(s);

	lead(t, key);
	buf_addc(t->out, shape == SINK_OBJECT ? '{' : '[');
	if (t->depth + 1 < TEXT_DEPTH)
		t->depth++;
	t->level[t->depth].shape = shape;
	t->level[t->depth].any = false;
}

static void end(struct sink *s)
{
	struct text_sink *t = self(s);

	buf_addc(t->out, t->level[t->depth].shape == SINK_OBJECT ? '}' : ']');
	if (t->depth)
		t->depth--;
}

static void put_uint(struct sink *s, const char *key, uint64_t v)
{
	lead(self(s), key);
	buf_addu(self(s)->out, v);
}

static void put_sint(struct sink *s, const char *key, int64_t v)
{
	lead(self(s), key);
	if (v < 0)
		buf_addc(self(s)->out, '-');
	buf_addu(self(s)->out, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

static void add_hex(struct buf *out, uint64_t v)
{
	if (v)
		buf_addx(out, v);
	else
		buf_addc(out, '0');
}

static void put_hex(struct sink *s, const char *key, uint64_t v)
{
	lead(self(s), key);
	add_hex(self(s)->out, v);
}

static void put_addr(struct sink *s, const char *key, uint64_t v)
{
	lead(self(s), key);
	if (v)
		buf_addx(self(s)->out, v);
	else
		buf_adds(self(s)->out, "NULL");
}

/* " / * PERF_TYPE_??? * /": a value that the table does not know. */
static void add_unknown(struct text_sink *t, const struct xlat *x)
{
	struct buf note = { 0 };

	if (!*x->prefix)
		return;
	buf_addf(&note, " /* %s??? */", x->prefix);
	text_colored(t->out, t->color, COLOR_NOTE, buf_str(&note));
	buf_free(&note);
}

static void put_enum(struct sink *s, const char *key, const struct xlat *x,
		     uint64_t v)
{
	struct text_sink *t = self(s);
	const char *name = xlat_name(x, v);

	lead(t, key);
	if (name) {
		buf_adds(t->out, name);
		return;
	}
	add_hex(t->out, v);
	if (v) /* 0 without a name is nothing at all */
		add_unknown(t, x);
}

static void put_flags(struct sink *s, const char *key, const struct xlat *x,
		      uint64_t v)
{
	struct text_sink *t = self(s);
	const struct xlat_entry *e;
	const char *sep = "";
	uint64_t rest = v;
	size_t at = 0;

	lead(t, key);
	if (!v) {
		const struct xlat_entry *zero = xlat_find(x, 0);

		/* PROT_NONE speaks of all bits; a value under a mask does not */
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
		add_unknown(t, x);
}

static void put_packed(struct sink *s, const char *key, uint64_t raw,
		       const struct sink_part *parts, size_t n)
{
	struct text_sink *t = self(s);
	const struct xlat *unknown = NULL;
	const char *sep = "";

	(void)raw;
	lead(t, key);
	for (size_t i = 0; i < n; i++) {
		const struct sink_part *p = &parts[i];
		const char *name = p->xlat ? xlat_name(p->xlat, p->value) : NULL;

		buf_adds(t->out, sep);
		sep = "|";
		if (name)
			buf_adds(t->out, name);
		else
			add_hex(t->out, p->value);
		if (p->shift) {
			buf_adds(t->out, "<<");
			buf_addu(t->out, p->shift);
		}
		if (!name && p->xlat)
			unknown = p->xlat;
	}
	if (unknown)
		add_unknown(t, unknown);
}

static void put_symbol(struct sink *s, const char *key, const char *word)
{
	lead(self(s), key);
	buf_adds(self(s)->out, word);
}

static void put_string(struct sink *s, const char *key, const char *bytes,
		       size_t len, bool cut)
{
	struct text_sink *t = self(s);

	lead(t, key);
	if (t->color)
		buf_adds(t->out, "\033[32m");
	text_quoted(t->out, bytes, len, s->max_string, cut);
	if (t->color)
		buf_adds(t->out, "\033[0m");
}

static void put_bytes(struct sink *s, const char *key, const void *bytes,
		      size_t len, bool cut)
{
	lead(self(s), key);
	text_quoted(self(s)->out, bytes, len, s->max_string, cut);
}

static void put_fd(struct sink *s, const char *key, int64_t fd, const char *label)
{
	struct text_sink *t = self(s);

	put_sint(s, key, fd);
	if (!label || !t->labels)
		return;
	buf_addc(t->out, '<');
	text_escaped(t->out, label);
	buf_addc(t->out, '>');
}

static void put_note(struct sink *s, const char *key, const char *text)
{
	struct text_sink *t = self(s);

	(void)key;
	if (t->out->len && t->out->data[t->out->len - 1] != '{' &&
	    t->out->data[t->out->len - 1] != '[')
		buf_addc(t->out, ' ');
	if (t->color)
		buf_adds(t->out, "\033[2m");
	buf_adds(t->out, "/* ");
	text_escaped(t->out, text);
	buf_adds(t->out, " */");
	if (t->color)
		buf_adds(t->out, "\033[0m");
}

static const struct sink_ops text_ops = {
	.begin = begin,
	.end = end,
	.uint = put_uint,
	.sint = put_sint,
	.hex = put_hex,
	.addr = put_addr,
	.enumeration = put_enum,
	.flags = put_flags,
	.packed = put_packed,
	.symbol = put_symbol,
	.string = put_string,
	.bytes = put_bytes,
	.fd = put_fd,
	.note = put_note,
};

void text_sink_init(struct text_sink *t, struct buf *out)
{
	*t = (struct text_sink){
		.sink = { .ops = &text_ops, .max_string = 32 }, .out = out,
	};
}

void text_sink_top(struct text_sink *t, bool results, const struct call_desc *d)
{
	t->results = results;
	t->plain = d;
	t->depth = 0;
	t->level[0].any = false;
}
