/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A call as text, in strace's manner: each piece goes to the end of t->out. */
#ifndef PEVTRACE_TEXT_CALL_TEXT_H
#define PEVTRACE_TEXT_CALL_TEXT_H

#include "abi/call.h"
#include "text/text.h"

/*
 * "name(first, args": what is known when it begins, and is to be written then,
 * as names of descriptors change.  True when there is an argument.
 */
bool call_text_begin(const struct call *c, const struct names *n, struct text_sink *t);

/* ", more)": what the return tells.  any: an argument stands before. */
void call_text_rest(const struct call *c, bool any, const struct names *n,
		    struct text_sink *t);

/* "= 5", "= -1 ENOENT (...)", "= 1 ([{fd=3, revents=POLLIN}])", with notes. */
void call_text_result(const struct call *c, const struct names *n, struct text_sink *t);

#endif
