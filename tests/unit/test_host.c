// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names from a sysfs and a tracefs that this test makes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/host/host.h"
#include "core/host/proc.h"
#include "core/host/sysfile.h"
#include "core/lib/clock.h"
#include "tree.h"

static char root[TREE_PATH];

static void put(const char *path, const char *text)
{
	tree_put(root, path, text);
}

static int setup(void **state)
{
	(void)state;
	tree_new(root, "host");
	tree_put_cpu(root);
	put(DEVICES "cpu/format/broken", "config:9-3\n");
	put(DEVICES "cpu/format/far", "config:60-70\n");
	put(DEVICES "cpu/events/cpu-cycles", "event=0x3c\n");
	put(DEVICES "cpu/events/open-ended", "event=0xcd,ldlat=?\n");
	put(DEVICES "odd/type", "33\n");
	put("events/sched/sched_switch/id", "318\n");
	put("events/sched/enable", "0\n");
	put("events/header_page", "x\n");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return tree_remove(root);
}

static const char *terms(struct host *h, uint32_t type, uint64_t config, uint64_t config1)
{
	const uint64_t configs[] = { config, config1, 0, 0, 0 };

	return host_terms(h, type, configs, 5);
}

static void test_pmus(void **state)
{
	struct host *h = host_new(root, root);

	(void)state;
	assert_string_equal(host_pmu(h, 4), "cpu");
	assert_string_equal(host_pmu(h, 33), "odd");
	assert_null(host_pmu(h, 5));
	assert_string_equal(terms(h, 4, 0x1a8, 0), "cpu/event=0xa8,umask=0x1/");
	/* a term may be spread over the word: its bits come together */
	assert_string_equal(terms(h, 4, 0x300000012, 0), "cpu/event=0x312/");
	assert_string_equal(terms(h, 4, 1 << 18, 0), "cpu/edge=0x1/");
	assert_string_equal(terms(h, 4, 0x3c, 0), "cpu/cpu-cycles/");
	assert_string_equal(terms(h, 4, 0x1cd, 3), "cpu/mem-loads/");
	assert_string_equal(terms(h, 4, 0x1cd, 4), "cpu/event=0xcd,ldlat=0x4,umask=0x1/");
	assert_null(terms(h, 33, 1, 0));
	assert_null(terms(h, 99, 1, 0));
	host_free(h);
}

static void test_tracepoints(void **state)
{
	struct host *h = host_new(root, root);

	(void)state;
	assert_string_equal(host_tracepoint(h, 318), "sched:sched_switch");
	assert_null(host_tracepoint(h, 319));
	assert_null(host_tracepoint(h, UINT64_MAX));
	host_free(h);
}

/* Where all ids take long to read, calls do not wait for that again and again, but find what is new. */
static void test_many_tracepoints(void **state)
{
	struct host *h = host_new(root, root);
	const char *name;
	char path[64], id[16];
	uint64_t start, took;
	bool early;

	(void)state;
	for (int i = 1000; i < 3000; i++) {
		snprintf(path, sizeof(path), "events/many/e%d/id", i);
		snprintf(id, sizeof(id), "%d\n", i);
		put(path, id);
	}
	/* in two seconds, as the clock counts them */
	while (clock_ns() % 1000000000 < 970000000)
		usleep(1000);
	start = clock_ns();
	assert_null(host_tracepoint(h, 3000));
	took = clock_ns() - start;
	put("events/many/new/id", "3000\n");
	while (clock_ns() / 1000000000 == start / 1000000000)
		usleep(1000);
	name = host_tracepoint(h, 3000);
	early = clock_ns() - start < 10 * took;
	assert_true(!early || !name);
	usleep((useconds_t)(21 * took / 1000));
	assert_string_equal(host_tracepoint(h, 3000), "many:new");
	host_free(h);
}

static void test_nothing_there(void **state)
{
	struct host *h = host_new("/nonexistent", "/nonexistent");

	(void)state;
	assert_null(host_pmu(h, 4));
	assert_null(host_tracepoint(h, 318));
	assert_null(terms(h, 4, 1, 0));
	host_free(h);
}

struct seen {
	int fd;
	char link[4096];
};

static void see(void *ctx, int fd, const char *link)
{
	struct seen *s = ctx;

	if (fd == s->fd)
		snprintf(s->link, sizeof(s->link), "%s", link);
}

static void test_proc(void **state)
{
	FILE *f = fopen("/dev/null", "re");
	struct seen s = { .fd = fileno(f) };
	char text[4096];

	(void)state;
	proc_each_fd(getpid(), see, &s);
	assert_string_equal(s.link, "/dev/null");
	assert_true(proc_fd_cloexec(getpid(), s.fd));
	assert_false(proc_fd_cloexec(getpid(), STDOUT_FILENO));
	assert_true(proc_fd_link(getpid(), s.fd, text, sizeof(text)));
	assert_string_equal(text, "/dev/null");
	assert_false(proc_fd_link(getpid(), 9999, text, sizeof(text)));
	assert_true(proc_exe(getpid(), text, sizeof(text)));
	assert_non_null(strstr(text, "test_host"));
	fclose(f);
}

/* What a process of another root directory maps, and one that has ended. */
static void test_mapped_file(void **state)
{
	struct buf name = { 0 };
	char proc[TREE_PATH + 64], path[TREE_PATH + 64];
	int fd;

	(void)state;
	snprintf(proc, sizeof(proc), "%s/proc", root);
	put("proc/17/root/lib", "of the container\n");
	put("ours", "of the host\n");
	snprintf(path, sizeof(path), "%s/ours", root);
	fd = mapped_file_open(proc, 17, "/lib", &name);
	assert_true(fd >= 0);
	close(fd);
	assert_string_equal(buf_str(&name) + strlen(proc), "/17/root/lib");
	assert_int_equal(mapped_file_open(proc, 17, path, &name), -1);
	fd = mapped_file_open(proc, 18, path, &name);
	assert_true(fd >= 0);
	close(fd);
	assert_string_equal(buf_str(&name), path);
	assert_int_equal(mapped_file_open(proc, 17, "/", &name), -1); /* a directory */
	buf_free(&name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pmus),
		cmocka_unit_test(test_tracepoints),
		cmocka_unit_test(test_many_tracepoints),
		cmocka_unit_test(test_nothing_there),
		cmocka_unit_test(test_proc),
		cmocka_unit_test(test_mapped_file),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
