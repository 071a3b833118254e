/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pevtrace check and why: calls of a command line, judged by the rules and by
 * the kernel.
 */
#ifndef PEVTRACE_CMD_CHECK_CHECK_H
#define PEVTRACE_CMD_CHECK_CHECK_H

#include "abi/attr_text.h"
#include "abi/call.h"
#include "abi/rules.h"
#include "cli/machine.h"
#include "cli/showing.h"
#include "drive/trial.h"
#include "host/facts.h"
#include "lib/buf.h"

enum {
	CHECK_ATTR_MAX = ATTR_TEXT_MAX,
	CHECK_ATTR_AT = 0x100000, /* where the attr lies in the memory of the call that is shown */
};

/* Open at a time when a call is tried, with what it is judged by. */
enum { CHECK_DESCRIPTORS = 8 };

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
struct check_opened {
	struct check_call **calls;	/* owned; they have the attrs of the events */
	struct trial_event *events;
	size_t n;
};

/* What came of it. */
enum check_verdict {
	CHECK_OPENS, CHECK_REFUSED,
	CHECK_UNFORESEEN,	/* refused by what the rules could not know */
	CHECK_BLOCKED,		/* not the kernel has answered (trial_gate()) */
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

struct check;

/* A verb that takes calls. */
struct check_verb {
	const char *name;
	const char *does;	/* "nothing to %s" */
	bool of_refused;	/* its status is of those calls of a list that are refused */
	/* One call; the exit status.  Sets c->opens. */
	int (*one)(struct check *k, struct check_call *c);
	/* k->command, which stood behind --; NULL: it takes none. */
	int (*command)(struct check *k);
};

/* The command line of such a verb, and what stays for all of its calls. */
struct check {
	const struct check_verb *verb;
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
	struct check_opened opened;
};

/* Options of struct check. */
extern const struct verb_option check_options[];
enum { CHECK_OPTIONS = offsetof(struct check, options) };

/* Begins with the defaults of these options. */
void check_init(void *state);

/* Runs the verb: one() for every call that is named; the exit status. */
int check_run(struct check *k, const struct check_verb *verb, const struct verb_args *args);

/* Take the operands; die unless they and the options go together. */
void check_take_args(struct check *k, const struct verb_args *args);

/* Of "FILE:123" the name, for the caller to free; NULL where there is no such file. */
char *check_dump_of(const char *what, unsigned long *line);

/* The highest counts. */
static inline int check_worse(int a, int b)
{
	return a > b ? a : b;
}

/* Emptied, without an attr, group or descriptor. */
void check_call_init(struct check_call *c);
void check_call_free(struct check_call *c);

/* The arguments behind the attr. */
void check_call_args(struct check_call *c, int32_t pid, int32_t cpu, int32_t group_fd,
		     uint64_t flags);

/* Makes the attr as it is issued out of what the call has captured. */
void check_call_prepare(struct check_call *c, const struct names *names);

/*
 * The call on that line of a dump, with what the dump tells of its group.
 * False after a warn().
 */
bool check_call_of_dump(struct check_call *c, const char *path, unsigned long line);

/* A call that failed in a program that was traced. */
struct check_failed {
	struct check_call call;
	unsigned long line;	/* of the dump, where it failed first */
	unsigned int times;
	size_t attempt;		/* of the model */
	/* another form of it that worked afterwards: its name, and what differs; or NULL */
	char *instead, *differs;
};

struct check_failures {
	struct check_failed **list;	/* owned */
	size_t n;
};

/*
 * All calls of a dump that failed, those that are alike once.  False after a
 * warn(), or where no task was traced.  Free the list in any case.
 */
bool check_failures_of_dump(FILE *f, const char *path, struct check_failures *out);
void check_failures_free(struct check_failures *l);

/*
 * The pid of a call of a dump for us.  The tasks of a dump are not there any
 * more: what was asked of one is asked of ourselves.
 */
int32_t check_pid_here(const struct check_call *c);

/* The call as it is issued here, prepared by check_call_prepare(). */
struct rule_ask check_rule_ask(const struct check *k, const struct check_call *c);

/* Puts what is known of the call into k->facts; tries: by opening events, too. */
void check_find_facts(struct check *k, const struct check_call *c,
		      const struct rule_ask *ask, bool tries);

/* Makes the call, after those before it; NULL, or why it could not. */
const char *check_try(const struct check_call *c, const struct rule_ask *ask,
		      struct trial *out);

/* Judges and asks; the call's result is what came of it. */
void check_ask(struct check *k, struct check_call *c, struct check_result *r);

/* Says what came of it, in text or as JSON. */
void check_show(struct showing *out, const struct machine *machine,
		const struct facts *facts, const struct check_call *c,
		const struct check_result *r);

#endif
