// SPDX-License-Identifier: LGPL-2.1-or-later
/* Why an open failed, by the rules of the dump's kernel release and without the machine. */

#include "core/judge/judge.h"
#include "formats/report/escape.h"
#include "formats/report/report.h"
#include "xlat/tables.h"

static void add_refusing_rule(const struct rule_desc *d, const char *before, struct buf *out)
{
	html_addf(out, "%s%s ", before, d->meaning);
	buf_adds(out, "<span class=\"rule\">");
	html_addf(out, "rule %s", d->name);
	buf_adds(out, "</span>");
}

void failure_explain(const struct report *r, const struct call *c, const struct attempt *a,
		     struct buf *out)
{
	const struct xlat_entry *e = xlat_find(&xlat_perf_open_errno, (uint64_t)c->ret);
	const char *release = r->facts->release;
	struct judgement j;

	if (c->inject.injected) {
		buf_adds(out, "Injected by pevtrace: the kernel did not see the call");
		html_addf(out, "%s%s.", c->inject.because[0] ? ". " : "", c->inject.because);
		return;
	}
	judge_attempt(a, release ? release_read(&release) : 0, r->facts->arch, r->names, &j);
	if (j.rule)
		add_refusing_rule(j.rule, j.sure ? "" : "Perhaps: ", out);
	else if (e)
		html_add(out, e->meaning);
	else
		buf_adds(out, "Unknown error.");
}
