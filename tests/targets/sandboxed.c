// SPDX-License-Identifier: LGPL-2.1-or-later
/* Programs that confine themselves or others, or leave what they came from. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>

#include "verbs.h"

/* A call to try the filters on: harmless, and seldom made. */
#define ODD_CALL SYS_getpriority

static void outcome(const char *what, long ret)
{
	int err = errno;

	printf("%s: %s\n", what, ret < 0 ? strerrorname_np(err) : "worked");
}

/* A filter that answers one call with an action. */
static int filter(long nr, uint32_t action, unsigned int flags)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog prog = { sizeof(insns) / sizeof(*insns), insns };

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

static void try_calls(void)
{
	outcome("the call", syscall(ODD_CALL, 0, 0));
	outcome("an event", clock_open());
	outcome("getppid", getppid());
}

static void on_sys(int sig, siginfo_t *info, void *context)
{
	(void)context;
	printf("signal %d, code %d, call %d, data %d\n", sig, info->si_code,
	       info->si_syscall - (int)ODD_CALL, info->si_errno);
}

/* Calls on an event under a filter, and the same when filters answer them with 0. */
static int answers(const char *arg)
{
	uint64_t id = 7, value[8] = { 0 };
	int fd = clock_open();

	(void)arg;
	CHECK(fd >= 0);
	CHECK(!filter(ODD_CALL, SECCOMP_RET_LOG, 0));
	CHECK(!ioctl(fd, PERF_EVENT_IOC_ID, &id) && id != 7);
	CHECK(read(fd, value, sizeof(value)) > 0);
	id = 7;
	CHECK(!filter(SYS_ioctl, SECCOMP_RET_ERRNO, 0) && !filter(SYS_read, SECCOMP_RET_ERRNO, 0) &&
	      !filter(SYS_mmap, SECCOMP_RET_ERRNO, 0));
	CHECK(!ioctl(fd, PERF_EVENT_IOC_ID, &id) && id == 7);
	CHECK(!read(fd, value, sizeof(value)));
	CHECK(!mmap(NULL, 3 * (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0));
	return 0;
}

/* Every action, on a call of its own and on one that a tracer looks at. */
static int filters(const char *arg)
{
	static const uint32_t actions[] = {
		SECCOMP_RET_LOG, SECCOMP_RET_ERRNO | EXDEV, SECCOMP_RET_TRACE,
		SECCOMP_RET_TRACE | 7, SECCOMP_RET_TRACE | 0x7065 /* a tracer's own? */,
		SECCOMP_RET_TRAP | 3, SECCOMP_RET_KILL_PROCESS,
		SECCOMP_RET_KILL_THREAD, SECCOMP_RET_ERRNO,
	};
	const struct sigaction action = { .sa_sigaction = on_sys, .sa_flags = SA_SIGINFO };
	const long nrs[] = { ODD_CALL, SYS_perf_event_open };

	(void)arg;
	CHECK(!sigaction(SIGSYS, &action, NULL));
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		for (size_t j = 0; j < 2; j++) {
			pid_t pid;

			printf("action %x on %zu\n", actions[i], j);
			pid = fork_clean();
			if (!pid) {
				if (filter(nrs[j], actions[i], 0))
					leave(CANNOT);
				if (j == 1 && actions[i] == (SECCOMP_RET_TRAP | 3))
					signal(SIGSYS, SIG_DFL);
				try_calls();
				leave(0);
			}
			finish("child", pid);
		}
	return 0;
}

/* A filter says that an event was opened, and names a descriptor of another kind. */
static int made_up(const char *arg)
{
	pid_t pid;
	int p[2];

	(void)arg;
	CHECK(!pipe(p) && dup2(p[0], 0) == 0 && write(p[1], "precious", 8) == 8);
	pid = fork_clean();
	if (!pid) {
		char text[9] = "";

		if (filter(SYS_perf_event_open, SECCOMP_RET_ERRNO, 0))
			leave(CANNOT);
		printf("open: %d\n", clock_open());
		ioctl(0, PERF_EVENT_IOC_DISABLE, 0);
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, 0, 0);
		finish("child", fork_clean() ?: (_exit(0), 0));
		printf("read: %zd %s\n", read(0, text, 8), text);
		leave(0);
	}
	finish("deceived", pid);
	close(p[0]);
	close(p[1]);
	return 0;
}

/* Only read, write and the end are left; all else kills. */
static int strict(const char *arg)
{
	for (int i = 0; i < 4; i++) {
		pid_t pid = fork_clean();
		int p[2];
		char byte;

		if (!pid) {
			long ret;

			CHECK(!pipe(p) && write(p[1], "x", 1) == 1);
			ret = i % 2 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)
				    : syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
			if (ret)
				printf("strict: %s\n", strerrorname_np(errno));
			if (read(p[0], &byte, 1) == 1 && write(1, "in strict mode\n", 15) == 15 &&
			    i < 2)
				syscall(SYS_getppid);
			syscall(SYS_exit, 5);
		}
		finish("strict", pid);
	}
	(void)arg;
	return 0;
}

static void *supervise(void *arg)
{
	struct seccomp_notif request;
	struct seccomp_notif_resp response;
	int fd = *(int *)arg;

	for (int i = 0; i < 4; i++) {
		memset(&request, 0, sizeof(request));
		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &request))
			continue;
		response = (struct seccomp_notif_resp){
			.id = request.id,
			.error = i % 2 ? -EXDEV : 0,
			.flags = i == 2 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0,
			.val = i == 0 ? 42 : 0,
		};
		printf("asked for %s\n",
		       request.data.nr == (int)ODD_CALL ? "the call" : "something else");
		CHECK(!ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &response));
	}
	return NULL;
}

/* Answered by another thread. */
static int notified(const char *arg)
{
	pthread_t id;
	pid_t pid = fork_clean();

	(void)arg;
	if (!pid) {
		int fd = filter(ODD_CALL, SECCOMP_RET_USER_NOTIF,
				SECCOMP_FILTER_FLAG_NEW_LISTENER);

		if (fd < 0)
			leave(CANNOT);
		CHECK(!pthread_create(&id, NULL, supervise, &fd));
		for (int i = 0; i < 4; i++) {
			long ret = syscall(ODD_CALL, 0, 0);

			printf("%ld %s\n", ret, ret < 0 ? strerrorname_np(errno) : "");
		}
		CHECK(!pthread_join(id, NULL));
		outcome("an event", clock_open());
		leave(0);
	}
	finish("notified", pid);
	return 0;
}

static int ids(const char *arg)
{
	(void)arg;
	printf("%d %d %d %d\n", getuid(), geteuid(), getgid(), getegid());
	outcome("an event", clock_open());
	return 0;
}

/* Runs the set-user-ID program ARG as nobody. */
static int set_user_id(const char *arg)
{
	pid_t pid = fork_clean();

	if (!pid) {
		if (setgid(65534) || setuid(65534))
			leave(CANNOT);
		execl(arg, arg, "ids", NULL);
		leave(CANNOT);
	}
	finish("set-user-ID", pid);
	return 0;
}

static int chroots(const char *arg)
{
	char path[64];
	pid_t pid = fork_clean();

	if (!pid) {
		if (chroot(arg) || chdir("/"))
			leave(CANNOT);
		outcome("/proc", open("/proc", O_RDONLY));
		printf("at %s\n", getcwd(path, sizeof(path)));
		outcome("an event", clock_open());
		finish("child", fork_clean() ?: (_exit(2), 0));
		leave(0);
	}
	finish("in another root", pid);
	return 0;
}

/* The first process of a PID namespace measures itself by its number there. */
static int init_process(void *arg)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_TASK_CLOCK);

	(void)arg;
	printf("pid %d, parent %d, user %d\n", getpid(), getppid(), getuid());
	outcome("an event on 1", event_open(&attr, 1, -1));
	outcome("an event on 999999", event_open(&attr, 999999, -1));
	outcome("an event", clock_open());
	finish("child", fork_clean() ?: (close(clock_open()), _exit(getpid()), 0));
	fflush(stdout);
	return 0;
}

static char stack[65536] __attribute__((aligned(16)));

static int namespaces(const char *arg)
{
	static const int flags[] = {
		CLONE_NEWPID, CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC,
		CLONE_NEWUSER | CLONE_NEWPID, CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWCGROUP,
	};

	(void)arg;
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		pid_t pid;

		fflush(stdout);
		if (flags[i] & CLONE_NEWPID) {
			pid = clone(init_process, stack + sizeof(stack), flags[i] | SIGCHLD, NULL);
			if (pid < 0)
				outcome("clone", -1);
			else
				finish("init", pid);
			continue;
		}
		pid = fork_clean();
		if (!pid) {
			outcome("unshare", unshare(flags[i]));
			outcome("an event", clock_open());
			leave(0);
		}
		finish("unshared", pid);
	}
	return 0;
}

/* Orphans come to the next ancestor that takes them. */
static int subreaper(const char *arg)
{
	pid_t pid, self = getpid();
	int p[2], status;
	char byte;

	(void)arg;
	CHECK(!prctl(PR_SET_CHILD_SUBREAPER, 1) && !pipe(p));
	pid = fork_clean();
	if (!pid) {
		pid = fork_clean();
		if (!pid) {
			CHECK(read(p[0], &byte, 1) == 1);
			printf("parent: %s\n", getppid() == self ? "the subreaper" : "another");
			close(clock_open());
			leave(8);
		}
		_exit(7);
	}
	finish("child", pid);
	CHECK(write(p[1], "x", 1) == 1);
	CHECK(wait(&status) > 0);
	show_status("orphan", status);
	close(p[0]);
	close(p[1]);
	return 0;
}

/* Two forks and a session of its own; it writes to the end of a pipe. */
static int daemonises(const char *arg)
{
	int p[2];
	char line[64];
	ssize_t n;
	pid_t pid;

	(void)arg;
	CHECK(!pipe(p));
	pid = fork_clean();
	if (!pid) {
		CHECK(setsid() > 0);
		if (fork())
			_exit(0);
		close(p[0]);
		CHECK(!chdir("/"));
		pause_us(20000);
		n = snprintf(line, sizeof(line), "daemon: event %s\n",
			     clock_open() >= 0 ? "opened" : "refused");
		CHECK(write(p[1], line, (size_t)n) == n);
		_exit(0);
	}
	close(p[1]);
	finish("child", pid);
	n = read(p[0], line, sizeof(line));
	printf("%.*s", (int)(n > 0 ? n : 0), line);
	CHECK(read(p[0], line, 1) == 0);
	close(p[0]);
	return 0;
}

/* What a child does that no tracer is to see: it must work all the same. */
static int unseen(void *arg)
{
	void *page;

	(void)arg;
	outcome("an event", clock_open());
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, open(own_path, O_RDONLY), 0);
	printf("mapping: %s\n", page == MAP_FAILED ? strerrorname_np(errno) : "worked");
	finish("grandchild", fork_clean() ?: (_exit(clock_open() < 0), 0));
	fflush(stdout);
	return 12;
}

static int untraced(const char *arg)
{
	/* struct clone_args, as it was first */
	uint64_t args[8] = { CLONE_UNTRACED, [4] = SIGCHLD };
	pid_t pid;

	(void)arg;
	fflush(stdout);
	pid = clone(unseen, stack + sizeof(stack), CLONE_UNTRACED | SIGCHLD, NULL);
	CHECK(pid > 0);
	finish("clone", pid);
	pid = clone(unseen, stack + sizeof(stack),
		    CLONE_UNTRACED | CLONE_VFORK | CLONE_VM | SIGCHLD, NULL);
	CHECK(pid > 0);
	finish("clone as vfork", pid);
#ifdef SYS_clone3
	pid = (pid_t)syscall(SYS_clone3, args, sizeof(args));
	if (!pid)
		leave(unseen(NULL));
	CHECK(pid > 0);
	finish("clone3", pid);
	printf("flags: %llx\n", (unsigned long long)args[0]);
#endif
	return 0;
}

/* The one thing that cannot be had twice. */
static int traceme(const char *arg)
{
	(void)arg;
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork_clean();

		if (!pid)
			leave(ptrace(PTRACE_TRACEME, 0, 0, 0) ? errno : 0);
		finish("tracee", pid);
	}
	return 0;
}

/* Nobody but root may look into it. */
static int undumpable(const char *arg)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);
	const size_t size = 17 * 4096;
	char *page;
	int fd;

	(void)arg;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP;
	CHECK(!prctl(PR_SET_DUMPABLE, 0));
	fd = event_open(&attr, 0, -1);
	CHECK(fd >= 0);
	CHECK(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	*page = 1;
	attr.sample_type = -1;
	outcome("one that is refused", event_open(&attr, 0, -1));
	CHECK(!close(fd));
	return 0;
}

static const struct verb verbs[] = {
	{ "undumpable", undumpable }, { "filter", filters }, { "answers", answers }, { "made_up", made_up }, { "strict", strict },
	{ "notify", notified }, { "ids", ids },
	{ "set_user_id", set_user_id }, { "chroot", chroots }, { "namespace", namespaces },
	{ "subreaper", subreaper }, { "daemon", daemonises }, { "untraced", untraced },
	{ "traceme", traceme }, { NULL, NULL },
};

int main(int argc, char **argv)
{
	return run_verb(argc, argv, verbs);
}
