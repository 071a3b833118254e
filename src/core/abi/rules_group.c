// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks against the event of group_fd. */
#include "core/abi/rules_internal.h"

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
