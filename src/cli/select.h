/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arguments of -e: which calls, outcomes and signals are shown. */
#ifndef PEVTRACE_CLI_SELECT_H
#define PEVTRACE_CLI_SELECT_H

#include "session/selection.h"

#define SELECT_STATUSES "successful failed unfinished unavailable detached all none"

/* Select all calls that concern perf, all outcomes and all signals. */
void selection_init(struct selection *s);

/* Select no calls, for -q. */
void selection_no_calls(struct selection *s);

/*
 * Parse an argument of -e: "trace=SET", "status=SET" or "signal=SET"; a bare SET means
 * trace=SET.  Die on an unknown word.
 */
void selection_parse(struct selection *s, const char *expr);

void selection_trace(struct selection *s, const char *set);
void selection_status(struct selection *s, const char *set);
void selection_signal(struct selection *s, const char *set);

/* Parse a set of calls, negated by a leading !, into CALL_COUNT calls; die on unknown ones. */
void selection_calls(const char *set, const char *option, enum selected *calls);

/* Return the signal of that name or number; die, naming the option, if there is none. */
int signal_number(const char *word, const char *option);

#endif
