/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace as one HTML page.  A view (collect.c) collects rows; when it is freed, page.c
 * writes the page.  The model must keep closed events and rings.
 */
#pragma once

#include "core/lib/output.h"
#include "core/session/inflight.h"
#include "core/session/view.h"
#include "formats/dump/reader.h"
#include "formats/text/counts.h"

/* Texts that are stored once and referred to by number.  Zero-initialised is empty. */
struct pool {
	struct buf bytes;
	size_t *at;		/* start of each, NUL-terminated */
	size_t n;
	struct map by_hash;	/* number + 1 */
};

/* Return the number of text, and add a copy if it is new. */
uint32_t pool_add(struct pool *p, const char *text);

/* Return a text; valid until the next pool_add(). */
static inline const char *pool_get(const struct pool *p, uint32_t number)
{
	return p->bytes.data + p->at[number];
}

void pool_free(struct pool *p);

struct attr_rows_count {
	unsigned int set, unset;	/* rows of members that are not 0, that are 0 */
};

/* Kind of a row: enum call_id, or one of these. */
enum { ROW_EXEC = CALL_COUNT, ROW_END, ROW_SIGNAL, ROW_KINDS };

/* A call or other activity of a task.  Texts are numbers in the pool. */
struct report_row {
	uint64_t ns, end_ns;	/* CLOCK_MONOTONIC */
	uint32_t kind, task;	/* task is an index */
	uint32_t text, result;
	uint32_t events;	/* numbers of the events it concerns, a text "1,5" */
	uint32_t line;		/* of the dump, at its end */
	int error;		/* positive errno; 0: success */
	size_t order;		/* in the dump */
};

struct report_task {
	pid_t tid, pid;
	uint64_t born_ns, gone_ns; /* gone_ns 0: at the end of the trace */
	uint32_t name;		/* text; the last name */
};

/* A span of time, ns. */
struct report_span {
	uint64_t from, to;
};

/* An event over time. */
struct report_event {
	uint32_t attr;		/* text: rows of an HTML table; 0: unknown */
	struct attr_rows_count attr_count;
	uint32_t line;		/* of the dump */
	bool on;		/* enabled at the last update */
	struct report_span *enabled;
	size_t nenabled;
};

struct report_ring {
	struct report_span mapped; /* to is 0: until the end */
	uint64_t most;		/* maximum of bytes waiting at a look */
	bool measured;		/* most is known */
};

struct report_record {
	uint64_t ns;		/* by its own clock, or of the look */
	uint32_t event;
	uint16_t type;
	uint16_t clock;		/* 0: time of the look; else index in clocks + 1 */
};

/* A clock of records that carry their time. */
struct report_clock {
	uint64_t id;		/* the attr's clockid + 1; 0: perf's own */
	int64_t offset;		/* ns to CLOCK_MONOTONIC */
};

enum { REPORT_CLOCKS = 16, REPORT_RECORDS = 1000000 };

/* A perf_event_open that failed. */
struct report_failure {
	size_t attempt;		/* of the model */
	uint32_t line, attr, why; /* attr, why: texts, HTML */
	uint32_t times;		/* equal failures in sequence */
};

/* Parameters of the report.  All must outlive the view. */
struct report_about {
	const struct reader *reader;
	const char *dump;	/* its name */
	const char *machine;	/* for which calls are judged, in words; "": as far as the dump has it */
	size_t max_calls;	/* limit of rows */
	/* append what happened, in two sentences, at the end of the session; NULL: not said */
	void (*summary)(void *ctx, struct buf *out);
	void *summary_ctx;
};

struct report {
	struct view view;
	struct report_about about;
	const struct session_facts *facts;
	const struct model *model;
	const struct names *names;
	struct output *out;
	struct pool pool;
	uint64_t last_ns;
	struct report_row *rows;
	size_t nrows, left_out;	/* left_out: rows beyond the limit */
	struct report_task *tasks;
	size_t ntasks;
	struct map by_tid;	/* to index in tasks, + 1 */
	struct inflights pending; /* calls (collect.c) */
	struct report_event *events; /* by number */
	size_t nevents;
	const struct event **open; /* at the last update */
	size_t nopen, nlooked;	/* nlooked: events of the model at that time */
	struct report_ring *rings; /* by number */
	size_t nrings;
	struct report_record *records;
	size_t nrecords;
	uint64_t records_seen;
	struct report_clock clocks[REPORT_CLOCKS];
	size_t nclocks;
	struct report_failure *failures;
	size_t nfailures, nattempts; /* nattempts: of the model, at the last failure */
	struct call_counts counts;
	uint64_t exec_ns;	/* time of an exec or exit since the last update; 0: none */
};

/* Return a view that writes the page to out when it is freed. */
struct view *report_view_new(const struct report_about *about, const struct model *m,
			     const struct names *names, struct output *out);

/* Return whether a file begins as a page that this view wrote. */
bool report_is_page(const char *path);

/*
 * Append a row of an HTML table with name, value and meaning of each member of an attr; class
 * "zero" if it is 0 (attr_rows.c).  The attr is that of an open c or, if c is NULL, of an event
 * that was opened before and described since.
 */
struct attr_rows_count attr_rows(const struct call *c, const struct event *e,
				 const struct names *n, struct buf *out);

/* Write the page. */
void page_write(struct report *r);

/*
 * Spans of events, rings and records (life.c).  The model learns of an exec or exit after
 * the views: exec_ns notes it, and the next life_tick() updates the spans.
 */
struct report_event *life_event(struct report *r, unsigned int number);
void life_after(struct report *r, const struct call *c);
void life_tick(struct report *r);
void life_record(struct report *r, const struct activity_record *rec);
void life_looked(struct report *r, const struct activity_look *l);
void life_end(struct report *r);
void life_free(struct report *r);

/*
 * Set *bytes to what waits in the ring for its reader.  Return false if that is unknown: the
 * look has no struct perf_event_mmap_page, or the ring is overwritable.
 */
bool life_ring_fill(const struct activity_look *l, uint64_t *bytes);

/*
 * Return a view that writes the trace in the Trace Event Format of Chrome, for Perfetto, in
 * constant memory (chrome.c).  names, facts and out must outlive it; freeing it ends the file.
 */
struct view *chrome_view_new(const struct names *names, const struct session_facts *facts,
			     struct output *out);
