/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Setters for struct options of options whose arguments are words of strace's. */
#pragma once

#include "verbs/cli/verb.h"

/* Without an argument each further -t shows more; else [format:]FORMAT,[precision:]PRECISION. */
verb_set_fn options_set_clock;

verb_set_fn options_set_relative;	/* -r, a precision */
verb_set_fn options_set_duration;	/* -T, a precision */
verb_set_fn options_set_hex;		/* -x, repeated: all strings */
verb_set_fn options_set_hex_words;	/* --strings-in-hex */
verb_set_fn options_set_quiet;		/* -q, repeated, or a set of messages */
#define OPTIONS_LABELS "path all none"
verb_set_fn options_set_labels;		/* -y, or a set of details */
verb_set_fn options_set_sort;		/* -S */
verb_set_fn options_set_columns;	/* -U */

verb_set_fn options_set_inject, options_set_fault;

/* Options of strace, -e NAME=ARG and --NAME=ARG, that pevtrace does not have: entries of foreign. */
#define OPTIONS_FOREIGN \
	{ "abbrev", .expr = "a", .why = "-v shows every member of a structure" }, \
	{ "verbose", .expr = "v", .why = "structures are always decoded" }, \
	{ "raw", .expr = "x", .why = "--json has the raw arguments of every call" }, \
	{ "read", .expr = "reads|r", \
	  .why = "counts are decoded, and --json has their bytes; use strace for other data" }, \
	{ "write", .expr = "writes|w", \
	  .why = "a program cannot write to an event; use strace for other data" }, \
	{ "trace-fds", .expr = "trace-fd|fds|fd", \
	  .why = "every descriptor of an event is traced; -y shows which event it is" }, \
	{ "namespace", \
	  .why = "perf events have no namespace; --records shows NAMESPACES records" }, \
	{ "decode-pids", .expr = "decode-pid", \
	  .why = "-a shows the names of tasks, and so does --summary" }, \
	{ "secontext", .why = "perf events have no SELinux context" }, \
	{ "kvm", .why = "it concerns no perf events; use strace" },
