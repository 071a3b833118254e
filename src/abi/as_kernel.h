/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an older kernel would have refused of a call: by the releases that the
 * tables have for each constant, member, ioctl, PMU and check.
 */
#ifndef PEVTRACE_ABI_AS_KERNEL_H
#define PEVTRACE_ABI_AS_KERNEL_H

#include "abi/call.h"
#include "abi/rules.h"

struct as_kernel {
	uint32_t release;		/* KVER() of the older one */
	struct rule_machine then, today; /* this machine with it, and as it is */
	struct rule_pmu *pmus;		/* those that it knows; owned */
};

/* What it refuses, and why. */
struct as_refusal {
	int error;		/* positive errno; 0: it would not refuse it */
	uint32_t attr_size;	/* with E2BIG: what it writes into attr.size; else 0 */
	char because[160];	/* one line, no full stop: what came later, or the check */
};

/*
 * here: this machine, whose PMUs and architecture the older kernel has, too, as
 * far as it knows them.  Rights and limits are for the kernel that runs to judge.
 */
void as_kernel_init(struct as_kernel *k, uint32_t release, const struct rule_machine *here);
void as_kernel_free(struct as_kernel *k);

/*
 * Whether that kernel would have refused the call for being older.  attr: what
 * perf_event_open is called with, or the event of an ioctl was opened with, of
 * which len bytes can be read; NULL where that is not known.  What any kernel
 * refuses is left to the one that runs, unless the older one would have found it in
 * another place, with another error.  target: what is known of the task and group
 * that perf_event_open names; what is wrong with these both kernels say, and before
 * much else.
 */
struct as_refusal as_kernel_refuses(const struct as_kernel *k, const struct call *c,
				    const uint8_t *attr, size_t len,
				    const struct rule_target *target);

#endif
