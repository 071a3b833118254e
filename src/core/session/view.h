/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A view: what shows a session or learns from it, such as text lines or a dump.
 * Its hooks are called in the order in which things happened.  Times (ns) are of
 * CLOCK_MONOTONIC.
 */
#pragma once

#include <signal.h>

#include "core/abi/call.h"
#include "core/abi/record.h"
#include "core/host/proc_image.h"
#include "core/model/model.h"

struct view;

/* A frame of a user stack; module, symbol and file may be NULL. */
struct view_frame {
	const char *module, *symbol;
	uint64_t offset, ip;	/* offset: into the symbol, or else the module */
	const char *file;	/* the source line, if it is known */
	uint32_t line;
	bool inlined;		/* into the function of the next frame; offset is 0 */
};

enum { VIEW_FRAMES = 256 };	/* limit of a stack */

/* A record, its ring, and the event that wrote it. */
struct view_record {
	struct ring *ring;
	struct event *event;
	bool sure;		/* no other event can have written it */
	const struct record_format *format;
	const struct record_hooks *hooks; /* set by the session */
	const uint8_t *bytes;
	size_t len;
};

/* The end of one read of a ring, reported after its records. */
struct view_look {
	struct ring *ring;
	const uint8_t *page;	/* struct perf_event_mmap_page */
	size_t page_len;
	uint64_t missed;	/* bytes overwritten before they could be read */
	bool torn;		/* some bytes were not valid records */
	int error;		/* errno if the read failed, and no other member is valid; else 0 */
};

/* Bytes of the AUX area of a ring's event, as the PMU wrote them. */
struct view_aux {
	struct ring *ring;	/* not the area: the ring buffer that tells of it */
	uint64_t position;	/* number of bytes written before these */
	uint64_t missed;	/* bytes before these that could not be read */
	const uint8_t *bytes;
	size_t len;		/* may be 0 */
};

/* Why a task is no longer followed. */
enum view_end { END_EXIT, END_DETACHED, END_SUPERSEDED };

/*
 * Any hook may be NULL.  shown: whether the selection includes it, for views that print.
 */
struct view_ops {
	/* A task is followed from now on. */
	void (*born)(struct view *v, const struct birth *b, uint64_t ns);
	/* The task held the event before it was followed. */
	void (*found)(struct view *v, pid_t tid, int fd, bool cloexec,
		      const struct event *e);
	/* The kernel told what an event is that was opened before it was followed. */
	void (*described)(struct view *v, pid_t tid, uint64_t ns, const struct event *e);
	/* The task's descriptor of an event was closed by a call that is not followed. */
	void (*closed)(struct view *v, pid_t tid, int fd);
	/* The task had mapped the ring before it was followed. */
	void (*found_ring)(struct view *v, pid_t tid, const struct ring *r);
	/*
	 * A process that events measure, or the kernel, as it was when their first ring was
	 * mapped.  A process of many mappings comes in pieces; only the first has threads and functions.
	 */
	void (*measured)(struct view *v, uint64_t ns, const struct proc_image *p);
	/* The build id of a file that is mapped, or of the kernel (core/host/build_id.h). */
	void (*build_id)(struct view *v, const char *path, const uint8_t *id, size_t size);
	/* The task's name (/proc/TID/comm). */
	void (*comm)(struct view *v, pid_t tid, const char *comm);
	/* The command line of a task that runs perf, whose events it names; NULL is behind it. */
	void (*command)(struct view *v, pid_t tid, char *const *words);
	/* A name was looked up, see struct names; name may be NULL. */
	void (*name_pmu)(struct view *v, uint32_t type, const char *name);
	void (*name_tracepoint)(struct view *v, uint64_t id, const char *name);
	void (*name_terms)(struct view *v, uint32_t type, const uint64_t *config,
			   size_t nconfigs, const char *name);
	void (*name_format)(struct view *v, uint64_t id, const char *text);
	void (*name_symbol)(struct view *v, int32_t pid, uint64_t ip,
			    unsigned int cpumode, bool after_call, const char *name);
	void (*name_fd)(struct view *v, pid_t tid, int64_t fd, const char *name);
	/* p: NULL if the descriptor is of no program, or the program is unknown */
	void (*name_program)(struct view *v, pid_t tid, int64_t fd, const struct bpf_program *p);
	/*
	 * A call begins, and returns.  The model learns of the call between enter
	 * and before_exit (close, sendmsg), and between before_exit and exit.
	 */
	void (*enter)(struct view *v, const struct call *c);
	void (*before_exit)(struct view *v, const struct call *c);
	void (*exit)(struct view *v, const struct call *c);
	/* The task died in the call or, if detached, was detached in it. */
	void (*abandon)(struct view *v, const struct call *c, bool detached, uint64_t ns);
	/* The stack of the task's current call; why: a text, why it is incomplete, or NULL. */
	void (*stack)(struct view *v, pid_t tid, const struct view_frame *frames,
		      size_t n, const char *why);
	void (*record)(struct view *v, pid_t tid, uint64_t ns, const struct view_record *r);
	void (*looked)(struct view *v, pid_t tid, uint64_t ns, const struct view_look *l);
	/* Bytes of an AUX area were read, after the records of that read. */
	void (*aux)(struct view *v, pid_t tid, uint64_t ns, const struct view_aux *a);
	/* A BPF program was attached to the event (e->program) before it was followed. */
	void (*program)(struct view *v, const struct event *e);
	/* The event's kernel id was read through a borrowed descriptor. */
	void (*learnt_id)(struct view *v, const struct event *e);
	/* The event's count was read through a borrowed descriptor. */
	void (*count)(struct view *v, const struct event *e);
	void (*signalled)(struct view *v, pid_t tid, uint64_t ns,
			  const siginfo_t *info, bool shown);
	/* The task runs a new program; the calling thread's tid was former; exe may be NULL. */
	void (*execed)(struct view *v, pid_t tid, pid_t former, uint64_t ns,
		       const char *exe, bool shown);
	/*
	 * The task is no longer followed.  status: as from wait(2) for END_EXIT; for END_SUPERSEDED
	 * the tid of the thread whose exec ended it, 0: unknown.
	 */
	void (*gone)(struct view *v, pid_t tid, uint64_t ns, enum view_end how,
		     int status, bool shown);
	/* The engine could not report that many calls and other messages, since the last time. */
	void (*lost)(struct view *v, uint64_t ns, uint64_t n);
	/* Called regularly: flush output. */
	void (*idle)(struct view *v, uint64_t ns);
	/* The session ends; its model still exists. */
	void (*free)(struct view *v);
};

struct view {
	const struct view_ops *ops;
	struct view *next;	/* used by the session */
};
