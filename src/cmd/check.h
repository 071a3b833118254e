/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pevtrace check: one call, judged by the rules and by the kernel. */
#ifndef PEVTRACE_CMD_CHECK_H
#define PEVTRACE_CMD_CHECK_H

#include "abi/attr_text.h"
#include "abi/call.h"
#include "abi/rules.h"
#include "cmd/machine.h"
#include "cmd/showing.h"
#include "drive/trial.h"
#include "host/facts.h"
#include "lib/buf.h"

enum { CHECK_ATTR_MAX = ATTR_TEXT_MAX };

/* A perf_event_open(2) to be judged; call holds it as a trace would. */
struct check_call {
	struct call call;
	char label[256];	/* what a text calls it, "" */
	/* as it is issued here: its strings are in our memory */
	uint8_t attr[CHECK_ATTR_MAX];
	size_t len;
	struct buf strings[ATTR_TEXT_STRINGS];
	/* what is known of the event behind group_fd; event FACT_UNKNOWN: nothing */
	struct rule_group group;
	uint8_t leader_attr[CHECK_ATTR_MAX]; /* that group.attr points to */
	bool open_leader;	/* it is to be opened before, with leader's ring */
	/* of a dump: what was said then */
	bool from_dump, returned;
	int error;		/* positive errno, 0: it opened */
	const char *not_here;	/* why it cannot be issued, or NULL */
};

/* What came of it. */
enum check_verdict {
	CHECK_OPENS, CHECK_REFUSED,
	CHECK_UNFORESEEN,	/* refused by what the rules could not know */
	CHECK_DISAGREEMENT,
};

struct check_result {
	struct rule_verdict judged;
	bool asked;		/* the kernel was */
	const char *not_asked;	/* why not */
	struct trial trial;
	enum check_verdict verdict;
	const struct rule_desc *open;	/* CHECK_UNFORESEEN: that it may have been */
};

/* Emptied, without an attr, group or descriptor. */
void check_call_init(struct check_call *c);
void check_call_free(struct check_call *c);

/* The arguments behind the attr. */
void check_call_args(struct check_call *c, int32_t pid, int32_t cpu, int32_t group_fd,
		     uint64_t flags);

/* Makes the attr as it is issued out of what the call has captured. */
void check_call_prepare(struct check_call *c, const struct names *names);

/*
 * The call on that line of a dump, with what the dump tells of its group; the
 * pid is left to the caller.  False after a warn().
 */
bool check_call_of_dump(struct check_call *c, const char *path, unsigned long line);

/* Says what came of it, in text or as JSON. */
void check_show(struct showing *out, const struct machine *machine,
		const struct facts *facts, const struct check_call *c,
		const struct check_result *r);

#endif
