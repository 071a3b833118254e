/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Strings of a bounded length, strings that calls captured, and signals by name. */
#ifndef PEVTRACE_ABI_STRINGS_H
#define PEVTRACE_ABI_STRINGS_H

#include "abi/call.h"

/* A line put together in place; what does not fit is cut. */
struct text_line {
	char text[640];
	size_t len;
};

void text_line_start(struct text_line *l);

/* Appends; sep goes before it unless the line is empty. */
void text_line_join(struct text_line *l, const char *sep, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The captured string at addr: its bytes and length (without the NUL); *cut
 * tells that no NUL was found.  NULL when nothing of it could be read.
 */
const char *call_string(const struct call *c, enum call_phase phase,
			uint64_t addr, size_t *len, bool *cut);

/* Hands the string at addr to the sink, or the address and why not. */
void call_emit_string(const struct call *c, enum call_phase phase,
		      const char *key, uint64_t addr, struct sink *s);

/* "SIGIO", "SIGRT_2"; false: it has no name, and the text is the number. */
bool signal_name(int sig, char *text, size_t size);

/* The other way; SIG may be missing, and letters be small.  0: there is none of that name. */
int signal_by_name(const char *name);

/* Hands a signal over by name: SIGCHLD; 0 and unknown ones as numbers. */
void emit_signal(const char *key, int sig, struct sink *s);

/* Hands an address over that should have been readable, and says that. */
void call_emit_unreadable(const char *key, uint64_t addr, struct sink *s);

#endif
