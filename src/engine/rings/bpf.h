/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A minimal BPF program, for events that require one, and the programs of a tracee. */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/abi/call.h"

/*
 * Load a program of type BPF_PROG_TYPE_* that only returns result; for a perf event,
 * 0 drops every sample.  Return a descriptor, which the caller closes, or a
 * negative errno.
 */
int bpf_load(uint32_t type, int32_t result);

/*
 * Describe the BPF program behind descriptor fd of thread tid in process pid.  Return false if
 * it is of no program, or cannot be borrowed (borrow_fd()).
 */
bool bpf_program_of(pid_t pid, pid_t tid, int fd, struct bpf_program *out);

/*
 * Describe the BPF program that is attached to the event at descriptor fd of thread tid
 * (BPF_TASK_FD_QUERY, which requires CAP_SYS_ADMIN).  Return false if there is none, or that
 * is unknown.  The program of an event that is neither a tracepoint nor a probe has no id.
 */
bool bpf_attached_program(pid_t tid, int fd, struct bpf_program *out);
