// SPDX-License-Identifier: LGPL-2.1-or-later
/* Judging a call by the rules, and asking the kernel. */
#include "core/abi/layout.h"
#include "verbs/judge/judge.h"
#include "verbs/measure/refusal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

struct rule_ask judge_rule_ask(const struct judge *k, const struct judge_call *c)
{
	return (struct rule_ask){
		.attr = c->len ? c->attr : NULL, .len = c->len,
		.pid = call_int(&c->call, 1), .cpu = call_int(&c->call, 2),
		.group_fd = call_int(&c->call, 3), .flags = c->call.args[4],
		.facts = &k->facts.rules,
	};
}

/* Find the facts that only opening events shows. */
static void try_facts(struct judge *k, const struct judge_call *c, const struct rule_ask *ask)
{
	struct rule_facts *f = &k->facts.rules;
	const struct layout *l = &layout_perf_event_attr;

	if (!k->attr_size)
		k->attr_size = trial_attr_size();
	f->machine.attr_size = k->attr_size;
	if (layout_get(l, ATTR_TYPE, ask->attr, ask->len) == PERF_TYPE_BREAKPOINT &&
	    !(ask->flags & PERF_FLAG_PID_CGROUP))
		f->target.breakpoint = trial_breakpoint(ask, &c->before);
	f->target.pmu_event = trial_pmu_event(ask, &f->target.pmu_error);
}

void judge_find_facts(struct judge *k, const struct judge_call *c,
		      const struct rule_ask *ask, bool tries)
{
	struct rule_target *t = &k->facts.rules.target;

	facts_target(&k->facts, ask);
	if (c->before.n)
		t->descriptor = facts_descriptors(c->before.n + 1);
	if (c->group.event != FACT_UNKNOWN)
		t->group = c->group;
	if (c->from_dump && ask->flags & PERF_FLAG_PID_CGROUP && !k->cgroup)
		t->cgroup_dir = t->cgroup_perf = FACT_UNKNOWN;
	if (tries)
		try_facts(k, c, ask);
}

const char *judge_try(const struct judge_call *c, const struct rule_ask *ask,
		      struct trial *out)
{
	if (!trial_open(ask, &c->before, out))
		return "cannot create a process to make the call";
	return !out->before_error ? NULL : c->before.n > 1 ?
	       "an event before it could not be opened along with it" :
	       "its group leader could not be opened here";
}

/* Return whether a filter or the like answered instead of the kernel. */
static bool judge_blocked(const struct judge_result *r)
{
	int error = r->trial.error;

	return error && (error == r->judged.error ? refusal_is_gate(error) :
						    trial_gate() == error);
}

static enum judge_verdict judge_verdict(const struct judge_call *c, struct judge_result *r)
{
	if (c->not_here && c->from_dump && !c->injected && !r->judged.error && c->error)
		r->open = rules_explain(&r->judged, c->error);
	if (r->open)
		return JUDGE_UNFORESEEN;
	if (r->asked && judge_blocked(r))
		return JUDGE_BLOCKED;
	if (r->asked && r->trial.error != r->judged.error) {
		r->open = rules_explain(&r->judged, r->trial.error);
		if (!r->open && rules_assumed(&r->judged))
			r->open = r->judged.rule;
		return r->open ? JUDGE_UNFORESEEN : JUDGE_DISAGREEMENT;
	}
	return r->judged.error ? JUDGE_REFUSED : JUDGE_OPENS;
}

void judge_ask(struct judge *k, struct judge_call *c, struct judge_result *r)
{
	struct rule_ask ask;

	*r = (struct judge_result){ .asked = false };
	judge_call_prepare(c, &k->machine.names);
	ask = judge_rule_ask(k, c);
	judge_find_facts(k, c, &ask, !k->offline);
	rules_judge(&ask, &r->judged);
	r->not_asked = k->offline ? "--offline" : c->not_here;
	if (!r->not_asked)
		r->not_asked = judge_try(c, &ask, &r->trial);
	r->asked = !r->not_asked;
	r->verdict = judge_verdict(c, r);
	c->call.failed = r->asked ? r->trial.error : r->judged.error;
	c->call.ret = r->asked ? r->trial.error : r->judged.error;
}
