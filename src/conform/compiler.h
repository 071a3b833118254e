/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The C compiler of this machine. */
#pragma once

#include <stdbool.h>

#include "core/lib/buf.h"

enum { COMPILER_ARGS = 16 };

/* A compiler with a temporary directory for its files. */
struct compiler {
	char dir[64];			/* "": none */
	char *command;			/* owned; words point into it */
	const char *words[COMPILER_ARGS]; /* "env", "LC_ALL=C", "ccache", "gcc", NULL */
};

/*
 * Find a compiler, which writes BTF if btf is set: $CC, cc or gcc.  Return NULL if
 * there is none or no directory can be created, after a warn() unless only the compiler is
 * missing and btf is not set.  exit() closes it, too.
 */
struct compiler *compiler_open(bool btf);

/* Remove its files; c itself is freed by exit(). */
void compiler_close(struct compiler *c);

/*
 * Compile source with -Wall to a program, and set program to its path.  Return false if
 * that fails.  messages: those of the compiler, which may be warnings only.
 */
bool compiler_program(struct compiler *c, const char *source, struct buf *program,
		      struct buf *messages);

/* Append the path of a file in the directory of c; compiler_close() removes out and err. */
void compiler_path(const struct compiler *c, const char *file, struct buf *out);
