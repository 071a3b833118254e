/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which calls stop a task: as a seccomp program, and as a plain test. */
#ifndef PEVTRACE_TRACE_FILTER_H
#define PEVTRACE_TRACE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/call.h"
#include "trace/nr.h"
#include "trace/trace.h"

struct sock_filter;

/* A classic BPF program; zero-initialised is none. */
struct filter {
	struct sock_filter *insns;
	unsigned short len;
};

/*
 * Makes the program that reports (SECCOMP_RET_TRACE) the watched calls of
 * every known architecture and allows all else.  0 or a positive errno.
 */
int filter_build(struct filter *f, const struct trace_options *opts,
		 const struct nr_tables *nrs);

/*
 * Installs it in the calling thread, with no_new_privs only where the kernel
 * insists.  0 or a positive errno.  Safe after fork(): allocates nothing.
 */
int filter_install(const struct filter *f);

/* Descriptors from first to last. */
struct fd_range {
	uint32_t first, last;
};

/*
 * Makes a program to be added to the first one in processes that are watched
 * closely: it reports WATCH_FD, WATCH_IOCTL and WATCH_SHARED calls on a
 * descriptor in one of the ranges and, with held, all WATCH_HELD calls.  False
 * where it would be too long.
 */
bool filter_build_close(struct filter *f, const struct trace_options *opts,
			const struct nr_tables *nrs, const struct fd_range *ranges,
			size_t nranges, bool held);

/*
 * What the program says with SECCOMP_RET_TRACE, VEIL_DATA as it was built, becomes
 * that: a target with filters of its own is not to know it.
 */
void filter_mark(struct filter *f, uint16_t mark);

void filter_free(struct filter *f);

/*
 * Would the filter report this call?  Arguments must be those of the call
 * itself where the architecture passes a pointer to them.
 */
bool filter_matches(const struct trace_options *opts, const struct call *call);

#endif
