/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stream of perf activity.  A tracer, the reader of a dump or pevtrace's own calls
 * feed it; each function updates the model and calls the hook of every view.
 */
#pragma once

#include "core/host/perf_features.h"
#include "core/judge/flaws_seen.h"
#include "core/lib/map.h"
#include "core/model/model.h"
#include "core/session/view.h"

/* Which calls, outcomes and signals the user wants to see (-e). */
enum selected {
	SELECT_NONE,	/* never shown */
	SELECT_PERF,	/* shown where it concerns perf */
	SELECT_ALL,	/* always shown */
};

struct selection {
	enum selected calls[CALL_COUNT];
	bool chosen;		/* -e trace= was given */
	unsigned int status;	/* enum call_status */
	char outcome;		/* z or Z, the last of these options; 0: neither */
	uint64_t signals;	/* bit n-1 for signal n */
};

static inline bool selection_has_signal(const struct selection *s, int sig)
{
	return sig < 1 || sig > 64 || s->signals >> (sig - 1) & 1;
}

/* What was traced, and where.  Strings and arrays are owned by the caller. */
struct session_facts {
	const char *pevtrace;		/* version that wrote the dump, or NULL */
	const struct arch *arch;	/* of the machine */
	const char *sysname, *release, *version, *machine; /* uname(2); may be NULL */
	const char *nodename;		/* the machine's name, or NULL: not known */
	uint32_t cpus, cpus_online;	/* numbers, or 0: not known */
	const struct perf_features *features; /* of the machine, or NULL: not known */
	uint32_t page_size;		/* bytes */
	char *const *command;		/* NULL-terminated, or NULL */
	const pid_t *pids;		/* attached */
	size_t npids;
	int64_t real_offset;		/* ns: CLOCK_REALTIME minus CLOCK_MONOTONIC */
	uint64_t start_ns;		/* CLOCK_MONOTONIC */
};

/* Options of a session.  What they point to must outlive the session. */
struct session_setup {
	/* Names of the traced machine: may have the hooks pmu, tracepoint, terms, fd,
	   format, symbol and program, and page_size. */
	const struct names *source;
	const struct selection *selection; /* what is shown; NULL: everything */
	bool keep;	/* keep closed events and exited tasks in the model */
	bool fd_names;	/* look up the names of descriptors that are no events */
	bool symbols;	/* look up the names of functions */
	bool stacks;	/* report stacks to views */
};

struct session {
	const struct names *source;
	const struct selection *selection;
	bool fd_names, stacks;
	struct names names;		/* for decoders: the source's and the model's */
	struct record_hooks hooks;	/* the same for records */
	struct rawdata *rawdata;
	const struct event *recording;	/* wrote the current record */
	struct model *model;
	const struct arch *arch;
	const char *program;		/* the launched one, or NULL */
	uint64_t lost;			/* messages of the engine */
	struct flaws past;		/* of events that the model has no more */
	struct view *views;
	struct map shown;		/* tids of which a call or an exec was shown */
	struct map named;		/* keys of the names that were reported to the views */
	struct map symbols_named;	/* address -> hash of the last name reported */
	struct map fd_named;		/* tid and fd -> hash of the last name reported */
	struct map programs_named;	/* tid and fd -> hash of the last program reported */
};

/* facts->arch and facts->command must outlive the session, too. */
void session_start(struct session *s, const struct session_setup *setup,
		   const struct session_facts *facts);

/* Add a view, before the first event is fed.  session_end() calls its free hook. */
void session_add_view(struct session *s, struct view *v);

void session_end(struct session *s);

/* Return whether the selection includes that call.  The model must not have learnt of it yet. */
bool session_shows(const struct session *s, const struct call *c);

/* Feeding a session ---------------------------------------------------------- */

/*
 * Report an activity of any kind in xlat/activities.in but an abandoned call, which its task's end
 * reports: update the model, fill in what the session derives, and tell the views.  A found event
 * is NULL afterwards if its task is not known.
 */
void session_feed(struct session *s, struct activity *a);

/*
 * Read from /proc which events the running task holds (model_adopt()), and then, once they are
 * described if possible, which rings (model_adopt_rings()).
 */
void session_adopt(struct session *s, pid_t tid, bool all, model_id_of *id_of);
void session_adopt_rings(struct session *s, pid_t tid, model_ring_event *of, void *ctx);

/*
 * Report a call that is shown (c->shown), or that the model must know of.  Capture its
 * memory first: AT_SYSCALL_ENTER before session_enter(), AT_SYSCALL_EXIT before
 * session_exit().  c must remain valid until session_exit() or its task's ACTIVITY_GONE.
 */
void session_enter(struct session *s, const struct call *c);
void session_exit(struct session *s, const struct call *c);

/*
 * Report the stack of the call that the task has just begun.  why: a text that says why
 * it is incomplete, or NULL.
 */
void session_stack(struct session *s, pid_t tid, const struct view_frame *frames,
		   size_t n, const char *why);

/* Convert a record of e from a machine of the other byte order, before it is reported. */
void session_swap_record(struct session *s, const struct event *e,
			 const struct record_format *f, uint8_t *bytes, size_t len);

/* Report that pevtrace read e->count. */
void session_count(struct session *s, struct event *e);

/* Judge all events of the session so far: what was seen to be wrong with them. */
void session_flaws(const struct session *s, struct flaws *f);

/*
 * Let a view that has a cut hook go on in another file: describe to it the tasks, open events and
 * rings, as if they had been found by attaching.
 */
void session_cut(struct session *s, struct view *v);

/* Let views flush their output; ns: the current time, or 0 if it is not known. */
void session_tick(struct session *s, uint64_t ns);
