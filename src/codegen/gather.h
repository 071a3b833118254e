/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The perf calls of one process of a dump, as a C program to be. */
#ifndef PEVTRACE_CODEGEN_GATHER_H
#define PEVTRACE_CODEGEN_GATHER_H

#include <stdio.h>

#include "codegen/c_program.h"
#include "dump/reader.h"

struct gathered {
	struct reader *dump;		/* owns what the program's strings point to */
	struct c_program *program;	/* that of pid */
	pid_t pid;
	size_t left_out;		/* other processes that used events */
	struct gather *all;
};

/*
 * Reads the dump.  pid: the process, 0 for the one that opened event number
 * event or, when that is 0 too, most events.  False after a warn(); *g is to be
 * freed in either case.
 */
bool gather_read(struct gathered *g, FILE *f, const char *path, pid_t pid,
		 unsigned int event);
void gathered_free(struct gathered *g);

#endif
