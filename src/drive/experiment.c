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
#include <sys/wait.h>
#include <unistd.h>

#include "abi/layout.h"
#include "drive/bpf.h"
#include "drive/open_event.h"
#include "drive/ring.h"
#include "drive/turns.h"
#include "drive/work.h"
#include "host/cgroup.h"
#include "host/sysfile.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Seconds after which an experiment is given up. */
enum { PATIENCE = 20, RING_PAGES = 1 + 16, HEADER = 8, ATTR_MAX = 4096 };

/* A filter of tracepoints that nothing passes. */
#define NEVER "common_pid == 0"

/* In memory that all of us share. */
struct told {
	struct observed seen;
	struct work_told work;
	bool done;
};

struct claim_run {
	const struct experiment *x;
	struct told *told;
	uint64_t sample_type;
	int fd, other, link;	/* link: a byte on it lets the task begin, and end */
	pid_t task;
	void *ring;
	size_t ring_len;
};

static void put(uint8_t *attr, unsigned int index, uint64_t v)
{
	field_set(&layout_perf_event_attr.fields[index], v, attr);
}

static uint64_t get(const struct experiment *x, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, x->attr, x->len);
}

/* The task --------------------------------------------------------------------------- */

static _Noreturn void be_task(const struct claim_run *l, int link)
{
	const struct experiment *x = l->x;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1); /* so that our parent may measure us */
	alarm(PATIENCE);
	/* twice, so that the second time no page of it is new */
	if (turn_pass(link) && turn_wait(link) && turn_pass(link) && turn_wait(link)) {
		work_do(x->work, x->whom == EXPERIMENT_TASK ? -1 : l->told->seen.cpu,
			x->clock, &l->told->work);
		/* an event whose task is gone tells no wakeups */
		if (turn_pass(link) && turn_wait(link))
			work_end(x->work);
	}
	_exit(0);
}

/*
 * Waits until it sleeps, so that nothing that it does on the way there is
 * measured.  Where that cannot be seen it is taken to be so.
 */
static bool sleeps(pid_t pid)
{
	const struct timespec nap = { 0, 20000 };
	char path[32], text[256];
	const char *state;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	for (int i = 0; i < 1000; i++) {
		if (!sysfile_read(AT_FDCWD, path, text, sizeof(text)))
			return true;
		state = strrchr(text, ')');
		if (!state || strncmp(state, ") R", 3))
			return true;
		nanosleep(&nap, NULL);
	}
	return true;
}

static bool start_task(struct claim_run *l)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return false;
	l->task = fork();
	if (!l->task) {
		close(ends[0]);
		be_task(l, ends[1]);
	}
	close(ends[1]);
	l->link = ends[0];
	return l->task > 0 && turn_wait(l->link) && turn_pass(l->link) && turn_wait(l->link) &&
	       sleeps(l->task);
}

static void let_work(const struct claim_run *l)
{
	if (turn_pass(l->link))
		turn_wait(l->link);
}

static void let_end(const struct claim_run *l)
{
	turn_pass(l->link);
	close(l->link);
	while (waitpid(l->task, NULL, 0) < 0 && errno == EINTR)
		;
	l->told->seen.traps = l->told->work.traps;
	l->told->seen.sig_data = l->told->work.sig_data;
}

/* Opening ---------------------------------------------------------------------------- */

static void map_ring(struct claim_run *l, int fd)
{
	l->ring_len = RING_PAGES * (size_t)sysconf(_SC_PAGESIZE);
	l->ring = mmap(NULL, l->ring_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (l->ring == MAP_FAILED)
		l->ring = NULL;
}

/* An event that counts nothing, on the same task and CPU. */
static int open_other(int32_t pid, int32_t cpu)
{
	uint8_t attr[PERF_ATTR_SIZE_VER5] = { 0 };

	put(attr, ATTR_TYPE, PERF_TYPE_SOFTWARE);
	put(attr, ATTR_SIZE, sizeof(attr));
	put(attr, ATTR_CONFIG, PERF_COUNT_SW_DUMMY);
	put(attr, ATTR_READ_FORMAT, PERF_FORMAT_GROUP);
	put(attr, ATTR_EXCLUDE_KERNEL, 1);
	return open_event(attr, sizeof(attr), pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_it(struct claim_run *l)
{
	const struct experiment *x = l->x;
	uint64_t flags = x->flags;
	uint8_t attr[ATTR_MAX];
	size_t len = x->len < sizeof(attr) ? x->len : sizeof(attr);
	int32_t pid = l->task, cpu = x->whom == EXPERIMENT_TASK ? -1 : l->told->seen.cpu;
	char path[256];

	if (x->whom == EXPERIMENT_CPU)
		pid = -1;
	if (x->whom == EXPERIMENT_CGROUP) {
		pid = cgroup_mount(path, sizeof(path)) ?
		      open(path, O_RDONLY | O_CLOEXEC) : -1;
		flags |= PERF_FLAG_PID_CGROUP;
	}
	l->other = x->other ? open_other(pid, cpu) : -1;
	if (x->other && l->other < 0)
		return l->other;
	if (x->other)
		map_ring(l, l->other);
	memcpy(attr, x->attr, len);
	l->fd = open_event(attr, len, pid, cpu, x->grouped ? l->other : -1, flags);
	return l->fd;
}

/* An ioctl ---------------------------------------------------------------------------- */

/* The argument, by what the ioctl takes; what it points to is in memory. */
static unsigned long argument(const struct claim_run *l, uint8_t *memory)
{
	const struct experiment *x = l->x;
	const uint64_t period = 2;

	switch (x->ioctl->arg) {
	case IOCTL_ARG_UINT:
	case IOCTL_ARG_SINT:
		return 1;
	case IOCTL_ARG_FLAGS:
		return 0;
	case IOCTL_ARG_FD:
		return (unsigned long)(x->bpf ? bpf_load(BPF_PROG_TYPE_PERF_EVENT, 0) : l->other);
	case IOCTL_ARG_U64:
		memcpy(memory, &period, sizeof(period));
		break;
	case IOCTL_ARG_STRING:
		strcpy((char *)memory, NEVER);
		break;
	case IOCTL_ARG_ATTR:
		memcpy(memory, x->attr, x->len);
		put(memory, ATTR_DISABLED, !get(x, ATTR_DISABLED));
		break;
	case IOCTL_ARG_QUERY_BPF:
		/* room for none; the count is written over what stands there */
		memset(memory, 0, 4);
		memset(memory + 4, 0xff, 4);
		break;
	}
	return (uintptr_t)memory;
}

static void make_ioctl(struct claim_run *l)
{
	uint8_t memory[ATTR_MAX] = { 0 }, before[ATTR_MAX];
	const struct ioctl_desc *d = l->x->ioctl;
	unsigned long arg = argument(l, memory);

	memcpy(before, memory, sizeof(memory));
	if (ioctl(l->fd, sizeof(long) == 8 ? d->request : d->compat, arg))
		l->told->seen.ioctl_error = errno;
	l->told->seen.wrote = memcmp(before, memory, sizeof(memory));
}

/* Looking ---------------------------------------------------------------------------- */

static void look_at_chain(struct observed *o, const uint8_t *bytes, size_t len)
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

static void look_at_record(void *ctx, const uint8_t *bytes, size_t len)
{
	struct claim_run *l = ctx;
	struct observed *o = &l->told->seen;
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
	if (l->sample_type == PERF_SAMPLE_TIME && len >= HEADER + 8) {
		time = load_uint(bytes + HEADER, 8);
		o->in_clock |= time >= l->told->work.started && time <= l->told->work.ended;
	}
	if (l->sample_type == PERF_SAMPLE_CALLCHAIN)
		look_at_chain(o, bytes, len);
}

static void look_at_ring(struct claim_run *l)
{
	const struct ring_image image = {
		.bytes = l->ring, .length = l->ring_len,
		.backward = get(l->x, ATTR_WRITE_BACKWARD),
	};
	struct observed *o = &l->told->seen;
	struct ring_seen seen = { .started = false };
	struct ring_result result;

	if (!l->ring)
		return;
	o->ring = !ring_walk(&image, &seen, &result, look_at_record, l);
	o->backward = ring_page_get(&result.page, PERF_EVENT_MMAP_PAGE_DATA_HEAD) >> 63;
}

static bool is_woken(const struct claim_run *l)
{
	struct pollfd p = { .fd = l->other >= 0 ? l->other : l->fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0 && p.revents & POLLIN;
}

static void look_at_counts(struct claim_run *l)
{
	struct observed *o = &l->told->seen;
	uint64_t words[64] = { 0 };
	bool group = get(l->x, ATTR_READ_FORMAT) & PERF_FORMAT_GROUP;
	ssize_t n = read(l->fd, words, sizeof(words));

	o->read_len = n > 0 ? (size_t)n : 0;
	o->count = group ? words[1] : words[0];
	if (l->other >= 0 && read(l->other, words, sizeof(words)) > 0)
		o->members = words[0];
}

/* The end of the task counts, too, and is not always the same: only an exec waits for it. */
static void watch_task(struct claim_run *l)
{
	const struct experiment *x = l->x;
	bool execs = x->work & WORK_EXEC;

	if (x->ioctl && x->when == EXPERIMENT_BEFORE)
		make_ioctl(l);
	let_work(l);
	l->told->seen.woken = is_woken(l);
	if (x->ioctl && x->when == EXPERIMENT_AFTER)
		make_ioctl(l);
	if (!execs)
		look_at_counts(l);
	let_end(l);
	if (execs)
		look_at_counts(l);
	look_at_ring(l);
}

/* All of it --------------------------------------------------------------------------- */

static _Noreturn void laboratory(const struct experiment *x, struct told *told)
{
	struct claim_run l = {
		.x = x, .told = told, .fd = -1, .other = -1,
		.sample_type = get(x, ATTR_SAMPLE_TYPE),
	};
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(PATIENCE);
	told->seen.cpu = work_cpu();
	if (!start_task(&l))
		_exit(0);
	fd = open_it(&l);
	if (fd < 0) {
		told->seen.error = -fd;
		told->done = true;
		kill(l.task, SIGKILL);
		waitpid(l.task, NULL, 0);
		_exit(0);
	}
	if (!x->other)
		map_ring(&l, fd);
	told->seen.cloexec = fcntl(fd, F_GETFD) & FD_CLOEXEC;
	watch_task(&l);
	told->done = true;
	_exit(0);
}

bool experiment_run(const struct experiment *x, struct observed *out)
{
	struct told *told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool done;
	pid_t pid;

	if (told == MAP_FAILED)
		return false;
	pid = fork();
	if (!pid)
		laboratory(x, told);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	done = pid > 0 && told->done;
	*out = told->seen;
	munmap(told, sizeof(*told));
	return done;
}
