/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The least BPF program, for events that take one. */
#ifndef PEVTRACE_DRIVE_BPF_H
#define PEVTRACE_DRIVE_BPF_H

#include <linux/bpf.h>
#include <stdint.h>

/*
 * Loads a program of that BPF_PROG_TYPE_ that only returns result: of an event's,
 * 0 lets no sample through.  A descriptor, which is the caller's to close, or a
 * negative errno.
 */
int bpf_load(uint32_t type, int32_t result);

#endif
