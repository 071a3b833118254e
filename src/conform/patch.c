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

/* Collect the edits of a finding, unless it was removed before. */
static void collect_fix(struct patch *p, const struct conform *now, const struct finding *f,
			struct fixes *x)
{
	size_t first = x->edits.n;

	for (size_t i = 0; i < p->ndone; i++)
		if (!strcmp(p->done[i], f->id))
			return;
	if (!patch_fix(now, f, &p->doc, &x->edits))
		return;
	x->all = page_grow(x->all, x->n, sizeof(*x->all));
	x->all[x->n++] = (struct fix){ f, first, x->edits.n - first, false };
}

/* Two texts at the same place overlap, too: the later one may belong after the other. */
static bool overlap(const struct patch_edit *a, const struct patch_edit *b)
{
	return a->first < b->first + (b->count ? b->count : 1) &&
	       b->first < a->first + (a->count ? a->count : 1);
}

/* Let a finding wait for the next pass if an edit overlaps with one of an earlier finding. */
static void let_wait(const struct patch_doc *d, struct fixes *x, struct fix *f)
{
	for (size_t i = f->first; i < f->first + f->n; i++) {
		const struct patch_edit *e = &x->edits.all[i];

		f->waits |= !e->first || e->first + e->count > d->n + 1;
		for (struct fix *g = x->all; g < f; g++)
			for (size_t j = g->first; !g->waits && j < g->first + g->n; j++)
				f->waits |= overlap(e, &x->edits.all[j]);
	}
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

	for (size_t i = 0; i < x->n; i++) {
		struct fix *f = &x->all[i];

		let_wait(&p->doc, x, f);
		if (f->waits)
			continue;
		for (size_t j = 0; j < f->n; j++)
			ready[n++] = x->edits.all[f->first + j];
		p->done = page_grow(p->done, p->ndone, sizeof(*p->done));
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

/* Return the page as it is by now, compared; valid until the first call after apply_fixes(). */
static const struct conform *page_now(struct patch *p)
{
	struct buf text = { 0 };

	if (!p->stale)
		return &p->now;
	forget_page(p);
	p->now = (struct conform){
		.tables = p->given->tables, .header = p->given->header, .btf = p->given->btf,
	};
	for (size_t i = 0; i < p->doc.n; i++)
		buf_addf(&text, "%s\n", p->doc.lines[i].text);
	page_parse(buf_str(&text), text.len, p->given->page.desc.file, &p->now.page);
	compare_page(&p->now);
	buf_free(&text);
	p->stale = false;
	return &p->now;
}

/* Remove findings whose edits do not overlap; return false if nothing was removed. */
static bool pass(struct patch *p)
{
	const struct conform *now = page_now(p);
	struct fixes x = { .n = 0 };
	size_t before = p->ndone;

	for (enum patch_stage stage = 0; stage < PATCH_STAGES && !x.n; stage++) {
		const struct findings *from = stage == PATCH_TRIED ? &p->given->found : &now->found;

		for (size_t i = 0; i < from->n; i++)
			if (patch_stage(&from->all[i]) == stage)
				collect_fix(p, now, &from->all[i], &x);
	}
	apply_fixes(p, &x);
	patch_edits_free(&x.edits);
	free(x.all);
	return p->ndone > before;
}

/* Return the page's path in the man-pages repository, which moved to man/ in 6.10. */
static const char *repository_path(const char *title)
{
	const char *at = title ? strstr(title, "man-pages ") : NULL;
	unsigned int major = 0, minor = 0;

	/* pages named no release before 6.0 */
	if (title && strstr(title, "Linux Programmer"))
		return "man2/perf_event_open.2";
	if (at && sscanf(at, "man-pages %u.%u", &major, &minor) == 2 &&
	    (major < 6 || (major == 6 && minor < 10)))
		return "man2/perf_event_open.2";
	return "man/man2/perf_event_open.2";
}

void patch_write(const struct conform *c, struct buf *diff)
{
	struct patch p = { .given = c, .stale = true };

	patch_doc_open(&p.doc, buf_str(&c->page.source), c->page.source.len);
	for (int i = 0; i < PASSES && pass(&p); i++)
		;
	patch_doc_diff(&p.doc, repository_path(c->page.title), diff);
	for (size_t i = 0; i < p.ndone; i++)
		free((char *)p.done[i]);
	free(p.done);
	patch_doc_free(&p.doc);
	forget_page(&p);
}
