/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What shows a trace as it happens: text lines, a dump.  Things come in the
 * order in which they happened; times are CLOCK_MONOTONIC in ns.
 */
#ifndef PEVTRACE_SESSION_VIEW_H
#define PEVTRACE_SESSION_VIEW_H

#include <signal.h>

#include "abi/call.h"
#include "abi/record.h"
#include "model/model.h"

struct view;

/* A frame of a user stack; module and symbol may be NULL. */
struct view_frame {
	const char *module, *symbol;
	uint64_t offset, ip;	/* offset: into the symbol, or else the module */
};

/* A record, whence and whose. */
struct view_record {
	const struct ring *ring;
	const struct event *event;
	bool sure;		/* no other event could have written it */
	const struct record_format *format;
	const struct record_hooks *hooks;
	const uint8_t *bytes;
	size_t len;
};

/* One look into a ring, after its records. */
struct view_look {
	const struct ring *ring;
	const uint8_t *page;	/* struct perf_event_mmap_page */
	size_t page_len;
	uint64_t missed;	/* bytes overwritten before they could be seen */
	bool torn;		/* there were bytes that are no records */
	int error;		/* not 0: the errno that it failed with, and no more is known */
};

/* The end of a task for us. */
enum view_end { END_EXIT, END_DETACHED, END_SUPERSEDED };

/* Every hook may be NULL. */
struct view_ops {
	/* A task is followed from now on; shown is for those who print. */
	void (*born)(struct view *v, const struct birth *b, uint64_t ns);
	/* It held the event when we came. */
	void (*found)(struct view *v, pid_t tid, int fd, bool cloexec,
		      const struct event *e);
	/* It had a ring mapped there when we came. */
	void (*found_ring)(struct view *v, pid_t tid, const struct ring *r);
	void (*comm)(struct view *v, pid_t tid, const char *comm);
	/* Something was named: see struct names.  name may be NULL. */
	void (*name_pmu)(struct view *v, uint32_t type, const char *name);
	void (*name_tracepoint)(struct view *v, uint64_t id, const char *name);
	void (*name_terms)(struct view *v, uint32_t type, const uint64_t *config,
			   size_t nconfigs, const char *name);
	void (*name_format)(struct view *v, uint64_t id, const char *text);
	void (*name_symbol)(struct view *v, int32_t pid, uint64_t ip,
			    unsigned int cpumode, const char *name);
	void (*name_fd)(struct view *v, pid_t tid, int64_t fd, const char *name);
	/* A call begins, returns, or is abandoned: died in it, or was let go. */
	void (*enter)(struct view *v, const struct call *c);
	void (*exit)(struct view *v, const struct call *c);
	void (*abandon)(struct view *v, const struct call *c, bool let_go, uint64_t ns);
	/* The stack of the call that began last; why: NULL, or why it ends. */
	void (*stack)(struct view *v, pid_t tid, const struct view_frame *frames,
		      size_t n, const char *why);
	void (*record)(struct view *v, pid_t tid, uint64_t ns, const struct view_record *r);
	void (*looked)(struct view *v, pid_t tid, uint64_t ns, const struct view_look *l);
	/* An event's kernel id was asked for through a borrowed descriptor. */
	void (*learnt_id)(struct view *v, const struct event *e);
	/* An event's count was read through a borrowed descriptor. */
	void (*count)(struct view *v, const struct event *e);
	void (*signalled)(struct view *v, pid_t tid, uint64_t ns,
			  const siginfo_t *info, bool shown);
	/* The calling thread's tid was former; exe may be NULL. */
	void (*execed)(struct view *v, pid_t tid, pid_t former, uint64_t ns,
		       const char *exe, bool shown);
	void (*gone)(struct view *v, pid_t tid, uint64_t ns, enum view_end how,
		     int status, bool shown);
	/* Time passes; it is ns now. */
	void (*idle)(struct view *v, uint64_t ns);
	void (*free)(struct view *v);
};

struct view {
	const struct view_ops *ops;
};

#endif
