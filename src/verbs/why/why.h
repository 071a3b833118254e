/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pevtrace why: the cause of a refusal, found by experiment. */
#pragma once

#include "experiment/cause.h"
#include "core/host/confine.h"
#include "verbs/judge/judge.h"
#include "core/lib/map.h"

/* Obstacles that no change of the attr removes. */
enum why_block {
	WHY_SECCOMP,		/* a filter answers in the kernel's place */
	WHY_NO_SYSCALL,		/* the kernel does not have the call */
	WHY_SECURITY,		/* a security module */
	WHY_PARANOID,		/* kernel.perf_event_paranoid */
	WHY_CAPABILITY,
	WHY_DESCRIPTORS,	/* RLIMIT_NOFILE */
	WHY_PMU,		/* no PMU has the event */
	WHY_BREAKPOINTS,	/* all are in use */
	WHY_BUSY,		/* the PMU is in use */
	WHY_FILE,		/* the file of a uprobe cannot be opened */
	WHY_BLOCKS,
};

/* How a call failed in a command. */
struct why_seen {
	unsigned int times;	/* how often; 0: the call is of no command */
	/* name of the event that opened instead, and the members that differ; or NULL */
	const char *instead, *differs;
	struct map *told;	/* hashes of the answers to the command's other calls; or NULL */
};

struct why_result {
	const char *not_tried;	/* why no experiment was possible, or NULL */
	struct cause cause;
	struct change_list changes;	/* cause points to its elements */
	struct rule_ask ask;		/* the call as made here */
	char exe[4096];			/* path for changes of uprobe_path */
	struct rule_verdict judged;
	int simplest;		/* errno of the simplest call; 0: it opens */
	bool blocked[WHY_BLOCKS];
	bool found;		/* a cause or an obstacle */
	struct confinement confinement;
	struct change_call nearest; /* the changed call that opens; only with cause.n */
	/* the rule that may have refused, in the dump, a call that opens here */
	const struct rule_desc *there;
};

/* Show the result as text or JSON. */
void why_show(struct judge *k, const struct judge_call *c, const struct why_result *r,
	      const struct why_seen *seen);

/* Examine one call; return the exit status. */
int why_call(struct judge *k, struct judge_call *c, const struct why_seen *seen);

/* Trace k->command and examine the calls that failed in it; return the exit status. */
int why_command(struct judge *k);
