// SPDX-License-Identifier: LGPL-2.1-or-later
/* The events to begin with, and every ioctl on them. */
#include "asks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEVICES "/sys/bus/event_source/devices"

enum { MOST_BASES = 64 };

/* Where there is something to be probed. */
static const char probed[] = "/tmp/pevtrace-asks";

static long number_in(const char *format, const char *name)
{
	char path[200];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), format, name);
	f = fopen(path, "re");
	if (f && fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

static struct base *base(struct base *all, size_t *n, const char *name, long type,
			 uint64_t config)
{
	struct base *b = &all[(*n)++];

	snprintf(b->name, sizeof(b->name), "%s", name);
	b->absent = type < 0 || (type == PERF_TYPE_TRACEPOINT && config == ~0ULL);
	put(b->attr, ATTR_TYPE, b->absent ? 0 : (uint64_t)type);
	put(b->attr, ATTR_SIZE, ASK_SIZE);
	put(b->attr, ATTR_CONFIG, config);
	put(b->attr, ATTR_DISABLED, 1);
	if (b->absent)
		printf("absent\t%s\n", name);
	return b;
}

static void breakpoint(struct base *all, size_t *n, const char *name, uint64_t type,
		       uint64_t len)
{
	struct base *b = base(all, n, name, PERF_TYPE_BREAKPOINT, 0);

	put(b->attr, ATTR_BP_TYPE, type);
	put(b->attr, ATTR_BP_ADDR, PLACE);
	put(b->attr, ATTR_BP_LEN, len);
	put(b->attr, ATTR_EXCLUDE_KERNEL, 1);
}

static void probe(struct base *all, size_t *n)
{
	struct base *b = base(all, n, "uprobe",
			      number_in(DEVICES "/%s/type", "uprobe"), 0);
	int fd = open(probed, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0 && !ftruncate(fd, 4096))
		close(fd);
	put(b->attr, ATTR_UPROBE_PATH, (uintptr_t)probed);
	b->slow = true;
	b = base(all, n, "kprobe", number_in(DEVICES "/%s/type", "kprobe"), 0);
	put(b->attr, ATTR_KPROBE_FUNC, (uintptr_t)"do_nanosleep");
	b->slow = true;
}

/* A dynamic PMU has the number that newer kernels give a clock. */
static bool taken(uint32_t type)
{
	DIR *d = opendir(DEVICES);
	struct dirent *e;
	bool found = false;

	while (d && (e = readdir(d)))
		found |= number_in(DEVICES "/%s/type", e->d_name) == type;
	if (d)
		closedir(d);
	return found;
}

struct base *bases_make(size_t *n)
{
	static const char *const tracepoints[] = {
		"sched/sched_switch", "raw_syscalls/sys_enter", "syscalls/sys_enter_sync",
	};
	struct base *all = calloc(MOST_BASES, sizeof(*all));

	*n = 0;
	if (!all)
		exit(2);
	base(all, n, "dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	for (size_t i = 0; i < xlat_perf_sw_ids.n; i++)
		if (xlat_perf_sw_ids.entries[i].value != PERF_COUNT_SW_DUMMY)
			base(all, n, xlat_perf_sw_ids.entries[i].name, PERF_TYPE_SOFTWARE,
			     xlat_perf_sw_ids.entries[i].value);
	for (size_t i = 0; i < COUNT(tracepoints); i++) {
		struct base *b = base(all, n, tracepoints[i], PERF_TYPE_TRACEPOINT, (uint64_t)
				      number_in("/sys/kernel/tracing/events/%s/id", tracepoints[i]));

		/* one stays open: the last one to be closed takes long */
		if (!b->absent)
			counted_open(b->attr, 0, -1, -1, 0);
	}
	breakpoint(all, n, "bp:rw4", HW_BREAKPOINT_RW, 4);
	breakpoint(all, n, "bp:x", HW_BREAKPOINT_X, 8);
	probe(all, n);
	base(all, n, "msr", number_in(DEVICES "/%s/type", "msr"), 0);
	base(all, n, "hardware", PERF_TYPE_HARDWARE, 0);
	base(all, n, "cache", PERF_TYPE_HW_CACHE, 0);
	base(all, n, "raw", PERF_TYPE_RAW, 0x1a8);
	base(all, n, "type6", taken(PERF_TYPE_MAX) ? -1 : PERF_TYPE_MAX, 0);
	base(all, n, "type7", taken(PERF_TYPE_MAX + 1) ? -1 : PERF_TYPE_MAX + 1,
	     PERF_COUNT_SW_TASK_CLOCK);
	return all;
}

/* ioctls ----------------------------------------------------------------------- */

struct argument {
	const char *text;
	uint64_t value;
};

/* The shortest program of a type; a negative errno where there is none. */
static int program(uint32_t type)
{
	static const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.prog_type = type;
	a.insns = (uintptr_t)code;
	a.insn_cnt = COUNT(code);
	a.license = (uintptr_t)"GPL";
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof(a));
}

static void ask_ioctl(const struct base *b, bool mapped, int32_t child, const char *name,
		      unsigned long request, const struct argument *arg)
{
	uint8_t attr[ATTR_ROOM];
	int64_t fd, r;
	void *ring = MAP_FAILED;
	char label[200];

	memcpy(attr, b->attr, sizeof(attr));
	fd = counted_open(attr, child, -1, -1, 0);
	snprintf(label, sizeof(label), "ioctl %s%s %s %s", b->name, mapped ? " mapped" : "", name,
		 arg->text);
	if (fd < 0) {
		tell(label, -EBADFD, 0);
		return;
	}
	if (mapped)
		ring = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
	r = counted_ioctl((int)fd, request, arg->value);
	tell(label, r, 0);
	if (ring != MAP_FAILED)
		munmap(ring, 8192);
	close((int)fd);
}

static void ask_requests(const struct base *b, bool mapped, int32_t child,
			 const struct argument *args, size_t n)
{
	char name[40];

	for (size_t i = 0; i < ioctl_ndescs; i++)
		for (size_t k = 0; k < n; k++)
			ask_ioctl(b, mapped, child, ioctl_descs[i].name + strlen("PERF_EVENT_IOC_"),
				  ioctl_descs[i].request, &args[k]);
	for (unsigned int nr = 0; nr < 20; nr++)
		for (unsigned long dir = 0; dir < 4; dir++) {
			snprintf(name, sizeof(name), "%lu:%u", dir, nr);
			ask_ioctl(b, mapped, child, name, dir << 30 | (dir ? 8UL << 16 : 0) |
				  '$' << 8 | nr, &args[0]);
		}
}

void ask_ioctls(const struct base *bases, size_t n, int32_t child)
{
	static const uint64_t million = 1000000;
	uint8_t other[ATTR_ROOM];
	struct argument args[] = {
		{ "0", 0 }, { "1", 1 }, { "-1", ~0ULL }, { "bad", 900 },
		{ "million", (uintptr_t)&million }, { "empty", (uintptr_t)"" },
		{ "filter", (uintptr_t)"common_pid == 1" }, { "nofield", (uintptr_t)"nothing == 1" },
		{ "range", (uintptr_t)"filter 0x0/16@/tmp/pevtrace-asks" },
		{ "itself", 0 }, { "other", 0 }, { "kprobe", 0 }, { "tracepoint", 0 },
		{ "perf_event", 0 }, { "socket", 0 },
	};

	memcpy(other, bases[0].attr, sizeof(other));
	args[9].value = (uintptr_t)other;
	args[10].value = (uint64_t)counted_open(other, child, -1, -1, 0);
	mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, (int)args[10].value, 0);
	args[11].value = (uint64_t)program(BPF_PROG_TYPE_KPROBE);
	args[12].value = (uint64_t)program(BPF_PROG_TYPE_TRACEPOINT);
	args[13].value = (uint64_t)program(BPF_PROG_TYPE_PERF_EVENT);
	args[14].value = (uint64_t)program(BPF_PROG_TYPE_SOCKET_FILTER);
	for (size_t i = 0; i < n; i++) {
		struct base sampling = bases[i];

		if (bases[i].absent || (i && i < xlat_perf_sw_ids.n && i != 2))
			continue;
		ask_requests(&bases[i], false, child, args, COUNT(args));
		if (bases[i].slow)
			continue;
		put(sampling.attr, ATTR_SAMPLE_PERIOD, 1000000);
		ask_requests(&sampling, true, child, args, COUNT(args));
	}
}
