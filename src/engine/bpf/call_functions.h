/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's functions that system calls begin with.  Private to the BPF engine. */
#pragma once

#include <linux/types.h>

#include "core/lib/kernel_types.h"
#include "engine/bpf/calls_bpf.h"
#include "engine/ptrace/nr.h"

/* Their ids as types of the kernel (BTF), ascending. */
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
