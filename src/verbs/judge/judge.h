/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that a command line names, judged by the rules and by the kernel. */
#pragma once

#include "core/abi/attr_text.h"
#include "core/abi/call.h"
#include "core/abi/rules.h"
#include "verbs/cli/machine.h"
#include "verbs/cli/showing.h"
#include "experiment/instruments.h"
#include "experiment/trial.h"
#include "core/host/facts.h"
#include "core/lib/buf.h"

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
	/* as passed to the kernel: its pointers are to strings below */
	uint8_t attr[JUDGE_ATTR_MAX];
	size_t len;
	struct buf strings[ATTR_TEXT_STRINGS];
	/* the event of group_fd; all is unknown if event is FACT_UNKNOWN */
	struct rule_group group;
	uint8_t leader_attr[JUDGE_ATTR_MAX]; /* group.attr points to it */
	struct trial_state before; /* events open at that time, including that of group_fd */
	struct trial_event alone; /* before points to it for the group leader in a dump */
	/* result in the dump */
	bool from_dump, returned;
	bool injected;		/* result injected by pevtrace */
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
	bool asked;		/* the call was made */
	const char *not_asked;	/* why it was not */
	struct trial trial;
	enum judge_verdict verdict;
	const struct rule_desc *open;	/* JUDGE_UNFORESEEN: the rule that may have refused it */
};

struct judge;

/* A verb that judges calls. */
struct judge_verb {
	const char *name;
	const char *does;	/* verb of the message "nothing to %s" */
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
	struct instruments instruments;
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

/*
 * Return the name in "FILE:123", which the caller frees; NULL if there is no such file.  Die if
 * the number is missing.
 */
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

/* Read the call on that line of a dump, with its group.  Return false after a warn(). */
bool judge_call_of_dump(struct judge_call *c, const char *path, unsigned long line);

/* A call that failed in a traced program. */
struct judge_failed {
	struct judge_call call;
	unsigned long line;	/* of the first failure in the dump */
	unsigned int times;
	size_t attempt;		/* index in the model */
	bool own_task;		/* pid was a task of the trace */
	/* name of the event that opened instead, and the members that differ; or NULL */
	char *instead, *differs;
};

struct judge_failures {
	struct judge_failed **list;	/* owned */
	size_t n;
};

/*
 * Collect the failed calls of a dump, identical ones once.  Return false after a warn(), or
 * if no task was traced.  Free the list in any case.
 */
bool judge_failures_of_dump(FILE *f, const char *path, struct judge_failures *out);
void judge_failures_free(struct judge_failures *l);

/*
 * Return the pid to use for a call of a dump: 0, pevtrace itself, in place of a task of the
 * dump, which no longer exists.
 */
int32_t judge_pid_here(const struct judge_call *c);

/* Return the call, as judge_call_prepare() built it, in the form that rules judge. */
struct rule_ask judge_rule_ask(const struct judge *k, const struct judge_call *c);

/* Find the facts about the call for k->facts; tries: open events for that, too. */
void judge_find_facts(struct judge *k, const struct judge_call *c,
		      const struct rule_ask *ask, bool tries);

/* Make the call with those before it open; return NULL, or why that failed. */
const char *judge_try(const struct judge_call *c, const struct rule_ask *ask,
		      struct trial *out);

/* Judge the call and ask the kernel; set the call's result. */
void judge_ask(struct judge *k, struct judge_call *c, struct judge_result *r);
