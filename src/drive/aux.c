// SPDX-License-Identifier: LGPL-2.1-or-later
#include "drive/aux.h"

#include "abi/layout.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Return the address of a member of the user page. */
static uint64_t *aux_member(const struct aux_area *a, unsigned int index)
{
	return (uint64_t *)((uint8_t *)a->page +
			    layout_perf_event_mmap_page.fields[index].offset);
}

/* Load the head.  Acquire: data written before it was published is visible afterwards. */
static uint64_t aux_load_head(const struct aux_area *a)
{
	return __atomic_load_n(aux_member(a, PERF_EVENT_MMAP_PAGE_AUX_HEAD), __ATOMIC_ACQUIRE);
}

static void aux_pass(const struct aux_area *a, uint64_t from, uint64_t to,
		     struct aux_result *out, aux_piece_fn *piece, void *ctx)
{
	while (from != to) {
		uint64_t at = from & (a->size - 1), n = a->size - at;

		if (n > to - from)
			n = to - from;
		out->bytes += n;
		if (piece)
			piece(ctx, a->bytes + at, n, from);
		from += n;
	}
}

void aux_look(struct aux_area *a, struct aux_result *out, aux_piece_fn *piece, void *ctx)
{
	uint64_t head, from = a->seen;

	*out = (struct aux_result){ 0 };
	if (!a->bytes || a->snapshot)
		return;
	head = aux_load_head(a);
	if (head < from) {
		out->odd_head = true;
		from = head;
	}
	if (head - from > a->size) {
		out->missed = head - from - a->size;
		from = head - a->size;
	}
	aux_pass(a, from, head, out, piece, ctx);
	a->seen = head;
	/* release: all data is read before the PMU sees that it may overwrite it */
	__atomic_store_n(aux_member(a, PERF_EVENT_MMAP_PAGE_AUX_TAIL), head, __ATOMIC_RELEASE);
}

/* In a snapshot, some PMUs let aux_head grow, others reset it to 0 when they wrap around. */
void aux_snapshot(const struct aux_area *a, struct aux_result *out, aux_piece_fn *piece,
		  void *ctx)
{
	uint64_t head, at, first;

	*out = (struct aux_result){ 0 };
	if (!a->bytes)
		return;
	head = aux_load_head(a);
	at = head & (a->size - 1);
	first = at;
	while (first < a->size && !a->bytes[first])
		first++;
	if (first < a->size)
		aux_pass(a, at, a->size, out, piece, ctx);
	aux_pass(a, 0, at, out, piece, ctx);
}

int aux_map(struct aux_area *a, struct own_calls *calls, int fd, void *page, size_t ring_len,
	    size_t size, bool snapshot)
{
	int error = 0;

	*a = (struct aux_area){ .page = page, .size = size, .snapshot = snapshot };
	/* the offset at which the AUX area is mapped: after the ring buffer */
	*aux_member(a, PERF_EVENT_MMAP_PAGE_AUX_OFFSET) = ring_len;
	*aux_member(a, PERF_EVENT_MMAP_PAGE_AUX_SIZE) = size;
	a->bytes = own_call_map_at(calls, fd, size, ring_len, !snapshot, &error);
	return error;
}
