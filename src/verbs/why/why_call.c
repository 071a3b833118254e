// SPDX-License-Identifier: LGPL-2.1-or-later
/* Experiments on one call, to find the part of it that the kernel refuses. */
#include "verbs/why/why.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/abi/layout.h"
#include "core/lib/die.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Limit of the ids among which a tracepoint that perf can use is searched. */
enum { TRACEPOINTS = 4096 };

/* A call under experiment. */
struct trying {
	struct judge *k;
	const struct judge_call *c;
	struct rule_ask ask;		/* unchanged */
	struct rule_target target;	/* facts about the unchanged call */
	const char *not_tried;
};

/* Experiments ------------------------------------------------------------------------ */

static void change_all(const struct trying *t, const struct change *const *set, size_t n,
		       struct change_call *to)
{
	change_begin(to, &t->ask);
	for (size_t i = 0; i < n; i++)
		change_apply(to, set[i]);
}

/* Open the event disabled, as only the result of the call matters. */
static void disable(struct change_call *call)
{
	const struct field *f = &layout_perf_event_attr.fields[ATTR_DISABLED];

	if ((size_t)f->offset + f->width <= call->ask.len)
		field_set(f, 1, call->attr);
}

static int open_changed(void *ctx, const struct change *const *set, size_t n)
{
	struct trying *t = ctx;
	struct change_call call;
	struct trial trial = { .error = 0 };
	const char *why;

	change_all(t, set, n, &call);
	disable(&call);
	why = judge_try(t->c, &call.ask, &trial);
	if (!why)
		return trial.error;
	/* a change with which the group leader cannot be opened counts as refused */
	if (!n)
		t->not_tried = why;
	return EAGAIN;
}

/* Return whether the change names other things, whose facts have to be looked up. */
static bool names_other(const struct change *c)
{
	return !c->field || c->string || c->field->kind == FIELD_PMU ||
	       c->field->kind == FIELD_CONFIG;
}

static void judge_changed(void *ctx, const struct change *const *set, size_t n,
			  struct rule_verdict *v)
{
	struct trying *t = ctx;
	struct rule_target *target = &t->k->facts.rules.target;
	struct change_call call;
	bool other = false;

	change_all(t, set, n, &call);
	for (size_t i = 0; i < n; i++)
		other |= names_other(set[i]);
	*target = t->target;
	if (other) {
		judge_find_facts(t->k, t->c, &call.ask, false);
		/* keep this fact, which only opening an event shows: the call is tried anyway */
		if (call.ask.pid == t->ask.pid && call.ask.cpu == t->ask.cpu)
			target->breakpoint = t->target.breakpoint;
	}
	rules_judge(&call.ask, v);
	*target = t->target;
}

static const struct cause_ops ops = { .open = open_changed, .judge = judge_changed };

/* Substitutes ------------------------------------------------------------------------- */

static uint64_t some_tracepoint(struct host *h)
{
	const char *name;

	for (uint64_t id = 1; host_has_tracepoints(h) && id < TRACEPOINTS; id++) {
		name = host_tracepoint(h, id);
		if (name && strncmp(name, "ftrace:", 7))
			return id;
	}
	return 0;
}

static void search(struct trying *t, struct why_result *r)
{
	ssize_t n = readlink("/proc/self/exe", r->exe, sizeof(r->exe) - 1);
	struct change_stock stock = { .path = n > 0 ? r->exe : NULL };

	if (layout_get(&layout_perf_event_attr, ATTR_TYPE, t->ask.attr, t->ask.len) ==
	    PERF_TYPE_TRACEPOINT)
		stock.tracepoint = some_tracepoint(t->k->machine.host);
	/* if not even the simplest call opens, no change helps */
	if (!r->simplest)
		change_list(&t->ask, &t->k->machine.names, &stock, &r->changes);
	cause_find(&ops, t, &r->changes, &r->cause);
	r->not_tried = t->not_tried;
	if (r->not_tried)
		r->cause = (struct cause){ .n = 0 };
	if (r->cause.n)
		change_all(t, r->cause.changes, r->cause.n, &r->nearest);
}

/* Obstacles ---------------------------------------------------------------------------- */

/* Find out what refuses even the simplest call. */
static void find_gate(struct judge *k, struct why_result *r)
{
	int gate = trial_gate();

	if (gate)
		r->blocked[r->confinement.seccomp || gate != ENOSYS ?
			   WHY_SECCOMP : WHY_NO_SYSCALL] = true;
	else if (r->simplest == EMFILE || r->simplest == ENFILE)
		r->blocked[WHY_DESCRIPTORS] = true;
	else
		r->blocked[k->facts.rules.machine.paranoid > 2 ||
			   k->facts.rules.machine.unread & UNREAD_PARANOID ?
			   WHY_PARANOID : WHY_SECURITY] = true;
}

static void find_simplest(struct judge *k, struct why_result *r)
{
	struct change_call call;
	struct trial trial;

	change_simplest(&call, &k->facts.rules);
	if (!trial_open(&call.ask, NULL, &trial))
		return;
	r->simplest = trial.error;
	if (r->simplest)
		find_gate(k, r);
}

static void block_by_rule(const struct rule_desc *d, bool *blocked)
{
	static const struct {
		uint64_t by;
		enum why_block block;
	} blocks[] = {
		{ RULE_BY_PARANOID, WHY_PARANOID }, { RULE_BY_CAPS, WHY_CAPABILITY },
		{ RULE_BY_RLIMIT, WHY_DESCRIPTORS }, { RULE_BY_SLOTS, WHY_BREAKPOINTS },
		{ RULE_BY_SECURITY, WHY_SECURITY },
	};

	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		if (d->by & blocks[i].by)
			blocked[blocks[i].block] = true;
	if (d->id == RULE_EXCLUSIVE_MIX || d->id == RULE_EXCLUSIVE_BUSY)
		blocked[WHY_BUSY] = true;
	if (d->id == RULE_NO_PMU)
		blocked[WHY_PMU] = true;
	if (d->id == RULE_UPROBE_OPEN)
		blocked[WHY_FILE] = true;
}

static void conclude(struct why_result *r)
{
	for (size_t i = 0; i < r->cause.nfaults && !r->simplest; i++)
		if (r->cause.faults[i].rule)
			block_by_rule(r->cause.faults[i].rule, r->blocked);
	r->found = r->cause.n;
	for (size_t i = 0; i < WHY_BLOCKS; i++)
		r->found |= r->blocked[i];
}

/*
 * Find the rule that may have refused a call that opens here: the first one with that error
 * that could refuse a caller without privilege about whom no facts are known.
 */
static void explain_there(const struct trying *t, struct why_result *r)
{
	struct rule_facts facts = t->k->facts.rules;
	struct rule_ask ask = t->ask;
	struct rule_verdict v;

	facts.machine.caps = facts.machine.caps_unread = 0;
	facts.machine.unread &= ~(unsigned int)UNREAD_PARANOID;
	if (facts.machine.paranoid < 2)
		facts.machine.paranoid = 2;
	facts.target = (struct rule_target){ .group = facts.target.group };
	ask.facts = &facts;
	rules_judge(&ask, &v);
	for (size_t i = 0; i < RULE_COUNT && !r->there; i++)
		if (v.says[i] != RULE_PASSES && rules_error(&v, (enum rule_id)i) == t->c->error)
			r->there = &rule_descs[i];
}

int why_call(struct judge *k, struct judge_call *c, const struct why_seen *seen)
{
	struct why_result *r = xcalloc(1, sizeof(*r));
	struct trying t = { .k = k, .c = c };
	int status;

	judge_call_prepare(c, &k->machine.names);
	r->ask = t.ask = judge_rule_ask(k, c);
	judge_find_facts(k, c, &t.ask, true);
	t.target = k->facts.rules.target;
	rules_judge(&t.ask, &r->judged);
	confinement_read(&r->confinement);
	r->not_tried = c->not_here;
	if (!r->not_tried) {
		find_simplest(k, r);
		search(&t, r);
	}
	if (r->cause.error)
		conclude(r);
	else if (c->from_dump && c->error && !c->injected)
		explain_there(&t, r);
	c->opens = !r->not_tried && !r->cause.error;
	c->call.ret = r->not_tried ? r->judged.error : r->cause.error;
	c->call.failed = c->call.ret;
	if (!c->leads || !c->opens)
		why_show(k, c, r, seen);
	status = r->found ? EXIT_YES : EXIT_NO;
	change_list_free(&r->changes);
	free(r);
	return status;
}
