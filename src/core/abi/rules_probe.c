// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks of breakpoints (arch/{x86,arm64}/kernel/hw_breakpoint.c of the kernel) and probes. */
#include "core/abi/rules_internal.h"

/* Return the breakpoints of the architecture, or NULL if it is another event or not described. */
static const struct arch_breakpoints *breakpoints(const struct rule_input *in)
{
	return rule_is_type(in, PERF_TYPE_BREAKPOINT) ? in->machine->arch->breakpoints : NULL;
}

static bool is_exec(const struct rule_input *in)
{
	return breakpoints(in) && rule_get(in, ATTR_BP_TYPE) == HW_BREAKPOINT_X;
}

static bool is_supported(const struct rule_input *in)
{
	uint64_t type = rule_get(in, ATTR_BP_TYPE);

	return breakpoints(in) && type < 8 && breakpoints(in)->types >> type & 1;
}

static bool is_data(const struct rule_input *in)
{
	return is_supported(in) && !is_exec(in);
}

PREDICATE(breakpoint_branch,
	  refuses_if(rule_is_type(in, PERF_TYPE_BREAKPOINT) &&
		     rule_samples(in, PERF_SAMPLE_BRANCH_STACK)))
PREDICATE(breakpoint_none,
	  refuses_if(rule_is_type(in, PERF_TYPE_BREAKPOINT) &&
		     (rule_get(in, ATTR_BP_TYPE) == HW_BREAKPOINT_EMPTY ||
		      rule_get(in, ATTR_BP_TYPE) == HW_BREAKPOINT_INVALID)))
PREDICATE(breakpoint_slots,
	  rule_is_type(in, PERF_TYPE_BREAKPOINT) ? refuses_unless(in->target->breakpoint) :
						   RULE_PASSES)

static uint64_t last_byte(const struct rule_input *in)
{
	return rule_get(in, ATTR_BP_ADDR) + rule_get(in, ATTR_BP_LEN) - 1;
}

PREDICATE(breakpoint_wrap,
	  refuses_if(breakpoints(in) && !breakpoints(in)->wraps && last_byte(in) < rule_get(in,
	  ATTR_BP_ADDR)))

int rule_breakpoint_entry(const struct rule_input *in)
{
	const struct arch_breakpoints *b = breakpoints(in);

	return refuses_if(b && b->entry_end && last_byte(in) >= b->entry &&
			  rule_get(in, ATTR_BP_ADDR) < b->entry_end);
}

PREDICATE(breakpoint_type, refuses_if(breakpoints(in) && !is_supported(in)))

/* Return whether a range from bp_addr on reaches into the kernel's addresses. */
static enum fact in_kernel(const struct rule_input *in, uint64_t len)
{
	uint64_t addr = rule_get(in, ATTR_BP_ADDR), end = in->machine->user_end;

	return end ? fact_of(addr >= end || addr + len - 1 >= end) : FACT_UNKNOWN;
}

int rule_breakpoint_kernel_code(const struct rule_input *in)
{
	enum fact kernel = in_kernel(in, 1);

	if (!is_exec(in) || !breakpoints(in)->exec_kprobes || kernel == FACT_NO)
		return RULE_PASSES;
	/* the kernel's blacklist of kprobes is not known */
	return kernel == FACT_YES && in->machine->kprobes == FACT_NO ? RULE_REFUSES : RULE_UNKNOWN;
}

PREDICATE(breakpoint_exec_len,
	  refuses_if(is_exec(in) && breakpoints(in)->exec_word && rule_get(in, ATTR_BP_LEN) !=
	  in->machine->arch->word))

int rule_breakpoint_len(const struct rule_input *in)
{
	uint64_t len = rule_get(in, ATTR_BP_LEN);

	if (!is_supported(in))
		return RULE_PASSES;
	if (breakpoints(in)->any_length)
		return refuses_if(!len || len > 8);
	return refuses_if(is_data(in) && (!len || len & (len - 1)));
}

static bool is_wide(const struct rule_input *in)
{
	return is_data(in) && breakpoints(in)->ranges &&
	       rule_get(in, ATTR_BP_LEN) > in->machine->arch->word;
}

static bool misaligned(const struct rule_input *in)
{
	return !breakpoints(in)->any_length &&
	       rule_get(in, ATTR_BP_ADDR) & (rule_get(in, ATTR_BP_LEN) - 1);
}

/*
 * The byte select bits of a debug register are for 8 aligned bytes.  6.1.176 drops those beyond,
 * 6.12.117 refuses them (tried); the release that began to is not known.
 */
int rule_breakpoint_unit(const struct rule_input *in)
{
	uint32_t release = in->machine->release;

	if (!is_data(in) || !breakpoints(in)->one_unit ||
	    (rule_get(in, ATTR_BP_ADDR) & 7) + rule_get(in, ATTR_BP_LEN) <= 8)
		return RULE_PASSES;
	return release && release < KVER(6, 12, 0) ? RULE_UNKNOWN : RULE_REFUSES;
}

PREDICATE(breakpoint_range, refuses_if(is_wide(in) && misaligned(in)))
PREDICATE(breakpoint_range_cpu,
	  is_wide(in) ? refuses_unless(in->machine->wide_breakpoints) : RULE_PASSES)
PREDICATE(breakpoint_align, refuses_if(is_data(in) && misaligned(in)))

static enum fact kernel_address(const struct rule_input *in)
{
	/*
	 * x86 kernels treat a wide range as one byte here, also for execution; arm64 compares the
	 * first and the last byte, of which the first decides.
	 */
	bool one = is_wide(in) || is_exec(in) || (is_supported(in) && breakpoints(in)->any_length);

	return is_supported(in) ? in_kernel(in, one ? 1 : rule_get(in, ATTR_BP_LEN)) : FACT_NO;
}

PREDICATE(breakpoint_kernel_task,
	  refuses_where(in->task && breakpoints(in) && !breakpoints(in)->kernel_task,
	  kernel_address(in)))
PREDICATE(breakpoint_kernel, refuses_where(rule_get(in, ATTR_EXCLUDE_KERNEL), kernel_address(in)))
PREDICATE(breakpoint_kernel_privilege,
	  refuses_where(true, fact_and(kernel_address(in), rule_no_admin(in))))
PREDICATE(breakpoint_arch,
	  rule_is_type(in, PERF_TYPE_BREAKPOINT) && !breakpoints(in) ? RULE_UNKNOWN : RULE_PASSES)

/* Probes --------------------------------------------------------------------------- */

static bool is_uprobe(const struct rule_input *in)
{
	return rule_is_pmu(in, "uprobe");
}

PREDICATE(uprobe_privilege, refuses_where(is_uprobe(in), rule_no_admin(in)))
PREDICATE(kprobe_privilege, refuses_where(rule_is_pmu(in, "kprobe"), rule_no_perfmon(in)))
PREDICATE(kprobe_lockdown, refuses_where(rule_is_pmu(in, "kprobe"), in->machine->lockdown))
PREDICATE(probe_branch,
	  refuses_if((is_uprobe(in) || rule_is_pmu(in, "kprobe")) &&
		     rule_samples(in, PERF_SAMPLE_BRANCH_STACK)))
PREDICATE(uprobe_no_path, refuses_if(is_uprobe(in) && !rule_get(in, ATTR_UPROBE_PATH)))
PREDICATE(uprobe_path_fault,
	  is_uprobe(in) ? refuses_unless(in->target->path.readable) : RULE_PASSES)
PREDICATE(uprobe_path_long, refuses_if(is_uprobe(in) && in->target->path.too_long))
PREDICATE(uprobe_path_empty, refuses_if(is_uprobe(in) && in->target->path.empty))
PREDICATE(uprobe_open, is_uprobe(in) ? in->target->path.error : RULE_PASSES)
PREDICATE(uprobe_file, is_uprobe(in) ? refuses_unless(in->target->path.regular) : RULE_PASSES)
PREDICATE(uprobe_pages, is_uprobe(in) ? refuses_unless(in->target->path.pages) : RULE_PASSES)

/* The kernel compares them as signed numbers. */
PREDICATE(uprobe_offset,
	  refuses_if(is_uprobe(in) &&
		     (int64_t)rule_get(in, ATTR_CONFIG2) > (int64_t)in->target->path.size))
PREDICATE(uprobe_counter, refuses_if(is_uprobe(in) && rule_get(in, ATTR_CONFIG) >> 32 & 1))
/* __uprobe_register() of kernel/events/uprobes.c: a multiple of UPROBE_SWBP_INSN_SIZE. */
PREDICATE(uprobe_align,
	  refuses_if(is_uprobe(in) && in->machine->arch->probe_align &&
		     rule_get(in, ATTR_CONFIG2) % in->machine->arch->probe_align))

/* alloc_uprobe() of kernel/events/uprobes.c; who holds which probe is not known. */
PREDICATE(uprobe_conflict, is_uprobe(in) ? RULE_UNKNOWN : RULE_PASSES)

/*
 * The instruction is looked at where a task to be measured has mapped the file: install_breakpoint()
 * of kernel/events/uprobes.c returns ENOTSUPP or ENOEXEC for what it cannot probe.  With
 * enable_on_exec only an exec installs breakpoints.
 */
PREDICATE(uprobe_instruction,
	  !is_uprobe(in) || in->target->path.mapped == FACT_NO ||
	  (in->ask->pid >= 0 && rule_get(in, ATTR_ENABLE_ON_EXEC)) ? RULE_PASSES : RULE_UNKNOWN)
