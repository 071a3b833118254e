/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace as lines of text, in strace's manner. */
#ifndef PEVTRACE_RENDER_TEXT_VIEW_H
#define PEVTRACE_RENDER_TEXT_VIEW_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/call.h"
#include "abi/record.h"
#include "render/output.h"

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
	size_t max_string;	/* -s */
	bool labels;		/* -y */
	enum clock_style clock;	/* -t */
	bool relative;		/* -r */
	bool duration;		/* -T */
	bool color;
	bool pid_always;	/* a pid before each line from the first on */
	bool pid_never;		/* -ff: each task has its own file */
	int quiet;		/* 1: no attach and detach, 2: no exits either */
	unsigned int status;	/* enum call_status to show */
};

struct text_view;

/*
 * o, names and out must outlive the view.  real_offset: CLOCK_REALTIME minus
 * CLOCK_MONOTONIC, in ns, when the trace began.
 */
struct text_view *text_view_new(const struct text_options *o,
				const struct names *names, struct output *out,
				int64_t real_offset);
void text_view_free(struct text_view *v);

/* From now on lines carry a pid: there is more than one task. */
void text_view_many(struct text_view *v);

/*
 * A call that is to be shown begins, returns, or is abandoned: the task died
 * inside it, or we let it go.
 */
void text_view_enter(struct text_view *v, const struct call *c);
void text_view_exit(struct text_view *v, const struct call *c);
void text_view_abandon(struct text_view *v, pid_t tid, bool let_go);

/* The task is in a call that text_view_enter() was told of. */
bool text_view_in_call(const struct text_view *v, pid_t tid);

/* A frame of the stack of the call that the task entered last. */
void text_view_frame(struct text_view *v, pid_t tid, const char *module,
		     const char *symbol, uint64_t offset, uint64_t ip);
void text_view_no_stack(struct text_view *v, pid_t tid, const char *why);

/*
 * A record out of the ring with that number; e is the name of the event that
 * wrote it.
 */
void text_view_record(struct text_view *v, pid_t tid, unsigned int ring,
		      const char *e, const struct record_format *format,
		      const struct record_hooks *hooks, const uint8_t *bytes,
		      size_t len);

/* What else is to be said of a ring: one line. */
void text_view_ring(struct text_view *v, pid_t tid, unsigned int ring,
		    const char *text);

/* The first page of a ring, as the kernel keeps it for its readers. */
void text_view_ring_page(struct text_view *v, pid_t tid, unsigned int ring,
			 const uint8_t *bytes, size_t len);

void text_view_signal(struct text_view *v, pid_t tid, const siginfo_t *info);

/* "+++ text +++": something that happened to the task. */
void text_view_event(struct text_view *v, pid_t tid, const char *text);

/* The task's end, as from wait. */
void text_view_gone(struct text_view *v, pid_t tid, int status);

/* The calling thread has a new tid (exec from a thread). */
void text_view_renamed(struct text_view *v, pid_t former, pid_t tid);

#endif
