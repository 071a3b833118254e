/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading the arguments and the result of a call by its description. */
#ifndef PEVTRACE_ABI_CALL_DECODE_H
#define PEVTRACE_ABI_CALL_DECODE_H

#include "abi/call.h"

/*
 * Copies what the arguments point to.  At AT_SYSCALL_ENTER what the kernel will
 * read, at AT_SYSCALL_EXIT what it wrote (c->ret must be set).  Lengths come from
 * the target and are cut to sane limits; unreadable memory is remembered as
 * such.  n tells which dynamic PMUs take pointers.  Never fails.
 */
void call_capture(struct call *c, enum call_phase phase, const struct mem *m,
		  const struct names *n);

/* What the result of a call is when it did not fail. */
enum call_result { RESULT_NUMBER, RESULT_FD, RESULT_ADDR, RESULT_FLAGS };
/*
 * Hands arguments to the sink, one value or object each, keyed by name.
 * AT_SYSCALL_ENTER: the first desc->in_args; AT_SYSCALL_EXIT: the others.  What differs from
 * c->before is noted with what it was, and shown even where it is zero.
 */
void call_args(const struct call *c, enum call_phase phase,
	       const struct names *n, struct sink *s);

enum call_result call_result_kind(const struct call *c);

/*
 * Hands over what the kernel wrote into arguments that were shown at the
 * start: keyed like the argument where it is its new value (poll's fds), by
 * strace's word otherwise (select's in, out, except, left).  Emits nothing
 * for most calls.
 */
void call_results(const struct call *c, const struct names *n, struct sink *s);

/*
 * What is to be said behind the result, as notes only: the size that the
 * kernel wrote back, what was mapped, ...
 */
void call_result_notes(const struct call *c, const struct names *n,
		       struct sink *s);

#endif
