/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Strings that calls captured, and signals and errors by name. */
#pragma once

#include "core/abi/call.h"

struct nearest;

/*
 * Return the captured string at addr and its length without the NUL, or NULL if nothing
 * of it was readable.  *cut is set if no NUL was found.
 */
const char *call_string(const struct call *c, enum call_phase phase,
			uint64_t addr, size_t *len, bool *cut);

/* Write the string at addr, or the address with a note if it was not readable. */
void call_emit_string(const struct call *c, enum call_phase phase,
		      const char *key, uint64_t addr, struct sink *s);

/* Write a path, or the name of a function, whole: sinks cut other strings. */
void call_emit_path(const struct call *c, enum call_phase phase, const char *key, uint64_t addr,
		    struct sink *s);

/* Write "SIGIO" or "SIGRT_2" into text; return false and write the number without a name. */
bool signal_name(int sig, char *text, size_t size);

/* Return the signal of that name or number, with or without SIG, in any case; 0: none. */
int signal_by_name(const char *name);

enum { ERRNO_MAX = 4095 };	/* MAX_ERRNO of the kernel */

/*
 * Return the name of an errno, NULL if it has none; and what it means.  Also of those that
 * have no name in errno(3), which the kernel uses inside itself (include/linux/errno.h).
 */
const char *error_name(int error);
const char *error_meaning(int error);

/*
 * Return the errno of that name, in upper or lower case, or 0; then n holds the nearest name.
 */
int error_by_name(const char *name, struct nearest *n);

/* Offer the names of all errors. */
void error_offer(struct nearest *n);

/* Write a signal by name, such as SIGCHLD; 0 and unknown ones as numbers. */
void emit_signal(const char *key, int sig, struct sink *s);

/* Write an address with the note that its memory was not readable. */
void call_emit_unreadable(const char *key, uint64_t addr, struct sink *s);

/*
 * Note of the value before, which is memory that the kernel writes, that it did not write it if the
 * call's success was injected.
 */
void call_note_unwritten(const struct call *c, struct sink *s);

/*
 * Return the bytes at addr captured in that phase; if fewer than want were readable, write the
 * address with that note, and return NULL.
 */
const uint8_t *call_bytes_or_note(const struct call *c, enum call_phase phase, const char *key,
				  uint64_t addr, size_t want, struct sink *s);
