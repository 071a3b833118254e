/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether what measures on this machine works: each instrument measures something whose result is
 * known.  Under a hypervisor, breakpoints may open and never fire, counters may stay 0 or give
 * absurd values, and overflow interrupts may never come; the open succeeds all the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/abi/sink.h"
#include "core/host/host.h"
#include "core/lib/buf.h"

enum instrument {
	INSTRUMENT_BREAKPOINT_DATA,	/* a write of a watched variable */
	INSTRUMENT_BREAKPOINT_CODE,	/* the execution of a function */
	INSTRUMENT_BREAKPOINT_SIGNAL,	/* sigtrap of a watchpoint */
	INSTRUMENT_HARDWARE,		/* instructions: counted over a loop of known length */
	INSTRUMENT_HARDWARE_SAMPLES,	/* samples of cycles */
	INSTRUMENT_CLOCK,		/* task-clock advances with the time of the CPU */
	INSTRUMENT_CLOCK_SAMPLES,	/* samples of cpu-clock */
	INSTRUMENT_PAGE_FAULTS,		/* faults on fresh pages */
	INSTRUMENT_UPROBE,		/* a uprobe at a function of pevtrace */
	INSTRUMENT_TRACEPOINT,		/* the tracepoint of system calls */
	INSTRUMENT_BPF,			/* BPF programs can be loaded */
	INSTRUMENT_COMPAT,		/* 32-bit programs run */
	INSTRUMENT_AUX,			/* an AUX area receives data */
	INSTRUMENTS
};

enum instrument_verdict {
	INSTRUMENT_UNKNOWN,	/* could not be tried: no process, or its number is unknown */
	INSTRUMENT_ABSENT,	/* it cannot be opened: error is the errno */
	INSTRUMENT_DEAD,	/* it opens and counts nothing */
	INSTRUMENT_IMPLAUSIBLE,	/* it counts, but outside of what is possible */
	INSTRUMENT_WORKS,
};

struct instrument_result {
	enum instrument_verdict verdict;
	int error;			/* positive errno of one that is absent; 0: no call */
	const char *why;		/* it is absent or unknown, in words; or NULL */
	uint64_t counted, least, most;	/* what was counted, and what is possible */
};

/* The findings of this run; zeroed: nothing was tried yet. */
struct instruments {
	struct host *host;	/* borrowed; for numbers of PMUs and tracepoints */
	bool tried[INSTRUMENTS];
	struct instrument_result results[INSTRUMENTS];
};

/*
 * Return what is known of an instrument.  It is tried the first time, in some milliseconds; one
 * good try is enough, and what does not work is tried several times.
 */
const struct instrument_result *instrument_find(struct instruments *is, enum instrument i);

/* Return whether an instrument opens and does not work: it is dead, or implausible. */
bool instrument_fails(struct instruments *is, enum instrument i);

/*
 * Find the instrument that an event needs.  Return false if it is of a kind that is not tried,
 * such as dummy or a PMU outside of the CPU.
 */
bool instrument_of(struct host *host, const uint8_t *attr, size_t len, enum instrument *i);

/*
 * Append a sentence on an instrument that does not work ("opens, but does not count on this
 * machine: hardware breakpoints do not fire in this virtual machine (gdb's would not either)").
 * Return false, and append nothing, unless instrument_fails().
 */
bool instrument_complain(struct instruments *is, enum instrument i, struct buf *out);

/*
 * Append the complaint on the instrument that an event needs, unless what the event counted (one
 * that samples: how many samples it wrote) refutes it.  Return false, and append nothing, if there
 * is no complaint.
 */
bool instrument_doubt(struct instruments *is, const uint8_t *attr, size_t len, uint64_t count,
		      struct buf *out);

/*
 * Pass the complaint of instrument_doubt() to a sink: a member "instrument" with its name, its
 * verdict and the complaint.
 */
void instrument_emit_doubt(struct instruments *is, const uint8_t *attr, size_t len,
			   uint64_t count, struct sink *k);

/*
 * Return whether an event needs a breakpoint or a counter of the CPU: what hypervisors do not
 * deliver, and what is tried in a few milliseconds.
 */
bool instrument_is_hardware(struct host *host, const uint8_t *attr, size_t len);

/* Return why an instrument is absent or unknown: words, or the name of an error. */
const char *instrument_reason(const struct instrument_result *r);

/*
 * Return, in words, that an error of an open says nothing about the event, as others have what it
 * needs: all breakpoints; or NULL.
 */
const char *instrument_in_use(const uint8_t *attr, size_t len, int error);

/* Return the name of an instrument ("breakpoint.data"), and what it measures when it is tried. */
const char *instrument_name(enum instrument i);
const char *instrument_meaning(enum instrument i);

extern const char *const instrument_verdicts[];	/* names: "dead" */

/*
 * Judge what was counted while something happened from least to most times.  value: that of the
 * counter in the end; one that is not 0, but does not advance, is frozen, which is implausible.
 */
struct instrument_result instrument_judge(uint64_t value, uint64_t counted, uint64_t least,
					  uint64_t most);

/* Try an instrument once (instruments_try.c). */
void instrument_try(struct host *host, enum instrument i, struct instrument_result *r);
