/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the story share. */
#ifndef PEVTRACE_EXPLAIN_STORY_INTERNAL_H
#define PEVTRACE_EXPLAIN_STORY_INTERNAL_H

#include "explain/attr_prose.h"
#include "explain/story.h"
#include "lib/map.h"

enum {
	TOLD_IOCTLS = 16,	/* more than there are */
	TOLD_PATHS = 8,		/* mapped files that are told by name */
	TOLD_FDS = 24,		/* descriptors, or runs of them, in a sentence */
	TOLD_MANY = 64,		/* items of a list; the rest is counted */
};

/* What the model does not keep of an event. */
struct told_event {
	unsigned int closes;		/* calls of close on its descriptors */
	unsigned int ioctls[TOLD_IOCTLS]; /* that succeeded, by place in ioctl_descs */
};

struct told_task {
	pid_t tid, pid, parent;
	bool attached, thread;
	const struct call_desc *by;	/* the call that made it; NULL: not seen */
	char *exe;			/* what it runs since its last exec, or NULL */
	unsigned int execs;
	bool gone;
	enum view_end how;
	int status;			/* as wait(2) gives it */
	/* waits for events */
	const struct call_desc *wait;	/* the last kind; NULL: none */
	bool waiting;			/* in one */
	unsigned int waits, woken, hung_up, ready, timed_out, interrupted, unfinished,
		     answered;	/* by injection */
	/* what it is in the middle of making */
	const struct call_desc *making;
};

/* Calls other than perf_event_open that failed alike. */
struct told_failure {
	const struct call_desc *call;
	const struct ioctl_desc *request; /* or NULL */
	int error;
	bool injected;
	unsigned int times;
	const struct event *event;	/* the first; NULL: unknown */
};

struct told_signal {
	int signo, code;
	pid_t tid;
	unsigned int times;
};

struct story {
	struct view view;
	struct model *m;
	const struct names *names;
	const struct arch *arch;
	uint32_t release;		/* KVER() of the kernel, 0: not known */
	struct map by_number;		/* to struct told_event */
	struct map by_tid;		/* to the index + 1 of the last of that tid */
	struct told_task *tasks;
	size_t ntasks;
	struct told_failure *failures;
	size_t nfailures;
	struct told_signal *signals;
	size_t nsignals;
	char *paths[TOLD_PATHS];	/* of MMAP records, each once */
	size_t npaths;
	uint64_t maps;			/* MMAP and MMAP2 records */
};

/* One telling. */
struct telling {
	const struct story *s;
	const struct story_options *o;
	struct prose *p;
	struct family *families;
	size_t nfamilies;
};

/*
 * Events that were opened with the same attr but for what they count, by the
 * same task; one for each CPU and task that was asked for.
 */
struct family {
	const struct event **events;	/* owned, in the order of opening */
	size_t n;
};

struct attr_words story_words(const struct story *s, const struct event *e);
const struct told_event *story_event(const struct story *s, const struct event *e);
const struct told_task *story_task(const struct story *s, pid_t tid);


/* Opened only to see whether the kernel takes it: closed again, and not by an exit. */
bool story_probe(const struct story *s, const struct event *e);

/* "perf[12]". */
void story_who(const struct story *s, pid_t tid, struct prose *p);
/* "sh[12] and every task that it makes", "every task of CPU 0". */
void story_target(const struct story *s, const struct event *e, struct prose *p);
/* "fd 5", "fds 5, 6 and 9": with their CPUs or not. */
void story_fds(const struct event *const *events, size_t n, struct prose *p);
/* The name of the event without its CPU and number: "cpu-clock". */
void story_event_name(const struct story *s, const struct event *e, struct prose *p);
/* The name of a record type without PERF_RECORD_. */
const char *story_record(uint32_t type);

/* Events that were there before the trace: list, of all there are, gets them. */
size_t story_found(const struct story *s, const struct event **list);

/* Whether rings were looked into at all, and what to say where not. */
bool story_looked(const struct story *s);
#define NOT_LOOKED " The trace was made without --records, so it does not tell what they held."

/* An item that counts what a list of n leaves out, if it does. */
void story_rest(const struct telling *t, size_t n, const char *what);

/* The functions of a step, as a list; nothing without --kernel. */
void story_steps(const struct telling *t, const char *intro, const char *const *steps,
		 size_t n);

/* The steps of an open; NULL for those that it leaves out. */
enum { STORY_OPEN_STEPS = 7, OPEN_INIT = 3 };
void story_open_steps(const struct attr_words *a, const char *out[STORY_OPEN_STEPS]);

/* "cpu-clock (fds 5 and 6) and dummy (fds 7 and 9)". */
void story_list_kinds(const struct telling *t, const struct family *f);
/* Of its events the first of each attr, as many as are told; how many these are. */
size_t story_kinds(const struct family *f, const struct event *out[TOLD_MANY]);
/* CPUs and tasks that the family is spread over; told as "sh[12], on CPUs 0 and 1". */
void story_spread(const struct family *f, size_t *cpus, size_t *tasks);
void story_add_spread(const struct telling *t, const struct family *f);

/* The chapters. */
void story_short(const struct telling *t);
void story_opens(const struct telling *t);
void story_tries(const struct telling *t);
void story_starts(const struct telling *t);
void story_data(const struct telling *t);
void story_samples(const struct telling *t);
void story_exactness(const struct telling *t);
void story_records(const struct telling *t);
void story_tasks(const struct telling *t);
void story_failures(const struct telling *t);
void story_figures(const struct telling *t);
void story_read_on(const struct telling *t);

#endif
