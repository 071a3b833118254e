// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "experiment/experiment.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/abi/ioctl.h"
#include "core/host/cgroup.h"
#include "core/host/sysfile.h"
#include "core/lib/program.h"
#include "engine/rings/bpf.h"
#include "engine/rings/ring.h"
#include "experiment/trial.h"
#include "experiment/work.h"

/* Pass the turn to the other process; return false if it is gone. */
static bool turn_pass(int link)
{
	return send(link, "", 1, MSG_NOSIGNAL) == 1;
}

/* Wait for the turn; return false if the other process is gone. */
static bool turn_wait(int link)
{
	char c;
	ssize_t n;

	while ((n = read(link, &c, 1)) < 0 && errno == EINTR)
		;
	return n == 1;
}

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

/* Memory shared by pevtrace, the experimenter and the task. */
struct experiment_shared {
	struct experiment x;	/* whose attr is the next member */
	uint8_t attr[ATTR_MAX];
	struct observed seen;
	struct work_report work;
	bool done;
};

/*
 * Fork.  In the parent return the child, or a negative value, and in the child 0, each with its
 * end of the link for turns.
 */
static pid_t fork_linked(int *link)
{
	int ends[2] = { -1, -1 };
	pid_t pid = -1;

	if (!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		pid = fork();
	close(ends[pid ? 1 : 0]);
	*link = ends[pid ? 0 : 1];
	return pid;
}

/* The task that events measure; it works for one experiment after the other, until it execs. */
struct task {
	pid_t pid;	/* 0: not started */
	int link;	/* on which it gets its turn */
};

struct run {
	const struct experiment *x;
	struct experiment_shared *shared;
	struct task *task;
	uint64_t sample_type;
	int fd, other, cgroup;
	int program;		/* argument of the ioctl; negative errno: not loaded */
	void *ring;
	size_t ring_len;
};

static uint64_t experiment_attr(const struct experiment *x, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, x->attr, x->len);
}

static _Noreturn void experiment_task(struct experiment_shared *shared, int link)
{
	const struct experiment *x = &shared->x;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1); /* allow the parent to measure it */
	/* the first time faults in all pages that the later ones use */
	work_do(0, CLOCK_MONOTONIC, &shared->work);
	while (turn_pass(link) && turn_wait(link)) {
		work_do(x->work, x->clock, &shared->work);
		/* the rest is not part of what is waited for */
		if (x->work & WORK_ENDS && turn_pass(link) && turn_wait(link))
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

static void end_task(struct task *t)
{
	if (!t->pid)
		return;
	close(t->link);
	child_wait(t->pid);
	t->pid = 0;
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
	int32_t pid = r->task->pid, cpu = x->whom == EXPERIMENT_TASK ? -1 : r->shared->seen.cpu;
	char path[256];

	if (x->whom == EXPERIMENT_CPU)
		pid = -1;
	if (x->whom == EXPERIMENT_CGROUP) {
		r->cgroup = cgroup_mount(path, sizeof(path)) ?
			    open(path, O_RDONLY | O_CLOEXEC) : -1;
		pid = r->cgroup;
		flags |= PERF_FLAG_PID_CGROUP;
	}
	r->other = x->other ? open_other(pid, cpu) : -1;
	if (x->other && r->other < 0)
		return r->fd = r->other;
	if (x->other)
		map_ring(r, r->other);
	memcpy(attr, x->attr, x->len);
	for (int ms = 0;; ms++) {
		r->fd = open_event(attr, x->len, pid, cpu, x->grouped ? r->other : -1, flags);
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

static void observe_record(void *ctx, const uint8_t *bytes, size_t len)
{
	struct run *r = ctx;
	struct observed *o = &r->shared->seen;
	uint64_t type = load_uint(bytes, 4), time, n, ip;

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
	if (r->sample_type != PERF_SAMPLE_CALLCHAIN)
		return;
	n = len >= HEADER + 8 ? load_uint(bytes + HEADER, 8) : 0;
	if (n > o->longest)
		o->longest = n;
	for (uint64_t i = 0; i < n && HEADER + 16 + 8 * i <= len; i++) {
		ip = load_uint(bytes + HEADER + 8 + 8 * i, 8);
		o->kernel_chain |= ip == PERF_CONTEXT_KERNEL;
		o->user_chain |= ip == PERF_CONTEXT_USER;
	}
}

/* poll(2) reports no records of an event whose task has ended, but read(2) all that it counted. */
static void watch_task(struct run *r)
{
	struct pollfd p = { .fd = r->other >= 0 ? r->other : r->fd, .events = POLLIN };
	const struct ring_image image = {
		.bytes = r->ring, .length = r->ring_len,
		.backward = experiment_attr(r->x, ATTR_WRITE_BACKWARD),
	};
	struct ring_seen seen = { .started = false };
	struct ring_result result;
	const struct experiment *x = r->x;
	struct observed *o = &r->shared->seen;
	uint64_t words[64] = { 0 };
	ssize_t n;

	if (x->ioctl && x->when == EXPERIMENT_BEFORE)
		call_ioctl(r);
	/* let the task work; a signal of the event may kill it */
	if (!turn_pass(r->task->link) || !turn_wait(r->task->link))
		end_task(r->task);
	o->woken = poll(&p, 1, 0) > 0 && p.revents & POLLIN;
	if (x->ioctl && x->when == EXPERIMENT_AFTER)
		call_ioctl(r);
	if (x->work & WORK_ENDS && r->task->pid && turn_pass(r->task->link))
		end_task(r->task);
	n = read(r->fd, words, sizeof(words));
	o->read_len = n > 0 ? (size_t)n : 0;
	o->count = words[experiment_attr(x, ATTR_READ_FORMAT) & PERF_FORMAT_GROUP ? 1 : 0];
	if (r->other >= 0 && read(r->other, words, sizeof(words)) > 0)
		o->members = words[0];
	o->traps = r->shared->work.traps;
	o->sig_data = r->shared->work.sig_data;
	if (!r->ring)
		return;
	o->ring = !ring_walk(&image, &seen, &result, observe_record, r);
	o->backward = ring_page_get(&result.page, PERF_EVENT_MMAP_PAGE_DATA_HEAD) >> 63;
}

static void close_events(const struct run *r)
{
	const int fds[] = { r->fd, r->other, r->cgroup, r->program };

	if (r->ring)
		munmap(r->ring, r->ring_len);
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void run_once(struct experiment_shared *shared, struct task *task)
{
	struct run r = {
		.x = &shared->x, .shared = shared, .task = task, .fd = -1, .other = -1,
		.cgroup = -1, .program = -1,
		.sample_type = experiment_attr(&shared->x, ATTR_SAMPLE_TYPE),
	};
	cpu_set_t set;

	shared->seen.cpu = work_cpu();
	if (!task->pid) {
		task->pid = fork_linked(&task->link);
		if (!task->pid)
			experiment_task(shared, task->link);
		if (task->pid < 0 || !turn_wait(task->link)) {
			end_task(task);
			return;
		}
	}
	/* let the task run on one CPU, or where the experimenter may */
	CPU_ZERO(&set);
	CPU_SET(shared->seen.cpu, &set);
	if (r.x->whom == EXPERIMENT_TASK)
		sched_getaffinity(0, sizeof(set), &set);
	sched_setaffinity(task->pid, sizeof(set), &set);
	wait_for_sleep(task->pid);
	if (open_tested(&r) == -ESRCH) {
		end_task(task);
	} else if (r.fd < 0) {
		shared->seen.error = -r.fd;
	} else {
		if (!r.x->other)
			map_ring(&r, r.fd);
		shared->seen.cloexec = fcntl(r.fd, F_GETFD) & FD_CLOEXEC;
		watch_task(&r);
	}
	close_events(&r);
	shared->done = r.fd != -ESRCH;
}

/* The experimenter: it has all descriptors open, so that its exit closes them in any case. */
static _Noreturn void experimenter_main(struct experiment_shared *shared, int link)
{
	struct task task = { .pid = 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (turn_wait(link)) {
		alarm(LIMIT_S);
		run_once(shared, &task);
		alarm(0);
		if (!turn_pass(link))
			break;
	}
	end_task(&task);
	_exit(0);
}

void experimenter_end(struct experimenter *e)
{
	if (!e->pid)
		return;
	close(e->link);
	child_wait(e->pid);
	munmap(e->shared, sizeof(*e->shared));
	e->pid = 0;
}

bool experimenter_run(struct experimenter *e, const struct experiment *x, struct observed *out)
{
	struct experiment_shared *s;
	bool done;

	memset(out, 0, sizeof(*out));
	if (!e->pid) {
		e->shared = mmap(NULL, sizeof(*e->shared), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (e->shared == MAP_FAILED)
			return false;
		e->pid = fork_linked(&e->link);
		if (!e->pid)
			experimenter_main(e->shared, e->link);
		if (e->pid < 0) {
			experimenter_end(e);
			return false;
		}
	}
	s = e->shared;
	memset(s, 0, sizeof(*s));
	s->x = *x;
	s->x.attr = s->attr;
	s->x.len = x->len < sizeof(s->attr) ? x->len : sizeof(s->attr);
	memcpy(s->attr, x->attr, s->x.len);
	done = turn_pass(e->link) && turn_wait(e->link) && s->done;
	*out = s->seen;
	if (!done)
		experimenter_end(e);
	return done;
}

bool experiment_run(const struct experiment *x, struct observed *out)
{
	struct experimenter e = { .pid = 0 };
	bool done = experimenter_run(&e, x, out);

	experimenter_end(&e);
	return done;
}
