/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace as lines of text, in strace's manner. */
#ifndef PEVTRACE_TEXT_TEXT_VIEW_H
#define PEVTRACE_TEXT_TEXT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/view.h"
#include "lib/output.h"

/* How a call ended, as -e status= selects. */
enum call_status {
	STATUS_SUCCESSFUL = 1 << 0,
	STATUS_FAILED = 1 << 1,
	STATUS_UNFINISHED = 1 << 2,	/* the task died inside */
	STATUS_UNAVAILABLE = 1 << 3,	/* the kernel has no result for it (exit) */
	STATUS_DETACHED = 1 << 4,	/* we left the task inside */
	STATUS_ALL = (1 << 5) - 1,
};

enum clock_style { CLOCK_OFF, CLOCK_SECONDS, CLOCK_MICROS, CLOCK_EPOCH };

struct text_options {
	bool full;		/* -v: members that are zero, too */
	bool records;		/* --records */
	size_t max_string;	/* -s */
	bool labels;		/* -y */
	enum clock_style clock;	/* -t */
	bool relative;		/* -r */
	bool duration;		/* -T */
	bool color;
	bool pid_always;	/* a pid before each line from the first on */
	bool comms;		/* with the task's name: "perf[12] " */
	bool pid_never;		/* -ff: each task has its own file */
	int quiet;		/* 1: no attach and detach, 2: no exits either */
	unsigned int status;	/* enum call_status to show */
};

/*
 * A view of lines; o, names and out must outlive it.  real_offset:
 * CLOCK_REALTIME minus CLOCK_MONOTONIC, in ns, when the trace began.
 */
struct view *text_view_new(const struct text_options *o,
			   const struct names *names, struct output *out,
			   int64_t real_offset);

#endif
