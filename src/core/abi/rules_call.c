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

/* The group and the ring ------------------------------------------------------------ */

/* The maximum size of a group read, in bytes. */
enum { READ_MAX = 16384 };

static const struct rule_group *group(const struct rule_input *in)
{
	return &in->target->group;
}

/* Return a member of the attr of the group_fd event. */
static uint64_t of_other(const struct rule_input *in, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, group(in)->attr, group(in)->len);
}

/* If the check applies, refuse events that differ; the other's value may be unknown. */
static int refuses_difference(const struct rule_input *in, bool asked, bool differ)
{
	if (!asked)
		return RULE_PASSES;
	return group(in)->attr ? refuses_if(differ) : RULE_UNKNOWN;
}

static int refuses_another_cpu(const struct rule_input *in, bool asked)
{
	if (asked && group(in)->cpu == RULE_CPU_UNKNOWN)
		return RULE_UNKNOWN;
	return refuses_difference(in, asked, group(in)->cpu != in->ask->cpu);
}

static bool rule_differs(const struct rule_input *in, unsigned int index)
{
	return group(in)->attr && of_other(in, index) != rule_get(in, index);
}

static bool clocks_differ(const struct rule_input *in)
{
	return rule_differs(in, ATTR_USE_CLOCKID) ||
	       (rule_get(in, ATTR_USE_CLOCKID) && rule_differs(in, ATTR_CLOCKID));
}

PREDICATE(group_inherit,
	  refuses_difference(in, in->grouped && in->task, rule_differs(in, ATTR_INHERIT)))

int rule_group_cgroup(const struct rule_input *in)
{
	/* a leader with a cgroup may have members without one */
	return in->grouped && in->cgroup ? refuses_unless(group(in)->same_cgroup) :
					   RULE_PASSES;
}

PREDICATE(group_member, in->grouped ? refuses_unless(group(in)->leads) : RULE_PASSES)
PREDICATE(group_clock, refuses_difference(in, in->grouped, clocks_differ(in)))
PREDICATE(group_cpu, refuses_another_cpu(in, in->grouped))
PREDICATE(group_task, in->grouped ? refuses_unless(group(in)->same_task) : RULE_PASSES)
PREDICATE(group_pinned,
	  refuses_if(in->grouped && (rule_get(in, ATTR_PINNED) || rule_get(in, ATTR_EXCLUSIVE))))

static bool is_software(const struct rule_pmu *p)
{
	return p && p->desc && p->desc->traits & PMU_TRAIT_SOFTWARE;
}

int rule_group_pmu(const struct rule_input *in)
{
	const struct rule_pmu *other;

	if (!in->grouped || !in->pmu || is_software(in->pmu))
		return RULE_PASSES;
	if (!group(in)->attr)
		return RULE_UNKNOWN;
	other = rules_pmu(in->machine, group(in)->attr, group(in)->len);
	if (!other && in->machine->pmus_known != FACT_YES)
		return RULE_UNKNOWN;
	return refuses_if(other && other != in->pmu && !is_software(other));
}

/* Output --------------------------------------------------------------------------- */

PREDICATE(output_cpu, refuses_another_cpu(in, in->output))

int rule_output_task(const struct rule_input *in)
{
	if (!in->output || in->ask->cpu != -1)
		return RULE_PASSES;
	return refuses_unless(group(in)->same_task);
}

PREDICATE(output_clock, refuses_difference(in, in->output, clocks_differ(in)))
PREDICATE(output_backward,
	  refuses_difference(in, in->output, rule_differs(in, ATTR_WRITE_BACKWARD)))
PREDICATE(output_ring, in->output ? refuses_unless(group(in)->ring) : RULE_PASSES)

/* Size and AUX --------------------------------------------------------------------- */

/* Return the size of a read of n events, in bytes. */
static uint64_t rule_read_size(uint64_t format, uint64_t n)
{
	uint64_t each = 8, head = 0;

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		head += 8;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		head += 8;
	if (format & PERF_FORMAT_ID)
		each += 8;
	if (format & PERF_FORMAT_LOST)
		each += 8;
	if (!(format & PERF_FORMAT_GROUP))
		return head + each;
	return head + 8 + n * each;
}

int rule_group_size(const struct rule_input *in)
{
	/* the leader, its siblings, and the new event */
	uint64_t n = group(in)->siblings + 2;

	if (!in->grouped)
		return RULE_PASSES;
	if (!group(in)->attr)
		return RULE_UNKNOWN;
	for (uint32_t format = 0; format < 32; format++)
		if (group(in)->formats >> format & 1 && rule_read_size(format, n) > READ_MAX)
			return RULE_REFUSES;
	return refuses_if(rule_read_size(rule_get(in, ATTR_READ_FORMAT), n) > READ_MAX ||
			  rule_read_size(of_other(in, ATTR_READ_FORMAT), n) > READ_MAX);
}

int rule_aux_leader(const struct rule_input *in)
{
	const struct rule_pmu *leader;

	if (!rule_get(in, ATTR_AUX_OUTPUT) && !rule_get(in, ATTR_AUX_SAMPLE_SIZE) &&
	    !rule_get(in, ATTR_AUX_PAUSE) && !rule_get(in, ATTR_AUX_RESUME))
		return RULE_PASSES;
	if (!in->grouped)
		return RULE_REFUSES;
	if (!group(in)->attr)
		return RULE_UNKNOWN;
	leader = rules_pmu(in->machine, group(in)->attr, group(in)->len);
	/* no fully described PMU writes AUX data */
	return leader && leader->desc && !(leader->desc->traits & PMU_TRAIT_OWN_CHECKS) ?
	       RULE_REFUSES : RULE_UNKNOWN;
}
