// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/learn/lesson_child.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "experiment/work.h"
#include "core/lib/child.h"

enum { ROUNDS = 20000 };	/* of a loop, some 10 us */

void child_touch(struct lesson_child *c)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), len = c->times * page;
	char *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return;
	madvise(at, len, MADV_NOHUGEPAGE);
	for (unsigned int i = 0; i < c->times; i++)
		((volatile char *)at)[i * page] = 1;
	munmap(at, len);
}

void child_spin(struct lesson_child *c)
{
	struct timespec from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do {
		/* mostly in user space: reading the clock is a system call */
		for (unsigned int i = 0; i < ROUNDS; i++)
			__asm__ volatile("" : "+r"(i));
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 <
	       (long)c->times);
}

static void bind_to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

void child_move(struct lesson_child *c)
{
	cpu_set_t allowed;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	bind_to_cpu(c->cpu);
	child_spin(c);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &allowed) && (int)cpu != c->cpu) {
			bind_to_cpu((int)cpu);
			break;
		}
	}
	child_spin(c);
	sched_setaffinity(0, sizeof(allowed), &allowed);
}

void child_write(struct lesson_child *c)
{
	volatile uint64_t *v = &c->variable;

	for (unsigned int i = 0; i < c->times; i++)
		work_may_trap(work_write, &c->variable);
	for (unsigned int i = 0; i < c->times; i++)
		(void)*v;
}

/* si_code of the SIGTRAP of an event; older C libraries lack the name. */
enum { CODE_PERF = 6 };

/* For the signal handler. */
static struct lesson_child *trapped;

static void count_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_code != CODE_PERF)
		return;
	trapped->traps++;
	trapped->addr = (uintptr_t)info->si_addr;
	/* si_perf_data; older C libraries lack it */
	memcpy(&trapped->sig_data, (char *)&info->si_addr + sizeof(info->si_addr),
	       sizeof(unsigned long));
	work_trapped();
}

static void catch_traps(struct lesson_child *c)
{
	struct sigaction action = { .sa_sigaction = count_trap,
				    .sa_flags = SA_SIGINFO | SA_NODEFER };

	trapped = c;
	sigaction(SIGTRAP, &action, NULL);
}

void child_trap(struct lesson_child *c)
{
	catch_traps(c);
	child_write(c);
}

void child_touch_trap(struct lesson_child *c)
{
	catch_traps(c);
	raise(SIGTRAP); /* so that the handler causes no page faults of its own later */
	child_touch(c);
}

void child_call(struct lesson_child *c)
{
	for (unsigned int i = 0; i < c->times; i++)
		work_may_trap(work_call, NULL);
}

void child_rename(struct lesson_child *c)
{
	for (size_t i = 0; i < CHILD_NAMES; i++)
		if (*c->names[i])
			prctl(PR_SET_NAME, c->names[i]);
}

void child_live(struct lesson_child *c)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *code;
	pid_t pid;

	child_rename(c);
	code = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (code != MAP_FAILED)
		munmap(code, page);
	close(fd);
	pid = fork();
	if (!pid)
		_exit(0);
	child_wait(pid);
}
