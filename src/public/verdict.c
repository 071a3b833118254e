// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel's answer to a call, and the releases that it requires. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "core/abi/attr_fields.h"
#include "core/abi/layout_emit.h"
#include "core/abi/need.h"
#include "core/abi/siginfo.h"
#include "core/abi/strings.h"
#include "config.h"
#include "core/host/confine.h"
#include "public/copy_out.h"
#include "public/machine.h"
#include "formats/text/text.h"
#include "xlat/layouts.h"
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

/* Copy what the caller's version of the struct has; return false if its size makes no sense. */
static bool verdict_copy_open(const struct pevtrace_open *call, struct pevtrace_open *out)
{
	*out = (struct pevtrace_open){ 0 };
	if (call->size < offsetof(struct pevtrace_open, leader))
		return false;
	memcpy(out, call, call->size < sizeof(*out) ? call->size : sizeof(*out));
	return true;
}

/* Add what the call says about its group. */
static void add_leader(const struct pevtrace_open *call, struct rule_facts *facts)
{
	struct rule_group *g = &facts->target.group;

	if (!call->leader)
		return;
	if (g->event == FACT_UNKNOWN)
		g->event = FACT_YES;
	g->attr = call->leader;
	g->len = call->leader_len;
}

static void verdict_judge(const struct pevtrace_machine *m, const struct pevtrace_open *call,
		  struct rule_facts *facts, struct rule_verdict *v)
{
	const struct rule_ask ask = {
		.attr = call->attr, .len = call->attr ? call->attr_len : 0, .pid = call->pid,
		.cpu = call->cpu, .group_fd = call->group_fd, .flags = call->flags,
		.facts = facts,
	};

	machine_facts(m, &ask, facts);
	add_leader(call, facts);
	rules_judge(&ask, v);
}

/* Return whether no rule before the decisive one, nor that one, depends on an unknown fact. */
static bool verdict_certain(const struct rule_verdict *v)
{
	for (size_t i = 0; i < RULE_COUNT && &rule_descs[i] != v->rule; i++)
		if (v->says[i] == RULE_UNKNOWN)
			return false;
	return !rules_assumed(v);
}

/* Store the verdict in as much of the caller's struct as its version has. */
static int verdict_store(struct pevtrace_verdict *to, const struct rule_desc *rule, int error,
			 bool certain)
{
	struct pevtrace_verdict v = { .size = to->size, .error = error, .certain = certain };

	if (to->size < offsetof(struct pevtrace_verdict, rule))
		return -EINVAL;
	if (rule) {
		v.rule = rule->name;
		v.meaning = rule->meaning;
		v.members = rule->fields;
		v.since = rule->since;
	}
	if (to->size > sizeof(v))
		memset((char *)to + sizeof(v), 0, to->size - sizeof(v));
	memcpy(to, &v, to->size < sizeof(v) ? to->size : sizeof(v));
	return 0;
}

int pevtrace_judge(const struct pevtrace_machine *m, const struct pevtrace_open *call,
		   struct pevtrace_verdict *verdict)
{
	struct pevtrace_open copy;
	struct rule_facts facts;
	struct rule_verdict v;

	if (!verdict_copy_open(call, &copy))
		return -EINVAL;
	verdict_judge(m, &copy, &facts, &v);
	return verdict_store(verdict, v.rule, v.error, verdict_certain(&v));
}

/* Return the rule that explains the error, or NULL; set *certain if it is the only one. */
static const struct rule_desc *verdict_cause(const struct rule_verdict *v, int error, bool *certain)
{
	const struct rule_desc *rule = rules_cause(v, error, certain);

	*certain &= verdict_certain(v);
	return rule;
}

int pevtrace_find_cause(const struct pevtrace_machine *m, const struct pevtrace_open *call,
			int error, struct pevtrace_verdict *cause)
{
	const struct rule_desc *rule;
	struct pevtrace_open copy;
	struct rule_facts facts;
	struct rule_verdict v;
	bool certain;

	if (!verdict_copy_open(call, &copy))
		return -EINVAL;
	verdict_judge(m, &copy, &facts, &v);
	rule = verdict_cause(&v, error, &certain);
	return rule ? verdict_store(cause, rule, error, certain) : -ENOENT;
}

/* Explaining ----------------------------------------------------------------------------- */

/* Write an argument of the call. */
static void verdict_argument(const struct pevtrace_open *call, const char *name, size_t len,
			  struct sink *s)
{
	if (len == 5 && !memcmp(name, "flags", len))
		s->ops->flags(s, "flags", &xlat_perf_event_open_flags, call->flags);
	else if (len == 3 && !memcmp(name, "pid", len))
		s->ops->sint(s, "pid", call->pid);
	else if (len == 3 && !memcmp(name, "cpu", len))
		s->ops->sint(s, "cpu", call->cpu);
	else if (len == 8 && !memcmp(name, "group_fd", len))
		s->ops->sint(s, "group_fd", call->group_fd);
}

/* Write the members that are set and unknown to this release; return whether there are any. */
static bool verdict_reserved(const struct walk *w, uint32_t release, struct sink *s)
{
	bool any = false;

	for (unsigned int i = 0; i < w->layout->n; i++) {
		const struct field *f = &w->layout->fields[i];

		if (!rules_reserved(f, release) || !field_get(f, w->bytes, w->len))
			continue;
		layout_emit_member(w, i, s);
		any = true;
	}
	return any;
}

/* Write the members and arguments of that list. */
static void verdict_fields(const struct walk *w, const struct pevtrace_open *call,
			const char *fields, struct sink *s)
{
	for (const char *p = fields, *end; *p; p = end + (*end == ',')) {
		size_t len = strcspn(p, ",");
		const struct field *f = attr_member(p, len);

		end = p + len;
		if (f && w->bytes)
			layout_emit_member(w, (unsigned int)(f - w->layout->fields), s);
		else
			verdict_argument(call, p, len, s);
	}
}

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

	machine_lookup_init(&lookup, m);
	text_sink_init(&t, out);
	buf_addc(out, ' ');
	t.sink.ops->begin(&t.sink, NULL, SINK_OBJECT);
	if (rule->id != RULE_RESERVED_BITS || !verdict_reserved(&w, release, &t.sink))
		verdict_fields(&w, call, rule->fields, &t.sink);
	t.sink.ops->end(&t.sink);
	machine_lookup_free(&lookup);
}

static void verdict_add_cause(const struct rule_desc *rule, bool certain, struct buf *out)
{
	if (!certain)
		buf_adds(out, "possibly ");
	buf_adds(out, rule->meaning);
}

/* Name a seccomp filter, which may have answered in place of the kernel. */
static void verdict_add_gate(struct buf *out)
{
	struct confinement c;

	confinement_read(&c);
	if (c.seccomp)
		buf_adds(out, "; this process has a seccomp filter, as containers set them, "
			      "which may have refused it");
}

ssize_t pevtrace_explain(const struct pevtrace_open *call, int error, char *buf, size_t n)
{
	struct pevtrace_machine *m = pevtrace_machine_new();
	const struct rule_desc *rule;
	struct pevtrace_open copy;
	struct rule_facts facts;
	struct rule_verdict v;
	struct buf out = { 0 };
	bool certain;

	if (!m || pevtrace_machine_read(m)) {
		pevtrace_machine_free(m);
		return -ENOMEM;
	}
	if (!verdict_copy_open(call, &copy)) {
		pevtrace_machine_free(m);
		return -EINVAL;
	}
	verdict_judge(m, &copy, &facts, &v);
	rule = verdict_cause(&v, error, &certain);
	error_name_text(error, &out);
	buf_adds(&out, ": ");
	if (rule) {
		verdict_add_cause(rule, certain, &out);
		if (*rule->fields)
			verdict_add_fields(m, &copy, rule, facts.machine.release, &out);
		buf_addf(&out, " (rule %s)", rule->name);
	} else {
		buf_adds(&out, "no check of Linux ");
		release_text(facts.machine.release, &out);
		buf_adds(&out, " refuses this call with it");
		verdict_add_gate(&out);
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
