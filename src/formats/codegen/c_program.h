/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A C program that makes the perf calls of one process: its contents and its text.
 *
 * Steps are in the order of the calls.  Their text has marks in place of events, rings,
 * children and numbers, so that events can be left out and renumbered, and steps that
 * repeat can become a loop.
 */
#pragma once

#include "formats/codegen/c_attr.h"
#include "xlat/constants.h"

/* The bytes that a mark in a text begins and ends with. */
#define MARK_START '\001'
#define MARK_STOP '\002'

/* What a mark in the text of a step refers to. */
enum c_mark {
	MARK_EVENT = 'e',	/* index of c_program.events */
	MARK_RING = 'r',	/* index of c_program.rings */
	MARK_CHILD = 'c',	/* its pid */
	MARK_ATTR = 'a',	/* the variable's name */
	MARK_MEMBERS = 'm',	/* the same, before a member */
	MARK_NUMBER = 'n',
};

/* Append a mark between two texts. */
static inline void c_mark(struct buf *out, const char *before, enum c_mark what, long number,
			  const char *after)
{
	buf_addf(out, "%s%c%c%ld%c%s", before, MARK_START, (char)what, number, MARK_STOP, after);
}

/* A descriptor of an event, from an open or a dup. */
struct c_event {
	unsigned int number;	/* the model's; 0: the open failed */
	char *name;		/* "cpu-clock cpu0" */
	int attr;		/* index; -1: it could not be read */
	int leader;		/* index; -1: leads itself */
	int output;		/* index of the event whose ring takes its records, -1 */
	uint64_t read_format, sample_type, sample_period;
	bool backward;		/* write_backward */
	bool sigtrap;
	bool watches;		/* a dummy that gets FORK, COMM and EXIT records */
	bool failed, used, closed;
	bool chosen;		/* the program contains it */
	int place;		/* its number in the program */
};

/* How a ring is read, each by a function of its own (c_drain_name). */
enum c_drain {
	DRAIN_RING,		/* advances data_tail */
	DRAIN_OVERWRITTEN,	/* mapped read-only: the kernel overwrites */
	DRAIN_BACKWARD,		/* the same with write_backward */
	DRAIN_AUX,
	DRAIN_KINDS,
};

struct c_ring {
	int event;
	bool overwrite;		/* mapped read-only */
	bool data;		/* more than the first page */
	bool aux;
	bool chosen, unmapped;
	int place;
	enum c_drain drain;
};

enum c_step_kind {
	STEP_CALL,
	STEP_START,	/* enables */
	STEP_STOP,	/* disables */
	STEP_OPEN,
	STEP_CLOSE,	/* closes a descriptor or unmaps a ring */
	STEP_READ,	/* reads a count */
	STEP_POLL,	/* waits for rings; c_steps.c decides where the program waits */
	STEP_EXEC,	/* the child executes its program */
	STEP_GONE,	/* the child has exited */
	STEP_NOTE,	/* a comment: what is left out, and why */
};

struct c_step {
	enum c_step_kind kind;
	char *text;		/* statements, without indentation; may be NULL */
	const char *meaning;	/* a comment before it; NULL: none */
	uint64_t ns;		/* time of the call; 0: no call */
	int events[2];		/* indexes of its events, or -1 */
	int child;		/* EXEC, GONE */
	int ring;		/* the ring that it unmaps, or -1 */
	bool maps;		/* maps a ring */
	bool must, fails;	/* text has a call in MUST() or FAILS() */
	bool pauses;		/* PERF_EVENT_IOC_PAUSE_OUTPUT with 1 */
};

/* A child of the process. */
struct c_child {
	pid_t pid;
	bool target;		/* an event measures it */
	bool execed;
};

struct c_program {
	/* for the comment at the top; strings are not owned */
	const char *release, *machine;
	char *const *command;
	bool injected;		/* some calls were; they are left out */
	size_t nprobes, nfailed;	/* left out by c_program_choose() */

	struct c_needs needs;
	struct c_program_attr {
		struct c_attr source;
		uint8_t *bytes;		/* to find equal attrs */
		size_t len;
		char *name, *about;
		bool used;
	} *attrs;
	size_t nattrs;
	struct c_event *events;
	size_t nevents;
	struct c_ring *rings;
	size_t nrings;
	struct c_step *steps;
	size_t nsteps;
	struct c_child *children;
	size_t nchildren;
	pid_t *others;		/* measured, but no children of the process */
	size_t nothers;
	bool self;		/* the process measures itself */
	bool epoll;
	bool signals;		/* F_SETSIG: wakeups send signals */
	bool io_signal;
	size_t inexact;		/* calls that differ from those of the process */
	size_t missing;		/* calls left out by c_program_choose() */
	size_t threads;		/* that made calls */
	size_t opens;		/* that succeeded */
};

/* Which events the program contains. */
struct c_choice {
	bool all;		/* probes and failed opens as well */
	unsigned int event;	/* one event with its group and ring; 0: all */
};

/* Choose and number what the program contains; return false if no event is left. */
bool c_program_choose(struct c_program *p, const struct c_choice *choice);

/* Write the text, after c_program_choose(). */
void c_program_write(struct c_program *p, struct buf *out);

void c_program_free(struct c_program *p);

/* Return whether the program contains all events of the step. */
static inline bool c_step_kept(const struct c_program *p, const struct c_step *s)
{
	return (s->events[0] < 0 || p->events[s->events[0]].chosen) &&
	       (s->events[1] < 0 || p->events[s->events[1]].chosen);
}

/* Return whether the attr is larger than the struct of C_HEADERS. */
static inline bool c_attr_larger(const struct c_program_attr *a)
{
	return a->len > PERF_ATTR_SIZE_VER7;
}
