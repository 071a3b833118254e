/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading the arguments and the result of a call by its description. */
#pragma once

#include "core/abi/call.h"

/*
 * Copy the memory that the arguments point to: at AT_SYSCALL_ENTER what the kernel
 * will read, at AT_SYSCALL_EXIT what it wrote (c->ret must be set).  Lengths come
 * from the target and are limited; unreadable memory is recorded as such.  n names
 * the dynamic PMUs whose attrs hold pointers.
 */
void call_capture(struct call *c, enum call_phase phase, const struct mem *m,
		  const struct names *n);

/* The kind of a successful call's result. */
enum call_result { RESULT_NUMBER, RESULT_FD, RESULT_ADDR, RESULT_FLAGS };
/*
 * Write arguments to the sink, one value or object each, keyed by name.
 * AT_SYSCALL_ENTER: the first desc->in_args; AT_SYSCALL_EXIT: the others.  Values that
 * differ from c->before are shown even if zero, with a note of the old value.
 */
void call_args(const struct call *c, enum call_phase phase,
	       const struct names *n, struct sink *s);

enum call_result call_result_kind(const struct call *c);

/*
 * Write the values that the kernel stored in arguments shown at the start: keyed like
 * the argument if they replace it (poll's fds), otherwise by strace's word (select's
 * in, out, except, left).  Most calls have none.
 */
void call_results(const struct call *c, const struct names *n, struct sink *s);

/*
 * Write the notes that follow the result: the size that the kernel wrote back, the
 * kind of mapping, ...
 */
void call_result_notes(const struct call *c, const struct names *n,
		       struct sink *s);

enum { CALL_MAX_PASSED = 253 };	/* SCM_MAX_FD of the kernel */

/*
 * Read the descriptors in the message of a sendmsg (AT_SYSCALL_ENTER) or recvmsg
 * (AT_SYSCALL_EXIT) into fds; return their number, at most CALL_MAX_PASSED.
 */
size_t call_passed_fds(const struct call *c, enum call_phase phase,
		       int fds[CALL_MAX_PASSED]);
