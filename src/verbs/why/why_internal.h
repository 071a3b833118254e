/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The results of experiments on one call, and how they are shown. */
#pragma once

#include "core/host/rights.h"
#include "experiment/cause.h"
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

struct why_result {
	const char *not_tried;	/* why no experiment was possible, or NULL */
	struct cause cause;
	struct change_list changes;	/* cause points to its elements */
	struct rule_ask ask;		/* the call as made here */
	char exe[4096];			/* path for changes of uprobe_path */
	int simplest;		/* errno of the simplest call; 0: it opens */
	bool blocked[BLOCKS];
	bool found;		/* a cause or an obstacle */
	struct confinement confinement;
	struct change_call nearest; /* the changed call that opens; only with cause.n */
	/* the rule that may have refused it in the dump: the call opens here, or was not tried */
	const struct rule_desc *there;
};

/* What is shown of a call: either its answer, or the result of experiments. */
struct show {
	struct why *k;
	struct showing *out;
	const struct why_call *c;
	const struct why_answer *answer;	/* or NULL */
	const struct why_result *r;		/* or NULL */
	const struct why_seen *seen;		/* with r */
	bool again;	/* another call of the command was refused for the same causes */
};

/* Show the answer or the result as text or JSON. */
void why_show(struct show *s);

/* members.c: calls, their members and arguments ------------------------------------------- */

/* Show the line of a call with its result: an errno, or 0 if it opened. */
void members_show_call(const struct show *s, const char *label, const struct call *c, int error);

/* Add the arguments of the call and the bytes of its attr to the current object. */
void members_json_call(const struct show *s, const struct call *c);

/* Write the member or argument of that name with its value in the call. */
void members_emit(const struct show *s, const struct call *c, const char *name, size_t len);

/* Write the members and arguments that a rule checks. */
void members_of_rule(const struct show *s, const struct rule_desc *d);

/* Fill in the changed call as a trace would contain it; the caller frees it with call_free(). */
void members_make_call(const struct show *s, const struct change_call *from, struct call *to);

/* Write the changed members and arguments with their new values. */
void members_emit_changes(const struct show *s, const struct change *const *set, size_t n,
			  const char *key);

enum { BLAMED = 16 };

struct member_name { const char *at; size_t len; };

/*
 * List the members and arguments that cause the refusal: those that have to be changed, or
 * the fields of the rule if none of these is among them.
 */
size_t members_blamed(const struct show *s, const struct cause_fault *f, struct member_name *out);

/* here.c: this machine --------------------------------------------------------------------- */

/* Append the state here of what one RULE_BY_ bit names; return false if nothing applies. */
bool here_add(const struct show *s, uint64_t by, struct buf *out);

/*
 * Append why a rule could not be judged: the fact that could not be read, of the first such rule.
 * Return false if there is none: the rules depend on what cannot be known in advance.
 */
bool here_add_unread(const struct show *s, struct buf *out);

/* Append what an obstacle is, in words; return its name. */
const char *here_add_block(const struct show *s, enum why_block b, struct buf *out);
