/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the view that writes a dump only. */
#pragma once

#include "formats/dump/dump_call.h"
#include "formats/dump/dump_view.h"
#include "formats/json/json_text.h"
#include "formats/json/keys.h"
#include "core/session/inflight.h"

struct dump_view {
	struct view view;
	const struct model *model;
	const struct names *names;
	struct output *out;
	struct inflights begun;
	uint64_t calls, records, missed, unseen, tasks, last_ns;
};

static inline struct dump_view *dump_self(struct view *v)
{
	return (struct dump_view *)v; /* view is its first member */
}

/* A call that has begun; *call is valid until its return. */
struct begun {
	struct inflight in;
	const struct call *call;
	struct json_text args;		/* decoded when it began */
	struct dump_about about;
	struct json_text stack;		/* its member "stack", or nothing */
};

/* Order of lines (dump_order.c). */
void begun_free(struct begun *b);

/* Begin a line of that kind in *o; return o. */
struct json_text *dump_line(struct json_text *o, const char *kind);

/* As dump_line(), with a task and a time. */
struct json_text *dump_task_line(struct json_text *o, const char *kind, pid_t tid, uint64_t ns);

/* End and write the line. */
void dump_write(struct dump_view *d, pid_t tid, struct json_text *o);

/* Write the "enter" line of a call; ctx is the view. */
void dump_write_enter(void *ctx, struct inflight *in);

/* Prepare for a line of that time: write the "enter" lines of calls that began earlier. */
void dump_before(struct dump_view *d, uint64_t ns, pid_t tid);

/* Write the "enter" line of the task's call: another line of the task follows. */
void dump_split_own(struct dump_view *d, pid_t tid);

/* Tasks (dump_tasks.c). */
void dump_on_born(struct view *v, const struct birth *b, uint64_t ns);
void dump_on_found(struct view *v, pid_t tid, int fd, bool cloexec,
		   const struct event *e);
void dump_on_program(struct view *v, const struct event *e);
void dump_on_described(struct view *v, pid_t tid, uint64_t ns, const struct event *e);
void dump_on_closed(struct view *v, pid_t tid, int fd);
void dump_on_lost(struct view *v, uint64_t ns, uint64_t n);
void dump_on_found_ring(struct view *v, pid_t tid, const struct ring *r);
void dump_on_measured(struct view *v, uint64_t ns, const struct proc_image *p);
void dump_on_build_id(struct view *v, const char *path, const uint8_t *id, size_t size);
void dump_on_comm(struct view *v, pid_t tid, const char *comm);
void dump_on_command(struct view *v, pid_t tid, char *const *words);
void dump_on_exec(struct view *v, pid_t tid, pid_t former, uint64_t ns,
		  const char *exe, bool shown);
void dump_on_gone(struct view *v, pid_t tid, uint64_t ns, enum view_end how,
		  int status, bool shown);
void dump_on_signal(struct view *v, pid_t tid, uint64_t ns, const siginfo_t *info,
		    bool shown);

/* Rings, ids and counts (dump_rings.c). */
void dump_on_record(struct view *v, pid_t tid, uint64_t ns, const struct view_record *r);
void dump_on_looked(struct view *v, pid_t tid, uint64_t ns, const struct view_look *l);
void dump_on_aux(struct view *v, pid_t tid, uint64_t ns, const struct view_aux *a);
void dump_on_learnt_id(struct view *v, const struct event *e);
void dump_on_count(struct view *v, const struct event *e);

/* Names (dump_names.c). */
void dump_on_name_pmu(struct view *v, uint32_t type, const char *name);
void dump_on_name_tracepoint(struct view *v, uint64_t id, const char *name);
void dump_on_name_format(struct view *v, uint64_t id, const char *text);
void dump_on_name_symbol(struct view *v, int32_t pid, uint64_t ip,
			 unsigned int cpumode, bool after_call, const char *name);
void dump_on_name_terms(struct view *v, uint32_t type, const uint64_t *config,
			size_t nconfigs, const char *name);
void dump_on_name_fd(struct view *v, pid_t tid, int64_t fd, const char *name);
void dump_on_name_program(struct view *v, pid_t tid, int64_t fd, const struct bpf_program *p);
