// SPDX-License-Identifier: LGPL-2.1-or-later
#include "public/visit.h"

#include <errno.h>
#include <string.h>

#include "public/copy_out.h"
#include "formats/text/text.h"

/* Passing values ------------------------------------------------------------------------ */

static void visit_pass(struct sink *s, enum pevtrace_kind kind, const char *key,
		 struct pevtrace_item item)
{
	struct visit_sink *v = (struct visit_sink *)s; /* sink is its first member */

	if (v->ended)
		return;
	item.size = sizeof(item);
	item.kind = kind;
	item.key = key;
	v->ended = v->visit(v->context, &item);
}

static void visit_begin(struct sink *s, const char *key, enum sink_shape shape)
{
	visit_pass(s, shape == SINK_OBJECT ? PEVTRACE_OBJECT : PEVTRACE_ARRAY, key,
	     (struct pevtrace_item){ 0 });
}

static void visit_end(struct sink *s)
{
	visit_pass(s, PEVTRACE_END, NULL, (struct pevtrace_item){ 0 });
}

static void visit_uint(struct sink *s, const char *key, uint64_t v)
{
	visit_pass(s, PEVTRACE_UNSIGNED, key, (struct pevtrace_item){ .number = v });
}

static void visit_sint(struct sink *s, const char *key, int64_t v)
{
	visit_pass(s, PEVTRACE_SIGNED, key, (struct pevtrace_item){ .number = (uint64_t)v });
}

static void visit_hex(struct sink *s, const char *key, uint64_t v)
{
	visit_pass(s, PEVTRACE_MASK, key, (struct pevtrace_item){ .number = v });
}

static void visit_addr(struct sink *s, const char *key, uint64_t v)
{
	visit_pass(s, PEVTRACE_ADDRESS, key, (struct pevtrace_item){ .number = v });
}

static void visit_text(struct sink *s, enum pevtrace_kind kind, const char *key,
		       uint64_t number, const char *text)
{
	visit_pass(s, kind, key, (struct pevtrace_item){
		.number = number, .text = text, .length = text ? strlen(text) : 0,
	});
}

static void visit_enum(struct sink *s, const char *key, const struct xlat *x, uint64_t v)
{
	const char *name = xlat_name(x, v);

	visit_pass(s, PEVTRACE_CONSTANT, key, (struct pevtrace_item){
		.number = v, .text = name, .length = name ? strlen(name) : 0, .reserved = { x },
	});
}

static void visit_flags(struct sink *s, const char *key, const struct xlat *x, uint64_t v)
{
	visit_pass(s, PEVTRACE_FLAGS, key, (struct pevtrace_item){
		.number = v, .reserved = { x },
	});
}

static void visit_packed(struct sink *s, const char *key, uint64_t raw,
			 const struct sink_part *parts, size_t n)
{
	visit_pass(s, PEVTRACE_PACKED, key, (struct pevtrace_item){
		.number = raw, .reserved = { parts, parts + n },
	});
}

static void visit_symbol(struct sink *s, const char *key, const char *word)
{
	visit_text(s, PEVTRACE_WORD, key, 0, word);
}

static void visit_string(struct sink *s, const char *key, const char *bytes, size_t len,
			 bool cut)
{
	visit_pass(s, PEVTRACE_STRING, key, (struct pevtrace_item){
		.text = bytes, .length = len, .truncated = cut,
	});
}

static void visit_bytes(struct sink *s, const char *key, const void *bytes, size_t len,
			bool cut)
{
	visit_pass(s, PEVTRACE_BYTES, key, (struct pevtrace_item){
		.text = bytes, .length = len, .truncated = cut,
	});
}

static void visit_fd(struct sink *s, const char *key, int64_t fd, const char *label)
{
	visit_text(s, PEVTRACE_FD, key, (uint64_t)fd, label);
}

static void visit_note(struct sink *s, const char *key, const char *text)
{
	visit_text(s, PEVTRACE_NOTE, key, 0, text);
}

static const struct sink_ops visit_ops = {
	.begin = visit_begin, .end = visit_end, .uint = visit_uint, .sint = visit_sint,
	.hex = visit_hex, .addr = visit_addr, .enumeration = visit_enum,
	.flags = visit_flags, .packed = visit_packed, .symbol = visit_symbol,
	.string = visit_string, .bytes = visit_bytes, .fd = visit_fd, .note = visit_note,
};

void visit_sink_init(struct visit_sink *v, pevtrace_visit_fn *visit, void *context)
{
	*v = (struct visit_sink){
		.sink = { .ops = &visit_ops, .max_string = SIZE_MAX }, .visit = visit,
		.context = context,
	};
}

/* What a caller asks of an item --------------------------------------------------------- */

const char *pevtrace_item_flag(const struct pevtrace_item *item, size_t *at, uint64_t *rest)
{
	const struct xlat_entry *e = item->kind == PEVTRACE_FLAGS ?
		xlat_next_flag(item->reserved[0], rest, at) : NULL;

	return e ? e->name : NULL;
}

static void visit_write_item(const struct pevtrace_item *i, struct sink *s)
{
	const struct sink_part *parts = i->reserved[0];

	switch (i->kind) {
	case PEVTRACE_UNSIGNED:
		s->ops->uint(s, NULL, i->number);
		break;
	case PEVTRACE_SIGNED:
	case PEVTRACE_FD:
		s->ops->fd(s, NULL, (int64_t)i->number, i->text);
		break;
	case PEVTRACE_MASK:
		s->ops->hex(s, NULL, i->number);
		break;
	case PEVTRACE_ADDRESS:
		s->ops->addr(s, NULL, i->number);
		break;
	case PEVTRACE_CONSTANT:
		s->ops->enumeration(s, NULL, i->reserved[0], i->number);
		break;
	case PEVTRACE_FLAGS:
		s->ops->flags(s, NULL, i->reserved[0], i->number);
		break;
	case PEVTRACE_PACKED:
		s->ops->packed(s, NULL, i->number, parts,
			       (size_t)((const struct sink_part *)i->reserved[1] - parts));
		break;
	case PEVTRACE_WORD:
		s->ops->symbol(s, NULL, i->text);
		break;
	case PEVTRACE_STRING:
		s->ops->string(s, NULL, i->text, i->length, i->truncated);
		break;
	case PEVTRACE_BYTES:
		s->ops->bytes(s, NULL, i->text, i->length, i->truncated);
		break;
	case PEVTRACE_NOTE:
		s->ops->note(s, i->key, i->text);
		break;
	default:
		break;	/* the begin and the end of an object have no text */
	}
}

ssize_t pevtrace_item_text(const struct pevtrace_item *item, char *buf, size_t n)
{
	struct buf out = { 0 };
	struct text_sink t;

	text_sink_init(&t, &out);
	t.sink.max_string = SIZE_MAX;
	t.labels = true;
	visit_write_item(item, &t.sink);
	return copy_out(&out, buf, n);
}
