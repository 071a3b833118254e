// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A look into a ring: a page and data that are made of the bytes, right before a
 * page that cannot be read.  While it is copied from, the writer goes on.
 *
 *	1 byte	pages of data, as a power of two; 4: backward, 8: overwrite, 16: the
 *		first page's data_offset and data_size are bytes, too
 *	8	where we are; 8 data_head; 8 data_tail; 8 data_head later
 *	the rest of it: data, over and over
 */
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/rings/ring.h"
#include "fuzz.h"

static uint8_t *map;		/* of the most that there can be */
static size_t page;

struct look {
	uint64_t later;
	uint8_t *first;
	uint64_t bytes;
};

static void set(uint8_t *first, unsigned int index, uint64_t v)
{
	field_set(&layout_perf_event_mmap_page.fields[index], v, first);
}

static bool settle(void *ctx, const uint64_t *head)
{
	struct look *l = ctx;

	(void)head;
	set(l->first, PERF_EVENT_MMAP_PAGE_DATA_HEAD, l->later);
	return l->later & 1;
}

static void take_record(void *ctx, const uint8_t *bytes, size_t len)
{
	struct look *l = ctx;
	uint16_t size;

	memcpy(&size, bytes + 6, 2);
	if (len < 8 || len % 8 || size != len)
		fuzz_wrong("not whole", "a record");
	l->bytes += len;
}

static void look(struct ring_image *ring, struct ring_seen *seen, struct look *l)
{
	struct ring_result result;
	uint64_t before = seen->started ? seen->position : 0;

	l->bytes = 0;
	if (ring_walk(ring, seen, &result, take_record, l))
		return;
	if (result.bytes != l->bytes)
		fuzz_wrong("counted wrong", "bytes");
	if (!result.restarted && !result.torn &&
	    result.bytes + result.missed != seen->position - before)
		fuzz_wrong("bytes + missed is not how far it went", "a look");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct ring_seen seen = { 0 };
	struct ring_image ring = { .settle = settle };
	struct look l;
	uint8_t how;
	size_t size;

	if (!map) {
		page = (size_t)sysconf(_SC_PAGESIZE);
		map = mmap(NULL, 10 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (map == MAP_FAILED || mprotect(map + 9 * page, page, PROT_NONE))
			abort();
	}
	fuzz_take(&data, &len, &how, 1);
	size = page << (how & 3);
	l.first = map + 8 * page - size;
	ring.bytes = l.first;
	ring.length = page + size;
	ring.backward = how & 4;
	ring.overwrite = how & 8;
	ring.settle_ctx = &l;
	memset(l.first, 0, page);
	set(l.first, PERF_EVENT_MMAP_PAGE_DATA_OFFSET, page);
	set(l.first, PERF_EVENT_MMAP_PAGE_DATA_SIZE, size);
	seen.position = fuzz_word(&data, &len) & ~7ULL; /* looks leave it so */
	seen.started = seen.position;
	set(l.first, PERF_EVENT_MMAP_PAGE_DATA_HEAD, fuzz_word(&data, &len));
	set(l.first, PERF_EVENT_MMAP_PAGE_DATA_TAIL, fuzz_word(&data, &len));
	l.later = fuzz_word(&data, &len);
	if (how & 16) {
		set(l.first, PERF_EVENT_MMAP_PAGE_DATA_OFFSET, fuzz_word(&data, &len));
		set(l.first, PERF_EVENT_MMAP_PAGE_DATA_SIZE, fuzz_word(&data, &len));
	}
	for (size_t at = 0; at < size; at += len ? len : size) {
		size_t n = len && len < size - at ? len : size - at;

		if (len)
			memcpy(l.first + page + at, data, n);
		else
			memset(l.first + page + at, 0, n);
	}
	look(&ring, &seen, &l);
	look(&ring, &seen, &l);
	return 0;
}
