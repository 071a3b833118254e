/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attaches a BPF program of two instructions to an event, and prints what it did:
 *
 *	uprobe|tracepoint|clock ioctl|link|hold|pin RETURN [wait]
 *
 * The uprobe is on a function of this program, the tracepoint is getpid(2)'s, the clock is a
 * sampling event.  ioctl attaches with PERF_EVENT_IOC_SET_BPF, link with BPF_LINK_CREATE; hold
 * closes the event before the link, pin pins the link, too.  The event is on a CPU where this program does not run, where there is
 * one: its program runs at the hits nevertheless.  RETURN is what the program returns; wait: print
 * up, and go on when there is a byte to read.  Prints
 *
 *	PROGRAM-ID EVENT-FD PROGRAM-FD LINK-FD COUNT RUNS
 *
 * COUNT: what an event of the same kind without a program counted; RUNS: of the program, -1 if
 * the kernel does not count them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SKIP = 77, HITS = 10, LINK_CREATE = 28, LINK_UPDATE = 29, LINK_DETACH = 34,
       TASK_FD_QUERY = 20, PERF_EVENT = 41 };

static _Noreturn void fail(const char *what)
{
	int error = errno;

	perror(what);
	exit(error == EACCES || error == EPERM || error == ENOSYS || error == ENOENT ? SKIP : 1);
}

static int bpf(int cmd, void *attr, unsigned int size)
{
	return (int)syscall(SYS_bpf, cmd, attr, size);
}

static uint64_t number_in(const char *path)
{
	FILE *f = fopen(path, "r");
	uint64_t n;

	if (!f || fscanf(f, "%" SCNu64, &n) != 1)
		fail(path);
	fclose(f);
	return n;
}

static __attribute__((noinline)) int probed(int n)
{
	__asm__ volatile("");
	return n;
}

/* Return the offset of probed() in this program's file. */
static uint64_t offset_of_probed(void)
{
	unsigned long start, end, pgoff, at = (unsigned long)&probed;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4200];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &pgoff) == 3 &&
		    start <= at && at < end) {
			fclose(f);
			return at - start + pgoff;
		}
	errno = ENOENT;
	fail("bpfevent: /proc/self/maps");
}

static struct perf_event_attr attr_of(const char *kind, char *path, size_t size)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .disabled = 1 };

	if (!strcmp(kind, "uprobe")) {
		ssize_t n = readlink("/proc/self/exe", path, size - 1);

		path[n > 0 ? n : 0] = '\0';
		attr.type = (uint32_t)number_in("/sys/bus/event_source/devices/uprobe/type");
		attr.config1 = (uintptr_t)path;
		attr.config2 = offset_of_probed();
	} else if (!strcmp(kind, "tracepoint")) {
		attr.type = PERF_TYPE_TRACEPOINT;
		attr.config = number_in("/sys/kernel/tracing/events/syscalls/"
					"sys_enter_getpid/id");
	} else {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_TASK_CLOCK;
		attr.sample_period = 1000000;
	}
	return attr;
}

static int event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		fail("bpfevent: perf_event_open");
	return fd;
}

static int load(const char *kind, int result)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = result },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr a;
	int fd;

	memset(&a, 0, sizeof(a));
	a.prog_type = !strcmp(kind, "uprobe") ? BPF_PROG_TYPE_KPROBE :
		      !strcmp(kind, "tracepoint") ? BPF_PROG_TYPE_TRACEPOINT :
						    BPF_PROG_TYPE_PERF_EVENT;
	a.insns = (uintptr_t)code;
	a.insn_cnt = 2;
	a.license = (uintptr_t)"GPL";
	strcpy(a.prog_name, "two_insns");
	fd = bpf(BPF_PROG_LOAD, &a, sizeof(a));
	if (fd < 0)
		fail("bpfevent: BPF_PROG_LOAD");
	return fd;
}

static struct bpf_prog_info info_of(int program)
{
	struct bpf_prog_info info;
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	memset(&info, 0, sizeof(info));
	a.info.bpf_fd = (uint32_t)program;
	a.info.info_len = sizeof(info);
	a.info.info = (uintptr_t)&info;
	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &a, sizeof(a)))
		fail("bpfevent: BPF_OBJ_GET_INFO_BY_FD");
	return info;
}

/* Create a link, and try what links of events refuse. */
static int attach(int program, int event)
{
	struct { uint32_t program, target, type, flags; uint64_t cookie; } create = {
		(uint32_t)program, (uint32_t)event, PERF_EVENT, 0, 0xc00c1e,
	};
	struct { uint32_t link, program, flags, old; } update = { 0 };
	int link = bpf(LINK_CREATE, &create, sizeof(create));

	if (link < 0)
		fail("bpfevent: BPF_LINK_CREATE");
	update.link = (uint32_t)link;
	update.program = (uint32_t)program;
	if (!bpf(LINK_UPDATE, &update, sizeof(update)) || !bpf(LINK_DETACH, &update, 4))
		fail("bpfevent: a link of an event was updated or detached");
	create.flags = 1;
	bpf(LINK_CREATE, &create, sizeof(create));
	return link;
}

static void ask_program(int event)
{
	struct { uint32_t pid, fd, flags, len; uint64_t buf; uint32_t id, type;
		 uint64_t offset, addr; } query = { 0 };
	char name[256];

	query.pid = (uint32_t)getpid();
	query.fd = (uint32_t)event;
	query.len = sizeof(name);
	query.buf = (uintptr_t)name;
	bpf(TASK_FD_QUERY, &query, sizeof(query));
}

static void pin(int link, const char *path)
{
	struct { uint64_t path; uint32_t fd, flags; } obj = { (uintptr_t)path, (uint32_t)link, 0 };

	unlink(path);
	if (bpf(BPF_OBJ_PIN, &obj, sizeof(obj)))
		fail("bpfevent: BPF_OBJ_PIN");
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "uprobe", *how = argc > 2 ? argv[2] : "link";
	int program, event, counter, stats, link = -1, probe = !!strcmp(kind, "clock");
	char path[4096], pinned[] = "/sys/fs/bpf/pevtrace-bpfevent";
	struct perf_event_attr attr = attr_of(kind, path, sizeof(path));
	uint64_t count = 0;
	cpu_set_t here;

	if (argc < 4) {
		fprintf(stderr, "usage: bpfevent uprobe|tracepoint|clock ioctl|link|hold|pin "
				"RETURN [wait]\n");
		return 2;
	}
	CPU_ZERO(&here);
	CPU_SET(0, &here);
	sched_setaffinity(0, sizeof(here), &here);
	stats = bpf(32 /* BPF_ENABLE_STATS */, (uint32_t[4]){ 0 }, 4);
	program = load(kind, atoi(argv[3]));
	event = event_open(&attr, probe ? -1 : 0,
			   probe && sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 1 : probe - 1);
	counter = event_open(&attr, 0, -1);
	if (!strcmp(how, "ioctl")) {
		if (ioctl(event, PERF_EVENT_IOC_SET_BPF, program))
			fail("bpfevent: PERF_EVENT_IOC_SET_BPF");
	} else {
		link = attach(program, event);
	}
	if (!strcmp(how, "pin"))
		pin(link, pinned);
	ask_program(event);
	if (argc > 4 && (write(1, "up\n", 3) != 3 || read(0, path, 1) < 0))
		fail("bpfevent: wait");
	ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
	ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < HITS; i++) {
		probed(i);
		syscall(SYS_getpid);
	}
	for (volatile int i = 0; i < 20000000 && !probe; i++)
		;
	ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
	if (read(counter, &count, sizeof(count)) != sizeof(count))
		fail("bpfevent: read");
	printf("%u %d %d %d %" PRIu64 " %lld\n", info_of(program).id, event, program, link, count,
	       stats < 0 ? -1 : (long long)info_of(program).run_cnt);
	fflush(stdout);
	close(program);
	if (!strcmp(how, "hold"))
		close(event);
	if (link >= 0)
		close(link);
	if (strcmp(how, "hold"))
		close(event);
	if (!strcmp(how, "pin"))
		unlink(pinned);
	return 0;
}
