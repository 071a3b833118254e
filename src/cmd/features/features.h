/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pevtrace features: what kernel, machine and user can do, found by trying. */
#ifndef PEVTRACE_CMD_FEATURES_FEATURES_H
#define PEVTRACE_CMD_FEATURES_FEATURES_H

#include "abi/rules.h"
#include "cli/machine.h"
#include "cli/showing.h"
#include "drive/experiment.h"
#include "host/facts.h"
#include "lib/buf.h"

/* In ascending order: the best result on any event counts. */
enum feature_result {
	FEATURE_UNTRIED,	/* nothing here that it could be tried on */
	FEATURE_NO,		/* the kernel refuses */
	FEATURE_ACCEPTED,	/* accepted, without an observable effect */
	FEATURE_YES,		/* what it is for was seen */
	FEATURE_RESULTS
};

extern const char *const feature_results[FEATURE_RESULTS];

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
	enum fact known;	/* to this kernel's interface */
	int error;		/* with FEATURE_NO, positive errno */
	const struct rule_desc *rule;	/* that explains it, or NULL */
	const char *on;		/* the event that it was seen on, NULL */
	struct buf why;		/* more about the result, in words */
};

struct feature_kind {
	const char *name;
	const char *meaning;
	bool dated;		/* since is the release that brought it to perf */
	void (*add)(struct features *fs, const struct feature_kind *k);
};

extern const struct feature_kind feature_kinds[];	/* the last has no name */

enum { FEATURE_ATTR_MAX = 256, FEATURE_BASES = 9 };

/* An event that features are tried on. */
struct feature_base {
	char name[64];
	uint8_t attr[FEATURE_ATTR_MAX];
	size_t len;
	unsigned int work;	/* that it needs to count anything */
	bool exact;		/* it counts the same each time */
	bool probe;		/* tried with members of its own only */
	int error;		/* of opening it as it is, 0 */
};

struct features {
	struct options options;
	const char *const *words; /* the operands, NULL-terminated */
	bool all_cpus;
	struct machine machine;
	struct facts facts;
	struct showing out;
	struct feature *list;	/* owned, as are their names and reasons */
	size_t n;
	struct feature_base bases[FEATURE_BASES];
	size_t nbases;
	int bpf_error;		/* why no BPF program can be loaded, 0 */
	int gate;		/* errno that something returns in place of the kernel, 0 */
	int ran_out;		/* EMFILE or ENFILE of an experiment, 0 */
	uint32_t attr_size;	/* of the kernel; 0: unknown */
};

/* A new feature at the end of the list, not tried yet; valid until the next. */
struct feature *features_add(struct features *fs, const struct feature_kind *k,
			     const char *name, uint32_t since, const char *meaning);

/* features_try.c: one experiment, and what to say of it ------------------------------ */

/* Opens what features are tried on. */
void features_prepare(struct features *fs);

/* Return the first event that opens; NULL if none does. */
const struct feature_base *features_any(const struct features *fs);

/* An attr to begin with, of which only this is filled in, and what we must leave out. */
size_t features_attr(struct features *fs, uint32_t type, uint64_t config, uint8_t *attr);

/* Sets a member by its index in xlat/layouts.h. */
void features_put(uint8_t *attr, unsigned int index, uint64_t v);

#define FEATURES_NOTHING_OPENS "no event at all can be opened"
#define FEATURES_NO_EFFECT "no observable effect"

/*
 * Whether what two events do differs, in two runs of three: a busy machine makes a difference
 * now and then.  That the first opens is known; that the second does not is one.
 * exact: counts are the same each time; chains: the length of callchains counts.
 */
bool features_differ(const struct experiment *x, const struct experiment *y, bool exact,
		     bool chains);

/* Store a result if it is better than the present one; why may be NULL. */
bool features_found(struct feature *f, enum feature_result r, const char *on,
		    const char *why);

/* Takes a refusal, and finds the rule; on as above. */
void features_refused(struct features *fs, struct feature *f, const struct experiment *x,
		      int error, const char *on);

/* The ways to try, by kind; see features_list.c. */
feature_try_fn features_try_member, features_try_sample, features_try_read,
	features_try_branch, features_try_clock, features_try_size, features_try_ioctl,
	features_try_flag, features_try_argument, features_try_cpu, features_try_type,
	features_try_event, features_try_breakpoint, features_try_pmu;

/* features_kernel.c: what it adds up to ------------------------------------------------ */

struct features_release {
	uint32_t from;		/* newest release all of whose features are there */
	uint32_t before;	/* oldest release of which a feature is missing, 0: none */
	size_t undecided;	/* dated features whose presence is unclear */
};

void features_release(const struct features *fs, struct features_release *r);

/* Whether the kernel's own name fits in between. */
bool features_release_fits(const struct features *fs, const struct features_release *r);

/* Write up to max limits of this machine and user, one per line; return how many. */
enum { FEATURES_LIMITS = 12 };
size_t features_limits(const struct features *fs, struct buf *lines, size_t max);

/* features_show.c ----------------------------------------------------------------------- */

void features_show(struct features *fs);

#endif
