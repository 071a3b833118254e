/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace as lines of text, in strace's manner. */
#pragma once

#include "core/lib/output.h"
#include "core/session/view.h"
#include "formats/text/text.h"

/*
 * Append "name(first, args", what is known at syscall-enter-stop.  Call it there: names
 * of descriptors change.  Return whether there is an argument.
 */
bool call_text_begin(const struct call *c, const struct names *n, struct text_sink *t);

/* Append ", more)", what is known at syscall-exit-stop.  any: an argument precedes. */
void call_text_rest(const struct call *c, bool any, const struct names *n,
		    struct text_sink *t);

/* Append "= 5", "= -1 ENOENT (...)", "= 1 ([{fd=3, revents=POLLIN}])", and notes. */
void call_text_result(const struct call *c, const struct names *n, struct text_sink *t);

enum clock_style { CLOCK_OFF, CLOCK_TIME, CLOCK_UNIX };

/* Messages that are left out (-e quiet=). */
enum text_quiet {
	QUIET_ATTACH = 1 << 0,		/* attaching, detaching, an empty trace */
	QUIET_EXIT = 1 << 1,		/* how tasks ended */
	QUIET_SUPERSEDED = 1 << 2,	/* tasks that another thread's exec ended */
	QUIET_ALL = (1 << 3) - 1,
};

/* A time that is shown, and how exactly. */
struct text_time {
	bool shown;
	unsigned int digits;	/* behind the point */
};

struct text_options {
	bool full;		/* -v: members that are zero, too */
	bool records;		/* --records */
	uint32_t words;		/* bits of the types of records to show, in words; 0: in full */
	size_t max_string;	/* -s */
	bool labels;		/* -y */
	enum clock_style clock;	/* -t */
	unsigned int clock_digits;
	struct text_time relative; /* -r */
	struct text_time duration; /* -T */
	bool nr;		/* -n */
	bool ip;		/* -i */
	enum text_hex hex;	/* -x */
	unsigned int column;	/* of results */
	unsigned int width;	/* of lines, in columns; 0: as the terminal has, or any */
	bool any_width;
	bool color;
	bool pid_always;	/* a pid before each line from the first on */
	bool comms;		/* with the task's name: "perf[12] " */
	bool pid_never;		/* -ff: each task has its own file */
	unsigned int quiet;	/* enum text_quiet */
	unsigned int status;	/* enum call_status to show */
	/* for the reasons of refusals, on lines that are shortened; NULL: there are none */
	const struct model *model;
	struct host *host;	/* this machine; NULL: another one was traced */
	uint32_t release;	/* of the kernel of that machine, KVER(); 0: not known */
};

/*
 * A view of lines; o, names and out must outlive it.  real_offset:
 * CLOCK_REALTIME minus CLOCK_MONOTONIC, in ns, when the trace began.
 */
struct view *text_view_new(const struct text_options *o,
			   const struct names *names, struct output *out,
			   int64_t real_offset);

/* Store in words how a task ended; see view_ops.gone. */
void text_task_end(enum view_end how, int status, char *text, size_t size);

