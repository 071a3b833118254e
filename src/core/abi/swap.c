// SPDX-License-Identifier: LGPL-2.1-or-later
/* Integers and structs of the other byte order. */
#include "core/abi/swap.h"

#include <byteswap.h>

#include "core/abi/layout.h"

uint64_t swap_load(const void *bytes, size_t width)
{
	return bswap_64(load_uint(bytes, width)) >> (64 - 8 * width);
}

void swap_words(uint8_t *bytes, size_t len, size_t width)
{
	for (; len >= width; bytes += width, len -= width)
		store_uint(bytes, width, swap_load(bytes, width));
}

static uint64_t reversed(uint64_t v, unsigned int bits)
{
	uint64_t out = 0;

	for (; bits; bits--, v >>= 1)
		out = out << 1 | (v & 1);
	return out;
}

/*
 * Return the integer that has the bit-fields of the n members at their places in this byte
 * order.  Reserved bits are moved one by one: most new members are single bits.
 */
static uint64_t move_bits(const struct field *f, size_t n, uint64_t v)
{
	uint64_t out = reversed(v, 8u * f->width);

	for (; n; n--, f++) {
		unsigned int to = field_shift(f, BIG_ENDIAN_HERE);
		uint64_t mask = f->nbits == 64 ? ~0ULL : (1ULL << f->nbits) - 1;

		if (f->kind == FIELD_RESERVED || f->nbits < 2)
			continue;
		out &= ~(mask << to);
		out |= (v >> field_shift(f, !BIG_ENDIAN_HERE) & mask) << to;
	}
	return out;
}

void swap_layout(const struct layout *l, uint8_t *bytes, size_t from, size_t len)
{
	if (l->n && l->fields[0].word) {
		swap_words(bytes, len, 8);
		return;
	}
	for (size_t i = 0, n; i < l->n; i += n) {
		const struct field *f = &l->fields[i];
		bool bits = false;
		uint64_t v;

		/* members of a union, or bits of one integer */
		for (n = 0; i + n < l->n && f[n].offset == f->offset; n++)
			bits |= f[n].nbits;
		if (f->offset < from || f->offset - from + f->width > len)
			continue;
		v = swap_load(bytes + (f->offset - from), f->width);
		store_uint(bytes + (f->offset - from), f->width, bits ? move_bits(f, n, v) : v);
	}
}
