// SPDX-License-Identifier: LGPL-2.1-or-later
#include "abi/layout.h"

#include <stdio.h>
#include <string.h>

#include "abi/attr.h"
#include "abi/config.h"
#include "abi/strings.h"

uint64_t load_uint(const void *bytes, size_t width)
{
	uint64_t v = 0;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;

	switch (width) {
	case 1:
		memcpy(&u8, bytes, sizeof(u8));
		return u8;
	case 2:
		memcpy(&u16, bytes, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, bytes, sizeof(u32));
		return u32;
	case 8:
		memcpy(&v, bytes, sizeof(v));
		return v;
	}
	return 0;
}

uint64_t field_get(const struct field *f, const void *bytes, size_t len)
{
	uint8_t room[8] = { 0 };
	size_t have;
	uint64_t v;

	if (f->offset >= len)
		return 0;
	have = len - f->offset;
	memcpy(room, (const uint8_t *)bytes + f->offset,
	       have < f->width ? have : f->width);
	v = load_uint(room, f->width);
	if (!f->nbits)
		return v;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	/* bit-fields start at the other end of their integer there */
	v >>= 8 * f->width - f->bit - f->nbits;
#else
	v >>= f->bit;
#endif
	return f->nbits == 64 ? v : v & ((1ULL << f->nbits) - 1);
}

static void store_uint(uint8_t *p, size_t width, uint64_t v)
{
	uint8_t u8 = (uint8_t)v;
	uint16_t u16 = (uint16_t)v;
	uint32_t u32 = (uint32_t)v;

	memcpy(p, width == 1 ? &u8 : width == 2 ? (const void *)&u16 :
	       width == 4 ? (const void *)&u32 : (const void *)&v, width);
}

void field_set_bits(const struct field *f, unsigned int first, unsigned int n,
		    uint64_t v, uint8_t *bytes)
{
	uint64_t mask = n == 64 ? ~0ULL : (1ULL << n) - 1;
	unsigned int shift = first;

	if (f->nbits) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		shift = 8u * f->width - first - n;
#endif
		v = (v & mask) << shift |
		    (load_uint(bytes + f->offset, f->width) & ~(mask << shift));
	}
	store_uint(bytes + f->offset, f->width, v);
}

bool cond_holds(const struct walk *w, const struct cond *c)
{
	const char *pmu;
	uint64_t v;

	if (c->op == COND_NONE)
		return true;
	/* a member that is not the one in its place has no value */
	if (!cond_holds(w, &w->layout->fields[c->field].when))
		return false;
	v = layout_get(w->layout, c->field, w->bytes, w->len);
	switch (c->op) {
	case COND_EQ:
		return v == c->value;
	case COND_NE:
		return v != c->value;
	case COND_MASK:
		return v & c->value;
	case COND_PMU:
		pmu = w->names && w->names->pmu ?
			w->names->pmu(w->names, (uint32_t)v) : NULL;
		return pmu && !strcmp(pmu, c->pmu);
	default:
		return true;
	}
}

static bool same_place(const struct field *a, const struct field *b)
{
	return a->offset == b->offset && a->width == b->width &&
	       a->bit == b->bit && a->nbits == b->nbits;
}

const struct field *layout_next(const struct walk *w, size_t *at)
{
	while (*at < w->layout->n) {
		const struct field *first = &w->layout->fields[*at];
		const struct field *picked = NULL;

		for (; *at < w->layout->n; ++*at) {
			const struct field *f = &w->layout->fields[*at];

			if (!same_place(f, first))
				break;
			if (!picked && cond_holds(w, &f->when))
				picked = f;
		}
		if (picked && picked->offset < w->len)
			return picked;
	}
	return NULL;
}

static int64_t sign_extend(uint64_t v, const struct field *f)
{
	unsigned int bits = f->nbits ? f->nbits : 8u * f->width;

	return bits == 64 ? (int64_t)v : (int64_t)(v << (64 - bits)) >> (64 - bits);
}

/* A mask of perf registers: the number reads best, the names explain it. */
static void emit_regs(const struct walk *w, const struct field *f, uint64_t v,
		      struct sink *s)
{
	const struct xlat *regs = w->arch ? w->arch->regs : f->xlat;
	const struct xlat_entry *e;
	struct text_line names;
	uint64_t rest = v;
	size_t at = 0;

	s->ops->hex(s, f->name, v);
	if (!v || !regs)
		return;
	text_line_start(&names);
	while ((e = xlat_next_flag(regs, &rest, &at)))
		text_line_join(&names, "|", "%s", e->name + strlen(regs->prefix));
	if (rest)
		text_line_join(&names, "|", "0x%llx", (unsigned long long)rest);
	s->ops->note(s, "registers", names.text);
}

/* A number that a table explains in words. */
static void emit_words(const struct field *f, uint64_t v, struct sink *s)
{
	const struct xlat_entry *e = xlat_find(f->xlat, v);

	s->ops->uint(s, f->name, v);
	if (e)
		s->ops->note(s, "words", e->meaning);
}

static void emit_string(const struct walk *w, const struct field *f,
			uint64_t v, struct sink *s)
{
	if (w->call)
		call_emit_string(w->call, AT_SYSCALL_ENTER, f->name, v, s);
	else
		s->ops->addr(s, f->name, v);
}

static void emit_fd(const struct walk *w, const struct field *f, int64_t fd,
		    struct sink *s)
{
	const char *label = NULL;

	if (w->call && w->names && w->names->fd)
		label = w->names->fd(w->names, w->call, fd);
	s->ops->fd(s, f->name, fd, label);
}

static void emit_value(const struct walk *w, const struct field *f, uint64_t v,
		       struct sink *s)
{
	switch (f->kind) {
	case FIELD_UINT:
	case FIELD_BOOL:
		s->ops->uint(s, f->name, v);
		break;
	case FIELD_SINT:
	case FIELD_PID:
		s->ops->sint(s, f->name, sign_extend(v, f));
		break;
	case FIELD_HEX:
	case FIELD_CONFIGX:
	case FIELD_RESERVED:
		s->ops->hex(s, f->name, v);
		break;
	case FIELD_ADDR:
		s->ops->addr(s, f->name, v);
		break;
	case FIELD_ENUM:
		/* a signed enum such as clockid keeps its sign */
		s->ops->enumeration(s, f->name, f->xlat, v);
		break;
	case FIELD_FLAGS:
		s->ops->flags(s, f->name, f->xlat, v);
		break;
	case FIELD_WORDS:
		emit_words(f, v, s);
		break;
	case FIELD_REGS:
		emit_regs(w, f, v, s);
		break;
	case FIELD_STRING:
		emit_string(w, f, v, s);
		break;
	case FIELD_FD:
		emit_fd(w, f, sign_extend(v, f), s);
		break;
	case FIELD_SIGNAL:
		emit_signal(f->name, (int)v, s);
		break;
	case FIELD_PMU:
		config_emit_type(w, f, (uint32_t)v, s);
		break;
	case FIELD_CONFIG:
		config_emit(w, f, v, s);
		break;
	case FIELD_SIZE:
		attr_emit_size(f, v, s);
		break;
	}
}

void layout_emit_member(const struct walk *w, unsigned int index, struct sink *s)
{
	const struct field *f = &w->layout->fields[index];

	emit_value(w, f, field_get(f, w->bytes, w->len), s);
}

/* "ignored: needs sample_type&PERF_SAMPLE_BRANCH_STACK" */
static void note_ignored(const struct walk *w, const struct field *of, uint64_t v,
			 struct sink *s)
{
	const struct cond *c = &of->needs;
	static const char *const ops[] = {
		[COND_EQ] = "=", [COND_NE] = "!=", [COND_MASK] = "&",
	};
	const struct field *f = &w->layout->fields[c->field];
	const char *name = f->xlat ? xlat_name(f->xlat, c->value) : NULL;

	if (of->kind == FIELD_REGS && w->arch && v & w->arch->regs_extended)
		/* perf_event_open() checks these bits whatever sample_type says */
		s->ops->note(s, "checked", "not ignored: extended registers need "
			     "a PMU that has them");
	else if (c->op == COND_PMU)
		sink_notef(s, "ignored", "ignored: needs the %s PMU", c->pmu);
	else if (name)
		sink_notef(s, "ignored", "ignored: needs %s%s%s", f->name,
			   ops[c->op], name);
	else
		sink_notef(s, "ignored", "ignored: needs %s%s%llu", f->name,
			   ops[c->op], (unsigned long long)c->value);
}

/* It is written in decimal. */
static bool is_number(enum field_kind kind)
{
	return kind == FIELD_UINT || kind == FIELD_BOOL || kind == FIELD_WORDS ||
	       kind == FIELD_SIZE || kind == FIELD_PMU;
}

/* "was PERF_SAMPLE_IP|PERF_SAMPLE_TID" */
static void note_was(const struct walk *w, const struct field *f, struct sink *s)
{
	uint64_t v = field_get(f, w->before, w->before_len);
	const struct xlat_entry *e;
	struct text_line names;
	size_t at = 0;

	text_line_start(&names);
	if (f->kind == FIELD_FLAGS) {
		while ((e = xlat_next_flag(f->xlat, &v, &at)))
			text_line_join(&names, "|", "%s", e->name);
		if (v || !names.len)
			text_line_join(&names, "|", "0x%llx", (unsigned long long)v);
	} else if (f->kind != FIELD_WORDS && f->xlat && xlat_name(f->xlat, v)) {
		text_line_join(&names, "", "%s", xlat_name(f->xlat, v));
	} else if (f->kind == FIELD_STRING) {
		text_line_join(&names, "", "another");
	} else if (f->kind == FIELD_SINT || f->kind == FIELD_ENUM) {
		text_line_join(&names, "", "%lld", (long long)sign_extend(v, f));
	} else {
		text_line_join(&names, "", is_number(f->kind) ? "%llu" : "0x%llx",
			       (unsigned long long)v);
	}
	sink_notef(s, "was", "was %s", names.text);
}

/* It has another value than before. */
static bool changed(const struct walk *w, const struct field *f, uint64_t v)
{
	return w->before && field_get(f, w->before, w->before_len) != v;
}

void layout_emit(const struct walk *w, struct sink *s)
{
	const struct field *f;
	size_t at = 0;

	while ((f = layout_next(w, &at))) {
		uint64_t v = field_get(f, w->bytes, w->len);
		bool marked = changed(w, f, v);

		if (!v && !f->always && !marked &&
		    !(s->full && f->kind != FIELD_RESERVED))
			continue;
		emit_value(w, f, v, s);
		if (marked)
			note_was(w, f, s);
		if (v && !cond_holds(w, &f->needs))
			note_ignored(w, f, v, s);
	}
}
