/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of perf_event_open(2) that a command line names, judged by the rules and tried. */
#pragma once

#include "core/host/facts.h"
#include "core/judge/judge.h"
#include "core/judge/refused.h"
#include "core/session/session.h"
#include "experiment/instruments.h"
#include "experiment/trial.h"
#include "verbs/cli/input.h"
#include "verbs/cli/log_calls.h"
#include "verbs/cli/machine.h"
#include "verbs/cli/showing.h"

enum {
	WHY_ATTR_MAX = ATTR_TEXT_MAX,
	WHY_ATTR_AT = 0x100000,	/* address of the attr in the call that is shown */
	WHY_DESCRIPTORS = 8,	/* limit of descriptors that one trial has open */
};

/* A perf_event_open(2) in question; call holds it as in a trace. */
struct why_call {
	struct call call;
	char label[256];	/* the name in the text of the attr, or "" */
	/* as passed to the kernel: its pointers are to strings below */
	uint8_t attr[WHY_ATTR_MAX];
	size_t len;
	struct buf strings[ATTR_TEXT_STRINGS];
	/* the event of group_fd; all is unknown if event is FACT_UNKNOWN */
	struct rule_group group;
	uint8_t group_attr[WHY_ATTR_MAX]; /* group.attr points to it */
	struct trial_state before; /* events open at that time, including that of group_fd */
	/* of a dump, before points to these: the event of group_fd, the last, and its leader */
	struct trial_event open[2];
	uint8_t leader_attr[EVENT_ATTR_MAX];
	/* result in the dump */
	bool from_dump, returned;
	bool from_log;		/* of a text, whose machine is not known */
	bool injected;		/* result injected by pevtrace */
	int error;		/* positive errno, 0: it opened */
	const struct rule_desc *there; /* the rule that may have refused it there, or NULL */
	bool there_sure;
	struct buf remedy;	/* what to change, by the rules there; perhaps empty */
	const char *not_here;	/* why it cannot be made here, or NULL */
	bool by_name;		/* -e named it */
	bool leads;		/* the call of --leader */
	bool opens;		/* set by why_check() and why_examine() */
};

/* How the rules and the kernel answered. */
enum why_verdict {
	WHY_OPENS, WHY_REFUSED,
	WHY_UNFORESEEN,		/* refused, by a condition that the rules could not know */
	WHY_STOPPED,		/* something answered in place of the kernel (trial_gate()) */
	WHY_DISAGREEMENT,
};

struct why_answer {
	struct judgement judged;	/* by the rules alone */
	bool asked;		/* the call was made */
	const char *not_asked;	/* why it was not */
	struct trial trial;
	enum why_verdict verdict;
	const struct rule_desc *open;	/* WHY_UNFORESEEN: the rule that may have refused it */
	/* it was not made, and would open, unless a rule refuses it that could not be judged */
	bool perhaps;
};

/* A call that failed in a traced program. */
struct why_failed {
	struct why_call call;
	unsigned int times;
	size_t attempt;		/* index in the model */
	bool own_task;		/* pid was a task of the trace */
	/* name of the event that opened instead, and the members that differ; or NULL */
	char *instead, *differs;
	bool same;		/* it is the same event */
	bool probe;		/* that was closed unused: a test of what opens */
};

/* A call that was examined, and is shown when all are, with those that are refused alike. */
struct why_kept {
	struct why_call *c;
	struct why_result *r;	/* owned */
	struct rule_target target; /* the facts that decided it */
	const struct why_failed *seen;	/* how it failed in the command; or NULL */
	unsigned int times;	/* how often, with those that are refused alike */
	uint64_t hash;		/* of cause and fix; 0: it opens */
};

/* The command line, and the state for all of its calls. */
struct why {
	struct options options;
	const struct verb_args *args;
	const char *what, *leader, *cgroup;
	enum input_kind kind;	/* of the file `what`; INPUT_NONE: it is none */
	struct event_texts events; /* of -e */
	char **command;		/* NULL-terminated, or NULL */
	int32_t pid, cpu, group_fd;
	bool all, pid_given, cpu_given, flags_given;
	int32_t missing;	/* a task of the calls, in whose place pevtrace is judged; or 0 */
	uint64_t flags;
	bool rules_only, once, quiet;
	bool elsewhere;		/* another machine is judged: no call is made */
	bool hide_probes;	/* of a command that measured something */
	struct machine machine;
	struct facts facts;
	struct instruments instruments;
	struct showing out;
	unsigned int said;	/* obstacles (enum why_block) whose state was shown */
	struct progress progress;
	struct buf working;	/* what progress shows */
	struct why_call **calls; /* owned */
	size_t ncalls;
	struct log_calls log;
	struct why_kept *kept;
	size_t nkept;
	/* the calls of a list that opened: they stay open for those that follow */
	struct {
		struct trial_event *events;
		size_t n;
	} opened;
};

/* Answer for a command, a dump, the line of one (path), or every call named; return the status. */
int why_answer_all(struct why *k, const char *path, unsigned long line);

/*
 * Return the name in "FILE:123", which the caller frees; NULL if there is no such file.  Die if
 * the number is missing.
 */
char *why_dump_of(const char *what, unsigned long *line);

/* Return the worse of two exit statuses. */
static inline int why_worse(int a, int b)
{
	return a > b ? a : b;
}

/* Initialize a call without attr, group and descriptor. */
void why_call_init(struct why_call *c);
void why_call_free(struct why_call *c);

/* Find the rule that refused a call elsewhere, and what to change, as far as the names say. */
void why_judge_there(struct why_call *c, const struct attempt *refused, uint32_t release,
		     const struct arch *arch, const struct names *names);

/* Set the arguments that follow the attr. */
void why_call_args(struct why_call *c, int32_t pid, int32_t cpu, int32_t group_fd,
		   uint64_t flags);

/* Build the attr to pass to the kernel from the captures of the call. */
void why_call_prepare(struct why_call *c, const struct names *names);

/* Read the call on that line of a dump, with its group.  Return false after a warn(). */
bool why_call_of_dump(struct why_call *c, const char *path, unsigned long line);

/* Calls on an event or its ring that failed alike in a traced program. */
struct why_use {
	char *line;		/* of the first, as a trace has it */
	const struct call_desc *call;
	const struct event *event; /* of the model; NULL: none */
	int error;
	struct refused refused;	/* owned */
	unsigned int times;
	bool maps;		/* a ring buffer: it may work like this: */
	uint64_t length, prot, flags;
	int32_t cpu;		/* of the event, */
	bool inherit;		/* and whether it is inherited */
};

struct why_failures {
	struct why_failed **list;	/* owned */
	size_t n;
	struct why_use *uses;	/* owned */
	size_t nuses;
	struct buf fallbacks;	/* what opened in place of what, in words, a line each */
	struct buf measured;	/* names of the events that opened, but for probes */
};

/*
 * Collect the failed calls of a dump, identical ones once.  Return false after a warn(), or
 * if no task was traced.  Free the list in any case.  here: of this machine, on which the dump was
 * just made; or NULL.
 */
bool why_failures_of_dump(FILE *f, const char *path, const struct facts *here,
			  struct why_failures *out);
void why_failures_free(struct why_failures *l);

/*
 * Return the pid to use for a call of a dump: 0, pevtrace itself, in place of a task of the
 * dump, which no longer exists; one that did not exist there remains.
 */
int32_t why_pid_here(const struct why_call *c);

/* Return the call, as why_call_prepare() built it, in the form that rules judge. */
struct rule_ask why_asked(const struct why *k, const struct why_call *c);

/* Judge the call and, unless the options or the call forbid it, make it; set its result. */
void why_ask(struct why *k, struct why_call *c, struct why_answer *r);

/* Judge one call, make it if the options let it, and show the result; return the exit status. */
int why_check(struct why *k, struct why_call *c);

/*
 * Examine one call by experiment, and show the result as JSON or keep it for show_kept(); return
 * the exit status.
 */
int why_examine(struct why *k, struct why_call *c, const struct why_failed *seen);

/* Add a call other than perf_event_open that failed, in the state of the model (uses.c). */
void why_use_add(struct why_failures *to, const struct session *s, const struct call *c,
		 const struct refused_where *where);

/* Show why each of them failed, and what works in place of it; return the exit status. */
int why_uses_show(struct why *k, struct why_failures *l);

/* Show what the command or dump of that name measured, and in place of what. */
void show_measured(struct why *k, const char *name, const struct why_failures *l);

/* Show the results that were kept, one paragraph for calls that are refused alike. */
void show_kept(struct why *k);
