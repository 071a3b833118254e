// SPDX-License-Identifier: LGPL-2.1-or-later
/* What would measure what a refused call asks for: changes that do, or the rights it lacks. */
#include <stdlib.h>
#include <string.h>

#include "core/abi/tables.h"
#include "core/judge/flaws.h"
#include "core/lib/die.h"
#include "core/model/event_name.h"
#include "experiment/experiment.h"
#include "experiment/work.h"
#include "verbs/why/why_internal.h"

static uint64_t fix_get(const struct rule_ask *a, unsigned int member)
{
	return layout_get(&layout_perf_event_attr, member, a->attr, a->len);
}

/* Return whether most bytes of the attr are set, as in memory that nobody has written. */
bool fix_uninitialised(const struct rule_ask *ask)
{
	size_t set = 0;

	for (size_t i = 0; i < ask->len; i++)
		set += ask->attr[i] != 0;
	return set * 4 > ask->len * 3;
}

/* Append what a change of the task or CPU measures instead; return false if it is the same. */
static bool other_target(const struct rule_ask *was, const struct rule_ask *is, struct buf *out)
{
	if (was->pid != is->pid || (was->flags & ~is->flags & PERF_FLAG_PID_CGROUP))
		buf_adds(out, "which measures the calling task");
	else if (was->cpu != -1 && is->cpu == -1)
		buf_adds(out, "which measures on any CPU");
	else if (was->cpu != -1)
		buf_addf(out, "which measures CPU %d", is->cpu);
	else
		return false;
	return true;
}

/* Return what is wrong with the changed event, and was not wrong with the one asked for. */
static const struct flaw_desc *new_flaw(const struct rule_ask *was, const struct rule_ask *is)
{
	const struct flaw_desc *d;
	size_t at = 0;

	while ((d = flaw_next(is, &at)))
		if (d->severity == FLAW_ERROR && !open_meets(d->condition, was))
			return d;
	return NULL;
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
	struct buf *out = &f->instead;
	struct change_call to;

	change_make(&to, &r->ask, set, n);
	for (size_t i = 0; i < n && !f->another; i++)
		f->another = set[i]->how >= CHANGE_EVENT;
	if (f->another) {
		event_name(to.attr, to.ask.len, &k->machine.names, out);
		return false;
	}
	for (size_t i = 0; i < n; i++)
		if (set[i]->how == CHANGE_TARGET && other_target(&r->ask, &to.ask, out))
			return false;
	f->flaw = new_flaw(&r->ask, &to.ask);
	if (f->flaw)
		buf_addf(out, "but %s: %s (flaw %s)", f->flaw->consequence, f->flaw->meaning,
			 f->flaw->name);
	else if (fix_get(&r->ask, ATTR_FREQ) && !fix_get(&to.ask, ATTR_FREQ) &&
		 fix_get(&to.ask, ATTR_SAMPLE_FREQ))
		buf_adds(out, "which makes sample_freq a period");
	else if (opens && !counts_work(k, r, &to.ask, &f->counted))
		buf_adds(out, "but it counted nothing in a trial");
	return !out->len;
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

void fix_find(const struct why *k, struct why_result *r)
{
	struct cause *c = &r->cause;
	struct why_fix *f = &r->fix;
	size_t kept = 0;

	if (fix_uninitialised(&r->ask))
		f->advice = "the attr looks uninitialised: memset(&attr, 0, sizeof(attr)) before "
			    "it is filled";
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

void why_result_free(struct why_result *r)
{
	if (!r)
		return;
	change_list_free(&r->changes);
	buf_free(&r->fix.instead);
	free(r);
}
