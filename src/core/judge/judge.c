// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "core/judge/judge.h"

#include <errno.h>
#include <string.h>

#include "core/host/facts.h"

enum {
	PARANOID_MOST = 4,	/* some distributions have levels above 2 */
	WHOLE_ATTR_MAX = 4096,
};

static void judge_suspect(struct judgement *out, size_t rule)
{
	out->suspects[out->nsuspects++] = &rule_descs[rule];
}

/* Return whether the rule could not be judged, and ends in that error; 0: in any error. */
static bool may_refuse(const struct rule_verdict *v, size_t rule, int error)
{
	return v->says[rule] == RULE_UNKNOWN && rule_descs[rule].error == error &&
	       rule_descs[rule].by != RULE_BY_CHANCE;
}

/* Find the first rule that may refuse, and others that the same decides, as those about the task. */
static void suspect_unknown(const struct rule_verdict *all, const struct rule_verdict *none,
			    struct judgement *out)
{
	for (size_t i = 0; i < RULE_COUNT; i++)
		if ((may_refuse(all, i, out->error) || may_refuse(none, i, out->error)) &&
		    (!out->nsuspects || rule_descs[i].by == out->suspects[0]->by))
			judge_suspect(out, i);
}

/*
 * Find the rules that refuse the one or the other caller with the error that was seen, those of
 * limits last, which are mostly high.  known: the release is.
 */
static void suspect_of_either(const struct rule_verdict *all, const struct rule_verdict *none,
			      bool known, struct judgement *out)
{
	int error = out->error;
	size_t last = all->rule ? all->rule->id : RULE_COUNT - 1;
	bool both = all->rule && rules_error(all, all->rule->id) == error, only;

	for (unsigned int limits = 0; limits < 2; limits++) {
		/* a log does not name its architecture */
		for (size_t i = 0; i <= last && limits; i++)
			if (rule_descs[i].by & RULE_BY_ARCH && may_refuse(all, i, error))
				judge_suspect(out, i);
		for (size_t i = 0; i <= last; i++)
			if (limits == !!(rule_descs[i].by & RULE_BY_LIMITS) &&
			    ((both && i == last) || (judge_refuses(none, i) &&
			     rules_error(none, (enum rule_id)i) == error)))
				judge_suspect(out, i);
	}
	out->sure = both && out->nsuspects == 1;
	if (!out->nsuspects)
		suspect_unknown(all, none, out);
	for (size_t i = 0; i < RULE_COUNT && !out->sure; i++)
		if (may_refuse(all, i, 0))
			judge_suspect(out, i);
	/* by exclusion: no other rule can be the reason, by chance or on a newer kernel */
	only = known && out->nsuspects == 1 && !rules_assumed(all);
	for (size_t i = 0; i < RULE_COUNT && only; i++)
		only = i == out->suspects[0]->id || rule_descs[i].error != error ||
		       (all->says[i] != RULE_UNKNOWN && none->says[i] != RULE_UNKNOWN);
	out->sure |= only;
}

/* Judge the call for a caller with all rights and without limits, or for one that has none. */
static void judge_caller(const struct judge_case *c, bool all, struct rule_verdict *v)
{
	struct rule_facts facts = *c->ask.facts;
	struct rule_ask as = c->ask;
	struct rule_machine *m = &facts.machine;

	/* a trace may not have seen how a descriptor came to be an event's */
	if (facts.target.group.event == FACT_NO && c->seen > 0 && c->seen != EBADF)
		facts.target.group.event = FACT_UNKNOWN;
	m->paranoid = all ? -1 : PARANOID_MOST;
	m->caps = all ? UINT64_MAX : 0;
	if (all) {
		m->max_sample_rate = m->max_stack = UINT64_MAX;
		m->cpus = INT32_MAX;
	}
	as.facts = &facts;
	rules_judge(&as, v);
}

void judge_open(const struct judge_case *c, struct judgement *out)
{
	struct rule_verdict none;

	*out = (struct judgement){ .nsuspects = 0 };
	if (c->by_anybody)
		judge_caller(c, true, &out->rules);
	else
		rules_judge(&c->ask, &out->rules);
	out->error = c->seen == JUDGE_NOT_SEEN ? out->rules.error : c->seen;
	if (c->by_anybody && out->error) {
		judge_caller(c, false, &none);
		suspect_of_either(&out->rules, &none, c->ask.facts->machine.release, out);
		out->rule = out->nsuspects ? out->suspects[0] : NULL;
	} else {
		out->rule = rules_cause(&out->rules, out->error, &out->sure);
		if (out->rule)
			judge_suspect(out, out->rule->id);
	}
	/* no rule up to the decisive one depends on an unknown fact */
	out->certain = out->sure && !rules_assumed(&out->rules) &&
		       !(out->rule && out->rule->by & RULE_BY_UNTRIED);
	for (size_t i = 0; i < RULE_COUNT && &rule_descs[i] != out->rules.rule; i++)
		if (out->rules.says[i] == RULE_UNKNOWN)
			out->certain = false;
}

size_t judge_with_pmu(const struct rule_ask *ask, const struct rule_desc *out[RULE_COUNT])
{
	const struct arch *arch = ask->facts->machine.arch;
	const char *name = arch->kernel == &arch_aarch64 || arch == &arch_aarch64 ? "armv8_pmuv3_0" : "cpu";
	uint64_t type = layout_get(&layout_perf_event_attr, ATTR_TYPE, ask->attr, ask->len);
	struct rule_pmu pmu = { .type = PERF_TYPE_RAW, .name = name, .desc = pmu_desc_by_name(name) };
	struct rule_facts facts = *ask->facts;
	struct rule_ask as = *ask;
	struct rule_verdict v;
	size_t n = 0;

	as.facts = &facts;
	rules_judge(&as, &v);
	if (!judge_refuses(&v, RULE_NO_PMU) || (type != PERF_TYPE_HARDWARE &&
	    type != PERF_TYPE_HW_CACHE && type != PERF_TYPE_RAW))
		return 0;
	facts.machine.pmus = &pmu;
	facts.machine.npmus = 1;
	facts.target.pmu_event = FACT_YES;
	rules_judge(&as, &v);
	for (size_t i = RULE_NO_PMU + 1; i < RULE_COUNT; i++)
		if (judge_refuses(&v, i))
			out[n++] = &rule_descs[i];
	return n;
}

const struct judge_cap judge_caps[JUDGE_CAPS] = {
	{ "CAP_PERFMON", ABI_CAP_PERFMON }, { "CAP_SYS_ADMIN", ABI_CAP_SYS_ADMIN },
	{ "CAP_KILL", ABI_CAP_KILL },
};

/* Return whether a rule that rights decide refuses the call with these, or perhaps does. */
static bool rights_lack(const struct rule_ask *ask, int paranoid, uint64_t caps, bool perhaps)
{
	struct rule_facts facts = *ask->facts;
	struct rule_ask as = *ask;
	struct rule_verdict v;
	bool lack = false;

	facts.machine.paranoid = paranoid;
	facts.machine.caps = caps;
	as.facts = &facts;
	rules_judge(&as, &v);
	for (size_t i = 0; i < RULE_COUNT; i++)
		lack |= rule_descs[i].by & (RULE_BY_PARANOID | RULE_BY_CAPS) &&
			(judge_refuses(&v, i) || (perhaps && rule_descs[i].by & RULE_BY_PARANOID &&
						  v.says[i] == RULE_UNKNOWN));
	return lack;
}

bool judge_rights(const struct rule_ask *ask, struct judge_rights *out)
{
	const struct rule_machine *m = &ask->facts->machine;

	*out = (struct judge_rights){ .paranoid = INT_MIN, .perhaps = INT_MIN };
	if (!rights_lack(ask, m->paranoid, m->caps, true))
		return false;
	for (int level = PARANOID_MOST; level >= -1 && out->paranoid == INT_MIN; level--) {
		if (out->perhaps == INT_MIN && !rights_lack(ask, level, m->caps, false))
			out->perhaps = level;
		if (!rights_lack(ask, level, m->caps, true))
			out->paranoid = level;
	}
	for (size_t i = 0; i < JUDGE_CAPS && !out->cap; i++)
		if (!rights_lack(ask, m->paranoid, m->caps | 1ULL << judge_caps[i].bit, true))
			out->cap = judge_caps[i].name;
	return out->cap || out->paranoid != INT_MIN;
}

/* Take the PMUs of a machine that are named; return false if they are not known, or not all. */
static bool judge_pmus(struct judge_machine *m, const struct names *names, size_t *n)
{
	const uint8_t *p = names->pmus, *end;
	uint64_t len;

	if (!p || names->pmus_len < 4)
		return false;
	end = p + names->pmus_len;
	for (p += 4; end - p > 8 && *n < JUDGE_PMUS; p += 8 + len) {
		len = load_uint(p + 4, 4);
		if (!len || len > (uint64_t)(end - p) - 8 || p[7 + len])
			return false;
		m->pmus[(*n)++] = (struct rule_pmu){ .type = (uint32_t)load_uint(p, 4),
						     .name = (const char *)p + 8 };
	}
	return p == end;
}

void judge_elsewhere(struct judge_machine *m, uint32_t release, const struct arch *arch,
		     const struct names *names, const uint8_t *attr, size_t len)
{
	static const struct rule_pmu fixed[] = {
		{ .type = PERF_TYPE_SOFTWARE, .name = "software" },
		{ .type = PERF_TYPE_TRACEPOINT, .name = "tracepoint" },
		{ .type = PERF_TYPE_BREAKPOINT, .name = "breakpoint" },
	};
	const struct facts *known = names->machine ? host_elsewhere(names->machine) : NULL;
	const struct layout *l = &layout_perf_event_attr;
	uint32_t type = (uint32_t)layout_get(l, ATTR_TYPE, attr, len);
	size_t n = sizeof(fixed) / sizeof(*fixed);
	const char *name = type >= PERF_TYPE_MAX && names->pmu ? names->pmu(names, type) : NULL;

	*m = (struct judge_machine){ .facts.machine = {
		.release = release, .page_size = names->page_size, .arch = arch,
		.pmus = m->pmus,
	} };
	memcpy(m->pmus, fixed, sizeof(fixed));
	if (name)
		m->pmus[n++] = (struct rule_pmu){ .type = type, .name = name };
	m->facts.machine.pmus_known = judge_pmus(m, names, &n) ? FACT_YES : FACT_UNKNOWN;
	for (size_t i = 0; i < n; i++)
		m->pmus[i].desc = pmu_desc_by_name(m->pmus[i].name);
	m->facts.machine.npmus = n;
	if (known)
		m->facts.machine = known->rules.machine;
	if (names->tracepoint)
		m->facts.target.tracepoint_name =
			names->tracepoint(names, layout_get(l, ATTR_CONFIG, attr, len));
}

void judge_unlimited(struct judge_machine *m, uint32_t release, const struct arch *arch,
		     const struct names *names, const uint8_t *attr, size_t len)
{
	judge_elsewhere(m, release, arch, names, attr, len);
	m->facts.machine.max_sample_rate = m->facts.machine.max_stack = UINT64_MAX;
	m->facts.machine.cpus = INT32_MAX;
}

void judge_here(const struct attempt *a, struct host *host, struct judgement *out)
{
	struct facts facts;
	struct rule_target *t = &facts.rules.target;
	struct judge_case c = {
		.ask = {
			.attr = a->attr, .len = a->attr_len, .cpu = a->cpu, .group_fd = -1,
			.pid = a->flags & PERF_FLAG_PID_CGROUP ? -1 : a->pid, .facts = &facts.rules,
		},
		.seen = a->error,
	};

	facts_open(&facts, host);
	facts_target(&facts, &c.ask);
	t->descriptor = FACT_UNKNOWN;
	t->path = (struct rule_path){ .readable = FACT_UNKNOWN };
	t->group = a->group;
	if (t->task.exists == FACT_NO && a->error != ESRCH) /* it has ended since */
		t->task = (struct rule_task){ .exists = FACT_UNKNOWN };
	c.ask.pid = a->pid;
	c.ask.group_fd = a->group_fd;
	c.ask.flags = a->flags;
	judge_open(&c, out);
	facts_close(&facts);
}

void judge_attempt(const struct attempt *a, uint32_t release, const struct arch *arch,
		   const struct names *names, struct judgement *out)
{
	struct judge_machine m;
	struct judge_case c = {
		.ask = {
			.attr = a->attr, .len = a->attr_len, .pid = a->pid, .cpu = a->cpu,
			.group_fd = a->group_fd, .flags = a->flags, .facts = &m.facts,
		},
		.by_anybody = true, .seen = a->injected ? JUDGE_NOT_SEEN : a->error,
	};

	if (names->machine) {
		judge_here(a, names->machine, out);
		return;
	}
	judge_elsewhere(&m, release, arch, names, a->attr, a->attr_len);
	m.facts.target.group = a->group;
	/* what opened is within the limits */
	m.facts.machine.max_sample_rate = a->opened ? a->opened->sample_freq : 0;
	m.facts.machine.max_stack = a->opened ? a->opened->sample_max_stack : 0;
	m.facts.machine.cpus = a->opened && a->opened->cpus ? a->opened->cpus : 1;
	judge_open(&c, out);
}

void judge_emit(const struct walk *w, const struct call *c, const char *name, size_t len,
		struct sink *sink)
{
	const struct field *f = attr_member(name, len);
	const struct arg_desc *a = f ? NULL : call_arg(c->desc, name, len);
	unsigned int i = a ? (unsigned int)(a - c->desc->args) : 0;

	if (f) {
		uint64_t v = field_get(f, w->bytes, w->len);
		uint64_t bits = rules_unknown_bits(w->arch, f, v);
		uint8_t attr[WHOLE_ATTR_MAX];
		struct walk part = *w;

		if (bits && bits != v && w->len <= sizeof(attr)) {
			memcpy(attr, w->bytes, w->len);
			field_set(f, bits, attr);
			part.bytes = attr;
		}
		layout_emit_member(&part, (unsigned int)(f - w->layout->fields), sink);
		if (part.bytes == attr)
			sink_notef(sink, "of", "bits of 0x%llx", (unsigned long long)v);
	} else if (a && a->xlat) {
		sink_flags(sink, a->name, a->xlat, c->args[i]);
	} else if (a && a->kind != ARG_ATTR) {
		sink_sint(sink, a->name, call_int(c, i));
	} else if (a) {
		/* a pointer with the length that can be read: its address never differs */
		sink_addr(sink, a->name, c->args[i]);
		if (c->args[i])
			sink_notef(sink, "readable", "%zu bytes of it can be read", w->len);
	}
}

void judge_emit_fields(const struct walk *w, const struct call *c, const struct rule_desc *rule,
		       uint32_t release, struct sink *sink)
{
	bool any = false;
	size_t n;

	for (unsigned int i = 0; rule->id == RULE_RESERVED_BITS && i < w->layout->n; i++) {
		const struct field *f = &w->layout->fields[i];

		if (!rules_reserved(f, release) || !field_get(f, w->bytes, w->len))
			continue;
		layout_emit_member(w, i, sink);
		any = true;
	}
	for (const char *p = rule->fields; *p && !any; p += n + (p[n] == ',')) {
		n = strcspn(p, ",");
		judge_emit(w, c, p, n, sink);
	}
}
