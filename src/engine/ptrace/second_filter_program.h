/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "engine/ptrace/filter.h"

/*
 * Build a filter to be added to the first one: SECCOMP_RET_TRACE for WATCH_FD,
 * WATCH_IOCTL and WATCH_SHARED calls on a descriptor in one of the ranges and,
 * if held, for all WATCH_HELD and WATCH_UNSHARE calls and mmap(MAP_FIXED).  Return false if it exceeds
 * BPF_MAXINSNS.
 */
bool second_filter_build(struct filter *f, const struct trace_options *opts,
			 const struct nr_tables *nrs, const struct fd_range *ranges,
			 size_t nranges, bool held);
