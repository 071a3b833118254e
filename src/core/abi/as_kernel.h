/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls that an older kernel would have refused, by the releases in the tables of
 * constants, members, ioctls, PMUs and checks.
 */
#pragma once

#include "core/abi/call.h"
#include "core/abi/rules.h"

struct as_kernel {
	uint32_t release;		/* KVER() of the older one */
	struct rule_machine then, today; /* this machine with the older kernel, and with its own */
	struct rule_pmu *pmus;		/* the PMUs that the older kernel has; owned */
	bool names_only;		/* reasons name features without their releases */
};

/* The refusal of a call, and its reason. */
struct as_refusal {
	int error;		/* positive errno; 0: the call is not refused */
	uint32_t attr_size;	/* with E2BIG: the size written into attr.size; else 0 */
	bool lacks;		/* because of a feature that the older kernel lacks */
	char because[160];	/* one line, no full stop: that feature, or the check */
};

/*
 * here: this machine.  The older kernel has its architecture and those of its PMUs
 * that existed then.  Privileges and limits are left to the running kernel.
 */
void as_kernel_init(struct as_kernel *k, uint32_t release, const struct rule_machine *here);
void as_kernel_free(struct as_kernel *k);

/*
 * Return the refusal of a call that the older kernel would refuse and this one does
 * not, or would refuse with another error.  attr: len readable bytes of the attr of
 * perf_event_open, or of the event of an ioctl; NULL if it is not known.  target: the
 * task and group that perf_event_open names, as far as known; both kernels check these
 * early, with the same errors.
 */
struct as_refusal as_kernel_refuses(const struct as_kernel *k, const struct call *c,
				    const uint8_t *attr, size_t len,
				    const struct rule_target *target);

/*
 * Return the oldest release (KVER()) from which on, up to that of ask->facts, no kernel refuses an
 * open that the newest one accepts, and in *older the refusal by the release before it; its error
 * is 0 if there is none before.  Privileges do not decide, see as_kernel_init().
 */
uint32_t as_kernel_oldest(const struct rule_ask *ask, struct as_refusal *older);
