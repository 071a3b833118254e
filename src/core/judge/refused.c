// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "core/judge/refused.h"

#include <string.h>

#include "core/judge/judge.h"

/* The rights of a process of another machine are not known. */
static void rights_unknown(struct rule_machine *m)
{
	m->caps = 0;
	m->caps_unread = UINT64_MAX;
	m->unread = UNREAD_PARANOID | UNREAD_SAMPLE_RATE | UNREAD_STACK | UNREAD_CPUS;
}

void judge_call(const struct model *m, const struct call *c, const struct refused_where *where,
		int error, struct refused *out)
{
	struct judge_machine elsewhere;
	struct refusal_facts facts = { .machine = &elsewhere.facts.machine };

	*out = (struct refused){ .sure = true };
	model_call_facts(m, c, &facts);
	if (where->facts) {
		facts.machine = &where->facts->rules.machine;
		facts_memory(where->facts, c->pid, &facts.memory);
	} else {
		judge_elsewhere(&elsewhere, where->release, where->arch, where->names,
				facts.event.attr, facts.event.len);
		rights_unknown(&elsewhere.facts.machine);
	}
	refusals_judge(&facts, &out->verdict);
	out->pages = facts.event.pages;
	out->cause = error ? refusals_cause(&out->verdict, error, &out->sure) : out->verdict.refusal;
	if (error && !out->cause && where->facts) {
		/* the program may have other rights than pevtrace */
		elsewhere.facts.machine = *facts.machine;
		rights_unknown(&elsewhere.facts.machine);
		facts.machine = &elsewhere.facts.machine;
		refusals_judge(&facts, &out->verdict);
		out->cause = refusals_cause(&out->verdict, error, &out->sure);
	}
	if (out->cause)
		refusal_numbers(&facts, out->cause, &out->numbers);
}

void refused_text(const struct refused *r, struct buf *out)
{
	buf_addf(out, "%s%s", r->sure ? "" : "perhaps: ", r->cause->meaning);
	if (r->numbers.len)
		buf_addf(out, ": %s", buf_str(&r->numbers));
}

void judge_note_refused(const struct model *m, const struct call *c,
			const struct refused_where *where, struct sink *sink)
{
	struct buf note = { 0 };
	struct refused r;

	if (c->inject.injected)
		return;
	judge_call(m, c, where, (int)c->ret, &r);
	if (r.cause) {
		refused_text(&r, &note);
		sink_note(sink, "reason", buf_str(&note));
	}
	buf_free(&r.numbers);
	buf_free(&note);
}
