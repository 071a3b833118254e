/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The BPF programs of calls.bpf.c and what they use.  Private to the BPF engine. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lib/kernel_types.h"
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

/* Return the descriptor of the ring buffer that they write messages to. */
int bpf_programs_buffer(const struct bpf_programs *p);

/* Add a task to those that are followed, or a process to those that hold an event. */
void bpf_programs_follow(struct bpf_programs *p, pid_t tid);
void bpf_programs_holds(struct bpf_programs *p, pid_t pid);

/* Return how many messages were lost, or may be, as a program did not run. */
struct bpf_lost bpf_programs_lost(const struct bpf_programs *p);

/*
 * The kernel's functions that system calls begin with: their ids as types of the kernel (BTF),
 * ascending.
 */
struct call_functions {
	uint32_t *enter, *exit;	/* exit: without those that never return */
	size_t nenter, nexit;
	uint32_t refusal;	/* which tells whether a seccomp filter refuses a call; 0: none */
	uint32_t refusal_size;	/* of its result: a bool that is false then, or an int that is -1 */
};

/*
 * Find those of all calls that the plans of setup report.  compat: the ABI of 32-bit tasks, or
 * NULL.  Return false if a call has none, so that it would not be seen.
 */
bool call_functions_find(struct call_functions *f, struct kernel_types *types,
			 const struct calls_setup *setup, const struct nr_tables *nrs,
			 const struct arch *compat);
void call_functions_free(struct call_functions *f);
