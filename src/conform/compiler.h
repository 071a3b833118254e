/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The C compiler of this machine. */
#ifndef PEVTRACE_CONFORM_COMPILER_H
#define PEVTRACE_CONFORM_COMPILER_H

#include <stdbool.h>

#include "lib/buf.h"

enum { COMPILER_ARGS = 16 };

/* A compiler with a temporary directory for its files. */
struct compiler {
	char dir[64];			/* "": none */
	char *command;			/* owned; words point into it */
	char *words[COMPILER_ARGS];	/* "ccache", "gcc", NULL */
};

/*
 * Find a compiler that writes BTF: $CC, cc or gcc.  Return NULL after a warn(): there is
 * none, or no directory can be created.  exit() closes it, too.
 */
struct compiler *compiler_open(void);

/* Remove its files; c itself is freed by exit(). */
void compiler_close(struct compiler *c);

/* Preprocess source into out, with macros (-dD).  Return false with its messages in errors. */
bool compiler_preprocess(struct compiler *c, const char *source, struct buf *out,
			 struct buf *errors);

/*
 * Compile source to an object with BTF of all its types, and set object to its path, which
 * is valid until the next call.  Return false with the compiler's messages in errors.
 */
bool compiler_types(struct compiler *c, const char *source, struct buf *object,
		    struct buf *errors);

#endif
