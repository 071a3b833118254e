/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A C program that makes the perf calls of one process: what it is made of,
 * and its text.
 *
 * Steps are kept in the order of the calls.  Their text has marks where an
 * event, a ring, a child or a number stands, so that events can be left out
 * and numbered anew, and steps that repeat can become a loop.
 */
#ifndef PEVTRACE_CODEGEN_C_PROGRAM_H
#define PEVTRACE_CODEGEN_C_PROGRAM_H

#include "codegen/c_attr.h"
#include "codegen/c_parts.h"

/* What a mark in a step's text stands for. */
enum c_mark {
	MARK_EVENT = 'e',	/* index of c_program.events */
	MARK_RING = 'r',	/* index of c_program.rings */
	MARK_CHILD = 'c',	/* its pid */
	MARK_ATTR = 'a',	/* the variable's name */
	MARK_MEMBERS = 'm',	/* the same, for a member to follow */
	MARK_NUMBER = 'n',
};

void c_mark(struct buf *out, enum c_mark what, long number);

/* A descriptor of an event that the process got by an open or a dup. */
struct c_event {
	unsigned int number;	/* the model's; 0: the open failed */
	char *name;		/* "cpu-clock cpu0" */
	int attr;		/* index; -1: it could not be read */
	int leader;		/* index; -1: leads itself */
	int output;		/* index of the event whose ring takes its records, -1 */
	uint64_t read_format, sample_type, sample_period;
	bool backward;		/* fills its ring from the end */
	bool sigtrap;
	bool failed, used, closed;
	bool chosen;		/* is in the program */
	int place;		/* its number there */
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
	STEP_CLOSE,	/* of a descriptor, or of a mapping */
	STEP_READ,	/* of a count */
	STEP_POLL,	/* a wait for rings; where the program waits is decided later */
	STEP_EXEC,	/* the child runs its program */
	STEP_GONE,	/* the child has ended */
	STEP_NOTE,	/* a comment: what is left out here, and why */
};

struct c_step {
	enum c_step_kind kind;
	char *text;		/* statements, without indentation; may be NULL */
	const char *meaning;	/* a comment before it; NULL: none */
	uint64_t ns;		/* when the call began; 0: no call */
	int events[2];		/* those that it is about, or -1 */
	int child;		/* EXEC, GONE */
	int ring;		/* that it unmaps, or -1 */
	bool maps;		/* maps one */
};

/* A child that the process made. */
struct c_child {
	pid_t pid;
	bool target;		/* some event measures it */
	bool execed;
};

struct c_program {
	/* what the comment on top tells; strings are not owned */
	const char *release, *machine;
	char *const *command;
	bool injected;		/* calls were, which are left out */
	size_t nprobes, nfailed;	/* left out; filled in by c_program_choose() */

	struct c_needs needs;
	struct c_program_attr {
		struct c_attr source;
		uint8_t *bytes;		/* to tell whether another is the same */
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
	pid_t *others;		/* measured, but not made by the process */
	size_t nothers;
	bool self;		/* measures itself */
	bool epoll;
	bool signals;		/* asks for signals on wakeups */
	bool io_signal;
	size_t inexact;		/* calls that are not quite the same */
	size_t missing;		/* calls that are left out: filled in like nprobes */
	size_t threads;		/* that made calls */
	size_t opens;		/* that succeeded */
};

/* Which events are to be in it. */
struct c_choice {
	bool all;		/* probes and failed opens as well */
	unsigned int event;	/* with its group and its ring; 0: all */
};

/* False when there is no such event, or none at all is left. */
bool c_program_choose(struct c_program *p, const struct c_choice *choice);

/* The text, once c_program_choose() was there. */
void c_program_write(struct c_program *p, struct buf *out);

void c_program_free(struct c_program *p);

#endif
