/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a task keeps between two walks of its stack. */
#ifndef PEVTRACE_TRACE_STACK_H
#define PEVTRACE_TRACE_STACK_H

struct stack_cache;

/* Frees it and stores NULL; for NULL nothing. */
void stack_forget(struct stack_cache **cache);

#endif
