/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What open and watch have in common: events on what the user named, until that
 * has ended or the user has had enough.
 */
#ifndef PEVTRACE_MEASURE_MEASURE_H
#define PEVTRACE_MEASURE_MEASURE_H

#include <signal.h>

#include "drive/batch.h"
#include "host/cpus.h"
#include "measure/own_session.h"
#include "measure/workload.h"

struct measure {
	struct own_session own_session;	/* with the options; its pids are those of -p */
	struct event_list events;
	/* what the user named */
	const char *cgroup;	/* -G */
	bool all;		/* -a */
	struct cpus cpus;	/* -C */
	double seconds;		/* --for, 0: until the end */
	/* set by the verb before measure_open() */
	size_t pages;		/* of each ring, 0: none */
	size_t aux_pages;	/* of each AUX area, 0: none */
	bool aux_snapshot;	/* it is written over, and read in the end */
	bool once;		/* ourselves, for no time unless --for says so */
	batch_retry_fn *retry;
	bool (*wanted)(const struct measure *m, uint32_t type); /* records; NULL: all */
	void (*progress)(struct measure *m, double seconds); /* once a second, or NULL */
	/* state */
	sigset_t mask;		/* of signals, as it was */
	int signals;		/* signalfd(2) */
	int cgroup_fd;
	int *pidfds;		/* of -p */
	struct target *targets;
	size_t ntargets;
	struct batch batch;
	struct stream stream;
	struct ring **rings;	/* the model's, for each of stream.rings */
	bool ordered;		/* records tell the time in ns of CLOCK_MONOTONIC */
	struct workload work;
	uint64_t lost;		/* records, as PERF_RECORD_LOST tells */
	uint64_t aux_bytes;	/* taken out of AUX areas */
	uint64_t aux_cut;	/* AUX records that tell of gaps: room, or the PMU, was short */
	uint64_t lost_samples;	/* before they came to the ring: LOST_SAMPLES */
	unsigned int interrupts;
	uint64_t from_ns, to_ns; /* when it ran */
};

/* Options of struct measure: whom to measure, and for how long. */
extern const struct verb_option measure_whom[], measure_quiet[];

/* The groups of options of which open and watch have the same, from heading "Whom" on. */
#define MEASURE_GROUPS(measure)							\
	{ "Whom to measure (COMMAND alone: it and its children)", measure_whom, measure, 0 }, \
	{ "How to show it", options_log, (measure) + MEASURE_OPTIONS, 0 },		\
	{ NULL, options_dump, (measure) + MEASURE_OPTIONS, 0 },			\
	{ NULL, options_calls, (measure) + MEASURE_OPTIONS, 0 },		\
	{ NULL, options_full, (measure) + MEASURE_OPTIONS, 0 },			\
	{ NULL, options_times, (measure) + MEASURE_OPTIONS, 0 },		\
	{ NULL, measure_quiet, measure, 0 }
enum { MEASURE_OPTIONS = offsetof(struct measure, own_session.options) };

/* After the last option: take the command, and die unless all goes together. */
void measure_options_end(struct measure *m, const struct verb_args *args);

/* The command is what is measured. */
bool measure_is_command(const struct measure *m);

/* One CPU is what is measured, whatever runs there. */
bool measure_is_system(const struct measure *m);

/*
 * Starts the session, makes the command wait, opens the events on all targets
 * and maps their rings.  Where an event cannot be opened that is said; false
 * when none could, or something else stands in the way, after a warn().  To be
 * ended in any case.
 */
bool measure_open(struct measure *m);

/*
 * Enables what was opened disabled, lets the command go, shows records as they
 * come, until the end: of the command, of the processes, of the time, or by
 * SIGINT, SIGTERM or SIGHUP.  False after a warn().
 */
bool measure_run(struct measure *m);

/* Closes and frees everything, and ends the session.  False: not all was written. */
bool measure_end(struct measure *m);

#endif
