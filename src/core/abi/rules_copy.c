// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks of the kernel's perf_copy_attr(). */
#include "core/abi/rules_internal.h"

PREDICATE(flags_unknown, rule_unknown_bits(in, in->ask->flags, &xlat_perf_event_open_flags))

/* The patch cannot be detected; kernels without it treat 3 like 2. */
PREDICATE(paranoid_all, rule_paranoid(in, 2) == FACT_NO ? RULE_PASSES : RULE_UNKNOWN)

int rule_attr_head_fault(const struct rule_input *in)
{
	const struct field *size = &layout_perf_event_attr.fields[ATTR_SIZE];

	return refuses_if(in->ask->len < (size_t)size->offset + size->width);
}

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

/* A member newer than the release may share its place with an older one. */
static bool has_older(const struct field *f, uint32_t release)
{
	const struct layout *l = &layout_perf_event_attr;

	for (size_t i = 0; i < l->n; i++) {
		const struct field *o = &l->fields[i];

		if (o->since <= release && o->kind != FIELD_RESERVED &&
		    o->offset == f->offset && o->bit == f->bit)
			return true;
	}
	return false;
}

bool rules_reserved(const struct field *f, uint32_t release)
{
	return f->kind == FIELD_RESERVED ||
	       (release && f->since > release && !has_older(f, release));
}

/*
 * Before 5.4 unknown flags were refused, but padding behind them was not checked: a
 * newer member there was accepted without effect.
 */
static bool looked_at(const struct field *f, uint32_t release)
{
	return !release || release >= KVER(5, 4, 0) || release < KVER(2, 6, 33) ||
	       f->offset == layout_perf_event_attr.fields[ATTR_DISABLED].offset;
}

int rule_reserved_bits(const struct rule_input *in)
{
	const struct layout *l = &layout_perf_event_attr;
	uint32_t release = in->machine->release;

	for (size_t i = 0; i < l->n; i++) {
		const struct field *f = &l->fields[i];

		if (!rule_get(in, (unsigned int)i) || f->size > rule_attr_size(in) ||
		    !looked_at(f, release))
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

int rule_branch_bits(const struct rule_input *in)
{
	if (!rule_samples(in, PERF_SAMPLE_BRANCH_STACK))
		return RULE_PASSES;
	return rule_unknown_bits(in, rule_get(in, ATTR_BRANCH_SAMPLE_TYPE),
				 &xlat_perf_branch_sample_type);
}

int rule_branch_kind(const struct rule_input *in)
{
	uint64_t kinds = rule_get(in, ATTR_BRANCH_SAMPLE_TYPE) &
			 ~(uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL;

	return refuses_if(rule_samples(in, PERF_SAMPLE_BRANCH_STACK) && !kinds);
}

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

int rule_user_stack_size(const struct rule_input *in)
{
	uint64_t size = rule_get(in, ATTR_SAMPLE_STACK_USER);

	return refuses_if(rule_samples(in, PERF_SAMPLE_STACK_USER) &&
			  (size % 8 || size > RULE_STACK_MAX));
}

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
