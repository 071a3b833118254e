/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Workloads: what experiments do to be measured; and a fixed piece of work that a child does while
 * an event measures it, a little of everything that events count and record.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#include "core/lib/buf.h"

/*
 * Run the workload of that name (the table in work.c) in this process, n times or as n otherwise
 * says; text is that of "comm", or "".  Return false if there is none.
 */
bool work_run(const char *name, uint64_t n, const char *text);

/* Append what that workload does, in words. */
void work_note(const char *name, uint64_t n, struct buf *out);

/* A program that every user may map and execute. */
#define WORK_PROGRAM "/bin/sh"

/* Number of writes of the variable and calls of the function, by the task and by its child. */
enum { WORK_TIMES = 3, WORK_CHILD_TIMES = 5 };

/* Optional parts. */
enum {
	WORK_SPIN = 1 << 0,	/* uses 2 ms of CPU time */
	WORK_MOVE = 1 << 1,	/* migrates to another CPU and back */
	WORK_BPF = 1 << 2,	/* loads a BPF program */
	WORK_EXEC = 1 << 3,	/* ends with an exec of pevtrace --version */
	WORK_EXIT = 1 << 4,	/* ends with an exit */
	WORK_ENDS = WORK_EXEC | WORK_EXIT,
};

/* What only the task itself can report, in shared memory. */
struct work_report {
	uint64_t traps;			/* number of SIGTRAPs */
	uint64_t sig_data;		/* si_perf_data of the first */
	uint64_t started, ended;	/* in ns of the clock argument */
};

/*
 * Make an access that a signal of an event may interrupt.  On arm64 the kernel sends the signal of
 * a watchpoint before the access, and a handler that returns repeats the access, and the signal
 * (arch/arm64/kernel/hw_breakpoint.c).  A handler therefore ends with work_trapped(), which
 * continues after the access, and is installed with SA_NODEFER: its mask is not restored.
 */
void work_may_trap(void (*access)(void *arg), void *arg);
void work_trapped(void);

/* An access: write a uint32_t. */
void work_write(void *variable);

/*
 * Return the address of the variable (4 bytes), which has a page of its own, and of the function,
 * for breakpoints and probes.
 */
uintptr_t work_watched(void);
uintptr_t work_called(void);

/* The file of the program, for a uprobe at the function; the function's offset there, or 0. */
#define WORK_FILE "/proc/self/exe"
uint64_t work_called_offset(void);

/* Return why that file cannot be mapped and executed, or NULL. */
const char *work_lacks_file(void);

/* Return why no uprobe can be set at the function: its file or offset is unknown; or NULL. */
const char *work_lacks_probe(void);

/* Do the work. */
void work_do(unsigned int what, clockid_t clock, struct work_report *report);

/* Do the last part, from which only one that fails returns. */
void work_end(unsigned int what);

/* Return the highest CPU that the process may run on. */
int work_cpu(void);

/*
 * Memory in which page faults are exact (work_memory.c).  Prepare the memory of this process: no
 * page fault happens in user mode any more but by writes to the variable.  After a fork(2) both
 * processes need it anew.  Where the kernel lacks MADV_POPULATE_WRITE, before Linux 5.14, it has
 * no effect.
 */
void work_memory_ready(void);

/* Map the pages without page faults; written: for writing. */
void work_memory_populate(void *at, size_t len, bool written);

/* Do it for a ring; written: its owner will write to its first page, which has no data yet. */
void work_memory_ring(uint8_t *ring, size_t len, bool written);

/* After work_memory_ready(), make the next write to the variable fault, on a readable page. */
void work_memory_unwrite(void);
