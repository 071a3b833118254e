/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What this machine, this process and the things that a call names are like,
 * for abi/rules.h.  Everything is read; no event is opened.
 */
#ifndef PEVTRACE_HOST_FACTS_H
#define PEVTRACE_HOST_FACTS_H

#include <sys/types.h>

#include "abi/rules.h"
#include "host/host.h"

struct facts {
	struct rule_facts rules;
	struct host *host;
	char release[65];	/* of the kernel, as uname(2) tells it */
	uint64_t own_caps;	/* in our own user namespace */
	bool virtual_machine;	/* the CPU says that it is one's */
	uint64_t mlock_kb;	/* kernel.perf_event_mlock_kb */
	struct rule_pmu *pmus;	/* owned */
	uint64_t *configs;	/* that some of them point to; owned */
};

/* Finds out what holds for every call.  h must outlive the facts. */
void facts_open(struct facts *f, struct host *h);
void facts_close(struct facts *f);

/* Reads the capabilities, limits and sysctls again; they may have changed. */
void facts_refresh(struct facts *f);

/*
 * Finds out what holds for one call by this process: about its task, CPU, file,
 * tracepoint and descriptors.  What can only be found out by opening events
 * stays unknown.  The tracepoint's name belongs to the host.
 */
void facts_target(struct facts *f, const struct rule_ask *ask);

/* Whether there is such a task; 0 is who asks. */
enum fact facts_task_exists(pid_t pid);

/* Whether this process can have so many more descriptors. */
enum fact facts_descriptors(size_t n);

#endif
