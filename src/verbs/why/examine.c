// SPDX-License-Identifier: LGPL-2.1-or-later
/* The answer to one call: by the rules, by a trial, and by experiments that change it. */
#include "core/abi/tables.h"
#include "verbs/why/why_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "experiment/experiment.h"
#include "experiment/work.h"
#include "verbs/measure/refusal.h"

/* What would measure what a refused call asks for --------------------------------------- */

static uint64_t fix_get(const struct rule_ask *a, unsigned int member)
{
	return layout_get(&layout_perf_event_attr, member, a->attr, a->len);
}

/*
 * Let a changed event count work that is known to be counted.  Return false if it counts none, and
 * the change excludes something; *counted remains as it is if the event was not tried.
 */
static bool counts_work(const struct why *k, const struct why_result *r, const struct rule_ask *a,
			uint64_t *counted)
{
	uint8_t attr[CHANGE_ATTR_MAX];
	struct experiment x = {
		.attr = attr, .len = a->len, .flags = a->flags & ~(uint64_t)PERF_FLAG_PID_CGROUP,
		.whom = a->pid == -1 ? EXPERIMENT_CPU : a->cpu == -1 ? EXPERIMENT_TASK :
								       EXPERIMENT_TASK_CPU,
		.work = WORK_SPIN,
	};
	bool excludes = false;
	enum instrument i;
	struct observed o;

	if (r->by_rules || !a->attr || fix_get(a, ATTR_SIGTRAP) ||
	    !instrument_of(k->machine.host, a->attr, a->len, &i) ||
	    (i != INSTRUMENT_CLOCK && i != INSTRUMENT_CLOCK_SAMPLES &&
	     i != INSTRUMENT_PAGE_FAULTS && i != INSTRUMENT_HARDWARE))
		return true;
	memcpy(attr, a->attr, a->len);
	attr_put(attr, ATTR_DISABLED, 0);
	attr_put(attr, ATTR_ENABLE_ON_EXEC, 0);
	attr_put(attr, ATTR_READ_FORMAT, 0);
	if (!experiment_run(&x, &o) || o.error)
		return true;
	*counted = o.count;
	for (unsigned int m = ATTR_EXCLUDE_USER; m <= ATTR_EXCLUDE_IDLE; m++)
		excludes |= !fix_get(&r->ask, m) && fix_get(a, m);
	return o.count || !excludes;
}

/*
 * Return whether the call still measures what it asks for after these changes; else append what it
 * measures instead.
 */
static bool still_measures(const struct why *k, const struct why_result *r,
			   const struct change *const *set, size_t n, bool opens,
			   struct why_fix *f)
{
	struct change_call to;

	if (!remedy_measures(&r->ask, set, n, &k->machine.names, &f->another, &f->flaw,
			     &f->instead))
		return false;
	change_make(&to, &r->ask, set, n);
	if (!opens || f->flaw || counts_work(k, r, &to.ask, &f->counted))
		return true;
	buf_adds(&f->instead, "but it counted nothing in a trial");
	return false;
}

/* Return whether the call lacks rights, and nothing else but perhaps a PMU. */
static bool lacks_rights(const struct why_result *r, const struct change_call *call,
			 struct judge_rights *rights)
{
	struct rule_facts facts = *r->ask.facts;
	struct rule_ask ask = call->ask;
	struct rule_verdict v;

	facts.machine.paranoid = -1;
	facts.machine.caps = UINT64_MAX;
	if (ask.cpu != r->ask.cpu)
		facts.target.cpu_online = FACT_UNKNOWN;
	ask.facts = &facts;
	rules_judge(&ask, &v);
	for (size_t i = 0; i < RULE_COUNT; i++)
		if (i != RULE_NO_PMU && judge_refuses(&v, i))
			return false;
	return judge_rights(&call->ask, rights);
}

/* Find out whether the call lacks rights alone, or with one change that keeps what it measures. */
static void find_rights(const struct why *k, struct why_result *r, struct why_fix *f)
{
	struct change_call to;

	change_make(&to, &r->ask, NULL, 0);
	f->lacks = lacks_rights(r, &to, &f->rights);
	for (size_t i = 0; i < r->changes.n && !f->lacks && !f->measures &&
	     !r->blocked[BLOCK_PMU]; i++) {
		const struct change *c = &r->changes.list[i];
		struct why_fix is = { .measures = false };

		if (c->how != CHANGE_ADD && !c->string && still_measures(k, r, &c, 1, false, &is)) {
			change_make(&to, &r->ask, &c, 1);
			f->lacks = lacks_rights(r, &to, &f->rights);
			f->with_rights = f->lacks ? c : NULL;
		}
		buf_free(&is.instead);
	}
}

/* Find what would measure what the call asks for, from the cause. */
static void fix_find(const struct why *k, struct why_result *r)
{
	struct cause *c = &r->cause;
	struct why_fix *f = &r->fix;
	size_t kept = 0;

	if (remedy_uninitialised(r->ask.attr, r->ask.len))
		f->advice = REMEDY_UNINITIALISED;
	else if (!c->n && c->gave_up)
		f->advice = "not found: the limit of experiments was reached";
	f->counted = FIX_NOT_TRIED;
	f->measures = c->n && still_measures(k, r, c->changes, c->n, true, f);
	for (size_t i = 0; i < c->nothers; i++) {
		struct why_fix other = { .measures = false };

		if (still_measures(k, r, &c->others[i], 1, true, &other))
			c->others[kept++] = c->others[i];
		buf_free(&other.instead);
	}
	c->nothers = kept;
	if (!r->simplest)
		find_rights(k, r, f);
}

/* Facts and trials ------------------------------------------------------------------------ */

/* Find the facts about the call for k->facts; tries: open events for that, too. */
static void find_facts(struct why *k, const struct why_call *c, const struct rule_ask *ask,
		       bool tries)
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
		trial_find_facts(ask, &c->before, &k->facts.rules);
}

/* Make the call with those before it open; return NULL, or why that failed. */
static const char *try_call(const struct why_call *c, const struct rule_ask *ask,
			    struct trial *out)
{
	struct rule_ask made = *ask;

	/* a descriptor that was no event in the dump must be none here */
	if (c->from_dump && c->group.event == FACT_NO && ask->group_fd != -1)
		made.group_fd = INT_MAX;
	if (!trial_open(&made, &c->before, out))
		return "cannot create a process to make the call";
	return !out->before_error ? NULL : c->before.n > 1 ?
	       "an event before it could not be opened along with it" :
	       "its group leader could not be opened here";
}

/* One trial ------------------------------------------------------------------------- */

static enum why_verdict compare(const struct why_call *c, struct why_answer *r)
{
	const struct rule_verdict *v = &r->judged.rules;
	int error = r->asked ? r->trial.error : 0;
	bool sure;

	if (c->not_here && c->from_dump && !c->injected && !v->error && c->error)
		r->open = c->there;
	if (r->open)
		return WHY_UNFORESEEN;
	/* a filter or the like answered instead of the kernel */
	if (error && trial_gate() == error)
		return WHY_STOPPED;
	if (r->asked && error != v->error) {
		r->open = rules_cause(v, error, &sure);
		if (!r->open && rules_assumed(v))
			r->open = v->rule;
		return r->open ? WHY_UNFORESEEN : WHY_DISAGREEMENT;
	}
	return v->error ? WHY_REFUSED : WHY_OPENS;
}

void why_ask(struct why *k, struct why_call *c, struct why_answer *r)
{
	struct judge_case judged = { .seen = JUDGE_NOT_SEEN };

	*r = (struct why_answer){ .asked = false };
	why_call_prepare(c, &k->machine.names);
	judged.ask = why_asked(k, c);
	find_facts(k, c, &judged.ask, !k->rules_only);
	judge_open(&judged, &r->judged);
	r->not_asked = k->elsewhere ? "--machine" : k->rules_only ? "--rules-only" : c->not_here;
	if (!r->not_asked)
		r->not_asked = try_call(c, &judged.ask, &r->trial);
	r->asked = !r->not_asked;
	r->verdict = compare(c, r);
	r->perhaps = r->verdict == WHY_OPENS && !r->asked && !r->judged.certain;
	c->call.failed = r->asked ? r->trial.error : r->judged.error;
	c->call.ret = r->asked ? r->trial.error : r->judged.error;
}

/* Experiments ------------------------------------------------------------------------ */

/* Limit of the ids among which a tracepoint that perf can use is searched. */
enum { TRACEPOINTS = 4096 };

/* A call under experiment. */
struct trying {
	struct why *k;
	const struct why_call *c;
	struct rule_ask ask;		/* unchanged */
	struct rule_target target;	/* facts about the unchanged call */
	const char *not_tried;
	unsigned int trials;
};

static int open_changed(void *ctx, const struct change *const *set, size_t n)
{
	const struct field *off = &layout_perf_event_attr.fields[ATTR_DISABLED];
	struct trying *t = ctx;
	struct change_call call;
	struct trial trial = { .error = 0 };
	const char *why;

	progress_step(&t->k->progress, t->trials++, CAUSE_TRIALS);
	change_make(&call, &t->ask, set, n);
	/* only the result of the call matters */
	if ((size_t)off->offset + off->width <= call.ask.len)
		field_set(off, 1, call.attr);
	why = try_call(t->c, &call.ask, &trial);
	if (!why)
		return trial.error;
	/* a change with which the group leader cannot be opened counts as refused */
	if (!n)
		t->not_tried = why;
	return EAGAIN;
}

static void rules_of_changed(void *ctx, const struct change *const *set, size_t n,
			  struct rule_verdict *v)
{
	struct trying *t = ctx;
	struct rule_target *target = &t->k->facts.rules.target;
	struct change_call call;
	bool other = false;

	change_make(&call, &t->ask, set, n);
	for (size_t i = 0; i < n; i++)
		other |= !set[i]->field || set[i]->string || set[i]->field->kind == FIELD_PMU ||
			 set[i]->field->kind == FIELD_CONFIG;
	*target = t->target;
	if (other) { /* it names other things, whose facts have to be looked up */
		find_facts(t->k, t->c, &call.ask, false);
		/* keep this fact, which only opening an event shows: the call is tried anyway */
		if (call.ask.pid == t->ask.pid && call.ask.cpu == t->ask.cpu)
			target->breakpoint = t->target.breakpoint;
	}
	rules_judge(&call.ask, v);
	*target = t->target;
}

static int open_by_rules(void *ctx, const struct change *const *set, size_t n)
{
	struct rule_verdict v;

	rules_of_changed(ctx, set, n, &v);
	return v.error;
}

static const struct cause_ops kernel_ops = { .open = open_changed, .judge = rules_of_changed };
static const struct cause_ops rule_ops = { .open = open_by_rules, .judge = rules_of_changed };

static void search(struct trying *t, struct why_result *r)
{
	ssize_t n = readlink("/proc/self/exe", r->exe, sizeof(r->exe) - 1);
	struct change_stock stock = { .path = n > 0 ? r->exe : NULL };
	struct host *h = t->k->machine.host;
	uint64_t ids = layout_get(&layout_perf_event_attr, ATTR_TYPE, t->ask.attr, t->ask.len) ==
		       PERF_TYPE_TRACEPOINT && host_has_tracepoints(h) ? TRACEPOINTS : 0;

	/* one that is hit: those of initcalls, for one, are not after boot */
	for (uint64_t id = 1; id < ids && !stock.tracepoint; id++) {
		const char *name = host_tracepoint(h, id);

		if (name && !strcmp(name, "sched:sched_switch"))
			stock.tracepoint = id;
	}
	/* if not even the simplest call opens, no change helps; garbage has to be cleared */
	if (!r->simplest && !remedy_uninitialised(t->ask.attr, t->ask.len))
		change_list(&t->ask, &t->k->machine.names, &stock, &r->changes);
	cause_find(r->by_rules ? &rule_ops : &kernel_ops, t, &r->changes, &r->cause);
	if (t->not_tried && !r->by_rules) {
		r->not_tried = t->not_tried;
		r->cause = (struct cause){ .n = 0 };
	}
	if (r->cause.n)
		change_make(&r->nearest, &t->ask, r->cause.changes, r->cause.n);
}

/* Obstacles ---------------------------------------------------------------------------- */

/* Try the simplest call, and find out what refuses it, if something does. */
static void try_simplest(struct why *k, struct why_result *r)
{
	struct change_call call;
	struct trial trial;
	int gate;

	change_simplest(&call, &k->facts.rules);
	if (!trial_open(&call.ask, NULL, &trial))
		return;
	r->simplest = trial.error;
	if (!r->simplest)
		return;
	gate = trial_gate();
	if (gate)
		r->blocked[k->facts.confined.seccomp ?
			   BLOCK_SECCOMP : BLOCK_NO_SYSCALL] = true;
	else if (r->simplest == EMFILE || r->simplest == ENFILE)
		r->blocked[BLOCK_DESCRIPTORS] = true;
	else if (k->facts.rules.machine.paranoid > 2 ||
		 k->facts.rules.machine.unread & UNREAD_PARANOID)
		r->blocked[BLOCK_PARANOID] = true;
	else if (k->facts.rules.machine.security == FACT_YES)
		r->blocked[BLOCK_SECURITY] = true;
}

static void block_by_rule(const struct rule_desc *d, bool *blocked)
{
	static const struct {
		uint64_t by;
		enum why_block block;
	} blocks[] = {
		{ RULE_BY_PARANOID, BLOCK_PARANOID }, { RULE_BY_CAPS, BLOCK_CAPABILITY },
		{ RULE_BY_RLIMIT, BLOCK_DESCRIPTORS }, { RULE_BY_SLOTS, BLOCK_BREAKPOINTS },
		{ RULE_BY_SECURITY, BLOCK_SECURITY },
	};

	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		if (d->by & blocks[i].by)
			blocked[blocks[i].block] = true;
	if (d->id == RULE_EXCLUSIVE_MIX || d->id == RULE_EXCLUSIVE_BUSY)
		blocked[BLOCK_BUSY] = true;
	if (d->id == RULE_NO_PMU)
		blocked[BLOCK_PMU] = true;
	if (d->id == RULE_UPROBE_OPEN)
		blocked[BLOCK_FILE] = true;
}

/* Return the result by the rules of a call that they refuse. */
static struct why_result *examine_by_rules(struct why *k, const struct why_call *c)
{
	struct why_result *r = xcalloc(1, sizeof(*r));
	struct trying t = { .k = k, .c = c, .target = k->facts.rules.target };

	r->by_rules = true;
	r->ask = t.ask = why_asked(k, c);
	search(&t, r);
	for (size_t i = 0; i < r->cause.nfaults; i++)
		if (r->cause.faults[i].rule)
			block_by_rule(r->cause.faults[i].rule, r->blocked);
	fix_find(k, r);
	return r;
}

int why_check(struct why *k, struct why_call *c)
{
	struct why_answer a;
	struct show s = { .k = k, .out = &k->out, .c = c, .answer = &a };
	struct why_result *r = NULL;
	struct buf unread = { 0 };
	uint8_t head[8];
	int status;

	why_ask(k, c, &a);
	if (a.verdict == WHY_REFUSED && a.judged.rules.rule && !k->out.json)
		s.r = r = examine_by_rules(k, c);
	if (a.asked && a.trial.error == E2BIG && c->len >= sizeof(head)) {
		/* the size that the kernel wrote into the attr, for the note after the result */
		memcpy(head, c->attr, sizeof(head));
		memcpy(head + 4, &a.trial.size, sizeof(a.trial.size));
		call_add_capture(&c->call, AT_SYSCALL_EXIT, c->call.args[0], sizeof(head), head,
				 sizeof(head));
	}
	show_answer(&s);
	c->opens = a.verdict == WHY_OPENS;
	status = !c->opens ? EXIT_NO :
		 a.perhaps && here_add_unread(&s, &unread) ? EXIT_TROUBLE : EXIT_YES;
	buf_free(&unread);
	why_result_free(r);
	return status;
}

int why_examine(struct why *k, struct why_call *c, const struct why_failed *seen)
{
	struct why_result *r = xcalloc(1, sizeof(*r));
	struct trying t = { .k = k, .c = c };
	const struct show s = {
		.k = k, .out = &k->out, .c = c, .r = r, .seen = seen,
		.times = seen ? seen->times : 0,
	};
	struct judge_case judged = { .seen = JUDGE_NOT_SEEN };
	struct judgement j;
	int status;

	why_call_prepare(c, &k->machine.names);
	r->ask = t.ask = judged.ask = why_asked(k, c);
	find_facts(k, c, &t.ask, !k->elsewhere);
	t.target = k->facts.rules.target;
	judge_open(&judged, &j);
	r->not_tried = c->not_here;
	if (!r->not_tried) {
		try_simplest(k, r);
		search(&t, r);
	}
	/* what cannot be tried is answered by the rules */
	if (r->not_tried && j.error && (!c->from_dump || c->error == j.error)) {
		r->by_rules = true;
		change_list_free(&r->changes);
		r->changes = (struct change_list){ .n = 0 };
		search(&t, r);
	}
	for (size_t i = 0; i < r->cause.nfaults && !r->simplest; i++)
		if (r->cause.faults[i].rule)
			block_by_rule(r->cause.faults[i].rule, r->blocked);
	r->found = r->cause.n;
	for (size_t i = 0; i < BLOCKS && r->cause.error; i++)
		r->found |= r->blocked[i];
	/* if the cause is unknown here, what the dump tells is all there is */
	if (c->from_dump && c->error && !c->injected && !r->cause.error)
		r->there = c->there;
	c->opens = !r->not_tried && !r->cause.error;
	c->call.ret = r->not_tried ? j.error : r->cause.error;
	c->call.failed = c->call.ret;
	if (r->cause.error)
		fix_find(k, r);
	status = r->found ? EXIT_YES : EXIT_NO;
	if (k->out.json && (!c->leads || !c->opens))
		show_result(&s);
	if (k->out.json || (c->leads && c->opens)) {
		why_result_free(r);
		return status;
	}
	APPEND(k->kept, k->nkept) = (struct why_kept){
		.c = c, .r = r, .target = t.target, .seen = seen,
		.times = seen ? seen->times : 1,
	};
	return status;
}
