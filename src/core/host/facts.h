/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Properties of this machine, this process and the objects that a call refers to, for
 * core/abi/rules.h, read without opening events.
 */
#pragma once

#include <sys/types.h>

#include "core/abi/refusals.h"
#include "core/host/host.h"
#include "core/host/rights.h"

struct facts {
	struct rule_facts rules;
	struct host *host;
	char release[65], version[65];	/* of the kernel, from uname(2) */
	uint64_t own_caps;	/* effective, in the user namespace of pevtrace */
	enum fact first_user_ns; /* that is the first one */
	struct confinement confined;
	char possible[256], online[256]; /* lists of CPUs, as sysfs has them; "": not known */
	int64_t mlock_kb;	/* kernel.perf_event_mlock_kb; -1: not known */
	struct rule_pmu *pmus;	/* owned */
	uint64_t *configs;	/* some of pmus point to it; owned */
};

/*
 * Read the facts that all calls share, or copy those of another machine, whose host it is.  h must
 * outlive the facts.
 */
void facts_open(struct facts *f, struct host *h);
void facts_close(struct facts *f);

/*
 * Add a PMU, whose name must outlive the facts, and return it: valid until the next is added.
 * In libpevtrace, return NULL if memory is exhausted.
 */
struct rule_pmu *facts_add_pmu(struct facts *f, uint32_t type, const char *name);

/* Return the facts of a machine of which nothing is known. */
struct facts facts_unknown(void);

/* Add the PMUs of the host, and what they tell of the kernel. */
void facts_add_pmus(struct facts *f);

/* Set the release of the kernel, and the capabilities that perf looks at, from the rest of the facts. */
void facts_derive(struct facts *f);

/* Read the capabilities and sysctls again; they may have changed. */
void facts_refresh(struct facts *f);

/*
 * Read the facts for one call by this process: about its task, CPU, file, tracepoint and
 * descriptors.  Facts that only opening an event shows remain unknown.  The host owns the
 * tracepoint's name.
 */
void facts_target(struct facts *f, const struct rule_ask *ask);

/* Fill in what ring buffers a process may map, besides those that are known of. */
void facts_memory(const struct facts *f, pid_t pid, struct rule_memory *m);

/* Return whether lockdown=confidentiality is set; unknown if securityfs is not mounted. */
enum fact facts_lockdown(void);

/* Return whether the task exists; 0 is the caller. */
enum fact facts_task_exists(pid_t pid);

/* Return whether this process can open n more descriptors. */
enum fact facts_descriptors(size_t n);
