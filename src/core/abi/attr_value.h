/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers as C, strace and perf write them, with the names of constants. */
#pragma once

#include "core/abi/bytes_text.h"
#include "core/abi/xlat.h"

/*
 * Evaluate a whole expression of numbers, names, |, <<, ~, - and brackets.  Names are
 * those of x, with or without their prefix, and the full names of any other table;
 * sizeof is that of struct perf_event_attr.  Return false with c->why on an error.
 */
bool value_read(struct text_cursor *c, const struct xlat *x, uint64_t *v);
