// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What was tried: probes, failed opens, and the similar event that opened after them; what
 * failed, the kernel checks that may have caused it, and remedies.
 */
#include <stdlib.h>
#include <string.h>

#include "core/abi/as_kernel.h"
#include "core/abi/layout.h"
#include "core/abi/siginfo.h"
#include "core/abi/strings.h"
#include "core/lib/die.h"
#include "core/model/model.h"
#include "explain/attr_prose.h"
#include "explain/story_internal.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

/* A probe (event) or a failed open (attempt). */
struct try {
	struct story_open open;
	pid_t tid;
	const struct event *event;
	const struct attempt *attempt;
	bool early;		/* no event that is no probe had been opened before */
};

/* Count the members that differ from another open, and write their new values to p. */
static size_t open_differences(const struct story_text *t, const struct story_open *o,
			       const struct story_open *before, struct prose *p)
{
	struct open_attr a = {
		.attr = o->attr, .len = o->len, .names = t->s->names, .arch = t->s->arch,
	};
	struct walk w = attr_prose_walk(&a);
	const struct field *f;
	size_t at = 0, n = 0;

	while ((f = layout_next(&w, &at))) {
		if (field_get(f, o->attr, o->len) == field_get(f, before->attr, before->len))
			continue;
		if (p) {
			prose_adds(p, n ? ", " : "");
			attr_prose_member(&a, (unsigned int)(f - w.layout->fields), p);
		}
		n++;
	}
	return n;
}

static bool same_attr(const struct story_open *a, const struct story_open *b)
{
	return a->len == b->len && !memcmp(a->attr, b->attr, a->len);
}

/* Return whether one item covers both: the same probe again, or equal failures. */
static bool try_same(const struct story_text *t, const struct try *a, const struct try *b)
{
	if (!a->event != !b->event || a->tid != b->tid)
		return false;
	if (a->event)
		return same_attr(&a->open, &b->open);
	return a->attempt->error == b->attempt->error &&
	       a->attempt->injected == b->attempt->injected &&
	       attempt_instead(t->s->m, a->attempt) == attempt_instead(t->s->m, b->attempt);
}

static void try_instead(const struct story_text *t, const struct attempt *a)
{
	const struct event *e = attempt_instead(t->s->m, a);
	struct story_open was = story_open_failed(a), is;
	struct prose *p = t->p;
	size_t changed;

	if (!e)
		return;
	is = story_open_of(e);
	if (attempt_same_event(a, e)) {
		prose_addf(p, " The same event opened next (fd %d)", e->fd);
	} else {
		prose_adds(p, " A similar event opened later: ");
		story_event_fds(t->s, e, &e, 1, p);
	}
	changed = open_differences(t, &is, &was, NULL);
	if (changed) {
		prose_adds(p, ", with ");
		open_differences(t, &is, &was, p);
	}
	if (e->pid != a->pid)
		prose_addf(p, "%s pid %d", changed ? " and" : ", with", (int)e->pid);
	prose_adds(p, ".");
}

/* Count the different events of a run, and write their names. */
static size_t try_names(const struct story_text *t, const struct try *run, size_t n, bool say)
{
	size_t names = 0, all = say ? try_names(t, run, n, false) : 0;

	for (size_t i = 0; i < n && i < STORY_ITEMS; i++) {
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = same_attr(&run[k].open, &run[i].open);
		if (seen)
			continue;
		if (say) {
			prose_adds(t->p, prose_sep(names, all));
			story_open_name(t->s, &run[i].open, t->p);
		}
		names++;
	}
	return names;
}

/* Say what the kernel's answer tells the program: whether it has a feature. */
static void try_purpose(const struct story_text *t, const struct try *run,
			const struct story_open *before)
{
	const struct story_open *o = &run->open;
	struct open_need mine = open_need(o->attr, o->len, o->flags), had = { 0 };
	const char *purpose = run->early ? story_purpose(o) : NULL;
	const struct event *e = run->attempt ? attempt_instead(t->s->m, run->attempt) : NULL;
	struct prose *p = t->p;
	bool tested;

	if (before)
		had = open_need(before->attr, before->len, before->flags);
	/*
	 * what it asked for was not wanted for its own sake: an event that was closed before the
	 * first real one, or one that opened later without what was refused
	 */
	tested = run->event ? run->early : e && attempt_same_event(run->attempt, e) &&
		 open_need(e->attr, e->attr_len, e->flags).since < mine.since;
	if (purpose) {
		prose_addf(p, " Purpose: %s.", purpose);
	} else if (before && mine.since > had.since && tested) {
		prose_addf(p, " Purpose: a test for %s, new in Linux ", mine.name);
		release_text(release_mainline(mine.since), &p->text);
		prose_adds(p, ".");
	}
}

static void try_write_run(const struct story_text *t, const struct try *run, size_t n,
			  const struct try *before)
{
	const struct xlat_entry *e;
	struct prose *p = t->p;
	size_t names;

	prose_item(p);
	names = try_names(t, run, n, true);
	if (n > names)
		prose_addf(p, ", %zu times", n);
	else if (n == 1 && run->open.cpu >= 0)
		prose_addf(p, " on CPU %d", run->open.cpu);
	if (names == 1 && before && before->tid == run->tid) {
		prose_adds(p, ", now with ");
		if (!open_differences(t, &run->open, &before->open, p))
			prose_adds(p, "the same attr");
	}
	if (run->event) {
		prose_addf(p, " (fd %d): opened and closed.", run->event->fd);
		try_purpose(t, run, before ? &before->open : NULL);
		return;
	}
	prose_adds(p, ": failed with ");
	e = xlat_find(&xlat_perf_open_errno, (uint64_t)run->attempt->error);
	if (e)
		prose_addf(p, "%s (%s)", e->name, error_meaning(run->attempt->error));
	else
		prose_addf(p, "error %d", run->attempt->error);
	prose_adds(p, run->attempt->injected ? ", injected." : ".");
	try_purpose(t, run, before ? &before->open : NULL);
	try_instead(t, run[n - 1].attempt);
}

/* Name the descriptors that a later event got after a probe had been closed. */
static void tries_reused(const struct story_text *t)
{
	size_t listed = 0;
	struct prose *p = t->p;
	struct map seen = { 0 };	/* opener and descriptor -> number of probes */

	for (size_t i = 0; i < t->nevents && listed < STORY_ITEMS; i++) {
		uint64_t key = (uint64_t)t->events[i]->opener << 32 | (uint32_t)t->events[i]->fd;
		uintptr_t probes = (uintptr_t)map_get(&seen, key);

		if (story_probe(t->s, t->events[i])) {
			map_set(&seen, key, (void *)(probes + 1));
			continue;
		}
		if (!probes)
			continue;
		if (!listed++)
			prose_para(p);
		prose_addf(p, "%sd %d", listed == 1 ? "F" : " f", t->events[i]->fd);
		prose_adds(p, " was used again, after");
		prose_count(p, probes, "probe", "probes");
		prose_adds(p, ", for ");
		story_event_name(t->s, t->events[i], p);
		prose_adds(p, ".");
	}
	map_free(&seen);
}

void story_tries(const struct story_text *t)
{
	struct try *list = xcalloc(t->nevents + t->nattempts, sizeof(*list));
	size_t n = 0, next = 0, run, runs = 0;
	struct prose *p = t->p;
	bool early = true;

	for (size_t i = 0; i <= t->nevents; i++) {
		const struct event *e = i < t->nevents ? t->events[i] : NULL;

		/* an attempt knows how many events preceded it */
		for (; next < t->nattempts && t->attempts[next].events <= i; next++)
			list[n++] = (struct try){
				.open = story_open_failed(&t->attempts[next]),
				.tid = t->attempts[next].tid, .attempt = &t->attempts[next],
				.early = early,
			};
		if (e && story_probe(t->s, e))
			list[n++] = (struct try){
				.open = story_open_of(e), .tid = e->opener, .event = e,
				.early = early,
			};
		else if (e && event_known(e))
			early = false;
	}
	if (n) {
		prose_head(p, "What was tried");
		prose_adds(p, "Failed opens and probes, in order:");
	}
	for (size_t i = 0; i < n; i += run, runs++) {
		for (run = 1; i + run < n && try_same(t, &list[i], &list[i + run]); run++)
			;
		if (runs < STORY_ITEMS)
			try_write_run(t, &list[i], run, i ? &list[i - 1] : NULL);
	}
	story_rest(t, runs, "more attempt.", "more attempts.");
	tries_reused(t);
	prose_end(p);
	free(list);
}

/* Which check refused a call ------------------------------------------------------------ */

/* The checks that may have refused a call. */
struct suspects {
	struct judgement by;
	/* the later checks that would refuse, too, and how many passed before the first */
	const struct rule_desc *later[RULE_COUNT];
	size_t nlater, passed;
};

/* Find what refused an attempt, and the place of the first suspect among that kernel's checks. */
static void find_suspects(const struct story *s, const struct attempt *a, struct suspects *out)
{
	const struct judgement *j = &out->by;

	*out = (struct suspects){ .nlater = 0 };
	if (!a->injected)
		judge_attempt(a, s->release, s->arch, s->names, &out->by);
	for (size_t i = 0; i < RULE_COUNT && j->nsuspects; i++) {
		const struct rule_desc *d = &rule_descs[i];

		if (s->release && (d->since > s->release || (d->until && d->until <= s->release)))
			continue;
		if (d->id < j->rule->id)
			out->passed++;
		else if (d->id > j->suspects[j->nsuspects - 1]->id && judge_refuses(&j->rules, i))
			out->later[out->nlater++] = d;
	}
}

/* Sentences -------------------------------------------------------------------------------- */

static const char INJECTED[] = " pevtrace injected this error: the kernel did not see the call.";

static void add_suspects(const struct suspects *s, int error, struct prose *p)
{
	const struct xlat_entry *e = xlat_find(&xlat_perf_open_errno, (uint64_t)error);
	const struct judgement *j = &s->by;
	const struct xlat *x = &xlat_rule_by;
	bool any = false;

	if (!j->nsuspects) {
		if (e)
			prose_addf(p, " %s generally means: %s.", e->name, e->meaning);
		return;
	}
	prose_adds(p, j->sure ? " Refused by the kernel check " :
		      j->nsuspects == 1 ? " Perhaps refused by the kernel check " :
					  " Perhaps refused by one of these kernel checks: ");
	for (size_t i = 0; i < j->nsuspects; i++)
		prose_addf(p, "%s%s: %s", i ? "; or " : "", j->suspects[i]->name,
			   j->suspects[i]->meaning);
	prose_addf(p, ". %zu checks come before %s", s->passed,
		   j->nsuspects == 1 ? "it and passed; after it" : "these and passed; after them");
	for (size_t i = 0; i < s->nlater; i++)
		prose_addf(p, "%s%s", i ? prose_sep(i, s->nlater) : ", ", s->later[i]->name);
	prose_adds(p, s->nlater ? " would refuse, too." :
				  " none is known to refuse.");
	/* what to change, by what decides the check */
	for (size_t i = 0; i < x->n; i++) {
		const struct term_desc *t = j->rule->by & x->entries[i].value ?
			term_by_name(x->entries[i].name) : NULL;

		if (!t)
			continue;
		prose_adds(p, any ? ", or " : " Remedy: ");
		prose_meaning(p, t->text);
		if (x->entries[i].value == RULE_BY_ATTR && *j->rule->fields)
			prose_addf(p, " (%s)", j->rule->fields);
		any = true;
	}
	prose_adds(p, any ? "." : "");
}

/* Failures with one error and the same suspects. */
struct failures {
	const struct attempt **list;
	size_t n, times;
	bool more;	/* than the list has */
	struct suspects why;
};

static bool failures_match(const struct failures *f, const struct attempt *a,
			   const struct judgement *by)
{
	return f->list[0]->error == a->error && f->list[0]->injected == a->injected &&
	       f->why.by.nsuspects == by->nsuspects &&
	       !memcmp(f->why.by.suspects, by->suspects, by->nsuspects * sizeof(*by->suspects));
}

static void failures_add(struct failures *f, const struct attempt *a)
{
	f->times++;
	for (size_t i = 0; i < f->n; i++)
		if (f->list[i]->attr_len == a->attr_len &&
		    !memcmp(f->list[i]->attr, a->attr, a->attr_len))
			return;
	if (f->n == STORY_ITEMS) {
		f->more = true;
		return;
	}
	f->list = xrealloc(f->list, (f->n + 1) * sizeof(*f->list));
	f->list[f->n++] = a;
}

static void failures_write(const struct story_text *t, const struct failures *f)
{
	const struct story_open first = story_open_failed(f->list[0]);
	struct prose *p = t->p;
	bool went_on = false;

	prose_item(p);
	for (size_t i = 0; i < f->n; i++) {
		const struct story_open o = story_open_failed(f->list[i]);

		prose_adds(p, prose_sep(i, f->n));
		story_open_name(t->s, &o, p);
		went_on |= attempt_instead(t->s->m, f->list[i]) != NULL;
	}
	prose_adds(p, f->more ? " and others" : "");
	prose_adds(p, " could not be opened: ");
	error_name_text(f->list[0]->error, &p->text);
	if (f->times > f->n)
		prose_addf(p, ", in %zu calls", f->times);
	prose_adds(p, ".");
	if (f->list[0]->injected)
		prose_adds(p, INJECTED);
	else
		add_suspects(&f->why, f->list[0]->error, p);
	if (f->why.by.rule && f->why.by.rule->by & RULE_BY_PMU && story_hardware(&first, NULL)) {
		prose_adds(p, " Such an event requires ");
		story_hardware(&first, p);
		prose_adds(p, ".");
	}
	if (t->o->held && f->list[0]->error == t->o->held_errno && !f->list[0]->injected)
		prose_addf(p, " When the first failed, such events were held by %s.", t->o->held);
	if (went_on)
		prose_addf(p, " The program then opened a similar event%s.",
			   t->o->level == STORY_BRIEF ? "" : ", see above");
}

static void other_failure(const struct story_text *t, const struct seen_failure *f)
{
	const struct refusal_desc *d = refusal_find(f->call->name, f->request, f->error);
	struct prose *p = t->p;

	prose_item(p);
	prose_adds(p, f->request ? f->request : f->call->name);
	if (f->event) {
		prose_adds(p, " on ");
		story_event_fds(t->s, f->event, &f->event, 1, p);
	}
	prose_adds(p, " failed: ");
	error_name_text(f->error, &p->text);
	if (f->times > 1) {
		prose_adds(p, ", ");
		prose_times(p, f->times);
	}
	prose_adds(p, ".");
	if (f->injected)
		prose_adds(p, INJECTED);
	else if (d)
		prose_addf(p, " %s.", d->meaning);
}

void story_failures(const struct story_text *t)
{
	struct failures *failures = NULL;
	struct suspects why;
	size_t n = 0, k;
	struct prose *p = t->p;
	bool refused = false;

	/* those that failed alike are told together */
	for (size_t i = 0; i < t->nattempts; i++) {
		find_suspects(t->s, &t->attempts[i], &why);
		for (k = 0; k < n && !failures_match(&failures[k], &t->attempts[i], &why.by); k++)
			;
		if (k == n) {
			failures = xrealloc(failures, ++n * sizeof(*failures));
			failures[k] = (struct failures){ .why = why };
		}
		failures_add(&failures[k], &t->attempts[i]);
	}
	if (n || t->s->nfailures)
		prose_head(p, "Failures and remedies");
	for (size_t i = 0; i < n; i++) {
		failures_write(t, &failures[i]);
		refused |= !failures[i].list[0]->injected;
		free(failures[i].list);
	}
	free(failures);
	for (size_t i = 0; i < t->s->nfailures; i++)
		other_failure(t, &t->s->failures[i]);
	if (refused && t->full) {
		prose_para(p);
		prose_adds(p, "pevtrace why --rules-only tests such a call against all kernel checks "
			      "on this machine; pevtrace why finds by experiment what opens instead.");
	}
	prose_end(p);
}
