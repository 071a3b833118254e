// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of addresses: of this program, of children of it that have exited, of
 * the kernel, and of files that lie.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/host/symbols.h"
#include "core/host/symtab.h"
#include "core/lib/maps.h"
#include "tree.h"

static char root[TREE_PATH];

static void put(const char *path, const char *text)
{
	tree_put(root, path, text);
}

static int setup(void **state)
{
	(void)state;
	tree_new(root, "sym");
	put("proc/kallsyms",
	    "0000000000000000 A fixed_percpu_data\n"
	    "ffffffff81000000 T _stext\n"
	    "ffffffff81000000 t startup\n"
	    "ffffffff81000100 T __do_thing\n"
	    "ffffffff81000100 T do_thing\n"
	    "ffffffff81000180 D some_data\n"
	    "not a line\n"
	    "ffffffff81000200\n"
	    "ffffffffc0001000 t ext4_sync_fs\t[ext4]\n"
	    "ffffffffc0001100 t bpf_prog_1\x1b[2J\t[bpf]\n");
	put("hidden/kallsyms", "0000000000000000 T _stext\n"
	    "0000000000000000 t ext4_sync_fs\t[ext4]\n");
	put("proc/77/maps",
	    "1000-2000 r--p 00000000 08:01 5 /bin/prog\n"
	    "2000-3000 r-xp 00001000 08:01 5                /bin/prog name\n"
	    "5000-6000 r-xp 00000000 00:00 0 \n"
	    "7000-8000 r-xp 00000000 00:00 0      [vdso]\n"
	    "8000-\n9000 r-xp\n");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return tree_remove(root);
}

static struct symbols *fake(const char *name)
{
	static char proc[TREE_PATH + 64];

	snprintf(proc, sizeof(proc), "%s/%s", root, name);
	return symbols_new(proc);
}

static void test_kernel(void **state)
{
	struct symbols *y = fake("proc");
	static const struct {
		uint64_t ip;
		const char *name;
	} cases[] = {
		{ 0xffffffff81000010, "_stext+0x10 (kernel)" },
		{ 0xffffffff81000100, "do_thing+0x0 (kernel)" },
		{ 0xffffffff81000190, "do_thing+0x90 (kernel)" },
		{ 0xffffffffc0001008, "ext4_sync_fs+0x8 (ext4)" },
		{ 0xffffffffc0001100, "bpf_prog_1\\033[2J+0x0 (bpf)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(symbols_name(y, -1, cases[i].ip, true, false), cases[i].name);
	assert_null(symbols_name(y, 1, 0, true, false));
	assert_null(symbols_name(y, 1, 0x400000, true, false));
	/* far behind the last one */
	assert_null(symbols_name(y, 1, 0xffffffff90000000, true, false));
	assert_null(symbols_name(y, 1, UINT64_MAX, true, false));
	symbols_free(y);
	y = fake("hidden");
	assert_null(symbols_name(y, 1, 0xffffffff81000010, true, false));
	symbols_free(y);
	y = fake("nonexistent");
	assert_null(symbols_name(y, 1, 0xffffffff81000010, true, false));
	symbols_free(y);
}

/* Each address that the machine's kallsyms gives has the name given there. */
static void test_real_kernel(void **state)
{
	struct symbols *y = symbols_new(NULL);
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long long addr = 0;
	char name[512], want[600];

	(void)state;
	while (f && fscanf(f, "%llx %*c %511s%*[^\n]", &addr, name) == 2)
		if (!addr || !strcmp(name, "schedule"))
			break;
	if (f)
		fclose(f);
	if (!f || !addr || strcmp(name, "schedule")) {
		symbols_free(y);
		print_message("/proc/kallsyms hides its addresses\n");
		skip();
	}
	snprintf(want, sizeof(want), "%s+0x4 (kernel)", name);
	assert_string_equal(symbols_name(y, -1, addr + 4, true, false), want);
	symbols_free(y);
}

static void test_maps(void **state)
{
	struct symbols *y = fake("proc");

	(void)state;
	assert_string_equal(symbols_name(y, 77, 0x2010, false, false), "prog name+0x1010");
	assert_string_equal(symbols_name(y, 77, 0x7010, false, false), "[vdso]+0x10");
	assert_null(symbols_name(y, 77, 0x1010, false, false));
	assert_null(symbols_name(y, 77, 0x3000, false, false));
	assert_null(symbols_name(y, 77, 0x5010, false, false));
	assert_null(symbols_name(y, 78, 0x2010, false, false));
	assert_null(symbols_name(y, -1, 0x2010, false, false));
	assert_null(symbols_name(y, 0, 0x2010, false, false));
	/* what records tell goes over what was there, and splits it */
	symbols_map(y, 77, 0x2400, 0x100, 0x10, "//anon\n");
	assert_string_equal(symbols_name(y, 77, 0x23ff, false, false), "prog name+0x13ff");
	assert_string_equal(symbols_name(y, 77, 0x2400, false, false), "anon\\012+0x10");
	assert_string_equal(symbols_name(y, 77, 0x2500, false, false), "prog name+0x1500");
	symbols_map(y, -1, 0, UINT64_MAX, 0, "[kernel.kallsyms]_text");
	symbols_map(y, 77, 0x2500, UINT64_MAX, 0, "/overflow");
	assert_string_equal(symbols_name(y, 77, 0x2500, false, false), "prog name+0x1500");
	/* a child has them, also when its parent is forgotten */
	symbols_fork(y, 77, 79);
	symbols_fork(y, 500, 501);
	symbols_forget(y, 77);
	assert_string_equal(symbols_name(y, 79, 0x2400, false, false), "anon\\012+0x10");
	assert_string_equal(symbols_name(y, 77, 0x2400, false, false), "prog name+0x1400");
	symbols_free(y);
}

/* Any order of additions leaves a list in order without overlaps. */
static void test_maps_in_any_order(void **state)
{
	static int owner[256];
	struct maps m = { 0 };
	char path[16];

	(void)state;
	srand(3);
	for (int i = 1; i < 5000; i++) {
		uint64_t start = (uint64_t)rand() % 256;
		uint64_t end = start + (uint64_t)rand() % (257 - start);

		snprintf(path, sizeof(path), "%d", i);
		maps_add(&m, start, end, start, path);
		for (uint64_t at = start; at < end; at++)
			owner[at] = i;
		for (uint64_t at = 0; i % 16 == 0 && at < 256; at++) {
			struct mapping *x = maps_find(&m, at);

			assert_int_equal(x ? atoi(x->path) : 0, owner[at]);
			assert_true(!x || x->pgoff == x->start);
		}
	}
	maps_free(&m);
}

static void test_many_processes(void **state)
{
	struct symbols *y = fake("proc");

	(void)state;
	for (pid_t pid = 1; pid < 5000; pid++)
		symbols_map(y, pid, 0x1000, 0x1000, 0, "/a/lib");
	assert_null(symbols_name(y, 1, 0x1000, false, false));
	assert_string_equal(symbols_name(y, 4999, 0x1000, false, false), "lib+0x0");
	symbols_free(y);
}

static __attribute__((noinline)) int findable(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3;
}

int __twice_named(int x);
__attribute__((noinline)) int __twice_named(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 5;
}
int twice_named(int x) __attribute__((weak, alias("__twice_named")));

static void assert_starts(const char *text, const char *start)
{
	if (!text || strncmp(text, start, strlen(start)))
		fail_msg("%s instead of %s", text ? text : "nothing", start);
}

static void need_libdw(void)
{
#ifndef HAVE_LIBDW
	print_message("libdw is not built in\n");
	skip();
#endif
}

static uint64_t here(void)
{
	return (uint64_t)(uintptr_t)findable;
}

static void test_own(void **state)
{
	struct symbols *y;

	(void)state;
	need_libdw();
	y = symbols_new(NULL);
	assert_int_equal(findable(2), 6);
	assert_starts(symbols_name(y, getpid(), here() + 2, false, false),
		      "findable+0x2 (test_symbols");
	symbols_free(y);
}

/* Of the names of one address, the one that a program calls it by. */
static void test_aliases(void **state)
{
	static const struct {
		const char *better, *worse;
		bool worse_global;
	} cases[] = {
		{ "qsort_r", "__qsort_r", true },
		{ "__libc_start_main", "__libc_start_main_impl", true },
		{ "_stext", "startup", false },
	};
	struct symbols *y;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const char *better = cases[i / 2].better, *worse = cases[i / 2].worse;
		bool global = cases[i / 2].worse_global;
		struct symtab t = { 0 };

		symtab_add(&t, 16, 8, i % 2 || global, i % 2 ? better : worse, NULL);
		symtab_add(&t, 16, 8, !(i % 2) || global, i % 2 ? worse : better, NULL);
		symtab_sort(&t);
		assert_string_equal(symtab_name(&t, symtab_find(&t, 17)), better);
		symtab_free(&t);
	}
	need_libdw();
	y = symbols_new(NULL);
	assert_int_equal(twice_named(2), 10);
	assert_starts(symbols_name(y, getpid(), (uint64_t)(uintptr_t)twice_named + 1, false, false),
		      "twice_named+0x1 (test_symbols");
	symbols_free(y);
}

/* Without libdw every address of a file is an offset. */
static void test_offset(void **state)
{
	struct symbols *y = symbols_new(NULL);
	const char *name = symbols_name(y, getpid(), here(), false, false);

	(void)state;
	assert_non_null(name);
#ifndef HAVE_LIBDW
	assert_starts(name, "test_symbols+0x");
#endif
	symbols_free(y);
}

static void test_library(void **state)
{
	struct symbols *y;
	uint64_t ip = 0;
	char line[512];
	FILE *f;

	(void)state;
	need_libdw();
	y = symbols_new(NULL);
	/* the address that the library itself resolves, not a stub of ours */
	f = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "libcmocka") && strstr(line, "r-xp"))
			ip = strtoull(line, NULL, 16);
	fclose(f);
	assert_true(ip);
	for (uint64_t at = ip; at < ip + 0x2000; at += 16) {
		const char *name = symbols_name(y, getpid(), at, false, false);

		assert_non_null(strstr(name, "libcmocka"));
	}
	symbols_free(y);
}

static void test_exited(void **state)
{
	struct symbols *y;
	int out[2], status;
	pid_t pid;

	(void)state;
	need_libdw();
	y = symbols_new(NULL);
	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (!pid) {
		char c;

		close(out[1]);
		_exit(read(out[0], &c, 1) > 0);
	}
	assert_non_null(symbols_name(y, pid, here() + 1, false, false));
	close(out[0]);
	close(out[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_starts(symbols_name(y, pid, here() + 1, false, false), "findable+0x1 (");
	symbols_forget(y, pid);
	assert_null(symbols_name(y, pid, here() + 1, false, false));
	symbols_free(y);
}

/* What PERF_RECORD_MMAP2 would say of this program, for a pid that is gone. */
static void test_fed(void **state)
{
	struct symbols *y;
	struct maps m = { 0 };
	const struct mapping *x;
	FILE *f;

	(void)state;
	need_libdw();
	y = symbols_new(NULL);
	f = fopen("/proc/self/maps", "r");
	maps_read(&m, f);
	fclose(f);
	x = maps_find(&m, here());
	assert_non_null(x);
	symbols_map(y, 0x7ffffff0, x->start, x->end - x->start, x->pgoff, x->path);
	assert_starts(symbols_name(y, 0x7ffffff0, here() + 1, false, false), "findable+0x1 (");
	maps_free(&m);
	symbols_free(y);
}

/* Code of a file that was deleted since: only the mapping itself leads to it. */
static void test_deleted(void **state)
{
	char path[TREE_PATH + 64], command[512];
	struct symbols *y;
	const char *name;
	struct maps m = { 0 };
	struct mapping *x;
	uint64_t offset, page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct stat st;
	uint8_t *p;
	FILE *f;
	int fd;

	(void)state;
	need_libdw();
	f = fopen("/proc/self/maps", "r");
	maps_read(&m, f);
	fclose(f);
	x = maps_find(&m, here());
	offset = here() - x->start + x->pgoff;
	maps_free(&m);
	snprintf(path, sizeof(path), "%s/copy", root);
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", getpid(), path);
	assert_int_equal(system(command), 0);
	fd = open(path, O_RDONLY);
	assert_int_equal(fstat(fd, &st), 0);
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	unlink(path);
	if (p == MAP_FAILED) {
		print_message("cannot map code of %s\n", root);
		skip();
	}
	y = symbols_new(NULL);
	name = symbols_name(y, getpid(), (uint64_t)(uintptr_t)p + offset, false, false);
	/* /proc/PID/map_files is for the privileged */
	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (unsigned long)p,
		 (unsigned long)(((uintptr_t)p + (uintptr_t)st.st_size + page - 1) & ~(page - 1)));
	fd = open(path, O_RDONLY);
	if (fd >= 0)
		assert_starts(name, "findable+0x0 (copy (deleted))");
	else
		assert_non_null(strstr(name, "copy (deleted)"));
	close(fd);
	symbols_free(y);
	munmap(p, (size_t)st.st_size);
}

/* Asks for names in the file, whatever it is; which come does not matter. */
static void read_bytes(const uint8_t *bytes, size_t len)
{
	struct symbols *y = symbols_new(NULL);
	char path[TREE_PATH + 64];
	int fd;

	snprintf(path, sizeof(path), "%s/elf", root);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	close(fd);
	symbols_map(y, 0x7ffffff0, 0, 0x100000, 0, path);
	for (uint64_t at = 0; at < 0x20000; at += 0x1333)
		assert_non_null(symbols_name(y, 0x7ffffff0, at, false, false));
	symbols_free(y);
}

static uint8_t *read_self(size_t *len)
{
	FILE *f = fopen("/proc/self/exe", "r");
	uint8_t *bytes;
	struct stat st;

	assert_int_equal(fstat(fileno(f), &st), 0);
	bytes = malloc((size_t)st.st_size);
	*len = fread(bytes, 1, (size_t)st.st_size, f);
	fclose(f);
	return bytes;
}

static void test_cut_elf(void **state)
{
	size_t len;
	uint8_t *bytes;

	(void)state;
	need_libdw();
	bytes = read_self(&len);
	for (size_t n = 0; n < 300; n += 7)
		read_bytes(bytes, n);
	for (size_t i = 1; i < 60; i++)
		read_bytes(bytes, len * i / 60);
	for (size_t n = 1; n < 4000; n += 61)
		read_bytes(bytes, len - n);
	free(bytes);
}

/* The places that lead the reader: file, program and section headers. */
static void flip(uint8_t *bytes, size_t len)
{
	uint64_t sections;

	memcpy(&sections, bytes + 40, 8);	/* e_shoff of ELFCLASS64 */
	for (int i = rand() % 6; i >= 0; i--) {
		size_t at = rand() % 3 == 0 ? (size_t)rand() % 64 :
			    rand() % 2 && sections < len ?
				sections + (size_t)rand() % (len - sections) :
				(size_t)rand() % len;

		bytes[at] = (uint8_t)(rand() % 2 ? rand() : 0xff);
	}
}

static void test_flipped_elf(void **state)
{
	uint8_t *bytes, *copy;
	size_t len;

	(void)state;
	need_libdw();
	bytes = read_self(&len);
	copy = malloc(len);
	srand(4);
	for (int i = 0; i < 100; i++) {
		memcpy(copy, bytes, len);
		flip(copy, len);
		read_bytes(copy, len);
	}
	free(copy);
	free(bytes);
}

/* Opening these would wait for ever, or do something. */
static void test_no_file(void **state)
{
	struct symbols *y = fake("proc");
	char path[TREE_PATH + 64];

	(void)state;
	snprintf(path, sizeof(path), "%s/fifo", root);
	assert_int_equal(mkfifo(path, 0600), 0);
	symbols_map(y, 9, 0x1000, 0x1000, 0, path);
	symbols_map(y, 9, 0x2000, 0x1000, 0, "/dev/zero");
	symbols_map(y, 9, 0x3000, 0x1000, 0, "/");
	symbols_map(y, 9, 0x4000, 0x1000, 0, "");
	assert_string_equal(symbols_name(y, 9, 0x1001, false, false), "fifo+0x1");
	assert_string_equal(symbols_name(y, 9, 0x2001, false, false), "zero+0x1");
	assert_string_equal(symbols_name(y, 9, 0x3001, false, false), "+0x1");
	assert_null(symbols_name(y, 9, 0x4001, false, false));
	symbols_free(y);
}

/* More files than are kept, asked for in turn. */
static void test_many_files(void **state)
{
	char path[TREE_PATH + 64], command[512], want[64];
	struct symbols *y = fake("proc");

	(void)state;
	snprintf(command, sizeof(command),
		 "for i in $(seq 100); do echo $i >%s/file$i; done", root);
	assert_int_equal(system(command), 0);
	for (unsigned int round = 0; round < 3; round++)
		for (unsigned int i = 1; i <= 100; i++) {
			snprintf(path, sizeof(path), "%s/file%u", root, i);
			if (!round)
				symbols_map(y, 5, i << 12, 4096, 0, path);
			snprintf(want, sizeof(want), "file%u+0x2", i);
			assert_string_equal(symbols_name(y, 5, (i << 12) + 2, false, false), want);
		}
	symbols_free(y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_real_kernel),
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_maps_in_any_order),
		cmocka_unit_test(test_many_processes),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_offset),
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_exited),
		cmocka_unit_test(test_fed),
		cmocka_unit_test(test_deleted),
		cmocka_unit_test(test_cut_elf),
		cmocka_unit_test(test_flipped_elf),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_many_files),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
