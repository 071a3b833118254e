/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which calls, outcomes and signals are shown. */
#pragma once

#include "core/lib/nearest.h"
#include "core/session/session.h"
#include "verbs/cli/verb.h"

#define SELECT_STATUSES "successful failed unfinished unavailable detached all none"

/* Select all calls that concern perf, all outcomes and all signals. */
void selection_init(struct selection *s);

/* Select no calls, for -q. */
void selection_no_calls(struct selection *s);

/* Setters of struct selection: the sets of -e trace=, status= and signal=. */
verb_set_fn selection_trace, selection_status, selection_signal;

/*
 * Parse a set of calls into CALL_COUNT calls: names, numbers, classes, /REGEX; ? before a word
 * that may be unknown, a leading ! negates.  Die on unknown words.
 */
void selection_calls(const char *set, const char *option, enum selected *calls);

/* Return the signal of that name or number; die, naming the option, if there is none. */
int signal_number(const char *word, const char *option);

/* Offer the words of a set of calls; the signals. */
void selection_offer_calls(struct nearest *n);
void selection_offer_signals(struct nearest *n);
