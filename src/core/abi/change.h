/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Possible changes to a refused perf_event_open(2): for each member and argument the
 * plausible values, from the tables and the limits that the rules know.  Only a trial
 * shows which of them succeeds.
 */
#pragma once

#include "core/abi/call.h"
#include "core/abi/rules.h"

enum { CHANGE_ATTR_MAX = 4096 };

/* Kinds of changes, the smallest first. */
enum change_how {
	CHANGE_FIX,	/* a value close to the requested one */
	CHANGE_ADD,	/* an additional request */
	CHANGE_DROP,	/* a request is dropped */
	CHANGE_TARGET,	/* another task or CPU is measured */
	CHANGE_EVENT,	/* another event of the same kind */
	CHANGE_KIND,	/* an event of another kind */
};

/* One member or argument with another value. */
struct change {
	const struct field *field;	/* NULL: an argument */
	unsigned int arg;		/* its index */
	uint64_t value;
	const char *string;	/* the string that value points to, or NULL */
	enum change_how how;
	unsigned int distance;	/* distance from the original, within one kind */
};

struct change_list {
	struct change *list;	/* owned */
	size_t n;
};

/* Objects of this machine that changes may use; zero: none. */
struct change_stock {
	const char *path;	/* of a file that can be probed */
	uint64_t tracepoint;	/* id of a tracepoint */
};

/* A call to which changes are applied. */
struct change_call {
	struct rule_ask ask;	/* ask.attr is attr, or NULL */
	uint8_t attr[CHANGE_ATTR_MAX];
};

/*
 * List all changes to the call that are worth a trial.  names decides which members of
 * a union apply; facts of the group and limits are those of the ask.
 */
void change_list(const struct rule_ask *ask, const struct names *names,
		 const struct change_stock *stock, struct change_list *out);
void change_list_free(struct change_list *l);

/* Return the name of the member or argument, as in the fields of rules. */
const char *change_name(const struct change *c);

/* Return whether both change the same bytes, so that only one can be applied. */
bool change_same_place(const struct change *a, const struct change *b);

/* Set the call from with a set of changes. */
void change_make(struct change_call *to, const struct rule_ask *from,
		 const struct change *const *set, size_t n);

/* Set the simplest event: a dummy on the calling thread. */
void change_simplest(struct change_call *to, const struct rule_facts *facts);
