/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing the members of a struct to a sink. */
#pragma once

#include "core/abi/layout.h"

/* Write the member with that index, whether it applies or not. */
void layout_emit_member(const struct walk *w, unsigned int index, struct sink *s);

/*
 * Write the members that apply into the object that the caller has begun: those that
 * are not zero or always shown, and all of them if s->full.
 */
void layout_emit(const struct walk *w, struct sink *s);

/* Write the bytes behind the last member in the tables, as the member "unknown". */
void layout_emit_tail(const struct walk *w, struct sink *s);
