// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/judge/cause.h"

#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"

enum {
	PAIR_TRIALS = CAUSE_TRIALS / 2,	/* limit for pairs, to leave some for larger sets */
	CHAIN_SETS = 100000,		/* limit of larger sets that the rules are asked about */
};

/* A change, and what is known of it alone. */
struct single {
	const struct change *change;
	unsigned int cost;	/* low: close to the unchanged call */
	bool helps;		/* the rules predict that it avoids the first refusal */
	int error;		/* of the call with this change; -1: not tried */
};

struct pair {
	size_t a, b;
	unsigned int cost;
	bool opens;		/* as the rules predict */
};

struct search {
	const struct cause_ops *ops;
	void *ctx;
	struct single *singles;	/* sorted by cost */
	size_t n;
	const struct rule_desc *rule;	/* of the unchanged call; NULL: unknown */
	struct cause *out;
};

static bool may_try(const struct search *s, unsigned int limit)
{
	if (s->out->trials < limit)
		return true;
	s->out->gave_up = true;
	return false;
}

static int open_with(struct search *s, const struct change *const *set, size_t n)
{
	s->out->trials++;
	return s->ops->open(s->ctx, set, n);
}

/* Return whether the kernel checks a after b; NULL (no refusal) is last. */
static bool later(const struct rule_desc *a, const struct rule_desc *b)
{
	return !a || (b && a->id > b->id);
}

static const struct rule_desc *rule_with(struct search *s, const struct change *const *set,
					 size_t n)
{
	struct rule_verdict v;

	s->ops->judge(s->ctx, set, n, &v);
	/* while the PMUs cannot be read, no change of another member makes one likelier */
	if (s->rule && s->rule->id == RULE_NO_PMU && v.says[RULE_NO_PMU] == RULE_UNKNOWN &&
	    later(v.rule, s->rule))
		return s->rule;
	return v.rule;
}

static int by_cost(const void *a, const void *b)
{
	const struct single *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost < y->cost ? -1 : 1;
	return x->change < y->change ? -1 : x->change > y->change;
}

static int pairs_by_prospect(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->opens != y->opens)
		return x->opens ? -1 : 1;
	if (x->cost != y->cost)
		return x->cost < y->cost ? -1 : 1;
	return x->a != y->a ? (x->a < y->a ? -1 : 1) : x->b < y->b ? -1 : x->b > y->b;
}

/*
 * Return whether a change is worth a trial: an addition only if the rules require it, of a member
 * that the rule names.
 */
static bool worth(const struct search *s, const struct single *i)
{
	return i->change->how != CHANGE_ADD ||
	       (i->helps && (!s->rule || rules_place(s->rule, change_name(i->change)) >= 0));
}

static void cause_set(struct cause *out, const struct change *const *set, size_t n)
{
	memcpy(out->changes, set, n * sizeof(*set));
	out->n = n;
}

static bool has_place(const struct change *const *set, size_t n, const struct change *c)
{
	for (size_t i = 0; i < n; i++)
		if (change_same_place(set[i], c))
			return true;
	return false;
}

/* Return whether the change opens another type of event: the last resort. */
static bool gives_up(const struct single *i)
{
	return i->change->how == CHANGE_KIND;
}

/* Classes of single changes. */
enum { LIKELY, GIVING_UP, UNLIKELY };

/* Try every change of a class: each result is informative.  Return whether one opens. */
static bool try_singles(struct search *s, int class)
{
	struct cause *out = s->out;

	for (size_t i = 0; i < s->n && may_try(s, CAUSE_TRIALS); i++) {
		struct single *it = &s->singles[i];

		if ((gives_up(it) ? GIVING_UP : worth(s, it) ? LIKELY : UNLIKELY) != class)
			continue;
		it->error = open_with(s, &it->change, 1);
		if (it->error)
			continue;
		if (!out->n)
			cause_set(out, &it->change, 1);
		else if (out->nothers < CAUSE_OTHERS &&
			 !change_same_place(it->change, out->changes[0]) &&
			 !has_place(out->others, out->nothers, it->change) &&
			 /* of another event type only if nothing smaller opens */
			 (it->change->how <= CHANGE_DROP ||
			  it->change->how == out->changes[0]->how))
			out->others[out->nothers++] = it->change;
	}
	return out->n;
}

/* List pairs; sure: only those that pass the rules, without changes of the event type. */
static size_t list_pairs(struct search *s, bool sure, struct pair *pairs)
{
	size_t n = 0;

	for (size_t a = 0; a < s->n; a++) {
		for (size_t b = a + 1; b < s->n; b++) {
			const struct single *x = &s->singles[a], *y = &s->singles[b];
			const struct change *const set[] = { x->change, y->change };
			struct pair p = { .a = a, .b = b, .cost = x->cost + y->cost };

			if (change_same_place(x->change, y->change) ||
			    (sure && (gives_up(x) || gives_up(y))))
				continue;
			p.opens = !rule_with(s, set, 2);
			if (p.opens || (!sure && worth(s, x) && worth(s, y)))
				pairs[n++] = p;
		}
	}
	qsort(pairs, n, sizeof(*pairs), pairs_by_prospect);
	return n;
}

/* Store a set that opens, without the changes that it does not need. */
static void cause_set_least(struct search *s, const struct change **set, size_t n)
{
	for (size_t i = n; i-- && n > 1;) {
		const struct change *left = set[i];

		memmove(&set[i], &set[i + 1], (n - i - 1) * sizeof(*set));
		if (may_try(s, CAUSE_TRIALS) && !open_with(s, set, n - 1)) {
			n--;
			continue;
		}
		memmove(&set[i + 1], &set[i], (n - i - 1) * sizeof(*set));
		set[i] = left;
	}
	if (n <= CAUSE_CHANGES)
		cause_set(s->out, set, n);
}

static bool try_pairs(struct search *s, bool sure)
{
	struct pair *pairs = xcalloc(s->n * s->n / 2 + 1, sizeof(*pairs));
	size_t n = list_pairs(s, sure, pairs);

	for (size_t i = 0; i < n && !s->out->n && may_try(s, PAIR_TRIALS); i++) {
		const struct change *set[] = {
			s->singles[pairs[i].a].change, s->singles[pairs[i].b].change,
		};

		if (!open_with(s, set, 2))
			cause_set_least(s, set, 2);
	}
	free(pairs);
	return s->out->n;
}

/* Changes chosen so far, and how many sets the rules may still be asked about. */
struct chain {
	const struct change *set[CAUSE_CHANGES];
	size_t most;		/* limit of changes */
	bool sure;		/* without changes of the event type */
	unsigned int left;
};

/*
 * Add changes, the cheapest first, until the rules predict no refusal, one refusal after the
 * other; where that ends without one, try the next change in place of the last.  If the kernel
 * refuses what passes the rules, only another type of event is left to try.
 */
static bool chain_on(struct search *s, struct chain *c, size_t n, const struct rule_desc *rule)
{
	if (!rule && !may_try(s, CAUSE_TRIALS))
		return false;
	if (!rule && !open_with(s, c->set, n)) {
		cause_set_least(s, c->set, n);
		return true;
	}
	for (size_t i = 0; n < c->most && i < s->n && c->left; i++) {
		const struct rule_desc *next;

		c->set[n] = s->singles[i].change;
		if (has_place(c->set, n, c->set[n]) ||
		    (gives_up(&s->singles[i]) ? c->sure : !rule))
			continue;
		c->left--;
		next = rule_with(s, c->set, n + 1);
		/* or to the same refusal, if its rule checks several members and this is one */
		if ((later(next, rule) ||
		     (next == rule && rules_place(rule, change_name(c->set[n])) >= 0)) &&
		    chain_on(s, c, n + 1, next))
			return true;
	}
	return false;
}

static bool follow_rules(struct search *s, bool sure)
{
	struct chain c = { .sure = sure, .left = CHAIN_SETS };
	bool opens = false;

	/* the smallest set first */
	for (c.most = 1; s->rule && !opens && c.left && c.most <= CAUSE_CHANGES; c.most++)
		opens = chain_on(s, &c, 0, s->rule);
	return opens;
}

/* Change everything, then undo one change after the other. */
static bool try_everything(struct search *s)
{
	const struct change **set = xcalloc(s->n ? s->n : 1, sizeof(*set));
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->singles[i].change->how != CHANGE_ADD &&
		    !has_place(set, n, s->singles[i].change))
			set[n++] = s->singles[i].change;
	if (n && may_try(s, CAUSE_TRIALS) && !open_with(s, set, n))
		cause_set_least(s, set, n);
	free(set);
	return s->out->n;
}

static void find_changes(struct search *s)
{
	const struct change *other;

	if (try_singles(s, LIKELY))
		return;
	if (!try_singles(s, GIVING_UP)) {
		if (!try_pairs(s, false) && !follow_rules(s, false) && !try_everything(s))
			try_singles(s, UNLIKELY);
		return;
	}
	other = s->out->changes[0];
	s->out->n = 0;
	if (!try_pairs(s, true) && !follow_rules(s, true))
		cause_set(s->out, &other, 1);
}

/* Add the kernel's answer to the changed call, and the rule behind it. */
static struct cause_fault *add_fault(struct search *s, const struct change *const *set,
				     size_t n, int error)
{
	struct cause_fault *f = &s->out->faults[s->out->nfaults++];
	struct rule_verdict v;

	*f = (struct cause_fault){ .error = error };
	s->ops->judge(s->ctx, set, n, &v);
	f->rule = rules_cause(&v, error, &f->sure);
	return f;
}

/* Of the rules that may have refused the call, blame one that is about what helps. */
static void settle_fault(struct search *s, const struct change *const *set, size_t n,
			 struct cause_fault *f)
{
	const char *name = change_name(f->past[0]);
	struct rule_verdict v;

	if (f->sure || rules_place(f->rule, name) >= 0)
		return;
	s->ops->judge(s->ctx, set, n, &v);
	for (size_t i = 0; i < RULE_COUNT; i++)
		if (v.says[i] == RULE_UNKNOWN && rules_error(&v, (enum rule_id)i) == f->error &&
		    rules_place(&rule_descs[i], name) >= 0) {
			f->rule = &rule_descs[i];
			return;
		}
}

/*
 * If the single change that opens removes something, look for the first refusal's own
 * remedy: a smaller change to what its rule is about that leads to another refusal.
 */
static const struct single *find_smaller(struct search *s)
{
	struct rule_verdict v;

	if (s->out->n != 1 || s->out->changes[0]->how < CHANGE_DROP)
		return NULL;
	for_each(it, s->singles, s->n) {
		if (it->change->how > CHANGE_ADD || !it->helps || it->error <= 0 ||
		    rules_place(s->rule, change_name(it->change)) < 0)
			continue;
		s->ops->judge(s->ctx, &it->change, 1, &v);
		if (v.error == it->error)
			return it;
	}
	return NULL;
}

/* Assign the changes to the refusals that they avoid. */
static void find_faults(struct search *s)
{
	const struct change *rest[CAUSE_CHANGES], *done[CAUSE_CHANGES + 1];
	const struct rule_desc *now;
	size_t nrest = s->out->n, n = 0, i;
	int error = s->out->error;

	memcpy(rest, s->out->changes, nrest * sizeof(*rest));
	while (nrest) {
		struct cause_fault *f = add_fault(s, done, n, error);

		/* find the change that gets the call further than those done */
		now = rule_with(s, done, n);
		for (i = 0; i < nrest; i++) {
			done[n] = rest[i];
			if (later(rule_with(s, done, n + 1), now))
				break;
		}
		if (i == nrest) {
			/* the changes help only together, or the rules cannot tell */
			memcpy(f->past, rest, nrest * sizeof(*rest));
			f->npast = nrest;
			settle_fault(s, done, n, f);
			return;
		}
		f->past[f->npast++] = rest[i];
		settle_fault(s, done, n++, f);
		memmove(&rest[i], &rest[i + 1], (--nrest - i) * sizeof(*rest));
		error = nrest ? open_with(s, done, n) : 0;
	}
}

void cause_find(const struct cause_ops *ops, void *ctx, const struct change_list *list,
		struct cause *out)
{
	struct search s = { .ops = ops, .ctx = ctx, .out = out };
	const struct single *first;
	struct cause_fault *f;
	struct rule_verdict v;
	bool sure;

	*out = (struct cause){ .n = 0 };
	out->error = open_with(&s, NULL, 0);
	if (!out->error)
		return;
	ops->judge(ctx, NULL, 0, &v);
	s.rule = rules_cause(&v, out->error, &sure);
	s.singles = xcalloc(list->n ? list->n : 1, sizeof(*s.singles));
	s.n = list->n;
	for (size_t i = 0; i < list->n; i++) {
		const struct change *c = &list->list[i];
		int place = rules_place(s.rule, change_name(c));

		s.singles[i] = (struct single){
			.change = c, .error = -1,
			.helps = later(rule_with(&s, &c, 1), s.rule),
			/* the kind, whether the rule is about the member, and the distance */
			.cost = (unsigned int)c->how * 10000 +
				(place < 0 ? 9000 : (unsigned int)place * 100) +
				(c->distance > 900 ? 900 : c->distance),
		};
	}
	qsort(s.singles, s.n, sizeof(*s.singles), by_cost);
	find_changes(&s);
	first = find_smaller(&s);
	if (!out->n) {
		add_fault(&s, NULL, 0, out->error);
	} else if (first) {
		f = add_fault(&s, NULL, 0, out->error);
		f->past[f->npast++] = first->change;
		f = add_fault(&s, &first->change, 1, first->error);
		f->past[f->npast++] = out->changes[0];
	} else {
		find_faults(&s);
	}
	free(s.singles);
}
