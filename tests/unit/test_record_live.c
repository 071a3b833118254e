// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records of real events on this machine.  Whatever the kernel writes, the
 * decoder must account for each of its bytes, and the ids in it must be those
 * that PERF_EVENT_IOC_ID tells.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sched.h>
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/abi/arch.h"
#include "core/abi/record.h"
#include "core/abi/xlat.h"
#include "fake.h"
#include "machine.h"
#include "formats/text/text.h"
#include "xlat/tables.h"

enum { RING_PAGES = 64, MAX_IDS = 8 };

/* One event with a ring, and those that write into it. */
struct live {
	struct perf_event_attr attr;
	struct record_format format;
	int fd, sibling;
	uint64_t ids[MAX_IDS];
	unsigned int nids;
	uint8_t *ring;
	size_t pages;
	uint64_t start_ns, tail;
};

static unsigned int seen[64], samples_with[64], combinations;
static const char *why_skipped;
static long cpus; /* musl counts those that the process may run on */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int sys_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	attr->size = sizeof(*attr);
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, 8UL);
}

static struct perf_event_attr software(uint64_t config, uint64_t sample_type)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = config,
		.sample_type = sample_type, .sample_id_all = 1,
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC, .disabled = 1,
	};

	return attr;
}

static void add_id(struct live *l, int fd)
{
	assert_int_equal(ioctl(fd, PERF_EVENT_IOC_ID, &l->ids[l->nids++]), 0);
}

/* False: the kernel does not want such an event; errno tells why. */
static bool live_open(struct live *l, const struct perf_event_attr *attr,
		      pid_t pid, int cpu, size_t pages)
{
	*l = (struct live){ .attr = *attr, .sibling = -1, .pages = pages };
	l->start_ns = now_ns();
	l->fd = sys_open(&l->attr, pid, cpu, -1);
	if (l->fd < 0)
		return false;
	l->ring = mmap(NULL, (pages + 1) * 4096, PROT_READ | PROT_WRITE,
		       MAP_SHARED, l->fd, 0);
	assert_ptr_not_equal(l->ring, MAP_FAILED);
	record_format_of(&l->format, (const uint8_t *)&l->attr, sizeof(l->attr),
			 arch_native());
	add_id(l, l->fd);
	return true;
}

static void live_enable(struct live *l)
{
	assert_int_equal(ioctl(l->fd, PERF_EVENT_IOC_ENABLE, 1), 0);
}

static bool known_id(const struct live *l, uint64_t id)
{
	for (unsigned int i = 0; i < l->nids; i++)
		if (l->ids[i] == id)
			return true;
	return false;
}

static void check_identity(const struct live *l, const struct record_id *id)
{
	uint64_t type = l->attr.sample_type;

	assert_int_equal(id->has_id, (type & 0x10040) != 0);
	assert_int_equal(id->has_tid, (type & 0x2) != 0);
	assert_int_equal(id->has_time, (type & 0x4) != 0);
	assert_int_equal(id->has_cpu, (type & 0x80) != 0);
	if (id->has_id && !known_id(l, id->id))
		fail_msg("type %u has id %llu, not %llu", id->type,
			 (unsigned long long)id->id, (unsigned long long)l->ids[0]);
	if (id->has_time)
		assert_true(id->time >= l->start_ns && id->time <= now_ns());
	if (id->has_cpu)
		assert_true(id->cpu < (uint32_t)cpus);
	if (id->has_tid)
		assert_true(id->pid >= -1 && id->tid >= -1 && id->pid < 1 << 22);
	/* an event without inherit, of this task, sees this task alone */
	if (id->has_tid && l->attr.type != PERF_TYPE_SOFTWARE && id->type == 9)
		assert_true(id->pid == getpid() && id->tid == getpid());
}

static void check_record(const struct live *l, const uint8_t *bytes, size_t len)
{
	static struct buf out;
	struct record_id id;
	struct text_sink t;
	size_t used;

	assert_true(record_identify(bytes, len, &l->format, &id));
	assert_int_equal(id.size, len);
	check_identity(l, &id);
	buf_reset(&out);
	text_sink_init(&t, &out);
	t.sink.full = l->attr.comm_exec;
	text_sink_top(&t, false, NULL);
	used = record_emit(bytes, len, &l->format, &fake_names, &t.sink, NULL);
	if (used != len || (!t.sink.full && strstr(buf_str(&out), "???")))
		fail_msg("%zu of %zu bytes, sample_type %llx: %s", used, len,
			 (unsigned long long)l->attr.sample_type, buf_str(&out));
	if (getenv("RECORDS"))
		print_message("%s\n", buf_str(&out));
	seen[id.type < 64 ? id.type : 0]++;
	for (unsigned int bit = 0; id.type == 9 && bit < 64; bit++)
		samples_with[bit] += l->attr.sample_type >> bit & 1;
}

/* Reads what is in the ring; returns the number of records of that type. */
static unsigned int live_drain(struct live *l, uint32_t type)
{
	struct perf_event_mmap_page *page = (void *)l->ring;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	size_t mask = l->pages * 4096 - 1;
	unsigned int n = 0;

	while (l->tail < head) {
		struct perf_event_header h;
		uint8_t *copy;

		/* a header never wraps: sizes are multiples of eight */
		memcpy(&h, l->ring + 4096 + (l->tail & mask), sizeof(h));
		assert_true(h.size >= 8 && h.size <= head - l->tail);
		copy = malloc(h.size);
		assert_non_null(copy);
		for (size_t i = 0; i < h.size; i++)
			copy[i] = l->ring[4096 + ((l->tail + i) & mask)];
		check_record(l, copy, h.size);
		free(copy);
		n += h.type == type;
		l->tail += h.size;
	}
	__atomic_store_n(&page->data_tail, l->tail, __ATOMIC_RELEASE);
	return n;
}

static void live_close(struct live *l)
{
	munmap(l->ring, (l->pages + 1) * 4096);
	close(l->fd);
	if (l->sibling >= 0)
		close(l->sibling);
}

/* Work for the events to see. */
static volatile uint64_t watched;

static void spin(unsigned int ms)
{
	uint64_t end = now_ns() + ms * 1000000ULL;

	while (now_ns() < end)
		watched++;
}

static void fault(void)
{
	volatile char *p = mmap(NULL, 16 * 4096, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned int i = 0; i < 16; i++)
		p[i * 4096] = 1;
	munmap((void *)p, 16 * 4096);
}

static void work(void)
{
	spin(1);
	fault();
	for (unsigned int i = 0; i < 4; i++) {
		usleep(50);
		watched++;
	}
}

/* Runs fn in a child that does nothing else. */
static void in_child(void (*fn)(void))
{
	pid_t pid = fork();

	if (!pid) {
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int setup(void **state)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_DUMMY, 0);
	int fd = sys_open(&attr, 0, -1, -1);

	(void)state;
	if (fd < 0) {
		why_skipped = strerror(errno);
	} else {
		close(fd);
	}
	/* a tracefs of our own: another test may mount and unmount one */
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL))
		print_message("tracefs: %s\n", strerror(errno));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	print_message("%u combinations; records checked:", combinations);
	for (unsigned int i = 0; i < 64; i++)
		if (seen[i])
			print_message(" %s %u", xlat_name(&xlat_perf_event_type, i),
				      seen[i]);
	print_message("\nsamples with:");
	for (unsigned int i = 0; i < 64; i++)
		if (samples_with[i])
			print_message(" %s %u", xlat_name(
				&xlat_perf_event_sample_format, 1ULL << i),
				samples_with[i]);
	print_message("\n");
	return 0;
}

static void need_perf(void)
{
	if (why_skipped) {
		print_message("this user may not count the kernel: %s\n", why_skipped);
		skip();
	}
}

#define NEED_PERF() do { (void)state; need_perf(); } while (0)

static uint64_t random_state = 88172645463325252;

static uint64_t rnd(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Asks for anything a PMU without hardware can put into a sample. */
static void any_sample(struct perf_event_attr *attr)
{
	attr->sample_type = rnd() & 0x1efffff;
	if (rnd() % 2)
		attr->sample_type &= rnd();
	if (attr->sample_type & 0x4000)
		attr->sample_type &= ~0x1000000ULL;
	attr->read_format = rnd() & 0x1f;
	attr->sample_id_all = 1;
	attr->disabled = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->sample_regs_user = attr->sample_type & 0x1000 ?
		(rnd() & 0x1ff) | 0x100 : 0;
	attr->sample_regs_intr = attr->sample_type & 0x40000 ?
		(rnd() & 0x1ff) | 0x100 : 0;
	attr->sample_stack_user = attr->sample_type & 0x2000 ? 8 << rnd() % 8 : 0;
	attr->branch_sample_type = attr->sample_type & 0x800 ?
		8 | (rnd() & 0x70000) : 0;
	attr->exclude_callchain_kernel = rnd() & 1;
	attr->exclude_callchain_user = rnd() & 1;
	attr->mmap = attr->mmap2 = attr->comm = attr->task = rnd() & 1;
	attr->context_switch = rnd() & 1;
	attr->comm_exec = rnd() & 1;
}

/* Opens, works and reads; returns the number of samples. */
static unsigned int one_combination(struct perf_event_attr *attr)
{
	struct perf_event_attr more = software(PERF_COUNT_SW_TASK_CLOCK, 0);
	struct live l;
	unsigned int n;

	any_sample(attr);
	if (!live_open(&l, attr, 0, -1, RING_PAGES)) {
		/* branches are for PMUs of hardware that has them */
		attr->sample_type &= ~0x800ULL;
		attr->branch_sample_type = 0;
		if (!live_open(&l, attr, 0, -1, RING_PAGES))
			fail_msg("sample_type %llx: %s", (unsigned long long)
				 attr->sample_type, strerror(errno));
	}
	more.disabled = 0;
	more.read_format = attr->read_format;
	if (rnd() % 2)
		l.sibling = sys_open(&more, 0, -1, l.fd);
	live_enable(&l);
	work();
	ioctl(l.fd, PERF_EVENT_IOC_DISABLE, 1);
	n = live_drain(&l, 9);
	live_close(&l);
	combinations++;
	return n;
}

/* Returns the number of samples. */
static unsigned int combine(const struct perf_event_attr *base,
			    unsigned int rounds)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < rounds; i++) {
		struct perf_event_attr attr = *base;

		n += one_combination(&attr);
	}
	return n;
}

static void test_software(void **state)
{
	static const struct { uint64_t config, period; } events[] = {
		{ PERF_COUNT_SW_CPU_CLOCK, 100000 },
		{ PERF_COUNT_SW_PAGE_FAULTS, 1 },
		{ PERF_COUNT_SW_CONTEXT_SWITCHES, 1 },
	};

	NEED_PERF();
	for (unsigned int i = 0; i < 3; i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_SOFTWARE, .config = events[i].config,
			.sample_period = events[i].period,
		};

		assert_true(combine(&attr, 60) > 0);
	}
}

/* The tracepoint's id, 0 if there is none to be seen. */
static uint64_t tracepoint(const char *name)
{
	unsigned long long id = 0;
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", name);
	file = fopen(path, "r");
	if (!file) {
		print_message("%s: %s\n", path, strerror(errno));
		return 0;
	}
	assert_int_equal(fscanf(file, "%llu", &id), 1);
	fclose(file);
	return id;
}

static void test_tracepoint(void **state)
{
	static const char *const names[] = {
		"sched/sched_switch", "raw_syscalls/sys_enter",
		"kmem/kmem_cache_alloc",
	};
	unsigned int found = 0, samples = 0;

	NEED_PERF();
	for (unsigned int i = 0; i < 3; i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_TRACEPOINT, .sample_period = 1,
			.config = tracepoint(names[i]),
		};

		if (!attr.config)
			continue;
		samples += combine(&attr, 60);
		found++;
	}
	if (!found)
		skip();
	assert_true(samples > 0);
}

static void test_breakpoint(void **state)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched, .bp_len = HW_BREAKPOINT_LEN_8,
		.sample_period = 1000, .size = sizeof(attr),
	};

	NEED_PERF();
	need_breakpoints();
	assert_true(combine(&attr, 40) > 0);
}

/* Three writers in one ring: the id of a sibling's sample is the sibling's. */
static void test_group(void **state)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_CPU_CLOCK, 0x102d7);
	struct live l;

	NEED_PERF();
	attr.sample_period = 200000;
	attr.read_format = 0x1f;
	assert_true(live_open(&l, &attr, 0, -1, RING_PAGES));
	attr.disabled = 0;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	attr.sample_period = 1;
	l.sibling = sys_open(&attr, 0, -1, l.fd);
	assert_true(l.sibling >= 0);
	add_id(&l, l.sibling);
	assert_int_equal(ioctl(l.sibling, PERF_EVENT_IOC_SET_OUTPUT, l.fd), 0);
	live_enable(&l);
	work();
	assert_true(live_drain(&l, 9) > 16);
	live_close(&l);
}

static void map_and_rename(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	prctl(PR_SET_NAME, "renamed");
	if (unshare(CLONE_NEWUTS))
		print_message("unshare: %s\n", strerror(errno));
	work();
	execl("/bin/true", "true", NULL);
}

/* Records of namespaces require CAP_PERFMON, even if perf_event_paranoid lets users count all. */
static bool may_see_namespaces(void)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_DUMMY, 0);
	int fd;

	attr.namespaces = 1;
	fd = sys_open(&attr, 0, -1, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* All side-band records of a process, with each sample_id that there is. */
static void sideband(uint64_t sample_type, unsigned int how)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_DUMMY, sample_type);
	struct perf_event_attr alone = software(PERF_COUNT_SW_DUMMY, 0);
	/*
	 * Between tasks whose events are all inherited the kernel swaps them
	 * as they are scheduled; the one that ends then has nothing to READ.
	 */
	int other = sys_open(&alone, 0, -1, -1);
	struct live l;

	attr.inherit = 1;
	attr.inherit_stat = how >> 2 & 1;
	attr.read_format = how >> 2 & 1 ? 0x17 : 0;
	attr.mmap = attr.mmap_data = attr.comm = attr.comm_exec = attr.task = 1;
	attr.context_switch = 1;
	attr.namespaces = may_see_namespaces();
	attr.mmap2 = how & 1;
	attr.build_id = how >> 1 & 1;
	/* an inherited event needs a CPU to have a ring */
	if (!live_open(&l, &attr, 0, how >> 3 & 1 && sysconf(_SC_NPROCESSORS_ONLN) > 1,
		       RING_PAGES))
		fail_msg("%s", strerror(errno));
	live_enable(&l);
	in_child(map_and_rename);
	ioctl(l.fd, PERF_EVENT_IOC_DISABLE, 0);
	live_drain(&l, 0);
	live_close(&l);
	close(other);
	combinations++;
}

static void test_sideband(void **state)
{
	static const uint64_t bits[] = { 0x2, 0x4, 0x40, 0x200, 0x80, 0x10000 };

	NEED_PERF();
	for (unsigned int set = 0; set < 64; set++) {
		uint64_t type = 0;

		for (unsigned int i = 0; i < 6; i++)
			type |= set >> i & 1 ? bits[i] : 0;
		sideband(type, set * 5);
		sideband(type, set * 5 + 8);
	}
	assert_true(seen[1] && seen[3] && seen[4] && seen[7] && seen[8]);
	assert_true(seen[10] && seen[14]);
}

/* A program that returns 0; it gets a kernel symbol when it is compiled. */
static void load_bpf(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER, .insn_cnt = 2,
		.insns = (uintptr_t)insns, .license = (uintptr_t)"GPL",
		.prog_name = "pevtrace_test",
	};
	int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	if (fd < 0)
		print_message("bpf: %s\n", strerror(errno));
	else
		close(fd);
}

static void make_cgroup(void)
{
	/* events follow the second version's tree, where there are both */
	bool both = !access("/sys/fs/cgroup/unified", F_OK);
	char path[64];

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/pevtrace-test-%d",
		 both ? "/unified" : "", getpid());
	if (mkdir(path, 0755))
		print_message("%s: %s\n", path, strerror(errno));
	else
		rmdir(path);
}

/* The first event of a kind makes the kernel change its code. */
static void patch_kernel(void)
{
	for (uint64_t config = 0; config < 12; config++) {
		struct perf_event_attr attr = software(config, 0);

		close(sys_open(&attr, 0, -1, -1));
	}
}

/* What the kernel tells about itself, and the switches of a CPU. */
static void test_system(void **state)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_DUMMY, 0x102c6);
	struct live l;

	NEED_PERF();
	attr.ksymbol = attr.bpf_event = attr.cgroup = attr.text_poke = 1;
	attr.context_switch = 1;
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		cpu_set_t set;

		if (!live_open(&l, &attr, -1, cpu, RING_PAGES)) {
			print_message("cpu-wide: %s\n", strerror(errno));
			skip();
		}
		CPU_ZERO(&set);
		CPU_SET((unsigned int)cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set)) {	/* outside of a cpuset */
			assert_int_equal(errno, EINVAL);
			live_close(&l);
			continue;
		}
		live_enable(&l);
		load_bpf();
		make_cgroup();
		patch_kernel();
		work();
		usleep(20000);
		ioctl(l.fd, PERF_EVENT_IOC_DISABLE, 0);
		assert_true(live_drain(&l, 15) > 0);
		live_close(&l);
		CPU_SET(0, &set), CPU_SET(1, &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
}

/* A ring too small for what comes tells how much was lost. */
static void test_lost(void **state)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS, 0x102c7);
	struct live l;
	unsigned int lost = 0;

	NEED_PERF();
	attr.sample_period = 1;
	assert_true(live_open(&l, &attr, 0, -1, 1));
	live_enable(&l);
	for (unsigned int i = 0; i < 32; i++) {
		for (unsigned int j = 0; j < 8; j++)
			fault();
		lost += live_drain(&l, 2);
	}
	assert_true(lost > 0);
	live_close(&l);
}

/* This tracepoint counts nanoseconds: far more samples than the kernel wants. */
static void test_throttle(void **state)
{
	struct perf_event_attr attr = software(0, 0x102c6);
	struct live l;

	NEED_PERF();
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = tracepoint("sched/sched_stat_runtime");
	attr.sample_period = 1;
	if (!attr.config)
		skip();
	assert_true(live_open(&l, &attr, 0, -1, RING_PAGES));
	live_enable(&l);
	for (unsigned int i = 0; i < 50 && !(seen[5] && seen[6]); i++) {
		spin(10);
		live_drain(&l, 5);
	}
	live_close(&l);
	assert_true(seen[5] && seen[6]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_software),
		cmocka_unit_test(test_tracepoint),
		cmocka_unit_test(test_breakpoint),
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_sideband),
		cmocka_unit_test(test_system),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_throttle),
	};

	cpus = sysconf(_SC_NPROCESSORS_CONF);
	return cmocka_run_group_tests(tests, setup, teardown);
}
