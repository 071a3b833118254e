/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that a command line names, judged by the rules and by the kernel. */
#ifndef PEVTRACE_JUDGE_JUDGE_H
#define PEVTRACE_JUDGE_JUDGE_H

#include "abi/attr_text.h"
#include "abi/call.h"
#include "abi/rules.h"
#include "cli/machine.h"
#include "cli/showing.h"
#include "drive/trial.h"
#include "host/facts.h"
#include "lib/buf.h"

enum {
	JUDGE_ATTR_MAX = ATTR_TEXT_MAX,
	JUDGE_ATTR_AT = 0x100000, /* address of the attr in the call that is shown */
};

/* Limit of descriptors that one trial has open. */
enum { JUDGE_DESCRIPTORS = 8 };

/* A perf_event_open(2) to be judged; call holds it as in a trace. */
struct judge_call {
	struct call call;
	char label[256];	/* the name in the text of the attr, or "" */
	/* as it is made here: its strings are in our memory */
	uint8_t attr[JUDGE_ATTR_MAX];
	size_t len;
	struct buf strings[ATTR_TEXT_STRINGS];
	/* the event behind group_fd; event FACT_UNKNOWN: nothing is known */
	struct rule_group group;
	uint8_t leader_attr[JUDGE_ATTR_MAX]; /* group.attr points to it */
	struct trial_state before; /* events open at that time, that behind group_fd included */
	struct trial_event alone; /* before points to it for the group leader in a dump */
	/* of a dump: its result there */
	bool from_dump, returned;
	bool injected;		/* by pevtrace, without asking the kernel */
	int error;		/* positive errno, 0: it opened */
	const char *not_here;	/* why it cannot be made here, or NULL */
	bool leads;		/* the call of --leader */
	bool opens;		/* set by the verb */
};

/* Calls of a list that opened, and stay open for those that follow. */
struct judge_opened {
	struct judge_call **calls;	/* owned; they have the attrs of the events */
	struct trial_event *events;
	size_t n;
};

/* How the rules and the kernel answered. */
enum judge_verdict {
	JUDGE_OPENS, JUDGE_REFUSED,
	JUDGE_UNFORESEEN,	/* refused, by a condition that the rules could not know */
	JUDGE_BLOCKED,		/* something answered in place of the kernel (trial_gate()) */
	JUDGE_DISAGREEMENT,
};

struct judge_result {
	struct rule_verdict judged;
	bool asked;		/* the kernel was */
	const char *not_asked;	/* why not */
	struct trial trial;
	enum judge_verdict verdict;
	const struct rule_desc *open;	/* JUDGE_UNFORESEEN: the rule that may have refused it */
};

struct judge;

/* A verb that judges calls. */
struct judge_verb {
	const char *name;
	const char *does;	/* "nothing to %s" */
	bool of_refused;	/* its exit status counts only the refused calls of a list */
	/* Judge one call: set c->opens, return the exit status. */
	int (*one)(struct judge *k, struct judge_call *c);
	/* Run k->command, the operands behind --; NULL: not accepted. */
	int (*command)(struct judge *k);
};

/* The command line of such a verb, and the state for all of its calls. */
struct judge {
	const struct judge_verb *verb;
	struct options options;
	const char *what, *leader, *cgroup;
	const char **events;	/* of -e, owned */
	size_t nevents;
	char **command;		/* NULL-terminated, or NULL */
	int32_t pid, cpu, group_fd;
	bool pid_given, cpu_given, flags_given;
	uint64_t flags;
	bool offline;
	struct machine machine;
	struct facts facts;
	struct showing out;
	uint32_t attr_size;	/* of the kernel, tried once; 0: unknown */
	struct judge_opened opened;
};

/* Options of struct judge. */
extern const struct verb_option judge_options[];
enum { JUDGE_OPTIONS = offsetof(struct judge, options) };

/* Set the defaults of these options. */
void judge_init(void *state);

/* Run verb->one() for every call that is named; return the exit status. */
int judge_run(struct judge *k, const struct judge_verb *verb, const struct verb_args *args);

/* Take the operands; die unless they and the options go together. */
void judge_take_args(struct judge *k, const struct verb_args *args);

/* Return the name in "FILE:123", which the caller frees; NULL if there is no such file. */
char *judge_dump_of(const char *what, unsigned long *line);

/* Return the worse of two exit statuses. */
static inline int judge_worse(int a, int b)
{
	return a > b ? a : b;
}

/* Initialize a call without attr, group and descriptor. */
void judge_call_init(struct judge_call *c);
void judge_call_free(struct judge_call *c);

/* Set the arguments that follow the attr. */
void judge_call_args(struct judge_call *c, int32_t pid, int32_t cpu, int32_t group_fd,
		     uint64_t flags);

/* Build the attr to pass to the kernel from the captures of the call. */
void judge_call_prepare(struct judge_call *c, const struct names *names);

/*
 * The call on that line of a dump, with what the dump tells of its group.
 * False after a warn().
 */
bool judge_call_of_dump(struct judge_call *c, const char *path, unsigned long line);

/* A call that failed in a traced program. */
struct judge_failed {
	struct judge_call call;
	unsigned long line;	/* of the dump, of the first failure */
	unsigned int times;
	size_t attempt;		/* of the model */
	/* the event that opened instead: its name, and what differs; or NULL */
	char *instead, *differs;
};

struct judge_failures {
	struct judge_failed **list;	/* owned */
	size_t n;
};

/*
 * All calls of a dump that failed, those that are alike once.  False after a
 * warn(), or where no task was traced.  Free the list in any case.
 */
bool judge_failures_of_dump(FILE *f, const char *path, struct judge_failures *out);
void judge_failures_free(struct judge_failures *l);

/*
 * The pid of a call of a dump for us.  The tasks of a dump are not there any
 * more: what was asked of one is asked of ourselves.
 */
int32_t judge_pid_here(const struct judge_call *c);

/* Return the question for the rules: the call as judge_call_prepare() built it. */
struct rule_ask judge_rule_ask(const struct judge *k, const struct judge_call *c);

/* Find the facts about the call for k->facts; tries: open events for that, too. */
void judge_find_facts(struct judge *k, const struct judge_call *c,
		      const struct rule_ask *ask, bool tries);

/* Make the call with those before it open; return NULL, or why that failed. */
const char *judge_try(const struct judge_call *c, const struct rule_ask *ask,
		      struct trial *out);

/* Judge the call and ask the kernel; set the call's result. */
void judge_ask(struct judge *k, struct judge_call *c, struct judge_result *r);

#endif
