// SPDX-License-Identifier: LGPL-2.1-or-later
/* What experiments do to be counted: here, or in a process beside. */
#include "conform/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drive/bpf.h"
#include "drive/experiment.h"
#include "drive/work.h"
#include "host/cgroup.h"

/* A file that everybody may map and run. */
#define PROGRAM "/bin/sh"

volatile struct claim_signals claim_signals;

/* Kinds of work ---------------------------------------------------------------------- */

static void write_often(uint64_t n)
{
	volatile uint32_t *p = (volatile uint32_t *)work_watched();

	while (n--)
		*p = (uint32_t)n;
}

static void read_often(uint64_t n)
{
	volatile uint32_t *p = (volatile uint32_t *)work_watched();

	while (n--)
		(void)*p;
}

static void call_often(uint64_t n)
{
	void (*volatile f)(void) = (void (*)(void))work_called();

	while (n--)
		f();
}

static void fault(uint64_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *p = mmap(NULL, n * page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	madvise((void *)p, n * page, MADV_NOHUGEPAGE);
	for (uint64_t i = 0; i < n; i++)
		p[i * page] = 1;
	munmap((void *)p, n * page);
}

/* Milliseconds of a CPU. */
static void spin(uint64_t ms)
{
	struct timespec t = { 0, 0 };
	uint64_t until = 0, now;

	do {
		for (volatile int i = 0; i < 10000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
		if (!until)
			until = now + ms * 1000000;
	} while (now < until);
}

static void nap(uint64_t n)
{
	const struct timespec t = { 0, 50000 };

	while (n--)
		nanosleep(&t, NULL);
}

static void map_file(int prot, int flags, off_t at)
{
	int fd = flags & MAP_ANONYMOUS ? -1 : open(PROGRAM, O_RDONLY | O_CLOEXEC);
	void *p = mmap(NULL, 4096, prot, flags, fd, at);

	if (p != MAP_FAILED)
		munmap(p, 4096);
	if (fd >= 0)
		close(fd);
}

static void map_code(uint64_t n)
{
	while (n--)
		map_file(PROT_READ | PROT_EXEC, MAP_PRIVATE, 0);
}

/* The program's n-th page and what follows. */
static void map_code_at(uint64_t n)
{
	map_file(PROT_READ | PROT_EXEC, MAP_PRIVATE, (off_t)(n * (uint64_t)sysconf(_SC_PAGESIZE)));
}

static void map_data(uint64_t n)
{
	while (n--)
		map_file(PROT_READ, MAP_PRIVATE, 0);
}

static void map_anonymous(uint64_t n)
{
	while (n--)
		map_file(PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, 0);
}

static void have_child(uint64_t n)
{
	pid_t pid = fork();

	if (!pid) {
		write_often(n);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void *in_thread(void *n)
{
	write_often((uintptr_t)n);
	return NULL;
}

static void have_thread(uint64_t n)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, in_thread, (void *)(uintptr_t)n))
		pthread_join(t, NULL);
}

static void bind_to(uint64_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void leave_namespace(uint64_t n)
{
	(void)n;
	unshare(CLONE_NEWUTS);
}

static void load_bpf(uint64_t type)
{
	int fd = bpf_load((uint32_t)type, 1);

	if (fd >= 0)
		close(fd);
}

static void make_cgroup(uint64_t n)
{
	char path[256], name[320];

	(void)n;
	if (!cgroup_mount(path, sizeof(path)))
		return;
	snprintf(name, sizeof(name), "%s/pevtrace-claim-%d", path, (int)getpid());
	if (!mkdir(name, 0700))
		rmdir(name);
}

static void name_by_file(uint64_t n)
{
	int fd = open("/proc/self/comm", O_WRONLY | O_CLOEXEC);

	(void)n;
	if (fd >= 0) {
		if (write(fd, "by file", 7) < 0)
			errno = 0;
		close(fd);
	}
}

static void name_by_call(uint64_t n)
{
	char name[16];

	snprintf(name, sizeof(name), "claim %u", (unsigned int)n);
	prctl(PR_SET_NAME, name);
}

static void enable_all(uint64_t on)
{
	prctl(on ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0);
}

static const struct {
	const char *name;
	void (*run)(uint64_t n);
} works[] = {
	{ "write", write_often }, { "load", read_often }, { "call", call_often },
	{ "fault", fault }, { "spin", spin }, { "nap", nap },
	{ "code", map_code }, { "codeat", map_code_at },
	{ "data", map_data }, { "anonymous", map_anonymous }, { "fork", have_child },
	{ "thread", have_thread }, { "bind", bind_to }, { "namespace", leave_namespace },
	{ "bpf", load_bpf }, { "cgroup", make_cgroup }, { "comm", name_by_call },
	{ "commfile", name_by_file }, { "prctl", enable_all },
};

static bool work(const char *name, uint64_t n)
{
	for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++)
		if (!strcmp(works[i].name, name)) {
			works[i].run(n);
			return true;
		}
	return false;
}

/* work NAME [NUMBER]: how much of it, once where that is left out. */
static bool amount(struct claim_run *l, uint64_t *n)
{
	*n = 1;
	return l->nwords < 3 || claim_value(l, l->words[2], n);
}

enum step_end claim_work(struct claim_run *l)
{
	uint64_t n;

	if (l->nwords < 2 || !amount(l, &n))
		return *l->told->reason ? STEP_UNTRIED : claim_bad(l, "%s", l->step);
	claim_trace_note(l->trace, l->step);
	return work(l->words[1], n) ? STEP_GOES_ON : claim_bad(l, "%s", l->step);
}

/* The other process ------------------------------------------------------------------ */

struct order {
	char name[24];
	uint64_t n;
};

static _Noreturn void be_task(int link)
{
	struct order o;
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)":", NULL };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1);
	while (recv(link, &o, sizeof(o), 0) == sizeof(o)) {
		if (!strcmp(o.name, "exec"))
			execve(PROGRAM, argv, (char *[]){ NULL });
		if (!strcmp(o.name, "exit"))
			break;
		if (send(link, "", work(o.name, o.n) ? 1 : 0, MSG_NOSIGNAL) != 1)
			break;
	}
	_exit(0);
}

pid_t claim_task_pid(struct claim_run *l)
{
	int ends[2];

	if (l->task)
		return l->task > 0 ? l->task : 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return 0;
	l->task = fork();
	if (!l->task) {
		close(ends[0]);
		be_task(ends[1]);
	}
	close(ends[1]);
	l->link = ends[0];
	return l->task > 0 ? l->task : 0;
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void claim_task_end(struct claim_run *l)
{
	if (l->task <= 0)
		return;
	kill(l->task, SIGKILL);
	reap(l->task);
	l->task = -1;
}

/* task WORK [NUMBER]; exec and exit are its last, and are waited for. */
enum step_end claim_task(struct claim_run *l)
{
	struct order o = { "", 1 };
	bool last;
	char c;

	if (l->nwords < 2 || !amount(l, &o.n))
		return *l->told->reason ? STEP_UNTRIED : claim_bad(l, "%s", l->step);
	snprintf(o.name, sizeof(o.name), "%s", l->words[1]);
	last = !strcmp(o.name, "exec") || !strcmp(o.name, "exit");
	if (!claim_task_pid(l))
		return claim_untried(l, "no second process could be had");
	claim_trace_note(l->trace, l->step);
	if (send(l->link, &o, sizeof(o), MSG_NOSIGNAL) != sizeof(o))
		return claim_untried(l, "the second process is gone");
	if (!last)
		return recv(l->link, &c, 1, 0) == 1 ? STEP_GOES_ON :
		       claim_bad(l, "%s", l->step);
	reap(l->task);
	l->task = -1;
	return STEP_GOES_ON;
}

/* shell "COMMAND": its exit status; it has our descriptors. */
enum step_end claim_shell(struct claim_run *l)
{
	int status;
	pid_t pid;

	if (l->nwords != 2)
		return claim_bad(l, "%s", l->step);
	claim_trace_note(l->trace, l->step);
	pid = fork();
	if (!pid) {
		execl(PROGRAM, "sh", "-c", l->words[1] + 1, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return claim_untried(l, "no shell: %s", strerror(errno));
	return claim_judge(l, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Signals and programs --------------------------------------------------------------- */

/* The system's siginfo_t need not know si_perf_data and si_perf_type, behind si_addr. */
static void caught(int sig, siginfo_t *info, void *context)
{
	const char *perf = (const char *)&info->si_addr + sizeof(void *);
	unsigned long data;
	uint32_t type;

	(void)context;
	memcpy(&data, perf, sizeof(data));
	memcpy(&type, perf + sizeof(data), sizeof(type));
	if (!claim_signals.count++)
		claim_signals.first_code = (uint64_t)(int64_t)info->si_code;
	claim_signals.code = (uint64_t)(int64_t)info->si_code;
	claim_signals.signo = (uint64_t)sig;
	if (sig == SIGTRAP) {
		claim_signals.addr = (uintptr_t)info->si_addr;
		claim_signals.data = data;
		claim_signals.type = type;
	} else {
		claim_signals.fd = (uint64_t)(int64_t)info->si_fd;
	}
}

/* catch SIGNAL: counts what comes from here on. */
enum step_end claim_catch(struct claim_run *l)
{
	static const struct {
		const char *name;
		int sig;
	} all[] = { { "SIGIO", SIGIO }, { "SIGTRAP", SIGTRAP }, { "SIGUSR1", SIGUSR1 } };
	struct sigaction sa = { .sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_RESTART };

	for (size_t i = 0; l->nwords == 2 && i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i].name, l->words[1])) {
			sigaction(all[i].sig, &sa, NULL);
			return STEP_GOES_ON;
		}
	return claim_bad(l, "%s", l->step);
}
