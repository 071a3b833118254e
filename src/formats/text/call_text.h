/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A call as text in strace's format.  Each function appends to t->out. */
#pragma once

#include "core/abi/call.h"
#include "formats/text/text.h"

/*
 * Append "name(first, args", what is known at syscall-enter-stop.  Call it there: names
 * of descriptors change.  Return whether there is an argument.
 */
bool call_text_begin(const struct call *c, const struct names *n, struct text_sink *t);

/* Append ", more)", what is known at syscall-exit-stop.  any: an argument precedes. */
void call_text_rest(const struct call *c, bool any, const struct names *n,
		    struct text_sink *t);

/* Append "= 5", "= -1 ENOENT (...)", "= 1 ([{fd=3, revents=POLLIN}])", and notes. */
void call_text_result(const struct call *c, const struct names *n, struct text_sink *t);
