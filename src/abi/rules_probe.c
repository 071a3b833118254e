// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks of breakpoints (arch/x86/kernel/hw_breakpoint.c of the kernel) and probes. */
#include "abi/rules_internal.h"

/* The start of the CPU entry area of x86-64, 512 GiB. */
#define ENTRY_BASE 0xfffffe0000000000ULL
#define ENTRY_END (ENTRY_BASE + (1ULL << 39))

static bool is_breakpoint(const struct rule_input *in)
{
	return rule_get(in, ATTR_TYPE) == PERF_TYPE_BREAKPOINT;
}

static bool is_x86(const struct rule_input *in)
{
	return in->machine->arch->regs == &xlat_perf_regs_x86;
}

/* The kinds of x86 breakpoints: execution or data. */
static bool x86_exec(const struct rule_input *in)
{
	return is_breakpoint(in) && is_x86(in) &&
	       rule_get(in, ATTR_BP_TYPE) == HW_BREAKPOINT_X;
}

static bool x86_data(const struct rule_input *in)
{
	uint64_t type = rule_get(in, ATTR_BP_TYPE);

	return is_breakpoint(in) && is_x86(in) &&
	       (type == HW_BREAKPOINT_W || type == HW_BREAKPOINT_RW);
}

static bool rule_power_of_two(uint64_t v)
{
	return v && !(v & (v - 1));
}

int rule_breakpoint_branch(const struct rule_input *in)
{
	return refuses_if(is_breakpoint(in) && rule_samples(in, PERF_SAMPLE_BRANCH_STACK));
}

int rule_breakpoint_none(const struct rule_input *in)
{
	uint64_t type = rule_get(in, ATTR_BP_TYPE);

	return refuses_if(is_breakpoint(in) &&
			  (type == HW_BREAKPOINT_EMPTY || type == HW_BREAKPOINT_INVALID));
}

int rule_breakpoint_slots(const struct rule_input *in)
{
	return is_breakpoint(in) ? refuses_unless(in->target->breakpoint) : RULE_PASSES;
}

static uint64_t last_byte(const struct rule_input *in)
{
	return rule_get(in, ATTR_BP_ADDR) + rule_get(in, ATTR_BP_LEN) - 1;
}

int rule_breakpoint_wrap(const struct rule_input *in)
{
	return refuses_if(is_breakpoint(in) && is_x86(in) &&
			  last_byte(in) < rule_get(in, ATTR_BP_ADDR));
}

int rule_breakpoint_entry(const struct rule_input *in)
{
	return refuses_if(is_breakpoint(in) && is_x86(in) && in->machine->arch->word == 8 &&
			  last_byte(in) >= ENTRY_BASE &&
			  rule_get(in, ATTR_BP_ADDR) < ENTRY_END);
}

int rule_breakpoint_type(const struct rule_input *in)
{
	return refuses_if(is_breakpoint(in) && is_x86(in) && !x86_exec(in) && !x86_data(in));
}

static bool in_kernel(const struct rule_input *in, uint64_t len)
{
	uint64_t addr = rule_get(in, ATTR_BP_ADDR);

	return addr >= in->machine->user_end || addr + len - 1 >= in->machine->user_end;
}

int rule_breakpoint_kernel_code(const struct rule_input *in)
{
	if (!x86_exec(in) || !in_kernel(in, 1))
		return RULE_PASSES;
	/* the kernel's blacklist of kprobes is not known */
	return in->machine->kprobes == FACT_NO ? RULE_REFUSES : RULE_UNKNOWN;
}

int rule_breakpoint_exec_len(const struct rule_input *in)
{
	return refuses_if(x86_exec(in) && rule_get(in, ATTR_BP_LEN) != in->machine->arch->word);
}

int rule_breakpoint_len(const struct rule_input *in)
{
	return refuses_if(x86_data(in) && !rule_power_of_two(rule_get(in, ATTR_BP_LEN)));
}

static bool is_wide(const struct rule_input *in)
{
	return x86_data(in) && rule_get(in, ATTR_BP_LEN) > in->machine->arch->word;
}

static bool misaligned(const struct rule_input *in)
{
	return rule_get(in, ATTR_BP_ADDR) & (rule_get(in, ATTR_BP_LEN) - 1);
}

int rule_breakpoint_range(const struct rule_input *in)
{
	return refuses_if(is_wide(in) && misaligned(in));
}

int rule_breakpoint_range_cpu(const struct rule_input *in)
{
	return is_wide(in) ? refuses_unless(in->machine->wide_breakpoints) : RULE_PASSES;
}

int rule_breakpoint_align(const struct rule_input *in)
{
	return refuses_if(x86_data(in) && misaligned(in));
}

static bool kernel_address(const struct rule_input *in)
{
	/* the kernel treats a wide range as one byte here, also for execution */
	bool one = is_wide(in) || x86_exec(in);

	return (x86_data(in) || x86_exec(in)) &&
	       in_kernel(in, one ? 1 : rule_get(in, ATTR_BP_LEN));
}

int rule_breakpoint_kernel(const struct rule_input *in)
{
	return refuses_if(kernel_address(in) && rule_get(in, ATTR_EXCLUDE_KERNEL));
}

int rule_breakpoint_kernel_privilege(const struct rule_input *in)
{
	return refuses_if(kernel_address(in) && !rule_has_cap(in, ABI_CAP_SYS_ADMIN));
}

int rule_breakpoint_arch(const struct rule_input *in)
{
	return is_breakpoint(in) && !is_x86(in) ? RULE_UNKNOWN : RULE_PASSES;
}

/* Probes --------------------------------------------------------------------------- */

static bool is_uprobe(const struct rule_input *in)
{
	return rule_is_pmu(in, "uprobe");
}

int rule_uprobe_privilege(const struct rule_input *in)
{
	return refuses_if(is_uprobe(in) && !rule_has_cap(in, ABI_CAP_SYS_ADMIN));
}

int rule_kprobe_privilege(const struct rule_input *in)
{
	return refuses_if(rule_is_pmu(in, "kprobe") && !rule_perfmon(in));
}

int rule_probe_branch(const struct rule_input *in)
{
	return refuses_if((is_uprobe(in) || rule_is_pmu(in, "kprobe")) &&
			  rule_samples(in, PERF_SAMPLE_BRANCH_STACK));
}

int rule_uprobe_no_path(const struct rule_input *in)
{
	return refuses_if(is_uprobe(in) && !rule_get(in, ATTR_UPROBE_PATH));
}

int rule_uprobe_path_fault(const struct rule_input *in)
{
	return is_uprobe(in) ? refuses_unless(in->target->path.readable) : RULE_PASSES;
}

int rule_uprobe_path_long(const struct rule_input *in)
{
	return refuses_if(is_uprobe(in) && in->target->path.too_long);
}

int rule_uprobe_path_empty(const struct rule_input *in)
{
	return refuses_if(is_uprobe(in) && in->target->path.empty);
}

int rule_uprobe_open(const struct rule_input *in)
{
	return is_uprobe(in) ? in->target->path.error : RULE_PASSES;
}

int rule_uprobe_file(const struct rule_input *in)
{
	return is_uprobe(in) ? refuses_unless(in->target->path.regular) : RULE_PASSES;
}

int rule_uprobe_pages(const struct rule_input *in)
{
	return is_uprobe(in) ? refuses_unless(in->target->path.pages) : RULE_PASSES;
}

int rule_uprobe_offset(const struct rule_input *in)
{
	/* the kernel compares them as signed numbers */
	return refuses_if(is_uprobe(in) && (int64_t)rule_get(in, ATTR_CONFIG2) >
						   (int64_t)in->target->path.size);
}

int rule_uprobe_counter(const struct rule_input *in)
{
	return refuses_if(is_uprobe(in) && rule_get(in, ATTR_CONFIG) >> 32 & 1);
}

/*
 * The instruction is looked at where a task to be measured has mapped the file: install_breakpoint()
 * of kernel/events/uprobes.c returns ENOTSUPP or ENOEXEC for what it cannot probe.  With
 * enable_on_exec only an exec installs breakpoints.
 */
int rule_uprobe_instruction(const struct rule_input *in)
{
	if (!is_uprobe(in) || in->target->path.mapped == FACT_NO ||
	    (in->ask->pid >= 0 && rule_get(in, ATTR_ENABLE_ON_EXEC)))
		return RULE_PASSES;
	return RULE_UNKNOWN;
}
