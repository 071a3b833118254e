// SPDX-License-Identifier: LGPL-2.1-or-later
/* Why an open failed, by the rules of the dump's kernel release and without the machine. */
#include <stdio.h>
#include <string.h>

#include "core/abi/attr.h"
#include "core/abi/layout.h"
#include "core/abi/rules.h"
#include "formats/report/escape.h"
#include "formats/report/report.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum { PARANOID_MOST = 4 };	/* some distributions have levels above 2 */

static uint32_t dump_release(const struct report *r)
{
	const char *release = r->facts->release;

	return release ? release_read(&release) : 0;
}

static void set_group_facts(const struct report *r, const struct call *c, struct rule_group *g)
{
	const struct event *e = model_event(r->model, c->tid, call_int(c, 3));

	if (call_int(c, 3) == -1)
		return;
	g->event = fact_of(e);
	if (!e || !event_known(e))
		return;
	g->alive = FACT_YES;
	g->leads = fact_of(!e->leader);
	if (!event_attr_known(e))
		return;
	g->attr = e->attr;
	g->len = e->attr_len;
	g->cpu = e->cpu;
}

static void add_refusing_rule(const struct rule_desc *d, const char *before, struct buf *out)
{
	html_addf(out, "%s%s ", before, d->meaning);
	buf_adds(out, "<span class=\"rule\">");
	html_addf(out, "rule %s", d->name);
	buf_adds(out, "</span>");
}

/*
 * Return the rule that refuses the call, for a caller with all rights, or else with none.
 * Set *v to the verdict for the first: a missing right is no reason for another error.
 */
static const struct rule_desc *find_refusal(struct rule_ask *ask, struct rule_facts *f, int error,
					    struct rule_verdict *v)
{
	struct rule_verdict none;

	rules_judge(ask, v);
	if (v->rule && v->error == error)
		return v->rule;
	f->machine.caps = f->machine.caps_unread = 0;
	f->machine.paranoid = PARANOID_MOST;
	rules_judge(ask, &none);
	return none.rule && none.error == error ? none.rule : NULL;
}

/* Return the first rule with that error that the dump does not decide, or NULL. */
static const struct rule_desc *find_suspect(const struct rule_verdict *v, int error)
{
	for (size_t i = 0; i < RULE_COUNT && &rule_descs[i] != v->rule; i++)
		if ((v->says[i] == RULE_UNKNOWN || v->says[i] == RULE_UNFORESEEN) &&
		    rule_descs[i].error == error)
			return &rule_descs[i];
	return NULL;
}

void failure_explain(const struct report *r, const struct call *c, struct buf *out)
{
	const struct xlat_entry *e = xlat_find(&xlat_perf_open_errno, (uint64_t)c->ret);
	struct rule_facts facts = {
		.machine = {
			.release = dump_release(r), .page_size = r->facts->page_size,
			.arch = r->facts->arch, .caps = UINT64_MAX, .paranoid = -1,
			.cpus = UINT32_MAX,
		},
	};
	struct rule_ask ask = {
		.pid = call_int(c, 1), .cpu = call_int(c, 2), .group_fd = call_int(c, 3),
		.flags = c->args[4], .facts = &facts,
	};
	const struct rule_desc *d;
	struct rule_verdict v;

	if (c->inject.injected) {
		buf_adds(out, "Injected by pevtrace: the kernel did not see the call");
		html_addf(out, "%s%s.", c->inject.because[0] ? ". " : "", c->inject.because);
		return;
	}
	ask.attr = call_bytes(c, AT_SYSCALL_ENTER, c->args[0], SIZE_MAX, &ask.len);
	set_group_facts(r, c, &facts.target.group);
	d = find_refusal(&ask, &facts, (int)c->ret, &v);
	if (d) {
		add_refusing_rule(d, "", out);
		return;
	}
	d = find_suspect(&v, (int)c->ret);
	if (d)
		add_refusing_rule(d, "Perhaps: ", out);
	else if (e)
		html_add(out, e->meaning);
	else
		buf_adds(out, "Unknown error.");
}
