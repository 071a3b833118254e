/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What older kernels lack: what of a call is new, and the calls that they refuse, by the releases
 * of constants, members, ioctls, PMUs and checks in the tables.
 */
#pragma once

#include "core/abi/call.h"
#include "core/abi/rules.h"

/* The newest of the members, bits and values that a call sets. */
struct open_need {
	uint32_t since;		/* KVER() of the release that brought it */
	const char *name;	/* of a member, constant or flag; NULL: all are of 2.6.32 */
};

/* Call hook for each member, bit and value in a call that is newer than 2.6.32. */
void open_need_each(const uint8_t *attr, size_t len, uint64_t flags,
		    void (*hook)(void *ctx, const struct open_need *need), void *ctx);

/*
 * Return what decides, by the releases of xlat/; values that it does not name, and
 * dynamic PMUs, are not considered.
 */
struct open_need open_need(const uint8_t *attr, size_t len, uint64_t flags);

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
 * is 0 if there is none before, and with older->lacks the text names what the release brought.  A
 * call that the newest one refuses, such as for a group that is not known, requires the newest of
 * its members, bits and values.  Privileges do not decide, see as_kernel_init().
 */
uint32_t as_kernel_oldest(const struct rule_ask *ask, struct as_refusal *older);
