/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pevtrace list --tried: what kernel, machine and user can do, found by trying. */
#pragma once

#include "core/host/facts.h"
#include "experiment/experiment.h"
#include "experiment/instruments.h"
#include "verbs/cli/machine.h"
#include "verbs/cli/showing.h"

/* In ascending order: the best result on any event counts. */
enum feature_result {
	FEATURE_UNTRIED,	/* nothing here that it could be tried on */
	FEATURE_NO,		/* the kernel refuses */
	FEATURE_ACCEPTED,	/* accepted, without an observable effect */
	FEATURE_DEAD,		/* accepted, but what it needs does not work on this machine */
	FEATURE_YES,		/* its effect was observed */
	FEATURE_RESULTS
};

struct features;
struct feature;

typedef void feature_try_fn(struct features *fs, struct feature *f);

struct feature {
	const struct feature_kind *kind;
	struct buf name;
	const char *prefix;	/* that the names of its table share, or "" */
	const char *meaning;
	uint32_t since;		/* KVER(), 0: not known */
	/* what is to be tried */
	feature_try_fn *try;
	const void *what;	/* of a table */
	uint64_t value;
	/* what was found */
	enum feature_result result;
	enum fact known;	/* whether the interface of this kernel has it */
	int error;		/* with FEATURE_NO, positive errno */
	const struct rule_desc *rule;	/* that explains it, or NULL */
	bool sure;		/* false: rule rests on a fact that is not known */
	const char *on;		/* name of the event of the result, or NULL */
	struct buf why;		/* more about the result, in words */
};

struct feature_kind {
	const char *name;
	const char *meaning;
	bool dated;		/* since is the release that brought it to perf */
	void (*add)(struct features *fs, const struct feature_kind *k); /* or NULL */
	const struct xlat *table; /* its values are features, too; or NULL */
	feature_try_fn *try;	/* of these, with what */
	const void *what;
};

enum { FEATURE_ATTR_MAX = 256, FEATURE_BASES = 9, FEATURE_RUNS = 12 };

/* An event that features are tried on. */
struct feature_base {
	char name[64];
	uint8_t attr[FEATURE_ATTR_MAX];
	size_t len;
	unsigned int work;	/* WORK_ bits that make it count */
	bool exact;		/* counts do not differ between runs */
	bool probe;		/* tried with members of its own only */
	int error;		/* positive errno of opening it unchanged, or 0 */
	const char *untried;	/* why nothing can be tried on it here, or NULL */
};

struct features_experiment;

struct features {
	const char *const *words; /* the operands, NULL-terminated */
	bool all_cpus;
	bool tracepoints;	/* with their ids */
	struct machine machine;
	struct facts facts;
	struct instruments instruments;
	struct experimenter experimenter;
	struct features_experiment *experiments; /* owned; those that were run */
	size_t nexperiments;
	struct showing out;
	struct feature *list;	/* owned, as are their names and reasons */
	size_t n;
	struct feature_base bases[FEATURE_BASES];
	size_t nbases;
	int held;		/* descriptor that keeps the tracepoint registered, or < 0 */
	int bpf_error;		/* positive errno of loading a BPF program, or 0 */
	int gate;		/* errno that something returns in place of the kernel, 0 */
	int ran_out;		/* EMFILE or ENFILE of an experiment, 0 */
	uint32_t attr_size;	/* of the kernel; 0: unknown */
};

/*
 * Try the features that the words name, or all if there are none, and show the results: the whole
 * of pevtrace list --tried.  all_cpus: try also what measures other tasks.
 * tracepoints: JSON has their ids.  Return the exit status.
 */
int features_run(const struct options *o, const char *const *words, bool all_cpus,
		 bool tracepoints);

/* Offer the kinds of features, and all features of this machine. */
void features_offer(struct nearest *n);

/* features_try.c: experiments -------------------------------------------------------- */

/* Open each event that features are tried on, to see whether it opens. */
void features_prepare(struct features *fs);

/* Return the first event that opens; NULL if none does. */
const struct feature_base *features_any(const struct features *fs);

/* Return whether none does, which leaves the feature untried. */
bool features_nothing_opens(const struct features *fs, struct feature *f);

/*
 * Fill in an attr of FEATURE_ATTR_MAX bytes with type, size, config and, without the
 * privilege to count the kernel, exclude_kernel.  Return its size.
 */
size_t features_attr(struct features *fs, uint32_t type, uint64_t config, uint8_t *attr);

/* Set a member by its index in xlat/layouts.h. */
void features_put(uint8_t *attr, unsigned int index, uint64_t v);

#define FEATURES_NO_EFFECT "no observable effect"

/* The answers of several runs: a busy machine may lose a sample in one of them. */
enum features_verdict {
	FEATURES_SAME,		/* no effect */
	FEATURES_DIFFERENT,	/* an effect */
	FEATURES_UNSTEADY,	/* an effect in some runs only */
};

/*
 * Return whether two events, the first of which opens, behave differently.  exact: compare
 * counts; chains: compare the length of callchains.
 */
enum features_verdict features_differ(struct features *fs, const struct experiment *x,
				      const struct experiment *y, bool exact, bool chains);

/* Return whether what is observed of an event, which opens, satisfies a condition. */
enum features_verdict features_shows(struct features *fs, const struct experiment *x,
				     bool (*shows)(const struct observed *o, uint64_t arg),
				     uint64_t arg);

/*
 * Store a verdict if it is better than the present result; accepted_on and why: of one without an
 * effect.  Return whether there is an effect.
 */
bool features_judge(struct feature *f, enum features_verdict v, const char *on,
		    const char *accepted_on, const char *why);

/* Store a result if it is better than the present one; why may be NULL. */
bool features_found(struct feature *f, enum feature_result r, const char *on,
		    const char *why);

/*
 * Store that what an event counts is dead on this machine, if it is; return false if not, or if
 * that is unknown.  count: what the event counted, on: see struct feature.
 */
bool features_dead(struct features *fs, struct feature *f, const uint8_t *attr, size_t len,
		   uint64_t count, const char *on);

/*
 * Store a refusal and the rule that explains it, like features_found(); or that the feature is
 * untried, if others have what it needs.
 */
void features_refused(struct features *fs, struct feature *f, const struct experiment *x,
		      int error, const char *on);

/*
 * Return what was observed in run n of an experiment, less than FEATURE_RUNS.  It is not run again
 * if it was; many features are compared with the same event without them.  The result is valid
 * until features_runs_free().  Return NULL if there was no result.
 */
const struct observed *features_observe(struct features *fs, const struct experiment *x, size_t n);

void features_runs_free(struct features *fs);

/* The trials of each kind; see features.c. */
feature_try_fn features_try_member, features_try_sample, features_try_read,
	features_try_clock, features_try_size, features_try_ioctl,
	features_try_flag, features_try_argument, features_try_cpu, features_try_type,
	features_try_event, features_try_breakpoint, features_try_pmu;

/* features_show.c: conclusions and results ----------------------------------------------- */

struct features_release {
	uint32_t from;		/* the kernel is at least this release, 0: unknown */
	uint32_t before;	/* oldest release of which a feature is missing, 0: none */
	size_t undecided;	/* dated features whose presence is unclear */
};

void features_release(const struct features *fs, struct features_release *r);

/* Return whether the release of uname(2) agrees with the one found. */
bool features_release_fits(const struct features *fs, const struct features_release *r);

/* Show a feature that was tried; features are shown in the order of the list. */
void features_show(struct features *fs, size_t i);

/*
 * Show the instruments that were tried: all of them, after all features, else only as JSON those
 * that a feature needed.
 */
void features_show_instruments(struct features *fs);

/* Show the line with which the JSON of all features is a machine file. */
void features_show_facts(struct features *fs);

/* Show what follows for kernel and machine, if all features were wanted. */
void features_show_machine(struct features *fs);
