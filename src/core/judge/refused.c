// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "core/judge/refused.h"

#include <string.h>

#include "core/judge/judge.h"

/* What a caller's process may do is not known on another machine. */
static void rights_unknown(struct rule_machine *m)
{
	m->caps = 0;
	m->caps_unread = UINT64_MAX;
	m->unread = UNREAD_PARANOID | UNREAD_SAMPLE_RATE | UNREAD_STACK | UNREAD_CPUS;
}

/* Fill in the facts; elsewhere is memory for those of another machine. */
static void facts_of(const struct model *m, const struct call *c, const struct refused_where *where,
		     struct judge_machine *elsewhere, struct refusal_facts *facts)
{
	*facts = (struct refusal_facts){ .machine = &elsewhere->facts.machine };
	model_call_facts(m, c, facts);
	if (where->facts) {
		facts->machine = &where->facts->rules.machine;
		facts_memory(where->facts, c->pid, &facts->memory);
	} else {
		judge_elsewhere(elsewhere, where->release, where->arch, where->names,
				facts->event.attr, facts->event.len);
		rights_unknown(&elsewhere->facts.machine);
	}
}

void judge_call(const struct model *m, const struct call *c, const struct refused_where *where,
		int error, struct refused *out)
{
	struct judge_machine elsewhere;
	struct refusal_facts facts;

	*out = (struct refused){ .cause = NULL };
	facts_of(m, c, where, &elsewhere, &facts);
	refusals_judge(&facts, &out->verdict);
	out->sure = true;
	out->cause = error ? refusals_cause(&out->verdict, error, &out->sure) : out->verdict.refusal;
	if (out->cause)
		refusal_numbers(&facts, out->cause, &out->numbers);
}

bool judge_repair(const struct model *m, const struct call *c, const struct refused_where *where,
		  uint64_t args[CALL_MAX_ARGS], int32_t *cpu)
{
	const struct refusal_desc *d;
	struct judge_machine elsewhere;
	struct refusal_facts facts;
	struct refusal_verdict v;
	struct call changed = *c;
	bool sure;

	facts_of(m, c, where, &elsewhere, &facts);
	facts.call = &changed;
	*cpu = facts.event.cpu;
	refusals_judge(&facts, &v);
	d = refusals_cause(&v, (int)c->ret, &sure);
	for (unsigned int i = 0; d; i++) {
		if (i == REFUSAL_COUNT || !refusal_repair_mmap(&facts, d, changed.args, cpu))
			return false;
		facts.event.cpu = *cpu;
		refusals_judge(&facts, &v);
		d = v.refusal;
	}
	memcpy(args, changed.args, sizeof(changed.args));
	return true;
}

void refused_text(const struct refused *r, struct buf *out)
{
	buf_addf(out, "%s%s", r->sure ? "" : "perhaps: ", r->cause->meaning);
	if (r->numbers.len)
		buf_addf(out, ": %s", buf_str(&r->numbers));
}
