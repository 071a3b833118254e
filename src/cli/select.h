/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which calls, outcomes and signals the user wants to see (-e). */
#ifndef PEVTRACE_CLI_SELECT_H
#define PEVTRACE_CLI_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/xlat.h"

enum selected {
	SELECT_NONE,	/* never shown */
	SELECT_PERF,	/* shown where it concerns perf */
	SELECT_ALL,	/* shown whatever it is about */
};

#define SELECT_STATUSES "successful failed unfinished unavailable detached all none"

struct selection {
	enum selected calls[CALL_COUNT];
	bool chosen;		/* -e trace= was given */
	unsigned int status;	/* enum call_status */
	uint64_t signals;	/* bit n-1 for signal n */
};

/* Everything that concerns perf, every outcome, every signal. */
void selection_init(struct selection *s);

/* No calls: for -q. */
void selection_no_calls(struct selection *s);

/*
 * One -e argument: "trace=SET", "status=SET" or "signal=SET"; a bare SET is
 * trace's.  Dies with a message on a word that it does not know.
 */
void selection_parse(struct selection *s, const char *expr);

void selection_trace(struct selection *s, const char *set);
void selection_status(struct selection *s, const char *set);
void selection_signal(struct selection *s, const char *set);

/* The CALL_COUNT calls as a set, or its contrary behind !, has them; dies on an unknown word. */
void selection_calls(const char *set, const char *option, enum selected *calls);

/* The signal of that name or number; dies, naming the option, if there is none. */
int signal_number(const char *word, const char *option);

static inline bool selection_has_signal(const struct selection *s, int sig)
{
	return sig < 1 || sig > 64 || s->signals >> (sig - 1) & 1;
}

#endif
