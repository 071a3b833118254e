/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing the members of a struct to a sink. */
#ifndef PEVTRACE_ABI_LAYOUT_EMIT_H
#define PEVTRACE_ABI_LAYOUT_EMIT_H

#include "abi/layout.h"

/* Hands the member with that index to the sink, whether it applies or not. */
void layout_emit_member(const struct walk *w, unsigned int index, struct sink *s);

/*
 * Hands every member that applies to the sink: those that are not zero, those
 * always shown, and all of them when the sink is full.  The caller has begun
 * the object.
 */
void layout_emit(const struct walk *w, struct sink *s);

#endif
