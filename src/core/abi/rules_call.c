// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks outside of the PMU: privilege, limits, task, CPU, clock. */
#include <time.h>

#include "core/abi/rules_internal.h"

/* Before the event is made ------------------------------------------------------ */

int rule_security_open(const struct rule_input *in)
{
	/* the decision of a security module is not known */
	return in->machine->security == FACT_NO ? RULE_PASSES : RULE_UNKNOWN;
}

PREDICATE(kernel_privilege, refuses_where(!rule_get(in, ATTR_EXCLUDE_KERNEL), rule_paranoid(in, 1)))

int rule_if_updated(const struct rule_input *in, const uint32_t *updates)
{
	uint32_t release = in->machine->release;

	for (; *updates; updates++)
		if (release >> 8 == *updates >> 8)
			return refuses_if(release >= *updates);
	return RULE_UNKNOWN;
}

/* Judge a privilege check of Linux 7.3 that updates added to older series. */
static int of_7_3(const struct rule_input *in, bool condition, const uint32_t *updates)
{
	int says = refuses_where(condition, rule_paranoid(in, 1)), updated;

	if (says == RULE_PASSES || in->machine->release >= KVER(7, 3, 0))
		return says;
	updated = rule_if_updated(in, updates);
	return updated == RULE_REFUSES ? says : updated;
}

int rule_text_poke_privilege(const struct rule_input *in)
{
	static const uint32_t updates[] = {
		KVER(6, 1, 191), KVER(6, 12, 113), KVER(7, 2, 10), 0
	};

	return of_7_3(in, rule_get(in, ATTR_TEXT_POKE), updates);
}

int rule_callchain_privilege(const struct rule_input *in)
{
	static const uint32_t updates[] = { KVER(6, 12, 113), KVER(7, 2, 10), 0 };

	return of_7_3(in, rule_samples(in, PERF_SAMPLE_CALLCHAIN) &&
			  !rule_get(in, ATTR_EXCLUDE_CALLCHAIN_KERNEL), updates);
}

PREDICATE(namespaces_privilege, refuses_where(rule_get(in, ATTR_NAMESPACES), rule_no_perfmon(in)))
PREDICATE(freq_limit,
	  refuses_where(rule_get(in, ATTR_FREQ), rule_above(in, UNREAD_SAMPLE_RATE,
	  in->machine->max_sample_rate, rule_get(in, ATTR_SAMPLE_FREQ))))
PREDICATE(period_sign,
	  refuses_if(!rule_get(in, ATTR_FREQ) && rule_get(in, ATTR_SAMPLE_PERIOD) >> 63))
PREDICATE(phys_addr_privilege,
	  refuses_where(rule_samples(in, PERF_SAMPLE_PHYS_ADDR), rule_paranoid(in, 1)))

int rule_lockdown(const struct rule_input *in)
{
	return refuses_where(rule_samples(in, PERF_SAMPLE_REGS_INTR), in->machine->lockdown);
}

PREDICATE(cgroup_target, refuses_if(in->cgroup && (in->ask->pid == -1 || in->ask->cpu == -1)))
PREDICATE(no_descriptor, refuses_unless(in->target->descriptor))
PREDICATE(group_not_event,
	  in->ask->group_fd == -1 ? RULE_PASSES : refuses_unless(in->target->group.event))

int rule_group_gone(const struct rule_input *in)
{
	enum fact alive = in->ask->group_fd == -1 ? FACT_YES : in->target->group.alive;
	static const uint32_t updates[] = { KVER(6, 12, 108), 0 };
	uint32_t release = in->machine->release;

	/* of 6.15, and of an update of 6.12 */
	if (alive == FACT_NO && release && release < KVER(6, 15, 0))
		return rule_if_updated(in, updates);
	return refuses_unless(alive);
}

/* Before 2.6.37, pid -1 with cpu -1 was looked up like any other pid. */
static bool no_cpu_either(const struct rule_input *in)
{
	uint32_t release = in->machine->release;

	return release && release < KVER(2, 6, 37) && in->ask->pid == -1 && in->ask->cpu == -1;
}

int rule_no_task(const struct rule_input *in)
{
	if (no_cpu_either(in))
		return RULE_REFUSES;
	return in->task ? refuses_unless(in->target->task.exists) : RULE_PASSES;
}

int rule_cpu_range(const struct rule_input *in)
{
	/* negative numbers are beyond any */
	return refuses_where(!in->task || in->ask->cpu != -1, in->ask->cpu < 0 ? FACT_YES :
			     rule_above(in, UNREAD_CPUS, in->machine->cpus,
					(uint64_t)in->ask->cpu + 1));
}

PREDICATE(sigtrap_target, refuses_if(rule_get(in, ATTR_SIGTRAP) && !in->task))
PREDICATE(inherit_group,
	  refuses_if(rule_get(in, ATTR_INHERIT) && rule_get(in, ATTR_READ_FORMAT) &
	  PERF_FORMAT_GROUP))

static bool inherits_reads(const struct rule_input *in)
{
	return rule_get(in, ATTR_INHERIT) && rule_samples(in, PERF_SAMPLE_READ);
}

PREDICATE(inherit_read, refuses_if(inherits_reads(in)))
PREDICATE(inherit_read_tid, refuses_if(inherits_reads(in) && !rule_samples(in, PERF_SAMPLE_TID)))

/* After a PMU has taken it ------------------------------------------------------- */

PREDICATE(cgroup_descriptor, in->cgroup ? refuses_unless(in->target->cgroup_dir) : RULE_PASSES)
PREDICATE(cgroup_hierarchy, in->cgroup ? refuses_unless(in->target->cgroup_perf) : RULE_PASSES)
PREDICATE(max_stack,
	  refuses_where(rule_samples(in, PERF_SAMPLE_CALLCHAIN), rule_above(in, UNREAD_STACK,
	  in->machine->max_stack, rule_get(in, ATTR_SAMPLE_MAX_STACK))))

/* Return 0: not usable for events; 1: not in an NMI; 2: everywhere. */
static int clock_safety(uint64_t clockid)
{
	switch (clockid) {
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
		return 2;
	case CLOCK_REALTIME:
	case CLOCK_BOOTTIME:
	case CLOCK_TAI:
		return 1;
	default:
		return 0;
	}
}

PREDICATE(clockid,
	  refuses_if(rule_get(in, ATTR_USE_CLOCKID) && !clock_safety(rule_get(in, ATTR_CLOCKID))))

int rule_clockid_nmi(const struct rule_input *in)
{
	if (!rule_get(in, ATTR_USE_CLOCKID) || !in->pmu ||
	    clock_safety(rule_get(in, ATTR_CLOCKID)) != 1)
		return RULE_PASSES;
	return refuses_unless(rule_trait(in, PMU_TRAIT_NO_NMI));
}

int rule_task_privilege_late(const struct rule_input *in)
{
	const struct rule_task *t = &in->target->task;
	bool sigtrap = rule_get(in, ATTR_SIGTRAP);
	enum fact incapable = rule_no_perfmon(in);
	enum fact ptrace = sigtrap ? t->attachable : t->readable;

	if (!in->task)
		return RULE_PASSES;
	if (sigtrap && incapable != FACT_YES)
		incapable = t->killable == FACT_NO ? FACT_YES :
			    t->killable == FACT_YES ? incapable : FACT_UNKNOWN;
	if (incapable == FACT_NO || ptrace == FACT_YES)
		return RULE_PASSES;
	return incapable == FACT_YES && ptrace == FACT_NO ? RULE_REFUSES : RULE_UNKNOWN;
}

int rule_task_privilege(const struct rule_input *in)
{
	uint32_t release = in->machine->release;

	/* Linux 6.2 reordered perf_event_open() in kernel/events/core.c */
	return release && release < KVER(6, 2, 0) ? RULE_PASSES : rule_task_privilege_late(in);
}

PREDICATE(cpu_privilege, refuses_where(!in->task, rule_paranoid(in, 0)))
PREDICATE(task_exiting, in->task ? refuses_unless(in->target->task.living) : RULE_PASSES)

int rule_cpu_offline(const struct rule_input *in)
{
	/* CPUs that do not exist are refused by another rule */
	return in->task || in->ask->cpu < 0 || (!(in->machine->unread & UNREAD_CPUS) &&
						(uint32_t)in->ask->cpu >= in->machine->cpus) ?
	       RULE_PASSES : refuses_unless(in->target->cpu_online);
}
