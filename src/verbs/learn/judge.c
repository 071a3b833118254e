// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/learn/judge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/host/event_syntax.h"
#include "core/host/facts.h"
#include "core/judge/judge.h"
#include "core/lib/die.h"
#include "experiment/cause.h"
#include "experiment/trial.h"

/* An open of an event, and the facts about it. */
struct lesson_open {
	struct event_list list;
	struct facts facts;
	struct rule_ask ask;
};

static void lesson_open_init(struct lesson_open *o, struct learn *l, const char *event,
			     pid_t pid, int cpu)
{
	*o = (struct lesson_open){ .list = { 0 } };
	if (!event_list_add(&o->list, l->own_session.machine.host, event))
		die("lesson %s: '%s': %s", l->lesson->name, event, o->list.why);
	o->ask = (struct rule_ask){
		.attr = o->list.events[0].attr.bytes, .len = o->list.events[0].attr.len,
		.pid = pid, .cpu = cpu, .group_fd = -1, .flags = PERF_FLAG_FD_CLOEXEC,
		.facts = &o->facts.rules,
	};
	facts_open(&o->facts, l->own_session.machine.host);
	facts_target(&o->facts, &o->ask);
}

static void lesson_open_free(struct lesson_open *o)
{
	facts_close(&o->facts);
	event_list_free(&o->list);
}

static void lesson_change(const struct lesson_open *o, const struct change *const *set,
			  size_t n, struct change_call *to)
{
	change_begin(to, &o->ask);
	for (size_t i = 0; i < n; i++)
		change_apply(to, set[i]);
}

static int lesson_try_changed(void *ctx, const struct change *const *set, size_t n)
{
	struct change_call call;
	struct trial trial;

	lesson_change(ctx, set, n, &call);
	return trial_open(&call.ask, NULL, &trial) ? trial.error : EAGAIN;
}

static void lesson_judge_changed(void *ctx, const struct change *const *set, size_t n,
				 struct rule_verdict *v)
{
	struct change_call call;

	lesson_change(ctx, set, n, &call);
	rules_judge(&call.ask, v);
}

void learn_set_cause(struct learn *l, const char *name, const char *event)
{
	static const struct cause_ops ops = {
		.open = lesson_try_changed, .judge = lesson_judge_changed,
	};
	const struct change_stock stock = { .path = NULL };
	struct change_list changes = { .n = 0 };
	struct lesson_open o;
	struct cause cause;

	lesson_open_init(&o, l, event, 0, -1);
	change_list(&o.ask, &l->own_session.machine.names, &stock, &changes);
	cause_find(&ops, &o, &changes, &cause);
	learn_set(l, name, "%s", cause.n ? change_name(cause.changes[0]) : "nothing");
	change_list_free(&changes);
	lesson_open_free(&o);
}

void learn_judge(struct learn *l, const char *event, pid_t pid, int cpu, int error,
		 struct learn_verdict *out)
{
	struct lesson_open o;
	struct judgement j;

	lesson_open_init(&o, l, event, pid, cpu);
	judge_open(&(struct judge_case){ .ask = o.ask, .seen = error }, &j);
	*out = (struct learn_verdict){
		.rule = j.rule ? j.rule->name : NULL,
		.meaning = j.rule ? j.rule->meaning : NULL, .sure = j.sure,
	};
	lesson_open_free(&o);
}

void learn_explain_refusal(struct learn *l, const struct step_event *e, const char *event,
			   int64_t result)
{
	const char *name = e->name;
	struct learn_verdict v;
	char why[64], failed[64];

	snprintf(why, sizeof(why), "%s_why", name);
	snprintf(failed, sizeof(failed), "%s_failed", name);
	learn_set_error(l, name, result);
	if (result >= 0) {
		learn_set(l, why, "Nothing forbids it here.");
		return;
	}
	learn_judge(l, event, e->pid, e->cpu, (int)-result, &v);
	if (v.rule)
		learn_set(l, why, "%s `%s`: %s.", v.sure ? "Rule" : "Perhaps rule", v.rule,
			  v.meaning);
	else
		learn_set(l, why, "No rule that pevtrace knows explains it: a seccomp filter may.");
	learn_set(l, failed, "yes");
}
