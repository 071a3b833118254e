// SPDX-License-Identifier: LGPL-2.1-or-later
/* Programs that mean harm to whoever looks at them, or do harm by accident. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>

#include "verbs.h"

/* Colours, a title, a bell, C1 in both forms, what ends lines and comments. */
#define EVIL_NAME "\033[31m\033]0;x\007\r\n\x9b" "1m\xc2\x9b" "2J\x7f\xff\xe2\x80\xae"
#define EVIL EVIL_NAME "*/"

enum { HUGE_NUMBER = 0x7fffffff };

static void evil_records(const char *dir)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_DUMMY);
	char path[512];
	struct pollfd pfd = { -1, POLLIN, 0 };
	int fd;

	attr.comm = attr.mmap = attr.mmap2 = attr.mmap_data = attr.task = attr.comm_exec = 1;
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.watermark = attr.wakeup_watermark = 1;
	attr.cgroup = attr.namespaces = 1;
	pfd.fd = event_open(&attr, 0, -1);
	CHECK(pfd.fd >= 0);
	CHECK(mmap(NULL, 17 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, pfd.fd, 0) != MAP_FAILED);
	prctl(PR_SET_NAME, "\033[31m\007\r\nevil");
	snprintf(path, sizeof(path), "%s/%s", dir, EVIL_NAME);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, 4096));
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0) != MAP_FAILED);
	close(fd);
	poll(&pfd, 1, 0);
	finish("child", fork_clean() ?: (prctl(PR_SET_NAME, "\x9b\xc2\x9b"), _exit(0), 0));
	poll(&pfd, 1, 0);
}

static void evil_attrs(void)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);
	int fd = event_open(&attr, 0, -1);

	ioctl(fd, PERF_EVENT_IOC_SET_FILTER, EVIL "== " EVIL);
	/* PMUs that take strings: uprobe and kprobe have small numbers */
	for (uint32_t type = 6; type < 12; type++) {
		attr.type = type;
		attr.config = 0;
		attr.config1 = (uintptr_t) "/" EVIL;
		attr.config2 = 0;
		close(event_open(&attr, 0, -1));
	}
	close(fd);
}

/* In the directory ARG: files, programs, names and strings of the worst kind. */
static int names(const char *arg)
{
	char *argv[] = { "\033[1mevil", "said", EVIL, NULL };
	char *envp[] = { "X=" EVIL, NULL };
	char path[512];

	evil_records(arg);
	evil_attrs();
	snprintf(path, sizeof(path), "%s/p%s", arg, EVIL_NAME);
	unlink(path);
	CHECK(!link(own_path, path) || errno == EXDEV);
	execve(path, argv, envp);
	return CANNOT;
}

static int said(const char *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, EVIL);
	CHECK(clock_open() >= 0);
	evil_attrs();
	return 3;
}

/* Newer processors have only the newer forms of these calls. */
static void wait_poll(void *fds, long n)
{
#ifdef SYS_poll
	syscall(SYS_poll, fds, n, 0);
#else
	syscall(SYS_ppoll, fds, n, &(struct timespec){ 0 }, NULL, 8);
#endif
}

static void wait_select(long n, void *set)
{
#ifdef SYS_select
	syscall(SYS_select, n, set, set, set, &(struct timeval){ 0 });
#else
	syscall(SYS_pselect6, n, set, set, set, &(struct timespec){ 0 }, NULL);
#endif
}

static void wait_epoll(int ep, void *events, long n)
{
#ifdef SYS_epoll_wait
	syscall(SYS_epoll_wait, ep, events, n, 0);
#else
	syscall(SYS_epoll_pwait, ep, events, n, 0, NULL, 8);
#endif
}

/* Numbers that say how much there is, and lie. */
static int sizes(const char *arg)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_TASK_CLOCK);
	static const uint32_t sizes[] = { UINT32_MAX, 0x80000000, 0x10000, 4097, 4096, 65, 63, 1 };
	uint64_t value;
	struct iovec iov = { (void *)-4096, SIZE_MAX };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = HUGE_NUMBER,
			      .msg_control = &value, .msg_controllen = HUGE_NUMBER };
	int fd = clock_open(), ep = epoll_create1(0), pair[2];
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char **long_argv = calloc(20001, sizeof(*long_argv));

	(void)arg;
	CHECK(fd >= 0 && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	CHECK(!munmap(page + 4096, 4096));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		attr.size = sizes[i];
		close(event_open(&attr, 0, -1));
		/* the rest of it lies behind the end of the page */
		memcpy(page + 4096 - 48, &attr, 48);
		close(event_open((void *)(page + 4096 - 48), 0, -1));
	}
	for (long nfds = 1; nfds <= 0x100000000; nfds <<= 1) {
		wait_poll(page + 4088, nfds);
		syscall(SYS_ppoll, page, nfds, &(struct timespec){ 0 }, page, nfds);
	}
	wait_select(HUGE_NUMBER, page);
	wait_select(-1, page);
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &(struct epoll_event){ .events = EPOLLIN });
	wait_epoll(ep, page, HUGE_NUMBER);
	wait_epoll(ep, (void *)-1, 1);
	syscall(SYS_read, fd, page, SIZE_MAX);
	syscall(SYS_readv, fd, &iov, HUGE_NUMBER);
	syscall(SYS_readv, fd, (void *)-8, 1024);
	syscall(SYS_preadv2, fd, page, 1024, -1, -1, -1);
	sendmsg(pair[0], &msg, MSG_DONTWAIT);
	recvmsg(pair[1], &msg, MSG_DONTWAIT);
	msg.msg_controllen = SIZE_MAX;
	sendmsg(pair[0], &msg, MSG_DONTWAIT);
	syscall(SYS_mmap, 0, SIZE_MAX, PROT_READ, MAP_SHARED, fd, 0);
	syscall(SYS_mmap, 0, 1ULL << 46, PROT_READ, MAP_SHARED, fd, 0);
	syscall(SYS_munmap, 0x1000, SIZE_MAX);
	syscall(SYS_mremap, page, 4096, SIZE_MAX, MREMAP_MAYMOVE, 0);
	for (unsigned long nr = 0; nr < 16; nr++)
		for (unsigned long size = 0; size < 0x4000; size = size * 4 + 1)
			for (int dir = 0; dir < 4; dir++)
				ioctl(fd, (unsigned long)dir << 30 | size << 16 | '$' << 8 | nr,
				      nr % 2 ? (void *)-1 : page + 4090);
	syscall(SYS_clone3, page, SIZE_MAX);
	syscall(SYS_clone3, (void *)-1, 64);
	syscall(SYS_close_range, 1000, UINT32_MAX, -1);
	for (int i = 0; i < 20000; i++)
		long_argv[i] = EVIL;
	syscall(SYS_execve, "/no/such/program", long_argv, -8);
	syscall(SYS_execve, -1, 1, long_argv);
	printf("sizes: still here\n");
	return 0;
}

static struct perf_event_attr *shared;
static atomic_bool over;

/* Changes, unmaps and maps again what the other thread's calls point to. */
static void *change(void *ctx)
{
	unsigned int n = 0;

	(void)ctx;
	while (!over) {
		shared->size = n % 3 ? 64 : n * 2654435761U;
		shared->type = n % 5 ? PERF_TYPE_SOFTWARE : n;
		shared->sample_type = (uint64_t)n * 0x123456789;
		if (++n % 16)
			continue;
		mmap(shared, 4096, n % 32 ? PROT_NONE : PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		mmap(shared, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
	return NULL;
}

/* Closes and replaces descriptors while the other thread uses them. */
static void *shuffle(void *ctx)
{
	(void)ctx;
	for (int n = 0; !over; n++) {
		int fd = 10 + n % 20;

		if (n % 3 == 0)
			close(fd);
		else
			dup2(n % 3 == 1 ? 3 : 2, fd);
	}
	return NULL;
}

static int races(const char *arg)
{
	pthread_t ids[2];
	uint64_t value[4];

	(void)arg;
	CHECK(clock_open() == 3);
	over = false;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(!pthread_create(&ids[0], NULL, change, NULL));
	CHECK(!pthread_create(&ids[1], NULL, shuffle, NULL));
	for (int i = 0; i < 1500; i++) {
		struct pollfd pfd[4] = { { 10 + i % 20, POLLIN, 0 }, { 3, POLLIN, 0 } };
		int fd = event_open(shared, 0, -1);

		if (fd > 3)
			dup2(fd, 10 + i % 20);
		if (fd > 30)
			close(fd);
		mmap(NULL, 2 * 4096, PROT_READ, MAP_SHARED, 10 + i % 20, 0);
		ioctl(10 + i % 20, PERF_EVENT_IOC_ID, shared);
		ioctl(10 + i % 20, PERF_EVENT_IOC_SET_FILTER, shared);
		if (read(10 + i % 20, value, sizeof(value)) < 0)
			poll(pfd, 2, 0);
	}
	over = true;
	for (int i = 0; i < 2; i++)
		pthread_join(ids[i], NULL);
	printf("races: over\n");
	return 0;
}

/* A supervisor, a thread, that answers every open with a number of its own. */
static void *answer(void *ctx)
{
	static const int64_t values[] = { 0, 1, 77, 1LL << 40, INT64_MAX };
	struct seccomp_notif request;
	size_t n = 0;

	while (n < sizeof(values) / sizeof(*values)) {
		struct seccomp_notif_resp response = { .val = values[n] };

		memset(&request, 0, sizeof(request));
		if (ioctl(*(int *)ctx, SECCOMP_IOCTL_NOTIF_RECV, &request))
			continue;
		response.id = request.id;
		n += !ioctl(*(int *)ctx, SECCOMP_IOCTL_NOTIF_SEND, &response);
	}
	return NULL;
}

/* perf_event_open returns what is no event, and no descriptor even. */
static int made_up(const char *arg)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog prog = { sizeof(insns) / sizeof(*insns), insns };
	struct perf_event_attr attr = software(PERF_COUNT_SW_TASK_CLOCK);
	pthread_t id;
	int fd;

	(void)arg;
	CHECK(clock_open() >= 0);
	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			  &prog);
	if (fd < 0)
		return CANNOT;
	CHECK(!pthread_create(&id, NULL, answer, &fd));
	for (int i = 0; i < 5; i++)
		printf("opened: %ld\n", syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
	CHECK(!pthread_join(id, NULL));
	ioctl(1, PERF_EVENT_IOC_DISABLE, 0);
	return 0;
}

static volatile sig_atomic_t got;

static void on_signal(int sig)
{
	got += sig > 0;
}

/* Signals without end, from itself, a child and two timers. */
static int storm(const char *arg)
{
	const struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { 0 };
	pid_t pid, self = getpid();
	int opened = 0;

	(void)arg;
	signal(SIGALRM, on_signal);
	signal(SIGUSR1, on_signal);
	signal(SIGRTMIN, on_signal);
	pid = fork_clean();
	if (!pid) {
		for (int i = 0; i < 20000; i++)
			kill(self, SIGRTMIN);
		_exit(0);
	}
	CHECK(!setitimer(ITIMER_REAL, &often, NULL));
	for (int i = 0; i < 300; i++) {
		int fd = clock_open();

		opened += fd >= 0;
		raise(SIGUSR1);
		close(fd);
	}
	CHECK(!setitimer(ITIMER_REAL, &never, NULL));
	finish("sender", pid);
	printf("storm: %d opened\n", opened);
	return 0;
}

static void multiply(int depth)
{
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (!pid) {
			close(clock_open());
			if (depth)
				multiply(depth - 1);
			_exit(0);
		}
		if (pid < 0)
			usleep(100);
	}
	while (wait(NULL) > 0)
		;
}

/* Forks without end, as far as RLIMIT_NPROC and the time allow. */
static int forks(const char *arg)
{
	const struct rlimit limit = { 60, 60 };
	pid_t pid = fork_clean();

	(void)arg;
	if (!pid) {
		/* somebody that has no other processes */
		if (setgid(64321) || setuid(64321) || setrlimit(RLIMIT_NPROC, &limit))
			leave(CANNOT);
		multiply(5);
		leave(0);
	}
	finish("all of them", pid);
	return 0;
}

static void *end_soon(void *ctx)
{
	close(clock_open());
	return ctx;
}

static void *sleeps(void *unused)
{
	pause();
	return unused;
}

static void *calls_on(void *number)
{
	for (long n = *(long *)number; n; n--)
		close(-1);
	return NULL;
}

/* ARG: SLEEPERS,CALLS: three threads that make so many calls each, beside so many that sleep. */
static int sleepers(const char *arg)
{
	pthread_t id, callers[3];
	pthread_attr_t small;
	char *end;
	long n = strtol(arg, &end, 10), calls = strtol(end + 1, NULL, 10);

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	for (; n; n--)
		CHECK(!pthread_create(&id, &small, sleeps, NULL));
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&callers[i], &small, calls_on, &calls));
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_join(callers[i], NULL));
	return 0;
}

/* Threads and processes that end as soon as they are there; ARG milliseconds long. */
static int mayflies(const char *arg)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += arg ? atoi(arg) / 1000 : 0;
	do {
		pthread_t id;
		pid_t pid = fork();

		if (!pid) {
			pthread_create(&id, NULL, end_soon, NULL);
			pthread_create(&id, NULL, end_soon, NULL);
			_exit(0);
		}
		CHECK(!pthread_create(&id, NULL, end_soon, NULL));
		CHECK(!pthread_join(id, NULL));
		waitpid(pid, NULL, 0);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec ||
		 (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
	printf("mayflies: over\n");
	return 0;
}

static atomic_bool over;

static void *never_still(void *ctx)
{
	while (!over)
		syscall(SYS_getppid);
	return ctx;
}

static void crowded_out(void)
{
	enum { N = 30 };
	pthread_t ids[N];
	int opened = 0;

	for (int i = 0; i < N; i++)
		CHECK(!pthread_create(&ids[i], NULL, never_still, NULL));
	for (int i = 0; i < 100; i++) {
		int fd = clock_open();

		opened += fd >= 0;
		close(fd);
	}
	over = true;
	for (int i = 0; i < N; i++)
		CHECK(!pthread_join(ids[i], NULL));
	printf("throng: %d opened\n", opened);
	leave(0);
}

/*
 * Threads that stop again as soon as they go on, and an older one that has work
 * to do; in a child, as a tracer's own child is found before all others.
 */
static int throng(const char *arg)
{
	pid_t pid = fork_clean();

	(void)arg;
	if (!pid)
		crowded_out();
	finish("throng", pid);
	return 0;
}

/* Gives every page that is asked for an attr. */
static void *provide(void *ctx)
{
	static _Alignas(4096) char page[4096];
	const struct perf_event_attr attr = software(PERF_COUNT_SW_DUMMY);
	struct pollfd pfd = { *(int *)ctx, POLLIN, 0 };
	struct uffd_msg msg;

	memcpy(page, &attr, sizeof(attr));
	while (poll(&pfd, 1, -1) > 0 && read(pfd.fd, &msg, sizeof(msg)) == sizeof(msg)) {
		struct uffdio_copy copy = {
			.dst = msg.arg.pagefault.address & ~(uint64_t)4095,
			.src = (uintptr_t)page,
			.len = sizeof(page),
		};

		ioctl(pfd.fd, UFFDIO_COPY, &copy);
	}
	return NULL;
}

/* Memory that is there once another thread, which a tracer may stop, has seen to it. */
static int lazy(const char *arg)
{
	enum { PAGES = 3 };
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	static int fd;
	char *at;
	pthread_t id;

	(void)arg;
	fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0)
		return CANNOT;
	CHECK(!ioctl(fd, UFFDIO_API, &api));
	at = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(at != MAP_FAILED);
	range.range.start = (uintptr_t)at;
	range.range.len = PAGES * 4096;
	CHECK(!ioctl(fd, UFFDIO_REGISTER, &range));
	CHECK(!pthread_create(&id, NULL, provide, &fd));
	usleep(20000);
	for (int i = 0; i < PAGES; i++)
		printf("lazy: opened %d\n",
		       syscall(SYS_perf_event_open, at + i * 4096, 0, -1, -1, 0) >= 0);
	return 0;
}

static const struct verb verbs[] = {
	{ "names", names }, { "said", said }, { "sizes", sizes }, { "races", races },
	{ "made_up", made_up }, { "storm", storm }, { "forks", forks }, { "mayflies", mayflies },
	{ "sleepers", sleepers },
	{ "throng", throng }, { "lazy", lazy }, { NULL, NULL },
};

int main(int argc, char **argv)
{
	return run_verb(argc, argv, verbs);
}
