// SPDX-License-Identifier: LGPL-2.1-or-later
/* Integers, structs and the memory of calls of the other byte order. */
#include "core/abi/swap.h"

#include <byteswap.h>

#include "core/abi/args.h"
#include "core/abi/bpf.h"
#include "core/abi/ioctl.h"
#include "core/abi/tables.h"

uint64_t swap_load(const void *bytes, size_t width)
{
	return bswap_64(load_uint(bytes, width)) >> (64 - 8 * width);
}

void swap_words(uint8_t *bytes, size_t len, size_t width)
{
	for (; len >= width; bytes += width, len -= width)
		store_uint(bytes, width, swap_load(bytes, width));
}

/*
 * Return the integer that has the bit-fields of the n members at their places in this byte
 * order.  Reserved bits are moved one by one: most new members are single bits.
 */
static uint64_t move_bits(const struct field *f, size_t n, uint64_t v)
{
	uint64_t out = 0;

	for (unsigned int bit = 0; bit < 8u * f->width; bit++)
		out = out << 1 | (v >> bit & 1);
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

_Static_assert(CALL_MAX_CAPTURES <= 64, "a bit for each capture");

/* Return the next capture of the phase at addr that is not converted yet, or NULL. */
static uint8_t *swap_next(struct swapping *s, uint64_t addr, size_t *len)
{
	struct call *c = s->c;

	for (size_t i = 0; i < c->ncaptures; i++) {
		const struct capture *k = &c->captures[i];

		if (!k->len || k->addr != addr || k->phase != s->phase || s->done >> i & 1)
			continue;
		s->done |= 1ULL << i;
		*len = k->len;
		return (uint8_t *)c->pool.data + k->at;
	}
	return NULL;
}

void swap_words_at(struct swapping *s, uint64_t addr, size_t width)
{
	uint8_t *p;
	size_t len;

	while ((p = swap_next(s, addr, &len)))
		swap_words(p, len, width);
}

/* Convert an array of structs; 0 as size: there is only one. */
static void swap_structs_at(struct swapping *s, uint64_t addr, const struct layout *l, size_t size)
{
	uint8_t *p;
	size_t len;

	while ((p = swap_next(s, addr, &len))) {
		for (; size && len > size; p += size, len -= size)
			swap_layout(l, p, 0, size);
		swap_layout(l, p, 0, len);
	}
}

void arg_swap_attr(struct swapping *s, uint64_t addr)
{
	const struct layout *l = &layout_perf_event_attr;
	unsigned int size = l->fields[ATTR_SIZE].offset;
	uint8_t *p;
	size_t len;

	swap_structs_at(s, addr, l, 0);
	/* what the kernel wrote with E2BIG */
	while (s->phase == AT_SYSCALL_EXIT && (p = swap_next(s, addr + size, &len)))
		swap_layout(l, p, size, len);
}

/* 32 bits of events, and data at the end. */
void arg_swap_epoll(struct swapping *s, uint64_t addr)
{
	size_t len, size = s->c->arch->epoll_size;
	uint8_t *p;

	while ((p = swap_next(s, addr, &len))) {
		for (; size && len >= size; p += size, len -= size) {
			swap_words(p, 4, 4);
			swap_words(p + size - 8, 8, 8);
		}
	}
}

/* Return whether the call read counts from an event. */
static bool swap_reads_counts(const struct swapping *s)
{
	const struct names *n = s->names;

	return s->phase == AT_SYSCALL_EXIT && n && n->read_format &&
	       n->read_format(n, s->c, call_int(s->c, 0)) != NAMES_NO_EVENT;
}

/* Convert counts in several buffers, which may part a count. */
void arg_swap_read_iov(struct swapping *s, uint64_t addr)
{
	uint32_t count = (uint32_t)s->c->args[s->i + 1];
	size_t word = s->c->arch->word, len, vector_len, have = 0;
	const uint8_t *v;
	uint8_t *at[8], *p;

	if (s->phase == AT_SYSCALL_ENTER) {
		swap_words_at(s, addr, word);
		return;
	}
	if (!swap_reads_counts(s))
		return;
	for (uint64_t i = 0; i < count; i++) {
		v = call_bytes(s->c, AT_SYSCALL_ENTER, addr + 2 * i * word, word, &vector_len);
		if (!v || vector_len < word)
			break;
		p = swap_next(s, load_uint(v, word), &len);
		for (size_t k = 0; p && k < len; k++) {
			at[have++] = p + k;
			if (have < 8)
				continue;
			for (have = 0; have < 4; have++) {
				uint8_t byte = *at[have];

				*at[have] = *at[7 - have];
				*at[7 - have] = byte;
			}
			have = 0;
		}
	}
}

void arg_swap_clone_args(struct swapping *s, uint64_t addr)
{
	const struct layout *l = &layout_clone_args;
	const uint8_t *p;
	size_t len;

	swap_structs_at(s, addr, l, 0);
	p = call_bytes(s->c, s->phase, addr, SIZE_MAX, &len);
	if (p)
		swap_words_at(s, layout_get(l, CLONE_ARGS_SET_TID, p, len), 4);
}

/* Convert a struct msghdr, whose members of 32 bits are not decoded. */
void arg_swap_msghdr(struct swapping *s, uint64_t addr)
{
	size_t word = s->c->arch->word, left = 0;
	const uint8_t *head;
	uint8_t *p;

	swap_words_at(s, addr, word);
	head = call_bytes(s->c, s->phase, addr, SIZE_MAX, &left);
	p = head && left >= 5 * word ? swap_next(s, load_uint(head + 4 * word, word), &left) : NULL;
	/* the control messages {length, level, type, descriptors} */
	while (p && left >= word + 8) {
		uint64_t len = swap_load(p, word), step;

		swap_words(p, word, word);
		if (len > left)
			len = left;
		if (len > word)
			swap_words(p + word, (size_t)len - word, 4);
		step = (len + word - 1) / word * word;
		if (!step || step >= left)
			break;
		p += step;
		left -= (size_t)step;
	}
}

void arg_swap_sigset_pair(struct swapping *s, uint64_t addr)
{
	size_t word = s->c->arch->word, len;
	const uint8_t *p;

	swap_words_at(s, addr, word);
	p = call_bytes(s->c, s->phase, addr, word, &len);
	if (p && len == word)
		swap_words_at(s, load_uint(p, word), word);
}

void arg_swap_ioctl(struct swapping *s, uint64_t addr)
{
	const struct ioctl_desc *d = ioctl_of(s->c);

	if (!d || d->dir == IOCTL_VALUE || d->arg == IOCTL_ARG_STRING)
		return;
	if (d->arg == IOCTL_ARG_ATTR)
		arg_swap_attr(s, addr);
	else
		swap_words_at(s, addr, d->arg == IOCTL_ARG_QUERY_BPF ? 4 : 8);
}

void arg_swap_bpf_attr(struct swapping *s, uint64_t addr)
{
	const struct bpf_part *part = bpf_part_of((uint32_t)s->c->args[0]);

	if (part)
		swap_structs_at(s, addr, part->layout, 0);
}

void arg_swap_pollfds(struct swapping *s, uint64_t addr)
{
	swap_structs_at(s, addr, &layout_pollfd, layout_pollfd.size);
}

void arg_swap_read_buf(struct swapping *s, uint64_t addr)
{
	if (swap_reads_counts(s))
		swap_words_at(s, addr, 8);
}
