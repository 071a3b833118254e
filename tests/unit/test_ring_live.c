// SPDX-License-Identifier: LGPL-2.1-or-later
/* Real rings of a child, looked into from outside. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/rings/borrow.h"
#include "engine/rings/look.h"
#include "engine/rings/ring.h"
#include "ring_got.h"

/* ---- a child that does what it is told ---- */

struct order {
	enum { OPEN, MAP, UNMAP, CLOSE, NAME, EAT, TAIL, POLL, PAUSE, SPIN, STOP,
	       BREAKPOINTS } what;
	uint64_t a;
	bool backward, overwrite;
};

struct child {
	pid_t pid;
	int sock;
	int fd;			/* its descriptor */
};

struct owner {
	int fd;
	user_page *page;
	size_t length;
	uint32_t seq;
	uint64_t eaten;		/* records */
	int bps[4];
};

static int open_event(const struct order *o)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.comm = 1,
		.exclude_kernel = 1,
		.write_backward = o->backward,
		.watermark = 1,
		.wakeup_watermark = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

/* As many as o->a execution breakpoints, or the errno of the first failure. */
static int64_t open_breakpoints(struct owner *w, const struct order *o)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = 4,
		.bp_len = sizeof(long),
		.sample_period = 1,
		.exclude_kernel = 1,
	};

	for (uint64_t i = 0; i < o->a; i++) {
		attr.bp_addr = (uintptr_t)open_breakpoints + 64 * i;
		w->bps[i] = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
					 PERF_FLAG_FD_CLOEXEC);
		if (w->bps[i] < 0) {
			int64_t err = -errno;

			while (i)
				close(w->bps[--i]);
			return err;
		}
	}
	return w->bps[0];
}

static int64_t map_ring(struct owner *w, const struct order *o)
{
	w->length = o->a;
	w->page = mmap(NULL, w->length,
		       o->overwrite ? PROT_READ : PROT_READ | PROT_WRITE,
		       MAP_SHARED, w->fd, 0);
	return w->page == MAP_FAILED ? -errno : 0;
}

static int64_t name_often(struct owner *w, uint64_t n)
{
	char name[16];

	while (n--) {
		snprintf(name, sizeof(name), "n%08u", ++w->seq);
		prctl(PR_SET_NAME, name);
	}
	return w->seq;
}

/* The owner's own reader: how many records there were. */
static int64_t eat(struct owner *w)
{
	uint64_t head = __atomic_load_n(&w->page->data_head, __ATOMIC_ACQUIRE);
	const uint8_t *data = (uint8_t *)w->page + w->page->data_offset;
	uint16_t size;

	while (w->page->data_tail != head) {
		memcpy(&size, data + ((w->page->data_tail + 6) &
				      (w->page->data_size - 1)), 2);
		w->eaten++;
		__atomic_store_n(&w->page->data_tail, w->page->data_tail + size,
				 __ATOMIC_RELEASE);
	}
	return (int64_t)w->eaten;
}

/* Names itself until the parent says something; eats if it may. */
static int64_t spin(struct owner *w, int sock, bool overwrite)
{
	char c;

	while (recv(sock, &c, 1, MSG_PEEK | MSG_DONTWAIT) < 0) {
		name_often(w, 10);
		if (!overwrite)
			eat(w);
	}
	return w->seq;
}

static int64_t poll_event(const struct owner *w)
{
	struct pollfd p = { w->fd, POLLIN, 0 };

	return poll(&p, 1, 0) < 0 ? -errno : p.revents;
}

static int64_t obey(struct owner *w, const struct order *o, int sock)
{
	switch (o->what) {
	case OPEN:
		w->fd = open_event(o);
		return w->fd < 0 ? -errno : w->fd;
	case MAP:
		return map_ring(w, o);
	case UNMAP:
		return munmap(w->page, w->length);
	case CLOSE:
		for (int i = 0; i < 4; i++)
			if (w->bps[i] > 0)
				w->bps[i] = close(w->bps[i]);
		return w->fd > 0 ? close(w->fd) : 0;
	case NAME:
		return name_often(w, o->a);
	case EAT:
		return eat(w);
	case TAIL:
		return (int64_t)w->page->data_tail;
	case POLL:
		return poll_event(w);
	case PAUSE:
		return ioctl(w->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, o->a);
	case SPIN:
		return spin(w, sock, o->overwrite);
	case STOP:
		return w->seq;
	case BREAKPOINTS:
		return open_breakpoints(w, o);
	}
	return -1;
}

static _Noreturn void live(int sock)
{
	struct owner w = { .fd = -1 };
	struct order o;
	int64_t r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (recv(sock, &o, sizeof(o), 0) == sizeof(o)) {
		r = obey(&w, &o, sock);
		send(sock, &r, sizeof(r), 0);
	}
	_exit(0);
}

static struct child child(void)
{
	struct child c = { .fd = -1 };
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
				    pair), 0);
	c.pid = fork();
	if (!c.pid) {
		close(pair[0]);
		live(pair[1]);
	}
	close(pair[1]);
	c.sock = pair[0];
	return c;
}

static void bury(struct child *c)
{
	close(c->sock);
	waitpid(c->pid, NULL, 0);
}

static int64_t answer(const struct child *c)
{
	int64_t r;

	assert_int_equal(recv(c->sock, &r, sizeof(r), 0), sizeof(r));
	return r;
}

static int64_t tell(const struct child *c, struct order o)
{
	assert_int_equal(send(c->sock, &o, sizeof(o), 0), sizeof(o));
	return answer(c);
}

/* A child with its ring; skips where it cannot have one, or be looked into. */
static struct child ringed(size_t length, bool backward, bool overwrite)
{
	struct child c = child();
	int64_t err;

	c.fd = (int)tell(&c, (struct order){ OPEN, 0, backward, overwrite });
	err = c.fd < 0 ? c.fd : tell(&c, (struct order){ MAP, length, backward,
							 overwrite });
	if (err < 0 || borrow_refusal()) {
		print_message("no ring to look into: %s\n",
			      err < 0 ? strerror((int)-err) : borrow_refusal());
		bury(&c);
		skip();
	}
	return c;
}

/* COMM records of a child: numbers in order. */
static void check_comm(void *ctx, const uint8_t *bytes, size_t len)
{
	struct got *g = ctx;
	uint32_t type, seq;
	char name[9];

	memcpy(&type, bytes, sizeof(type));
	if (type != PERF_RECORD_COMM || len != 32) {
		g->bad++;
		return;
	}
	memcpy(name, bytes + 17, 8);
	name[8] = '\0';
	seq = (uint32_t)strtoul(name, NULL, 10);
	g->bad += bytes[16] != 'n' || (g->n && seq <= g->seq[(g->n - 1) % MANY]);
	g->seq[g->n++ % MANY] = seq;
	g->bytes += len;
}

static struct ring_result look_at(const struct child *c, size_t length,
				  bool backward, bool overwrite,
				  struct ring_seen *seen, struct got *g)
{
	uint64_t before = seen->position;
	int fd = borrow_fd(c->pid, c->pid, c->fd);
	struct ring_result r;

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(ring_look(fd, length, backward, overwrite, seen, &r,
				   check_comm, g), 0);
	close(fd);
	assert_false(r.torn || r.restarted || r.odd_page);
	assert_int_equal(r.bytes + r.missed, seen->position - before);
	assert_int_equal(g->bad, 0);
	return r;
}

static void test_live_forward(void **state)
{
	size_t length = 5 * (size_t)sysconf(_SC_PAGESIZE);
	struct child c = ringed(length, false, false);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_seen seen = { 0 };
	struct ring_result r;

	(void)state;
	for (unsigned int i = 1; i <= 40; i++) {
		tell(&c, (struct order){ .what = NAME, .a = i * 3 });
		r = look_at(&c, length, false, false, &seen, g);
		assert_int_equal(r.records, i * 3);
		assert_false(r.waited);
		assert_int_equal(ring_page_get(&r.page,
					       PERF_EVENT_MMAP_PAGE_DATA_SIZE),
				 length - (size_t)sysconf(_SC_PAGESIZE));
		assert_int_equal(tell(&c, (struct order){ .what = EAT }), g->n);
	}
	/* we come late: consumed, but still there */
	tell(&c, (struct order){ .what = NAME, .a = 7 });
	tell(&c, (struct order){ .what = EAT });
	assert_int_equal(look_at(&c, length, false, false, &seen, g).records, 7);
	bury(&c);
	free(g);
}

static void test_live_backward(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), length = 3 * page;
	struct child c = ringed(length, true, true);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_seen seen = { 0 };
	unsigned int fit = (unsigned int)(2 * page / 32), n, total = 0;
	struct ring_result r;

	(void)state;
	for (unsigned int i = 0; i < 60; i++) {
		n = i * 11;
		total += n;
		tell(&c, (struct order){ .what = NAME, .a = n });
		if (i % 2)
			tell(&c, (struct order){ .what = PAUSE, .a = 1 });
		r = look_at(&c, length, true, true, &seen, g);
		if (i % 2)
			tell(&c, (struct order){ .what = PAUSE, .a = 0 });
		assert_int_equal(r.records, n < fit ? n : fit);
		assert_int_equal(r.missed, n < fit ? 0 : (n - fit) * 32);
		assert_int_equal(seen.position, total * 32);
	}
	bury(&c);
	free(g);
}

static void test_live_overwrite(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), length = 2 * page;
	struct child c = ringed(length, false, true);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_seen seen = { 0 };
	unsigned int fit = (unsigned int)(page / 32), n;
	struct ring_result r;

	(void)state;
	for (unsigned int i = 0; i < 30; i++) {
		n = i * 11;
		tell(&c, (struct order){ .what = NAME, .a = n });
		r = look_at(&c, length, false, true, &seen, g);
		assert_int_equal(r.records, n <= fit ? n : 0);
		assert_int_equal(r.missed, n <= fit ? 0 : n * 32);
	}
	bury(&c);
	free(g);
}

/* The child writes (and reads) at full speed while we look. */
static void live_race(bool backward, bool overwrite, size_t data, int looks)
{
	size_t length = data + (size_t)sysconf(_SC_PAGESIZE);
	struct child c = ringed(length, backward, overwrite);
	struct order spin = { SPIN, 0, backward, overwrite }, stop = { .what = STOP };
	struct got *g = calloc(1, sizeof(*g));
	struct ring_seen seen = { 0 };
	uint64_t missed = 0, waited = 0;
	int64_t names;

	send(c.sock, &spin, sizeof(spin), 0);
	/* it may take its time to begin */
	for (int i = 0; i < looks || !seen.position; i++) {
		struct ring_result r = look_at(&c, length, backward, overwrite,
					       &seen, g);

		missed += r.missed;
		waited += r.waited;
	}
	send(c.sock, &stop, sizeof(stop), 0);
	answer(&c);
	names = answer(&c);
	missed += look_at(&c, length, backward, overwrite, &seen, g).missed;
	/* whether told or missed, all of them are accounted for */
	assert_int_equal(g->bytes + missed, (uint64_t)names * 32);
	assert_int_equal(seen.position, (uint64_t)names * 32);
	if (!overwrite)
		assert_int_equal(tell(&c, (struct order){ .what = EAT }), names);
	print_message("%lld records, %zu seen, %llu bytes missed, %llu waits\n",
		      (long long)names, g->n, (unsigned long long)missed,
		      (unsigned long long)waited);
	assert_true(g->n > 0 || data < 1 << 19);
	bury(&c);
	free(g);
}

static void test_live_race(void **state)
{
	(void)state;
	live_race(false, false, 1 << 19, 500);
	live_race(false, false, 1 << 13, 50);
	live_race(true, true, 1 << 19, 500);
	live_race(true, true, 1 << 13, 50);
	live_race(false, true, 1 << 19, 500);
}

static void test_live_control_page(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct child c = ringed(page, false, false);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_seen seen = { 0 };
	struct ring_result r;

	(void)state;
	tell(&c, (struct order){ .what = NAME, .a = 3 });
	r = look_at(&c, page, false, false, &seen, g);
	assert_int_equal(r.records + r.missed, 0);
	assert_false(seen.started);
	assert_int_equal(ring_page_get(&r.page, PERF_EVENT_MMAP_PAGE_DATA_SIZE), 0);
	bury(&c);
	free(g);
}

/* The owner's tail, its wakeups, and what it may do next are as without us. */
static void test_live_untouched(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), length = 3 * page;
	struct child c = ringed(length, false, false);
	struct got *g = calloc(1, sizeof(*g));
	struct ring_seen seen = { 0 };

	(void)state;
	tell(&c, (struct order){ .what = NAME, .a = 5 });
	look_at(&c, length, false, false, &seen, g);
	assert_int_equal(tell(&c, (struct order){ .what = TAIL }), 0);
	look_at(&c, length, false, false, &seen, g);
	assert_int_equal(tell(&c, (struct order){ .what = POLL }), POLLIN);
	assert_int_equal(tell(&c, (struct order){ .what = EAT }), 5);
	look_at(&c, length, false, false, &seen, g);
	assert_int_equal(tell(&c, (struct order){ .what = TAIL }), 5 * 32);
	/* a ring of another size in its place */
	assert_int_equal(tell(&c, (struct order){ .what = UNMAP }), 0);
	assert_int_equal(tell(&c, (struct order){ .what = MAP, .a = 9 * page }), 0);
	tell(&c, (struct order){ .what = NAME, .a = 2 });
	seen = (struct ring_seen){ 0 };
	assert_int_equal(look_at(&c, 9 * page, false, false, &seen, g).records, 2);
	bury(&c);
	free(g);
}

static int64_t four_breakpoints(const struct child *c)
{
	return tell(c, (struct order){ .what = BREAKPOINTS, .a = 4 });
}

/* After a look the event goes when its owner closes it: registers are free. */
static void test_live_gone(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct child c = child();
	struct ring_seen seen = { 0 };
	struct ring_result r;
	uint64_t count;
	int64_t fd = four_breakpoints(&c);
	int ours;

	(void)state;
	if (fd < 0 || borrow_refusal()) {
		print_message("no four breakpoints: %s\n",
			      fd < 0 ? strerror((int)-fd) : borrow_refusal());
		bury(&c);
		skip();
	}
	for (int i = 0; i < 3; i++) {
		ours = borrow_fd(c.pid, c.pid, (int)fd);
		assert_int_equal(ring_look(ours, page, false, false, &seen, &r,
					   NULL, NULL), 0);
		assert_int_equal(ring_read_count(ours, &count, 8), 8);
		assert_int_equal(ring_read_count(ours, &count, 4), -ENOSPC);
		close(ours);
		tell(&c, (struct order){ .what = CLOSE });
		fd = four_breakpoints(&c);
		assert_true(fd >= 0);
	}
	/* that a kept copy would have been noticed */
	ours = borrow_fd(c.pid, c.pid, (int)fd);
	tell(&c, (struct order){ .what = CLOSE });
	assert_int_equal(four_breakpoints(&c), -ENOSPC);
	close(ours);
	assert_true(four_breakpoints(&c) >= 0);
	bury(&c);
}

static void test_look_refuses(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct child c = ringed(3 * page, false, false);
	struct ring_seen seen = { 0 };
	struct ring_result r;
	int fd = borrow_fd(c.pid, c.pid, c.fd), other;

	(void)state;
	assert_int_equal(ring_look(fd, 5 * page, false, false, &seen, &r, NULL,
				   NULL), -EINVAL);
	assert_int_equal(ring_look(fd, 100, false, false, &seen, &r, NULL, NULL),
			 -EINVAL);
	assert_int_equal(ring_look(fd, 0, false, false, &seen, &r, NULL, NULL),
			 -EINVAL);
	assert_int_equal(ring_look(fd, SIZE_MAX & ~(page - 1), false, false,
				   &seen, &r, NULL, NULL) < 0, true);
	assert_int_equal(ring_look(-1, page, false, false, &seen, &r, NULL, NULL),
			 -EBADF);
	other = open("/dev/zero", O_RDWR | O_CLOEXEC);
	assert_int_equal(ring_look(other, page, false, false, &seen, &r, NULL,
				   NULL), -ENOTTY);
	close(other);
	close(fd);
	bury(&c);
}

/* As a container may have it: the call gives that error. */
static bool forbid_getfd(int err)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 438, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { 4, code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static _Noreturn void refused(int err)
{
	pid_t parent = getppid();

	if (!forbid_getfd(err))
		_exit(2);
	if (borrow_fd(parent, parent, 0) != -err || !borrow_refusal())
		_exit(1);
	/* given again, though the process does not exist */
	_exit(borrow_fd(0x3fffffff, 0x3fffffff, 0) != -err);
}

/* Before any other test: what was found out is kept. */
static void test_borrow_refused(void **state)
{
	static const int errs[] = { ENOSYS, EPERM };
	int status;

	(void)state;
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (!pid)
			refused(errs[i]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (status == 2 << 8)
			skip();
		assert_int_equal(status, 0);
	}
}

static void test_borrow(void **state)
{
	struct child c = child();
	int fd;

	(void)state;
	if (borrow_refusal()) {
		print_message("%s\n", borrow_refusal());
		bury(&c);
		skip();
	}
	assert_int_equal(borrow_fd(c.pid, c.pid, 999), -EBADF);
	assert_int_equal(borrow_fd(c.pid, c.pid, -1), -EBADF);
	assert_true(borrow_fd(0x3fffffff, 0x3fffffff, 0) < 0);
	fd = borrow_fd(c.pid, c.pid, 0);
	assert_true(fd >= 0);
	close(fd);
	bury(&c);
	assert_null(borrow_refusal());
}

/* A thread with descriptors of its own. */
struct lonely {
	pid_t tid;
	int fd, ready, end;
};

static void *unshared(void *arg)
{
	struct lonely *l = arg;
	uint64_t one = 1;

	l->tid = (pid_t)syscall(SYS_gettid);
	if (!unshare(CLONE_FILES))
		l->fd = fcntl(l->ready, F_DUPFD_CLOEXEC, 500);
	one = write(l->ready, &one, 8) == 8;
	one = read(l->end, &one, 8) == 8;
	return NULL;
}

static void test_borrow_thread(void **state)
{
	struct lonely l = { .fd = -1, .ready = eventfd(0, EFD_CLOEXEC),
			    .end = eventfd(0, EFD_CLOEXEC) };
	uint64_t one = 1;
	pthread_t thread;
	int got;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, unshared, &l), 0);
	assert_int_equal(read(l.ready, &one, 8), 8);
	got = borrow_fd(getpid(), l.tid, l.fd);
	one = 1;
	assert_int_equal(write(l.end, &one, 8), 8);
	pthread_join(thread, NULL);
	close(l.ready);
	close(l.end);
	if (l.fd < 0 || got == -EOPNOTSUPP || borrow_refusal()) {
		print_message("no thread of its own, or no way to it\n");
		skip();
	}
	assert_true(got >= 0);
	assert_int_equal(fcntl(l.fd, F_GETFD), -1);
	close(got);
}

/* A ring that fills is read more often, one that does not less often; a new one at once. */
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_borrow_refused),
		cmocka_unit_test(test_borrow),
		cmocka_unit_test(test_borrow_thread),
		cmocka_unit_test(test_look_refuses),
		cmocka_unit_test(test_live_forward),
		cmocka_unit_test(test_live_backward),
		cmocka_unit_test(test_live_overwrite),
		cmocka_unit_test(test_live_race),
		cmocka_unit_test(test_live_control_page),
		cmocka_unit_test(test_live_untouched),
		cmocka_unit_test(test_live_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
