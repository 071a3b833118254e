// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/report/views.h"

#include "core/abi/layout.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

void *views_move_pending(struct map *by_tid, pid_t former, pid_t tid)
{
	void *moved = former == tid ? NULL : map_del(by_tid, (uint64_t)former);

	return moved ? map_set(by_tid, (uint64_t)tid, moved) : NULL;
}

bool views_ring_fill(const struct activity_look *l, uint64_t *bytes)
{
	const struct layout *page = &layout_perf_event_mmap_page;
	uint64_t head, tail;

	if (!l->page_len || l->ring->overwrite)
		return false;
	head = layout_get(page, PERF_EVENT_MMAP_PAGE_DATA_HEAD, l->page, l->page_len);
	tail = layout_get(page, PERF_EVENT_MMAP_PAGE_DATA_TAIL, l->page, l->page_len);
	*bytes = head > tail ? head - tail : 0;
	return true;
}
