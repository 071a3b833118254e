/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A little of all that events count and write records about, always the same,
 * for a child of ours to do while an event measures it.
 */
#ifndef PEVTRACE_DRIVE_WORK_H
#define PEVTRACE_DRIVE_WORK_H

#include <stdint.h>
#include <time.h>

/* How often what is watched is written and called; a child of the task adds its own. */
enum { WORK_TIMES = 3, WORK_CHILD_TIMES = 5 };

/* What is not always done. */
enum {
	WORK_SPIN = 1 << 0,	/* uses 2 ms of a CPU */
	WORK_MOVE = 1 << 1,	/* goes to another CPU and back */
	WORK_BPF = 1 << 2,	/* loads a BPF program */
	WORK_EXEC = 1 << 3,	/* ends in an exec of pevtrace, which ends at once */
};

/* What only the task itself can tell, in memory that it shares. */
struct work_told {
	uint64_t traps;			/* SIGTRAPs that it got */
	uint64_t sig_data;		/* si_perf_data of the first */
	uint64_t started, ended;	/* by the clock that was asked for, in ns */
};

/* The variable of 4 bytes, and the function, for breakpoints and probes. */
uintptr_t work_watched(void);
uintptr_t work_called(void);

/* The place of the function in our own file; 0: not found. */
uint64_t work_called_offset(void);

/* Does it; cpu: to be bound to, or -1. */
void work_do(unsigned int what, int cpu, clockid_t clock, struct work_told *told);

/* What comes last; does not come back if it execs. */
void work_end(unsigned int what);

/* The highest CPU that we may run on. */
int work_cpu(void);

#endif
