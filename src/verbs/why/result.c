// SPDX-License-Identifier: LGPL-2.1-or-later
/* How the results of experiments are shown: causes, the changes that help, obstacles. */
#include <string.h>

#include "core/abi/attr_member.h"
#include "core/abi/layout.h"
#include "core/abi/siginfo.h"
#include "core/abi/strings.h"
#include "core/judge/flaws.h"
#include "core/lib/hash.h"
#include "core/model/event_name.h"
#include "verbs/why/why_internal.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Changed calls and members ----------------------------------------------------------- */

/* Write the member or argument of that name with its value in the call. */
static void emit_member(const struct show *s, const struct call *c, const char *name, size_t len)
{
	struct walk w = show_walk(s, c);

	judge_emit(&w, c, name, len, s->out->sink);
}

/* Fill in the changed call as a trace would contain it; the caller frees it with call_free(). */
static void make_call(const struct show *s, const struct change_call *from, struct call *to)
{
	const struct call *given = &s->c->call;
	struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = from->attr, .len = from->ask.len,
		.names = &s->k->machine.names,
	};
	uint8_t attr[CHANGE_ATTR_MAX];
	const uint8_t *was;
	const struct field *f;
	size_t at = 0, was_len;

	*to = (struct call){
		.desc = given->desc, .arch = given->arch, .before = given, .returned = true,
	};
	to->args[0] = given->args[0] ? given->args[0] : WHY_ATTR_AT;
	to->args[1] = (uint64_t)(int64_t)from->ask.pid;
	to->args[2] = (uint64_t)(int64_t)from->ask.cpu;
	to->args[3] = (uint64_t)(int64_t)from->ask.group_fd;
	to->args[4] = from->ask.flags;
	memcpy(attr, from->attr, sizeof(attr));
	was = call_bytes(given, AT_SYSCALL_ENTER, given->args[0], WHY_ATTR_MAX, &was_len);
	/* why_call_prepare() let them point to memory of pevtrace */
	while ((f = layout_next(&w, &at))) {
		const char *text = (const char *)(uintptr_t)field_get(f, w.bytes, w.len);

		if (f->kind != FIELD_STRING || !text)
			continue;
		for (size_t i = 0; i < ATTR_TEXT_STRINGS; i++) {
			if (text != s->c->strings[i].data && text != s->r->exe)
				continue;
			/* an unchanged one keeps its address */
			if (text != s->r->exe && was)
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
static void emit_changes(const struct show *s, const struct change *const *set, size_t n,
			 const char *key)
{
	struct sink *k = s->out->sink;
	struct change_call changed;
	struct call call;

	change_make(&changed, &s->r->ask, set, n);
	make_call(s, &changed, &call);
	sink_begin(k, key, SINK_OBJECT);
	for (size_t i = 0; i < n; i++) {
		const char *name = change_name(set[i]);

		emit_member(s, &call, name, strlen(name));
	}
	sink_end(k);
	call_free(&call);
}

enum { BLAMED = 16 };

struct member_name { const char *at; size_t len; };

/* List the fields of the rule that the call set; all of them if it set none. */
static size_t fields_of(const struct show *s, const struct rule_desc *d, struct member_name *out)
{
	size_t all = 0, n = 0;
	struct member_name words[BLAMED];

	for (const char *p = d->fields; *p && all < BLAMED; p += *p == ',') {
		words[all++] = (struct member_name){ p, strcspn(p, ",") };
		p += words[all - 1].len;
	}
	for (size_t i = 0; i < all; i++) {
		const struct field *f = attr_member(words[i].at, words[i].len);

		if (!f || field_get(f, s->r->ask.attr, s->r->ask.len))
			out[n++] = words[i];
	}
	if (n)
		return n;
	memcpy(out, words, all * sizeof(*out));
	return all;
}

/*
 * List the members and arguments that cause the refusal: those that have to be changed, or
 * the fields of the rule if none of these is among them.
 */
static size_t blamed(const struct show *s, const struct cause_fault *f, struct member_name *out)
{
	/* bits newer than this release count as reserved; the rule does not list their members */
	bool about = !f->rule || !f->sure || !*f->rule->fields ||
		     f->rule->id == RULE_RESERVED_BITS;

	for (size_t i = 0; i < f->npast; i++)
		about |= rules_place(f->rule, change_name(f->past[i])) >= 0;
	if (!about && f->npast)
		return fields_of(s, f->rule, out);
	for (size_t i = 0; i < f->npast; i++)
		out[i] = (struct member_name){ change_name(f->past[i]),
					strlen(change_name(f->past[i])) };
	return f->npast;
}

/* Causes ------------------------------------------------------------------------------ */

/* Return whether the change opens another event, which is no remedy. */
static bool opens_another(const struct show *s)
{
	for (size_t i = 0; i < s->r->cause.n; i++)
		if (s->r->cause.changes[i]->how == CHANGE_KIND)
			return true;
	return false;
}

/* Show what is wrong, in a line for each fault. */
static void text_faults(const struct show *s)
{
	for (size_t i = 0; i < s->r->cause.nfaults; i++) {
		const struct cause_fault *f = &s->r->cause.faults[i];
		struct member_name words[BLAMED];
		size_t n = blamed(s, f, words);

		if (i) {
			show_line(s, s->again ? "and then as above" : "and then");
		} else {
			showing_begin(s->out, false);
			show_add_label(s, &s->out->line);
			buf_adds(&s->out->line, s->again ? ": as above: " : ": cause: ");
		}
		if (f->npast) {
			sink_begin(s->out->sink, NULL, SINK_OBJECT);
			for (size_t w = 0; w < n; w++)
				emit_member(s, &s->c->call, words[w].at, words[w].len);
			sink_end(s->out->sink);
			buf_adds(&s->out->line, ": ");
		}
		show_add_reason(s, f->rule, f->sure, f->error);
		showing_end(s->out);
	}
}

/* Return what is wrong with the event that opens, and was not wrong with the one asked for. */
static const struct flaw_desc *fix_flaw(const struct show *s)
{
	const struct flaw_desc *d;
	size_t at = 0;

	while (s->r->cause.n && (d = flaw_next(&s->r->nearest.ask, &at)))
		if (d->severity == FLAW_ERROR && !open_meets(d->condition, &s->r->ask))
			return d;
	return NULL;
}

/* Return whether most bytes of the attr are set, as in memory that nobody has written. */
static bool looks_uninitialised(const struct rule_ask *ask)
{
	size_t set = 0;

	for (size_t i = 0; i < ask->len; i++)
		set += ask->attr[i] != 0;
	return set * 4 > ask->len * 3;
}

/* Return whether the address of the attr has to be another one. */
static bool changes_address(const struct cause *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (!c->changes[i]->field && !c->changes[i]->arg)
			return true;
	return false;
}

/* Return what to do where no values of members are a fix; NULL: they are. */
static const char *other_fix(const struct show *s)
{
	const struct cause *c = &s->r->cause;

	if (looks_uninitialised(&s->r->ask))
		return "the attr looks uninitialised: memset(&attr, 0, sizeof(attr)) before it is filled";
	if (!c->n && c->gave_up)
		return "not found: the limit of experiments was reached";
	return !c->n || opens_another(s) ? "no change of the call makes it measure this here" : NULL;
}

/* Show the smallest change that opens it, and the others that do; or that none helps. */
static void text_fix(const struct show *s)
{
	const struct cause *c = &s->r->cause;
	const struct flaw_desc *wrong = fix_flaw(s);

	show_line(s, "fix");
	if (changes_address(c) || other_fix(s)) {
		if (other_fix(s))
			buf_adds(&s->out->line, other_fix(s));
		else
			buf_addf(&s->out->line, "pass an address where %zu bytes can be read",
				 s->r->nearest.ask.len);
		showing_end(s->out);
		return;
	}
	if (wrong)
		buf_adds(&s->out->line, "no change of the call; it opens with ");
	emit_changes(s, c->changes, c->n, NULL);
	if (s->r->ask.cpu == -1 && s->r->nearest.ask.cpu != -1)
		buf_adds(&s->out->line, ", and so on: one event for each CPU");
	else if (s->r->ask.pid != s->r->nearest.ask.pid)
		buf_adds(&s->out->line, ", which measures the calling task instead");
	if (wrong)
		buf_addf(&s->out->line, ", but %s: %s (flaw %s)", wrong->consequence,
			 wrong->meaning, wrong->name);
	for (size_t i = 0; i < c->nothers && !s->k->quiet; i++) {
		buf_adds(&s->out->line, i ? " " : c->nothers > 1 ? ", or one of " : ", or ");
		text_sink_top(&s->out->text, false, NULL);
		emit_changes(s, &c->others[i], 1, NULL);
	}
	showing_end(s->out);
}

/* Show what opens, as a difference to the call; with -v all of it. */
static void text_works(const struct show *s)
{
	const struct cause *c = &s->r->cause;
	struct call nearest;

	if (s->k->quiet || !c->n || (!opens_another(s) &&
					    (fix_flaw(s) || changes_address(c) || other_fix(s))))
		return;
	make_call(s, &s->r->nearest, &nearest);
	show_line(s, opens_another(s) ? "another event opens" : "works");
	if (opens_another(s))
		event_name(s->r->nearest.attr, s->r->nearest.ask.len, &s->k->machine.names,
			   &s->out->line);
	else
		show_add_label(s, &s->out->line);
	for (size_t i = 0; i < c->n && !opens_another(s); i++) {
		const char *name = change_name(c->changes[i]);

		buf_addf(&s->out->line, " +%s=", name);
		text_sink_top(&s->out->text, false, NULL);
		emit_member(s, &nearest, name, strlen(name));
	}
	showing_end(s->out);
	call_free(&nearest);
}

static void json_fault(const struct show *s, const struct cause_fault *f)
{
	struct sink *k = s->out->sink;
	struct member_name words[BLAMED];
	size_t n = blamed(s, f, words);
	struct buf name = { 0 };

	sink_begin(k, NULL, SINK_OBJECT);
	show_outcome(s, f->error);
	sink_begin(k, "blame", SINK_ARRAY);
	for (size_t i = 0; i < n; i++) {
		buf_reset(&name);
		buf_add(&name, words[i].at, words[i].len);
		sink_symbol(k, NULL, buf_str(&name));
	}
	sink_end(k);
	buf_free(&name);
	emit_changes(s, f->past, f->npast, "helps");
	if (f->rule) {
		show_rule_json(s, f->rule);
		json_add_bool(&s->out->object, "sure", f->sure);
	}
	sink_end(k);
}

static void show_probe(const struct show *s)
{
	const struct why_seen *seen = s->seen;
	struct sink *k = s->out->sink;

	if (!seen->instead)
		return;
	show_begin(s, "probe", "then", SINK_OBJECT);
	if (s->out->json) {
		sink_symbol(k, "instead", seen->instead);
		sink_symbol(k, "differs", seen->differs);
	} else {
		text_escaped(&s->out->line, seen->instead);
		buf_addf(&s->out->line, " opened instead; it differs in %s",
			 *seen->differs ? seen->differs : "nothing");
	}
	show_end(s);
}

static void show_blocks(const struct show *s)
{
	struct sink *k = s->out->sink;

	if (s->out->json)
		sink_begin(k, "blocked", SINK_ARRAY);
	for (enum why_block b = 0; b < BLOCKS; b++) {
		struct buf words = { 0 };
		const char *name = s->r->blocked[b] ? here_add_block(s, b, &words) : NULL;

		if (name && s->out->json) {
			sink_begin(k, NULL, SINK_OBJECT);
			sink_symbol(k, "by", name);
			sink_symbol(k, "words", buf_str(&words));
			sink_end(k);
		} else if (name) {
			text_escaped(show_line(s, "blocked by"), buf_str(&words));
			showing_end(s->out);
		}
		buf_free(&words);
	}
	if (s->out->json)
		sink_end(k);
}

/* The verdict ------------------------------------------------------------------------- */

/* Return whether no unknown fact could change the verdict. */
static bool is_sure(const struct cause *c)
{
	for (size_t i = 0; i < c->nfaults; i++)
		if (c->faults[i].rule && !c->faults[i].sure)
			return false;
	return true;
}

static void result_words(const struct show *s, struct buf *out)
{
	const struct why_result *r = s->r;

	if (r->not_tried)
		buf_addf(out, "cannot be tried here: %s", r->not_tried);
	else if (!r->cause.error)
		buf_adds(out, "the call opens here");
	else if (!r->cause.n && r->simplest)
		buf_adds(out, "even the simplest call is refused: no change was tried");
	else if (!r->cause.n)
		buf_adds(out, "no change opens it");
	else
		buf_addf(out, "%s%s", is_sure(&r->cause) ? "" : "perhaps ",
			 r->cause.nfaults > 1 ? "several causes were found" :
						"the cause was found");
	if (r->there)
		buf_addf(out, "; there, it may have been rule %s: %s", r->there->name,
			 r->there->meaning);
	if (r->cause.gave_up && !r->cause.n)
		buf_adds(out, "; the limit of experiments was reached");
}

static void json_verdict(const struct show *s)
{
	const struct why_result *r = s->r;
	struct sink *k = s->out->sink;
	struct call nearest;

	sink_symbol(k, "verdict", r->not_tried ? "not_tried" : !r->cause.error ? "opens" :
		    r->cause.n ? "cause" : r->found ? "blocked" : "not_found");
	json_add_bool(&s->out->object, "sure", is_sure(&r->cause));
	if (fix_flaw(s))
		sink_symbol(k, "flaw", fix_flaw(s)->name);
	if (r->there)
		sink_symbol(k, "perhaps", r->there->name);
	if (s->k->quiet || !r->cause.n)
		return;
	make_call(s, &r->nearest, &nearest);
	sink_begin(k, "works", SINK_OBJECT);
	show_json_call(s, &nearest);
	sink_end(k);
	call_free(&nearest);
}

/* Return whether another call of the command was refused for the same causes. */
static bool was_told(const struct show *s)
{
	const struct cause *c = &s->r->cause;
	uint64_t h = HASH_START;

	if (!s->seen->told || !c->n)
		return false;
	for (size_t i = 0; i < c->nfaults; i++) {
		const struct cause_fault *f = &c->faults[i];

		h = hash_text(h, f->rule ? f->rule->name : "?");
		for (size_t k = 0; k < f->npast; k++)
			h = hash_text(h, change_name(f->past[k]));
	}
	return map_set(s->seen->told, h, s->seen->told);
}

/* Show what the answer rests on: the call, what decides each rule, the call that opens. */
static void text_evidence(const struct show *s)
{
	const struct cause *c = &s->r->cause;
	struct call nearest;

	show_call(s, "  asked", &s->c->call, (int)s->c->call.ret);
	for (size_t i = 0; i < c->nfaults; i++)
		if (c->faults[i].rule)
			show_rule_text(s, c->faults[i].rule);
	if (c->n) {
		make_call(s, &s->r->nearest, &nearest);
		show_call(s, "  opens", &nearest, 0);
		call_free(&nearest);
	}
	buf_addf(show_line(s, "experiments"), "%u", c->trials);
	showing_end(s->out);
}

/* Show why the event, which opens, measures nothing. */
static void text_flaws(const struct show *s)
{
	const struct flaw_desc *d;
	size_t at = 0;

	while ((d = flaw_next(&s->r->ask, &at))) {
		buf_addf(show_line(s, "but"), "%s: %s (flaw %s)", d->consequence, d->meaning,
			 d->name);
		showing_end(s->out);
	}
}

static void text_result(struct show *s)
{
	const struct why_result *r = s->r;
	const struct cause *c = &r->cause;

	s->again = was_told(s);
	text_faults(s);
	if (s->again)
		return;
	if (!c->nfaults) {
		showing_begin(s->out, false);
		show_add_label(s, &s->out->line);
		buf_adds(&s->out->line, ": ");
		if (c->error) {
			error_text(c->error, &s->out->line);
			buf_adds(&s->out->line, ": ");
		}
		result_words(s, &s->out->line);
		showing_end(s->out);
	}
	if (c->error)
		text_fix(s);
	else if (!r->not_tried)
		text_flaws(s);
	text_works(s);
	show_seen(s);
	show_probe(s);
	show_blocks(s);
	if (c->nfaults && (!c->n || r->there || !is_sure(c))) {
		result_words(s, show_line(s, "verdict"));
		showing_end(s->out);
	}
	if (!s->k->quiet && s->out->text.sink.full)
		text_evidence(s);
}

static void json_result(const struct show *s)
{
	const struct cause *c = &s->r->cause;
	struct sink *k;

	show_head(s);
	k = s->out->sink;
	show_seen(s);
	show_probe(s);
	if (s->r->not_tried) {
		sink_symbol(k, "not_tried", s->r->not_tried);
	} else {
		sink_begin(k, "kernel", SINK_OBJECT);
		show_outcome(s, c->error);
		sink_end(k);
	}
	sink_begin(k, "faults", SINK_ARRAY);
	for (size_t i = 0; i < c->nfaults; i++)
		json_fault(s, &c->faults[i]);
	sink_end(k);
	if (c->n) {
		sink_begin(k, "changes", SINK_ARRAY);
		for (size_t i = 0; i < c->n; i++)
			sink_symbol(k, NULL, change_name(c->changes[i]));
		sink_end(k);
	}
	if (c->n && !s->k->quiet) {
		sink_begin(k, "others", SINK_ARRAY);
		for (size_t i = 0; i < c->nothers; i++)
			emit_changes(s, &c->others[i], 1, NULL);
		sink_end(k);
	}
	show_blocks(s);
	json_verdict(s);
}

void show_result(struct show *s)
{
	const struct cause *c = &s->r->cause;

	if (s->out->json)
		json_result(s);
	else
		text_result(s);
	/* an event that opens only as another is no remedy */
	if (!s->again && !s->r->not_tried && (!c->error || (c->n && !opens_another(s))))
		show_doubt(s);
	if (!s->out->json)
		return;
	if (!s->k->quiet)
		sink_uint(s->out->sink, "experiments", c->trials);
	showing_end(s->out);
}
