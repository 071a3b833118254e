/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The C compiler of this machine, to ask it what it makes of a source. */
#ifndef PEVTRACE_CONFORM_COMPILER_H
#define PEVTRACE_CONFORM_COMPILER_H

#include <stdbool.h>

#include "lib/buf.h"

enum { COMPILER_ARGS = 16 };

/* A compiler, and a directory of our own for its files. */
struct compiler {
	char dir[64];			/* "": there is none */
	char *command;			/* owned; words is made of it */
	char *words[COMPILER_ARGS];	/* "ccache", "gcc", NULL */
};

/*
 * Finds one that writes BTF: $CC, else cc, else gcc.  NULL after a warn(): there
 * is none, or no directory can be made.  What is not closed is closed by exit().
 */
struct compiler *compiler_open(void);

/* Its files are gone then; c itself lives on. */
void compiler_close(struct compiler *c);

/* Preprocesses a source; what comes out, with macros (-dD), goes to out. */
bool compiler_preprocess(struct compiler *c, const char *source, struct buf *out,
			 struct buf *errors);

/*
 * Compiles a source into an object with BTF of all its types, whose path is
 * put into object until the next call.  False: what the compiler said is in
 * errors.
 */
bool compiler_types(struct compiler *c, const char *source, struct buf *object,
		    struct buf *errors);

#endif
