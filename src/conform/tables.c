// SPDX-License-Identifier: LGPL-2.1-or-later

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/pseudo.h"
#include "core/abi/layout.h"
#include "core/abi/read_format.h"
#include "core/abi/record_walk.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum { RECORD_BYTES = 256, READ_BYTES = 64 };

/* Names ----------------------------------------------------------------------------------- */

static struct api_name *add_table_name(struct api_desc *out, const char *name, uint64_t value,
				       uint32_t since, const char *set, const char *header)
{
	struct api_name *n = api_desc_add_name(out, name, set);

	n->valued = true;
	n->value = value;
	n->since = since;
	n->file = xstrdup(header);
	return n;
}

/* Structures ------------------------------------------------------------------------------ */

/* Return the sign of a field, as far as its kind decides it. */
static enum api_sign field_sign(const struct field *f)
{
	switch (f->kind) {
	case FIELD_SINT:
		return SIGN_SIGNED;
	case FIELD_UINT:
	case FIELD_HEX:
	case FIELD_BOOL:
	case FIELD_FLAGS:
	case FIELD_ADDR:
	case FIELD_REGS:
	case FIELD_SIZE:
		return SIGN_UNSIGNED;
	default:
		return SIGN_UNKNOWN;
	}
}

static void add_layout_fields(struct api_struct *st, const struct layout *l, uint32_t base)
{
	for_each(f, l->fields, l->n) {
		struct api_member *m;

		/* a layout may have it twice, under two conditions */
		if (api_member(st, f->name))
			continue;
		m = api_desc_add_member(st, f->name);
		m->start = base + 8u * f->offset + f->bit;
		m->bits = f->nbits ? f->nbits : 8u * f->width;
		m->placed = true;
		m->bitfield = f->nbits;
		m->reserved = f->kind == FIELD_RESERVED;
		m->sign = field_sign(f);
		m->since = release_mainline(f->since);
	}
}

void tables_read(struct api_desc *out)
{
	*out = (struct api_desc){ .source = FINDING_XLAT, .file = xstrdup("xlat") };
	for (size_t i = 0; xlat_tables[i]; i++) {
		const struct xlat *x = xlat_tables[i];

		if (!x->header || !text_has_item("linux/perf_event.h linux/hw_breakpoint.h "
						 "asm/perf_regs.h", ' ', x->header,
						 strlen(x->header)))
			continue;
		for_each(e, x->entries, x->n) {
			struct api_name *n = add_table_name(out, e->name, e->value, e->since,
							    x->name, x->header);

			n->traits = e->traits;
			n->updated = e->update;
		}
	}
	for (size_t i = 0; i < ioctl_ndescs; i++)
		add_table_name(out, ioctl_descs[i].name, ioctl_descs[i].request,
			       ioctl_descs[i].since, "ioctls", "linux/perf_event.h");
	for (size_t i = 0; layouts[i]; i++) {
		const struct layout *l = layouts[i], *more;
		struct api_struct *st;
		char flags[64];
		size_t n;

		/* not a record, part of a file, or part of another layout */
		n = strlen(l->name);
		if (strncmp(l->name, "perf_", 5) || !strncmp(l->name, "perf_record_", 12) ||
		    !strncmp(l->name, "perf_file_", 10) ||
		    (n >= 6 && !strcmp(l->name + n - 6, "_flags")))
			continue;
		st = api_desc_add_struct(out, l->btf ? l->btf : l->name);
		add_layout_fields(st, l, 0);
		/* layout X_flags is the word of bits at the end of X */
		snprintf(flags, sizeof(flags), "%s_flags", l->name);
		more = layout_by_name(flags);
		if (more)
			add_layout_fields(st, more, 8 * l->size);
	}
	for (size_t i = 0; xlat_tables[i]; i++)
		for (size_t j = 0; j < xlat_tables[i]->n; j++)
			if (xlat_tables[i]->entries[j].since > out->release)
				out->release = xlat_tables[i]->entries[j].since;
}

const char *tables_pair(const struct pair_desc *list, const char *name)
{
	for (; list->name; list++)
		if (!strcmp(list->name, name))
			return list->text;
	return NULL;
}

struct release_text tables_release(uint32_t since)
{
	struct release_text r;

	since = release_mainline(since);
	if (since & 0xff)
		snprintf(r.text, sizeof(r.text), "%u.%u.%u", since >> 16 & 255, since >> 8 & 255,
			 since & 255);
	else
		snprintf(r.text, sizeof(r.text), "%u.%u", since >> 16 & 255, since >> 8 & 255);
	return r;
}

/* Keys from decoders --------------------------------------------------------------------- */

/* A sink for the keys of an object, in order; deep: including those of inner objects. */
struct keys {
	struct sink sink;
	struct buf all;		/* each NUL-terminated */
	unsigned int depth;
	bool deep;
};

static void keys_add(struct sink *s, const char *name)
{
	struct keys *k = (struct keys *)s;

	if (name && (k->deep ? k->depth : k->depth == 1))
		buf_add(&k->all, name, strlen(name) + 1);
}

static void key_end(struct sink *s)
{
	((struct keys *)s)->depth--;
}

static void key_begin(struct sink *s, const char *name, enum sink_shape shape)
{
	struct keys *k = (struct keys *)s;

	(void)shape;
	if (!k->deep)
		keys_add(s, name);
	k->depth++;
}

/* The functions of a sink for values, which all begin with the key. */
static void key_value(struct sink *s, const char *name, const struct value *v)
{
	if (v->kind != VALUE_PACKED && v->kind != VALUE_FD)
		keys_add(s, name);
}

static void keys_init(struct keys *k, struct sink_ops *ops, bool deep)
{
	*ops = sink_null_ops;
	ops->begin = key_begin;
	ops->end = key_end;
	ops->value = key_value;
	*k = (struct keys){ .sink = { .ops = ops, .full = true, .max_string = 64 }, .deep = deep };
}

static const char *next_key(const struct keys *k, const char *at)
{
	at = at ? at + strlen(at) + 1 : k->all.data;
	return at && at < k->all.data + k->all.len ? at : NULL;
}

/* Records --------------------------------------------------------------------------------- */

/* Add the members of a variable part, if it is one. */
static void add_record_part(struct api_struct *st, const char *name)
{
	const char *members = tables_pair(part_descs, name);

	if (members)
		pseudo_members(members, 0, st);
}

/* Make the members from first on depend on bits. */
static void add_conditions(struct api_struct *st, size_t first, const struct xlat *x, uint64_t bits)
{
	for (size_t i = first; i < st->n; i++) {
		const struct xlat_entry *e;
		struct api_member *m = &st->members[i];
		struct buf when = { 0 };
		uint64_t rest = bits;
		size_t at = 0;

		m->placed = false;
		if (m->when)
			buf_adds(&when, m->when);
		while ((e = xlat_next_flag(x, &rest, &at)))
			buf_addf(&when, "%s%s", when.len ? " " : "", e->name);
		free(m->when);
		m->when = when.data;
	}
}

/* Add the parts of a sample.  Parts may share names of members, but not conditions. */
static void add_slots(struct api_struct *st, const struct slot *slots)
{
	for (; slots->bits; slots++) {
		size_t first = st->n;
		struct api_struct part = { .name = NULL };

		/* with a key, the layout is an object of the decoder: one member of the page */
		if (slots->layout && !slots->key)
			add_layout_fields(&part, slots->layout, 0);
		else
			add_record_part(&part, slots->key);
		for (size_t i = 0; i < part.n; i++) {
			struct api_member *m = api_desc_add_member(st, part.members[i].name);

			free(m->name);
			*m = part.members[i];
		}
		free(part.members);
		add_conditions(st, first, &xlat_perf_event_sample_format, slots->bits);
	}
}

/* Insert the members of a part after an index, and after reserved members there. */
static void insert_part(struct api_struct *out, const char *name, size_t after)
{
	struct api_struct part = { .name = NULL };

	while (after + 1 < out->n && out->members[after + 1].reserved)
		after++;
	add_record_part(&part, name);
	for (size_t i = 0; i < part.n; i++) {
		struct api_member *m = api_desc_add_member(out, "");

		free(m->name);
		after++;
		m = &out->members[after];
		memmove(m + 1, m, (out->n - 1 - after) * sizeof(*m));
		*m = part.members[i];
		m->placed = false;
	}
	free(part.members);
}

/* Add the parts that the decoder finds in a record with that misc, besides the layouts. */
static void add_decoded(uint32_t type, uint64_t misc, struct api_struct *out)
{
	const struct record_format format = { .sample_id_all = true,
					      .sample_type = PERF_SAMPLE_TIME };
	const struct field *f = layout_perf_event_header.fields;
	const uint64_t header[] = { type, misc, RECORD_BYTES };
	uint8_t bytes[RECORD_BYTES] = { 0 };
	struct sink_ops ops;
	struct keys k;
	size_t last = 0;

	keys_init(&k, &ops, false);
	for (size_t i = 0; i < layout_perf_event_header.n; i++)
		field_set(&f[i], header[i], bytes);
	record_emit(bytes, sizeof(bytes), &format, NULL, &k.sink, NULL);
	for (const char *s = next_key(&k, NULL); s; s = next_key(&k, s)) {
		const struct api_member *m = api_member(out, s);
		size_t before = out->n;

		if (m) {
			last = (size_t)(m - out->members);
			continue;
		}
		insert_part(out, s, last);
		last += out->n - before;
	}
	buf_free(&k.all);
}

void tables_record(uint32_t type, struct api_struct *out)
{
	const struct layout *head = record_layout(type);
	const struct xlat *misc = record_misc_flags(type);
	const char *name = xlat_name(&xlat_perf_event_type, type);
	struct api_member *m;
	char own[64];
	size_t n;

	*out = (struct api_struct){ .name = xstrdup("") };
	m = api_desc_add_member(out, "header");
	m->type = xstrdup("struct perf_event_header");
	m->bits = 8 * layout_perf_event_header.size;
	m->placed = true;
	if (type == PERF_RECORD_SAMPLE) {
		add_slots(out, sample_slots);
		return;
	}
	if (head)
		add_layout_fields(out, head, 0);
	/* the layouts of this type only: perf_record_NAME, perf_record_NAME_... */
	snprintf(own, sizeof(own), "perf_record_%s", name ? name + strlen("PERF_RECORD_") : "");
	for (char *s = own; *s; s++)
		*s = (char)tolower((unsigned char)*s);
	n = strlen(own);
	for (size_t i = 0; name && layouts[i]; i++) {
		bool other = layouts[i] == head; /* another type begins with it */

		for (uint32_t t = 0; t < PERF_RECORD_MAX; t++)
			other |= record_layout(t) == layouts[i];
		if (!other && !strncmp(layouts[i]->name, own, n) &&
		    (!layouts[i]->name[n] || layouts[i]->name[n] == '_'))
			add_layout_fields(out, layouts[i], 0);
	}
	add_decoded(type, 0, out);
	/* a bit of misc may select another layout */
	for (size_t i = 0; misc && i < misc->n; i++)
		add_decoded(type, misc->entries[i].value, out);
}

void tables_sample_id(struct api_struct *out)
{
	*out = (struct api_struct){ .name = xstrdup("sample_id") };
	add_slots(out, sample_id_slots);
}

/* read() --------------------------------------------------------------------------------- */

static void read_keys(uint64_t format, struct keys *k, struct sink_ops *ops)
{
	uint8_t bytes[READ_BYTES];

	keys_init(k, ops, true);
	/* a group of one event */
	memset(bytes, 0, sizeof(bytes));
	bytes[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 7 : 0] = 1;
	read_format_emit(bytes, sizeof(bytes), format, "values", NULL, &k->sink);
}

void tables_read_format(bool group, struct api_struct *out)
{
	uint64_t as = group ? PERF_FORMAT_GROUP : 0;
	struct sink_ops ops;
	struct keys k;

	*out = (struct api_struct){ .name = xstrdup("read_format") };
	read_keys(as | ((PERF_FORMAT_MAX - 1) & ~(uint64_t)PERF_FORMAT_GROUP), &k, &ops);
	for (const char *s = next_key(&k, NULL); s; s = next_key(&k, s)) {
		uint64_t bit = 0, next;
		bool found = false;

		if (!strcmp(s, "rest") || api_member(out, s))
			continue;
		/* find the read_format that adds the key, or 0 */
		for (next = 0; next < PERF_FORMAT_MAX && !found; next = next ? next << 1 : 1) {
			struct sink_ops one_ops;
			struct keys one;

			if (next == PERF_FORMAT_GROUP)
				continue;
			read_keys(as | next, &one, &one_ops);
			for (const char *o = next_key(&one, NULL); o; o = next_key(&one, o))
				found |= !strcmp(o, s);
			buf_free(&one.all);
			bit = found ? next : 0;
		}
		api_desc_add_member(out, s)->bits = 64;
		if (bit)
			add_conditions(out, out->n - 1, &xlat_perf_event_read_format, bit);
	}
	buf_free(&k.all);
}
