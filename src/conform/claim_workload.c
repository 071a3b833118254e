// SPDX-License-Identifier: LGPL-2.1-or-later
/* Workloads: what experiments do to be measured. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "conform/claim.h"
#include "engine/rings/bpf.h"
#include "experiment/work.h"
#include "core/host/cgroup.h"
#include "core/lib/child.h"

enum { STACK = 1 << 18 };	/* bytes, for a thread or child */

static void workload_write(uint64_t n)
{
	while (n--) {
		claim_memory_unwrite();
		work_may_trap(work_write, (void *)claim_watched());
	}
}

static void workload_load(uint64_t n)
{
	volatile uint32_t *p = (volatile uint32_t *)claim_watched();

	while (n--)
		(void)*p;
}

static void workload_call(uint64_t n)
{
	while (n--)
		work_may_trap(work_call, NULL);
}

static void workload_fault(uint64_t n)
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

/* Use ms milliseconds of CPU time. */
static void workload_spin(uint64_t ms)
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

static void workload_sleep(uint64_t n)
{
	const struct timespec t = { 0, 50000 };

	while (n--)
		nanosleep(&t, NULL);
}

static void workload_map(int prot, int flags, off_t at)
{
	int fd = flags & MAP_ANONYMOUS ? -1 : open(CLAIM_PROGRAM, O_RDONLY | O_CLOEXEC);
	void *p = mmap(NULL, 4096, prot, flags, fd, at);

	if (p != MAP_FAILED)
		munmap(p, 4096);
	if (fd >= 0)
		close(fd);
}

static void workload_map_code(uint64_t n)
{
	while (n--)
		workload_map(PROT_READ | PROT_EXEC, MAP_PRIVATE, 0);
}

/* Map the program as code from its n-th page on. */
static void workload_map_code_at(uint64_t n)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	workload_map(PROT_READ | PROT_EXEC, MAP_PRIVATE, (off_t)(n * page));
}

static void workload_map_data(uint64_t n)
{
	while (n--)
		workload_map(PROT_READ, MAP_PRIVATE, 0);
}

static void workload_map_anonymous(uint64_t n)
{
	while (n--)
		workload_map(PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, 0);
}

/* Return a stack whose first use causes no page fault, or NULL. */
static char *new_stack(void)
{
	char *p = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	claim_memory_populate(p, STACK, true);
	return p;
}

static int writing_child(void *n)
{
	workload_write((uintptr_t)n);
	return 0;
}

/* The child shares our memory, as after vfork(2): a copy would cause page faults in both. */
static void workload_child(uint64_t n)
{
	char *stack = new_stack();

	if (!stack)
		return;
	child_wait(clone(writing_child, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD,
			 (void *)(uintptr_t)n));
	munmap(stack, STACK);
}

static void *writing_thread(void *n)
{
	workload_write((uintptr_t)n);
	return NULL;
}

/* Call run(n) in a new thread. */
static void in_thread(void *(*run)(void *n), uint64_t n)
{
	char *stack = new_stack();
	pthread_attr_t attr;
	pthread_t t;

	if (!stack)
		return;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK);
	if (!pthread_create(&t, &attr, run, (void *)(uintptr_t)n))
		pthread_join(t, NULL);
	pthread_attr_destroy(&attr);
	munmap(stack, STACK);
}

static void workload_thread(uint64_t n)
{
	in_thread(writing_thread, n);
}

static void workload_bind(uint64_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void workload_unshare(uint64_t n)
{
	(void)n;
	unshare(CLONE_NEWUTS);
}

static void workload_bpf(uint64_t type)
{
	int fd = bpf_load((uint32_t)type, 1);

	if (fd >= 0)
		close(fd);
}

static void workload_cgroup(uint64_t n)
{
	char path[256], name[320];

	(void)n;
	if (!cgroup_mount(path, sizeof(path)))
		return;
	snprintf(name, sizeof(name), "%s/pevtrace-claim-%d", path, (int)getpid());
	if (!mkdir(name, 0700))
		rmdir(name);
}

static void workload_comm_file(uint64_t n)
{
	int fd = open("/proc/self/comm", O_WRONLY | O_CLOEXEC);

	(void)n;
	if (fd >= 0) {
		if (write(fd, "by file", 7) < 0)
			errno = 0;
		close(fd);
	}
}

static void workload_comm(uint64_t n)
{
	char name[16];

	snprintf(name, sizeof(name), "claim %u", (unsigned int)n);
	prctl(PR_SET_NAME, name);
}

static void workload_prctl(uint64_t on)
{
	prctl(on ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0);
}

static void *prctl_main(void *on)
{
	workload_prctl((uintptr_t)on);
	return NULL;
}

static void workload_thread_prctl(uint64_t on)
{
	in_thread(prctl_main, on);
}

/* text: what a note in the trace says; %llu: the number, @ at its end: "N times" */
static const struct {
	const char *name;
	void (*run)(uint64_t n);
	const char *text;
} workloads[] = {
	{ "anonymous", workload_map_anonymous,
	  "map anonymous memory as code@" },
	{ "bind", workload_bind,
	  "run on CPU %llu" },
	{ "bpf", workload_bpf,
	  "load a BPF program" },
	{ "call", workload_call,
	  "call the function@" },
	{ "cgroup", workload_cgroup,
	  "create a cgroup" },
	{ "code", workload_map_code,
	  "map a file as code@" },
	{ "codeat", workload_map_code_at,
	  "map a file as code, from its page %llu on" },
	{ "comm", workload_comm,
	  "change the name of the task by prctl(2)" },
	{ "commfile", workload_comm_file,
	  "change the name of the task by /proc/self/comm" },
	{ "data", workload_map_data,
	  "map a file as data@" },
	{ "fault", workload_fault,
	  "touch new pages: %llu" },
	{ "fork", workload_child,
	  "fork, and in the child write to the variable@" },
	{ "load", workload_load,
	  "read the variable@" },
	{ "namespace", workload_unshare,
	  "unshare(CLONE_NEWUTS)" },
	{ "nap", workload_sleep,
	  "sleep for 50 us@" },
	{ "prctl", workload_prctl,
	  "prctl(2): enable (1) or disable (0) events: %llu" },
	{ "spin", workload_spin,
	  "run for %llu ms" },
	{ "thread", workload_thread,
	  "create a thread that writes to the variable@" },
	{ "threadprctl", workload_thread_prctl,
	  "in a new thread, prctl(2): enable (1) or disable (0) events: %llu" },
	{ "write", workload_write,
	  "write to the variable@" },
};

bool claim_workload(const char *name, uint64_t n)
{
	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
		if (!strcmp(workloads[i].name, name)) {
			workloads[i].run(n);
			return true;
		}
	return false;
}

void claim_workload_note(const char *name, uint64_t n, struct buf *out)
{
	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++) {
		const char *text = workloads[i].text, *number = strstr(text, "%llu");
		size_t len = number ? (size_t)(number - text) : strcspn(text, "@");

		if (strcmp(workloads[i].name, name))
			continue;
		buf_add(out, text, len);
		if (number)
			buf_addf(out, "%llu%s", (unsigned long long)n, number + strlen("%llu"));
		else if (text[len] && n != 1)
			buf_addf(out, ", %llu times", (unsigned long long)n);
	}
}
