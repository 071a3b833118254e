/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Setters for struct options of options whose arguments are words of strace's. */
#ifndef PEVTRACE_CLI_OPTIONS_WORDS_H
#define PEVTRACE_CLI_OPTIONS_WORDS_H

#include "cli/verb.h"

/* Without an argument each further -t shows more; else [format:]FORMAT,[precision:]PRECISION. */
verb_set_fn options_set_clock;

verb_set_fn options_set_relative;	/* -r, a precision */
verb_set_fn options_set_duration;	/* -T, a precision */
verb_set_fn options_set_hex;		/* -x, repeated: all strings */
verb_set_fn options_set_hex_words;	/* --strings-in-hex */
verb_set_fn options_set_quiet;		/* -q, repeated, or a set of messages */
verb_set_fn options_set_labels;		/* -y, or a set of details */
verb_set_fn options_set_sort;		/* -S */
verb_set_fn options_set_columns;	/* -U */

/* -e of a dump; of a trace, which may also inject faults; and their long forms. */
verb_set_fn options_set_expr, options_set_expr_live, options_set_inject, options_set_fault;

/*
 * What strace has as -e KEY= and as an option --KEY=, and pevtrace has not:
 * ROW(KEY, SYNONYM|... or NULL, what to use).
 */
#define OPTIONS_FOREIGN(ROW) \
	ROW("abbrev", "a", "-v shows every member of a structure") \
	ROW("verbose", "v", "structures are always decoded") \
	ROW("raw", "x", "--json has the raw arguments of every call") \
	ROW("read", "reads|r", \
	    "counts are decoded, and --json has their bytes; use strace for other data") \
	ROW("write", "writes|w", "a program cannot write to an event; use strace for other data") \
	ROW("trace-fds", "trace-fd|fds|fd", "every descriptor of an event is traced; -y shows which event it is") \
	ROW("namespace", NULL, "perf events have no namespace; --records shows NAMESPACES records") \
	ROW("decode-pids", "decode-pid", "-a shows the names of tasks, and so does --summary") \
	ROW("secontext", NULL, "perf events have no SELinux context") \
	ROW("kvm", NULL, "it concerns no perf events; use strace")

/* Offer the keys of -e, "trace=" and so on. */
void options_offer_keys(struct nearest *n);

#endif
