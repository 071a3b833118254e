/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the calls seen so far add up to: tasks, their descriptor tables, the
 * events behind the descriptors, rings.  Fed with calls in the order in which
 * they happened; the same whether they come live, from a dump, or from us.
 */
#ifndef PEVTRACE_MODEL_MODEL_H
#define PEVTRACE_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/call.h"

struct model;

/* What one successful perf_event_open made in the kernel. */
struct event {
	unsigned int number;	/* 1, 2, ... in the order of opening */
	unsigned int refs;
	char *name;		/* "cpu-clock:u cpu0" */
	bool found;		/* opened before we came: only its fd is known */
	pid_t pid;		/* the caller's arguments */
	int cpu;
	uint64_t flags;
	uint64_t read_format;
};

/* names is asked what PMUs and tracepoints are called; it must outlive. */
struct model *model_new(const struct names *names);
void model_free(struct model *m);

/*
 * A task came to be.  parent 0: nobody we know.  shares_*: has the parent's
 * descriptor table or memory, not a copy.
 */
void model_born(struct model *m, pid_t tid, pid_t pid, pid_t parent,
		bool shares_files, bool shares_memory);

/* Fills in from /proc what a running process already holds. */
void model_adopt(struct model *m, pid_t tid);

/* tid's process runs a new program; the calling thread was former. */
void model_execed(struct model *m, pid_t tid, pid_t former);

void model_gone(struct model *m, pid_t tid);

/* Whether the call has to do with perf, as things stand when it begins. */
bool model_concerns(struct model *m, const struct call *c);

/* The model must see the returns of this call even when nobody else asks. */
bool model_needs(enum call_id id);

/* A call begins: takes effect at once what cannot fail (close). */
void model_enter(struct model *m, const struct call *c);

/* A call returned. */
void model_exit(struct model *m, const struct call *c);

/* The task's process has an event open or a ring mapped. */
bool model_holds(const struct model *m, pid_t tid);

/* The task holds something, or is what some event measures. */
bool model_involved(const struct model *m, pid_t tid);

/* The event behind a task's descriptor, or NULL. */
const struct event *model_event(const struct model *m, pid_t tid, int fd);

#endif
