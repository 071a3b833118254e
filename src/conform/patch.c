// SPDX-License-Identifier: LGPL-2.1-or-later
/* The passes over a page in which its findings are removed. */
#include "conform/patch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"

enum { PASSES = 60 };		/* a fix may make another one possible */

/* A page that is being corrected. */
struct patch {
	const struct conform *given;
	struct patch_doc doc;
	struct conform now;	/* doc compared, unless stale; only its page is owned */
	bool stale;
	const char **done;	/* ids of findings that were removed, owned */
	size_t ndone;
};

/* A finding that can be removed, in one pass: its edits. */
struct fix {
	const struct finding *finding;
	size_t first, n;
	bool waits;		/* one of them overlaps with those of another finding */
};

struct fixes {
	struct fix *all;
	size_t n;
	struct patch_edits edits;
};

/* Two texts at the same place overlap, too: the later one may belong after the other. */
static bool overlap(const struct patch_edit *a, const struct patch_edit *b)
{
	return a->first < b->first + (b->count ? b->count : 1) &&
	       b->first < a->first + (a->count ? a->count : 1);
}

static int edits_by_line(const void *a, const void *b)
{
	const struct patch_edit *x = a, *y = b;

	return x->first < y->first ? 1 : x->first > y->first ? -1 : 0;
}

/* Apply the edits of findings that need not wait, from the last line to the first. */
static void apply_fixes(struct patch *p, struct fixes *x)
{
	struct patch_edit *ready = xmalloc((x->edits.n + 1) * sizeof(*ready));
	size_t n = 0;

	for_each(f, x->all, x->n) {
		/* one of them overlaps with an edit of an earlier finding */
		for (size_t j = f->first; j < f->first + f->n; j++) {
			const struct patch_edit *e = &x->edits.all[j];

			f->waits |= !e->first || e->first + e->count > p->doc.n + 1;
			for (struct fix *g = x->all; g < f; g++)
				for (size_t k = g->first; !f->waits && k < g->first + g->n; k++)
					f->waits |= overlap(e, &x->edits.all[k]);
		}
		if (f->waits)
			continue;
		for (size_t j = 0; j < f->n; j++)
			ready[n++] = x->edits.all[f->first + j];
		p->done = xgrow(p->done, p->ndone, sizeof(*p->done));
		p->done[p->ndone++] = xstrdup(f->finding->id);
	}
	qsort(ready, n, sizeof(*ready), edits_by_line);
	for (size_t i = 0; i < n; i++)
		patch_doc_apply(&p->doc, &ready[i]);
	p->stale |= n > 0;
	free(ready);
}

static void forget_page(struct patch *p)
{
	p->now.tables = p->now.header = p->now.btf = (struct api_desc){ .file = NULL };
	conform_free(&p->now);
}

/* Remove findings whose edits do not overlap; return false if nothing was removed. */
static bool pass(struct patch *p)
{
	const struct conform *now = &p->now;
	struct fixes x = { .n = 0 };
	struct buf text = { 0 };
	size_t before = p->ndone;

	/* compare the page as it is by now */
	if (p->stale) {
		forget_page(p);
		p->now = (struct conform){
			.tables = p->given->tables, .header = p->given->header,
			.btf = p->given->btf,
		};
		for (size_t i = 0; i < p->doc.n; i++)
			buf_addf(&text, "%s\n", p->doc.lines[i].text);
		page_parse(buf_str(&text), text.len, p->given->page.desc.file, &p->now.page);
		compare_page(&p->now);
		buf_free(&text);
		p->stale = false;
	}
	for (enum patch_stage stage = 0; stage < PATCH_STAGES && !x.n; stage++) {
		const struct findings *from = stage == PATCH_TRIED ? &p->given->found : &now->found;

		for_each(f, from->all, from->n) {
			size_t first = x.edits.n;
			bool done = patch_stage(f) != stage;

			for (size_t j = 0; j < p->ndone; j++)
				done |= !strcmp(p->done[j], f->id);
			if (done || !patch_fix(now, f, &p->doc, &x.edits))
				continue;
			x.all = xgrow(x.all, x.n, sizeof(*x.all));
			x.all[x.n++] = (struct fix){ f, first, x.edits.n - first, false };
		}
	}
	apply_fixes(p, &x);
	patch_edits_free(&x.edits);
	free(x.all);
	return p->ndone > before;
}

void patch_write(const struct conform *c, struct buf *diff)
{
	struct patch p = { .given = c, .stale = true };
	const char *title = c->page.title ? c->page.title : "", *at = strstr(title, "man-pages ");
	unsigned int major, minor;
	bool old;	/* before 6.10, where the repository moved to man/ */

	/* pages named no release before 6.0 */
	old = strstr(title, "Linux Programmer") ||
	      (at && sscanf(at, "man-pages %u.%u", &major, &minor) == 2 &&
	       (major < 6 || (major == 6 && minor < 10)));
	patch_doc_open(&p.doc, buf_str(&c->page.source), c->page.source.len);
	for (int i = 0; i < PASSES && pass(&p); i++)
		;
	patch_doc_diff(&p.doc, old ? "man2/perf_event_open.2" : "man/man2/perf_event_open.2", diff);
	for (size_t i = 0; i < p.ndone; i++)
		free((char *)p.done[i]);
	free(p.done);
	patch_doc_free(&p.doc);
	forget_page(&p);
}
