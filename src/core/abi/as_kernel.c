// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/as_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/abi/tables.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"

#define FIRST KVER(2, 6, 32)

/* What is passed on, and to which function. */
struct offering {
	void (*hook)(void *ctx, const struct open_need *need);
	void *ctx;
};

static void offer(const struct offering *o, const char *name, uint32_t since)
{
	struct open_need need = { since, name };

	if (since > FIRST)
		o->hook(o->ctx, &need);
}

static void offer_value(const struct offering *o, const struct xlat *x, uint64_t v)
{
	const struct xlat_entry *e = x->kind == XLAT_FLAGS ? NULL : xlat_find(x, v);

	if (e)
		offer(o, e->name, e->since);
	for (size_t at = 0; x->kind == XLAT_FLAGS && (e = xlat_next_flag(x, &v, &at));)
		offer(o, e->name, e->since);
}

void open_need_each(const uint8_t *attr, size_t len, uint64_t flags,
		    void (*hook)(void *ctx, const struct open_need *need), void *ctx)
{
	struct walk w = { .layout = &layout_perf_event_attr, .bytes = attr, .len = len };
	uint64_t type = layout_get(w.layout, ATTR_TYPE, attr, len);
	const struct offering o = { hook, ctx };
	const struct field *f;
	size_t at = 0;

	while ((f = layout_next(&w, &at))) {
		const struct xlat *x = f->kind == FIELD_CONFIG ? attr_config_values(type) : f->xlat;
		uint64_t v = field_get(f, attr, len);

		/* an older kernel accepts a longer attr if the members that it lacks are 0 */
		if ((v || f->kind == FIELD_CONFIG) && x && f->kind != FIELD_SIZE)
			offer_value(&o, x, v);
		if (v && f->kind != FIELD_SIZE && f->kind != FIELD_RESERVED)
			offer(&o, f->name, f->since);
	}
	offer_value(&o, &xlat_perf_event_open_flags, flags);
}

static void keep_newest(void *ctx, const struct open_need *need)
{
	struct open_need *newest = ctx;

	if (need->since > newest->since)
		*newest = *need;
}

struct open_need open_need(const uint8_t *attr, size_t len, uint64_t flags)
{
	struct open_need newest = { 0 };

	open_need_each(attr, len, flags, keep_newest, &newest);
	return newest;
}

void as_kernel_init(struct as_kernel *k, uint32_t release, const struct rule_machine *here)
{
	struct rule_machine *m = &k->then;

	*k = (struct as_kernel){ .release = release, .today = *here };
	/*
	 * Privilege checks are left to the running kernel.  So are limits, which are the same in
	 * both kernels: checks behind them do not decide.
	 */
	k->today.paranoid = -1;
	k->today.caps = ~0ULL;
	k->today.caps_unread = 0;
	*m = k->today;
	k->pmus = xcalloc(here->npmus + 1, sizeof(*k->pmus));
	m->pmus = k->pmus;
	m->npmus = 0;
	for (size_t i = 0; i < here->npmus; i++)
		if (!here->pmus[i].desc || here->pmus[i].desc->since <= release)
			k->pmus[m->npmus++] = here->pmus[i];
	m->release = release;
	m->attr_size = rules_attr_size(release);
}

void as_kernel_free(struct as_kernel *k)
{
	free(k->pmus);
}

/* Append "NAME (RELEASE)", or "NAME" alone, for a feature newer than the older kernel. */
static void add_newer(const struct as_kernel *k, const char *name, uint32_t since,
		      struct buf *out)
{
	if (since <= k->release)
		return;
	buf_addf(out, "%s%s", out->len ? ", " : "", name);
	if (k->names_only)
		return;
	buf_addf(out, " (%u.%u", since >> 16, since >> 8 & 255);
	buf_addf(out, since & 255 ? ".%u)" : ")", since & 255);
}

/* Append what of the value, or of the flags, is newer. */
static void add_newer_of(const struct as_kernel *k, const struct xlat *x, uint64_t v,
			 struct buf *out)
{
	const struct xlat_entry *e = x->kind == XLAT_ENUM ? xlat_find(x, v) : NULL;

	if (e)
		add_newer(k, e->name, xlat_since(e, k->release), out);
	for (size_t at = 0; x->kind == XLAT_FLAGS && (e = xlat_next_flag(x, &v, &at));)
		add_newer(k, e->name, xlat_since(e, k->release), out);
}

/* Append the features of the call that the check is about and the older kernel lacks. */
static void newer_than(const struct as_kernel *k, const struct rule_ask *ask,
		       const struct rule_desc *d, struct buf *out)
{
	const struct layout *l = &layout_perf_event_attr;
	const struct walk w = { .layout = l, .bytes = ask->attr, .len = ask->len };
	bool members = d->id == RULE_RESERVED_BITS || d->id == RULE_SIZE_TAIL;
	const struct field *f;
	size_t at = 0;

	while ((f = layout_next(&w, &at))) {
		uint64_t v = field_get(f, ask->attr, ask->len);

		if (v && members && f->kind != FIELD_RESERVED)
			add_newer(k, f->name, f->since, out);
		if (f->xlat && !members && rules_place(d, f->name) >= 0)
			add_newer_of(k, f->xlat, v, out);
	}
	if (d->id == RULE_SOFTWARE_CONFIG || d->id == RULE_SOFTWARE_NONE)
		add_newer_of(k, &xlat_perf_sw_ids,
			     layout_get(l, ATTR_CONFIG, ask->attr, ask->len), out);
	if (rules_place(d, "flags") >= 0)
		add_newer_of(k, &xlat_perf_event_open_flags, ask->flags, out);
}

static struct as_refusal as_kernel_refusal(int error, const char *because)
{
	struct as_refusal r = { .error = error };

	snprintf(r.because, sizeof(r.because), "%s", because);
	return r;
}

/* Return the rule by which that machine refuses the call, with its error; NULL: it does not. */
static const struct rule_desc *refuses(const struct rule_machine *m, const struct rule_ask *call,
				       int *error)
{
	struct rule_facts facts = { *m, call->facts->target };
	struct rule_ask ask = *call;
	struct rule_verdict v;

	ask.facts = &facts;
	rules_judge(&ask, &v);
	*error = v.error;
	return v.rule;
}

static struct as_refusal refuses_open(const struct as_kernel *k, const struct rule_ask *call)
{
	int error, today_error;
	const struct rule_desc *old = refuses(&k->then, call, &error), *today;
	struct buf newer = { 0 };
	struct as_refusal r = { 0 };

	if (!old)
		return r;
	today = refuses(&k->today, call, &today_error);
	/* with E2BIG the kernels differ only in the size that they write back */
	if (today == old && today_error == error && error != E2BIG)
		return r;
	newer_than(k, call, old, &newer);
	r = as_kernel_refusal(error, newer.len ? buf_str(&newer) : old->meaning);
	r.lacks = newer.len;
	buf_free(&newer);
	r.attr_size = error == E2BIG && (old->id == RULE_SIZE_TAIL || old->id == RULE_SIZE_RANGE) ?
		      k->then.attr_size : 0;
	return r;
}

struct as_refusal as_kernel_refuses(const struct as_kernel *k, const struct call *c,
				    const uint8_t *attr, size_t len,
				    const struct rule_target *target)
{
	const struct ioctl_desc *d = NULL;
	const struct walk w = { .layout = &layout_perf_event_attr, .bytes = attr, .len = len };

	if (c->desc->id == CALL_PERF_EVENT_OPEN) {
		const struct rule_facts facts = { k->today, *target };

		return refuses_open(k, &(struct rule_ask){
			.attr = attr, .len = len, .pid = call_target(c), .cpu = call_int(c, 2),
			.group_fd = call_int(c, 3), .flags = c->args[4], .facts = &facts,
		});
	}
	if (c->desc->id == CALL_IOCTL)
		d = ioctl_find((uint32_t)c->args[1], c->arch->word);
	if (d && d->since > k->release)
		return as_kernel_refusal(ENOTTY, "it does not know this ioctl");
	for (const struct taker_desc *t = taker_descs; d && attr && t->meaning; t++)
		if (t->request == d->request && t->since > k->release &&
		    cond_holds(&w, &t->events))
			return as_kernel_refusal(EINVAL, t->meaning);
	return (struct as_refusal){ 0 };
}

/*
 * Return the release before that one, or 0 before 2.6.32, which brought the call under this name.  No major release had more than 20
 * minor ones; those that never existed are like the last one that did.
 */
static uint32_t release_before(uint32_t release)
{
	uint32_t major = release >> 16, minor = release >> 8 & 255;

	if (major == 2)
		return release > FIRST ? release - 1 : 0;
	if (minor)
		return KVER(major, minor - 1, 0);
	return major == 3 ? KVER(2, 6, 39) : KVER(major - 1, 20, 0);
}

uint32_t as_kernel_oldest(const struct rule_ask *ask, struct as_refusal *older)
{
	const struct rule_machine *here = &ask->facts->machine;
	const struct open_need need = open_need(ask->attr, ask->len, ask->flags);
	uint32_t oldest = here->release ? here->release : xlat_release;
	struct as_kernel k;
	bool accepted;
	int error;

	*older = (struct as_refusal){ 0 };
	as_kernel_init(&k, oldest, here);
	accepted = !refuses(&k.today, ask, &error);
	as_kernel_free(&k);
	for (uint32_t r = oldest; accepted && !older->error && (r = release_before(r));) {
		as_kernel_init(&k, r, here);
		k.names_only = true;
		*older = refuses_open(&k, ask);
		as_kernel_free(&k);
		oldest = older->error ? oldest : r;
	}
	if (!accepted) {
		oldest = need.name ? need.since : FIRST;
		older->error = need.name ? EINVAL : 0;
	}
	older->lacks = need.name && need.since == oldest;
	if (older->lacks)
		snprintf(older->because, sizeof(older->because), "%s", need.name);
	return oldest;
}
