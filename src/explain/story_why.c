// SPDX-License-Identifier: LGPL-2.1-or-later
/* What failed, the kernel checks that may have caused it, and remedies. */
#include <stdlib.h>
#include <string.h>

#include "core/abi/siginfo.h"
#include "core/lib/die.h"
#include "core/model/attempt.h"
#include "core/model/event_name.h"
#include "explain/story_internal.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

/* Which check refused a call ------------------------------------------------------------ */

/* The checks that may have refused a call. */
struct suspects {
	struct judgement by;
	/* the later checks that would refuse, too, and how many passed before the first */
	const struct rule_desc *later[RULE_COUNT];
	size_t nlater, passed;
};

/* Find the place of the first suspect among the checks of that kernel. */
static void find_order(const struct story *s, struct suspects *out)
{
	const struct judgement *j = &out->by;

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

static void find_suspects(const struct story *s, const struct attempt *a, struct suspects *out)
{
	*out = (struct suspects){ .nlater = 0 };
	if (a->injected)
		return;
	judge_attempt(a, s->release, s->arch, s->names, &out->by);
	find_order(s, out);
}

/* Sentences -------------------------------------------------------------------------------- */

static const char INJECTED[] = " pevtrace injected this error: the kernel did not see the call.";

static void add_errno(struct prose *p, int error)
{
	error_name_text(error, &p->text);
}

/* Say what to change, by what decides the check. */
static void add_remedy(const struct rule_desc *d, struct prose *p)
{
	const struct xlat *x = &xlat_rule_by;
	bool any = false;

	for (size_t i = 0; i < x->n; i++) {
		const struct term_desc *t = d->by & x->entries[i].value ?
			term_by_name(x->entries[i].name) : NULL;

		if (!t)
			continue;
		prose_adds(p, any ? ", or " : " Remedy: ");
		prose_meaning(p, t->text);
		if (x->entries[i].value == RULE_BY_ATTR && *d->fields)
			prose_addf(p, " (%s)", d->fields);
		any = true;
	}
	prose_adds(p, any ? "." : "");
}

static void add_suspects(const struct suspects *s, int error, struct prose *p)
{
	const struct xlat_entry *e = xlat_find(&xlat_perf_open_errno, (uint64_t)error);
	const struct judgement *j = &s->by;

	if (!j->nsuspects) {
		if (e)
			prose_addf(p, " %s generally means: %s.", e->name, e->meaning);
		return;
	}
	prose_adds(p, j->sure ? " Refused by the kernel check " :
		      j->nsuspects == 1 ? " One kernel check matches, " : " Kernel checks that match: ");
	for (size_t i = 0; i < j->nsuspects; i++)
		prose_addf(p, "%s%s: %s", i ? "; or " : "", j->suspects[i]->name,
			   j->suspects[i]->meaning);
	prose_addf(p, ". %zu checks come before %s", s->passed,
		   j->nsuspects == 1 ? "it and passed; after it" : "these and passed; after them");
	for (size_t i = 0; i < s->nlater; i++)
		prose_addf(p, "%s%s", i ? prose_sep(i, s->nlater) : ", ", s->later[i]->name);
	prose_adds(p, s->nlater ? " would refuse, too." :
				  " none is known to refuse.");
	add_remedy(j->rule, p);
}

/* Say what hardware such an event requires, if any. */
static void add_needed_hardware(const struct attempt *a, struct prose *p)
{
	const struct story_open o = {
		.attr = a->attr, .len = a->attr_len, .pid = a->pid, .cpu = a->cpu,
		.flags = a->flags,
	};

	if (story_hardware(&o, NULL)) {
		prose_adds(p, " Such an event requires ");
		story_hardware(&o, p);
		prose_adds(p, ".");
	}
}

/* Failures with one error and the same suspects. */
struct failures {
	const struct attempt **list;
	size_t n, times;
	bool more;	/* than the list has */
	struct suspects why;
};

static bool failures_match(const struct failures *f, const struct attempt *a,
			   const struct suspects *s)
{
	return f->list[0]->error == a->error && f->list[0]->injected == a->injected &&
	       f->why.by.nsuspects == s->by.nsuspects &&
	       !memcmp(f->why.by.suspects, s->by.suspects,
		       s->by.nsuspects * sizeof(*s->by.suspects));
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

/* Sort all failed opens into lists, for the caller to free; return how many. */
static size_t failures_collect(const struct story *s, struct failures **out)
{
	const struct attempt *a;
	size_t all = model_attempts(s->m, &a), n = 0, k;
	struct suspects why;

	*out = NULL;
	for (size_t i = 0; i < all; i++) {
		find_suspects(s, &a[i], &why);
		for (k = 0; k < n && !failures_match(&(*out)[k], &a[i], &why); k++)
			;
		if (k == n) {
			*out = xrealloc(*out, ++n * sizeof(**out));
			(*out)[k] = (struct failures){ .why = why };
		}
		failures_add(&(*out)[k], &a[i]);
	}
	return n;
}

static void failures_write(const struct story_text *t, const struct failures *f)
{
	struct prose *p = t->p;
	struct buf name = { 0 };
	bool went_on = false;

	prose_item(p);
	for (size_t i = 0; i < f->n; i++) {
		prose_adds(p, prose_sep(i, f->n));
		event_name_probed(f->list[i]->attr, f->list[i]->attr_len, t->s->names,
				  f->list[i]->probed, &name);
		prose_name(p, buf_str(&name));
		buf_reset(&name);
		went_on |= attempt_instead(t->s->m, f->list[i]) != NULL;
	}
	buf_free(&name);
	prose_adds(p, f->more ? " and others" : "");
	prose_adds(p, " could not be opened: ");
	add_errno(p, f->list[0]->error);
	if (f->times > f->n)
		prose_addf(p, ", in %zu calls", f->times);
	prose_adds(p, ".");
	if (f->list[0]->injected)
		prose_adds(p, INJECTED);
	else
		add_suspects(&f->why, f->list[0]->error, p);
	if (f->why.by.rule && f->why.by.rule->by & RULE_BY_PMU)
		add_needed_hardware(f->list[0], p);
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
		story_event_name(t->s, f->event, p);
		prose_adds(p, " (");
		story_fd(f->event, p);
		prose_adds(p, ")");
	}
	prose_adds(p, " failed: ");
	add_errno(p, f->error);
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
	struct failures *failures;
	size_t n = failures_collect(t->s, &failures);
	struct prose *p = t->p;
	bool refused = false;

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
