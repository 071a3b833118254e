// SPDX-License-Identifier: LGPL-2.1-or-later
#include "experiment/work.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/host/cgroup.h"
#include "core/lib/clock.h"
#include "core/lib/program.h"
#include "engine/rings/bpf.h"

enum { PAGES = 16, SPIN_MS = 2, STACK = 1 << 18 };	/* STACK: bytes, for a thread or child */

/* Accesses ---------------------------------------------------------------------------- */

static void work_function(void) __attribute__((noinline));

static void work_function(void)
{
	__asm__ volatile("" ::: "memory");
}

uintptr_t work_called(void)
{
	return (uintptr_t)work_function;
}

/* Store the offset of work_function in its file.  The first object is the program: stop there. */
static int find_called(struct dl_phdr_info *info, size_t size, void *ctx)
{
	uint64_t *offset = ctx, at = work_called() - info->dlpi_addr;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && at >= p->p_vaddr &&
		    at - p->p_vaddr < p->p_filesz)
			*offset = at - p->p_vaddr + p->p_offset;
	}
	return 1;
}

uint64_t work_called_offset(void)
{
	uint64_t offset = 0;

	dl_iterate_phdr(find_called, &offset);
	return offset;
}

const char *work_lacks_file(void)
{
	return access(WORK_FILE, F_OK) ?
	       WORK_FILE " cannot be found, which the work maps or executes" : NULL;
}

const char *work_lacks_probe(void)
{
	return access(WORK_FILE, F_OK) ? WORK_FILE " cannot be found, which a uprobe needs" :
	       !work_called_offset() ? "no segment of " WORK_FILE " has a function to probe" : NULL;
}

/* For handlers of signals. */
static sigjmp_buf after_access;
static volatile sig_atomic_t accesses;

__attribute__((noinline)) void work_may_trap(void (*access)(void *arg), void *arg)
{
	if (!sigsetjmp(after_access, 0)) {
		accesses = 1;
		access(arg);
	}
	accesses = 0;
}

void work_trapped(void)
{
	if (accesses)
		siglongjmp(after_access, 1);
}

void work_write(void *variable)
{
	*(volatile uint32_t *)variable = 1;
}

static void work_call(void *unused)
{
	(void)unused;
	work_function();
}

/* Workloads: what experiments do to be measured ---------------------------------------- */

static void workload_write(uint64_t n)
{
	while (n--) {
		work_memory_unwrite();
		work_may_trap(work_write, (void *)work_watched());
	}
}

static void workload_load(uint64_t n)
{
	volatile uint32_t *p = (volatile uint32_t *)work_watched();

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

/* Use ms milliseconds of CPU time, in user mode for much longer than reading the clock takes. */
static void workload_spin(uint64_t ms)
{
	uint64_t until = clock_ns_of(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;

	do
		for (volatile int i = 0; i < 100000; i++)
			;
	while (clock_ns_of(CLOCK_THREAD_CPUTIME_ID) < until);
}

static void workload_sleep(uint64_t n)
{
	const struct timespec t = { 0, 50000 };

	while (n--)
		nanosleep(&t, NULL);
}

/* Map a page of a file, or of no file if path is NULL. */
static void map_page(const char *path, int prot, uint64_t page)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	volatile char *p = mmap(NULL, 4096, prot, MAP_PRIVATE | (path ? 0 : MAP_ANONYMOUS), fd,
				(off_t)(page * (uint64_t)sysconf(_SC_PAGESIZE)));

	/* the fault of the write finds a page, and so a physical address */
	if (p != MAP_FAILED && prot & PROT_WRITE)
		p[0] = p[0];
	if (p != MAP_FAILED)
		munmap((void *)p, 4096);
	if (fd >= 0)
		close(fd);
}

static void workload_map_code(uint64_t n)
{
	while (n--)
		map_page(WORK_PROGRAM, PROT_READ | PROT_EXEC, 0);
}

/* Map the program as code from its n-th page on. */
static void workload_map_code_at(uint64_t n)
{
	map_page(WORK_PROGRAM, PROT_READ | PROT_EXEC, n);
}

static void workload_map_self(uint64_t n)
{
	while (n--)
		map_page(WORK_FILE, PROT_READ | PROT_EXEC, 0);
}

static void workload_map_data(uint64_t n)
{
	while (n--)
		map_page(WORK_PROGRAM, PROT_READ, 0);
}

static void workload_map_anonymous(uint64_t n)
{
	while (n--)
		map_page(NULL, PROT_READ | PROT_EXEC, 0);
}

/* Return a stack whose first use causes no page fault, or NULL. */
static char *new_stack(void)
{
	char *p = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	work_memory_populate(p, STACK, true);
	return p;
}

/* What a child or thread runs. */
struct job {
	void (*run)(uint64_t n);
	uint64_t n;
};

static int job_child(void *job)
{
	const struct job *j = job;

	j->run(j->n);
	return 0;
}

/*
 * Call run(n) in a child that shares our memory, as after vfork(2): a copy would cause page faults
 * in both, and cost more than all other work.  We do not run meanwhile: that is a context switch.
 */
static void in_child(void (*run)(uint64_t n), uint64_t n)
{
	struct job job = { run, n };
	char *stack = new_stack();

	if (!stack)
		return;
	child_wait(clone(job_child, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, &job));
	munmap(stack, STACK);
}

static void *job_thread(void *job)
{
	job_child(job);
	return NULL;
}

/* Call run(n) in a new thread. */
static void in_thread(void (*run)(uint64_t n), uint64_t n)
{
	struct job job = { run, n };
	char *stack = new_stack();
	pthread_attr_t attr;
	pthread_t t;

	if (!stack)
		return;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK);
	if (!pthread_create(&t, &attr, job_thread, &job))
		pthread_join(t, NULL);
	pthread_attr_destroy(&attr);
	munmap(stack, STACK);
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

static void workload_raise(uint64_t n)
{
	(void)n;
	raise(SIGTRAP);
}

static void workload_prctl(uint64_t on)
{
	prctl(on ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0);
}

/* text: what a note in the trace says; %llu: the number, @ at its end: "N times" */
static const struct {
	const char *name;
	void (*run)(uint64_t n);
	const char *text;
	void (*in)(void (*run)(uint64_t n), uint64_t n); /* NULL: in this thread */
} workloads[] = {
	{ "anonymous", workload_map_anonymous,
	  "map anonymous memory as code@", NULL },
	{ "bind", workload_bind,
	  "run on CPU %llu", NULL },
	{ "bpf", workload_bpf,
	  "load a BPF program", NULL },
	{ "call", workload_call,
	  "call the function@", NULL },
	{ "cgroup", workload_cgroup,
	  "create a cgroup", NULL },
	{ "code", workload_map_code,
	  "map a file as code@", NULL },
	{ "codeat", workload_map_code_at,
	  "map a file as code, from its page %llu on", NULL },
	{ "comm", workload_comm,
	  "change the name of the task by prctl(2)", NULL },
	{ "commfile", workload_comm_file,
	  "change the name of the task by /proc/self/comm", NULL },
	{ "data", workload_map_data,
	  "map a file as data@", NULL },
	{ "fault", workload_fault,
	  "touch new pages: %llu", NULL },
	{ "fork", workload_write,
	  "fork, and in the child write to the variable@", in_child },
	{ "load", workload_load,
	  "read the variable@", NULL },
	{ "namespace", workload_unshare,
	  "unshare(CLONE_NEWUTS)", NULL },
	{ "mapself", workload_map_self,
	  "map the own program as code@", NULL },
	{ "nap", workload_sleep,
	  "sleep for 50 us@", NULL },
	{ "prctl", workload_prctl,
	  "prctl(2): enable (1) or disable (0) events: %llu", NULL },
	{ "raise", workload_raise,
	  "raise SIGTRAP", NULL },
	{ "spin", workload_spin,
	  "run for %llu ms", NULL },
	{ "thread", workload_write,
	  "create a thread that writes to the variable@", in_thread },
	{ "threadprctl", workload_prctl,
	  "in a new thread, prctl(2): enable (1) or disable (0) events: %llu", in_thread },
	{ "write", workload_write,
	  "write to the variable@", NULL },
};

bool work_run(const char *name, uint64_t n, const char *text)
{
	if (*text && !strcmp(name, "comm"))
		return !prctl(PR_SET_NAME, text);
	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
		if (!strcmp(workloads[i].name, name)) {
			if (workloads[i].in)
				workloads[i].in(workloads[i].run, n);
			else
				workloads[i].run(n);
			return true;
		}
	return false;
}

void work_note(const char *name, uint64_t n, struct buf *out)
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

/* The work of experiment/experiment.h ---------------------------------------------------- */

static struct work_report *handler_report;	/* set in the task only */

int work_cpu(void)
{
	cpu_set_t set;
	int last = 0;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			last = i;
	return last;
}

/* si_perf_data follows si_addr; older C libraries lack it. */
static void trapped(int sig, siginfo_t *info, void *context)
{
	unsigned long data;

	(void)sig;
	(void)context;
	memcpy(&data, (const char *)&info->si_addr + sizeof(void *), sizeof(data));
	if (!handler_report->traps++)
		handler_report->sig_data = data;
	work_trapped();
}

static void child_work(uint64_t unused)
{
	(void)unused;
	workload_write(WORK_CHILD_TIMES);
	workload_call(WORK_CHILD_TIMES);
	workload_fault(PAGES);
}

void work_do(unsigned int what, clockid_t clock, struct work_report *report)
{
	struct sigaction sa = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER };
	cpu_set_t old;
	uint64_t first = 0, last;

	handler_report = report;
	sigaction(SIGTRAP, &sa, NULL);
	/* a blocked one, which children inherit, would look like a signal that is never sent */
	sigemptyset(&sa.sa_mask);
	sigaddset(&sa.sa_mask, SIGTRAP);
	sigprocmask(SIG_UNBLOCK, &sa.sa_mask, NULL);
	report->started = clock_ns_of(clock);
	workload_write(WORK_TIMES);
	workload_call(WORK_TIMES);
	workload_fault(PAGES);
	workload_map_self(1);
	map_page(WORK_FILE, PROT_READ | PROT_WRITE, 0);
	prctl(PR_SET_NAME, "pevtrace work");
	in_child(child_work, 0);
	if (what & WORK_MOVE) {
		/* to the first CPU, and back to the last one */
		last = (uint64_t)work_cpu();
		CPU_ZERO(&old);
		sched_getaffinity(0, sizeof(old), &old);
		while (first < CPU_SETSIZE && !CPU_ISSET(first, &old))
			first++;
		workload_bind(first);
		workload_bind(last);
		sched_setaffinity(0, sizeof(old), &old);
	}
	if (what & WORK_BPF)
		workload_bpf(BPF_PROG_TYPE_PERF_EVENT);
	if (what & WORK_SPIN)
		workload_spin(SPIN_MS);
	report->ended = clock_ns_of(clock);
}

void work_end(unsigned int what)
{
	if (what & WORK_EXEC) {
		dup2(open("/dev/null", O_WRONLY), 1);
		execve(WORK_FILE, (char *[]){ (char *)"pevtrace", (char *)"--version", NULL },
		       (char *[]){ NULL });
	}
	if (what & WORK_EXIT)
		_exit(0);
}
