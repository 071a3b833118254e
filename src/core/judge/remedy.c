// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/judge/remedy.h"

#include <string.h>

#include "core/abi/tables.h"
#include "core/judge/flaws.h"
#include "core/model/event_name.h"

static uint64_t remedy_get(const struct rule_ask *a, unsigned int member)
{
	return layout_get(&layout_perf_event_attr, member, a->attr, a->len);
}

bool remedy_uninitialised(const uint8_t *attr, size_t len)
{
	size_t set = 0;

	for (size_t i = 0; i < len; i++)
		set += attr[i] != 0;
	return set * 4 > len * 3;
}

/* Append what a change of the task or CPU measures instead; return false if it is the same. */
static bool other_target(const struct rule_ask *was, const struct rule_ask *is, struct buf *out)
{
	if (was->pid != is->pid || (was->flags & ~is->flags & PERF_FLAG_PID_CGROUP))
		buf_adds(out, "which measures the calling task");
	else if (was->cpu != -1 && is->cpu == -1)
		buf_adds(out, "which measures on any CPU");
	else if (was->cpu != -1 && was->cpu != is->cpu)
		buf_addf(out, "which measures CPU %d", is->cpu);
	else
		return false;
	return true;
}

/* Return for what the changed event counts nothing; of several, what is new. */
static const struct flaw_desc *flaw_of(const struct rule_ask *was, const struct rule_ask *is,
				       bool *new)
{
	const struct flaw_desc *d, *found = NULL;
	size_t at = 0;

	*new = false;
	while ((d = flaw_next(is, &at)) && !*new) {
		if (d->severity != FLAW_ERROR)
			continue;
		*new = !open_meets(d->condition, was);
		found = d;
	}
	return found;
}

bool remedy_measures(const struct rule_ask *ask, const struct change *const *set, size_t n,
		     const struct names *names, bool *another, const struct flaw_desc **flaw,
		     struct buf *instead)
{
	struct change_call to;
	bool new;

	change_make(&to, ask, set, n);
	for (size_t i = 0; i < n && !*another; i++)
		*another = set[i]->how >= CHANGE_EVENT;
	if (*another) {
		event_name(to.attr, to.ask.len, names, instead);
		return false;
	}
	for (size_t i = 0; i < n; i++)
		if (set[i]->how == CHANGE_TARGET && other_target(ask, &to.ask, instead))
			return false;
	if (remedy_get(ask, ATTR_FREQ) && !remedy_get(&to.ask, ATTR_FREQ) &&
	    remedy_get(&to.ask, ATTR_SAMPLE_FREQ)) {
		buf_adds(instead, "which makes sample_freq a period");
		return false;
	}
	*flaw = flaw_of(ask, &to.ask, &new);
	if (*flaw)
		buf_addf(instead, "but %s: %s (flaw %s)", (*flaw)->consequence, (*flaw)->meaning,
			 (*flaw)->name);
	return !new;
}

/* By the rules alone ------------------------------------------------------------------- */

static void remedy_judge(void *ctx, const struct change *const *set, size_t n,
			  struct rule_verdict *v)
{
	struct change_call call;

	change_make(&call, ctx, set, n);
	rules_judge(&call.ask, v);
}

static int remedy_open(void *ctx, const struct change *const *set, size_t n)
{
	struct rule_verdict v;

	remedy_judge(ctx, set, n, &v);
	return v.error;
}

/* Emit the changed members and arguments with their new values. */
static void emit_changed(const struct rule_ask *ask, const struct cause *cause,
			 const struct names *names, struct sink *out)
{
	struct change_call to;
	struct walk w = { .layout = &layout_perf_event_attr, .names = names };
	struct call c = {
		.desc = call_by_name("perf_event_open"), .arch = ask->facts->machine.arch,
	};

	change_make(&to, ask, cause->changes, cause->n);
	w.bytes = to.attr;
	w.len = to.ask.len;
	w.arch = c.arch;
	c.args[1] = (uint64_t)(int64_t)to.ask.pid;
	c.args[2] = (uint64_t)(int64_t)to.ask.cpu;
	c.args[3] = (uint64_t)(int64_t)to.ask.group_fd;
	c.args[4] = to.ask.flags;
	sink_begin(out, NULL, SINK_OBJECT);
	for (size_t i = 0; i < cause->n; i++) {
		const char *name = change_name(cause->changes[i]);

		judge_emit(&w, &c, name, strlen(name), out);
	}
	sink_end(out);
}

bool remedy_of_attempt(const struct attempt *a, uint32_t release, const struct arch *arch,
		       const struct names *names, const struct judgement *j, struct sink *out,
		       struct buf *text)
{
	static const struct cause_ops ops = { remedy_open, remedy_judge };
	struct judge_machine m;
	struct rule_ask ask = {
		.attr = a->attr, .len = a->attr_len, .pid = a->pid, .cpu = a->cpu,
		.group_fd = a->group_fd, .flags = a->flags, .facts = &m.facts,
	};
	const struct change_stock stock = { .path = NULL };
	const struct flaw_desc *flaw = NULL;
	struct change_list changes;
	struct buf instead = { 0 };
	struct rule_verdict v;
	struct cause cause;
	bool another = false, found;

	if (remedy_uninitialised(a->attr, a->attr_len)) {
		buf_adds(text, REMEDY_UNINITIALISED);
		return true;
	}
	if (!j->rule)
		return false;
	judge_unlimited(&m, release, arch, names, a->attr, a->attr_len);
	/* the caller lacks rights only where the check is about them */
	if (j->rule->by & (RULE_BY_PARANOID | RULE_BY_CAPS)) {
		m.facts.machine.paranoid = 2;
	} else {
		m.facts.machine.paranoid = -1;
		m.facts.machine.caps = UINT64_MAX;
	}
	m.facts.target.group = a->group;
	rules_judge(&ask, &v);
	if (v.rule != j->rule)
		return false;
	change_list(&ask, names, &stock, &changes);
	cause_find(&ops, &ask, &changes, &cause);
	found = cause.n && (cause.changes[0]->field || cause.changes[0]->arg) &&
		remedy_measures(&ask, cause.changes, cause.n, names, &another, &flaw, &instead);
	if (found)
		emit_changed(&ask, &cause, names, out);
	if (found && a->cpu == -1 && !strcmp(change_name(cause.changes[0]), "cpu"))
		buf_adds(text, REMEDY_EACH_CPU);
	change_list_free(&changes);
	buf_free(&instead);
	return found;
}
