/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gather the perf calls of a process from a dump, as the steps of a C program. */
#pragma once

#include <stdio.h>

#include "formats/codegen/c_program.h"
#include "formats/dump/reader.h"

struct gathered {
	struct reader *dump;		/* owns the program's strings */
	struct c_program *program;	/* of the process pid */
	pid_t pid;
	size_t left_out;		/* other processes that used events */
	struct gather *all;
};

/*
 * Read the dump and choose a process: pid or, if that is 0, the one that opened event
 * number event or, if that is 0 too, most events.  Return false after a warn().  Free *g
 * in either case.
 */
bool gather_read(struct gathered *g, FILE *f, const char *path, pid_t pid,
		 unsigned int event);
void gathered_free(struct gathered *g);
