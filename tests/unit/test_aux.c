// SPDX-License-Identifier: LGPL-2.1-or-later
/* AUX areas: made up in memory, with a writer that does as the kernel does. */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/rings/ring.h"
#include "experiment/stream.h"

enum { SIZE = 4096, PAGE = 4096 };

struct fake {
	struct perf_event_mmap_page *page;
	uint8_t *bytes;		/* of the area; its own memory, so that ASan sees its ends */
	struct aux_area area;
};

/* What byte number n of the stream is. */
static uint8_t byte_of(uint64_t n)
{
	return (uint8_t)(n * 7 + n / SIZE + 1) | 1;
}

static struct fake fake(bool snapshot)
{
	struct fake f = { .page = aligned_alloc(PAGE, PAGE), .bytes = calloc(1, SIZE) };

	assert_true(f.page && f.bytes);
	memset(f.page, 0, PAGE);
	f.area = (struct aux_area){
		.page = f.page, .bytes = f.bytes, .size = SIZE, .snapshot = snapshot,
	};
	return f;
}

static void drop(struct fake *f)
{
	free(f->page);
	free(f->bytes);
}

/* The stream goes on by n bytes, whoever reads. */
static void add(struct fake *f, uint64_t n)
{
	uint64_t head = f->page->aux_head;

	for (uint64_t i = head; i < head + n; i++)
		f->bytes[i % SIZE] = byte_of(i);
	__atomic_store_n(&f->page->aux_head, head + n, __ATOMIC_RELEASE);
}

struct got {
	uint64_t next;		/* position that is to come */
	size_t pieces, bad;
	bool unordered;		/* positions are not looked at */
	uint8_t copy[2 * SIZE];
	size_t len;
};

static void take(void *ctx, const uint8_t *bytes, size_t len, uint64_t position)
{
	struct got *g = ctx;

	g->bad += !g->unordered && position != g->next;
	for (size_t i = 0; i < len; i++)
		g->bad += !g->unordered && bytes[i] != byte_of(position + i);
	for (size_t i = 0; i < len && g->len < sizeof(g->copy); i++)
		g->copy[g->len++] = bytes[i];
	g->next = position + len;
	g->pieces++;
}

static void test_wrap(void **state)
{
	struct fake f = fake(false);
	struct aux_result r;
	uint64_t total = 0;

	(void)state;
	for (uint64_t n = 0; n <= SIZE; n += 61) {
		struct got g = { .next = total };
		bool round = total % SIZE + n > SIZE;

		add(&f, n);
		aux_look(&f.area, &r, take, &g);
		total += n;
		assert_int_equal(r.bytes, n);
		assert_int_equal(r.missed, 0);
		assert_false(r.odd_head);
		assert_int_equal(g.bad, 0);
		assert_int_equal(g.next, total);
		assert_int_equal(g.pieces, n ? 1 + round : 0);
		/* the room is given back */
		assert_int_equal(f.page->aux_tail, total);
	}
	assert_true(total > 30 * SIZE);
	drop(&f);
}

static void test_overrun(void **state)
{
	struct fake f = fake(false);
	struct got g = { .next = 0 };
	struct aux_result r;

	(void)state;
	add(&f, 100);
	aux_look(&f.area, &r, take, &g);
	add(&f, 3 * SIZE + 5);
	g.next = 100 + 2 * SIZE + 5;
	aux_look(&f.area, &r, take, &g);
	assert_int_equal(r.bytes, SIZE);
	assert_int_equal(r.missed, 2 * SIZE + 5);
	assert_int_equal(g.bad, 0);
	assert_int_equal(f.page->aux_tail, 100 + 3 * SIZE + 5);
	drop(&f);
}

/* The page can be written to by its owner: nothing outside of the area is read. */
static void test_hostile(void **state)
{
	static const uint64_t heads[] = {
		0, 1, SIZE - 1, SIZE, SIZE + 1, UINT64_MAX, UINT64_MAX - SIZE, 1ULL << 63,
		(1ULL << 63) - 1, 3,
	};
	struct fake f = fake(false), s = fake(true);
	struct aux_result r;

	(void)state;
	srandom(1);
	memset(s.bytes, 1, SIZE);
	for (size_t i = 0; i < 4096; i++) {
		uint64_t before = f.area.seen, head = heads[i % 10];
		struct got g = { .unordered = true };

		if (i >= 10)
			head = ((uint64_t)random() << 33 ^ (uint64_t)random()) >> random() % 64;
		f.page->aux_head = s.page->aux_head = head;
		aux_look(&f.area, &r, take, &g);
		assert_int_equal(r.odd_head, head < before);
		assert_true(r.bytes <= SIZE && r.bytes == g.len);
		assert_int_equal(r.bytes + r.missed, head < before ? 0 : head - before);
		assert_int_equal(f.area.seen, head);
		g = (struct got){ .unordered = true };
		aux_snapshot(&s.area, &r, take, &g);
		assert_int_equal(r.bytes, SIZE);
	}
	drop(&f);
	drop(&s);
}

static void test_snapshot(void **state)
{
	struct fake f = fake(true);
	struct got g = { .unordered = true };
	struct aux_result r;

	(void)state;
	aux_snapshot(&f.area, &r, take, &g);
	assert_int_equal(r.bytes, 0);
	/* not yet full: what was never written to is left out */
	add(&f, 100);
	aux_look(&f.area, &r, take, &g);
	assert_int_equal(r.bytes + f.page->aux_tail, 0);
	aux_snapshot(&f.area, &r, take, &g);
	assert_int_equal(r.bytes, 100);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(g.copy[i], byte_of(i));
	/* gone round: the oldest first */
	add(&f, 2 * SIZE);
	g.len = 0;
	aux_snapshot(&f.area, &r, take, &g);
	assert_int_equal(r.bytes, SIZE);
	for (size_t i = 0; i < SIZE; i++)
		assert_int_equal(g.copy[i], byte_of(100 + SIZE + i));
	/* a PMU whose head begins anew with each round */
	f.page->aux_head %= SIZE;
	g.len = 0;
	aux_snapshot(&f.area, &r, take, &g);
	assert_int_equal(g.copy[0], byte_of(100 + SIZE));
	assert_int_equal(g.copy[SIZE - 1], byte_of(100 + 2 * SIZE - 1));
	drop(&f);
}

enum { RACE = 4 << 20 };

/* As perf_aux_output_begin() does: what was not taken is not written over. */
static void *writer(void *ctx)
{
	struct fake *f = ctx;

	for (uint64_t head = 0; head < RACE;) {
		uint64_t tail = __atomic_load_n(&f->page->aux_tail, __ATOMIC_ACQUIRE);
		uint64_t n = SIZE - (head - tail);

		if (n > RACE - head)
			n = RACE - head;
		if (n > 777)
			n = 777;
		for (uint64_t i = head; i < head + n; i++)
			f->bytes[i % SIZE] = byte_of(i);
		head += n;
		__atomic_store_n(&f->page->aux_head, head, __ATOMIC_RELEASE);
		if (!n)
			sched_yield();
	}
	return NULL;
}

static void test_race(void **state)
{
	struct fake f = fake(false);
	struct got g = { .next = 0 };
	struct aux_result r;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, writer, &f), 0);
	while (g.next < RACE) {
		aux_look(&f.area, &r, take, &g);
		assert_int_equal(r.missed + r.odd_head + g.bad, 0);
		if (!r.bytes)
			sched_yield();
	}
	pthread_join(thread, NULL);
	assert_int_equal(g.next, RACE);
	drop(&f);
}

static void check_bytes(void *ctx, const uint8_t *bytes, size_t len, uint64_t position)
{
	size_t *bad = ctx;

	for (size_t i = 0; i < len; i++)
		*bad += bytes[i] != byte_of(position + i);
}

/* Reading beside the owner: nothing is consumed, and what may be overwritten is missed. */
static void test_peek(void **state)
{
	struct fake f = fake(false);
	struct got g = { .next = 0 };
	struct aux_result r;

	(void)state;
	aux_peek(&f.area, &r, take, &g);
	assert_int_equal(g.pieces + r.bytes + r.missed, 0);
	add(&f, SIZE - 7);
	aux_peek(&f.area, &r, take, &g);
	assert_int_equal(r.bytes, SIZE - 7);
	f.page->aux_tail = SIZE - 7;
	add(&f, 20);
	aux_peek(&f.area, &r, take, &g);
	assert_int_equal(r.bytes, 20);
	assert_int_equal(g.pieces, 2); /* in one piece, though it wraps around */
	assert_int_equal(f.page->aux_tail, SIZE - 7);
	/* the owner consumed all: the older half may be overwritten already */
	add(&f, SIZE - 13);
	f.page->aux_tail = 2 * SIZE;
	g.next = SIZE + SIZE / 2;
	aux_peek(&f.area, &r, take, &g);
	assert_int_equal(r.bytes, SIZE / 2);
	assert_int_equal(r.missed, SIZE / 2 - 13);
	assert_int_equal(g.bad, 0);
	add(&f, 3 * SIZE);
	f.page->aux_tail = 0;
	aux_peek(&f.area, &r, check_bytes, &g.bad);
	assert_int_equal(r.bytes, SIZE);
	assert_int_equal(r.missed, 2 * SIZE);
	/* a new area */
	f.page->aux_head = 0;
	add(&f, 5);
	g.next = 0;
	aux_peek(&f.area, &r, take, &g);
	assert_true(r.odd_head && r.bytes == 5);
	f.page->aux_head = UINT64_MAX;
	f.page->aux_tail = 77;
	aux_peek(&f.area, &r, check_bytes, &(size_t){ 0 });
	assert_int_equal(r.bytes + r.missed, UINT64_MAX - 5);
	f.area.snapshot = true;
	aux_peek(&f.area, &r, take, &g);
	assert_int_equal(r.bytes + r.missed, 0);
	assert_int_equal(g.bad, 0);
	drop(&f);
}

static void *owner(void *ctx)
{
	struct fake *f = ctx;
	uint64_t head;

	do {
		head = __atomic_load_n(&f->page->aux_head, __ATOMIC_ACQUIRE);
		__atomic_store_n(&f->page->aux_tail, head, __ATOMIC_RELEASE);
		sched_yield();
	} while (head < RACE);
	return NULL;
}

static void test_peek_race(void **state)
{
	struct fake f = fake(false);
	struct aux_result r;
	pthread_t threads[2];
	uint64_t total = 0;
	size_t bad = 0;

	(void)state;
	assert_int_equal(pthread_create(&threads[0], NULL, writer, &f), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, owner, &f), 0);
	while (total < RACE) {
		aux_peek(&f.area, &r, check_bytes, &bad);
		total += r.bytes + r.missed;
		assert_int_equal(bad, 0);
		sched_yield();
	}
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	assert_int_equal(total, RACE);
	drop(&f);
}

struct streamed {
	size_t records, looks;
	uint64_t bytes;
	uint32_t type;
};

static void on_record(void *ctx, const struct stream_ring *r, const uint8_t *bytes, size_t len)
{
	struct streamed *s = ctx;

	(void)r;
	(void)len;
	memcpy(&s->type, bytes, sizeof(s->type));
	s->records++;
}

static void on_aux(void *ctx, const struct stream_ring *r, const struct aux_result *result)
{
	struct streamed *s = ctx;

	(void)r;
	s->looks++;
	s->bytes += result->bytes;
}

static void *map_zeros(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

/* A ring and the area beside it, as open has them. */
static void test_stream(void **state)
{
	static const struct stream_ops ops = { .record = on_record, .aux = on_aux };
	const struct {
		struct perf_event_header header;
		uint64_t offset, size, flags;
	} record = { { PERF_RECORD_AUX, 0, sizeof(record) }, 0, 100, 0 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)state;
	for (int snapshot = 0; snapshot < 2; snapshot++) {
		struct streamed got = { 0 };
		struct stream s = { .ops = &ops, .ctx = &got };
		struct perf_event_mmap_page *p = map_zeros(2 * page);
		struct stream_ring ring = {
			.fd = -1, .at = p, .length = 2 * page, .cpu = -1,
			.aux = { .page = p, .bytes = map_zeros(page), .size = page,
				 .snapshot = snapshot },
		};
		struct own_calls i;

		own_calls_init(&i, NULL);
		stream_add(&s, &ring);
		memcpy((uint8_t *)p + page, &record, sizeof(record));
		memset((void *)ring.aux.bytes, 1, 100);
		p->data_head = sizeof(record);
		p->aux_head = 100;
		stream_look(&s, UINT64_MAX);
		stream_look(&s, UINT64_MAX);
		assert_int_equal(got.records, 1);
		assert_int_equal(got.type, PERF_RECORD_AUX);
		assert_int_equal(p->data_tail, sizeof(record));
		assert_int_equal(p->aux_tail, snapshot ? 0 : 100);
		assert_int_equal(got.looks, !snapshot);
		stream_snapshot(&s);
		assert_int_equal(got.looks, 1);
		assert_int_equal(got.bytes, 100);
		stream_close(&s, &i);
		/* both are unmapped */
		assert_int_equal(msync(p, page, MS_ASYNC), -1);
		assert_int_equal(msync((void *)ring.aux.bytes, page, MS_ASYNC), -1);
		own_calls_free(&i);
	}
}

/* Software events make no AUX data: the kernel says so, and the page was set up. */
static void test_no_aux(void **state)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE), len = 2 * page;
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	struct perf_event_mmap_page *p;
	struct aux_area a;
	struct own_calls i;

	(void)state;
	if (fd < 0)
		skip(); /* perf_event_open does not work here */
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	own_calls_init(&i, NULL);
	assert_int_equal(aux_map(&a, &i, fd, p, len, 4 * page, false), EOPNOTSUPP);
	assert_null(a.bytes);
	assert_int_equal(p->aux_offset, len);
	assert_int_equal(p->aux_size, 4 * page);
	own_calls_free(&i);
	munmap(p, len);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrap), cmocka_unit_test(test_overrun),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_race), cmocka_unit_test(test_peek),
		cmocka_unit_test(test_peek_race), cmocka_unit_test(test_stream),
		cmocka_unit_test(test_no_aux),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
