/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A call that a tracer sees and the kernel refuses: a sign with a number. */
#ifndef PEVTRACE_TARGETS_MARK_H
#define PEVTRACE_TARGETS_MARK_H

#include <sys/syscall.h>
#include <unistd.h>

/* Not inlined, so that stacks show it. */
__attribute__((noinline)) static void mark(long number)
{
	syscall(SYS_perf_event_open, (void *)1, number, 0L, -1L, 0L);
	__asm__ volatile(""); /* nor a tail call, which leaves no frame */
}

#endif
