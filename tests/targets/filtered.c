// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Open counters while much goes on that the second filter could disturb, and check that
 * nothing is disturbed.
 *
 * usage: filtered registers | maps | signals | stop | threads | vfork | fork |
 *		  filter | nobody | forever | unshare | close_range |
 *		  many N | turns N | race N | quiet N
 * Exit status 0: all is as without a tracer; 77: cannot be tried.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CANNOT = 77, BELOW = 16384 };

#define CHECK(what)							\
	do {								\
		if (!(what)) {						\
			fprintf(stderr, "filtered: line %d: %s (%s)\n",	\
				__LINE__, #what, strerror(errno));	\
			_exit(1);					\
		}							\
	} while (0)

static struct perf_event_attr clock_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

static int open_clock(void)
{
	struct perf_event_attr attr = clock_attr();

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

/* A counter that was opened counts, and its descriptor goes. */
static void use(int fd)
{
	uint64_t value;

	CHECK(fd >= 0);
	CHECK(read(fd, &value, sizeof(value)) == sizeof(value) && value);
	CHECK(!close(fd));
}

#ifdef __x86_64__

struct registers {
	uint64_t rbx, rbp, r12, r13, r14, r15, r8, r9, r10, rdx, rsi, rdi, flags;
	uint8_t xmm[2][16];
};

/* The call with known values in all registers, and what was in them behind it. */
static long call_between(const struct perf_event_attr *attr, struct registers *out)
{
	static const uint8_t xmm[2][16] = { "fifteen letters", "other fifteen.." };
	long ret;

	__asm__ volatile(
		"push %%rbp\n\t"
		"push %%rbx\n\t"
		"mov %[out], %%r15\n\t"
		"movdqu %[x0], %%xmm3\n\t"
		"movdqu %[x1], %%xmm15\n\t"
		"mov $0x1111111122222222, %%rbx\n\t"
		"mov $0x3333333344444444, %%rbp\n\t"
		"mov $0x5555555566666666, %%r12\n\t"
		"mov $0x7777777788888888, %%r13\n\t"
		"mov $0x99999999aaaaaaaa, %%r14\n\t"
		"mov $0xbbbbbbbbcccccccc, %%r9\n\t"
		"stc\n\t"
		"syscall\n\t"
		"mov %%rbx, 0(%%r15)\n\t"
		"mov %%rbp, 8(%%r15)\n\t"
		"mov %%r12, 16(%%r15)\n\t"
		"mov %%r13, 24(%%r15)\n\t"
		"mov %%r14, 32(%%r15)\n\t"
		"mov %%r15, 40(%%r15)\n\t"
		"mov %%r8, 48(%%r15)\n\t"
		"mov %%r9, 56(%%r15)\n\t"
		"mov %%r10, 64(%%r15)\n\t"
		"mov %%rdx, 72(%%r15)\n\t"
		"mov %%rsi, 80(%%r15)\n\t"
		"mov %%rdi, 88(%%r15)\n\t"
		"pushfq\n\t"
		"popq 96(%%r15)\n\t"
		"movdqu %%xmm3, 104(%%r15)\n\t"
		"movdqu %%xmm15, 120(%%r15)\n\t"
		"pop %%rbx\n\t"
		"pop %%rbp\n\t"
		: "=a"(ret), [out] "+c"(out)	/* syscall changes rcx */
		: "0"((long)SYS_perf_event_open), "D"(attr), "S"(0L), "d"(-1L),
		  [x0] "m"(xmm[0]), [x1] "m"(xmm[1])
		: "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm3", "xmm15",
		  "memory", "cc");
	return ret;
}

static int registers(void)
{
	CHECK(sizeof(struct registers) == 136);
	for (int i = 0; i < 20; i++) {
		/* r8 and r10 are as they come: flags and group of the call */
		struct perf_event_attr attr = clock_attr();
		struct registers r = { 0 };
		long fd;

		__asm__ volatile("mov $-1, %%r10\n\txor %%r8d, %%r8d" : : : "r8", "r10");
		fd = call_between(&attr, &r);
		CHECK(fd >= 0);
		CHECK(r.rbx == 0x1111111122222222 && r.rbp == 0x3333333344444444);
		CHECK(r.r12 == 0x5555555566666666 && r.r13 == 0x7777777788888888);
		CHECK(r.r14 == 0x99999999aaaaaaaa && r.r15 == (uintptr_t)&r);
		CHECK(r.r9 == 0xbbbbbbbbcccccccc && r.rdx == (uint64_t)-1 && !r.rsi);
		CHECK(r.rdi == (uintptr_t)&attr && r.flags & 1);
		CHECK(!memcmp(r.xmm[0], "fifteen letters", 16));
		CHECK(!memcmp(r.xmm[1], "other fifteen..", 16));
	}
	return 0;
}

#else

static int registers(void)
{
	return CANNOT;
}

#endif

static size_t slurp(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	size_t len = 0;
	ssize_t n;

	CHECK(fd >= 0);
	while ((n = read(fd, text + len, size - 1 - len)) > 0)
		len += (size_t)n;
	CHECK(!close(fd));
	text[len] = '\0';
	return len;
}

/* What lies below this frame, filled as other stacks' owners might. */
static __attribute__((noinline)) uint8_t *below(void)
{
	return (uint8_t *)__builtin_frame_address(0) - BELOW;
}

static int maps(void)
{
	static char before[65536], after[65536], copy[BELOW / 2];
	struct perf_event_attr attr = clock_attr();
	volatile uint8_t *stack = below();
	sigset_t mask, now;
	bool same = true;
	int fds[40];

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigaddset(&mask, SIGRTMIN + 3);
	CHECK(!sigprocmask(SIG_SETMASK, &mask, NULL));
	slurp("/proc/self/maps", before, sizeof(before));
	for (size_t i = 0; i < sizeof(copy); i++)
		stack[i] = (uint8_t)(i * 7);
	for (int i = 0; i < 40; i++) {
		long fd;

		/* by hand: nothing of ours may use the stack meanwhile */
#ifdef __x86_64__
		register long group __asm__("r10") = -1, flags __asm__("r8") = 0;

		__asm__ volatile("syscall" : "=a"(fd)
				 : "0"((long)SYS_perf_event_open), "D"(&attr), "S"(0L),
				   "d"(-1L), "r"(group), "r"(flags)
				 : "rcx", "r11", "memory");
#else
		fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
#endif
		for (size_t at = 0; at < sizeof(copy); at++)
			same &= stack[at] == (uint8_t)(at * 7);
		fds[i] = (int)fd;
	}
	CHECK(same);
	slurp("/proc/self/maps", after, sizeof(after));
	CHECK(!strcmp(before, after));
	CHECK(!sigprocmask(SIG_SETMASK, NULL, &now));
	for (int sig = 1; sig < SIGRTMAX; sig++)
		CHECK(sigismember(&mask, sig) == sigismember(&now, sig));
	for (int i = 0; i < 40; i++)
		use(fds[i]);
	return 0;
}

/* Signals, each with the number that follows that of the one before. */
static volatile sig_atomic_t received, disorder;

static void take(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	disorder |= info->si_value.sival_int != received;
	received++;
}

static int signals(void)
{
	enum { SENT = 400, EVENTS = 150 };
	const struct sigaction action = { .sa_sigaction = take,
					  .sa_flags = SA_SIGINFO | SA_RESTART };
	pid_t sender, self = getpid();
	int status;

	CHECK(!sigaction(SIGRTMIN, &action, NULL));
	sender = fork();
	if (!sender) {
		for (int i = 0; i < SENT; i++) {
			while (sigqueue(self, SIGRTMIN, (union sigval){ .sival_int = i }))
				CHECK(errno == EAGAIN);
			nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
		}
		_exit(0);
	}
	for (int i = 0; i < EVENTS; i++)
		CHECK(open_clock() >= 0);
	CHECK(waitpid(sender, &status, 0) == sender && !status);
	CHECK(received == SENT && !disorder);
	return 0;
}

/* Opens until it is killed. */
static int forever(void)
{
	for (;;) {
		int fd = open_clock();

		/* all numbers in turn, so that there is always a new one */
		if (fd < 0 && errno == EMFILE)
			CHECK(!syscall(SYS_close_range, 3, ~0U, 0));
		else
			CHECK(fd >= 0);
	}
}

/* Stopped and continued while it opens; its parent sees every stop. */
static int stop(void)
{
	enum { TIMES = 30 };
	int status;
	pid_t child = fork();

	if (!child)
		_exit(forever());
	for (int i = 0; i < TIMES; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
		CHECK(!kill(child, SIGSTOP));
		CHECK(waitpid(child, &status, WUNTRACED) == child);
		CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
		CHECK(!kill(child, SIGCONT));
		CHECK(waitpid(child, &status, WCONTINUED) == child);
		CHECK(WIFCONTINUED(status));
	}
	CHECK(!kill(child, SIGKILL));
	CHECK(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGKILL);
	return 0;
}

/* Threads that sleep in calls which a stop would end, or work. */
static atomic_bool over;
static int pipe_fds[2];

static void *sleep_in_epoll(void *ctx)
{
	struct epoll_event event;
	int ep = epoll_create1(0);

	(void)ctx;
	CHECK(ep >= 0);
	CHECK(!epoll_wait(ep, &event, 1, 300));
	return NULL;
}

static void *sleep_in_sigtimedwait(void *ctx)
{
	const struct timespec time = { .tv_nsec = 300000000 };
	sigset_t set;

	(void)ctx;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(sigtimedwait(&set, NULL, &time) < 0 && errno == EAGAIN);
	return NULL;
}

static void *sleep_in_read(void *ctx)
{
	char byte;

	(void)ctx;
	CHECK(read(pipe_fds[0], &byte, 1) == 1);
	return NULL;
}

static void *work(void *ctx)
{
	uint64_t sum = 0, rounds = 0;

	(void)ctx;
	while (!over) {
		void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		CHECK(p != MAP_FAILED);
		*(volatile int *)p = 1;
		CHECK(!munmap(p, 4096));
		sum += (uint64_t)getppid() * 0 + ++rounds;
	}
	CHECK(sum == rounds * (rounds + 1) / 2);
	return NULL;
}

static int threads(void)
{
	static void *(*const jobs[])(void *) = {
		sleep_in_epoll, sleep_in_sigtimedwait, sleep_in_read, work, work,
	};
	enum { N = sizeof(jobs) / sizeof(*jobs) };
	pthread_t ids[N];
	int fds[30];

	CHECK(!pipe(pipe_fds));
	for (int i = 0; i < N; i++)
		CHECK(!pthread_create(&ids[i], NULL, jobs[i], NULL));
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	for (int i = 0; i < 30; i++)
		fds[i] = open_clock();
	for (int i = 0; i < 30; i++)
		use(fds[i]);
	over = true;
	CHECK(write(pipe_fds[1], "", 1) == 1);
	for (int i = 0; i < N; i++)
		CHECK(!pthread_join(ids[i], NULL));
	return 0;
}

static int vforks(void)
{
	int status;
	pid_t child = vfork();

	if (!child) {
		use(open_clock());
		_exit(5);
	}
	CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5);
	use(open_clock());
	return 0;
}

/* A child reads and closes what it has inherited, and opens some of its own. */
static int forks(void)
{
	int status, fd = open_clock();
	pid_t child;

	CHECK(fd >= 0);
	child = fork();
	if (!child) {
		uint64_t value;

		CHECK(read(fd, &value, sizeof(value)) == sizeof(value));
		CHECK(!close(fd));
		for (int i = 0; i < 5; i++)
			CHECK(open_clock() >= 0);
		use(open_clock());
		_exit(6);
	}
	CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 6);
	use(fd);
	return 0;
}

/* Whoever makes calls in our name that we never make is killed with us. */
static int filter(void)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog prog = { sizeof(insns) / sizeof(*insns), insns };

	use(open_clock());
	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
	CHECK(dup2(open_clock(), 50) == 50);
	use(50);
	return 0;
}

/* Without the right to add a filter. */
static int nobody(void)
{
	if (geteuid())
		return CANNOT;
	CHECK(!setgid(65534) && !setuid(65534));
	for (int i = 0; i < 3; i++) {
		int fd = open_clock();

		if (fd < 0 && (errno == EACCES || errno == EPERM))
			return CANNOT;
		use(fd);
	}
	return 0;
}

/* Many at once, read and closed. */
static int many(int n)
{
	int *fds = calloc((size_t)n, sizeof(*fds));

	for (int i = 0; i < n; i++)
		fds[i] = open_clock();
	for (int i = 0; i < n; i++)
		use(fds[i]);
	free(fds);
	return 0;
}

/* Many, one after the other. */
static int turns(int n)
{
	while (n--)
		use(open_clock());
	return 0;
}

static void *turn(void *n)
{
	turns(*(int *)n);
	return NULL;
}

/* The same in four threads, which get each other's descriptors. */
static int race(int n)
{
	pthread_t ids[4];

	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&ids[i], NULL, turn, &n));
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_join(ids[i], NULL));
	return 0;
}

/* Leaves the descriptors that it shared, and opens one of the same number. */
static void *leave(void *way)
{
	if (*(char *)way == 'u')
		CHECK(!unshare(CLONE_FILES));
	else
		CHECK(!syscall(SYS_close_range, 1000, 1001, CLOSE_RANGE_UNSHARE));
	*(int *)way = open_clock();
	CHECK(write(pipe_fds[1], "", 1) == 1);
	while (!over)
		usleep(1000);
	use(*(int *)way);
	return NULL;
}

static int leaving(char way)
{
	int result = way, null;
	pthread_t id;
	char byte;

	CHECK(!pipe(pipe_fds));
	CHECK(!pthread_create(&id, NULL, leave, &result));
	CHECK(read(pipe_fds[0], &byte, 1) == 1);
	null = open("/dev/null", O_RDONLY);
	CHECK(null == result);
	CHECK(!read(null, &byte, 1) && !close(null));
	over = true;
	CHECK(!pthread_join(id, NULL));
	return 0;
}

static int leaving_by_unshare(void)
{
	return leaving('u');
}

static int leaving_by_close_range(void)
{
	return leaving('c');
}

/* Uses one counter, and other descriptors n times as often. */
static int quiet(int n)
{
	int fd = open_clock(), fds[2];

	CHECK(fd >= 0 && !pipe(fds));
	for (int i = 0; i < n; i++) {
		char byte = 'x';
		int copy = dup(fds[0]);

		CHECK(write(fds[1], &byte, 1) == 1 && read(copy, &byte, 1) == 1);
		CHECK(!close(copy) && fcntl(fds[0], F_GETFD) == 0);
	}
	use(fd);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} verbs[] = {
		{ "registers", registers }, { "maps", maps }, { "signals", signals },
		{ "stop", stop }, { "threads", threads }, { "vfork", vforks },
		{ "fork", forks }, { "filter", filter }, { "nobody", nobody },
		{ "forever", forever }, { "unshare", leaving_by_unshare },
		{ "close_range", leaving_by_close_range },
	};
	const char *verb = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(verb, verbs[i].name))
			return verbs[i].run();
	if (!strcmp(verb, "many") && n > 0)
		return many(n);
	if (!strcmp(verb, "turns") && n > 0)
		return turns(n);
	if (!strcmp(verb, "race") && n > 0)
		return race(n);
	if (!strcmp(verb, "quiet") && n > 0)
		return quiet(n);
	fputs("usage: filtered VERB [N]\n", stderr);
	return 2;
}
