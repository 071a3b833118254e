/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Workloads of the child that a lesson measures. */
#pragma once

#include <stdint.h>

enum { CHILD_NAMES = 4, CHILD_NAME = 16 };

/* Memory shared with the child. */
struct lesson_child {
	unsigned int times;	/* size of the workload */
	int cpu;		/* first CPU of child_move() */
	char names[CHILD_NAMES][CHILD_NAME]; /* for child_rename(); "": none */
	uint64_t traps, sig_data, addr; /* signals of child_trap(): number, and the last one */
	uint64_t variable;	/* for child_write() and child_trap() */
};

/* Map that many pages, write to each once, and unmap them. */
void child_touch(struct lesson_child *c);

/* Use that many milliseconds of CPU time. */
void child_spin(struct lesson_child *c);

/* The same on CPU c->cpu, and again on another CPU if there is one. */
void child_move(struct lesson_child *c);

/* Write c->variable that many times, then read it as often. */
void child_write(struct lesson_child *c);

/* The same, and count SIGTRAPs of events. */
void child_trap(struct lesson_child *c);

/* Touch pages as child_touch(), and count SIGTRAPs of events. */
void child_touch_trap(struct lesson_child *c);

/* Call work_called() (experiment/work.h) that many times. */
void child_call(struct lesson_child *c);

/* Set the task's name to each of c->names. */
void child_rename(struct lesson_child *c);

/* The same; then map the own program and fork a child that exits at once. */
void child_live(struct lesson_child *c);
