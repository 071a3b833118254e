/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pevtrace check and why: calls of a command line, judged by the rules and by
 * the kernel.
 */
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
	JUDGE_ATTR_AT = 0x100000, /* where the attr lies in the memory of the call that is shown */
};

/* Open at a time when a call is tried, with what it is judged by. */
enum { JUDGE_DESCRIPTORS = 8 };

/* A perf_event_open(2) to be judged; call holds it as a trace would. */
struct judge_call {
	struct call call;
	char label[256];	/* what a text calls it, "" */
	/* as it is issued here: its strings are in our memory */
	uint8_t attr[JUDGE_ATTR_MAX];
	size_t len;
	struct buf strings[ATTR_TEXT_STRINGS];
	/* what is known of the event behind group_fd; event FACT_UNKNOWN: nothing */
	struct rule_group group;
	uint8_t leader_attr[JUDGE_ATTR_MAX]; /* that group.attr points to */
	struct trial_state before; /* what is open then, the event behind group_fd too */
	struct trial_event alone; /* that before is, where it is a dump's group leader */
	/* of a dump: what was said then */
	bool from_dump, returned;
	bool injected;		/* by pevtrace: the kernel was not asked */
	int error;		/* positive errno, 0: it opened */
	const char *not_here;	/* why it cannot be issued, or NULL */
	bool leads;		/* it is --leader's own call */
	bool opens;		/* what the verb found */
};

/* The calls of a list that opened: what the next ones meet. */
struct judge_opened {
	struct judge_call **calls;	/* owned; they have the attrs of the events */
	struct trial_event *events;
	size_t n;
};

/* What came of it. */
enum judge_verdict {
	JUDGE_OPENS, JUDGE_REFUSED,
	JUDGE_UNFORESEEN,	/* refused by what the rules could not know */
	JUDGE_BLOCKED,		/* not the kernel has answered (trial_gate()) */
	JUDGE_DISAGREEMENT,
};

struct judge_result {
	struct rule_verdict judged;
	bool asked;		/* the kernel was */
	const char *not_asked;	/* why not */
	struct trial trial;
	enum judge_verdict verdict;
	const struct rule_desc *open;	/* JUDGE_UNFORESEEN: that it may have been */
};

struct judge;

/* A verb that takes calls. */
struct judge_verb {
	const char *name;
	const char *does;	/* "nothing to %s" */
	bool of_refused;	/* its status is of those calls of a list that are refused */
	/* One call; the exit status.  Sets c->opens. */
	int (*one)(struct judge *k, struct judge_call *c);
	/* k->command, which stood behind --; NULL: it takes none. */
	int (*command)(struct judge *k);
};

/* The command line of such a verb, and what stays for all of its calls. */
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
	uint32_t attr_size;	/* of the kernel, found out once; 0: not known */
	struct judge_opened opened;
};

/* Options of struct judge. */
extern const struct verb_option judge_options[];
enum { JUDGE_OPTIONS = offsetof(struct judge, options) };

/* Begins with the defaults of these options. */
void judge_init(void *state);

/* Runs the verb: one() for every call that is named; the exit status. */
int judge_run(struct judge *k, const struct judge_verb *verb, const struct verb_args *args);

/* Take the operands; die unless they and the options go together. */
void judge_take_args(struct judge *k, const struct verb_args *args);

/* Of "FILE:123" the name, for the caller to free; NULL where there is no such file. */
char *judge_dump_of(const char *what, unsigned long *line);

/* The highest counts. */
static inline int judge_worse(int a, int b)
{
	return a > b ? a : b;
}

/* Emptied, without an attr, group or descriptor. */
void judge_call_init(struct judge_call *c);
void judge_call_free(struct judge_call *c);

/* The arguments behind the attr. */
void judge_call_args(struct judge_call *c, int32_t pid, int32_t cpu, int32_t group_fd,
		     uint64_t flags);

/* Makes the attr as it is issued out of what the call has captured. */
void judge_call_prepare(struct judge_call *c, const struct names *names);

/*
 * The call on that line of a dump, with what the dump tells of its group.
 * False after a warn().
 */
bool judge_call_of_dump(struct judge_call *c, const char *path, unsigned long line);

/* A call that failed in a program that was traced. */
struct judge_failed {
	struct judge_call call;
	unsigned long line;	/* of the dump, where it failed first */
	unsigned int times;
	size_t attempt;		/* of the model */
	/* another form of it that worked afterwards: its name, and what differs; or NULL */
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

/* The call as it is issued here, prepared by judge_call_prepare(). */
struct rule_ask judge_rule_ask(const struct judge *k, const struct judge_call *c);

/* Puts what is known of the call into k->facts; tries: by opening events, too. */
void judge_find_facts(struct judge *k, const struct judge_call *c,
		      const struct rule_ask *ask, bool tries);

/* Makes the call, after those before it; NULL, or why it could not. */
const char *judge_try(const struct judge_call *c, const struct rule_ask *ask,
		      struct trial *out);

/* Judges and asks; the call's result is what came of it. */
void judge_ask(struct judge *k, struct judge_call *c, struct judge_result *r);

#endif
