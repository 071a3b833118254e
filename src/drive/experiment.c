// SPDX-License-Identifier: LGPL-2.1-or-later
#include "drive/experiment.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "abi/ioctl.h"
#include "abi/layout.h"
#include "drive/bpf.h"
#include "drive/open_event.h"
#include "drive/ring.h"
#include "drive/turns.h"
#include "drive/work.h"
#include "host/cgroup.h"
#include "host/sysfile.h"
#include "lib/child.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum {
	LIMIT_S = 20,		/* seconds after which SIGALRM ends the children */
	BUSY_MS = 200,		/* for which others may have all breakpoints */
	RING_PAGES = 1 + 16,
	HEADER = 8,		/* struct perf_event_header */
	ATTR_MAX = 4096,
};

/*
 * A period that no work reaches.  With a short one a CPU could do little but interrupts: on
 * riscv64 even a throttled counter is started again (pmu_sbi_ovf_handler).
 */
#define LONG_PERIOD (1ULL << 40)

/* A tracepoint filter that no record passes. */
#define PASS_NOTHING "common_pid == 0"

/* Memory shared by pevtrace and both children. */
struct shared {
	struct observed seen;
	struct work_report work;
	bool done;
};

struct run {
	const struct experiment *x;
	struct shared *shared;
	uint64_t sample_type;
	int fd, other, link;	/* link: see drive/turns.h */
	int program;		/* argument of the ioctl; negative errno: not loaded */
	pid_t task;
	void *ring;
	size_t ring_len;
};

static uint64_t experiment_attr(const struct experiment *x, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, x->attr, x->len);
}

static _Noreturn void experiment_task(const struct run *r, int link)
{
	const struct experiment *x = r->x;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1); /* allow the parent to measure it */
	alarm(LIMIT_S);
	/* the first turn faults in all pages that the second one uses */
	if (turn_pass(link) && turn_wait(link) && turn_pass(link) && turn_wait(link)) {
		work_do(x->work, x->whom == EXPERIMENT_TASK ? -1 : r->shared->seen.cpu,
			x->clock, &r->shared->work);
		/* poll(2) reports no records of an event whose task has ended */
		if (turn_pass(link) && turn_wait(link))
			work_end(x->work);
	}
	_exit(0);
}

/*
 * Wait until the task sleeps, so that what it does before its work is not measured.  If
 * /proc cannot tell, or after 20 ms, assume that it does.
 */
static void wait_for_sleep(pid_t pid)
{
	const struct timespec nap = { 0, 20000 };
	char path[32], text[256];
	const char *state;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	for (int i = 0; i < 1000; i++) {
		if (!sysfile_read(AT_FDCWD, path, text, sizeof(text)))
			return;
		state = strrchr(text, ')');
		if (!state || strncmp(state, ") R", 3))
			return;
		nanosleep(&nap, NULL);
	}
}

static bool start_task(struct run *r)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return false;
	r->task = fork();
	if (!r->task) {
		close(ends[0]);
		experiment_task(r, ends[1]);
	}
	close(ends[1]);
	r->link = ends[0];
	if (r->task < 0 || !turn_wait(r->link) || !turn_pass(r->link) || !turn_wait(r->link))
		return false;
	wait_for_sleep(r->task);
	return true;
}

static void run_work(const struct run *r)
{
	if (turn_pass(r->link))
		turn_wait(r->link);
}

static void end_task(const struct run *r)
{
	turn_pass(r->link);
	close(r->link);
	child_wait(r->task);
	r->shared->seen.traps = r->shared->work.traps;
	r->shared->seen.sig_data = r->shared->work.sig_data;
}

static void map_ring(struct run *r, int fd)
{
	r->ring_len = RING_PAGES * (size_t)sysconf(_SC_PAGESIZE);
	r->ring = mmap(NULL, r->ring_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r->ring == MAP_FAILED)
		r->ring = NULL;
}

/* Open an event that counts nothing, on the same task and CPU. */
static int open_other(int32_t pid, int32_t cpu)
{
	uint8_t attr[PERF_ATTR_SIZE_VER5] = { 0 };

	attr_put(attr, ATTR_TYPE, PERF_TYPE_SOFTWARE);
	attr_put(attr, ATTR_SIZE, sizeof(attr));
	attr_put(attr, ATTR_CONFIG, PERF_COUNT_SW_DUMMY);
	attr_put(attr, ATTR_READ_FORMAT, PERF_FORMAT_GROUP);
	attr_put(attr, ATTR_EXCLUDE_KERNEL, 1);
	return open_event(attr, sizeof(attr), pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_tested(struct run *r)
{
	const struct experiment *x = r->x;
	uint64_t flags = x->flags;
	const struct timespec nap = { 0, 1000000 };
	uint8_t attr[ATTR_MAX];
	size_t len = x->len < sizeof(attr) ? x->len : sizeof(attr);
	int32_t pid = r->task, cpu = x->whom == EXPERIMENT_TASK ? -1 : r->shared->seen.cpu;
	char path[256];

	if (x->whom == EXPERIMENT_CPU)
		pid = -1;
	if (x->whom == EXPERIMENT_CGROUP) {
		pid = cgroup_mount(path, sizeof(path)) ?
		      open(path, O_RDONLY | O_CLOEXEC) : -1;
		flags |= PERF_FLAG_PID_CGROUP;
	}
	r->other = x->other ? open_other(pid, cpu) : -1;
	if (x->other && r->other < 0)
		return r->other;
	if (x->other)
		map_ring(r, r->other);
	memcpy(attr, x->attr, len);
	for (int ms = 0;; ms++) {
		r->fd = open_event(attr, len, pid, cpu, x->grouped ? r->other : -1, flags);
		/* another process may have all breakpoints, or the PMU, for a moment */
		if ((r->fd != -ENOSPC && r->fd != -EBUSY) || ms == BUSY_MS)
			return r->fd;
		nanosleep(&nap, NULL);
	}
}

/* Return the argument of the ioctl; memory: for what it points to. */
static unsigned long experiment_ioctl_arg(const struct run *r, uint8_t *memory)
{
	const struct experiment *x = r->x;
	const uint64_t period = LONG_PERIOD;

	switch (x->ioctl->arg) {
	case IOCTL_ARG_UINT:
	case IOCTL_ARG_SINT:
		return 1;
	case IOCTL_ARG_FLAGS:
		return 0;
	case IOCTL_ARG_FD:
		return (unsigned long)(x->bpf ? r->program : r->other);
	case IOCTL_ARG_U64:
		memcpy(memory, &period, sizeof(period));
		break;
	case IOCTL_ARG_STRING:
		strcpy((char *)memory, PASS_NOTHING);
		break;
	case IOCTL_ARG_ATTR:
		memcpy(memory, x->attr, x->len);
		attr_put(memory, ATTR_DISABLED, !experiment_attr(x, ATTR_DISABLED));
		break;
	case IOCTL_ARG_QUERY_BPF:
		/* room for no ids: the kernel only writes the count */
		memset(memory, 0, 4);
		memset(memory + 4, 0xff, 4);
		break;
	}
	return (uintptr_t)memory;
}

static void call_ioctl(struct run *r)
{
	uint8_t memory[ATTR_MAX] = { 0 }, before[ATTR_MAX];
	const struct ioctl_desc *d = r->x->ioctl;
	unsigned long arg;

	r->program = r->x->bpf ? bpf_load(BPF_PROG_TYPE_PERF_EVENT, 0) : -1;
	if (r->x->bpf && r->program < 0) {
		r->shared->seen.bpf_error = -r->program;
		return;
	}
	arg = experiment_ioctl_arg(r, memory);
	memcpy(before, memory, sizeof(memory));
	if (ioctl(r->fd, ioctl_native(arch_native(), sizeof(long) == 8 ? d->request : d->compat),
		  arg))
		r->shared->seen.ioctl_error = errno;
	r->shared->seen.wrote = memcmp(before, memory, sizeof(memory));
}

static void observe_chain(struct observed *o, const uint8_t *bytes, size_t len)
{
	uint64_t n = len >= HEADER + 8 ? load_uint(bytes + HEADER, 8) : 0, ip;

	if (n > o->longest)
		o->longest = n;
	for (uint64_t i = 0; i < n && HEADER + 16 + 8 * i <= len; i++) {
		ip = load_uint(bytes + HEADER + 8 + 8 * i, 8);
		o->kernel_chain |= ip == PERF_CONTEXT_KERNEL;
		o->user_chain |= ip == PERF_CONTEXT_USER;
	}
}

static void observe_record(void *ctx, const uint8_t *bytes, size_t len)
{
	struct run *r = ctx;
	struct observed *o = &r->shared->seen;
	uint64_t type = load_uint(bytes, 4), time;

	if (type < OBSERVED_TYPES) {
		o->types |= 1ULL << type;
		o->misc[type] |= (uint16_t)load_uint(bytes + 4, 2);
		if (!o->sizes[type])
			o->sizes[type] = (uint16_t)len;
	}
	if (type != PERF_RECORD_SAMPLE)
		return;
	o->samples++;
	for (size_t i = 0; i < len && i < sizeof(o->sample); i++)
		o->sample[i] |= bytes[i];
	if (r->sample_type == PERF_SAMPLE_TIME && len >= HEADER + 8) {
		time = load_uint(bytes + HEADER, 8);
		o->in_clock |= time >= r->shared->work.started && time <= r->shared->work.ended;
	}
	if (r->sample_type == PERF_SAMPLE_CALLCHAIN)
		observe_chain(o, bytes, len);
}

static void observe_ring(struct run *r)
{
	const struct ring_image image = {
		.bytes = r->ring, .length = r->ring_len,
		.backward = experiment_attr(r->x, ATTR_WRITE_BACKWARD),
	};
	struct observed *o = &r->shared->seen;
	struct ring_seen seen = { .started = false };
	struct ring_result result;

	if (!r->ring)
		return;
	o->ring = !ring_walk(&image, &seen, &result, observe_record, r);
	o->backward = ring_page_get(&result.page, PERF_EVENT_MMAP_PAGE_DATA_HEAD) >> 63;
}

static bool is_woken(const struct run *r)
{
	struct pollfd p = { .fd = r->other >= 0 ? r->other : r->fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0 && p.revents & POLLIN;
}

static void observe_counts(struct run *r)
{
	struct observed *o = &r->shared->seen;
	uint64_t words[64] = { 0 };
	bool group = experiment_attr(r->x, ATTR_READ_FORMAT) & PERF_FORMAT_GROUP;
	ssize_t n = read(r->fd, words, sizeof(words));

	o->read_len = n > 0 ? (size_t)n : 0;
	o->count = group ? words[1] : words[0];
	if (r->other >= 0 && read(r->other, words, sizeof(words)) > 0)
		o->members = words[0];
}

/* Read counts before the task exits, which they may or may not include, but after an exec. */
static void watch_task(struct run *r)
{
	const struct experiment *x = r->x;
	bool execs = x->work & WORK_EXEC;

	if (x->ioctl && x->when == EXPERIMENT_BEFORE)
		call_ioctl(r);
	run_work(r);
	r->shared->seen.woken = is_woken(r);
	if (x->ioctl && x->when == EXPERIMENT_AFTER)
		call_ioctl(r);
	if (!execs)
		observe_counts(r);
	end_task(r);
	if (execs)
		observe_counts(r);
	observe_ring(r);
}

static void experiment_main(const void *ctx, void *out)
{
	const struct experiment *x = ctx;
	struct shared *shared = out;
	struct run r = {
		.x = x, .shared = shared, .fd = -1, .other = -1,
		.sample_type = experiment_attr(x, ATTR_SAMPLE_TYPE),
	};
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(LIMIT_S);
	shared->seen.cpu = work_cpu();
	if (!start_task(&r))
		return;
	fd = open_tested(&r);
	if (fd < 0) {
		shared->seen.error = -fd;
		kill(r.task, SIGKILL);
		child_wait(r.task);
	} else {
		if (!x->other)
			map_ring(&r, fd);
		shared->seen.cloexec = fcntl(fd, F_GETFD) & FD_CLOEXEC;
		watch_task(&r);
	}
	shared->done = true;
}

bool experiment_run(const struct experiment *x, struct observed *out)
{
	struct shared shared;

	child_run(experiment_main, x, &shared, sizeof(shared));
	*out = shared.seen;
	return shared.done;
}
