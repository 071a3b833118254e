// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rings made up in memory, with a writer that does as the kernel does. */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/rings/borrow.h"
#include "engine/rings/look.h"
#include "engine/rings/ring.h"
#include "ring_got.h"

enum { DATA = 4096 };	/* size of a made-up ring, unless said */

/* ---- what a look hands on ---- */

static uint64_t word_of(uint32_t seq, size_t i)
{
	return seq * 0x9e3779b97f4a7c15ULL + i;
}

/* A record of ours: header (type is its number), then words made from that. */
static void check_record(void *ctx, const uint8_t *bytes, size_t len)
{
	struct got *g = ctx;
	uint32_t seq;
	uint64_t w;

	memcpy(&seq, bytes, sizeof(seq));
	for (size_t i = 1; i < len / 8; i++) {
		memcpy(&w, bytes + 8 * i, sizeof(w));
		g->bad += w != word_of(seq, i);
	}
	g->bad += g->n && seq <= g->seq[(g->n - 1) % MANY];
	g->seq[g->n++ % MANY] = seq;
	g->bytes += len;
}

/* ---- a ring made up, and its writer ---- */

struct fake {
	struct ring_image image;
	struct ring_seen seen;
	user_page *page;
	uint8_t *data;
	size_t size;
	uint64_t head;		/* reserved by the writer, as the kernel counts */
	uint32_t seq;		/* of the last record */
	uint64_t lens[1 << 16];	/* by number */
	unsigned int settled;
	unsigned int storm;	/* records to write when asked to settle */
	bool refuse;		/* to settle */
	uint8_t *half;		/* record begun and not published */
	size_t half_len;
};

static void put(struct fake *f, uint64_t at, const void *src, size_t len)
{
	for (size_t i = 0; i < len; i++)
		f->data[(at + i) & (f->size - 1)] = ((const uint8_t *)src)[i];
}

static void publish(struct fake *f)
{
	__atomic_store_n(&f->page->data_head, f->head, __ATOMIC_RELEASE);
}

/* Reserves len bytes and writes the record, or half of it, into them. */
static void begin_record(struct fake *f, size_t len, bool half)
{
	struct perf_event_header h = { ++f->seq, 0, (uint16_t)len };
	static _Thread_local uint64_t room[8192];
	uint64_t at;

	memcpy(room, &h, sizeof(h));
	for (size_t i = 1; i < len / 8; i++)
		room[i] = word_of(f->seq, i);
	f->lens[f->seq & 0xffff] = len;
	at = f->image.backward ? f->head - len : f->head;
	put(f, at, room, half ? len / 2 : len);
	f->head = f->image.backward ? at : f->head + len;
}

static void add(struct fake *f, size_t len)
{
	begin_record(f, len, false);
	publish(f);
}

static bool fake_settle(void *ctx, const uint64_t *head)
{
	struct fake *f = ctx;

	(void)head;
	f->settled++;
	if (f->refuse)
		return false;
	publish(f);
	while (f->storm) {
		f->storm--;
		add(f, 64);
	}
	return true;
}

static struct fake *fake(size_t size, bool backward, bool overwrite)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct fake *f = calloc(1, sizeof(*f));

	f->page = aligned_alloc(page, page + size);
	memset(f->page, 0, page + size);
	f->data = (uint8_t *)f->page + page;
	f->size = size;
	f->page->data_offset = page;
	f->page->data_size = size;
	f->image = (struct ring_image){
		.bytes = f->page,
		.length = page + size,
		.backward = backward,
		.overwrite = overwrite,
		.settle = fake_settle,
		.settle_ctx = f,
	};
	return f;
}

static void drop(struct fake *f)
{
	free(f->page);
	free(f);
}

static uint64_t written(const struct fake *f)
{
	return f->image.backward ? -f->head : f->head;
}

/* One look, with all that must hold of any. */
static struct ring_result see(struct fake *f, struct got *g)
{
	uint64_t before = f->seen.position, bytes = g->bytes;
	struct ring_result r;

	assert_int_equal(ring_walk(&f->image, &f->seen, &r, check_record, g), 0);
	assert_int_equal(r.bytes, g->bytes - bytes);
	if (r.restarted)
		before = 0;
	assert_int_equal(r.bytes + r.missed, f->seen.position - before);
	assert_int_equal(g->bad, 0);
	return r;
}

static void test_nothing(void **state)
{
	struct got *g = calloc(1, sizeof(*g));

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct fake *f = fake(DATA, kind & 1, kind & 2);
		struct ring_result r = see(f, g);

		assert_int_equal(r.records + r.missed, 0);
		assert_false(r.torn || r.restarted || r.odd_page || r.waited);
		assert_true(r.page.steady);
		assert_true(f->seen.started);
		drop(f);
	}
	assert_int_equal(g->n, 0);
	free(g);
}

static void test_page(void **state)
{
	struct fake *f = fake(DATA, false, false);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_result r;

	(void)state;
	f->page->time_running = 77;
	f->page->aux_size = 1 << 20;
	f->page->cap_user_rdpmc = 1;
	add(f, 16);
	r = see(f, g);
	assert_int_equal(ring_page_get(&r.page, PERF_EVENT_MMAP_PAGE_TIME_RUNNING),
			 77);
	assert_int_equal(ring_page_get(&r.page, PERF_EVENT_MMAP_PAGE_AUX_SIZE),
			 1 << 20);
	assert_int_equal(ring_page_get(&r.page,
				       PERF_EVENT_MMAP_PAGE_CAP_USER_RDPMC), 1);
	assert_int_equal(ring_page_get(&r.page, PERF_EVENT_MMAP_PAGE_DATA_HEAD),
			 16);
	assert_int_equal(layout_perf_event_mmap_page.size, RING_PAGE_BYTES);
	/* the kernel never ends its change: told, not waited for */
	f->page->lock = 3;
	assert_false(see(f, g).page.steady);
	drop(f);
	free(g);
}

/* Every record once, whole, in order, also those that lie around the end. */
static void wrap(bool backward, bool overwrite)
{
	struct fake *f = fake(DATA, backward, overwrite);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_result r;

	for (int i = 0; i < 2000; i++) {
		size_t n = 1 + (size_t)i % 3;

		while (n--)
			add(f, 8 + 8 * ((size_t)i * 7 % 60));
		r = see(f, g);
		assert_false(r.torn || r.restarted);
		assert_int_equal(r.missed, 0);
		f->page->data_tail = overwrite ? 0 : f->head;
	}
	assert_int_equal(g->n, f->seq);
	assert_int_equal(g->bytes, written(f));
	assert_int_equal(f->settled > 0, overwrite);
	drop(f);
	free(g);
}

static void test_wrap(void **state)
{
	(void)state;
	wrap(false, false);
	wrap(true, false);
	wrap(false, true);
	wrap(true, true);
}

/* To the last byte, and nothing of it is lost. */
static void test_full(void **state)
{
	struct fake *f = fake(DATA, false, true);
	struct got *g = calloc(1, sizeof(*g));

	(void)state;
	for (int i = 0; i < DATA / 64; i++)
		add(f, 64);
	assert_int_equal(see(f, g).records, DATA / 64);
	drop(f);
	free(g);
}

static void test_lapped_forward(void **state)
{
	struct fake *f = fake(DATA, false, true);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_result r;

	(void)state;
	add(f, 64);
	see(f, g);
	for (int i = 0; i < DATA / 64 + 1; i++)
		add(f, 64);
	r = see(f, g);
	assert_int_equal(r.records, 0);
	assert_int_equal(r.missed, DATA + 64);
	assert_false(r.torn);
	/* and on from there */
	add(f, 128);
	r = see(f, g);
	assert_int_equal(r.records, 1);
	assert_int_equal(r.missed, 0);
	drop(f);
	free(g);
}

static void test_lapped_tail(void **state)
{
	struct fake *f = fake(DATA, false, false);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_result r;

	(void)state;
	/* the owner consumed two rings of it before we came */
	for (int i = 0; i < 2 * DATA / 64; i++)
		add(f, 64);
	f->page->data_tail = f->head;
	for (int i = 0; i < 10; i++)
		add(f, 32);
	r = see(f, g);
	assert_int_equal(r.records, 10);
	assert_int_equal(r.missed, 2 * DATA);
	assert_false(r.waited);
	/* consumed, and still there: handed on although the owner had it */
	for (int i = 0; i < 10; i++)
		add(f, 32);
	f->page->data_tail = f->head;
	r = see(f, g);
	assert_int_equal(r.records, 10);
	assert_true(r.waited);
	/* a tail that is no record's beginning is not used */
	for (int i = 0; i < 2 * DATA / 64; i++)
		add(f, 64);
	f->page->data_tail = f->head - 100;
	r = see(f, g);
	assert_int_equal(r.records, 0);
	assert_int_equal(r.missed, 2 * DATA);
	assert_false(r.torn);
	drop(f);
	free(g);
}

static void test_lapped_backward(void **state)
{
	struct fake *f = fake(DATA, true, true);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_result r;

	(void)state;
	for (int i = 0; i < 1000; i++)
		add(f, 72);
	r = see(f, g);
	assert_int_equal(r.records, DATA / 72);
	assert_int_equal(r.missed, (1000 - DATA / 72) * 72);
	assert_int_equal(g->seq[g->n - 1], 1000);
	assert_false(r.torn);
	drop(f);
	free(g);
}

/* The writer overtakes while we copy. */
static void test_overtaken(void **state)
{
	struct got *g = calloc(1, sizeof(*g));
	struct ring_result r;
	struct fake *f;

	(void)state;
	f = fake(DATA, false, true);
	for (int i = 0; i < DATA / 64; i++)
		add(f, 64);
	f->storm = 1;
	r = see(f, g);
	assert_int_equal(r.records, 0);
	assert_int_equal(r.missed, DATA);
	r = see(f, g);
	assert_int_equal(r.records, 1);
	drop(f);

	memset(g, 0, sizeof(*g));
	f = fake(DATA, true, true);
	for (int i = 0; i < DATA / 64; i++)
		add(f, 64);
	f->storm = 3;
	r = see(f, g);
	assert_int_equal(r.records, DATA / 64 - 3);
	assert_int_equal(r.missed, 3 * 64);
	assert_int_equal(see(f, g).records, 3);
	drop(f);
	free(g);
}

/* A write is under way in our oldest records, and data_head says nothing. */
static void test_half_written(void **state)
{
	struct got *g = calloc(1, sizeof(*g));
	struct ring_result r;
	struct fake *f;

	(void)state;
	for (int backward = 0; backward < 2; backward++) {
		memset(g, 0, sizeof(*g));
		f = fake(DATA, backward, true);
		for (int i = 0; i < DATA / 64; i++)
			add(f, 64);
		begin_record(f, 160, true);
		r = see(f, g);
		assert_true(r.waited);
		assert_int_equal(r.missed, backward ? 192 : DATA);
		drop(f);
	}
	/* cannot wait: nothing of a ring this small is sure */
	memset(g, 0, sizeof(*g));
	f = fake(DATA, true, true);
	add(f, 64);
	f->refuse = true;
	r = see(f, g);
	assert_int_equal(r.missed, 64);
	drop(f);
	/* of a large one all but the oldest is */
	f = fake(1 << 20, true, true);
	for (int i = 0; i < (1 << 20) / 4096; i++)
		add(f, 4096);
	f->refuse = true;
	r = see(f, g);
	assert_int_equal(r.missed, 4 * 65536);
	assert_int_equal(r.records, (1 << 20) / 4096 - 64);
	drop(f);
	free(g);
}

static void test_far_from_end(void **state)
{
	struct fake *f = fake(1 << 20, false, true);
	struct got *g = calloc(1, sizeof(*g));

	(void)state;
	for (int i = 0; i < 100; i++) {
		for (int k = 0; k < 100; k++)
			add(f, 64);
		assert_false(see(f, g).waited);
	}
	assert_int_equal(g->n, 10000);
	drop(f);
	free(g);
}

static void garbage(struct fake *f, size_t at, uint16_t size)
{
	memcpy(f->data + at + 6, &size, sizeof(size));
}

static void test_torn(void **state)
{
	static const uint16_t sizes[] = { 0, 4, 7, 12, 63, 200, 65528 };
	struct got *g = calloc(1, sizeof(*g));
	struct ring_result r;
	struct fake *f;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int backward = 0; backward < 2; backward++) {
			f = fake(DATA, backward, false);
			for (int k = 0; k < 3; k++)
				add(f, 64);
			garbage(f, backward ? DATA - 128 : 64, sizes[i]);
			memset(g, 0, sizeof(*g));
			r = see(f, g);
			assert_true(r.torn);
			assert_int_equal(r.records, 1);
			assert_int_equal(r.missed, 128);
			/* the next is read well */
			add(f, 24);
			r = see(f, g);
			assert_false(r.torn);
			assert_int_equal(r.records, 1);
			drop(f);
		}
	}
	free(g);
}

static void test_restart(void **state)
{
	struct got *g = calloc(1, sizeof(*g));
	struct ring_result r;
	struct fake *f;

	(void)state;
	for (int backward = 0; backward < 2; backward++) {
		f = fake(DATA, backward, false);
		memset(g, 0, sizeof(*g));
		add(f, 64);
		add(f, 64);
		see(f, g);
		f->head = 0;
		add(f, 32);
		r = see(f, g);
		assert_true(r.restarted);
		assert_int_equal(r.records, 1);
		drop(f);
	}
	free(g);
}

static void count_any(void *ctx, const uint8_t *bytes, size_t len)
{
	uint64_t *sum = ctx;
	uint16_t size;

	memcpy(&size, bytes + 6, sizeof(size));
	assert_int_equal(size, len);
	assert_true(len >= 8 && len % 8 == 0);
	for (size_t i = 0; i < len; i++)
		*sum += bytes[i];
}

/* One look at what may not be records of ours. */
static struct ring_result see_any(struct fake *f)
{
	uint64_t before = f->seen.started ? f->seen.position : 0, sum = 0;
	struct ring_result r;

	assert_int_equal(ring_walk(&f->image, &f->seen, &r, count_any, &sum), 0);
	if (r.restarted)
		before = 0;
	assert_int_equal(r.bytes + r.missed, f->seen.position - before);
	return r;
}

/* What the owner may scribble into the page. */
static void test_hostile_page(void **state)
{
	static const uint64_t odd[] = {
		0, 1, 7, 8, 100, 4095, 4096, 4104, 8192, 1 << 20,
		1ULL << 63, UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 4095,
		(uint64_t)-8192,
	};
	enum { N = sizeof(odd) / sizeof(odd[0]) };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_result r;
	struct fake *f;

	(void)state;
	for (int i = 0; i < 4 * N * N; i++) {
		f = fake(DATA, i & 1, i & 2);
		memset(g, 0, sizeof(*g));
		add(f, 64);
		f->page->data_offset = odd[i / 4 % N];
		f->page->data_size = odd[i / 4 / N];
		r = see(f, g);
		assert_int_equal(r.records, 1);
		assert_int_equal(r.odd_page,
				 (f->page->data_offset != page ||
				  f->page->data_size != DATA) &&
				 (f->page->data_offset || f->page->data_size));
		f->page->data_head = odd[i / 4 % N];
		f->page->data_tail = odd[i / 4 / N];
		f->head = f->page->data_head;
		r = see_any(f);
		assert_true(r.torn || !(f->page->data_head % 8));
		f->page->data_head = f->head = 128;
		see_any(f);
		see_any(f);
		drop(f);
	}
	free(g);
}

static void test_hostile_length(void **state)
{
	struct fake *f = fake(DATA, false, false);
	struct ring_seen seen = { 0 };
	struct ring_result r;
	struct ring_image image = f->image;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)state;
	add(f, 64);
	for (size_t n = 0; n < f->image.length; n++) {
		image.length = n;
		/* a page alone has no records, a power of two more may have */
		if (n == page)
			assert_int_equal(ring_walk(&image, &seen, &r, NULL, NULL), 0);
		else if (n < page + 8 || (n - page) & (n - page - 1))
			assert_int_equal(ring_walk(&image, &seen, &r, NULL, NULL),
					 -EINVAL);
		if (n <= page)
			assert_false(seen.started);
	}
	drop(f);
}

/* Any bytes at all: nothing is read outside, and the sum is always right. */
static void test_random(void **state)
{
	struct fake *f = fake(DATA, false, false);

	(void)state;
	srandom(1);
	for (int i = 0; i < 20000; i++) {
		f->image.backward = random() & 1;
		f->image.overwrite = random() & 1;
		f->refuse = random() & 1;
		for (size_t k = 0; k < DATA; k += 8) {
			uint16_t size = (uint16_t)(random() % 40 * 8);

			memset(f->data + k, (int)random(), 8);
			if (random() % 64)
				garbage(f, k, size);
		}
		f->page->data_head = (uint64_t)random() % (4 * DATA) & ~7ULL;
		if (f->image.backward)
			f->page->data_head = -f->page->data_head;
		f->page->data_tail = (uint64_t)random() % (4 * DATA);
		f->head = f->page->data_head;
		f->seen.started = random() & 1;
		f->seen.position = (uint64_t)random() % (4 * DATA) & ~7ULL;
		see_any(f);
	}
	drop(f);
}

/*
 * A writer at full speed, in a thread; to settle is to see it go on, or to hold it for a moment.
 */
struct race {
	struct fake *f;
	pthread_mutex_t lock;
	bool stop, watch;
	unsigned int passed, burst;
};

static void *race_write(void *arg)
{
	struct race *c = arg;

	for (unsigned int i = 0; !__atomic_load_n(&c->stop, __ATOMIC_RELAXED);
	     i++) {
		pthread_mutex_lock(&c->lock);
		add(c->f, 8 + 8 * (i * 31 % 32));
		pthread_mutex_unlock(&c->lock);
		/* so that a reader is not always overtaken */
		if (i % c->burst == 0)
			usleep(100);
	}
	return NULL;
}

static bool race_settle(void *ctx, const uint64_t *head)
{
	struct race *c = ctx;

	if (c->watch && ring_head_passed(head)) {
		c->passed++;
		return true;
	}
	pthread_mutex_lock(&c->lock);
	pthread_mutex_unlock(&c->lock);
	return true;
}

static void race(bool backward, bool watch)
{
	struct got *g = calloc(1, sizeof(*g));
	struct race c = { .f = fake(65536, backward, true), .watch = watch };
	uint64_t missed = 0;
	pthread_t thread;
	cpu_set_t cpus;
	int looks;

	/* on one CPU reader and writer take turns, and a look lasts for several of them */
	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	looks = CPU_COUNT(&cpus) > 1 ? 3000 : 200;
	c.burst = CPU_COUNT(&cpus) > 1 ? 256 : 16;
	pthread_mutex_init(&c.lock, NULL);
	c.f->image.settle = race_settle;
	c.f->image.settle_ctx = &c;
	assert_int_equal(pthread_create(&thread, NULL, race_write, &c), 0);
	for (int i = 0; i < looks || !g->n || (watch && !c.passed); i++) {
		missed += see(c.f, g).missed;
		if (i % 100 == 0)
			usleep(2000);
	}
	__atomic_store_n(&c.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	missed += see(c.f, g).missed;
	assert_int_equal(g->bytes + missed, written(c.f));
	print_message("%zu records, %llu bytes missed, passed %u times\n", g->n,
		      (unsigned long long)missed, c.passed);
	assert_int_equal(c.passed > 0, watch);
	pthread_mutex_destroy(&c.lock);
	drop(c.f);
	free(g);
}

static void test_race(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		race(i & 1, i & 2);
}

static void test_pace(void **state)
{
	struct pace p = { 0 };
	unsigned int first = pace_next(&p), ms = first;

	(void)state;
	assert_true(first >= 1 && first <= 10);
	assert_int_equal(pace_next(&p), first); /* no ring */
	for (int i = 0; i < 20; i++) {
		pace_note(&p, 3, 4096);
		assert_true(pace_next(&p) >= ms);
		ms = p.ms;
	}
	assert_int_equal(ms, 100);
	pace_note(&p, 0, 4096);
	pace_note(&p, 4000, 4096); /* the fullest decides */
	assert_true(pace_next(&p) < ms);
	for (int i = 0; i < 20; i++) {
		pace_note(&p, UINT64_MAX, 4096);
		ms = pace_next(&p);
	}
	assert_int_equal(ms, 1);
	pace_note(&p, 1000, 4096 * 16);
	pace_note(&p, 3000, 4096 * 16); /* neither full nor empty */
	assert_int_equal(pace_next(&p), 1);
	pace_reset(&p);
	assert_int_equal(pace_next(&p), first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_lapped_forward),
		cmocka_unit_test(test_lapped_tail),
		cmocka_unit_test(test_lapped_backward),
		cmocka_unit_test(test_overtaken),
		cmocka_unit_test(test_half_written),
		cmocka_unit_test(test_far_from_end),
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_hostile_page),
		cmocka_unit_test(test_hostile_length),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_race),
		cmocka_unit_test(test_pace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
