/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What may be wrong with an event that opens (xlat/flaws.in). */
#pragma once

#include "core/abi/rules.h"
#include "core/abi/xlat.h"

/* Return whether a condition of the tables (core/abi/when.h) holds for an open. */
bool open_meets(const char *condition, const struct rule_ask *ask);

/*
 * Return the next row of xlat/flaws.in that applies to an open, from *at on, which is 0 at first;
 * NULL: no more.  ask->facts: of the kernel, for regressions; NULL: not known.
 */
const struct flaw_desc *flaw_next(const struct rule_ask *ask, size_t *at);
