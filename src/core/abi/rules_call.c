// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks outside of the PMU: privilege, limits, task, CPU, clock. */
#include <time.h>

#include "core/abi/rules_internal.h"
#include "core/lib/list.h"

PREDICATE(flags_unknown, rule_unknown_bits(in, in->ask->flags, &xlat_perf_event_open_flags))

PREDICATE(attr_head_fault,
	  refuses_if(in->ask->len < layout_perf_event_attr.fields[ATTR_SIZE].offset + 4u))
PREDICATE(size_range,
	  refuses_if(in->size < PERF_ATTR_SIZE_VER0 || in->size > in->machine->page_size))
PREDICATE(attr_fault, refuses_if(in->ask->len < in->size))

int rule_size_tail(const struct rule_input *in)
{
	size_t at = rule_attr_size(in);

	for (; at < in->len; at++)
		if (in->ask->attr[at])
			return in->machine->attr_size ? RULE_REFUSES : refuses_unnamed(in);
	return RULE_PASSES;
}

int rule_type_range(const struct rule_input *in)
{
	const struct xlat_entry *e = xlat_find(&xlat_perf_type_id, rule_get(in, ATTR_TYPE));

	return refuses_if(!e || e->since > in->machine->release);
}

bool rules_reserved(const struct field *f, uint32_t release)
{
	const struct layout *l = &layout_perf_event_attr;

	if (f->kind == FIELD_RESERVED || !release || f->since <= release)
		return f->kind == FIELD_RESERVED;
	/* a member newer than the release may share its place with an older one */
	for_each(o, l->fields, l->n)
		if (o->since <= release && o->kind != FIELD_RESERVED &&
		    o->offset == f->offset && o->bit == f->bit)
			return false;
	return true;
}

int rule_reserved_bits(const struct rule_input *in)
{
	const struct layout *l = &layout_perf_event_attr;
	uint32_t release = in->machine->release;
	/*
	 * Before 5.4 unknown flags were refused, but padding behind them was not checked: a newer
	 * member there was accepted without effect.
	 */
	bool only_flags = release && release < KVER(5, 4, 0) && release >= KVER(2, 6, 33);

	for (size_t i = 0; i < l->n; i++) {
		const struct field *f = &l->fields[i];

		if (!rule_get(in, (unsigned int)i) || f->size > rule_attr_size(in) ||
		    (only_flags && f->offset != l->fields[ATTR_DISABLED].offset))
			continue;
		if (rules_reserved(f, release))
			return f->kind == FIELD_RESERVED ? refuses_unnamed(in) : RULE_REFUSES;
	}
	return RULE_PASSES;
}

PREDICATE(sample_type_bits,
	  rule_unknown_bits(in, rule_get(in, ATTR_SAMPLE_TYPE), &xlat_perf_event_sample_format))
PREDICATE(read_format_bits,
	  rule_unknown_bits(in, rule_get(in, ATTR_READ_FORMAT), &xlat_perf_event_read_format))

/* Branches --------------------------------------------------------------------- */

PREDICATE(branch_bits,
	  rule_samples(in, PERF_SAMPLE_BRANCH_STACK) ?
	  rule_unknown_bits(in, rule_get(in, ATTR_BRANCH_SAMPLE_TYPE),
			    &xlat_perf_branch_sample_type) : RULE_PASSES)
PREDICATE(branch_kind,
	  refuses_if(rule_samples(in, PERF_SAMPLE_BRANCH_STACK) &&
		     !(rule_get(in, ATTR_BRANCH_SAMPLE_TYPE) &
		       ~(uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL)))

int rule_branch_privilege(const struct rule_input *in)
{
	uint64_t v = rule_get(in, ATTR_BRANCH_SAMPLE_TYPE);
	bool beyond = v & (PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV);

	/* without a level: those that the event does not exclude */
	if (!(v & PERF_SAMPLE_BRANCH_PLM_ALL))
		beyond = !rule_get(in, ATTR_EXCLUDE_KERNEL) || !rule_get(in, ATTR_EXCLUDE_HV);
	return refuses_where(rule_samples(in, PERF_SAMPLE_BRANCH_STACK) && beyond,
			     rule_paranoid(in, 1));
}

/* Registers and stack ------------------------------------------------------------ */

static int wrong_regs(const struct rule_input *in, uint64_t flag, unsigned int index)
{
	const struct arch *arch = in->machine->arch;
	uint64_t mask = rule_get(in, index);

	if (!rule_samples(in, flag))
		return RULE_PASSES;
	if (!arch->regs && mask) /* those of other architectures are not described */
		return RULE_UNKNOWN;
	if (!mask || mask & arch->regs_refused)
		return RULE_REFUSES;
	/* clear the named bits, as entries of bits tables have no masks */
	for (size_t at = 0; xlat_next_flag(arch->regs, &mask, &at);)
		;
	return refuses_if(mask);
}

PREDICATE(user_regs, wrong_regs(in, PERF_SAMPLE_REGS_USER, ATTR_SAMPLE_REGS_USER))
PREDICATE(intr_regs, wrong_regs(in, PERF_SAMPLE_REGS_INTR, ATTR_SAMPLE_REGS_INTR))

/* All described architectures can; of others it is not known. */
PREDICATE(user_stack_arch,
	  rule_samples(in, PERF_SAMPLE_STACK_USER) && !in->machine->arch->regs ? RULE_UNKNOWN :
	  RULE_PASSES)

PREDICATE(user_stack_size,
	  refuses_if(rule_samples(in, PERF_SAMPLE_STACK_USER) &&
		     (rule_get(in, ATTR_SAMPLE_STACK_USER) % 8 ||
		      rule_get(in, ATTR_SAMPLE_STACK_USER) > RULE_STACK_MAX)))

/* What goes together ------------------------------------------------------------- */

PREDICATE(sample_cgroup,
	  rule_samples(in, PERF_SAMPLE_CGROUP) ? refuses_unless(in->machine->cgroups) : RULE_PASSES)
PREDICATE(weights,
	  refuses_if(rule_samples(in, PERF_SAMPLE_WEIGHT) && rule_samples(in,
	  PERF_SAMPLE_WEIGHT_STRUCT)))
PREDICATE(inherit_thread,
	  refuses_if(rule_get(in, ATTR_INHERIT_THREAD) && !rule_get(in, ATTR_INHERIT)))
PREDICATE(remove_and_enable,
	  refuses_if(rule_get(in, ATTR_REMOVE_ON_EXEC) && rule_get(in, ATTR_ENABLE_ON_EXEC)))
PREDICATE(sigtrap_exec,
	  refuses_if(rule_get(in, ATTR_SIGTRAP) && !rule_get(in, ATTR_REMOVE_ON_EXEC)))

/* Before the event is made ------------------------------------------------------ */

/* Kernels without the patch treat 3 like 2; only an open tells.  Debian's 5.10 to 7.3 ask here. */
PREDICATE(paranoid_all, refuses_where(true, fact_and(rule_paranoid(in, 2), in->machine->denies_all)))

/* The decision of a security module is not known. */
PREDICATE(security_open, in->machine->security == FACT_NO ? RULE_PASSES : RULE_UNKNOWN)
PREDICATE(kernel_privilege, refuses_where(!rule_get(in, ATTR_EXCLUDE_KERNEL), rule_paranoid(in, 1)))

int rule_if_updated(uint32_t release, const uint32_t *updates)
{
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
	updated = rule_if_updated(in->machine->release, updates);
	return updated == RULE_REFUSES ? says : updated;
}

PREDICATE(text_poke_privilege,
	  of_7_3(in, rule_get(in, ATTR_TEXT_POKE),
		 (const uint32_t[]){ KVER(6, 1, 191), KVER(6, 12, 113), KVER(7, 2, 10), 0 }))
PREDICATE(callchain_privilege,
	  of_7_3(in, rule_samples(in, PERF_SAMPLE_CALLCHAIN) &&
		     !rule_get(in, ATTR_EXCLUDE_CALLCHAIN_KERNEL),
		 (const uint32_t[]){ KVER(6, 12, 113), KVER(7, 2, 10), 0 }))
PREDICATE(namespaces_privilege, refuses_where(rule_get(in, ATTR_NAMESPACES), rule_no_perfmon(in)))
PREDICATE(freq_limit,
	  refuses_where(rule_get(in, ATTR_FREQ), rule_above(in, UNREAD_SAMPLE_RATE,
	  in->machine->max_sample_rate, rule_get(in, ATTR_SAMPLE_FREQ))))
PREDICATE(period_sign,
	  refuses_if(!rule_get(in, ATTR_FREQ) && rule_get(in, ATTR_SAMPLE_PERIOD) >> 63))
PREDICATE(phys_addr_privilege,
	  refuses_where(rule_samples(in, PERF_SAMPLE_PHYS_ADDR), rule_paranoid(in, 1)))

PREDICATE(lockdown, refuses_where(rule_samples(in, PERF_SAMPLE_REGS_INTR), in->machine->lockdown))
PREDICATE(cgroup_target, refuses_if(in->cgroup && (in->ask->pid == -1 || in->ask->cpu == -1)))
PREDICATE(no_descriptor, refuses_unless(in->target->descriptor))
PREDICATE(group_not_event,
	  in->ask->group_fd == -1 ? RULE_PASSES : refuses_unless(in->group->event))

int rule_group_gone(const struct rule_input *in)
{
	enum fact alive = in->ask->group_fd == -1 ? FACT_YES : in->group->alive;
	static const uint32_t updates[] = { KVER(6, 12, 108), 0 };
	uint32_t release = in->machine->release;

	/* of 6.15, and of an update of 6.12 */
	if (alive == FACT_NO && release && release < KVER(6, 15, 0))
		return rule_if_updated(in->machine->release, updates);
	return refuses_unless(alive);
}

/* Before 2.6.37, pid -1 with cpu -1 was looked up like any other pid. */
int rule_no_task(const struct rule_input *in)
{
	uint32_t release = in->machine->release;

	if (release && release < KVER(2, 6, 37) && in->ask->pid == -1 && in->ask->cpu == -1)
		return RULE_REFUSES;
	return in->task ? refuses_unless(in->target->task.exists) : RULE_PASSES;
}

/* Negative numbers are beyond any. */
PREDICATE(cpu_range,
	  refuses_where(!in->task || in->ask->cpu != -1, in->ask->cpu < 0 ? FACT_YES :
			rule_above(in, UNREAD_CPUS, in->machine->cpus, (uint64_t)in->ask->cpu + 1)))
PREDICATE(sigtrap_target, refuses_if(rule_get(in, ATTR_SIGTRAP) && !in->task))
PREDICATE(inherit_group,
	  refuses_if(rule_get(in, ATTR_INHERIT) && rule_get(in, ATTR_READ_FORMAT) &
	  PERF_FORMAT_GROUP))

/* Updates of 6.12 took the change of 6.13, which 6.12.117 has (tried); the first is not known. */
int rule_inherit_read(const struct rule_input *in)
{
	uint32_t release = in->machine->release;

	if (!rule_get(in, ATTR_INHERIT) || !rule_samples(in, PERF_SAMPLE_READ))
		return RULE_PASSES;
	return release < KVER(6, 12, 0) || !rule_samples(in, PERF_SAMPLE_TID) ? RULE_REFUSES :
	       release < KVER(6, 12, 117) ? RULE_UNKNOWN : RULE_PASSES;
}

PREDICATE(inherit_read_tid,
	  refuses_if(rule_get(in, ATTR_INHERIT) && rule_samples(in, PERF_SAMPLE_READ) &&
		     !rule_samples(in, PERF_SAMPLE_TID)))

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
	return refuses_unless(rule_trait(in, in->pmu, PMU_TRAIT_NO_NMI));
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

/* Linux 6.2 reordered perf_event_open() in kernel/events/core.c. */
PREDICATE(task_privilege,
	  in->machine->release && in->machine->release < KVER(6, 2, 0) ? RULE_PASSES :
	  rule_task_privilege_late(in))
PREDICATE(cpu_privilege, refuses_where(!in->task, rule_paranoid(in, 0)))
PREDICATE(task_exiting, in->task ? refuses_unless(in->target->task.living) : RULE_PASSES)
/* CPUs that do not exist are refused by another rule. */
PREDICATE(cpu_offline,
	  in->task || in->ask->cpu < 0 || (!(in->machine->unread & UNREAD_CPUS) &&
					   (uint32_t)in->ask->cpu >= in->machine->cpus) ?
	  RULE_PASSES : refuses_unless(in->target->cpu_online))

/* The group and the ring ------------------------------------------------------------ */

/* The maximum size of a group read, in bytes. */
enum { READ_MAX = 16384 };

/* Return a member of the attr of the group_fd event. */
static uint64_t of_other(const struct rule_input *in, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, in->group->attr, in->group->len);
}

/* If the check applies, refuse events that differ; the other's value may be unknown. */
static int refuses_difference(const struct rule_input *in, bool asked, bool differ)
{
	if (!asked)
		return RULE_PASSES;
	return in->group->attr ? refuses_if(differ) : RULE_UNKNOWN;
}

static int refuses_another_cpu(const struct rule_input *in, bool asked)
{
	if (asked && in->group->cpu == RULE_CPU_UNKNOWN)
		return RULE_UNKNOWN;
	return refuses_difference(in, asked, in->group->cpu != in->ask->cpu);
}

static bool rule_differs(const struct rule_input *in, unsigned int index)
{
	return in->group->attr && of_other(in, index) != rule_get(in, index);
}

static bool clocks_differ(const struct rule_input *in)
{
	return rule_differs(in, ATTR_USE_CLOCKID) ||
	       (rule_get(in, ATTR_USE_CLOCKID) && rule_differs(in, ATTR_CLOCKID));
}

PREDICATE(group_inherit,
	  refuses_difference(in, in->grouped && in->task, rule_differs(in, ATTR_INHERIT)))

/* A leader with a cgroup may have members without one. */
PREDICATE(group_cgroup,
	  in->grouped && in->cgroup ? refuses_unless(in->group->same_cgroup) : RULE_PASSES)
PREDICATE(group_member, in->grouped ? refuses_unless(in->group->leads) : RULE_PASSES)
PREDICATE(group_clock, refuses_difference(in, in->grouped, clocks_differ(in)))
PREDICATE(group_cpu, refuses_another_cpu(in, in->grouped))
PREDICATE(group_task, in->grouped ? refuses_unless(in->group->same_task) : RULE_PASSES)
PREDICATE(group_pinned,
	  refuses_if(in->grouped && (rule_get(in, ATTR_PINNED) || rule_get(in, ATTR_EXCLUSIVE))))

static bool is_software(const struct rule_pmu *p)
{
	return p->desc && p->desc->traits & PMU_TRAIT_SOFTWARE;
}

int rule_group_pmu(const struct rule_input *in)
{
	const struct rule_pmu *other;

	if (!in->grouped || !in->pmu || is_software(in->pmu))
		return RULE_PASSES;
	if (!in->group->attr)
		return RULE_UNKNOWN;
	other = rules_pmu(in->machine, in->group->attr, in->group->len);
	if (!other && in->machine->pmus_known != FACT_YES)
		return RULE_UNKNOWN;
	return refuses_if(other && other != in->pmu && !is_software(other));
}

/* Output --------------------------------------------------------------------------- */

PREDICATE(output_cpu, refuses_another_cpu(in, in->output))
PREDICATE(output_task,
	  in->output && in->ask->cpu == -1 ? refuses_unless(in->group->same_task) : RULE_PASSES)
PREDICATE(output_clock, refuses_difference(in, in->output, clocks_differ(in)))
PREDICATE(output_backward,
	  refuses_difference(in, in->output, rule_differs(in, ATTR_WRITE_BACKWARD)))
PREDICATE(output_ring, in->output ? refuses_unless(in->group->ring) : RULE_PASSES)

/* Size and AUX --------------------------------------------------------------------- */

uint64_t rules_read_size(uint64_t format, uint64_t n)
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
	uint64_t n = in->group->siblings + 2;

	if (!in->grouped)
		return RULE_PASSES;
	if (!in->group->attr)
		return RULE_UNKNOWN;
	for (uint32_t format = 0; format < 32; format++)
		if (in->group->formats >> format & 1 && rules_read_size(format, n) > READ_MAX)
			return RULE_REFUSES;
	return refuses_if(rules_read_size(rule_get(in, ATTR_READ_FORMAT), n) > READ_MAX ||
			  rules_read_size(of_other(in, ATTR_READ_FORMAT), n) > READ_MAX);
}

int rule_aux_leader(const struct rule_input *in)
{
	const struct rule_pmu *leader;

	if (!rule_get(in, ATTR_AUX_OUTPUT) && !rule_get(in, ATTR_AUX_SAMPLE_SIZE) &&
	    !rule_get(in, ATTR_AUX_PAUSE) && !rule_get(in, ATTR_AUX_RESUME))
		return RULE_PASSES;
	if (!in->grouped)
		return RULE_REFUSES;
	if (!in->group->attr)
		return RULE_UNKNOWN;
	leader = rules_pmu(in->machine, in->group->attr, in->group->len);
	/* no fully described PMU writes AUX data */
	return leader && leader->desc && !(leader->desc->traits & PMU_TRAIT_OWN_CHECKS) ?
	       RULE_REFUSES : RULE_UNKNOWN;
}
