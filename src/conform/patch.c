// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/patch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/patch_doc.h"
#include "conform/patch_evidence.h"
#include "conform/patch_fix.h"
#include "conform/patch_prose.h"
#include "conform/patch_topic.h"
#include "core/lib/die.h"
#include "xlat/tables.h"

enum { PASSES = 60 };		/* a fix may make another one possible */

/* The state of a series that is being written. */
struct series {
	const struct conform *given;
	char *kernel;		/* release, without what a distribution adds */
	struct patch_doc doc;
	struct patch *out;
	struct findings done;	/* removed ones, by id and part */
	struct conform now;	/* doc compared, unless stale; only its page is owned */
	bool stale;
};

/* Passes --------------------------------------------------------------------------------- */

/* Return true if a finding, or a part of it, is in a list. */
static bool is_among(const struct findings *list, const char *id, const char *part)
{
	size_t n = strlen(id);

	for (size_t i = 0; i < list->n; i++)
		if (!strncmp(list->all[i].id, id, n) && !strcmp(list->all[i].id + n, part))
			return true;
	return false;
}

static void note_removed(struct series *s, const struct finding *f, const char *part)
{
	struct buf id = { 0 };

	buf_addf(&id, "%s%s", f->id, part);
	finding_add(&s->done, id.data, f->severity, f->section, "%s", f->text);
	buf_free(&id);
}

static int edits_by_line(const void *a, const void *b)
{
	const struct patch_edit *x = a, *y = b;

	return x->first < y->first ? 1 : x->first > y->first ? -1 : 0;
}

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

/* Apply the edits of findings that need not wait, from the last line to the first. */
static void patch_apply(struct series *s, struct fixes *x)
{
	struct patch_doc *d = &s->doc;
	struct patch_edit *ready = xrealloc(NULL, (x->edits.n + 1) * sizeof(*ready));
	size_t n = 0;

	for (size_t i = 0; i < x->n; i++) {
		let_wait(d, x, &x->all[i]);
		for (size_t j = 0; !x->all[i].waits && j < x->all[i].n; j++)
			ready[n++] = x->edits.all[x->all[i].first + j];
	}
	qsort(ready, n, sizeof(*ready), edits_by_line);
	for (size_t i = 0; i < n; i++)
		patch_doc_apply(d, &ready[i]);
	s->stale |= n > 0;
	free(ready);
}

static void series_forget(struct series *s)
{
	s->now.tables = s->now.header = s->now.btf = (struct api_desc){ .file = NULL };
	conform_free(&s->now);
}

/* Return the page as it is by now, compared; valid until the first call after patch_apply(). */
static const struct conform *series_now(struct series *s)
{
	struct buf text = { 0 };

	if (!s->stale)
		return &s->now;
	series_forget(s);
	s->now = (struct conform){
		.tables = s->given->tables, .header = s->given->header, .btf = s->given->btf,
	};
	patch_doc_text(&s->doc, &text);
	page_parse(buf_str(&text), text.len, s->given->page.desc.file, &s->now.page);
	compare_page(&s->now);
	buf_free(&text);
	s->stale = false;
	return &s->now;
}

/* Collect the edits of a finding. */
static void patch_collect(struct series *s, const struct conform *now, const struct finding *f,
			  const char *part, struct fixes *x)
{
	size_t first = x->edits.n;

	if (is_among(&s->done, f->id, part) || !patch_fix(now, f, part, &s->doc, &x->edits))
		return;
	x->all = page_grow(x->all, x->n, sizeof(*x->all));
	x->all[x->n++] = (struct fix){ f, first, x->edits.n - first, false };
}

/* The parts of a commit's message that follow the reason. */
struct evidence {
	struct buf facts, experiments;
};

/* The findings of a topic that one commit removes. */
struct selection {
	const struct patch_topic *topic;
	const char *key;	/* of patch_topic_key() */
	bool compared;		/* some were found by comparing the page */
};

/* Remember a finding that was removed, with its evidence. */
static void note_done(struct series *s, const struct selection *q, const struct finding *f,
		      struct patch_commit *commit, struct evidence *evidence)
{
	note_removed(s, f, patch_topic_part(q->topic));
	if (patch_is_tried(f))
		patch_add_experiment(s->kernel, f, &evidence->experiments);
	/* the reason of a whole topic is about these sentences */
	else if (q->topic->by != TOPIC_WHOLE || strncmp(f->id, "page-said:", 10))
		patch_add_fact(f, &evidence->facts);
	commit->nfindings++;
}

static bool patch_is_selected(const struct selection *q, const struct conform *c,
			      const struct finding *f)
{
	struct buf key = { 0 };
	bool same = false;

	if (patch_topic_matches(q->topic->kinds, f->id)) {
		patch_topic_key(q->topic, c, f, &key);
		same = !strcmp(buf_str(&key), q->key);
	}
	buf_free(&key);
	return same;
}

/* Apply one round of fixes; return true if it removed something, so that another may follow. */
static bool pass(struct series *s, const struct selection *q, struct patch_commit *commit,
		 struct evidence *evidence)
{
	const struct conform *now = series_now(s);
	const char *part = patch_topic_part(q->topic);
	struct fixes x = { .n = 0 };
	size_t before = s->done.n, own;

	for (size_t i = 0; q->compared && i < now->found.n; i++)
		if (patch_is_selected(q, now, &now->found.all[i]))
			patch_collect(s, now, &now->found.all[i], part, &x);
	/* what the page's own findings add may document the behaviour, too */
	own = x.n;
	for (size_t i = 0; !own && i < s->given->found.n; i++) {
		const struct finding *f = &s->given->found.all[i];

		if (patch_is_tried(f) && patch_is_selected(q, s->given, f))
			patch_collect(s, now, f, part, &x);
	}
	patch_apply(s, &x);
	for (size_t i = 0; i < x.n; i++)
		if (!x.all[i].waits)
			note_done(s, q, x.all[i].finding, commit, evidence);
	patch_edits_free(&x.edits);
	free(x.all);
	return s->done.n > before;
}

/* Commits -------------------------------------------------------------------------------- */

/* Copy the findings of a commit to be, which are those of the page before it. */
static void list_before(struct series *s, const struct selection *q, struct findings *out)
{
	const struct conform *now = series_now(s);

	for (size_t i = 0; q->compared && i < now->found.n; i++) {
		const struct finding *f = &now->found.all[i];

		if (patch_is_selected(q, now, f))
			finding_add(out, f->id, f->severity, f->section, "%s", f->text)->since =
				f->since ? xstrdup(f->since) : NULL;
	}
}

/* Add facts about names that a text documents which was written for another one. */
static void note_others(struct series *s, const struct selection *q, const struct findings *before,
			struct patch_commit *commit, struct evidence *evidence)
{
	const struct conform *now = series_now(s);

	for (size_t i = 0; i < before->n; i++) {
		const struct finding *f = &before->all[i];

		if (patch_has_commit(f) && !is_among(&now->found, f->id, "") &&
		    !is_among(&s->done, f->id, patch_topic_part(q->topic)))
			note_done(s, q, f, commit, evidence);
	}
}

/* Append a paragraph to a message, after a blank line. */
static void add_paragraph(const struct buf *text, struct buf *message)
{
	if (text->len)
		buf_addf(message, "\n%s", text->data);
}

static void add_commit(struct series *s, const struct selection *q)
{
	struct patch_commit commit = { 0 };
	struct evidence evidence = { .facts = { 0 } };
	struct findings before = { 0 };
	struct patch *p = s->out;
	struct buf b = { 0 };

	patch_wrap(q->topic->reason, 0, &commit.message);
	list_before(s, q, &before);
	for (int i = 0; i < PASSES && pass(s, q, &commit, &evidence); i++)
		;
	note_others(s, q, &before, &commit, &evidence);
	findings_free(&before);
	add_paragraph(&evidence.facts, &commit.message);
	patch_add_commits(buf_str(&commit.message), &b);
	add_paragraph(&b, &commit.message);
	buf_reset(&b);
	add_paragraph(&evidence.experiments, &commit.message);
	buf_free(&evidence.facts);
	buf_free(&evidence.experiments);
	patch_doc_diff(&s->doc, PATCH_COMMIT, p->file, &commit.diff);
	if (!commit.diff.len) {
		buf_free(&commit.message);
		buf_free(&b);
		return;
	}
	patch_doc_commit(&s->doc);
	buf_addf(&b, "%s: ", p->file);
	for (const char *t = q->topic->subject; *t; t++) {
		if (strncmp(t, "%s", 2)) {
			buf_addc(&b, *t);
			continue;
		}
		buf_adds(&b, q->key);
		t++;
	}
	commit.subject = b.data;
	p->commits = page_grow(p->commits, p->ncommits, sizeof(*p->commits));
	p->commits[p->ncommits++] = commit;
}

/* The commits of a topic. */
struct keys {
	struct selection *all;	/* with keys that are owned */
	size_t n;
};

static void add_key(struct keys *k, const struct patch_topic *t, const struct conform *c,
		    const struct finding *f)
{
	struct buf key = { 0 };
	size_t i = 0;

	patch_topic_key(t, c, f, &key);
	while (i < k->n && strcmp(k->all[i].key, buf_str(&key)))
		i++;
	if (i == k->n) {
		k->all = page_grow(k->all, k->n, sizeof(*k->all));
		k->all[k->n++] = (struct selection){ t, xstrdup(buf_str(&key)), false };
	}
	k->all[i].compared |= !patch_is_tried(f);
	buf_free(&key);
}

/* Add the keys of a topic's findings on the page as it is by now. */
static void list_keys(struct series *s, const struct patch_topic *t, struct keys *k)
{
	const struct conform *now = series_now(s);

	for (size_t i = 0; i < now->found.n; i++)
		if (patch_topic_matches(t->kinds, now->found.all[i].id))
			add_key(k, t, now, &now->found.all[i]);
	for (size_t i = 0; i < s->given->found.n; i++) {
		const struct finding *f = &s->given->found.all[i];

		if (patch_is_tried(f) && patch_topic_matches(t->kinds, f->id))
			add_key(k, t, s->given, f);
	}
}

/* Add the commits of a topic: a text that one adds may let another one be found. */
static void add_topic(struct series *s, const struct patch_topic *t)
{
	struct keys k = { 0 };
	size_t next = 0;

	for (list_keys(s, t, &k); next < k.n; list_keys(s, t, &k))
		for (size_t end = k.n; next < end; next++)
			add_commit(s, &k.all[next]);
	for (size_t i = 0; i < k.n; i++)
		free((char *)k.all[i].key);
	free(k.all);
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

void patch_make(const struct conform *c, const char *kernel, struct patch *out)
{
	struct series s = { .given = c, .kernel = xstrndup(kernel, strcspn(kernel, "-+~")),
			    .out = out, .stale = true };

	*out = (struct patch){ .file = xstrdup(repository_path(c->page.title)) };
	patch_doc_open(&s.doc, buf_str(&c->page.source), c->page.source.len);
	for (const struct topic_desc *d = topic_descs; d->findings; d++) {
		const struct patch_topic t = { d->findings, TOPIC_WHOLE, d->subject, d->reason };

		add_commit(&s, &(struct selection){ &t, "", strstr(d->findings, "page-") });
	}
	for (const struct patch_topic *t = patch_topics; t->kinds; t++)
		add_topic(&s, t);
	patch_doc_diff(&s.doc, PATCH_GIVEN, out->file, &out->diff);
	patch_doc_text(&s.doc, &out->text);
	patch_doc_free(&s.doc);
	series_forget(&s);
	findings_free(&s.done);
	free(s.kernel);
}

void patch_free(struct patch *p)
{
	for (size_t i = 0; i < p->ncommits; i++) {
		free(p->commits[i].subject);
		buf_free(&p->commits[i].message);
		buf_free(&p->commits[i].diff);
	}
	free(p->commits);
	free(p->file);
	buf_free(&p->diff);
	buf_free(&p->text);
	*p = (struct patch){ 0 };
}
