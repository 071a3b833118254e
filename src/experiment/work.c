// SPDX-License-Identifier: LGPL-2.1-or-later
#include "experiment/work.h"

#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "engine/rings/bpf.h"
#include "core/lib/child.h"

enum { PAGES = 16, SPIN_NS = 2000000, CHILD_STACK = 64 * 1024 };

static volatile uint32_t work_variable;

static struct work_report *handler_report;	/* set in the child only */

static void work_function(void) __attribute__((noinline));

static void work_function(void)
{
	__asm__ volatile("" ::: "memory");
}

uintptr_t work_watched(void)
{
	return (uintptr_t)&work_variable;
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

const char *work_lacks_probe(void)
{
	return access(WORK_FILE, F_OK) ? WORK_FILE " cannot be found, which a uprobe needs" :
	       !work_called_offset() ? "no segment of " WORK_FILE " has a function to probe" : NULL;
}

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

static uint64_t work_clock(clockid_t clock)
{
	struct timespec t = { 0, 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void work_bind(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
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

void work_call(void *unused)
{
	(void)unused;
	work_function();
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

static void work_use(int times)
{
	for (int i = 0; i < times; i++) {
		work_may_trap(work_write, (void *)work_watched());
		work_may_trap(work_call, NULL);
	}
}

static void touch_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	for (size_t i = 0; i < PAGES; i++)
		p[i * page] = 1;
	munmap((void *)p, PAGES * page);
}

static void work_map_file(int prot)
{
	int fd = open(WORK_FILE, O_RDONLY | O_CLOEXEC);
	volatile char *p = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, prot, MAP_PRIVATE, fd, 0);

	/* the fault of the write finds a page, and so a physical address */
	if (p != MAP_FAILED && prot & PROT_WRITE)
		p[0] = p[0];
	if (p != MAP_FAILED)
		munmap((void *)p, 4096);
	if (fd >= 0)
		close(fd);
}

static int child_work(void *unused)
{
	(void)unused;
	work_use(WORK_CHILD_TIMES);
	touch_pages();
	return 0;
}

/*
 * Wait for a child that shares the memory, as a copy of it would cost more than all other work.
 * The task does not run meanwhile, so that there is a context switch.
 */
static void work_fork(void)
{
	static char stack[CHILD_STACK] __attribute__((aligned(16)));

	child_wait(clone(child_work, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
}

static void work_migrate(void)
{
	cpu_set_t old;
	int last = work_cpu();

	CPU_ZERO(&old);
	sched_getaffinity(0, sizeof(old), &old);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &old)) {
			work_bind(i);
			break;
		}
	work_bind(last);
	sched_setaffinity(0, sizeof(old), &old);
}

/* Spin in user mode for much longer than the system call that reads the clock takes. */
static void work_spin(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}

static void exec_self(void)
{
	int null = open("/dev/null", O_WRONLY);

	dup2(null, 1);
	execve(WORK_FILE, (char *[]){ (char *)"pevtrace", (char *)"--version", NULL },
	       (char *[]){ NULL });
}

void work_do(unsigned int what, clockid_t clock, struct work_report *report)
{
	struct sigaction sa = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER };
	uint64_t until;
	int fd;

	handler_report = report;
	sigaction(SIGTRAP, &sa, NULL);
	/* a blocked one, which children inherit, would look like a signal that is never sent */
	sigemptyset(&sa.sa_mask);
	sigaddset(&sa.sa_mask, SIGTRAP);
	sigprocmask(SIG_UNBLOCK, &sa.sa_mask, NULL);
	report->started = work_clock(clock);
	work_use(WORK_TIMES);
	touch_pages();
	work_map_file(PROT_READ | PROT_EXEC);
	work_map_file(PROT_READ | PROT_WRITE);
	prctl(PR_SET_NAME, "pevtrace work");
	work_fork();
	if (what & WORK_MOVE)
		work_migrate();
	if (what & WORK_BPF && (fd = bpf_load(BPF_PROG_TYPE_PERF_EVENT, 0)) >= 0)
		close(fd);
	if (what & WORK_SPIN)
		for (until = work_clock(CLOCK_THREAD_CPUTIME_ID) + SPIN_NS;
		     work_clock(CLOCK_THREAD_CPUTIME_ID) < until;)
			work_spin();
	report->ended = work_clock(clock);
}

void work_end(unsigned int what)
{
	if (what & WORK_EXEC)
		exec_self();
	if (what & WORK_EXIT)
		_exit(0);
}
