/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the child of a lesson does while it is measured. */
#ifndef PEVTRACE_LEARN_LESSON_CHILD_H
#define PEVTRACE_LEARN_LESSON_CHILD_H

#include <stdint.h>

enum { CHILD_NAMES = 4, CHILD_NAME = 16 };

struct child_task {
	unsigned int times;	/* how often it is to be done */
	int cpu;		/* to be on; only for child_move() */
	char names[CHILD_NAMES][CHILD_NAME]; /* for child_rename() */
	/* for child_trap(): what the signals told */
	uint64_t traps, sig_data, addr;
	/* in memory of both, so that it does not depend on a copy */
	uint64_t variable;
};

/* Maps that many pages, writes to each once, and unmaps them. */
void child_touch(struct child_task *c);

/* Uses that many milliseconds of a CPU. */
void child_spin(struct child_task *c);

/* The same, half of it on another CPU than c->cpu, if there is one. */
void child_move(struct child_task *c);

/* Writes to and reads from c->variable. */
void child_write(struct child_task *c);

/* The same, and counts SIGTRAPs. */
void child_trap(struct child_task *c);

/* Calls work_called() (drive/work.h). */
void child_call(struct child_task *c);

/* Takes each of c->names that is not empty for its name. */
void child_rename(struct child_task *c);

/* Renames itself, forks a child that ends at once, and maps its own program. */
void child_live(struct child_task *c);

#endif
