/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* System call numbers of every architecture, looked up by number. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/abi/arch.h"
#include "core/abi/xlat.h"

enum {
	NR_ARCHES = 4, /* with the end mark */
	NR_CALLS = 1024, /* more than any architecture has */
};

struct nr_table {
	const struct arch *arch; /* NULL ends the list */
	uint32_t token; /* libseccomp's name for it */
	int seccomp; /* number of seccomp(2); negative: none */
	const struct call_desc *desc[NR_CALLS];
};

/* A table for each ABI that one kernel runs, the native one first, then an end mark. */
struct nr_tables {
	struct nr_table *of;
};

/* Build the tables of an ABI, and of the others that its kernel runs. */
void nr_build(struct nr_tables *n, const struct arch *native);
void nr_free(struct nr_tables *n);

/*
 * Return whether call nr fails with EINTR when a tracer stops a task in it.  The kernel
 * restarts most calls; signal(7) lists those that it does not.
 */
bool nr_is_interruptible(const struct nr_tables *n, const struct arch *arch, long nr);

/* Return whether it does so on a socket with a timeout (SO_RCVTIMEO, SO_SNDTIMEO). */
bool nr_may_time_out(const struct nr_tables *n, const struct arch *arch, long nr);

/* Return the table of an architecture, or NULL. */
const struct nr_table *nr_table(const struct nr_tables *n, const struct arch *arch);

/* Return whether a system call of any architecture has that name. */
bool nr_is_call(const char *name);

/* Store the name of this machine's call nr; return false if it has none. */
bool nr_name(int nr, char *name, size_t size);

/* Return the description of call nr of an architecture, or NULL. */
const struct call_desc *nr_find(const struct nr_tables *n,
				const struct arch *arch, uint64_t nr);
