/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files that gather a program share. */
#pragma once

#include "core/abi/call.h"
#include "core/abi/sink.h"
#include "core/lib/map.h"
#include "core/session/session.h"
#include "formats/codegen/c_source.h"
#include "formats/codegen/gather.h"

/* A mapping of a ring. */
struct mapped {
	uint64_t start, length;
	int ring;
};

/* A process of the dump. */
struct process {
	pid_t pid;
	struct c_program program;
	struct map fds;			/* descriptor to index of its event, + 1 */
	struct map tids;		/* threads that made calls */
	struct mapped *mapped;
	size_t nmapped;
};

struct gather {
	struct view view;
	struct session session;
	const struct names *names;	/* the dump's */
	struct process **processes;
	size_t nprocesses;
	struct map by_pid;
	uint32_t page_size;
	/* of the current call */
	struct process *p;
	const struct call *call;
	bool concerns;			/* it concerns perf */
	int event, other;		/* its events; -1: none */
	bool strange;			/* a descriptor that the process did not open */
};

/* A sink that writes the arguments of a call as C expressions. */
struct c_args {
	struct sink sink;		/* first member */
	struct gather *g;
	struct buf text[CALL_MAX_ARGS];
	size_t n;
	unsigned int depth;
	bool any;
};

/* gather_steps.c ------------------------------------------------------------------------ */

/* Fill in the text of the current call, which has returned, and note its descriptors as used. */
void gather_args(struct gather *g, struct c_args *a);
void c_args_free(struct c_args *a);

/* Add a step about the events of the current call; valid until the next one. */
struct c_step *gather_step(struct gather *g, enum c_step_kind kind, const char *text,
			   const char *meaning);

/* Add a comment in place of a call that the program cannot make. */
void gather_note(struct gather *g, const char *why);

/* Return the index of a descriptor's event, or -1. */
int gather_event_at(const struct process *p, int64_t fd);

/* Add an event to those of the current call; -1: none. */
void gather_use(struct gather *g, int event);

/* Add an event; return its index. */
int gather_add_event(struct process *p, const struct c_event *e);

/* Return a child of the process, or NULL. */
struct c_child *gather_child(const struct process *p, pid_t pid);

/* gather_open.c ------------------------------------------------------------------------- */

/* Add the attr that the call passed; return its index, -1 if it was unreadable. */
int gather_attr(struct gather *g, uint64_t addr);

/* Append a call that checks that it succeeds or fails as in the trace. */
void gather_checked(struct buf *out, const char *text, const struct call *c);

/* Add a step whose text gather_checked() has made. */
struct c_step *gather_checked_step(struct gather *g, enum c_step_kind kind, const char *text,
				   const char *meaning);

/* Append the address of an attr by its index, or the original one if it was unreadable. */
void gather_attr_ref(struct buf *out, int attr, uint64_t addr);

/* Gather a perf_event_open that has returned. */
void gather_open(struct gather *g);

/* gather_calls.c: other calls, returned; a close, as it begins -------------------------- */

void gather_mmap(struct gather *g);
void gather_munmap(struct gather *g);
void gather_plain(struct gather *g);
void gather_read_count(struct gather *g);
void gather_close(struct gather *g);
