// SPDX-License-Identifier: LGPL-2.1-or-later

#include <string.h>

#include "core/abi/tables.h"

uint64_t load_uint(const void *bytes, size_t width)
{
	uint64_t v = 0;
	uint16_t u16;
	uint32_t u32;

	switch (width) {
	case 1:
		return *(const uint8_t *)bytes;
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

unsigned int field_shift(const struct field *f, bool big_endian)
{
	if (f->word)
		return 8u * f->offset + f->bit;
	/* big-endian bit-fields start at the other end of their integer */
	return big_endian && f->nbits ? 8u * f->width - f->bit - f->nbits : f->bit;
}

uint64_t field_get(const struct field *f, const void *bytes, size_t len)
{
	size_t at = f->word ? 0 : f->offset, width = f->word ? 8 : f->width;
	unsigned int bits = f->nbits ? f->nbits : 8u * f->width;
	uint8_t room[8] = { 0 };
	const uint8_t *p;
	uint64_t v;

	if (at >= len)
		return 0;
	p = (const uint8_t *)bytes + at;
	if (len - at < width)
		p = memcpy(room, p, len - at);
	v = load_uint(p, width) >> field_shift(f, BIG_ENDIAN_HERE);
	return bits == 64 ? v : v & ((1ULL << bits) - 1);
}

void store_uint(uint8_t *p, size_t width, uint64_t v)
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
		if (BIG_ENDIAN_HERE)
			shift = 8u * f->width - first - n;
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
	/* a member of a union that does not apply has no value */
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

const struct field *layout_next(const struct walk *w, size_t *at)
{
	while (*at < w->layout->n) {
		const struct field *first = &w->layout->fields[*at];
		const struct field *picked = NULL;

		for (; *at < w->layout->n; ++*at) {
			const struct field *f = &w->layout->fields[*at];

			if (f->offset != first->offset || f->width != first->width ||
			    f->bit != first->bit || f->nbits != first->nbits)
				break;
			if (!picked && (f->when.op == COND_NONE || cond_holds(w, &f->when)))
				picked = f;
		}
		if (picked && picked->offset < w->len)
			return picked;
	}
	return NULL;
}

const struct field *layout_next_change(const struct walk *w, const uint8_t *other, size_t len,
				       size_t *at)
{
	const struct field *f;

	while ((f = layout_next(w, at)) && field_get(f, w->bytes, w->len) == field_get(f, other, len))
		;
	return f;
}

const struct field *attr_member(const char *name, size_t len)
{
	const struct layout *l = &layout_perf_event_attr;

	for (size_t i = 0; i < l->n; i++)
		if (strlen(l->fields[i].name) == len && !memcmp(l->fields[i].name, name, len))
			return &l->fields[i];
	return NULL;
}

void attr_get_configs(const uint8_t *attr, size_t len, uint64_t *configs)
{
	for (size_t i = 0; i < ATTR_CONFIGS; i++)
		configs[i] = layout_get(&layout_perf_event_attr, attr_configs[i], attr, len);
}

const struct xlat *attr_config_values(uint64_t type)
{
	return type == PERF_TYPE_HARDWARE ? &xlat_perf_hw_id :
	       type == PERF_TYPE_SOFTWARE ? &xlat_perf_sw_ids : NULL;
}
