/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the child of a lesson does while it is measured. */
#ifndef PEVTRACE_LEARN_CHORE_H
#define PEVTRACE_LEARN_CHORE_H

#include <stdint.h>

enum { CHORE_NAMES = 4, CHORE_NAME = 16 };

struct chore {
	unsigned int times;	/* how often it is to be done */
	int cpu;		/* to be on; only for chore_move() */
	char names[CHORE_NAMES][CHORE_NAME]; /* for chore_rename() */
	/* for chore_trap(): what the signals told */
	uint64_t traps, sig_data, addr;
	/* in memory of both, so that it does not depend on a copy */
	uint64_t variable;
};

/* Maps that many pages, writes to each once, and unmaps them. */
void chore_touch(struct chore *c);

/* Uses that many milliseconds of a CPU. */
void chore_spin(struct chore *c);

/* The same, half of it on another CPU than c->cpu, if there is one. */
void chore_move(struct chore *c);

/* Writes to and reads from c->variable. */
void chore_write(struct chore *c);

/* The same, and counts SIGTRAPs. */
void chore_trap(struct chore *c);

/* Calls work_called() (drive/work.h). */
void chore_call(struct chore *c);

/* Takes each of c->names that is not empty for its name. */
void chore_rename(struct chore *c);

/* Renames itself, forks a child that ends at once, and maps its own program. */
void chore_live(struct chore *c);

#endif
