/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A minimal BPF program, for events that require one. */
#ifndef PEVTRACE_DRIVE_BPF_H
#define PEVTRACE_DRIVE_BPF_H

#include <linux/bpf.h>
#include <stdint.h>

/*
 * Load a program of type BPF_PROG_TYPE_* that only returns result; for a perf event,
 * 0 drops every sample.  Return a descriptor, which the caller closes, or a
 * negative errno.
 */
int bpf_load(uint32_t type, int32_t result);

#endif
