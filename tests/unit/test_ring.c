// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rings: first made up in memory, with a writer that does as the kernel does,
 * then real ones of a child, looked into from outside.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/rings/borrow.h"
#include "engine/rings/look.h"
#include "engine/rings/ring.h"

/* Older headers do not have it; the place in the page is what counts. */
typedef struct perf_event_mmap_page user_page;

enum {
	MANY = 8192,
	DATA = 4096,		/* of a made-up ring, unless said */
};

/* ---- what a look hands on ---- */

struct got {
	uint32_t seq[MANY];	/* number of the record */
	size_t n;
	uint64_t bytes;
	unsigned int bad;	/* not as written */
};

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

/* ---- a child with a real ring, that does what it is told ---- */

struct order {
	enum { OPEN, MAP, UNMAP, CLOSE, NAME, EAT, TAIL, POLL, PAUSE, SPIN, STOP,
	       BREAKPOINTS } what;
	uint64_t a;
	bool backward, overwrite;
};

struct child {
	pid_t pid;
	int sock;
	int fd;			/* its descriptor */
};

struct owner {
	int fd;
	user_page *page;
	size_t length;
	uint32_t seq;
	uint64_t eaten;		/* records */
	int bps[4];
};

static int open_event(const struct order *o)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.comm = 1,
		.exclude_kernel = 1,
		.write_backward = o->backward,
		.watermark = 1,
		.wakeup_watermark = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

/* As many as o->a execution breakpoints, or the errno of the first failure. */
static int64_t open_breakpoints(struct owner *w, const struct order *o)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = 4,
		.bp_len = sizeof(long),
		.sample_period = 1,
		.exclude_kernel = 1,
	};

	for (uint64_t i = 0; i < o->a; i++) {
		attr.bp_addr = (uintptr_t)open_breakpoints + 64 * i;
		w->bps[i] = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
					 PERF_FLAG_FD_CLOEXEC);
		if (w->bps[i] < 0) {
			int64_t err = -errno;

			while (i)
				close(w->bps[--i]);
			return err;
		}
	}
	return w->bps[0];
}

static int64_t map_ring(struct owner *w, const struct order *o)
{
	w->length = o->a;
	w->page = mmap(NULL, w->length,
		       o->overwrite ? PROT_READ : PROT_READ | PROT_WRITE,
		       MAP_SHARED, w->fd, 0);
	return w->page == MAP_FAILED ? -errno : 0;
}

static int64_t name_often(struct owner *w, uint64_t n)
{
	char name[16];

	while (n--) {
		snprintf(name, sizeof(name), "n%08u", ++w->seq);
		prctl(PR_SET_NAME, name);
	}
	return w->seq;
}

/* The owner's own reader: how many records there were. */
static int64_t eat(struct owner *w)
{
	uint64_t head = __atomic_load_n(&w->page->data_head, __ATOMIC_ACQUIRE);
	const uint8_t *data = (uint8_t *)w->page + w->page->data_offset;
	uint16_t size;

	while (w->page->data_tail != head) {
		memcpy(&size, data + ((w->page->data_tail + 6) &
				      (w->page->data_size - 1)), 2);
		w->eaten++;
		__atomic_store_n(&w->page->data_tail, w->page->data_tail + size,
				 __ATOMIC_RELEASE);
	}
	return (int64_t)w->eaten;
}

/* Names itself until the parent says something; eats if it may. */
static int64_t spin(struct owner *w, int sock, bool overwrite)
{
	char c;

	while (recv(sock, &c, 1, MSG_PEEK | MSG_DONTWAIT) < 0) {
		name_often(w, 10);
		if (!overwrite)
			eat(w);
	}
	return w->seq;
}

static int64_t poll_event(const struct owner *w)
{
	struct pollfd p = { w->fd, POLLIN, 0 };

	return poll(&p, 1, 0) < 0 ? -errno : p.revents;
}

static int64_t obey(struct owner *w, const struct order *o, int sock)
{
	switch (o->what) {
	case OPEN:
		w->fd = open_event(o);
		return w->fd < 0 ? -errno : w->fd;
	case MAP:
		return map_ring(w, o);
	case UNMAP:
		return munmap(w->page, w->length);
	case CLOSE:
		for (int i = 0; i < 4; i++)
			if (w->bps[i] > 0)
				w->bps[i] = close(w->bps[i]);
		return w->fd > 0 ? close(w->fd) : 0;
	case NAME:
		return name_often(w, o->a);
	case EAT:
		return eat(w);
	case TAIL:
		return (int64_t)w->page->data_tail;
	case POLL:
		return poll_event(w);
	case PAUSE:
		return ioctl(w->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, o->a);
	case SPIN:
		return spin(w, sock, o->overwrite);
	case STOP:
		return w->seq;
	case BREAKPOINTS:
		return open_breakpoints(w, o);
	}
	return -1;
}

static _Noreturn void live(int sock)
{
	struct owner w = { .fd = -1 };
	struct order o;
	int64_t r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (recv(sock, &o, sizeof(o), 0) == sizeof(o)) {
		r = obey(&w, &o, sock);
		send(sock, &r, sizeof(r), 0);
	}
	_exit(0);
}

static struct child child(void)
{
	struct child c = { .fd = -1 };
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
				    pair), 0);
	c.pid = fork();
	if (!c.pid) {
		close(pair[0]);
		live(pair[1]);
	}
	close(pair[1]);
	c.sock = pair[0];
	return c;
}

static void bury(struct child *c)
{
	close(c->sock);
	waitpid(c->pid, NULL, 0);
}

static int64_t answer(const struct child *c)
{
	int64_t r;

	assert_int_equal(recv(c->sock, &r, sizeof(r), 0), sizeof(r));
	return r;
}

static int64_t tell(const struct child *c, struct order o)
{
	assert_int_equal(send(c->sock, &o, sizeof(o), 0), sizeof(o));
	return answer(c);
}

/* A child with its ring; skips where it cannot have one, or be looked into. */
static struct child ringed(size_t length, bool backward, bool overwrite)
{
	struct child c = child();
	int64_t err;

	c.fd = (int)tell(&c, (struct order){ OPEN, 0, backward, overwrite });
	err = c.fd < 0 ? c.fd : tell(&c, (struct order){ MAP, length, backward,
							 overwrite });
	if (err < 0 || borrow_refusal()) {
		print_message("no ring to look into: %s\n",
			      err < 0 ? strerror((int)-err) : borrow_refusal());
		bury(&c);
		skip();
	}
	return c;
}

/* COMM records of a child: numbers in order. */
static void check_comm(void *ctx, const uint8_t *bytes, size_t len)
{
	struct got *g = ctx;
	uint32_t type, seq;
	char name[9];

	memcpy(&type, bytes, sizeof(type));
	if (type != PERF_RECORD_COMM || len != 32) {
		g->bad++;
		return;
	}
	memcpy(name, bytes + 17, 8);
	name[8] = '\0';
	seq = (uint32_t)strtoul(name, NULL, 10);
	g->bad += bytes[16] != 'n' || (g->n && seq <= g->seq[(g->n - 1) % MANY]);
	g->seq[g->n++ % MANY] = seq;
	g->bytes += len;
}

static struct ring_result look_at(const struct child *c, size_t length,
				  bool backward, bool overwrite,
				  struct ring_seen *seen, struct got *g)
{
	uint64_t before = seen->position;
	int fd = borrow_fd(c->pid, c->pid, c->fd);
	struct ring_result r;

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(ring_look(fd, length, backward, overwrite, seen, &r,
				   check_comm, g), 0);
	close(fd);
	assert_false(r.torn || r.restarted || r.odd_page);
	assert_int_equal(r.bytes + r.missed, seen->position - before);
	assert_int_equal(g->bad, 0);
	return r;
}

static void test_live_forward(void **state)
{
	size_t length = 5 * (size_t)sysconf(_SC_PAGESIZE);
	struct child c = ringed(length, false, false);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_seen seen = { 0 };
	struct ring_result r;

	(void)state;
	for (unsigned int i = 1; i <= 40; i++) {
		tell(&c, (struct order){ .what = NAME, .a = i * 3 });
		r = look_at(&c, length, false, false, &seen, g);
		assert_int_equal(r.records, i * 3);
		assert_false(r.waited);
		assert_int_equal(ring_page_get(&r.page,
					       PERF_EVENT_MMAP_PAGE_DATA_SIZE),
				 length - (size_t)sysconf(_SC_PAGESIZE));
		assert_int_equal(tell(&c, (struct order){ .what = EAT }), g->n);
	}
	/* we come late: consumed, but still there */
	tell(&c, (struct order){ .what = NAME, .a = 7 });
	tell(&c, (struct order){ .what = EAT });
	assert_int_equal(look_at(&c, length, false, false, &seen, g).records, 7);
	bury(&c);
	free(g);
}

static void test_live_backward(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), length = 3 * page;
	struct child c = ringed(length, true, true);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_seen seen = { 0 };
	unsigned int fit = (unsigned int)(2 * page / 32), n, total = 0;
	struct ring_result r;

	(void)state;
	for (unsigned int i = 0; i < 60; i++) {
		n = i * 11;
		total += n;
		tell(&c, (struct order){ .what = NAME, .a = n });
		if (i % 2)
			tell(&c, (struct order){ .what = PAUSE, .a = 1 });
		r = look_at(&c, length, true, true, &seen, g);
		if (i % 2)
			tell(&c, (struct order){ .what = PAUSE, .a = 0 });
		assert_int_equal(r.records, n < fit ? n : fit);
		assert_int_equal(r.missed, n < fit ? 0 : (n - fit) * 32);
		assert_int_equal(seen.position, total * 32);
	}
	bury(&c);
	free(g);
}

static void test_live_overwrite(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), length = 2 * page;
	struct child c = ringed(length, false, true);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_seen seen = { 0 };
	unsigned int fit = (unsigned int)(page / 32), n;
	struct ring_result r;

	(void)state;
	for (unsigned int i = 0; i < 30; i++) {
		n = i * 11;
		tell(&c, (struct order){ .what = NAME, .a = n });
		r = look_at(&c, length, false, true, &seen, g);
		assert_int_equal(r.records, n <= fit ? n : 0);
		assert_int_equal(r.missed, n <= fit ? 0 : n * 32);
	}
	bury(&c);
	free(g);
}

/* The child writes (and reads) at full speed while we look. */
static void live_race(bool backward, bool overwrite, size_t data, int looks)
{
	size_t length = data + (size_t)sysconf(_SC_PAGESIZE);
	struct child c = ringed(length, backward, overwrite);
	struct order spin = { SPIN, 0, backward, overwrite }, stop = { .what = STOP };
	struct got *g = calloc(1, sizeof(*g));
	struct ring_seen seen = { 0 };
	uint64_t missed = 0, waited = 0;
	int64_t names;

	send(c.sock, &spin, sizeof(spin), 0);
	/* it may take its time to begin */
	for (int i = 0; i < looks || !seen.position; i++) {
		struct ring_result r = look_at(&c, length, backward, overwrite,
					       &seen, g);

		missed += r.missed;
		waited += r.waited;
	}
	send(c.sock, &stop, sizeof(stop), 0);
	answer(&c);
	names = answer(&c);
	missed += look_at(&c, length, backward, overwrite, &seen, g).missed;
	/* whether told or missed, all of them are accounted for */
	assert_int_equal(g->bytes + missed, (uint64_t)names * 32);
	assert_int_equal(seen.position, (uint64_t)names * 32);
	if (!overwrite)
		assert_int_equal(tell(&c, (struct order){ .what = EAT }), names);
	print_message("%lld records, %zu seen, %llu bytes missed, %llu waits\n",
		      (long long)names, g->n, (unsigned long long)missed,
		      (unsigned long long)waited);
	assert_true(g->n > 0 || data < 1 << 19);
	bury(&c);
	free(g);
}

static void test_live_race(void **state)
{
	(void)state;
	live_race(false, false, 1 << 19, 500);
	live_race(false, false, 1 << 13, 50);
	live_race(true, true, 1 << 19, 500);
	live_race(true, true, 1 << 13, 50);
	live_race(false, true, 1 << 19, 500);
}

static void test_live_control_page(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct child c = ringed(page, false, false);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_seen seen = { 0 };
	struct ring_result r;

	(void)state;
	tell(&c, (struct order){ .what = NAME, .a = 3 });
	r = look_at(&c, page, false, false, &seen, g);
	assert_int_equal(r.records + r.missed, 0);
	assert_false(seen.started);
	assert_int_equal(ring_page_get(&r.page, PERF_EVENT_MMAP_PAGE_DATA_SIZE), 0);
	bury(&c);
	free(g);
}

/* The owner's tail, its wakeups, and what it may do next are as without us. */
static void test_live_untouched(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), length = 3 * page;
	struct child c = ringed(length, false, false);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_seen seen = { 0 };

	(void)state;
	tell(&c, (struct order){ .what = NAME, .a = 5 });
	look_at(&c, length, false, false, &seen, g);
	assert_int_equal(tell(&c, (struct order){ .what = TAIL }), 0);
	look_at(&c, length, false, false, &seen, g);
	assert_int_equal(tell(&c, (struct order){ .what = POLL }), POLLIN);
	assert_int_equal(tell(&c, (struct order){ .what = EAT }), 5);
	look_at(&c, length, false, false, &seen, g);
	assert_int_equal(tell(&c, (struct order){ .what = TAIL }), 5 * 32);
	/* a ring of another size in its place */
	assert_int_equal(tell(&c, (struct order){ .what = UNMAP }), 0);
	assert_int_equal(tell(&c, (struct order){ .what = MAP, .a = 9 * page }), 0);
	tell(&c, (struct order){ .what = NAME, .a = 2 });
	seen = (struct ring_seen){ 0 };
	assert_int_equal(look_at(&c, 9 * page, false, false, &seen, g).records, 2);
	bury(&c);
	free(g);
}

static int64_t four_breakpoints(const struct child *c)
{
	return tell(c, (struct order){ .what = BREAKPOINTS, .a = 4 });
}

/* After a look the event goes when its owner closes it: registers are free. */
static void test_live_gone(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct child c = child();
	struct ring_seen seen = { 0 };
	struct ring_result r;
	uint64_t count;
	int64_t fd = four_breakpoints(&c);
	int ours;

	(void)state;
	if (fd < 0 || borrow_refusal()) {
		print_message("no four breakpoints: %s\n",
			      fd < 0 ? strerror((int)-fd) : borrow_refusal());
		bury(&c);
		skip();
	}
	for (int i = 0; i < 3; i++) {
		ours = borrow_fd(c.pid, c.pid, (int)fd);
		assert_int_equal(ring_look(ours, page, false, false, &seen, &r,
					   NULL, NULL), 0);
		assert_int_equal(ring_read_count(ours, &count, 8), 8);
		assert_int_equal(ring_read_count(ours, &count, 4), -ENOSPC);
		close(ours);
		tell(&c, (struct order){ .what = CLOSE });
		fd = four_breakpoints(&c);
		assert_true(fd >= 0);
	}
	/* that a kept copy would have been noticed */
	ours = borrow_fd(c.pid, c.pid, (int)fd);
	tell(&c, (struct order){ .what = CLOSE });
	assert_int_equal(four_breakpoints(&c), -ENOSPC);
	close(ours);
	assert_true(four_breakpoints(&c) >= 0);
	bury(&c);
}

static void test_look_refuses(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct child c = ringed(3 * page, false, false);
	struct ring_seen seen = { 0 };
	struct ring_result r;
	int fd = borrow_fd(c.pid, c.pid, c.fd), other;

	(void)state;
	assert_int_equal(ring_look(fd, 5 * page, false, false, &seen, &r, NULL,
				   NULL), -EINVAL);
	assert_int_equal(ring_look(fd, 100, false, false, &seen, &r, NULL, NULL),
			 -EINVAL);
	assert_int_equal(ring_look(fd, 0, false, false, &seen, &r, NULL, NULL),
			 -EINVAL);
	assert_int_equal(ring_look(fd, SIZE_MAX & ~(page - 1), false, false,
				   &seen, &r, NULL, NULL) < 0, true);
	assert_int_equal(ring_look(-1, page, false, false, &seen, &r, NULL, NULL),
			 -EBADF);
	other = open("/dev/zero", O_RDWR | O_CLOEXEC);
	assert_int_equal(ring_look(other, page, false, false, &seen, &r, NULL,
				   NULL), -ENOTTY);
	close(other);
	close(fd);
	bury(&c);
}

/* As a container may have it: the call gives that error. */
static bool forbid_getfd(int err)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 438, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { 4, code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static _Noreturn void refused(int err)
{
	pid_t parent = getppid();

	if (!forbid_getfd(err))
		_exit(2);
	if (borrow_fd(parent, parent, 0) != -err || !borrow_refusal())
		_exit(1);
	/* given again, though the process does not exist */
	_exit(borrow_fd(0x3fffffff, 0x3fffffff, 0) != -err);
}

/* Before any other test: what was found out is kept. */
static void test_borrow_refused(void **state)
{
	static const int errs[] = { ENOSYS, EPERM };
	int status;

	(void)state;
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (!pid)
			refused(errs[i]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (status == 2 << 8)
			skip();
		assert_int_equal(status, 0);
	}
}

static void test_borrow(void **state)
{
	struct child c = child();
	int fd;

	(void)state;
	if (borrow_refusal()) {
		print_message("%s\n", borrow_refusal());
		bury(&c);
		skip();
	}
	assert_int_equal(borrow_fd(c.pid, c.pid, 999), -EBADF);
	assert_int_equal(borrow_fd(c.pid, c.pid, -1), -EBADF);
	assert_true(borrow_fd(0x3fffffff, 0x3fffffff, 0) < 0);
	fd = borrow_fd(c.pid, c.pid, 0);
	assert_true(fd >= 0);
	close(fd);
	bury(&c);
	assert_null(borrow_refusal());
}

/* A thread with descriptors of its own. */
struct lonely {
	pid_t tid;
	int fd, ready, end;
};

static void *unshared(void *arg)
{
	struct lonely *l = arg;
	uint64_t one = 1;

	l->tid = (pid_t)syscall(SYS_gettid);
	if (!unshare(CLONE_FILES))
		l->fd = fcntl(l->ready, F_DUPFD_CLOEXEC, 500);
	one = write(l->ready, &one, 8) == 8;
	one = read(l->end, &one, 8) == 8;
	return NULL;
}

static void test_borrow_thread(void **state)
{
	struct lonely l = { .fd = -1, .ready = eventfd(0, EFD_CLOEXEC),
			    .end = eventfd(0, EFD_CLOEXEC) };
	uint64_t one = 1;
	pthread_t thread;
	int got;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, unshared, &l), 0);
	assert_int_equal(read(l.ready, &one, 8), 8);
	got = borrow_fd(getpid(), l.tid, l.fd);
	one = 1;
	assert_int_equal(write(l.end, &one, 8), 8);
	pthread_join(thread, NULL);
	close(l.ready);
	close(l.end);
	if (l.fd < 0 || got == -EOPNOTSUPP || borrow_refusal()) {
		print_message("no thread of its own, or no way to it\n");
		skip();
	}
	assert_true(got >= 0);
	assert_int_equal(fcntl(l.fd, F_GETFD), -1);
	close(got);
}

/* A ring that fills is read more often, one that does not less often; a new one at once. */
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
		cmocka_unit_test(test_borrow_refused),
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
		cmocka_unit_test(test_borrow),
		cmocka_unit_test(test_borrow_thread),
		cmocka_unit_test(test_look_refuses),
		cmocka_unit_test(test_live_forward),
		cmocka_unit_test(test_live_backward),
		cmocka_unit_test(test_live_overwrite),
		cmocka_unit_test(test_live_race),
		cmocka_unit_test(test_live_control_page),
		cmocka_unit_test(test_live_untouched),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_live_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
