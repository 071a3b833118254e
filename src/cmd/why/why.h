/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pevtrace why: the cause of a refusal, found by experiment. */
#ifndef PEVTRACE_CMD_WHY_WHY_H
#define PEVTRACE_CMD_WHY_WHY_H

#include "judge/judge.h"
#include "drive/cause.h"
#include "host/confine.h"

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
	WHY_FILE,		/* the file to be probed */
	WHY_BLOCKS,
};

/* A call that failed in a program, or in a dump, as it was there. */
struct why_seen {
	unsigned int times;	/* how often it failed so; 0: it is of no command */
	/* it was tried in another form, which worked: the name, and what differs */
	const char *instead, *differs;
};

struct why_result {
	const char *not_tried;	/* why there could be no experiments, or NULL */
	struct cause cause;
	struct change_list changes;	/* that cause points into */
	struct rule_ask ask;		/* the call as it is issued here */
	char exe[4096];			/* a file that can be probed, for a change */
	struct rule_verdict judged;
	int simplest;		/* errno of the simplest call; 0: it opens */
	bool blocked[WHY_BLOCKS];
	bool found;		/* the cause is */
	struct confinement confinement;
	struct change_call nearest; /* that opens; only with cause.n */
	/* of a call that opens here, but did not in the dump: a rule it may be */
	const struct rule_desc *there;
};

/* Says what was found, in text or as JSON. */
void why_show(struct judge *k, const struct judge_call *c, const struct why_result *r,
	      const struct why_seen *seen);

/* Examine one call; return the exit status. */
int why_call(struct judge *k, struct judge_call *c, const struct why_seen *seen);

/* Trace k->command and examine the calls that failed in it; return the exit status. */
int why_command(struct judge *k);

#endif
