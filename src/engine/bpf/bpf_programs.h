/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loading the BPF programs of calls.bpf.c.  Private to the BPF engine. */
#pragma once

#include <linux/types.h>

#include "engine/bpf/bpf_engine.h"
#include "engine/bpf/calls_bpf.h"
#include "engine/ptrace/nr.h"

struct bpf_programs;

/*
 * Load and attach them; NULL, and a text in why, if that is not possible.  compat: the ABI of
 * 32-bit tasks, or NULL.
 */
struct bpf_programs *bpf_programs_new(const struct bpf_engine_setup *setup,
				      const struct nr_tables *nrs, const struct arch *compat,
				      struct buf *why);
void bpf_programs_free(struct bpf_programs *p);

/* Call hook for each message that is in the buffer; len: its bytes. */
void bpf_programs_each(struct bpf_programs *p,
		       void (*hook)(void *ctx, const struct calls_message *m, size_t len),
		       void *ctx);

/* Return a descriptor that is readable when the buffer is filling. */
int bpf_programs_fd(const struct bpf_programs *p);

/* Add a task to those that are followed, or a process to those that hold an event. */
void bpf_programs_follow(struct bpf_programs *p, pid_t tid);
void bpf_programs_holds(struct bpf_programs *p, pid_t pid);

/* Return how many messages were lost, or may be, as a program did not run. */
struct bpf_lost bpf_programs_lost(const struct bpf_programs *p);
