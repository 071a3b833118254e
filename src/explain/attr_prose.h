/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A perf_event_attr in English: what it asks for, field by field. */
#ifndef PEVTRACE_EXPLAIN_ATTR_PROSE_H
#define PEVTRACE_EXPLAIN_ATTR_PROSE_H

#include "abi/call.h"
#include "explain/prose.h"

/* An attr as it was passed. */
struct attr_words {
	const uint8_t *attr;
	size_t len;
	const struct names *names;
	const struct arch *arch;
	const struct call *call;	/* for the strings it points to, or NULL */
	pid_t pid;			/* the call's other arguments */
	uint64_t flags;
};

/* Where the counts of an event come from, and so what makes it sample. */
enum event_source {
	SOURCE_CLOCK, SOURCE_SOFTWARE, SOURCE_DUMMY, SOURCE_BPF, SOURCE_TRACEPOINT,
	SOURCE_BREAKPOINT, SOURCE_UPROBE, SOURCE_KPROBE, SOURCE_MSR, SOURCE_CPU,
	SOURCE_OTHER,	/* a PMU of which no more is known */
};
enum event_source attr_source(const struct attr_words *a);

/* The steps (xlat/kernel.in) that make such an event and take its samples; or NULL. */
const char *attr_init_step(const struct attr_words *a);
const char *attr_sample_step(const struct attr_words *a);

/* A clock's timer does not go faster (perf_swevent_start_hrtimer), in ns. */
enum { ATTR_CLOCK_LEAST = 10000 };

uint64_t attr_word(const struct attr_words *a, unsigned int index);

/* Whether it takes samples at all. */
bool attr_samples(const struct attr_words *a);

/* Whether it samples each thing that it counts, so that samples are no estimate. */
bool attr_every_hit(const struct attr_words *a);

/* "sample_freq=999" as a trace has it. */
void attr_prose_member(const struct attr_words *a, unsigned int index, struct prose *p);

/* What it measures, as a clause: "time on the CPU ...". */
void attr_prose_what(const struct attr_words *a, struct prose *p);

/* An item that tells which event it is: type and config. */
void attr_prose_event(const struct attr_words *a, struct prose *p);

/*
 * Items for all other fields that say something, those that belong together as
 * one.  deep: with what else there is to know of them.
 */
void attr_prose_fields(const struct attr_words *a, bool deep, struct prose *p);

/* When samples are taken, and what triggers them: sentences. */
void attr_prose_trigger(const struct attr_words *a, struct prose *p);


#endif
