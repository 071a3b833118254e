/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What could be changed in a perf_event_open(2) that is refused: for each member
 * and argument the values that make sense in its place, by the tables and by the
 * limits that the rules know.  Which of them helps is for the kernel to say.
 */
#ifndef PEVTRACE_ABI_CHANGE_H
#define PEVTRACE_ABI_CHANGE_H

#include "abi/call.h"
#include "abi/rules.h"

enum { CHANGE_ATTR_MAX = 4096 };

/* The nearest first. */
enum change_how {
	CHANGE_FIX,	/* a value near to what was asked for */
	CHANGE_ADD,	/* something more is asked for */
	CHANGE_DROP,	/* something is not asked for any more */
	CHANGE_TARGET,	/* another task or CPU is measured */
	CHANGE_EVENT,	/* another event of the same kind */
	CHANGE_KIND,	/* an event of another kind */
};

/* One member or argument with another value. */
struct change {
	const struct field *field;	/* NULL: an argument */
	unsigned int arg;		/* its index */
	uint64_t value;
	const char *string;	/* what value points to, or NULL */
	enum change_how how;
	unsigned int far;	/* among those of the same kind, the least is nearest */
};

struct change_list {
	struct change *list;	/* owned */
	size_t n;
};

/* What stands in where the tables cannot know what there is; zero: nothing. */
struct change_stock {
	const char *path;	/* of a file that can be probed */
	uint64_t tracepoint;	/* id of one */
};

/* A call that changes are made to. */
struct change_call {
	struct rule_ask ask;	/* ask.attr is attr, or NULL */
	uint8_t attr[CHANGE_ATTR_MAX];
};

/*
 * All changes to the call that are worth a trial.  names tells which members of
 * a union count; facts of the group and limits are those of the ask.
 */
void change_list(const struct rule_ask *ask, const struct names *names,
		 const struct change_stock *stock, struct change_list *out);
void change_list_free(struct change_list *l);

/* The member's or argument's name, as rules have it among their fields. */
const char *change_name(const struct change *c);

/* Both concern the same place, so that only one of them can be made. */
bool change_same_place(const struct change *a, const struct change *b);

void change_begin(struct change_call *to, const struct rule_ask *from);
void change_apply(struct change_call *to, const struct change *c);

/* The simplest event that there is: it counts nothing, on the caller itself. */
void change_simplest(struct change_call *to, const struct rule_facts *facts);

#endif
