// SPDX-License-Identifier: LGPL-2.1-or-later
#include "public/visit.h"

#include <errno.h>
#include <string.h>

#include "formats/text/text.h"
#include "public/copy_out.h"

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

static void visit_value(struct sink *s, const char *key, const struct value *v)
{
	static const enum pevtrace_kind kinds[] = {
		[VALUE_UINT] = PEVTRACE_UNSIGNED, [VALUE_SINT] = PEVTRACE_SIGNED,
		[VALUE_HEX] = PEVTRACE_MASK, [VALUE_ADDR] = PEVTRACE_ADDRESS,
		[VALUE_ENUM] = PEVTRACE_CONSTANT, [VALUE_FLAGS] = PEVTRACE_FLAGS,
		[VALUE_PACKED] = PEVTRACE_PACKED, [VALUE_SYMBOL] = PEVTRACE_WORD,
		[VALUE_STRING] = PEVTRACE_STRING, [VALUE_BYTES] = PEVTRACE_BYTES,
		[VALUE_FD] = PEVTRACE_FD,
	};
	struct pevtrace_item item = {
		.number = v->number, .text = v->text, .length = v->len, .truncated = v->cut,
		.reserved = { v->xlat },
	};

	if (v->kind == VALUE_ENUM && (item.text = xlat_name(v->xlat, v->number)))
		item.length = strlen(item.text);
	if (v->kind == VALUE_PACKED) {
		item.reserved[0] = v->parts;
		item.reserved[1] = v->parts + v->len;
		item.length = 0;
	}
	visit_pass(s, kinds[v->kind], key, item);
}

static void visit_note(struct sink *s, const char *key, const char *text)
{
	visit_pass(s, PEVTRACE_NOTE, key, (struct pevtrace_item){
		.text = text, .length = strlen(text),
	});
}

static const struct sink_ops visit_ops = {
	.begin = visit_begin, .end = visit_end, .value = visit_value, .note = visit_note,
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
		sink_uint(s, NULL, i->number);
		break;
	case PEVTRACE_SIGNED:
	case PEVTRACE_FD:
		sink_fd(s, NULL, (int64_t)i->number, i->text);
		break;
	case PEVTRACE_MASK:
		sink_hex(s, NULL, i->number);
		break;
	case PEVTRACE_ADDRESS:
		sink_addr(s, NULL, i->number);
		break;
	case PEVTRACE_CONSTANT:
		sink_enum(s, NULL, i->reserved[0], i->number);
		break;
	case PEVTRACE_FLAGS:
		sink_flags(s, NULL, i->reserved[0], i->number);
		break;
	case PEVTRACE_PACKED:
		sink_packed(s, NULL, i->number, parts,
			    (size_t)((const struct sink_part *)i->reserved[1] - parts));
		break;
	case PEVTRACE_WORD:
		sink_symbol(s, NULL, i->text);
		break;
	case PEVTRACE_STRING:
		sink_string(s, NULL, i->text, i->length, i->truncated);
		break;
	case PEVTRACE_BYTES:
		sink_bytes(s, NULL, i->text, i->length, i->truncated);
		break;
	case PEVTRACE_NOTE:
		sink_note(s, i->key, i->text);
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
