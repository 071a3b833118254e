/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether what a reader wrote is what was asked for. */
#ifndef PEVTRACE_LEARN_ANSWER_H
#define PEVTRACE_LEARN_ANSWER_H

#include <stdbool.h>

/*
 * wanted: right answers, with '|' between them.  Numbers may be written in any
 * base, as words up to twelve, with a unit behind them; names with or without
 * what stands before an underscore; capitals, blanks and hyphens do not count.
 */
bool answer_accepts(const char *wanted, const char *given);

#endif
