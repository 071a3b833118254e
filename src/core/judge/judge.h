/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the kernel says of a perf_event_open(2), and why: the rules (core/abi/rules.h), applied to
 * what is known of the machine, of the group and of the caller, and the result, where one was seen.
 */
#pragma once

#include <limits.h>

#include "core/abi/layout.h"
#include "core/abi/rules.h"
#include "core/host/host.h"
#include "core/model/model.h"

enum { JUDGE_NOT_SEEN = INT_MIN };

struct judge_case {
	struct rule_ask ask;	/* its facts are those of judge_machine if by_anybody */
	/* the caller is not known, as in a dump: it may have had all rights and limits, or none */
	bool by_anybody;
	int seen;		/* the result: JUDGE_NOT_SEEN, 0: it opened, or a positive errno */
};

struct judgement {
	/* of the rules alone; for a caller with all rights, if that is not known */
	struct rule_verdict rules;
	int error;		/* what was seen, or else what the rules say; 0: it opens */
	/* the reason; NULL: it opens, or no rule explains the error */
	const struct rule_desc *rule;
	bool sure;		/* the rule refuses the call; else it may have */
	/* no fact that is unknown, and no newer kernel, could change what the rules say */
	bool certain;
	/* all rules that may be the reason, the first of which is rule */
	const struct rule_desc *suspects[RULE_COUNT];
	size_t nsuspects;
};

/*
 * Judge a call by the rules, in the order of the kernel's checks, and by the result that was seen.
 * The texts in *out are those of the tables; c->ask.facts must outlive the call only.
 */
void judge_open(const struct judge_case *c, struct judgement *out);

/* Return whether the rule refuses, of those that follow the decisive one, too. */
static inline bool judge_refuses(const struct rule_verdict *v, size_t rule)
{
	return v->says[rule] == RULE_REFUSES || v->says[rule] > 0;
}

/*
 * Find the rules that would refuse a hardware event if the machine had a PMU for it, as it has none:
 * those that rule no_pmu hides.  Return their number; 0 of other events.
 */
size_t judge_with_pmu(const struct rule_ask *ask, const struct rule_desc *out[RULE_COUNT]);

/* The capabilities that rules look at. */
enum { JUDGE_CAPS = 3 };
extern const struct judge_cap { const char *name; unsigned int bit; } judge_caps[JUDGE_CAPS];

/* What would satisfy the rules that rights decide. */
struct judge_rights {
	int paranoid;		/* the highest perf_event_paranoid that does; INT_MIN: none */
	int perhaps;		/* the highest that does unless an unknown fact is against it */
	const char *cap;	/* the name of the capability that does; NULL: none alone */
};

/* Find the rights that a call requires; return false if it lacks none, or none suffices. */
bool judge_rights(const struct rule_ask *ask, struct judge_rights *out);

/* Pass the member of w, or argument of the call, of that name to the sink. */
void judge_emit(const struct walk *w, const struct call *c, const char *name, size_t len,
		struct sink *sink);

/*
 * Pass the members and arguments that a rule checks to the sink: of RULE_RESERVED_BITS, those that
 * are set and that a kernel of that release does not know.
 */
void judge_emit_fields(const struct walk *w, const struct call *c, const struct rule_desc *rule,
		       uint32_t release, struct sink *sink);

enum { JUDGE_PMUS = 128 };	/* of more, it is not known what they have */

/* The facts of the machine on which a dump was made. */
struct judge_machine {
	struct rule_facts facts;
	struct rule_pmu pmus[JUDGE_PMUS];
};

/*
 * Fill in the facts about a call on another machine: its release (KVER(); 0: unknown), and what
 * names knows of the attr, which must outlive *m.
 */
void judge_elsewhere(struct judge_machine *m, uint32_t release, const struct arch *arch,
		     const struct names *names, const uint8_t *attr, size_t len);

/* Do the same for a machine whose limits refuse nothing. */
void judge_unlimited(struct judge_machine *m, uint32_t release, const struct arch *arch,
		     const struct names *names, const uint8_t *attr, size_t len);

/*
 * Judge an attempt on the machine of the host, for a caller with the rights of this process, or of its machine file.  Its descriptors,
 * and strings in its memory, are not known here.
 */
void judge_here(const struct attempt *a, struct host *host, struct judgement *out);

/* Judge an attempt of the model, which failed with that error, on the machine of a dump. */
void judge_attempt(const struct attempt *a, uint32_t release, const struct arch *arch,
		   const struct names *names, struct judgement *out);
