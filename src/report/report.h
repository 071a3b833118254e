/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace as one HTML page.  A view (collect.c) gathers what happens; when it
 * ends, page.c writes the page.  The model, which must keep, has the rest.
 */
#ifndef PEVTRACE_REPORT_REPORT_H
#define PEVTRACE_REPORT_REPORT_H

#include "dump/reader.h"
#include "report/pool.h"
#include "session/view.h"
#include "text/counts.h"
#include "text/output.h"

/* What a row is: enum call_id, or one of these. */
enum { ROW_EXEC = CALL_COUNT, ROW_END, ROW_SIGNAL, ROW_KINDS };

/* A call, or something else that happened to a task.  Texts are in the pool. */
struct report_row {
	uint64_t ns, end_ns;	/* CLOCK_MONOTONIC */
	uint32_t kind, task;	/* task: index */
	uint32_t text, result;
	uint32_t events;	/* numbers of those it is about, as a text "1,5" */
	uint32_t line;		/* of the dump, where it ends */
	int error;		/* positive errno; 0: did not fail */
	size_t order;		/* of its coming */
};

struct report_task {
	pid_t tid, pid;
	uint64_t born_ns, gone_ns; /* gone 0: lived to the end */
	uint32_t name;		/* text; the last one */
};

/* From one time to another something held for an event or a ring. */
struct report_span {
	uint64_t from, to;
};

/* What happened to an event in time. */
struct report_event {
	uint32_t attr;		/* text: rows of a table, HTML; 0: not seen */
	uint32_t line;		/* of the dump */
	bool on;
	struct report_span *enabled;
	size_t nenabled;
};

struct report_ring {
	struct report_span mapped; /* to 0: to the end */
	uint64_t most;		/* bytes waiting in it at the fullest look */
	bool measured;		/* most is known */
};

struct report_record {
	uint64_t ns;		/* as told: of its own clock, or of the look */
	uint32_t event;
	uint16_t type;
	uint16_t clock;		/* 0: of the look; else index into clocks, + 1 */
};

/* Of records that carry their time: what turns it into CLOCK_MONOTONIC. */
struct report_clock {
	uint64_t id;		/* the attr's clockid + 1; 0: perf's own */
	int64_t offset;		/* ns; the least that was seen */
};

enum { REPORT_CLOCKS = 16, REPORT_RECORDS = 1000000 };

/* A perf_event_open that failed. */
struct report_failure {
	size_t attempt;		/* of the model */
	uint32_t line, attr, why; /* texts: HTML rows, HTML */
	uint32_t times;
};

/* What is to be made.  Everything must outlive the view. */
struct report_about {
	const struct reader *replay;
	const char *dump;	/* its name */
	size_t max_calls;	/* rows that the page takes */
};

struct report {
	struct view view;
	struct report_about about;
	const struct dump_facts *facts;
	const struct model *model;
	const struct names *names;
	struct output *out;
	struct pool pool;
	uint64_t last_ns;
	struct report_row *rows;
	size_t nrows, left_out;	/* rows that are too many */
	struct report_task *tasks;
	size_t ntasks;
	struct map by_tid;	/* to index in tasks, + 1 */
	struct map pending;	/* by tid */
	struct report_event *events; /* by number */
	size_t nevents;
	const struct event **open; /* at the last look */
	size_t nopen, nlooked;	/* nlooked: of the model's events */
	struct report_ring *rings; /* by number */
	size_t nrings;
	struct report_record *records;
	size_t nrecords;
	uint64_t records_seen;
	struct report_clock clocks[REPORT_CLOCKS];
	size_t nclocks;
	struct report_failure *failures;
	size_t nfailures, nattempts; /* nattempts: of the model, seen */
	struct counts counts;
	uint64_t exec_ns;	/* of an exec whose effects have not been looked at */
};

/* Writes the page to out when it is freed. */
struct view *report_view_new(const struct report_about *about, const struct model *m,
			     const struct names *names, struct output *out);

/* The page. */
void page_write(struct report *r);

/*
 * Spans of events, rings and records in time (life.c).  The model learns of an exec
 * and of an end after the views: life_execed() remembers it, life_tick() looks.
 */
struct report_event *life_event(struct report *r, unsigned int number);
void life_after(struct report *r, const struct call *c);
void life_execed(struct report *r, uint64_t ns);
void life_tick(struct report *r);
void life_record(struct report *r, uint64_t ns, const struct view_record *rec);
void life_looked(struct report *r, const struct view_look *l);
void life_end(struct report *r);
void life_free(struct report *r);

/* Appends why the kernel may have refused the call, as HTML (failure.c). */
void failure_explain(const struct report *r, const struct call *c, struct buf *out);

#endif
