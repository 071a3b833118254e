// SPDX-License-Identifier: LGPL-2.1-or-later
/* The result of pevtrace why as text or JSON. */
#include <string.h>
#include <unistd.h>

#include "core/abi/attr_member.h"
#include "core/abi/layout.h"
#include "verbs/judge/judge_show.h"
#include "verbs/why/why.h"
#include "engine/rings/holders.h"
#include "core/lib/hash.h"
#include "verbs/measure/refusal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Address of the attr for a call that had none. */
#define AT 0x100000

struct telling {
	struct show show;
	const struct judge_call *c;
	const struct why_result *r;
	const struct why_seen *seen;
};

static const char *const block_names[] = {
	[WHY_SECCOMP] = "seccomp", [WHY_NO_SYSCALL] = "no_syscall",
	[WHY_SECURITY] = "security", [WHY_PARANOID] = "paranoid",
	[WHY_CAPABILITY] = "capability", [WHY_DESCRIPTORS] = "descriptors",
	[WHY_PMU] = "pmu", [WHY_BREAKPOINTS] = "breakpoints", [WHY_BUSY] = "busy",
	[WHY_FILE] = "file",
};

/* Return the verdict in one word. */
static const char *why_verdict(const struct why_result *r)
{
	if (r->not_tried)
		return "not_tried";
	if (!r->cause.error)
		return "opens";
	return r->cause.n ? "cause" : r->found ? "blocked" : "not_found";
}

/* Calls that were changed ---------------------------------------------------------------- */

/* Fill in the changed call as a trace would contain it; the caller frees it with call_free(). */
static void make_call(const struct telling *t, const struct change_call *from,
		      struct call *to)
{
	const struct call *given = &t->c->call;
	struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = from->attr, .len = from->ask.len,
		.names = &t->show.machine->names,
	};
	uint8_t attr[CHANGE_ATTR_MAX];
	const uint8_t *was;
	const struct field *f;
	size_t at = 0, was_len;

	*to = (struct call){
		.desc = given->desc, .arch = given->arch, .before = given, .returned = true,
	};
	to->args[0] = given->args[0] ? given->args[0] : AT;
	to->args[1] = (uint64_t)(int64_t)from->ask.pid;
	to->args[2] = (uint64_t)(int64_t)from->ask.cpu;
	to->args[3] = (uint64_t)(int64_t)from->ask.group_fd;
	to->args[4] = from->ask.flags;
	memcpy(attr, from->attr, sizeof(attr));
	was = call_bytes(given, AT_SYSCALL_ENTER, given->args[0], JUDGE_ATTR_MAX, &was_len);
	/* judge_call_prepare() let them point to memory of pevtrace */
	while ((f = layout_next(&w, &at))) {
		const char *text = (const char *)(uintptr_t)field_get(f, w.bytes, w.len);

		if (f->kind != FIELD_STRING || !text)
			continue;
		for (size_t i = 0; i < ATTR_TEXT_STRINGS; i++) {
			if (text != t->c->strings[i].data && text != t->r->exe)
				continue;
			/* an unchanged one keeps its address */
			if (text != t->r->exe && was)
				field_set(f, field_get(f, was, was_len), attr);
			call_add_capture(to, AT_SYSCALL_ENTER, field_get(f, attr, w.len),
					 (uint32_t)strlen(text) + 1, text,
					 (uint32_t)strlen(text) + 1);
		}
	}
	call_add_capture(to, AT_SYSCALL_ENTER, to->args[0], (uint32_t)from->ask.len, attr,
			 (uint32_t)from->ask.len);
}

/* Write the changed members and arguments with their new values. */
static void emit_changes(const struct telling *t, const struct change *const *set, size_t n,
			 const char *key, struct sink *k)
{
	struct change_call changed;
	struct call call;

	change_begin(&changed, &t->r->ask);
	for (size_t i = 0; i < n; i++)
		change_apply(&changed, set[i]);
	make_call(t, &changed, &call);
	k->ops->begin(k, key, SINK_OBJECT);
	for (size_t i = 0; i < n; i++) {
		const char *name = change_name(set[i]);

		show_member(&t->show, &call, name, strlen(name), k);
	}
	k->ops->end(k);
	call_free(&call);
}

enum { BLAMED = 16 };

/* The name of a member or argument. */
struct word { const char *at; size_t len; };

static bool is_zero(const struct telling *t, const struct word *w)
{
	const struct field *f = attr_member(w->at, w->len);

	return f && !field_get(f, t->r->ask.attr, t->r->ask.len);
}

/* List the fields of the rule that the call set; all of them if it set none. */
static size_t fields_of(const struct telling *t, const struct rule_desc *d, struct word *out)
{
	size_t all = 0, n = 0;
	struct word words[BLAMED];

	for (const char *p = d->fields; *p && all < BLAMED; p += *p == ',') {
		words[all++] = (struct word){ p, strcspn(p, ",") };
		p += words[all - 1].len;
	}
	for (size_t i = 0; i < all; i++)
		if (!is_zero(t, &words[i]))
			out[n++] = words[i];
	if (n)
		return n;
	memcpy(out, words, all * sizeof(*out));
	return all;
}

/*
 * List the members and arguments that cause the refusal: those that have to be changed, or
 * the fields of the rule if none of these is among them.
 */
static size_t blamed(const struct telling *t, const struct cause_fault *f, struct word *out)
{
	/* bits newer than this release count as reserved; the rule does not list their members */
	bool about = !f->rule || !f->sure || !*f->rule->fields ||
		     f->rule->id == RULE_RESERVED_BITS;

	for (size_t i = 0; i < f->npast; i++)
		about |= rules_place(f->rule, change_name(f->past[i])) >= 0;
	if (!about && f->npast)
		return fields_of(t, f->rule, out);
	for (size_t i = 0; i < f->npast; i++)
		out[i] = (struct word){ change_name(f->past[i]),
					strlen(change_name(f->past[i])) };
	return f->npast;
}

/* Show fields with the values that were given. */
static void emit_blamed(const struct telling *t, const struct cause_fault *f, struct sink *k)
{
	struct word words[BLAMED];
	size_t n = blamed(t, f, words);

	k->ops->begin(k, NULL, SINK_OBJECT);
	for (size_t i = 0; i < n; i++)
		show_member(&t->show, &t->c->call, words[i].at, words[i].len, k);
	k->ops->end(k);
}

/* Obstacles -------------------------------------------------------------------------------- */

static void capability_words(const struct telling *t, struct buf *out)
{
	const struct facts *f = t->show.facts;
	const struct confinement *c = &t->r->confinement;

	show_here(&t->show, RULE_BY_CAPS, out);
	if (f->own_caps & ~(f->rules.machine.caps | f->rules.machine.caps_unread))
		buf_adds(out, "; its capabilities are valid only in this user namespace");
	if (!(c->bounding >> ABI_CAP_PERFMON & 1) && !(c->bounding >> ABI_CAP_SYS_ADMIN & 1))
		buf_adds(out, "; the bounding set has neither, as in a container: "
			      "start it with them");
	else if (c->no_new_privs)
		buf_adds(out, "; NoNewPrivs prevents programs from gaining them");
}

/* Name the processes that hold events of the call's type. */
static void holder_words(const struct telling *t, struct buf *out)
{
	const struct rule_ask *a = &t->r->ask;
	const struct holders_of of = {
		.type = (uint32_t)layout_get(&layout_perf_event_attr, ATTR_TYPE, a->attr, a->len),
		.tid = a->flags & PERF_FLAG_PID_CGROUP ? -1 : a->pid ? a->pid : getpid(),
		.cpu = a->cpu,
	};
	struct buf held = { 0 };

	holders_add(&of, &t->show.machine->names, &held);
	if (held.len)
		buf_addf(out, "; held by %s", buf_str(&held));
	buf_free(&held);
}

static void block_words(const struct telling *t, enum why_block b, struct buf *out)
{
	switch (b) {
	case WHY_SECCOMP:
		refusal_gate(&t->r->confinement, out);
		break;
	case WHY_NO_SYSCALL:
		buf_adds(out, "the kernel is built without perf events");
		break;
	case WHY_SECURITY:
		buf_adds(out, "a security module does not let this process use perf events");
		break;
	case WHY_PARANOID:
		show_here(&t->show, RULE_BY_PARANOID, out);
		break;
	case WHY_CAPABILITY:
		capability_words(t, out);
		break;
	case WHY_DESCRIPTORS:
		show_here(&t->show, RULE_BY_RLIMIT, out);
		buf_adds(out, ", and so many descriptors are open");
		break;
	case WHY_PMU:
		buf_adds(out, t->show.facts->rules.machine.pmus_known == FACT_YES ?
			      "no PMU here counts such events" :
			      "perhaps no PMU here counts such events: they cannot be read from sysfs");
		if (t->r->confinement.virtual)
			buf_adds(out, "; this is a virtual machine, and its host decides "
				      "whether it has counters");
		break;
	case WHY_BREAKPOINTS:
		show_here(&t->show, RULE_BY_SLOTS, out);
		holder_words(t, out);
		break;
	case WHY_BUSY:
		buf_adds(out, "other events use the PMU");
		holder_words(t, out);
		break;
	case WHY_FILE:
		show_here(&t->show, RULE_BY_FILE, out);
		break;
	case WHY_BLOCKS:
		break;
	}
	if (t->r->confinement.container && (b == WHY_SECCOMP || b == WHY_CAPABILITY))
		buf_addf(out, "; this is a container (%s)", t->r->confinement.container);
}

/* Text ------------------------------------------------------------------------------------- */

static void text_because(const struct telling *t, const struct cause_fault *f, bool again)
{
	const struct show *s = &t->show;
	struct buf *out = show_line(s, again ? "as above" : "because");

	if (f->rule)
		buf_addf(out, "%s%s (rule %s)", f->sure ? "" : "perhaps: ", f->rule->meaning,
			 f->rule->name);
	else
		buf_adds(out, "no known rule explains it");
	showing_end(s->out);
	if (f->rule && !again)
		show_rule(s, f->rule);
}

/* Return whether the change opens another event, which is no remedy. */
static bool opens_another(const struct cause *c)
{
	return c->n && c->changes[0]->how == CHANGE_KIND;
}

static void text_fault(const struct telling *t, size_t i, bool again)
{
	const struct cause_fault *f = &t->r->cause.faults[i];
	const struct show *s = &t->show;

	if (i) {
		show_outcome(show_line(s, "and then"), f->error);
		showing_end(s->out);
	}
	if (f->npast) {
		show_line(s, "cause");
		emit_blamed(t, f, s->out->sink);
		showing_end(s->out);
	}
	text_because(t, f, again);
	if (f->npast && !again && !opens_another(&t->r->cause)) {
		show_line(s, "fix");
		emit_changes(t, f->past, f->npast, NULL, s->out->sink);
		showing_end(s->out);
	}
}

static void text_others(const struct telling *t)
{
	const struct cause *c = &t->r->cause;

	if (!c->nothers)
		return;
	show_line(&t->show, "or one of");
	for (size_t i = 0; i < c->nothers; i++) {
		if (i)
			buf_adds(&t->show.out->line, " ");
		text_sink_top(&t->show.out->text, true, NULL);
		emit_changes(t, &c->others[i], 1, NULL, t->show.out->sink);
	}
	showing_end(t->show.out);
}

static void text_blocks(const struct telling *t)
{
	struct buf words = { 0 };

	for (enum why_block b = 0; b < WHY_BLOCKS; b++) {
		if (!t->r->blocked[b])
			continue;
		buf_reset(&words);
		block_words(t, b, &words);
		text_escaped(show_line(&t->show, "blocked by"), buf_str(&words));
		showing_end(t->show.out);
	}
	buf_free(&words);
}

static void text_seen(const struct telling *t)
{
	const struct why_seen *seen = t->seen;
	struct buf *out;

	if (t->c->from_dump && t->c->returned) {
		out = show_line(&t->show, seen->times ? "in the command" : "in the dump");
		show_seen(out, t->c);
		if (seen->times > 1)
			buf_addf(out, ", %u times", seen->times);
		showing_end(t->show.out);
	}
	if (seen->instead) {
		out = show_line(&t->show, "a probe");
		text_escaped(out, seen->instead);
		buf_addf(out, " opened instead; it differs in %s",
			 *seen->differs ? seen->differs : "nothing");
		showing_end(t->show.out);
	}
}

static void text_verdict(const struct telling *t)
{
	const struct why_result *r = t->r;
	struct buf *out = show_line(&t->show, "verdict");

	if (r->not_tried)
		buf_addf(out, "cannot be tried here: %s", r->not_tried);
	else if (!r->cause.error)
		buf_adds(out, "the call opens here");
	else if (!r->cause.n && r->simplest)
		buf_adds(out, "even the simplest call is refused: no change was tried");
	else if (!r->cause.n)
		buf_adds(out, "no change opens it");
	else
		buf_addf(out, "%s", r->cause.nfaults > 1 ? "several causes were found" :
							    "the cause was found");
	if (r->there)
		buf_addf(out, "; there, it may have been rule %s: %s", r->there->name,
			 r->there->meaning);
	if (r->cause.gave_up && !r->cause.n)
		buf_adds(out, "; the limit of experiments was reached");
	showing_end(t->show.out);
}

/* Return whether the call opens here, or did after a change that leaves its event the same. */
static bool event_opens(const struct why_result *r)
{
	return !r->not_tried && (!r->cause.error || (r->cause.n && !opens_another(&r->cause)));
}

/* Return whether another call of the command was refused for the same causes. */
static bool told_before(const struct telling *t)
{
	const struct cause *c = &t->r->cause;
	uint64_t h = HASH_START;

	if (!t->seen->told || !c->n)
		return false;
	for (size_t i = 0; i < c->nfaults; i++) {
		const struct cause_fault *f = &c->faults[i];

		h = hash_text(h, f->rule ? f->rule->name : "?");
		for (size_t k = 0; k < f->npast; k++)
			h = hash_text(h, change_name(f->past[k]));
	}
	return map_set(t->seen->told, h, t->seen->told);
}

static void why_text(const struct telling *t)
{
	const struct why_result *r = t->r;
	bool again = told_before(t);
	struct call nearest;

	show_call(&t->show, t->c->label, &t->c->call, (int)t->c->call.ret);
	text_seen(t);
	for (size_t i = 0; i < r->cause.nfaults; i++)
		text_fault(t, i, again);
	if (again)
		return;
	text_others(t);
	text_blocks(t);
	text_verdict(t);
	if (r->cause.n) {
		make_call(t, &r->nearest, &nearest);
		show_call(&t->show, opens_another(&r->cause) ? "  another event opens" :
			  "  works", &nearest, 0);
		call_free(&nearest);
	}
	if (event_opens(r))
		show_doubt(&t->show);
	buf_addf(show_line(&t->show, "experiments"), "%u", r->cause.trials);
	showing_end(t->show.out);
}

/* JSON ------------------------------------------------------------------------------------- */

static void json_names(const struct change *const *set, size_t n, const char *key,
		       struct sink *k)
{
	k->ops->begin(k, key, SINK_ARRAY);
	for (size_t i = 0; i < n; i++)
		k->ops->symbol(k, NULL, change_name(set[i]));
	k->ops->end(k);
}

static void json_fault(const struct telling *t, const struct cause_fault *f, struct sink *k)
{
	struct word words[BLAMED];
	size_t n = blamed(t, f, words);
	struct buf name = { 0 };

	k->ops->begin(k, NULL, SINK_OBJECT);
	show_json_outcome(&t->show, f->error);
	k->ops->begin(k, "blame", SINK_ARRAY);
	for (size_t i = 0; i < n; i++) {
		buf_reset(&name);
		buf_add(&name, words[i].at, words[i].len);
		k->ops->symbol(k, NULL, buf_str(&name));
	}
	k->ops->end(k);
	buf_free(&name);
	emit_changes(t, f->past, f->npast, "helps", k);
	if (f->rule) {
		show_json_rule(&t->show, f->rule, k);
		json_add_bool(&t->show.out->object, "sure", f->sure);
	}
	k->ops->end(k);
}

static void json_blocks(const struct telling *t, struct sink *k)
{
	struct buf words = { 0 };

	k->ops->begin(k, "blocked", SINK_ARRAY);
	for (enum why_block b = 0; b < WHY_BLOCKS; b++) {
		if (!t->r->blocked[b])
			continue;
		buf_reset(&words);
		block_words(t, b, &words);
		k->ops->begin(k, NULL, SINK_OBJECT);
		k->ops->symbol(k, "by", block_names[b]);
		k->ops->symbol(k, "words", buf_str(&words));
		k->ops->end(k);
	}
	k->ops->end(k);
	buf_free(&words);
}

static void json_seen(const struct telling *t, struct sink *k)
{
	const struct why_seen *seen = t->seen;

	if (t->c->from_dump && t->c->returned) {
		k->ops->begin(k, seen->times ? "command" : "dump", SINK_OBJECT);
		show_json_outcome(&t->show, t->c->error);
		if (t->c->injected)
			k->ops->uint(k, "injected", 1);
		if (seen->times)
			k->ops->uint(k, "times", seen->times);
		k->ops->end(k);
	}
	if (seen->instead) {
		k->ops->begin(k, "probe", SINK_OBJECT);
		k->ops->symbol(k, "instead", seen->instead);
		k->ops->symbol(k, "differs", seen->differs);
		k->ops->end(k);
	}
}

static void json_nearest(const struct telling *t, struct sink *k)
{
	const struct cause *c = &t->r->cause;
	struct call nearest;

	if (!c->n)
		return;
	json_names(c->changes, c->n, "changes", k);
	k->ops->begin(k, "others", SINK_ARRAY);
	for (size_t i = 0; i < c->nothers; i++)
		emit_changes(t, &c->others[i], 1, NULL, k);
	k->ops->end(k);
	make_call(t, &t->r->nearest, &nearest);
	k->ops->begin(k, "works", SINK_OBJECT);
	show_json_call(&t->show, &nearest, k);
	k->ops->end(k);
	call_free(&nearest);
}

static void why_json(const struct telling *t)
{
	const struct why_result *r = t->r;
	struct sink *k = show_json_begin(&t->show);

	json_seen(t, k);
	if (r->not_tried) {
		k->ops->symbol(k, "not_tried", r->not_tried);
	} else {
		k->ops->begin(k, "kernel", SINK_OBJECT);
		show_json_outcome(&t->show, r->cause.error);
		k->ops->end(k);
	}
	k->ops->begin(k, "faults", SINK_ARRAY);
	for (size_t i = 0; i < r->cause.nfaults; i++)
		json_fault(t, &r->cause.faults[i], k);
	k->ops->end(k);
	json_nearest(t, k);
	json_blocks(t, k);
	k->ops->symbol(k, "verdict", why_verdict(r));
	if (r->there)
		k->ops->symbol(k, "perhaps", r->there->name);
	if (event_opens(r))
		show_doubt(&t->show);
	k->ops->uint(k, "experiments", r->cause.trials);
	showing_end(t->show.out);
}

void why_show(struct judge *k, const struct judge_call *c, const struct why_result *r,
	      const struct why_seen *seen)
{
	const struct telling t = {
		.show = { .out = &k->out, .machine = &k->machine, .facts = &k->facts, .c = c,
			  .instruments = &k->instruments },
		.c = c, .r = r, .seen = seen,
	};

	if (k->out.json)
		why_json(&t);
	else
		why_text(&t);
}
