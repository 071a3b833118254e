// SPDX-License-Identifier: LGPL-2.1-or-later
/* What failed, by which check of the kernel it may be, and what to do. */
#include <stdlib.h>
#include <string.h>

#include "abi/rules.h"
#include "explain/story_internal.h"
#include "lib/die.h"
#include "model/attempt.h"
#include "model/event_name.h"
#include "text/siginfo.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

/* Which check it was -------------------------------------------------------------------- */

/*
 * A trace does not tell of rights, sysctls and PMUs.  So a call is judged twice,
 * for a caller without any rights and for one with all: what refuses both has
 * certainly refused, what refuses the first may have.
 */
static void facts_of(const struct story *s, bool strict, const struct rule_pmu *pmus, size_t n,
		     struct rule_facts *f)
{
	*f = (struct rule_facts){
		.machine = {
			.release = s->release, .page_size = s->names->page_size,
			.arch = s->arch, .paranoid = strict ? 4 : -1,
			.caps = strict ? 0 : UINT64_MAX,
			.max_sample_rate = strict ? 0 : UINT64_MAX,
			.max_stack = strict ? 0 : UINT64_MAX,
			.cpus = strict ? 1 : INT32_MAX, .pmus = pmus, .npmus = n,
		},
	};
}

/* Those that every kernel has, and the one that the dump has a name for. */
static size_t known_pmus(const struct story *s, const struct attempt *a, struct rule_pmu *out)
{
	static const struct {
		uint32_t type;
		const char *name;
	} fixed[] = {
		{ PERF_TYPE_SOFTWARE, "software" }, { PERF_TYPE_TRACEPOINT, "tracepoint" },
		{ PERF_TYPE_BREAKPOINT, "breakpoint" },
	};
	uint32_t type = 0;
	const char *name = NULL;
	size_t n = 0;

	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		out[n++] = (struct rule_pmu){ .type = fixed[i].type, .name = fixed[i].name };
	if (a->attr_len >= sizeof(type))
		memcpy(&type, a->attr, sizeof(type));
	if (type >= PERF_TYPE_MAX && s->names->pmu)
		name = s->names->pmu(s->names, type);
	if (name)
		out[n++] = (struct rule_pmu){ .type = type, .name = name };
	for (size_t i = 0; i < n; i++)
		out[i].desc = pmu_desc_by_name(out[i].name);
	return n;
}

static void judge(const struct story *s, const struct attempt *a, bool strict,
		  struct rule_verdict *v)
{
	struct rule_pmu pmus[4];
	struct rule_facts facts;
	struct rule_ask ask = {
		.attr = a->attr, .len = a->attr_len, .pid = a->pid, .cpu = a->cpu,
		.group_fd = a->group_fd, .flags = a->flags, .facts = &facts,
	};

	facts_of(s, strict, pmus, known_pmus(s, a, pmus), &facts);
	rules_judge(&ask, v);
}

static bool refuses(const struct rule_verdict *v, size_t i, int error)
{
	return (v->says[i] == RULE_REFUSES || v->says[i] > 0) &&
	       rules_error(v, (enum rule_id)i) == error;
}

/* One that nobody could look into, and that is not mere chance. */
static bool may_refuse(const struct rule_verdict *v, size_t i, int error)
{
	return v->says[i] == RULE_UNKNOWN && rule_descs[i].error == error &&
	       rule_descs[i].by != RULE_BY_CHANCE;
}

struct suspects {
	const struct rule_desc *list[RULE_COUNT];
	size_t n;
	bool certain;	/* the first, and only, of them it was */
};

static void suspect(const struct story *s, const struct attempt *a, struct suspects *out)
{
	struct rule_verdict strict, kind;

	*out = (struct suspects){ .n = 0 };
	if (a->injected)
		return;
	judge(s, a, true, &strict);
	judge(s, a, false, &kind);
	for (size_t i = 0; i < RULE_COUNT; i++) {
		if (refuses(&kind, i, a->error) && !out->n)
			out->certain = true;
		if (refuses(&strict, i, a->error) || refuses(&kind, i, a->error))
			out->list[out->n++] = &rule_descs[i];
		if (kind.rule == &rule_descs[i])
			break;
	}
	for (size_t i = 0; i < RULE_COUNT && !out->n; i++)
		if (may_refuse(&kind, i, a->error))
			out->list[out->n++] = &rule_descs[i];
}

/* Telling ------------------------------------------------------------------------------ */

static const char INJECTED[] = " That was injected by pevtrace: the kernel was not asked.";

static void add_errno(struct prose *p, int error)
{
	struct buf text = { 0 };

	error_text(error, &text);
	prose_adds(p, buf_str(&text) + (*buf_str(&text) == '-' ? 3 : 0));
	buf_free(&text);
}

/* What to do about what decides a rule. */
static void remedy(const struct rule_desc *d, struct prose *p)
{
	const struct xlat *x = &xlat_rule_by;
	bool any = false;

	for (size_t i = 0; i < x->n; i++) {
		const struct term_desc *t = d->by & x->entries[i].value ?
			term_by_name(x->entries[i].name) : NULL;

		if (!t)
			continue;
		prose_adds(p, any ? ", or " : " What to do: ");
		prose_meaning(p, t->text);
		if (x->entries[i].value == RULE_BY_ATTR && *d->fields)
			prose_addf(p, " (%s)", d->fields);
		any = true;
	}
	prose_adds(p, any ? "." : "");
}

static void tell_suspects(const struct suspects *s, int error, struct prose *p)
{
	const struct xlat_entry *e = xlat_find(&xlat_perf_open_errno, (uint64_t)error);

	if (!s->n) {
		if (e)
			prose_addf(p, " In general this error means: %s.", e->meaning);
		return;
	}
	prose_adds(p, s->certain ? " The check that says so is " :
		      s->n == 1 ? " One check fits, " : " These checks fit: ");
	for (size_t i = 0; i < s->n; i++)
		prose_addf(p, "%s%s: %s", i ? "; or " : "", s->list[i]->name,
			   s->list[i]->meaning);
	prose_adds(p, ".");
	remedy(s->list[0], p);
}

/* Failures of one error that the same checks may have made. */
struct group {
	const struct attempt **list;
	size_t n, times;
	bool more;	/* than are in the list */
	struct suspects why;
};

static bool same_attr(const struct attempt *a, const struct attempt *b)
{
	return a->attr_len == b->attr_len && !memcmp(a->attr, b->attr, a->attr_len);
}

static bool belongs(const struct group *g, const struct attempt *a, const struct suspects *s)
{
	return g->list[0]->error == a->error && g->list[0]->injected == a->injected &&
	       g->why.n == s->n &&
	       !memcmp(g->why.list, s->list, s->n * sizeof(*s->list));
}

static void add_to_group(struct group *g, const struct attempt *a)
{
	g->times++;
	for (size_t i = 0; i < g->n; i++)
		if (same_attr(g->list[i], a))
			return;
	if (g->n == TOLD_MANY) {
		g->more = true;
		return;
	}
	g->list = xrealloc(g->list, (g->n + 1) * sizeof(*g->list));
	g->list[g->n++] = a;
}

static size_t group_attempts(const struct story *s, struct group **out)
{
	const struct attempt *a;
	size_t all = model_attempts(s->m, &a), n = 0, k;
	struct suspects why;

	*out = NULL;
	for (size_t i = 0; i < all; i++) {
		suspect(s, &a[i], &why);
		for (k = 0; k < n && !belongs(&(*out)[k], &a[i], &why); k++)
			;
		if (k == n) {
			*out = xrealloc(*out, ++n * sizeof(**out));
			(*out)[k] = (struct group){ .why = why };
		}
		add_to_group(&(*out)[k], &a[i]);
	}
	return n;
}

static void tell_group(const struct telling *t, const struct group *g)
{
	struct prose *p = t->p;
	struct buf name = { 0 };
	bool went_on = false;

	prose_item(p);
	for (size_t i = 0; i < g->n; i++) {
		prose_adds(p, prose_sep(i, g->n));
		event_name(g->list[i]->attr, g->list[i]->attr_len, t->s->names, &name);
		prose_name(p, buf_str(&name));
		buf_reset(&name);
		went_on |= attempt_instead(t->s->m, g->list[i]) != NULL;
	}
	buf_free(&name);
	prose_adds(p, g->more ? " and others" : "");
	prose_adds(p, " could not be opened: ");
	add_errno(p, g->list[0]->error);
	if (g->times > g->n) {
		prose_addf(p, ", in %zu calls", g->times);
	}
	prose_adds(p, ".");
	if (g->list[0]->injected)
		prose_adds(p, INJECTED);
	else
		tell_suspects(&g->why, g->list[0]->error, p);
	if (went_on)
		prose_addf(p, " The program went on with another form of it%s.",
			   t->o->level == STORY_BRIEF ? "" : ", as told above");
}

static void tell_failure(const struct telling *t, const struct told_failure *f)
{
	const char *request = f->request ? f->request->name : NULL;
	const struct refusal_desc *d = refusal_find(f->call->name, request, f->error);
	struct prose *p = t->p;

	prose_item(p);
	prose_adds(p, request ? request : f->call->name);
	if (f->event) {
		prose_adds(p, " on ");
		story_event_name(t->s, f->event, p);
		prose_adds(p, " (");
		story_fds(&f->event, 1, p);
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

void story_failures(const struct telling *t)
{
	struct group *groups;
	size_t n = group_attempts(t->s, &groups);
	struct prose *p = t->p;
	bool refused = false;

	if (n || t->s->nfailures)
		prose_head(p, "What failed, and what to do");
	for (size_t i = 0; i < n; i++) {
		tell_group(t, &groups[i]);
		refused |= !groups[i].list[0]->injected;
		free(groups[i].list);
	}
	free(groups);
	for (size_t i = 0; i < t->s->nfailures; i++)
		tell_failure(t, &t->s->failures[i]);
	if (refused) {
		prose_para(p);
		prose_adds(p, "pevtrace check judges such a call on this machine by all of the "
			      "kernel's checks; pevtrace why finds by experiment what would "
			      "work instead.");
	}
	prose_end(p);
}
