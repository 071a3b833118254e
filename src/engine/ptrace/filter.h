/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which calls stop a task: as a seccomp filter, and as a test of one call. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/call.h"
#include "engine/ptrace/nr.h"
#include "engine/ptrace/trace.h"

struct sock_filter;

/* A classic BPF program; zero-initialised is empty. */
struct filter {
	struct sock_filter *insns;
	unsigned short len;
};

/* The SECCOMP_RET_DATA that filters are built with; filter_set_data() replaces it. */
enum { FILTER_DATA = 0x7065 };

/* Descriptors from first to last. */
struct fd_range {
	uint32_t first, last;
};

/*
 * Build the first filter: SECCOMP_RET_TRACE for the watched calls of every known
 * architecture, SECCOMP_RET_ALLOW for all others.  Return 0 or a positive errno.
 */
int filter_build(struct filter *f, const struct trace_options *opts,
		 const struct nr_tables *nrs);

/*
 * Install a filter in the calling thread.  Set no_new_privs only if the kernel
 * requires it.  Return 0 or a positive errno.  Safe after fork(): allocates nothing.
 */
int filter_install(const struct filter *f);

/*
 * Replace FILTER_DATA, so that a tracee with filters of its own cannot use the same
 * SECCOMP_RET_DATA.
 */
void filter_set_data(struct filter *f, uint16_t data);

void filter_free(struct filter *f);

/*
 * Return whether the first filter stops this call.  args must be the arguments
 * themselves where the architecture passes a pointer to them.
 */
bool filter_matches(const struct trace_options *opts, const struct call *call);
