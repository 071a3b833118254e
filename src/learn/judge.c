// SPDX-License-Identifier: LGPL-2.1-or-later
#include "learn/judge.h"

#include <stdio.h>
#include <string.h>

#include "host/event_syntax.h"
#include "host/facts.h"
#include "lib/die.h"

void learn_judge(struct learn *l, const char *event, pid_t pid, int cpu, int error,
		 struct learn_verdict *out)
{
	struct event_list list = { 0 };
	const struct rule_desc *rule;
	struct rule_verdict v;
	struct facts facts;
	struct rule_ask ask = {
		.pid = pid, .cpu = cpu, .group_fd = -1, .flags = PERF_FLAG_FD_CLOEXEC,
		.facts = &facts.rules,
	};

	if (!event_list_add(&list, l->own_session.machine.host, event))
		die("lesson %s: '%s': %s", l->lesson->name, event, list.why);
	ask.attr = list.events[0].attr.bytes;
	ask.len = list.events[0].attr.len;
	facts_open(&facts, l->own_session.machine.host);
	facts_target(&facts, &ask);
	rules_judge(&ask, &v);
	rule = v.error == error ? v.rule : rules_explain(&v, error);
	*out = (struct learn_verdict){
		.rule = rule ? rule->name : "none",
		.meaning = rule ? rule->meaning : "no known rule explains it",
	};
	facts_close(&facts);
	event_list_free(&list);
}

void learn_refused(struct learn *l, const char *name, const char *event, pid_t pid, int cpu)
{
	int fd = learn_try_open(l, event, pid, cpu, -1);
	struct learn_verdict v;
	char key[64];

	learn_judge(l, event, pid, cpu, fd < 0 ? -fd : 0, &v);
	learn_set_error(l, name, fd);
	snprintf(key, sizeof(key), "%s_rule", name);
	learn_set(l, key, "%s", v.rule);
	snprintf(key, sizeof(key), "%s_why", name);
	learn_set(l, key, "%s", v.meaning);
	if (fd >= 0)
		learn_close(l, fd);
}
