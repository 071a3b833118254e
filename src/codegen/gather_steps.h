/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of gathering a program, shared by its own files only. */
#ifndef PEVTRACE_CODEGEN_GATHER_STEPS_H
#define PEVTRACE_CODEGEN_GATHER_STEPS_H

#include "codegen/gather.h"
#include "lib/map.h"
#include "session/session.h"

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
	/* of the call at hand */
	struct process *p;
	const struct call *call;
	bool concerns;			/* it has to do with perf */
	int event, other;		/* that it is about; -1: none */
	bool strange;			/* a descriptor that the process did not open */
};

/* gather_steps.c ------------------------------------------------------------------------ */

/* A step about the events of the call at hand; valid until the next. */
struct c_step *gather_step(struct gather *g, enum c_step_kind kind, const char *text,
			   const char *meaning);

/* A call that cannot be put into C, or not quite as it was. */
void gather_note(struct gather *g, const char *why);

/* The index of the event behind a descriptor, or -1. */
int gather_event_at(const struct process *p, int64_t fd);

/* The call at hand is about that event; -1: about none. */
void gather_use(struct gather *g, int event);

/* A new event, by its index. */
int gather_add_event(struct process *p, const struct c_event *e);

/* For c_args.fd: what stands in the program for a descriptor.  ctx: the gather. */
void gather_name_fd(void *ctx, const char *key, int64_t fd, struct buf *out);

/* A child that the process made, or NULL. */
struct c_child *gather_child(const struct process *p, pid_t pid);

/* gather_open.c ------------------------------------------------------------------------- */

/* The attr that the call passed, by its index; -1 where it could not be read. */
int gather_attr(struct gather *g, uint64_t addr);

/* Whether the call did now what it did then is asked of those that succeeded. */
void gather_checked(struct buf *out, const char *text, const struct call *c);

/* Add a step whose text gather_checked() has made. */
struct c_step *gather_checked_step(struct gather *g, enum c_step_kind kind, const char *text,
				   const char *meaning);

/* The address of an attr, by its index; of what could not be read, as it was. */
void gather_attr_ref(struct buf *out, int attr, uint64_t addr);

/* perf_event_open, returned. */
void gather_open(struct gather *g);

/* gather_calls.c: other calls, returned; a close, as it begins -------------------------- */

void gather_mmap(struct gather *g);
void gather_munmap(struct gather *g);
void gather_plain(struct gather *g);
void gather_read_count(struct gather *g);
void gather_close(struct gather *g);

#endif
