// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the model makes of calls that this test makes up. */
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <cmocka.h>

#include "core/abi/call.h"
#include "fake.h"
#include "core/model/model.h"
#include "formats/text/summary.h"
#include "xlat/constants.h"

static struct model *m;

/* A thread shares both tables with its maker, a process none. */
static void born(pid_t tid, pid_t pid, pid_t parent, bool thread)
{
	model_born(m, &(struct activity_task){
		.tid = tid, .pid = pid, .parent = parent,
		.shares_files = thread, .shares_memory = thread,
	});
}

static int setup(void **state)
{
	(void)state;
	m = model_new(&fake_names, true);
	born(100, 100, 0, false);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	model_free(m);
	return 0;
}

/* Runs one call through the model; returns whether it concerned perf. */
static bool call(pid_t tid, const char *name, int64_t ret, uint64_t a0, uint64_t a1,
		 uint64_t a2, uint64_t a3, uint64_t a4)
{
	struct call c = {
		.desc = call_by_name(name), .arch = &arch_x86_64, .tid = tid,
		.args = { a0, a1, a2, a3, a4 }, .returned = true,
		.ret = ret < 0 ? -ret : ret, .failed = ret < 0,
	};
	bool concerns = model_concerns(m, &c);

	model_enter(m, &c);
	model_exit(m, &c);
	call_free(&c);
	return concerns;
}

/* perf_event_open of a software event, on that cpu. */
static void open_event(pid_t tid, int fd, uint64_t config, pid_t target, int cpu,
		       uint64_t flags)
{
	uint8_t attr[128] = { 0 };
	struct call c = {
		.desc = call_by_name("perf_event_open"), .arch = &arch_x86_64,
		.tid = tid, .returned = true, .ret = fd,
		.args = { 0x1000, (uint64_t)target, (uint64_t)cpu, (uint64_t)-1, flags },
	};

	store_uint(attr, 4, 1);
	store_uint(attr + 4, 4, 128);
	store_uint(attr + 8, 8, config);
	store_uint(attr + 40, 8, bit_field(5, 1, 1)); /* exclude_kernel */
	call_add_capture(&c, AT_SYSCALL_ENTER, 0x1000, 128, attr, 128);
	assert_true(model_concerns(m, &c));
	model_enter(m, &c);
	model_exit(m, &c);
	call_free(&c);
}

static const char *name(pid_t tid, int fd)
{
	const struct event *e = model_event(m, tid, fd);

	return e ? e->name : NULL;
}

static void test_names(void **state)
{
	(void)state;
	open_event(100, 5, 0, -1, 0, 0);
	assert_string_equal(name(100, 5), "cpu-clock:u cpu0");
	assert_true(call(100, "close", 0, 5, 0, 0, 0, 0));
	assert_null(name(100, 5));
	assert_false(model_holds(m, 100));
	/* the number is used again, for another event */
	open_event(100, 5, 9, 0, -1, 0);
	assert_string_equal(name(100, 5), "dummy:u");
	open_event(100, 6, 0, -1, 0, 0);
	assert_string_equal(name(100, 6), "cpu-clock:u cpu0 #2");
	assert_true(model_holds(m, 100));
	assert_false(call(100, "close", 0, 7, 0, 0, 0, 0));
}

static void test_dup(void **state)
{
	(void)state;
	open_event(100, 5, 0, 0, 1, 0);
	assert_true(call(100, "dup", 9, 5, 0, 0, 0, 0));
	assert_true(call(100, "dup2", 10, 9, 10, 0, 0, 0));
	assert_true(call(100, "fcntl", 11, 5, F_DUPFD_CLOEXEC, 0, 0, 0));
	call(100, "close", 0, 5, 0, 0, 0, 0);
	for (int fd = 9; fd <= 11; fd++)
		assert_string_equal(name(100, fd), "cpu-clock:u cpu1");
	/* dup2 of something else over it: the event's descriptor is gone */
	assert_true(call(100, "dup2", 10, 1, 10, 0, 0, 0));
	assert_null(name(100, 10));
	/* one that fails changes nothing */
	call(100, "dup2", -9, 77, 9, 0, 0, 0);
	assert_non_null(name(100, 9));
	assert_true(call(100, "close_range", 0, 3, ~0U, 0, 0, 0));
	assert_false(model_holds(m, 100));
}

static void test_fork_and_exec(void **state)
{
	(void)state;
	open_event(100, 5, 0, 0, -1, 0);
	open_event(100, 6, 9, 0, -1, 8); /* PERF_FLAG_FD_CLOEXEC */
	born(200, 200, 100, false);
	born(101, 100, 100, true);
	call(101, "close", 0, 5, 0, 0, 0, 0);
	assert_null(name(100, 5));	/* a thread closes for all */
	assert_non_null(name(200, 5));	/* but not for the child */
	model_execed(m, 200, 200);
	assert_non_null(name(200, 5));
	assert_null(name(200, 6));
	/* exec from a thread takes the leader's number */
	model_execed(m, 100, 101);
	assert_null(name(100, 6));
	assert_null(model_event(m, 101, 5));
	call(200, "fcntl", 0, 5, F_SETFD, FD_CLOEXEC, 0, 0);
	model_execed(m, 200, 200);
	assert_false(model_holds(m, 200));
	model_gone(m, 200, false);
	assert_null(name(200, 5));
}

/* What a task holds that was detached from stays open; what one held that ended does not. */
static void test_detached(void **state)
{
	struct event *const *events;

	(void)state;
	born(200, 200, 0, false);
	open_event(100, 5, 0, 0, -1, 0);
	open_event(200, 6, 0, 0, -1, 0);
	model_gone(m, 100, true);
	model_gone(m, 200, false);
	assert_int_equal(model_events(m, &events), 2);
	assert_false(events[0]->closed);
	assert_true(events[1]->closed);
}

/* The kernel rounds the length of a mapping up to whole pages. */
static void test_mapped_length(void **state)
{
	struct ring *const *rings;

	(void)state;
	open_event(100, 5, 0, 0, -1, 0);
	call(100, "mmap", 0x7000000, 0, 0x2001, 3, 1, 5);
	assert_int_equal(model_rings(m, &rings), 1);
	assert_int_equal(rings[0]->end - rings[0]->start, 0x3000);
	/* a running munmap or mmap(MAP_FIXED) keeps others from looking at it */
	model_enter(m, &(struct call){
		.desc = call_by_name("munmap"), .arch = &arch_x86_64, .tid = 100,
		.args = { 0x7002000, 0x1000 },
	});
	assert_true(rings[0]->leaving);
	call(100, "munmap", -22, 0x7002000, 0x1000, 0, 0, 0);
	assert_false(rings[0]->leaving);
	assert_true(call(100, "mmap", 0x7000000, 0x7000000, 0x1000, 3, 0x32, -1UL));
	assert_true(rings[0]->unmapped);
}

static void test_unshare(void **state)
{
	(void)state;
	open_event(100, 5, 0, 0, -1, 0);
	born(101, 100, 100, true);
	assert_true(call(101, "unshare", 0, 0x400, 0, 0, 0, 0));
	call(101, "close", 0, 5, 0, 0, 0, 0);
	assert_null(name(101, 5));
	assert_non_null(name(100, 5));
}

static void test_rings(void **state)
{
	(void)state;
	open_event(100, 5, 0, 0, -1, 0);
	assert_true(call(100, "mmap", 0x7000000, 0, 0x9000, 3, 1, 5));
	call(100, "close", 0, 5, 0, 0, 0, 0);
	assert_true(model_holds(m, 100)); /* the ring lives on */
	assert_false(call(100, "munmap", 0, 0x1000, 0x1000, 0, 0, 0));
	born(200, 200, 100, false);
	assert_false(model_holds(m, 200)); /* rings are not inherited */
	assert_true(call(100, "mremap", 0x8000000, 0x7000000, 0x9000, 0x9000, 1, 0));
	assert_false(call(100, "munmap", 0, 0x7000000, 0x1000, 0, 0, 0));
	assert_true(call(100, "munmap", 0, 0x8000000, 0x9000, 0, 0, 0));
	assert_false(model_holds(m, 100));
}

static void ring_seen(void *ctx, struct ring *r)
{
	unsigned int *seen = ctx;

	seen[0]++;
	seen[1] = ring_first(r)->number;
}

/* All mappings of a buffer are one ring, until the last of them is gone. */
static void test_mapped_again(void **state)
{
	unsigned int seen[2] = { 0 };
	struct ring *const *rings;

	(void)state;
	open_event(100, 5, 0, 0, -1, 0);
	open_event(100, 6, 0, 0, -1, 0);
	call(100, "mmap", 0x7000000, 0, 0x3000, 3, 1, 5);
	call(100, "mmap", 0x8000000, 0, 0x3000, 1, 1, 5);
	/* an event that writes to another's ring maps that ring */
	assert_true(call(100, "ioctl", 0, 6, 0x2405, 5, 0, 0));
	call(100, "mmap", 0x9000000, 0, 0x3000, 3, 1, 6);
	assert_int_equal(model_rings(m, &rings), 1);
	assert_int_equal(rings[0]->mappings, 3);
	assert_false(rings[0]->overwrite);
	model_each_ring(m, 100, 0, 0, ring_seen, seen);
	assert_int_equal(seen[0], 1);
	model_each_ring(m, 100, 0x8000000, 0x8000001, ring_seen, seen);
	assert_int_equal(seen[0], 2);
	assert_int_equal(seen[1], rings[0]->number);
	assert_ptr_equal(model_ring_at(m, 100, 0x9000000, 0x9000001), rings[0]);
	assert_ptr_not_equal(model_mapping_at(m, 100, 0x9000000, 0x9000001), rings[0]);
	call(100, "munmap", 0, 0x7000000, 0x3000, 0, 0, 0);
	call(100, "munmap", 0, 0x9000000, 0x3000, 0, 0, 0);
	assert_int_equal(rings[0]->mappings, 1);
	/* a process that shares the descriptor maps the same buffer */
	born(200, 200, 100, false);
	call(200, "mmap", 0x7000000, 0, 0x3000, 3, 1, 5);
	call(100, "munmap", 0, 0x8000000, 0x3000, 0, 0, 0);
	assert_int_equal(model_rings(m, &rings), 1);
	/* mapped over itself: the old buffer ends first */
	call(200, "mmap", 0x7000000, 0x7000000, 0x3000, 3, 0x11, 5);
	assert_int_equal(model_rings(m, &rings), 2);
	assert_int_equal(rings[0]->mappings, 0);
	assert_int_equal(rings[1]->mappings, 1);
}

static void test_measured(void **state)
{
	(void)state;
	born(300, 300, 0, false);
	assert_false(model_involved(m, 300));
	assert_false(call(300, "execve", 0, 0, 0, 0, 0, 0));
	open_event(100, 5, 0, 300, -1, 0);
	assert_true(model_involved(m, 300));
	/* its calls are not shown: no engine stops a task for being measured */
	assert_false(call(300, "execve", 0, 0, 0, 0, 0, 0));
	assert_true(call(100, "execve", 0, 0, 0, 0, 0, 0));
	/* with PERF_FLAG_PID_CGROUP the number is no pid */
	born(301, 301, 0, false);
	open_event(100, 6, 0, 301, 0, 4);
	assert_false(model_involved(m, 301));
}

static bool polls(const char *what, const void *bytes, size_t len, uint64_t n)
{
	struct call c = {
		.desc = call_by_name(what), .arch = &arch_x86_64, .tid = 100,
		.args = { 0x1000, n },
	};
	bool concerns;

	if (!strcmp(what, "select")) {
		c.args[0] = n;
		c.args[1] = 0x1000;
	}
	call_add_capture(&c, AT_SYSCALL_ENTER, 0x1000, (uint32_t)len, bytes, (uint32_t)len);
	concerns = model_concerns(m, &c);
	call_free(&c);
	return concerns;
}

static void test_polls(void **state)
{
	const struct pollfd fds[] = { { 3, POLLIN, 0 }, { 5, POLLIN, 0 } };
	uint64_t set = 1 << 3;

	(void)state;
	open_event(100, 5, 0, 0, -1, 0);
	assert_true(polls("poll", fds, 16, 2));
	assert_false(polls("poll", fds, 8, 1));
	assert_false(polls("select", &set, 8, 6));
	set |= 1 << 5;
	assert_true(polls("select", &set, 8, 6));
	/* an epoll instance from before the first event */
	assert_false(call(100, "epoll_wait", 0, 4, 0, 1, 0, 0));
	assert_true(call(100, "epoll_ctl", 0, 4, 1, 5, 0, 0));
	assert_true(call(100, "epoll_wait", 0, 4, 0, 1, 0, 0));
	call(100, "close", 0, 5, 0, 0, 0, 0);
	assert_false(call(100, "epoll_wait", 0, 4, 0, 1, 0, 0));
}

/* Pass one descriptor: sendmsg, or recvmsg if the call returns; time in seconds. */
static bool pass(const char *what, pid_t tid, int32_t fd, unsigned int seconds, bool no_event)
{
	struct call c = {
		.desc = call_by_name(what), .arch = &arch_x86_64, .tid = tid, .returned = true,
		.ret = 1, .args = { 4, 0x1000 }, .enter_ns = seconds * 1000000000ULL,
		.no_event = no_event,
	};
	bool sends = c.desc->id == CALL_SENDMSG, concerns;
	enum call_phase phase = sends ? AT_SYSCALL_ENTER : AT_SYSCALL_EXIT;
	const uint64_t msg[7] = { 0, 0, 0, 0, 0x2000, 24, 0 };
	const struct {
		uint64_t len;
		int32_t level, type, fd, rest;
	} control = { 20, 1, 1, fd, 0 };

	call_add_capture(&c, phase, 0x1000, sizeof(msg), msg, sizeof(msg));
	call_add_capture(&c, phase, 0x2000, sizeof(control), &control, sizeof(control));
	concerns = model_concerns(m, &c);
	model_enter(m, &c);
	model_exit(m, &c);
	call_free(&c);
	return concerns;
}

/* A sent event is followed to its receiver, but not forever, and labels no other file. */
static void test_transit(void **state)
{
	(void)state;
	born(200, 200, 0, false);
	open_event(100, 5, 0, 0, -1, 0);
	assert_true(pass("sendmsg", 100, 5, 1, false));
	assert_true(model_passing(m));
	assert_true(pass("recvmsg", 200, 7, 2, true));	/* of another socket */
	assert_null(name(200, 7));
	assert_true(pass("recvmsg", 200, 7, 3, false));
	assert_non_null(name(200, 7));
	assert_false(model_passing(m));

	/* another file has the number: its close was not seen */
	assert_true(pass("sendmsg", 100, 5, 4, false));
	assert_true(pass("recvmsg", 200, 7, 5, true));
	assert_null(name(200, 7));

	/* never received */
	assert_false(pass("recvmsg", 200, 8, 60, false));
	assert_null(name(200, 8));
	assert_false(model_passing(m));
	for (int i = 0; i < 5000; i++)
		pass("sendmsg", 100, 5, 61, false);
	for (int i = 0; i < 5000 && model_passing(m); i++)
		pass("recvmsg", 200, 8 + i, 62, false);
	assert_non_null(name(200, 8));
	assert_null(name(200, 8 + 4999)); /* the oldest were forgotten */
}

/* The program of a link is detached when the last descriptor of the link is closed. */
static void test_links(void **state)
{
	struct call c = {
		.desc = call_by_name("bpf"), .arch = &arch_x86_64, .tid = 100, .returned = true,
		.ret = 6, .args = { 28, 0x1000, 16 },
	};
	const uint32_t create[4] = { 3, 5, 41, 0 }, other[4] = { 3, 5, 42, 0 };
	struct event *e;

	(void)state;
	call_add_capture(&c, AT_SYSCALL_ENTER, 0x1000, 16, other, 16);
	assert_false(model_concerns(m, &c));
	call_reset(&c);
	open_event(100, 5, 0, 0, -1, 0);
	e = model_event(m, 100, 5);
	c = (struct call){
		.desc = call_by_name("bpf"), .arch = &arch_x86_64, .tid = 100, .returned = true,
		.ret = 6, .args = { 28, 0x1000, 16 }, .pool = c.pool,
	};
	call_add_capture(&c, AT_SYSCALL_ENTER, 0x1000, 16, create, 16);
	assert_true(model_concerns(m, &c));
	model_enter(m, &c);
	model_exit(m, &c);
	call_free(&c);
	assert_int_equal(e->bpf, BPF_LINKED);
	assert_ptr_equal(model_linked(m, 100, 6), e);
	assert_true(call(100, "dup", 7, 6, 0, 0, 0, 0));
	assert_true(call(100, "close", 0, 6, 0, 0, 0, 0));
	assert_null(model_linked(m, 100, 6));
	assert_int_equal(e->bpf, BPF_LINKED);
	assert_true(call(100, "close", 0, 5, 0, 0, 0, 0));
	assert_false(e->closed);	/* the link keeps it open */
	assert_true(model_holds(m, 100));
	assert_true(call(100, "close", 0, 7, 0, 0, 0, 0));
	assert_true(e->closed);
	assert_false(model_holds(m, 100));
}

/* Calls of tasks that nobody told us about must not hurt. */
static void test_strangers(void **state)
{
	(void)state;
	assert_false(call(999, "close", 0, 5, 0, 0, 0, 0));
	open_event(999, 5, 0, 0, -1, 0);
	assert_null(name(999, 5));
	model_execed(m, 999, 998);
	model_gone(m, 999, false);
	assert_false(model_holds(m, 999));
}

/* A damaged dump says that each of two events leads the other. */
static void test_leaders(void **state)
{
	struct event *a = model_found(m, 100, 5, false, NULL), *b = model_found(m, 100, 6, false, NULL);
	static const uint8_t attr[64];

	(void)state;
	model_describe(m, a, &(struct activity_described){
		.attr = attr, .attr_len = sizeof(attr), .pid = 100, .cpu = -1, .leader = b,
	});
	model_describe(m, b, &(struct activity_described){
		.attr = attr, .attr_len = sizeof(attr), .pid = 100, .cpu = -1, .leader = a,
	});
	assert_ptr_equal(a->leader, b);
	assert_null(b->leader);
}

/* Of closed events, only what a file of records requires is kept: one of each attr. */
static void test_few(void **state)
{
	struct event *const *events;
	size_t n, kept = 0;

	(void)state;
	model_keep_few(m);
	for (int i = 0; i < 1000; i++) {
		open_event(100, 5, i % 2 ? 0 : 9, 0, -1, 0);
		call(100, "ioctl", 0, 5, PERF_EVENT_IOC_ENABLE, 0, 0, 0); /* it is no probe */
		if (i % 4 == 3)
			call(100, "mmap", 0x10000, 0, 8192, PROT_READ, MAP_SHARED, 5);
		call(100, "close", 0, 5, 0, 0, 0, 0);
		if (i % 4 == 3)
			call(100, "munmap", 0, 0x10000, 8192, 0, 0, 0);
	}
	open_event(100, 5, 1, 0, -1, 0); /* is open at the end */
	n = model_events(m, &events);
	for (size_t i = 0; i < n; i++)
		kept += events[i] != NULL;
	assert_int_equal(n, 1001);
	assert_int_equal(kept, 3);
	assert_int_equal(events[1000]->number, 1001);
}

/* What no kernel tells, but a damaged dump may. */
static void test_nonsense(void **state)
{
	(void)state;
	open_event(100, 5, 0, 0, -1, 0);
	born(100, 100, 100, true);	/* its own parent */
	assert_non_null(name(100, 5));
	born(100, 100, 100, false);
	assert_non_null(name(100, 5));
	call(100, "epoll_ctl", 0, (uint64_t)-1, 1, 5, 0, 0);
	call(100, "epoll_ctl", 0, INT32_MIN, 1, 5, 0, 0);
	assert_null(name(100, -1));
	assert_true(call(100, "close_range", 0, 0, ~0U, 0, 0, 0));
	assert_false(model_holds(m, 100));
}

/* Bytes on the heap; 0 where the C library does not tell, or sanitizers have a heap of theirs. */
static size_t allocated(void)
{
#ifdef HAVE_MALLINFO2
	return mallinfo2().uordblks;
#else
	return 0;
#endif
}

/* What n events with rings, all gone again, cost to keep and to tell of. */
static void cost(size_t n, double *seconds, size_t *bytes)
{
	size_t before = allocated();
	struct buf out = { 0 };
	clock_t start;

	model_free(m);
	setup(NULL);
	start = clock();
	for (size_t i = 0; i < n; i++) {
		open_event(100, 5, i % 2, 0, -1, 0);
		call(100, "mmap", 0x10000, 0, 0x3000, PROT_READ | PROT_WRITE, MAP_SHARED, 5);
		call(100, "munmap", 0, 0x10000, 0x3000, 0, 0, 0);
		call(100, "close", 0, 5, 0, 0, 0, 0);
	}
	*bytes = (allocated() - before) / n;
	summary_print(m, &fake_names, &out);
	*seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	buf_free(&out);
}

/* Twenty times as many may take twenty times as long, not four hundred times. */
static void test_many(void **state)
{
	enum { FEW = 2000, MANY = 20 * FEW };
	double few, many, ratio = 1e9;
	size_t bytes;

	(void)state;
	for (int i = 0; i < 3; i++) {
		cost(FEW, &few, &bytes);
		cost(MANY, &many, &bytes);
		if (many / few < ratio)
			ratio = many / few;
	}
	print_message("# %zu bytes for each, %g times the time for %d times as many\n",
		      bytes, ratio, MANY / FEW);
	assert_true(ratio < 60);
	assert_true(bytes < 600);
}

/* Two events that one after the other wrote to each other's ring do not keep each other alive. */
static void test_circle(void **state)
{
	(void)state;
	open_event(100, 5, 0, 0, -1, 0);
	open_event(100, 6, 0, 0, -1, 0);
	call(100, "mmap", 0x10000, 0, 0x3000, PROT_READ | PROT_WRITE, MAP_SHARED, 6);
	call(100, "ioctl", 0, 5, 0x2405, 6, 0, 0);
	assert_ptr_equal(model_event(m, 100, 5)->output, model_event(m, 100, 6));
	call(100, "munmap", 0, 0x10000, 0x3000, 0, 0, 0);
	call(100, "mmap", 0x10000, 0, 0x3000, PROT_READ | PROT_WRITE, MAP_SHARED, 5);
	call(100, "ioctl", 0, 6, 0x2405, 5, 0, 0);
	assert_ptr_equal(model_event(m, 100, 6)->output, model_event(m, 100, 5));
	assert_null(model_event(m, 100, 5)->output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dup, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fork_and_exec, setup, teardown),
		cmocka_unit_test_setup_teardown(test_detached, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mapped_length, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unshare, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mapped_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_measured, setup, teardown),
		cmocka_unit_test_setup_teardown(test_polls, setup, teardown),
		cmocka_unit_test_setup_teardown(test_transit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_links, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strangers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_leaders, setup, teardown),
		cmocka_unit_test_setup_teardown(test_circle, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_few, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nonsense, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
