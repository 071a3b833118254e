/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arguments of -e: which calls, outcomes and signals are shown. */
#ifndef PEVTRACE_CLI_SELECT_H
#define PEVTRACE_CLI_SELECT_H

#include "session/selection.h"

#define SELECT_STATUSES "successful failed unfinished unavailable detached all none"

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

#endif
