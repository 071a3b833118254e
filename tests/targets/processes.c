// SPDX-License-Identifier: LGPL-2.1-or-later
/* What programs do with processes, signals and time, and what they see of it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>

#include "verbs.h"

extern char **environ;

static int forks(const char *arg)
{
	(void)arg;
	for (int i = 0; i < 6; i++) {
		pid_t pid = fork_clean();

		if (!pid && i == 3)
			abort();
		if (!pid && i == 4)
			raise(SIGTERM);
		if (!pid && i == 5) {
			close(clock_open());
			finish("grandchild", fork_clean() ?: (_exit(3), 0));
		}
		if (!pid)
			leave(i);
		finish("child", pid);
	}
	return 0;
}

static void run_by_vfork(const char *path)
{
	char *const argv[] = { "processes", "said", "hello", NULL };
	volatile int err = 0;
	pid_t pid;

	fflush(stdout);
	pid = vfork();
	CHECK(pid >= 0);
	if (!pid) {
		execv(path, argv);
		err = errno;
		_exit(127);
	}
	finish("vforked", pid);
	printf("vfork: errno %d\n", err);
}

static int said(const char *arg)
{
	printf("said %s\n", arg);
	return 4;
}

static int vforks(const char *arg)
{
	char *const argv[] = { "processes", "said", "spawned", NULL };
	pid_t pid;

	(void)arg;
	run_by_vfork(own_path);
	run_by_vfork("/no/such/program");
	run_by_vfork("/");
	fflush(stdout);
	CHECK(!posix_spawn(&pid, own_path, NULL, NULL, argv, environ));
	finish("spawned", pid);
	printf("spawn of nothing: %d\n",
	       posix_spawn(&pid, "/no/such/program", NULL, NULL, argv, environ));
	return 0;
}

static void *wait_forever(void *ctx)
{
	for (;;)
		pause();
	return ctx;
}

static void *exec_self(void *ctx)
{
	execl(own_path, "processes", "said", "from a thread", NULL);
	return ctx;
}

/* A thread that is not the first runs another program. */
static int thread_exec(const char *arg)
{
	pthread_t id;
	pid_t pid = fork_clean();

	(void)arg;
	if (!pid) {
		for (int i = 0; i < 3; i++)
			CHECK(!pthread_create(&id, NULL, wait_forever, NULL));
		CHECK(!pthread_create(&id, NULL, exec_self, NULL));
		pthread_join(id, NULL);
		leave(1);
	}
	finish("what was a thread", pid);
	return 0;
}

static void *outlive(void *ctx)
{
	pause_us(10000);
	printf("the last thread ends\n");
	close(clock_open());
	leave(9);
	return ctx;
}

/* The first thread ends before others. */
static int leaderless(const char *arg)
{
	pthread_t id;
	pid_t pid = fork_clean();

	(void)arg;
	if (!pid) {
		CHECK(!pthread_create(&id, NULL, outlive, NULL));
		pthread_exit(NULL);
	}
	finish("leaderless", pid);
	return 0;
}

static volatile sig_atomic_t got;

static void on_signal(int sig)
{
	got += sig ? 1 : 0;
}

static void handle(int sig, int flags)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

	CHECK(!sigaction(sig, &action, NULL));
}

static int stops(const char *arg)
{
	static const int signals[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };
	pid_t pid = fork_clean();
	int status;

	(void)arg;
	if (!pid) {
		setpgid(0, 0);	/* an orphaned group would not stop */
		for (;;)
			close(clock_open());
	}
	setpgid(pid, pid);
	for (int i = 0; i < 8; i++) {
		CHECK(!kill(pid, signals[i % 4]));
		CHECK(waitpid(pid, &status, WUNTRACED) == pid);
		show_status("child", status);
		CHECK(!kill(pid, SIGCONT));
		CHECK(waitpid(pid, &status, WCONTINUED) == pid);
		show_status("child", status);
	}
	CHECK(!kill(pid, SIGSTOP));
	CHECK(waitpid(pid, &status, WUNTRACED) == pid);
	CHECK(!kill(pid, SIGTERM));
	CHECK(!kill(pid, SIGCONT));
	finish("child", pid);
	return 0;
}

/* Stopped and let go on while it comes to hold events, and so is changed by a tracer. */
static int stops_and_goes(const char *arg)
{
	(void)arg;
	for (useconds_t i = 0; i < 24; i++) {
		pid_t pid = fork_clean();

		if (!pid) {
			for (int k = 0; k < 4; k++)
				clock_open();
			leave(0);
		}
		usleep(4000 * i);
		CHECK(!kill(pid, SIGSTOP));
		usleep(6000);
		CHECK(!kill(pid, SIGCONT));
		finish("child", pid);
	}
	return 0;
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "signal %d, code %d\n", sig, info->si_code);

	(void)context;
	CHECK(write(1, line, (size_t)n) == n);
}

/* SIGTRAP of every kind is the program's own. */
static int traps(const char *arg)
{
	const struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	pid_t pid;

	(void)arg;
	CHECK(!sigaction(SIGTRAP, &action, NULL));
	raise(SIGTRAP);
	kill(getpid(), SIGTRAP);
	CHECK(!sigqueue(getpid(), SIGTRAP, (union sigval){ .sival_int = 5 }));
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("int3");
#endif
#ifdef __x86_64__
	/* its own single step */
	__asm__ volatile("pushfq\n\torq $0x100,(%%rsp)\n\tpopfq\n\tnop\n\t"
			 "pushfq\n\tandq $~0x100,(%%rsp)\n\tpopfq" ::: "memory", "cc");
#endif
	signal(SIGTRAP, SIG_IGN);
	raise(SIGTRAP);
	pid = fork_clean();
	if (!pid) {
		signal(SIGTRAP, SIG_DFL);
		raise(SIGTRAP);
	}
	finish("trapped", pid);
	return 0;
}

static int timers(const char *arg)
{
	const struct itimerval every = { { 0, 2000 }, { 0, 2000 } }, never = { 0 };
	const struct itimerspec one = { { 0, 1000000 }, { 0, 1000000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t expired;
	timer_t timer;

	(void)arg;
	got = 0;
	handle(SIGALRM, 0);
	handle(SIGRTMAX, 0);
	CHECK(!setitimer(ITIMER_REAL, &every, NULL));
	while (got < 10)
		close(clock_open());
	CHECK(!setitimer(ITIMER_REAL, &never, NULL));
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	CHECK(!timer_settime(timer, 0, &one, NULL));
	for (got = 0; got < 10;)
		pause();
	CHECK(!timer_delete(timer));
	CHECK(fd >= 0 && !timerfd_settime(fd, 0, &one, NULL));
	CHECK(read(fd, &expired, sizeof(expired)) == sizeof(expired) && expired);
	close(fd);
	got = 0;
	/* again and again: the first may come before we wait for it */
	CHECK(!setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 30000 }, { 0, 30000 } }, NULL));
	pause();
	CHECK(!setitimer(ITIMER_REAL, &never, NULL));
	printf("timers: %s\n", got ? "all of them" : "none");
	return 0;
}

/* Signals the parent when it sleeps, and lets it go on; not whoever comes after it. */
static pid_t disturb(int sig, int fd)
{
	pid_t parent = getpid(), pid = fork_clean();

	if (pid)
		return pid;
	for (int i = 0; i < 3; i++) {
		await_sleep(parent);
		kill(parent, sig);
	}
	if (fd >= 0)
		CHECK(write(fd, "x", 1) == 1);
	_exit(0);
}

static void outcome(const char *what, long ret)
{
	int err = errno;

	printf("%s: %ld%s%s\n", what, ret, ret < 0 ? ", " : "",
	       ret < 0 ? strerrorname_np(err) : "");
}

/* Calls that a signal interrupts, and those that begin again. */
static int restarts(const char *arg)
{
	struct timespec ts = { 30, 0 }, left = { 0 };
	int p[2], flags = arg && !strcmp(arg, "restart") ? SA_RESTART : 0;
	struct pollfd pfd;
	struct epoll_event ev;
	char byte;
	pid_t pid;
	int ep = epoll_create1(0);

	CHECK(!pipe(p));
	handle(SIGUSR1, flags);
	pid = disturb(SIGUSR1, p[1]);
	outcome("read", read(p[0], &byte, 1));
	finish("disturber", pid);
	if (!flags)
		CHECK(read(p[0], &byte, 1) == 1);
	pid = disturb(SIGUSR1, -1);
	outcome("nanosleep", nanosleep(&ts, &left));
	printf("left: %s\n", left.tv_sec > 9 ? "most of it" : "little");
	finish("disturber", pid);
	pfd = (struct pollfd){ p[0], POLLIN, 0 };
	pid = disturb(SIGUSR1, -1);
	outcome("poll", poll(&pfd, 1, 30000));
	finish("disturber", pid);
	pid = disturb(SIGUSR1, -1);
	outcome("epoll_wait", epoll_wait(ep, &ev, 1, 30000));
	finish("disturber", pid);
	pid = disturb(SIGUSR1, -1);
	outcome("select", select(0, NULL, NULL, NULL, &(struct timeval){ 30, 0 }));
	finish("disturber", pid);
	pid = disturb(SIGUSR1, -1);
	outcome("pause", pause());
	finish("disturber", pid);
	close(p[0]);
	close(p[1]);
	close(ep);
	return 0;
}

/* Stopped and continued in calls that go on by restart_syscall. */
static int restart_block(const char *arg)
{
	struct timespec ts = { 0, 60000000 };
	struct pollfd pfd = { -1, POLLIN, 0 };
	int status, p[2];
	pid_t pid;
	char byte = 0;

	(void)arg;
	CHECK(!pipe(p));
	pid = fork_clean();
	if (!pid) {
		outcome("nanosleep", nanosleep(&ts, NULL));
		outcome("clock_nanosleep", -clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL));
		outcome("poll", poll(&pfd, 1, 60));
		outcome("select", select(0, NULL, NULL, NULL, &(struct timeval){ 0, 60000 }));
		outcome("read", read(p[0], &byte, 1));
		leave(0);
	}
	for (int i = 0; i < 40; i++) {
		pause_us(6000);
		CHECK(!kill(pid, SIGSTOP));
		CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
		CHECK(!kill(pid, SIGCONT));
	}
	CHECK(write(p[1], &byte, 1) == 1);
	finish("stopped over and over", pid);
	close(p[0]);
	close(p[1]);
	return 0;
}

static void let_sleep(pid_t pid)
{
	await_sleep(pid);
	pause_us(20000);
}

/* Wakes the parent from each of its sleeps, when that has lasted for a while. */
static void wake_up(pid_t parent, int fd, int semaphore, int queue)
{
	struct sembuf give = { 0, 1, 0 };
	long message[2] = { 1, 2 };

	let_sleep(parent);
	CHECK(write(fd, "x", 1) == 1);
	let_sleep(parent);
	kill(parent, SIGUSR2);
	let_sleep(parent);
	CHECK(!semop(semaphore, &give, 1));
	let_sleep(parent);
	CHECK(!msgsnd(queue, message, sizeof(message[1]), 0));
	_exit(0);
}

/* Calls that fail when somebody stops the task inside them. */
static int sleepers(const char *arg)
{
	int p[2], semaphore = semget(IPC_PRIVATE, 1, 0600), queue = msgget(IPC_PRIVATE, 0600);
	int ep = epoll_create1(0);
	struct epoll_event ev = { .events = EPOLLIN };
	struct sembuf take = { 0, -1, 0 };
	long message[2];
	sigset_t set;
	pid_t parent = getpid(), pid;

	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
	CHECK(!pipe(p) && semaphore >= 0 && queue >= 0);
	CHECK(!epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev));
	pid = fork_clean();
	if (!pid)
		wake_up(parent, p[1], semaphore, queue);
	outcome("epoll_wait", epoll_wait(ep, &ev, 1, -1));
	outcome("sigwaitinfo", sigwaitinfo(&set, NULL));
	outcome("semop", semop(semaphore, &take, 1));
	outcome("msgrcv", msgrcv(queue, message, sizeof(message[1]), 0, 0));
	finish("waker", pid);
	semctl(semaphore, 0, IPC_RMID);
	msgctl(queue, IPC_RMID, NULL);
	close(p[0]);
	close(p[1]);
	close(ep);
	return 0;
}

/* The same, of calls that give up after a while. */
static int timeouts(const char *arg)
{
	const struct timeval patience = { 0, 300000 };
	struct __kernel_timespec ts = { 0, 300000000 };
	struct io_uring_getevents_arg wait = { .ts = (uintptr_t)&ts };
	struct io_uring_params params = { 0 };
	int s[2], ring;
	char byte;

	(void)arg;
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	CHECK(!setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)));
	outcome("recv", recv(s[0], &byte, 1, 0));
	outcome("read", read(s[0], &byte, 1));
	ring = (int)syscall(SYS_io_uring_setup, 4, &params);
	if (ring >= 0 && params.features & IORING_FEAT_EXT_ARG)
		outcome("io_uring_enter", syscall(SYS_io_uring_enter, ring, 0, 1,
						  IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
						  &wait, sizeof(wait)));
	close(ring);
	close(s[0]);
	close(s[1]);
	return 0;
}

static int signalfds(const char *arg)
{
	struct signalfd_siginfo info;
	const struct timespec soon = { 5, 0 };
	siginfo_t si;
	sigset_t set;
	pid_t parent = getpid(), pid;
	int fd;

	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGCHLD);
	CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
	fd = signalfd(-1, &set, 0);
	pid = fork_clean();
	if (!pid) {
		for (int i = 0; i < 5; i++)
			CHECK(!sigqueue(parent, SIGRTMIN, (union sigval){ .sival_int = i }));
		_exit(6);
	}
	for (int i = 0; i < 6; i++) {
		CHECK(read(fd, &info, sizeof(info)) == sizeof(info));
		if (info.ssi_signo == SIGCHLD)
			printf("signalfd: SIGCHLD %d %d\n", info.ssi_code, info.ssi_status);
	}
	finish("sender", pid);
	for (int i = 0; i < 3; i++) {
		CHECK(!sigqueue(getpid(), SIGUSR2, (union sigval){ .sival_int = i }));
		CHECK(sigtimedwait(&set, &si, &soon) == SIGUSR2);
		printf("sigtimedwait: code %d, value %d, %s\n", si.si_code,
		       si.si_value.sival_int, si.si_pid == getpid() ? "own" : "other's");
	}
	close(fd);
	return 0;
}

/* What a program has from its parent: nothing more, and nothing less. */
static int inherited(const char *arg)
{
	sigset_t mask;
	struct rlimit limit;
	struct sigaction action;

	(void)arg;
	for (int fd = 0; fd < 256; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("fd %d: %x\n", fd, fcntl(fd, F_GETFD));
	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int sig = 1; sig < SIGRTMAX; sig++) {
		if (sigismember(&mask, sig) == 1)
			printf("blocked: %d\n", sig);
		if (!sigaction(sig, NULL, &action) && action.sa_handler == SIG_IGN)
			printf("ignored: %d\n", sig);
	}
	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (!getrlimit(i, &limit))
			printf("limit %d: %llx %llx\n", i, (unsigned long long)limit.rlim_cur,
			       (unsigned long long)limit.rlim_max);
	printf("umask %o, nice %d, dumpable %d, no_new_privs %d, death signal %d\n",
	       umask(022), getpriority(PRIO_PROCESS, 0), prctl(PR_GET_DUMPABLE),
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
	       (int){ prctl(PR_GET_PDEATHSIG, &(int){ 0 }) });
	printf("slack %d, persona %d, scheduler %d\n", prctl(PR_GET_TIMERSLACK),
	       (int)syscall(SYS_personality, 0xffffffff), sched_getscheduler(0));
	for (char **e = environ; *e; e++)
		if (strncmp(*e, "_=", 2))
			printf("environment: %s\n", *e);
	return 0;
}

static const struct verb verbs[] = {
	{ "fork", forks }, { "vfork", vforks }, { "said", said },
	{ "thread_exec", thread_exec }, { "leaderless", leaderless }, { "stop", stops },
	{ "go_on", stops_and_goes },
	{ "trap", traps }, { "timer", timers }, { "interrupt", restarts },
	{ "restart_block", restart_block }, { "signalfd", signalfds },
	{ "inherited", inherited },
	{ "sleepers", sleepers }, { "timeouts", timeouts }, { NULL, NULL },
};

int main(int argc, char **argv)
{
	return run_verb(argc, argv, verbs);
}
