/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The results of experiments on one call, and how they are shown. */
#pragma once

#include "core/host/rights.h"
#include "core/judge/remedy.h"
#include "verbs/why/why.h"

/* Obstacles that no change of the attr removes. */
enum why_block {
	BLOCK_SECCOMP,		/* a filter answers in the kernel's place */
	BLOCK_NO_SYSCALL,	/* the kernel does not have the call */
	BLOCK_SECURITY,		/* a security module */
	BLOCK_PARANOID,		/* kernel.perf_event_paranoid */
	BLOCK_CAPABILITY,
	BLOCK_DESCRIPTORS,	/* RLIMIT_NOFILE */
	BLOCK_PMU,		/* no PMU has the event */
	BLOCK_BREAKPOINTS,	/* all are in use */
	BLOCK_BUSY,		/* the PMU is in use */
	BLOCK_FILE,		/* the file of a uprobe cannot be opened */
	BLOCKS,
};

#define FIX_NOT_TRIED UINT64_MAX

/* What would measure what a refused call asks for (examine.c). */
struct why_fix {
	bool measures;		/* the changed call that opens does */
	bool another;		/* it is another event */
	bool lacks;		/* the call, or that with with_rights, lacks nothing but rights */
	const char *advice;	/* what to do where no values of members are a fix, or NULL */
	struct buf instead;	/* what the changed call measures instead, in words */
	const struct flaw_desc *flaw;	/* for which it counts nothing, or NULL */
	struct judge_rights rights;	/* with lacks */
	const struct change *with_rights; /* or NULL */
	uint64_t counted;	/* by the changed call, in a trial; or FIX_NOT_TRIED */
};

struct why_result {
	const char *not_tried;	/* why no experiment was possible, or NULL */
	bool by_rules;		/* no experiment was made: the rules answered for the kernel */
	struct cause cause;
	struct change_list changes;	/* cause points to its elements */
	struct rule_ask ask;		/* the call as made here */
	char exe[4096];			/* path for changes of uprobe_path */
	int simplest;		/* errno of the simplest call; 0: it opens */
	bool blocked[BLOCKS];
	bool found;		/* a cause or an obstacle */
	struct change_call nearest; /* the changed call that opens; only with cause.n */
	struct why_fix fix;
	/* the rule that may have refused it in the dump: the call opens here, or was not tried */
	const struct rule_desc *there;
};

/* What is shown of a call: its answer, with a result of the rules, or the result of experiments. */
struct show {
	struct why *k;
	struct showing *out;
	const struct why_call *c;
	const struct why_answer *answer;	/* or NULL */
	const struct why_result *r;		/* or NULL */
	const struct why_failed *seen;		/* in a command, or NULL */
	const struct why_kept **alike;		/* other calls, refused alike */
	size_t nalike;
	unsigned int times;	/* how often all of these were refused */
};

/* Show the call and its answer as text or JSON. */
void show_answer(const struct show *s);

/* Show the call and the result of experiments (result.c). */
void show_result(const struct show *s);

void why_result_free(struct why_result *r);

/* Show what to do, and the call that opens (result.c). */
void show_fix(const struct show *s);

/* Show what the dump suggests to do about a rule, else what decides it suggests (result.c). */
void show_remedy(const struct show *s, const struct rule_desc *rule);

/* show.c: lines of text and members of JSON ----------------------------------------------- */

/* Append "heading: " to the line. */
void show_heading(const struct show *s, enum text_color color, const char *heading);

/* Begin the line "  heading: ", which showing_end() ends; return it. */
struct buf *show_line(const struct show *s, enum text_color color, const char *heading);

/* End a line, or an object or array in JSON. */
void show_end(const struct show *s);

/* Write an errno, or that it opens, in the line or object that was begun. */
void show_outcome(const struct show *s, int error);

/* Append the name of the event in question: that of the command line, or the event's own. */
void show_add_label(const struct show *s, struct buf *out);

/* Append the reason of a refusal to the line, "MEANING (rule NAME, ERRNO)"; rule: NULL: not known. */
void show_add_reason(const struct show *s, const struct rule_desc *rule, bool sure, int error);

/* Append "cause: ", the members that a rule checks, and the reason to the line; rule: or NULL. */
void show_add_cause(const struct show *s, const struct rule_desc *rule, bool sure, int error);

/* Return a walk over the members of the call's attr, with the pointers of the call. */
struct walk show_walk(const struct show *s, const struct call *c);

/* Show the line of a call with its result: an errno, or 0 if it opened. */
void show_call(const struct show *s, const char *label, const struct call *c, int error);

/* Add the arguments of the call and the bytes of its attr to the current object. */
void show_json_call(const struct show *s, const struct call *c);

/* Show in lines when a rule is checked and what decides it; add all of it to the current object. */
void show_rule_text(const struct show *s, const struct rule_desc *d);
void show_rule_json(const struct show *s, const struct rule_desc *d);

/* Write the members and arguments that a rule checks. */
void show_rule_members(const struct show *s, const struct rule_desc *d);

/* Begin the object of JSON, which showing_end() ends, with the call. */
void show_head(const struct show *s);

/* Show the result in the dump or command, if it had one. */
void show_seen(const struct show *s);

/* Show by which rules a machine with a PMU would refuse the call, which has none here. */
void show_with_pmu(const struct show *s);

/* Show obstacles in the machine; as text, those that the fix does not name. */
void show_blocks(const struct show *s);

/* Show that the call, which opens, is for an event of the hardware, and such do not count here. */
void show_doubt(const struct show *s);

/* This machine --------------------------------------------------------------------- */

/*
 * Append what to do about a rule by what decides it besides the call, as explain does; here: with
 * its state here.  Return false if nothing is known.
 */
bool here_add_remedy(const struct show *s, const struct rule_desc *d, bool here, struct buf *out);

/*
 * Append why a rule could not be judged: the fact that could not be read, of the first such rule.
 * Return false if there is none: the rules depend on what cannot be known in advance.
 */
bool here_add_unread(const struct show *s, struct buf *out);

/* Append the rights and hardware that the call, or fix.with_rights, require. */
void here_add_required(const struct show *s, struct buf *out);

/* Append what an obstacle is, in words; return its name. */
const char *here_add_block(const struct show *s, enum why_block b, struct buf *out);
