/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What happens, told to the model and to every view in the one right order:
 * the same for a program that is traced and for a dump that is read.
 */
#ifndef PEVTRACE_SESSION_SESSION_H
#define PEVTRACE_SESSION_SESSION_H

#include "cli/options.h"
#include "lib/map.h"
#include "model/model.h"
#include "session/view.h"
#include "text/counts.h"
#include "text/output.h"

enum { SESSION_VIEWS = 3 };

/* What is traced, and where. */
struct session_facts {
	const struct arch *arch;	/* of the machine */
	const char *sysname, *release, *version, *machine; /* uname(2); may be NULL */
	char *const *command;		/* NULL-terminated, or NULL */
	const pid_t *pids;		/* attached */
	size_t npids;
	int64_t real_offset;		/* CLOCK_REALTIME minus CLOCK_MONOTONIC, ns */
	uint64_t start_ns;		/* CLOCK_MONOTONIC */
};

struct session {
	struct options *options;
	const struct names *source;	/* knows names of the traced machine */
	struct names names;		/* what decoders ask: adds what the model knows */
	struct record_hooks hooks;	/* the same for records */
	struct rawdata *rawdata;
	const struct event *recording;	/* whose record the views are told of */
	struct model *model;
	const struct arch *arch;
	const char *program;		/* that was started; NULL: none */
	struct output *text;		/* lines and tables; NULL: none */
	struct output *json;		/* the dump; NULL: none */
	struct view *views[SESSION_VIEWS];
	size_t nviews;
	struct view *story;	/* one of them, or NULL */
	struct counts counts;
	struct map shown;		/* tids that something was shown of */
	struct map named;		/* keys of names that the views know */
	struct map fd_names;		/* tid and fd to a hash of the last name */
};

/*
 * options, source and the command's words must outlive the session.  source may have the hooks pmu,
 * tracepoint, terms and fd, and page_size.  facts are used here only.  False
 * after a warn().
 */
bool session_start(struct session *s, struct options *options,
		   const struct names *source, const struct session_facts *facts);

/*
 * The same on this machine, from now on; the command and pids are those in
 * options.
 */
bool session_start_here(struct session *s, struct options *options,
			const struct names *source);

/*
 * One more view, after the start and before anything happens.  session_end()
 * frees it, while the model is still there.
 */
void session_add_view(struct session *s, struct view *v);

/* CLOCK_MONOTONIC in ns. */
uint64_t session_now(void);

/* Time passes, and it is ns now: what was written so far becomes visible. */
void session_tick(struct session *s, uint64_t ns);

/* Writes what comes last; true when everything could be written. */
bool session_end(struct session *s);

/* A decision of the options: is that call to be shown? */
bool session_shows(const struct session *s, const struct call *c, bool concerns);

void session_born(struct session *s, const struct birth *b, uint64_t ns);
void session_comm(struct session *s, pid_t tid, const char *comm);

/* The event was there at fd before us: model_found() has been called. */
void session_found(struct session *s, pid_t tid, int fd, bool cloexec,
		   const struct event *e);

/* The same for a ring: model_found_ring() has been called. */
void session_found_ring(struct session *s, pid_t tid, const struct ring *r);

/*
 * A call that is shown, or that the model must know of (c->shown tells).  Its
 * memory has been captured: AT_SYSCALL_ENTER before session_enter(), AT_SYSCALL_EXIT before
 * session_exit().
 */
void session_enter(struct session *s, const struct call *c);
void session_exit(struct session *s, const struct call *c);

/* The stack of the call that the task has just begun. */
void session_stack(struct session *s, pid_t tid, const struct view_frame *frames,
		   size_t n, const char *why);

/* model_recorded() has been called.  r->hooks is filled in here. */
void session_record(struct session *s, pid_t tid, uint64_t ns, struct view_record *r);
void session_looked(struct session *s, pid_t tid, uint64_t ns, const struct view_look *l);
void session_learnt_id(struct session *s, const struct event *e);
void session_count(struct session *s, const struct event *e);

void session_signal(struct session *s, pid_t tid, uint64_t ns, const siginfo_t *info);
void session_execed(struct session *s, pid_t tid, pid_t former, uint64_t ns,
		    const char *exe);

/* c: the call that the task was in, if session_enter() was told; or NULL. */
void session_gone(struct session *s, pid_t tid, uint64_t ns, enum view_end how,
		  int status, const struct call *c);

#endif
