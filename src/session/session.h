/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one stream of what happens: it feeds the model and every view, in that order
 * or the other as the kind requires, whether a tracer, the reader of a dump or our
 * own calls feed it.
 */
#ifndef PEVTRACE_SESSION_SESSION_H
#define PEVTRACE_SESSION_SESSION_H

#include "lib/map.h"
#include "model/model.h"
#include "session/selection.h"
#include "session/view.h"

/* What was traced, and where; strings and arrays belong to whoever fills it in. */
struct session_facts {
	const char *pevtrace;		/* version that wrote the dump, or NULL */
	const struct arch *arch;	/* of the machine */
	const char *sysname, *release, *version, *machine; /* uname(2); may be NULL */
	uint32_t page_size;		/* bytes */
	char *const *command;		/* NULL-terminated, or NULL */
	const pid_t *pids;		/* attached */
	size_t npids;
	int64_t real_offset;		/* CLOCK_REALTIME minus CLOCK_MONOTONIC, ns */
	uint64_t start_ns;		/* CLOCK_MONOTONIC */
};

/* How a session is kept.  What this points to must outlive the session. */
struct session_setup {
	/* Names of the traced machine: may have the hooks pmu, tracepoint, terms, fd,
	   format and symbol, and page_size. */
	const struct names *source;
	const struct selection *selection; /* what is shown; NULL: everything */
	bool keep;	/* the model keeps what has ended */
	bool fd_names;	/* views may ask for the names of descriptors that are no events */
	bool symbols;	/* views may ask for the names of functions */
	bool stacks;	/* views get stacks */
};

struct session {
	const struct names *source;
	const struct selection *selection;
	bool fd_names, symbols, stacks;
	struct names names;		/* what decoders ask: adds what the model knows */
	struct record_hooks hooks;	/* the same for records */
	struct rawdata *rawdata;
	const struct event *recording;	/* that wrote the record at hand */
	struct model *model;
	const struct arch *arch;
	const char *program;		/* that was launched, or NULL */
	struct view *views;
	struct map shown;		/* tids that something was shown of */
	struct map named;		/* keys of names that the views know */
	struct map symbols_named;	/* an address to a hash of the last name */
	struct map fd_named;		/* tid and fd to a hash of the last name */
};

/* facts->arch and facts->command must outlive the session, too. */
void session_start(struct session *s, const struct session_setup *setup,
		   const struct session_facts *facts);

/* Add a view, before anything happens.  session_end() calls its free hook. */
void session_add_view(struct session *s, struct view *v);

void session_end(struct session *s);

/* Return whether the selection has that call, as things are before the model learns of it. */
bool session_shows(const struct session *s, const struct call *c);

/* What feeds a session ------------------------------------------------------- */

void session_born(struct session *s, const struct birth *b, uint64_t ns);
void session_comm(struct session *s, pid_t tid, const char *comm);

/* Read from /proc which events and rings the running task holds (model_adopt()). */
void session_adopt(struct session *s, pid_t tid);

/* The task held an event at fd, or a ring in that range, before it was followed. */
void session_found(struct session *s, pid_t tid, int fd, bool cloexec);
void session_found_ring(struct session *s, pid_t tid, uint64_t start, uint64_t end);

/*
 * A call that is shown (c->shown), or that the model must know of.  Its memory has
 * been captured: AT_SYSCALL_ENTER before session_enter(), AT_SYSCALL_EXIT before
 * session_exit().  c stays where it is until session_exit() or session_gone().
 */
void session_enter(struct session *s, const struct call *c);
void session_exit(struct session *s, const struct call *c);

/* The stack of the call that the task has just begun; why: why it is incomplete, or NULL. */
void session_stack(struct session *s, pid_t tid, const struct view_frame *frames,
		   size_t n, const char *why);

/* A record was read from its ring.  r->hooks is filled in here. */
void session_record(struct session *s, pid_t tid, uint64_t ns, struct view_record *r);

/* A look into a ring is over, or failed. */
void session_looked(struct session *s, pid_t tid, uint64_t ns, const struct view_look *l);

/* The kernel's id of an event was asked for. */
void session_learnt_id(struct session *s, struct event *e, uint64_t id);

/* e->count was read. */
void session_count(struct session *s, const struct event *e);

void session_signal(struct session *s, pid_t tid, uint64_t ns, const siginfo_t *info);
void session_execed(struct session *s, pid_t tid, pid_t former, uint64_t ns,
		    const char *exe);

/* c: the call that the task was in, if session_enter() was called for it; or NULL. */
void session_gone(struct session *s, pid_t tid, uint64_t ns, enum view_end how,
		  int status, const struct call *c);

/* It is ns now: what was written so far becomes visible. */
void session_tick(struct session *s, uint64_t ns);

#endif
