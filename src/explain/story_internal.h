/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the chapters of a story share. */
#pragma once

#include "core/judge/judge.h"
#include "core/lib/map.h"
#include "explain/story.h"

/* Bounds of lists.  What exceeds them is counted. */
enum {
	STORY_IOCTLS = 16,	/* more than there are */
	STORY_PATHS = 8,	/* mapped files */
	STORY_FDS = 24,		/* descriptors, or runs of them, in a sentence */
	STORY_ITEMS = 64,	/* items of a list */
};

/* story_view.c: what the model does not keep ------------------------------------------- */

struct seen_event {
	unsigned int closes;		/* calls of close on its descriptors */
	unsigned int resumes;		/* PERF_EVENT_IOC_PAUSE_OUTPUT with 0 */
	/* successful ones, by index in ioctl_descs; of PAUSE_OUTPUT those that pause */
	unsigned int ioctls[STORY_IOCTLS];
};

struct seen_task {
	pid_t tid, pid, parent;
	bool attached, thread;
	const struct call_desc *by;	/* the call that created it; NULL: not seen */
	char *exe;			/* what its last exec runs, or NULL */
	unsigned int execs;
	bool gone;
	enum view_end how;
	int status;			/* as wait(2) gives it */
	/* waits for events */
	const struct call_desc *wait;	/* the last kind; NULL: none */
	bool waiting;			/* in one now */
	bool for_ends;			/* poll asked for no POLLIN: only errors and ends wake it */
	unsigned int waits, woken, hung_up, ready, timed_out, interrupted, unfinished, injected;
	const struct call_desc *creating; /* the clone or fork that it is in; NULL: none */
};

/* Calls other than perf_event_open that failed alike. */
struct seen_failure {
	const struct call_desc *call;
	const char *request;		/* of an ioctl, or command of bpf(2); or NULL */
	int error;
	bool injected;
	unsigned int times;
	const struct event *event;	/* the first; NULL: unknown */
};

struct seen_signal {
	int signo, code;
	pid_t tid;
	unsigned int times;
};

struct story {
	struct view view;
	struct model *m;
	const struct names *names;
	const struct arch *arch;
	uint32_t release;		/* KVER() of the kernel, 0: unknown */
	struct map by_number;		/* to struct seen_event */
	struct map by_tid;		/* to the index + 1 of the last task with that tid */
	struct seen_task *tasks;
	size_t ntasks;
	struct seen_failure *failures;
	size_t nfailures;
	struct seen_signal *signals;
	size_t nsignals;
	char *paths[STORY_PATHS];	/* of MMAP records, each once */
	size_t npaths;
	uint64_t maps;			/* MMAP and MMAP2 records */
};

const struct seen_event *story_event(const struct story *s, const struct event *e);
struct seen_task *story_task(const struct story *s, pid_t tid);

/* Return whether the event was opened only to test the kernel: closed by a call, unused. */
bool story_probe(const struct story *s, const struct event *e);

/* Return how many events were opened before the trace began; store them in list. */
size_t story_found(const struct story *s, const struct event **list);

/* Return whether pevtrace read, or tried to read, rings. */
bool story_looked(const struct story *s);

/* story_families.c: a story being written, and phrases of all chapters ------------------ */

struct family;

struct story_text {
	const struct story *s;
	const struct story_options *o;
	struct prose *p;
	/* of the model */
	struct event *const *events;
	struct task_info *const *tasks;
	struct ring *const *rings;
	const struct attempt *attempts;
	size_t nevents, ntasks, nrings, nattempts;
	struct family *families;
	size_t nfamilies;
	bool full;		/* all chapters: more than STORY_NORMAL */
};

/* Return the attr of an event. */
struct open_attr story_attr(const struct story *s, const struct event *e);

/* Write "perf[12]". */
void story_who(const struct story *s, pid_t tid, struct prose *p);
/* Write "fd 5", "fds 5, 6 and 9 to 12". */
void story_fds(const struct event *const *events, size_t n, struct prose *p);
/* Write the name of the event, "cpu-clock", or that it is unknown. */
void story_event_name(const struct story *s, const struct event *e, struct prose *p);
/* Write "cpu-clock (fds 5 and 6)", with the descriptors of a list. */
void story_event_fds(const struct story *s, const struct event *e,
		     const struct event *const *list, size_t n, struct prose *p);
/* Write an item that counts what a list of n leaves out, if it does. */
void story_rest(const struct story_text *t, size_t n, const char *one, const char *more);

/* story_starts.c: BPF programs ---------------------------------------------------------- */

/* Return whether the event has a program that runs at each hit; write its name unless p is NULL. */
bool story_program_runs(const struct story_text *t, const struct event *e, struct prose *p);
/* Write when the programs of these events run and what they decide, in sentences. */
void story_programs_of(const struct story_text *t, const struct event **list, size_t n);

/* call_prose.c: the kernel functions of an open, and what it requires ------------------- */

/* List the functions of steps; nothing without --kernel. */
void story_steps(const struct story_text *t, const char *intro, const char *const *steps,
		 size_t n);

/* List the steps of an open; NULL for those that it does not reach. */
enum { STORY_OPEN_STEPS = 7, OPEN_INIT = 3 };
void story_open_steps(const struct open_attr *a, const char *out[STORY_OPEN_STEPS]);

/* A perf_event_open that succeeded or failed. */
struct story_open {
	const uint8_t *attr;
	size_t len;
	pid_t pid;
	int cpu;
	uint64_t flags;
	const char *probed;	/* see struct event */
};

struct story_open story_open_of(const struct event *e);
struct story_open story_open_failed(const struct attempt *a);

/* Write the name of the event, "cpu-clock". */
void story_open_name(const struct story *s, const struct story_open *o, struct prose *p);

/* Write what hardware it requires, separated by commas, unless p is NULL; return how much. */
size_t story_hardware(const struct story_open *o, struct prose *p);
/* Write the oldest kernel, the hardware, and the rights of an ordinary user. */
void story_needs(const struct story *s, const struct story_open *o, struct prose *p);
/* Write what the members that are 0 decide, separated by semicolons; perhaps nothing. */
void story_defaults(const struct story_text *t, const struct family *f);
/* Return what a well-known open is for, from src/explain/story.in; NULL: not known. */
const char *story_purpose(const struct story_open *o);

/* story_families.c ------------------------------------------------------------------------ */

/*
 * Events opened by one task with the same attr except for what they count; one for each
 * CPU and task.
 */
struct family {
	const struct event **events;	/* owned, in the order of opening */
	size_t n;
};

/* Sort the events into families, whose events and list the caller frees. */
void families_make(struct story_text *t);

/* Store the first event of each attr of the family; return how many, STORY_ITEMS at most. */
size_t family_kinds(const struct family *f, const struct event *out[STORY_ITEMS]);
/* Write "cpu-clock (fds 5 and 6) and dummy (fds 7 and 9)". */
void family_list(const struct story_text *t, const struct family *f);
/* Return the CPUs of a family, for the caller to free, and count its CPUs and tasks. */
int *family_cpus(const struct family *f, size_t *cpus, size_t *tasks);
/* Write "sh[12], on CPUs 0 and 1". */
void family_write_spread(const struct story_text *t, const struct family *f);

/* The chapters ------------------------------------------------------------------------------ */

/* Write "cpu-clock (fd 5) samples sh[12], about 99 times a second." */
void story_family_line(const struct story_text *t, const struct family *f);
void story_opens(const struct story_text *t);
void story_tries(const struct story_text *t);
void story_starts(const struct story_text *t);
void story_samples(const struct story_text *t);
/* Write how events are enabled and what ioctls did to them, in sentences. */
void story_start_of(const struct story_text *t, const struct family *f);
/* Write what triggers the samples of a family; nothing if it takes none. */
void story_trigger_of(const struct story_text *t, const struct family *f);
void story_data(const struct story_text *t);
void story_accuracy(const struct story_text *t);
void story_failures(const struct story_text *t);
void story_counts(const struct story_text *t);
