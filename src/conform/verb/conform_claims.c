// SPDX-License-Identifier: LGPL-2.1-or-later
/* Claims of the page about behaviour, tested on the running kernel. */
#include <errno.h>
#include <string.h>

#include "conform/tables.h"
#include "conform/verb/conform.h"
#include "core/lib/die.h"
#include "xlat/tables.h"

static void false_claim(struct conform_cmd *cmd, const struct claim_result *r)
{
	const struct claim_desc *d = r->claim;
	struct conform *c = &cmd->c;
	struct buf detail = { 0 };
	struct finding *f;
	unsigned int line = page_find(&c->page, d->section, d->place);

	if (!line && page_is_english(&c->page)) {
		compare_untried(c, xstrdup("the page does not make this claim"));
		return;
	}
	f = compare_add(c, FINDING_KERNEL, FINDING_CLAIM, NULL, d->name, d->section,
			"The page claims: %s. False here", d->meaning);
	finding_since(f, d->since);
	if (line)
		place_page(c, f, line);
	else
		finding_place(f, FINDING_PAGE, c->page.desc.file, 0, d->place);
	finding_place(f, FINDING_KERNEL, cmd->kernel, 0, *r->seen ? r->seen : NULL);
	if (*r->expected)
		buf_addf(&detail, "expected: %s\n", r->expected);
	if (*r->seen)
		buf_addf(&detail, "seen: %s\n", r->seen);
	buf_adds(&detail, r->calls);
	finding_detail(f, &detail);
}

/* Report a claim that the experiment did not contradict but the page does not contain. */
static void undocumented_claim(struct conform_cmd *cmd, const struct claim_result *r)
{
	const struct claim_desc *d = r->claim;
	const char *words = tables_pair(undocumented_descs, d->name);
	struct finding *f;

	if (!words || !page_omits(&cmd->c.page, d->section, d->place, words))
		return;
	f = compare_add(&cmd->c, FINDING_KERNEL, FINDING_UNSAID, NULL, d->name, d->section,
			"Undocumented: %s", d->meaning);
	finding_since(f, d->since);
	place_page(&cmd->c, f, page_find(&cmd->c.page, d->section, d->place));
	if (r->verdict == CLAIM_TRUE)
		finding_place(f, FINDING_KERNEL, cmd->kernel, 0, "observed");
	if (!f->detail)
		f->detail = xstrdup(r->verdict == CLAIM_TRUE ? r->calls : r->reason);
}

/* Remember a claim that a patch would correct if it were false. */
static void note_uncorrected(struct conform_cmd *cmd, const struct claim_result *r)
{
	const struct claim_desc *d = r->claim;

	if (d->correction && !tables_pair(undocumented_descs, d->name) &&
	    page_find(&cmd->c.page, d->section, d->place))
		buf_addf(&cmd->uncorrected, "%s%s (%s)", cmd->uncorrected.len ? ", " : "", d->name,
			 r->reason);
}

static void claims_report(void *ctx, const struct claim_result *r)
{
	struct conform_cmd *cmd = ctx;
	size_t tried = cmd->claims[CLAIM_TRUE] + cmd->claims[CLAIM_FALSE] +
		       cmd->claims[CLAIM_UNTRIED];

	conform_show_before(cmd, r->claim->section);
	if (!cmd->claim && !cmd->section)
		progress_step(&cmd->progress, tried, claim_ndescs);
	compare_begin(&cmd->c, "kernel: %s", r->claim->name);
	cmd->claims[r->verdict]++;
	if (r->verdict == CLAIM_FALSE)
		false_claim(cmd, r);
	else
		undocumented_claim(cmd, r);
	if (r->verdict == CLAIM_UNTRIED) {
		compare_untried(&cmd->c, xstrdup(r->reason));
		note_uncorrected(cmd, r);
	}
}

void conform_try_claims(struct conform_cmd *cmd)
{
	const struct claims_options options = {
		.since = cmd->since, .section = cmd->section, .name = cmd->claim,
		.nobody = cmd->nobody,
	};
	size_t tried = 0;

	if (conform_streams(cmd))
		showing_progress(&cmd->out, &cmd->progress, "claims tried");
	else
		progress_start(&cmd->progress, "claims tried");
	if (conform_claims(&options, claims_report, cmd) < 0)
		die("cannot try claims: %s", strerror(ENOMEM));
	progress_end(&cmd->progress);
	for (size_t i = 0; i < sizeof(cmd->claims) / sizeof(*cmd->claims); i++)
		tried += cmd->claims[i];
	if (cmd->claim && !tried)
		die("no claim's name matches '%s'; see pevtrace-conform(1)", cmd->claim);
}
