/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the chapters of a story share. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "core/abi/as_kernel.h"
#include "core/abi/tables.h"
#include "core/judge/judge.h"
#include "core/lib/die.h"
#include "core/lib/map.h"
#include "explain/story.h"

/* Bounds of lists.  What exceeds them is counted. */
enum {
	STORY_FDS = 24,		/* descriptors, or runs of them, in a sentence */
	STORY_ITEMS = 64,	/* items of a list */
	STORY_SPANS = 64,	/* spans of a task and kind */
};

/* story_view.c: what the model does not keep ------------------------------------------- */

/* What was done to an event, or by a task where it concerns no event. */
enum seen_kind {
	SEEN_OPEN,
	SEEN_REFUSED,		/* an open that failed, of a task */
	SEEN_EXEC,		/* of a task */
	SEEN_CLOSE,		/* of one of its descriptors */
	SEEN_PRCTL_ENABLE, SEEN_PRCTL_DISABLE, /* of a task */
	SEEN_MAP, SEEN_READ,
	SEEN_RESUME,		/* PERF_EVENT_IOC_PAUSE_OUTPUT with 0 */
	SEEN_RECORD,		/* + type of a record that was read from its ring */
	/* + index in ioctl_descs, of one that succeeded; of PAUSE_OUTPUT those that pause */
	SEEN_IOCTL = SEEN_RECORD + EVENT_RECORD_TYPES,
};

/* How it was done.  Of a read of a group the higher bits are the number of members. */
enum {
	HOW_GROUP = 1,			/* to all of a group */
	HOW_ON = 2,			/* enabled what was enabled */
	HOW_DEAD = 4,			/* enabled after the exit of its task */
	HOW_LEFT = 8,			/* after its leader was closed */
	HOW_OPEN = 16, HOW_LEADER = 32,	/* opened enabled, or to be enabled with the leader */
	HOW_MEMBERS = 8,		/* shift */
};

struct span_event {
	const struct event *event;
	unsigned int how;
};

/* What a task did in a row, one kind of call; or records of one type that were read. */
struct span {
	unsigned int kind;		/* enum seen_kind, and what is added to it */
	pid_t tid;			/* 0: of records */
	unsigned int part;		/* spans of different parts are not in a row */
	uint64_t first_ns, last_ns, times;
	bool folded;			/* not in a row: it came again and again */
	struct span_event *list;	/* each event once; owned */
	size_t n, at;			/* at: where the next one is probably */
	char *exe;			/* of SEEN_EXEC, or NULL; owned */
	/* of samples: the number of those with a time of the kernel's clock, and these times */
	uint64_t timed, taken_first, taken_last;
};

struct spans {
	struct span *items;
	size_t n, last;			/* last: to which one was added */
};

/* Signals alike, of an event or not: their sender (0: none, unknown), and the first one's time. */
struct seen_signal {
	int signo, code;
	bool of_event;
	pid_t tid, from;
	uint64_t ns;
	unsigned int times;
};

struct seen_task {
	pid_t tid, pid, parent;
	bool thread;
	const struct event *inheritable, *inherited; /* by those it creates, by itself; or NULL */
	const struct call_desc *by;	/* the call that created it; NULL: not seen */
	unsigned int execs;
	bool gone;
	uint64_t gone_ns;
	enum view_end how;
	int status;			/* as wait(2) gives it */
	/* waits for events */
	const struct call_desc *wait;	/* the last kind; NULL: none */
	bool waiting;			/* in one now */
	bool for_ends;			/* poll asked for no POLLIN: only errors and ends wake it */
	int timeout;			/* of its waits, in ms; -1: none, -2: unknown, various */
	const struct event **waited;	/* each once; of those without a ring themselves; owned */
	size_t nwaited;
	bool ringless;			/* it waited for events without a ring */
	unsigned int waits, woken, hung_up, ready, timed_out, interrupted, unfinished, injected;
	bool unexplained;		/* its wait was interrupted, the signal did not come yet */
	struct seen_signal stopped_by;	/* what interrupted them; signo 0: unknown, various */
	const struct call_desc *creating; /* the clone or fork that it is in; NULL: none */
	unsigned int ioctl_how;		/* HOW_* of the ioctl that it is in */
	const struct event *closing;	/* by the close that it is in; NULL: none */
	struct spans spans;		/* what it did, in order */
};

/* Calls other than perf_event_open that failed alike. */
struct seen_failure {
	const struct call_desc *call;
	const char *request;		/* of an ioctl, or command of bpf(2); or NULL */
	int error;
	bool injected;
	unsigned int times;
	const struct event *event;	/* the first; NULL: unknown */
	const struct refusal_desc *cause; /* of all; NULL: not known */
	bool sure;
	char *numbers;			/* that decide it, or "" */
};

struct story {
	struct view view;
	struct model *m;
	const struct names *names;
	const struct arch *arch;
	uint32_t release;		/* KVER() of the kernel, 0: unknown */
	uint64_t start_ns;		/* when the first task was followed */
	struct map by_kind;		/* kind, and number of the event, to how often */
	uint64_t modes[8];		/* samples by PERF_RECORD_MISC_CPUMODE_MASK */
	uint64_t idle;			/* samples of task 0, which idle CPUs run */
	struct spans records[EVENT_RECORD_TYPES]; /* that were seen; a part ends when events are controlled */
	unsigned int controls;		/* calls that enabled, disabled, paused or resumed events */
	struct map by_tid;		/* to the index + 1 of the last task with that tid */
	struct seen_task *tasks;
	size_t ntasks;
	bool threads, children;		/* inherited events: threads of the same process, others */
	struct seen_failure *failures;
	size_t nfailures;
	struct seen_signal *signals;
	size_t nsignals;
};

/* story_spans.c -------------------------------------------------------------------------- */

/*
 * Add to spans what was done: to the last one, if that is of its kind; or to a new one; or to all
 * of its kind, folded to one, if there are that many.  Return it.
 */
struct span *spans_add(struct spans *w, const struct span *from, size_t most);
/* Remove the i-th span. */
void spans_remove(struct spans *w, size_t i);
void spans_free(struct spans *w);

/* Return how often that was done to an event: enum seen_kind, and what is added to it. */
uint64_t story_times(const struct story *s, unsigned int kind, const struct event *e);
/* Return the kind of successful ioctls with that request. */
unsigned int story_ioctl_kind(uint32_t request);
struct seen_task *story_task(const struct story *s, pid_t tid);

/* Return whether the event was opened only to test the kernel: closed by a call, unused. */
static inline bool story_probe(const struct story *s, const struct event *e)
{
	return s && event_is_probe(e);
}

/* Return whether the program is perf, by its name. */
bool story_is_perf(const struct story *s, pid_t tid);

/* Return how many events were opened before the trace began; store them in list. */
size_t story_found(const struct story *s, const struct event **list);

/* Return whether pevtrace read, or tried to read, rings. */
bool story_looked(const struct story *s);

/* Name those that inherit events. */
static inline const char *story_heirs(const struct story *s)
{
	return s->threads && !s->children ? "threads" : "children";
}

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
	bool full;		/* all chapters */
	/* a page leaves out 1: what matters least, 2: what did not matter, 3, 4: what is general */
	unsigned int tight;
	bool lost;		/* records or samples were lost */
};

/* Return the attr of an event. */
struct open_attr story_attr(const struct story *s, const struct event *e);

/* Write "perf[12]". */
void story_who(const struct story *s, pid_t tid, struct prose *p);
/* Write "sh[12] and its children", "every task". */
void story_target(const struct story *s, const struct event *e, struct prose *p);
/* Write "fd 5", "fds 5, 6 and 9 to 12". */
void story_fds(const struct event *const *events, size_t n, struct prose *p);
/* Write the name of the event, "cpu-clock", or that it is unknown. */
void story_event_name(const struct story *s, const struct event *e, struct prose *p);
/* Write "cpu-clock (fds 5 and 6)", with the descriptors of a list. */
void story_event_fds(const struct story *s, const struct event *e,
		     const struct event *const *list, size_t n, struct prose *p);
/* Return whether a task used events, and whether an event names it by its id. */
bool story_uses_events(const struct story_text *t, pid_t tid);
bool story_is_target(const struct story_text *t, pid_t tid);
/* Return whether an event has the member set. */
bool story_any_asks(const struct story_text *t, unsigned int member);
/* Return whether all events of the family carry side-band records only. */
bool story_is_dummy(const struct story_text *t, const struct family *f);

/* story_starts.c: BPF programs ---------------------------------------------------------- */

/* Return whether the event has a program that runs at each hit. */
bool story_program_runs(const struct story_text *t, const struct event *e);
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
/* Write "at perf_event_paranoid 1 or below (check NAME)", at which an ordinary user may open it. */
void story_rights(const struct story *s, const struct story_open *o, bool brief, struct prose *p);
/* Return the oldest release that accepts the call, and why older ones do not. */
uint32_t story_oldest(const struct story *s, const struct story_open *o, struct as_refusal *older);
/* Write the oldest kernel, the hardware, and the rights of an ordinary user. */
void story_needs(const struct story *s, const struct story_open *o, struct prose *p);
/* Write an item of what the members that are 0 decide, if they decide anything. */
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
/* Store the events with the attr of kind in list; return how many. */
size_t family_of_kind(const struct family *f, const struct event *kind, const struct event **list);
/* Write "cpu-clock (fds 5 and 6) and dummy (fds 7 and 9)". */
void family_list(const struct story_text *t, const struct family *f);

/* The chapters ------------------------------------------------------------------------------ */

/* Write all but the chapters of --deep; with these, without what they say in full. */
void story_page(const struct story_text *t);
/* Write the table of events, in up to most rows. */
void story_table(const struct story_text *t, size_t most);
/* Write what was done when, in up to most lines. */
void story_timeline(const struct story_text *t, size_t most);
/* Write how processes ended, and by whose signals. */
void story_end(const struct story_text *t);
/* Write "SIGINT from timeout[12]". */
void story_signal(const struct story *s, const struct seen_signal *g, struct prose *p);
void story_opens(const struct story_text *t);
/* Say why there is one event per CPU or task. */
void story_reason(const struct story_text *t, const struct family *f);
/* List the kernel functions of what was done to events; nothing without --kernel. */
void story_kernel(const struct story_text *t);
/* Write how samples, records and counts come, and how waits ended. */
void story_data(const struct story_text *t);
/* Return the size of the data; 0 if only the control page is mapped. */
uint64_t story_ring_kib(const struct story_text *t, const struct ring *r);

/* story_tries.c --------------------------------------------------------------------------- */

/* Write what the program found out by failed opens and probes. */
void story_tries(const struct story_text *t);
/* story_failures.c ------------------------------------------------------------------------ */

struct failures;

/* Sort the failed opens into those that failed alike, to be freed; return how many there are. */
size_t failures_find(const struct story_text *t, struct failures **list);
void failures_free(struct failures *list, size_t n);
/* Write what failed, and whether it matters, as a part of a sentence. */
void failures_fates(const struct story_text *t, const struct failures *list, size_t n);
/* Write cause and remedy of what failed, on a page of what was no test and in few lines. */
void failures_tell(const struct story_text *t, const struct failures *list, size_t n);
