/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Comparison of a reader's answer with the right ones. */
#pragma once

#include <stdbool.h>

/*
 * Return true if given is one of the right answers in wanted, separated by '|'.  Numbers may
 * be in any base, words up to twelve, and have a unit; names may lack the part before an
 * underscore; case, blanks and punctuation do not count.
 */
bool answer_accepts(const char *wanted, const char *given);
