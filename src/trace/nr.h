/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* System call numbers of every architecture, looked up by number. */
#ifndef PEVTRACE_TRACE_NR_H
#define PEVTRACE_TRACE_NR_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/arch.h"
#include "abi/xlat.h"

enum {
	NR_ARCHES = 8,
	NR_CALLS = 1024, /* more than any architecture has */
};

struct nr_table {
	const struct arch *arch; /* NULL ends the list */
	uint32_t token; /* libseccomp's name for it */
	int seccomp; /* number of that call; negative: none */
	const struct call_desc *desc[NR_CALLS];
};

/* One table for each of arches[] that libseccomp knows, the native one first. */
struct nr_tables {
	struct nr_table *of;
};

void nr_build(struct nr_tables *n);
void nr_free(struct nr_tables *n);

/*
 * Does call nr fail with EINTR when a tracer stops a task inside it?  Most
 * calls are restarted; signal(7) lists those that are not.
 */
bool nr_is_fragile(const struct nr_tables *n, const struct arch *arch, long nr);

/*
 * The same where it is made on a socket that has a timeout (SO_RCVTIMEO,
 * SO_SNDTIMEO); without one it is restarted.
 */
bool nr_may_time_out(const struct nr_tables *n, const struct arch *arch, long nr);

/* The table of an architecture; NULL if there is none. */
const struct nr_table *nr_table(const struct nr_tables *n, const struct arch *arch);

/* The description of call nr of that architecture, or NULL. */
const struct call_desc *nr_find(const struct nr_tables *n,
				const struct arch *arch, uint64_t nr);

#endif
