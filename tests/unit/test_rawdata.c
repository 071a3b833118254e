// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Raw data of tracepoints: by formats that this test makes up, by all formats
 * of this machine, and of real samples whose fields are known.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/abi/layout.h"
#include "core/host/host.h"
#include "core/host/rawdata.h"
#include "core/host/sysfile.h"
#include "formats/text/text.h"
#ifdef HAVE_LIBTRACEEVENT
#include "tep_oracle.h"
#endif
#include "tree.h"

static const char *format_of(void *ctx, uint64_t id)
{
	return host_format(ctx, id);
}

static char root[TREE_PATH];
static const char *tracefs;	/* the machine's own, or NULL */
static const char *why_skipped = "tracefs is not mounted, and mounting it needs root";
static bool mounted;

static void put(const char *path, const char *text)
{
	tree_put(root, path, text);
}

#define COMMON(id) \
	"name: x\nID: " #id "\nformat:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define F(decl, offset, size, is_signed) \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #is_signed ";\n"

static const char mixed[] = COMMON(300)
	F("char comm[16]", 8, 16, 0)
	F("pid_t pid", 24, 4, 1)
	F("u8 octet", 28, 1, 0)
	F("signed char tiny", 29, 1, 1)
	F("unsigned short half", 30, 2, 0)
	F("const char * filename", 32, 8, 0)
	F("unsigned long flags", 40, 8, 0)
	F("unsigned long ip", 48, 8, 0)
	F("__data_loc char[] name", 56, 4, 0)
	F("__data_loc u32[] ids", 60, 4, 0)
	F("__rel_loc char[] near", 64, 4, 0)
	F("u8 mac[6]", 68, 6, 0)
	F("s16 pair[2]", 74, 4, 1)
	F("struct in6_addr where", 80, 16, 0)
	F("loff_t offset", 96, 8, 1)
	"\nprint fmt: \"comm=%s \\\"%%\" \" pid=%*d flags=%s ip=%pS half=%#x\", "
	"REC->comm, 4, REC->pid, (REC->flags) ? __print_flags(REC->flags, "
	"\"|\", { 1, \"A,\" }) : \"none\", (void *)REC->ip, REC->half\n";

static const char call[] = COMMON(301)
	F("int __syscall_nr", 8, 4, 1)
	F("int dfd", 16, 8, 0)
	F("unsigned int count", 24, 8, 0)
	F("umode_t mode", 32, 8, 0)
	"\nprint fmt: \"dfd: 0x%08lx, count: 0x%08lx, mode: 0x%08lx\", "
	"((unsigned long)(REC->dfd)), ((unsigned long)(REC->count)), "
	"((unsigned long)(REC->mode))\n";

static const char rest[] = COMMON(302)
	F("unsigned long ip", 8, 8, 0)
	F("char buf[]", 16, 0, 0)
	"\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n";

static const char wrong[] = COMMON(303) "\tfield:int x;\toffset:-1;\tsize:4;\n";

static bool is_mounted(const char *dir)
{
	char path[256], text[64];

	snprintf(path, sizeof(path), "%s/events/sched/sched_switch/id", dir);
	return sysfile_read(AT_FDCWD, path, text, sizeof(text));
}

static void find_tracefs(void)
{
	static char own[TREE_PATH + 64];

	if (is_mounted("/sys/kernel/tracing")) {
		tracefs = "/sys/kernel/tracing";
		return;
	}
	snprintf(own, sizeof(own), "%s/mnt", root);
	mkdir(own, 0700);
	if (mount("none", own, "tracefs", 0, NULL))
		return;
	mounted = true;
	tracefs = own;
}

static int setup(void **state)
{
	(void)state;
	tree_new(root, "raw");
	put("events/t/mixed/id", "300\n");
	put("events/t/mixed/format", mixed);
	put("events/t/call/id", "301\n");
	put("events/t/call/format", call);
	put("events/t/rest/id", "302\n");
	put("events/t/rest/format", rest);
	put("events/t/wrong/id", "303\n");
	put("events/t/wrong/format", wrong);
	put("events/t/none/id", "304\n");
	find_tracefs();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (mounted && umount(tracefs))
		return -1;
	return tree_remove(root);
}

/* The sample as text, or "unknown". */
static const char *text_of(struct rawdata *r, uint64_t id, const void *data,
			   size_t len, bool full)
{
	static struct buf out;
	struct text_sink t;

	buf_reset(&out);
	text_sink_init(&t, &out);
	t.sink.full = full;
	t.sink.max_string = 20;
	sink_begin(&t.sink, NULL, SINK_OBJECT);
	if (!rawdata_emit(r, id, data, len, &t.sink))
		return "unknown";
	sink_end(&t.sink);
	return buf_str(&out);
}

static void set(uint8_t *p, size_t at, uint64_t v, size_t size)
{
	store_uint(p + at, size, v);
}

static size_t make_mixed(uint8_t *p)
{
	memset(p, 0, 160);
	set(p, 0, 300, 2);
	set(p, 4, 77, 4);
	strcpy((char *)p + 8, "cat");
	set(p, 24, (uint64_t)-5, 4);
	set(p, 28, 200, 1);
	set(p, 29, (uint64_t)-3, 1);
	set(p, 30, 0x1234, 2);
	set(p, 32, 0x7fff0010, 8);
	set(p, 40, 0x41, 8);
	set(p, 48, 0xffffffff81000010, 8);
	set(p, 56, 104 | 6 << 16, 4);
	set(p, 60, 112 | 8 << 16, 4);
	set(p, 64, (120 - 68) | 3 << 16, 4);
	memcpy(p + 68, "\1\2\3\4\5\6", 6);
	set(p, 74, (uint64_t)-1, 2);
	set(p, 76, 7, 2);
	set(p, 80, 0xfe, 1);
	set(p, 96, (uint64_t)-9, 8);
	strcpy((char *)p + 104, "hello");
	set(p, 112, 8, 4);
	set(p, 116, 9, 4);
	strcpy((char *)p + 120, "ab");
	return 128;
}

#define MIXED \
	"comm=\"cat\", pid=-5, octet=200, tiny=-3, half=0x1234, " \
	"filename=0x7fff0010, flags=0x41, ip=0xffffffff81000010, " \
	"name=\"hello\", ids=[8, 9], near=\"ab\", " \
	"mac=\"\\1\\2\\3\\4\\5\\6\", pair=[-1, 7], " \
	"where=\"\\376\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\", offset=-9}"

static void test_fields(void **state)
{
	struct host *h = host_new(root, root);
	struct rawdata *r = rawdata_new(format_of, h);
	uint8_t data[160];
	size_t len = make_mixed(data);

	(void)state;
	assert_string_equal(text_of(r, 300, data, len, false), "{" MIXED);
	/* without an id the data tells it; with another's, it is not believed */
	assert_string_equal(text_of(r, 0, data, len, false), "{" MIXED);
	assert_string_equal(text_of(r, 301, data, len, false), "unknown");
	assert_string_equal(text_of(r, 300, data, len, true),
		"{common_type=300, common_flags=0, common_preempt_count=0, "
		"common_pid=77, " MIXED);
	rawdata_free(r);
	host_free(h);
}

static void test_calls_and_rests(void **state)
{
	struct host *h = host_new(root, root);
	struct rawdata *r = rawdata_new(format_of, h);
	uint8_t data[64] = { 0 };

	(void)state;
	set(data, 0, 301, 2);
	set(data, 8, 257, 4);
	set(data, 16, 0xffffff9c, 8);
	set(data, 24, 0xdead00000003, 8);
	set(data, 32, 0644, 8);
	/* a call sees as much of a register as its type has */
	assert_string_equal(text_of(r, 301, data, 40, false),
		"{__syscall_nr=257, dfd=-100, count=3, mode=420}");
	memset(data, 0, sizeof(data));
	set(data, 0, 302, 2);
	strcpy((char *)data + 16, "all that is left, and more");
	assert_string_equal(text_of(r, 302, data, 48, false),
		"{ip=NULL, buf=\"all that is left, an\"...}");
	assert_string_equal(text_of(r, 302, data, 20, false),
		"{ip=NULL, buf=\"all \"}");
	set(data, 0, 303, 2);
	assert_string_equal(text_of(r, 303, data, 48, false), "unknown");
	set(data, 0, 304, 2);
	assert_string_equal(text_of(r, 304, data, 48, false), "unknown");
	set(data, 0, 305, 2);
	assert_string_equal(text_of(r, 305, data, 48, false), "unknown");
	rawdata_free(r);
	host_free(h);
}

static void test_formats_are_kept(void **state)
{
	struct host *h = host_new(root, root);
	struct rawdata *r = rawdata_new(format_of, h);
	uint8_t data[64] = { 0 };

	(void)state;
	set(data, 0, 302, 2);
	assert_string_equal(text_of(r, 302, data, 20, false), "{ip=NULL, buf=\"\"}");
	put("events/t/rest/format", wrong);
	assert_string_equal(text_of(r, 302, data, 20, false), "{ip=NULL, buf=\"\"}");
	put("events/t/rest/format", rest);
	rawdata_free(r);
	host_free(h);
}

/* Every byte is at the end of its allocation, for AddressSanitizer to see. */
static void emit_copy(struct rawdata *r, const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	memcpy(copy, data, len);
	text_of(r, 0, copy, len, true);
	free(copy);
}

static void test_hostile_data(void **state)
{
	struct host *h = host_new(root, root);
	struct rawdata *r = rawdata_new(format_of, h);
	uint8_t data[160];
	size_t len = make_mixed(data);

	(void)state;
	for (size_t n = 0; n <= len; n++)
		emit_copy(r, data, n);
	assert_string_equal(text_of(r, 300, data, 8, false), "unknown");
	assert_string_equal(text_of(r, 300, data, 28, false),
		"{comm=\"cat\", pid=-5 /* too short for 13 fields */}");
	set(data, 56, 104 | 0xffffu << 16, 4);
	assert_non_null(strstr(text_of(r, 300, data, len, false),
		"name=0xffff0068 /* 65535 bytes at 104 of 128 */, ids=[8, 9]"));
	srand(1);
	for (int i = 0; i < 20000; i++) {
		make_mixed(data);
		for (int j = 0; j < 8; j++)
			data[2 + rand() % 126] = (uint8_t)rand();
		set(data, 0, 300 + (unsigned int)rand() % 3, 2);
		emit_copy(r, data, (size_t)rand() % (len + 1));
	}
	rawdata_free(r);
	host_free(h);
}

static void test_hostile_format(void **state)
{
	size_t len = strlen(mixed);

	(void)state;
	srand(2);
	for (int i = 0; i < 20000; i++) {
		char *text = malloc(len + 1);
		size_t n = (size_t)rand() % (len + 1);
		struct raw_format f;

		memcpy(text, mixed, n);
		for (int j = rand() % 6; j > 0 && n; j--)
			text[(size_t)rand() % n] = "\n;:[]\",%(){}\\ a9"[rand() % 16];
		text[n] = '\0';
		if (raw_format_parse(&f, text, n))
			raw_format_hints(&f, text);
		raw_format_free(&f);
		free(text);
	}
}

#ifdef HAVE_LIBTRACEEVENT

static void assert_same(const char *text, size_t len, const char *what)
{
	struct raw_format a, b;

	assert_true(raw_format_parse(&a, text, len));
	if (!tep_parse(&b, text, len))
		fail_msg("%s: libtraceevent fails", what);
	assert_int_equal(a.nfields, b.nfields);
	for (size_t i = 0; i < a.nfields; i++) {
		struct raw_field x = a.fields[i], y = b.fields[i];

		assert_string_equal(x.name, y.name);
		if (x.kind != y.kind || x.base != y.base ||
		    x.offset != y.offset || x.size != y.size ||
		    x.elem != y.elem || x.narrow != y.narrow ||
		    x.is_signed != y.is_signed || x.common != y.common ||
		    x.array != y.array || x.dynamic != y.dynamic ||
		    x.relative != y.relative)
			fail_msg("%s: %s: kind %d %d base %d %d elem %u %u array %d %d signed %d %d",
				 what, x.name, x.kind, y.kind, x.base, y.base,
				 x.elem, y.elem, x.array, y.array, x.is_signed,
				 y.is_signed);
	}
	raw_format_free(&a);
	raw_format_free(&b);
}

#else

static void assert_same(const char *text, size_t len, const char *what)
{
	(void)text, (void)len, (void)what;
	print_message("libtraceevent is not here\n");
	skip();
}

#endif

static void test_parsers_agree(void **state)
{
	(void)state;
	assert_same(mixed, strlen(mixed), "mixed");
	assert_same(call, strlen(call), "call");
	assert_same(rest, strlen(rest), "rest");
}

static void need_tracefs(void)
{
	if (tracefs)
		return;
	print_message("%s\n", why_skipped);
	skip();
}

static void test_parsers_agree_on_all(void **state)
{
	char command[256], path[512], *text = malloc(1 << 20);
	unsigned int n = 0;
	FILE *list;

	(void)state;
	if (!tracefs)
		free(text);
	need_tracefs();
	snprintf(command, sizeof(command), "ls %s/events/*/*/format", tracefs);
	list = popen(command, "r");
	while (fgets(path, sizeof(path), list)) {
		size_t len;
		FILE *f;

		path[strcspn(path, "\n")] = '\0';
		f = fopen(path, "r");
		len = f ? fread(text, 1, (1 << 20) - 1, f) : 0;
		if (f)
			fclose(f);
		text[len] = '\0';
#ifdef HAVE_LIBTRACEEVENT
		assert_same(text, len, path);
#else
		struct raw_format format;

		assert_true(raw_format_parse(&format, text, len));
		raw_format_free(&format);
#endif
		n++;
	}
	pclose(list);
	free(text);
	print_message("%u formats\n", n);
	assert_true(n > 10);
}

/* An event with a ring, and the first sample in it. */
struct probe {
	uint64_t id;
	int fd;
	uint8_t *ring;
	const uint8_t *raw;
	uint32_t len;
};

enum { RING = 9 * 4096 };

static bool probe_open(struct probe *p, const char *event, pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr),
		.sample_period = 1, .sample_type = PERF_SAMPLE_RAW,
		.disabled = 1, .enable_on_exec = pid != 0,
	};
	char path[256], text[32];

	snprintf(path, sizeof(path), "%s/events/%s/id", tracefs, event);
	if (!sysfile_read(AT_FDCWD, path, text, sizeof(text)))
		return false;
	*p = (struct probe){ .id = strtoull(text, NULL, 10) };
	attr.config = p->id;
	p->fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, 8UL);
	if (p->fd < 0)
		return false;
	p->ring = mmap(NULL, RING, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	assert_ptr_not_equal(p->ring, MAP_FAILED);
	return true;
}

static void probe_read(struct probe *p)
{
	const struct perf_event_header *first = (void *)(p->ring + 4096);
	const struct perf_event_mmap_page *page = (void *)p->ring;

	assert_true(page->data_head >= sizeof(*first) + 4);
	assert_int_equal(first->type, PERF_RECORD_SAMPLE);
	memcpy(&p->len, first + 1, 4);
	p->raw = (const uint8_t *)(first + 1) + 4;
	assert_true(p->len >= 8 && p->len <= first->size - sizeof(*first) - 4);
}

static void probe_close(struct probe *p)
{
	munmap(p->ring, RING);
	close(p->fd);
}

static void expect(struct probe *p, const char *what)
{
	struct host *h = host_new("/sys", tracefs);
	struct rawdata *r = rawdata_new(format_of, h);
	const char *text;

	probe_read(p);
	text = text_of(r, p->id, p->raw, p->len, true);
	if (!strstr(text, what))
		fail_msg("no %s in %s", what, text);
	probe_close(p);
	rawdata_free(r);
	host_free(h);
}

static void need_probe(struct probe *p, const char *event, pid_t pid)
{
	need_tracefs();
	if (probe_open(p, event, pid))
		return;
	print_message("cannot open %s\n", event);
	skip();
}

static void test_live_rename(void **state)
{
	struct probe p;
	char what[128];

	(void)state;
	need_probe(&p, "task/task_rename", 0);
	prctl(PR_SET_NAME, "before");
	ioctl(p.fd, PERF_EVENT_IOC_ENABLE, 0);
	prctl(PR_SET_NAME, "behind");
	ioctl(p.fd, PERF_EVENT_IOC_DISABLE, 0);
	/* older kernels have a pid first */
	snprintf(what, sizeof(what),
		 "oldcomm=\"before\", newcomm=\"behind\", oom_score_adj=");
	expect(&p, what);
}

static void test_live_call(void **state)
{
	struct utsname machine;
	struct probe p;
	char what[128];

	(void)state;
	uname(&machine);
	if (sizeof(long) == 4 && strstr(machine.machine, "64")) {
		print_message("# a 64-bit kernel has no tracepoints for 32-bit system calls\n");
		skip();
	}
	need_probe(&p, "syscalls/sys_enter_lseek", 0);
	ioctl(p.fd, PERF_EVENT_IOC_ENABLE, 0);
	syscall(SYS_lseek, -7, -123456789012L, 2);
	ioctl(p.fd, PERF_EVENT_IOC_DISABLE, 0);
	snprintf(what, sizeof(what), "common_pid=%d, __syscall_nr=%d, "
		 "fd=%u, offset=%llu, whence=2", (int)syscall(SYS_gettid),
		 (int)SYS_lseek, (unsigned int)-7,
		 (unsigned long long)-123456789012);
	expect(&p, what);
}

static void test_live_exec(void **state)
{
	struct probe p;
	char what[128];
	int go[2], status;
	pid_t pid;
	char c;

	(void)state;
	need_tracefs();
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		close(go[1]);
		if (read(go[0], &c, 1) == 1)
			execl("/bin/true", "true", NULL);
		_exit(1);
	}
	close(go[0]);
	if (!probe_open(&p, "sched/sched_process_exec", pid)) {
		close(go[1]);
		waitpid(pid, &status, 0);
		skip();
	}
	assert_int_equal(write(go[1], "x", 1), 1);
	close(go[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	snprintf(what, sizeof(what), "filename=\"/bin/true\", pid=%d, old_pid=%d",
		 pid, pid);
	expect(&p, what);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_calls_and_rests),
		cmocka_unit_test(test_formats_are_kept),
		cmocka_unit_test(test_hostile_data),
		cmocka_unit_test(test_hostile_format),
		cmocka_unit_test(test_parsers_agree),
		cmocka_unit_test(test_parsers_agree_on_all),
		cmocka_unit_test(test_live_rename),
		cmocka_unit_test(test_live_call),
		cmocka_unit_test(test_live_exec),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
