// SPDX-License-Identifier: LGPL-2.1-or-later
/* perf.data files made by hand: whole, cut, and with numbers that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "formats/perfdata/perfdata.h"
#include "fake.h"

static void put(uint8_t *b, size_t at, size_t width, uint64_t v)
{
	store_uint(b + at, width, v);
}

/* type 1, size 128, period 4000, IP|TID, disabled, freq, precise_ip 2 */
static void plain(uint8_t *b)
{
	memset(b, 0, 128);
	put(b, 0, 4, 1);
	put(b, 4, 4, 128);
	put(b, 8, 8, 2);
	put(b, 16, 8, 4000);
	put(b, 24, 8, 3);
	put(b, 40, 8, bit_field(0, 1, 1) | bit_field(10, 1, 1) | bit_field(15, 2, 2));
}

static uint64_t seed = 0x9e3779b97f4a7c15ULL;

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

#define MAGIC 0x32454c4946524550 /* "PERFILE2" on a little-endian machine */

struct image {
	uint8_t bytes[2048];
	size_t len;
};

static void add(struct image *m, size_t width, uint64_t v)
{
	put(m->bytes, m->len, width, v);
	m->len += width;
}

static void add_text(struct image *m, const char *text)
{
	add(m, 4, 64);
	memcpy(m->bytes + m->len, text, strlen(text));
	m->len += 64;
}

static void add_attr(struct image *m)
{
	plain(m->bytes + m->len);
	put(m->bytes + m->len, 24, 8, 0x10002); /* TID|IDENTIFIER */
	put(m->bytes + m->len, 40, 8, bit_field(18, 1, 1)); /* sample_id_all */
	m->len += 128;
}

/* One event with the ids 7 and 8, a COMM of it, and its name. */
static void make_file(struct image *m)
{
	size_t data, features;

	memset(m, 0, sizeof(*m));
	put(m->bytes, 0, 8, MAGIC);
	m->len = 104;
	add(m, 8, 7);
	add(m, 8, 8);
	put(m->bytes, 8, 8, 104);
	put(m->bytes, 16, 8, 144);
	put(m->bytes, 24, 8, m->len);
	put(m->bytes, 32, 8, 144);
	add_attr(m);
	add(m, 8, 104);
	add(m, 8, 16);
	data = m->len;
	add(m, 4, 3); /* COMM */
	add(m, 2, 0);
	add(m, 2, 40);
	add(m, 8, 0x500000005);
	memcpy(m->bytes + m->len, "sleep", 5);
	m->len += 8;
	add(m, 8, 0x500000005);
	add(m, 8, 8);
	add(m, 4, 68); /* FINISHED_ROUND */
	add(m, 2, 0);
	add(m, 2, 8);
	put(m->bytes, 40, 8, data);
	put(m->bytes, 48, 8, m->len - data);
	put(m->bytes, 72, 8, 1 << 12 | 1 << 16);
	features = m->len;
	m->len += 32;
	put(m->bytes, features, 8, m->len);
	add(m, 4, 1);
	add(m, 4, 128);
	add_attr(m);
	add(m, 4, 2);
	add_text(m, "my-faults");
	add(m, 8, 7);
	add(m, 8, 8);
	put(m->bytes, features + 8, 8, m->len - (features + 32));
	put(m->bytes, features + 16, 8, m->len);
	put(m->bytes, features + 24, 8, 4 + 4 + 68);
	add(m, 4, 1);
	add(m, 4, 1);
	add_text(m, "software");
}

static void make_pipe(struct image *m)
{
	memset(m, 0, sizeof(*m));
	put(m->bytes, 0, 8, MAGIC);
	m->len = 8;
	add(m, 8, 16);
	add(m, 4, 64); /* HEADER_ATTR */
	add(m, 2, 0);
	add(m, 2, 8 + 128 + 16);
	add_attr(m);
	add(m, 8, 7);
	add(m, 8, 8);
	add(m, 4, 78); /* EVENT_UPDATE: name */
	add(m, 2, 0);
	add(m, 2, 40);
	add(m, 8, 2);
	add(m, 8, 8);
	memcpy(m->bytes + m->len, "my-faults", 9);
	m->len += 16;
	add(m, 4, 66); /* TRACING_DATA, followed by 5 bytes */
	add(m, 2, 0);
	add(m, 2, 12);
	add(m, 4, 5);
	m->len += 8;
	add(m, 4, 68);
	add(m, 2, 0);
	add(m, 2, 8);
}

static void count_record(void *ctx, const struct perfdata_record *r)
{
	struct record_id id;

	assert_true(r->len >= 8);
	if (r->event)
		record_identify(r->bytes, r->len, &r->event->format, &id);
	++*(int *)ctx;
}

static int open_image(const struct image *m, size_t len, bool check)
{
	FILE *f = fdopen(memfd_create("image", MFD_CLOEXEC), "w+");
	struct perfdata *p;
	int records = 0;
	bool whole;

	assert_non_null(f);
	assert_int_equal(fwrite(m->bytes, 1, len, f), len);
	rewind(f);
	if (check)
		assert_true(perfdata_is(f));
	p = perfdata_open(f, "image", NULL);
	if (!p) {
		fclose(f);
		return -1;
	}
	perfdata_records(p, count_record, &records);
	whole = perfdata_whole(p);
	if (check) {
		assert_true(whole);
		assert_int_equal(perfdata_nevents(p), 1);
		assert_string_equal(perfdata_event(p, 0)->name, "my-faults");
		assert_int_equal(perfdata_event(p, 0)->nids, 2);
		assert_int_equal(perfdata_event(p, 0)->ids[1], 8);
	}
	perfdata_close(p);
	fclose(f);
	return whole ? records : -1;
}

static int hush(void)
{
	int kept = dup(STDERR_FILENO);

	assert_non_null(freopen("/dev/null", "w", stderr));
	return kept;
}

static void unhush(int kept)
{
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
}

static void test_perfdata(void **state)
{
	struct image m;

	(void)state;
	make_file(&m);
	assert_int_equal(open_image(&m, m.len, true), 2);
	make_pipe(&m);
	assert_int_equal(open_image(&m, m.len, true), 4);
}

/* Cut at every length, and with numbers exchanged for others. */
static void test_hostile_perfdata(void **state)
{
	static const uint64_t odd[] = {
		0, 1, 7, 8, 15, 16, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 1ULL << 32,
		1ULL << 63, ~0ULL, ~7ULL, 104, 144,
	};
	struct image m;
	int kept = hush();

	(void)state;
	for (int form = 0; form < 2; form++) {
		void (*make)(struct image *m) = form ? make_pipe : make_file;

		make(&m);
		for (size_t len = 0; len < m.len; len++)
			open_image(&m, len, false);
		for (int i = 0; i < 8000; i++) {
			make(&m);
			for (uint64_t n = 1 + any() % 3; n; n--) {
				size_t at = any() % m.len & ~(any() % 2 ? 7UL : 1UL);
				size_t width = any() % 2 ? 8 : any() % 2 ? 4 : 2;

				put(m.bytes, at, width, any() % 4 ? odd[any() % 16] : any());
			}
			put(m.bytes, 0, 8, MAGIC);
			open_image(&m, m.len, false);
		}
	}
	unhush(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfdata),
		cmocka_unit_test(test_hostile_perfdata),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
