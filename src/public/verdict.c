// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel's answer to a call, and the releases that it requires. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "core/abi/as_kernel.h"
#include "core/abi/siginfo.h"
#include "core/abi/tables.h"
#include "config.h"
#include "core/host/rights.h"
#include "core/judge/judge.h"
#include "formats/text/text.h"
#include "public/machine.h"
#include "xlat/tables.h"

const char *pevtrace_version(void)
{
	return PACKAGE_VERSION;
}

uint32_t pevtrace_newest_release(void)
{
	return xlat_release;
}

/* Judging -------------------------------------------------------------------------------- */

/* Find what the leader's own call tells of the group; of other machines' tasks little is known. */
static void tell_leader(const struct pevtrace_open *o, struct rule_facts *f)
{
	bool cgroup = o->flags & PERF_FLAG_PID_CGROUP;
	bool its = o->leader_flags & PERF_FLAG_PID_CGROUP;
	int32_t pid = cgroup ? -1 : o->pid, other = its ? -1 : o->leader_pid;
	struct rule_group *g = &f->target.group;

	g->cpu = o->leader_cpu;
	g->leads = fact_of(o->leader_group_fd == -1 || o->leader_flags & PERF_FLAG_FD_NO_GROUP);
	/* 0 may be the task of a number */
	g->same_task = pid != other && pid >= 0 && other >= 0 && !(pid && other) ? FACT_UNKNOWN :
		       fact_of(pid == other);
	/* two descriptors may be of one cgroup */
	g->same_cgroup = cgroup && its && o->pid != o->leader_pid ? FACT_UNKNOWN :
			 fact_of(cgroup == its);
	if (other != -1)
		g->alive = g->same_task == FACT_YES ? f->target.task.living : FACT_UNKNOWN;
	else if (rules_pmu(&f->machine, g->attr, g->len))
		g->alive = FACT_YES;
}

/*
 * Judge the call; error: the one that was seen, or JUDGE_NOT_SEEN.  Return false if the size in
 * the caller's struct makes no sense.
 */
static bool verdict_judge(const struct pevtrace_machine *m, const struct pevtrace_open *call,
			  int error, struct rule_facts *facts, struct judgement *out)
{
	struct pevtrace_open has = { 0 };	/* what the caller's version of the struct has */
	struct judge_case c = { .seen = error };
	struct rule_group *g = &facts->target.group;

	if (call->size < offsetof(struct pevtrace_open, leader))
		return false;
	memcpy(&has, call, call->size < sizeof(has) ? call->size : sizeof(has));
	c.ask = (struct rule_ask){
		.attr = has.attr, .len = has.attr ? has.attr_len : 0, .pid = has.pid,
		.cpu = has.cpu, .group_fd = has.group_fd, .flags = has.flags, .facts = facts,
	};
	machine_facts(m, &c.ask, facts);
	if (has.leader) {
		if (g->event == FACT_UNKNOWN)
			g->event = FACT_YES;
		g->attr = has.leader;
		g->len = has.leader_len;
		g->cpu = RULE_CPU_UNKNOWN;
		if (has.leader_known)
			tell_leader(&has, facts);
	}
	judge_open(&c, out);
	return true;
}

/* Store the verdict in as much of the caller's struct as its version has. */
static int verdict_store(struct pevtrace_verdict *to, const struct judgement *j)
{
	struct pevtrace_verdict v = { .size = to->size, .error = j->error, .certain = j->certain };

	if (to->size < offsetof(struct pevtrace_verdict, rule))
		return -EINVAL;
	if (j->rule) {
		v.rule = j->rule->name;
		v.meaning = j->rule->meaning;
		v.members = j->rule->fields;
		v.since = j->rule->since;
	}
	if (to->size > sizeof(v))
		memset((char *)to + sizeof(v), 0, to->size - sizeof(v));
	memcpy(to, &v, to->size < sizeof(v) ? to->size : sizeof(v));
	return 0;
}

int pevtrace_judge(const struct pevtrace_machine *m, const struct pevtrace_open *call,
		   struct pevtrace_verdict *verdict)
{
	struct rule_facts facts;
	struct judgement j;

	if (!verdict_judge(m, call, JUDGE_NOT_SEEN, &facts, &j))
		return -EINVAL;
	return verdict_store(verdict, &j);
}

int pevtrace_find_cause(const struct pevtrace_machine *m, const struct pevtrace_open *call,
			int error, struct pevtrace_verdict *cause)
{
	struct rule_facts facts;
	struct judgement j;

	if (!verdict_judge(m, call, error, &facts, &j))
		return -EINVAL;
	return j.rule ? verdict_store(cause, &j) : -ENOENT;
}

/* Explaining ----------------------------------------------------------------------------- */

/* Append what the rule is about: " {freq=1}". */
static void verdict_add_fields(const struct pevtrace_machine *m, const struct pevtrace_open *call,
		       const struct rule_desc *rule, uint32_t release, struct buf *out)
{
	struct machine_lookup lookup;
	struct text_sink t;
	struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = call->attr, .len = call->attr_len,
		.arch = arch_native(), .names = &lookup.names,
	};
	const struct call c = {
		.desc = call_by_name("perf_event_open"),
		.args = {
			(uintptr_t)call->attr, (uint64_t)call->pid, (uint64_t)call->cpu,
			(uint64_t)call->group_fd, call->flags,
		},
	};

	machine_lookup_init(&lookup, m);
	text_sink_init(&t, out);
	buf_addc(out, ' ');
	sink_begin(&t.sink, NULL, SINK_OBJECT);
	judge_emit_fields(&w, &c, rule, release, &t.sink);
	sink_end(&t.sink);
	machine_lookup_free(&lookup);
}

ssize_t pevtrace_explain(const struct pevtrace_open *call, int error, char *buf, size_t n)
{
	struct pevtrace_machine *m = pevtrace_machine_new();
	struct rule_facts facts;
	struct judgement j;
	struct confinement c;
	struct buf out = { 0 };

	if (!m || pevtrace_machine_read(m)) {
		pevtrace_machine_free(m);
		return -ENOMEM;
	}
	if (!verdict_judge(m, call, error, &facts, &j)) {
		pevtrace_machine_free(m);
		return -EINVAL;
	}
	error_name_text(error, &out);
	buf_adds(&out, ": ");
	if (j.rule) {
		buf_addf(&out, "%s%s", j.certain ? "" : "possibly ", j.rule->meaning);
		if (*j.rule->fields)
			verdict_add_fields(m, call, j.rule, facts.machine.release, &out);
		buf_addf(&out, " (rule %s)", j.rule->name);
	} else {
		buf_adds(&out, "no check of Linux ");
		release_text(facts.machine.release, &out);
		buf_adds(&out, " refuses this call with it");
		confinement_read(&c);
		if (c.seccomp) /* it may have answered in place of the kernel */
			buf_adds(&out, "; this process has a seccomp filter, as containers set "
				       "them, which may have refused it");
	}
	pevtrace_machine_free(m);
	return copy_out(&out, buf, n);
}

/* Releases ------------------------------------------------------------------------------- */

struct need_visit {
	pevtrace_need_fn *need;
	void *context;
	int ended;
};

static void pass_need(void *ctx, const struct open_need *need)
{
	struct need_visit *v = ctx;
	const struct pevtrace_need public = {
		.size = sizeof(public), .name = need->name, .since = need->since,
	};

	if (!v->ended)
		v->ended = v->need(v->context, &public);
}

int pevtrace_needs(const void *attr, size_t len, uint64_t flags, pevtrace_need_fn *need,
		   void *context)
{
	struct need_visit v = { need, context, 0 };

	open_need_each(attr, len, flags, pass_need, &v);
	return v.ended;
}
