/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurements: events on targets, until these end or a signal comes. */
#pragma once

#include "core/lib/pager.h"
#include "experiment/batch.h"
#include "experiment/workload.h"
#include "verbs/cli/views.h"

struct measure {
	struct own_session own_session;	/* with the options; its pids are those of -p */
	struct event_list events;
	/* the options */
	const char *cgroup;	/* -G */
	bool all;		/* -a */
	struct cpus cpus;	/* -C */
	double seconds;		/* --for, 0: until the end */
	/* set by the verb before measure_open() */
	size_t pages;		/* of each ring, 0: none */
	size_t aux_pages;	/* of each AUX area, 0: none */
	bool aux_snapshot;	/* overwritten, and read at the end */
	bool once;		/* measure pevtrace itself, for no time unless --for is given */
	batch_retry_fn *retry;
	bool (*wanted)(const struct measure *m, uint32_t type); /* records; NULL: all */
	void (*progress)(struct measure *m, double seconds); /* once a second, or NULL */
	struct progress line;	/* what progress shows, until the measurement is over */
	/* state */
	sigset_t mask;		/* signal mask to restore */
	int signals;		/* signalfd(2) */
	int cgroup_fd;
	int *pidfds;		/* of -p */
	struct target *targets;
	size_t ntargets;
	struct batch batch;
	struct stream stream;
	struct ring **rings;	/* of the model, for each of stream.rings */
	bool ordered;		/* times of records are CLOCK_MONOTONIC in ns */
	struct workload work;
	uint64_t aux_bytes;	/* read from AUX areas */
	uint64_t aux_cut;	/* AUX records with a flag for lost data */
	unsigned int interrupts;
	uint64_t from_ns, to_ns; /* when it ran */
};

/* Options of struct measure: whom to measure, and for how long. */
extern const struct verb_option measure_whom[], measure_quiet[];

enum { MEASURE_OPTIONS = offsetof(struct measure, own_session.options) };

/* Take the command; die unless the options go together. */
void measure_options_end(struct measure *m, const struct verb_args *args);

/* Return whether the command is measured. */
bool measure_is_command(const struct measure *m);

/* Return whether CPUs are measured, whatever runs there. */
bool measure_is_system(const struct measure *m);

/*
 * Start the session, fork the command, open the events on all targets and map their
 * rings; warn about events that cannot be opened.  Return false after a warn() if none
 * could.  Call measure_end() in any case.
 */
bool measure_open(struct measure *m);

/*
 * Enable what was opened disabled, let the command exec, and show records until the
 * command or the processes exit, the time is over, or SIGINT, SIGTERM or SIGHUP comes.
 * Return false after a warn().
 */
bool measure_run(struct measure *m);

/* Close and free everything; return false if output could not be written. */
bool measure_end(struct measure *m);
