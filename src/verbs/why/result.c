// SPDX-License-Identifier: LGPL-2.1-or-later
/* How the results of experiments are shown: causes, the changes that help, obstacles. */
#include <stdlib.h>

#include "core/abi/attr_member.h"
#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/judge/flaws.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "verbs/measure/refusal.h"
#include "verbs/why/why_internal.h"

/* Changed calls and members ----------------------------------------------------------- */

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

	if (!f->npast)
		return f->rule ? fields_of(s, f->rule, out) : 0;
	for (size_t i = 0; i < f->npast; i++)
		about |= rules_place(f->rule, change_name(f->past[i])) >= 0;
	if (!about)
		return fields_of(s, f->rule, out);
	for (size_t i = 0; i < f->npast; i++)
		out[i] = (struct member_name){ change_name(f->past[i]),
					strlen(change_name(f->past[i])) };
	return f->npast;
}

/* Causes ------------------------------------------------------------------------------ */

/* Show what is wrong, in a line for each fault, with the number of other calls refused alike. */
static void text_faults(const struct show *s)
{
	for (size_t i = 0; i < s->r->cause.nfaults; i++) {
		const struct cause_fault *f = &s->r->cause.faults[i];
		struct member_name words[BLAMED];
		size_t n = blamed(s, f, words);

		if (i) {
			show_line(s, COLOR_NONE, "and then");
		} else {
			showing_begin(s->out, false);
			show_add_label(s, &s->out->line);
			if (s->times > 1)
				buf_addf(&s->out->line, " and %u more", s->times - 1);
			buf_adds(&s->out->line, ": ");
			show_heading(s, COLOR_ERROR, "cause");
		}
		if (n) {
			sink_begin(s->out->sink, NULL, SINK_OBJECT);
			for (size_t w = 0; w < n; w++)
				emit_member(s, &s->c->call, words[w].at, words[w].len);
			sink_end(s->out->sink);
			buf_adds(&s->out->line, ": ");
		}
		if (s->r->simplest)
			buf_addf(&s->out->line, "even the simplest call is refused (%s)",
				 error_name(f->error));
		else
			show_add_reason(s, f->rule, f->sure, f->error);
		showing_end(s->out);
	}
}

/* Append the changes as a difference, " +exclude_kernel=1", which -e takes with commas for " +". */
static void add_difference(const struct show *s, struct buf *out)
{
	struct call nearest;

	make_call(s, &s->r->nearest, &nearest);
	for (size_t i = 0; i < s->r->cause.n; i++) {
		const char *name = change_name(s->r->cause.changes[i]);

		buf_addf(out, "%s+%s=", i ? " " : "", name);
		text_sink_top(&s->out->text, false, NULL);
		emit_member(s, &nearest, name, strlen(name));
	}
	call_free(&nearest);
}

/* Append the options of why and open that name the changed call: "-e cpu-clock:u -C 0". */
static void add_options(const struct show *s, struct buf *out)
{
	const struct rule_ask *a = &s->r->nearest.ask;
	uint64_t flags = a->flags & ~(uint64_t)PERF_FLAG_PID_CGROUP;
	struct event_spec *e = xcalloc(1, sizeof(*e));
	struct buf text = { 0 };

	memcpy(e->attr.label, s->c->label, sizeof(e->attr.label));
	e->attr.len = a->len;
	memcpy(e->attr.bytes, a->attr, a->len);
	event_text(&text, s->k->machine.host, &s->k->machine.names, e);
	refusal_add_options(out, buf_str(&text), a->pid, a->cpu,
			    a->flags == flags ? NULL : s->k->cgroup);
	if (flags)
		buf_addf(out, " --flags=0x%llx", (unsigned long long)flags);
	buf_free(&text);
	free(e);
}

void show_remedy(const struct show *s, const struct rule_desc *rule)
{
	struct buf words = { 0 };

	if (!s->c->remedy.len)
		here_add_remedy(s, rule, false, &words);
	if (words.len || s->c->remedy.len) {
		buf_adds(show_line(s, COLOR_GOOD, "fix"),
			 buf_str(words.len ? &words : &s->c->remedy));
		showing_end(s->out);
	}
	buf_free(&words);
}

static void text_flaw(const struct show *s, const struct flaw_desc *d)
{
	buf_addf(show_line(s, COLOR_WARNING, "but"), "%s: %s (flaw %s)", d->consequence, d->meaning,
		 d->name);
	showing_end(s->out);
}

void show_fix(const struct show *s)
{
	const struct cause *c = &s->r->cause;
	const struct why_fix *f = &s->r->fix;
	const struct cause_fault *last = &c->faults[c->nfaults - 1];
	struct buf requires = { 0 }, *out = show_line(s, COLOR_GOOD, "fix");

	here_add_required(s, &requires);
	if (f->advice) {
		buf_adds(out, f->advice);
	} else if (f->measures && !c->changes[0]->field && !c->changes[0]->arg) {
		buf_addf(out, "pass an address where %zu bytes can be read", s->r->nearest.ask.len);
	} else if (f->measures) {
		emit_changes(s, c->changes, c->n, NULL);
		if (s->r->ask.cpu == -1 && s->r->nearest.ask.cpu != -1)
			buf_adds(out, REMEDY_EACH_CPU);
		for (size_t i = 0; i < c->nothers && !s->k->quiet; i++) {
			buf_adds(out, i ? " " : c->nothers > 1 ? ", or one of " : ", or ");
			text_sink_top(&s->out->text, false, NULL);
			emit_changes(s, &c->others[i], 1, NULL);
		}
	} else if (f->with_rights) {
		emit_changes(s, &f->with_rights, 1, NULL);
		buf_addf(out, "%s, which requires %s", strcmp(change_name(f->with_rights), "cpu") ?
			 "" : REMEDY_EACH_CPU, buf_str(&requires));
	} else if (requires.len) {
		buf_addf(out, "requires %s", buf_str(&requires));
	} else if (!last->rule || !here_add_remedy(s, last->rule, true, out)) {
		buf_adds(out, "no change of the call makes it measure this here");
	}
	showing_end(s->out);
	/* its address is what it was */
	if (!s->k->quiet && c->n && !f->advice && (c->changes[0]->field || c->changes[0]->arg)) {
		out = show_line(s, f->measures ? COLOR_GOOD : COLOR_WARNING,
				f->measures && s->r->by_rules ? "would work" :
				f->measures ? "works" :
				f->another ? "another event opens" : "opens instead");
		if (f->another)
			text_escaped(out, buf_str(&f->instead));
		else if (s->c->by_name && s->r->nearest.ask.group_fd == -1 && !s->c->strings[0].len)
			add_options(s, out);
		else
			add_difference(s, out);
		if (!f->another && f->instead.len && !f->measures)
			buf_addf(out, ", %s", buf_str(&f->instead));
		showing_end(s->out);
		if (f->measures && f->flaw)
			text_flaw(s, f->flaw);
	}
	if (f->measures && requires.len) {
		buf_addf(show_line(s, COLOR_NONE, "unchanged"), "requires %s", buf_str(&requires));
		showing_end(s->out);
	}
	buf_free(&requires);
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

static void json_probe(const struct show *s)
{
	const struct why_failed *seen = s->seen;

	if (!seen || !seen->instead)
		return;
	sink_begin(s->out->sink, seen->same ? "probe" : "fallback", SINK_OBJECT);
	sink_symbol(s->out->sink, "instead", seen->instead);
	sink_symbol(s->out->sink, "differs", seen->differs);
	sink_end(s->out->sink);
}

void show_blocks(const struct show *s)
{
	struct sink *k = s->out->sink;

	if (s->out->json)
		sink_begin(k, "blocked", SINK_ARRAY);
	for (enum why_block b = 0; b < BLOCKS; b++) {
		bool named = b == BLOCK_PMU || ((s->r->fix.lacks || s->r->fix.measures) &&
						(b == BLOCK_PARANOID || b == BLOCK_CAPABILITY));
		struct buf words = { 0 };
		const char *name = s->r->blocked[b] ? here_add_block(s, b, &words) : NULL;

		if (name && s->out->json) {
			sink_begin(k, NULL, SINK_OBJECT);
			sink_symbol(k, "by", name);
			sink_symbol(k, "words", buf_str(&words));
			sink_end(k);
		} else if (name && !named) {
			show_line(s, COLOR_NONE, s->r->fix.measures ? "unchanged" : "blocked by");
			text_escaped(&s->out->line, buf_str(&words));
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

/* Write that it opens, and what it would require without the capabilities of this process. */
static void opens_words(const struct why_result *r, struct buf *out)
{
	struct rule_facts facts = *r->ask.facts;
	struct rule_ask ask = r->ask;
	struct judge_rights rights;

	buf_adds(out, "the call opens here");
	facts.machine.caps = facts.machine.caps_unread = 0;
	ask.facts = &facts;
	if (!judge_rights(&ask, &rights))
		return;
	buf_adds(out, "; an ordinary user requires ");
	refusal_requires(&rights, out);
}

static void result_words(const struct show *s, struct buf *out)
{
	const struct why_result *r = s->r;

	if (s->c->from_log && !s->c->error)
		buf_adds(out, "it opened in the log, so there is nothing to explain");
	else if (r->not_tried)
		buf_addf(out, "cannot be tried here: %s", r->not_tried);
	else if (!r->cause.error)
		opens_words(r, out);
	else if (!r->cause.n)
		buf_adds(out, "no change opens it");
	else
		buf_addf(out, "%s%s", is_sure(&r->cause) ? "" : "perhaps ",
			 r->cause.nfaults > 1 ? "several causes were found" :
						"the cause was found");
}

static void json_verdict(const struct show *s)
{
	const struct why_result *r = s->r;
	struct sink *k = s->out->sink;
	struct buf requires = { 0 };
	struct call nearest;

	sink_symbol(k, "verdict", r->not_tried ? "not_tried" : !r->cause.error ? "opens" :
		    r->cause.n ? "cause" : r->found ? "blocked" : "not_found");
	json_add_bool(&s->out->object, "sure", is_sure(&r->cause));
	here_add_required(s, &requires);
	if (requires.len)
		sink_symbol(k, "requires", buf_str(&requires));
	buf_free(&requires);
	if (r->fix.with_rights)
		emit_changes(s, &r->fix.with_rights, 1, "with");
	if (r->fix.flaw)
		sink_symbol(k, "flaw", r->fix.flaw->name);
	if (r->there)
		sink_symbol(k, "perhaps", r->there->name);
	if (s->k->quiet || !r->cause.n)
		return;
	make_call(s, &r->nearest, &nearest);
	sink_begin(k, "works", SINK_OBJECT);
	show_json_call(s, &nearest);
	sink_end(k);
	json_add_bool(&s->out->object, "measures", r->fix.measures);
	if (r->fix.instead.len)
		sink_symbol(k, "instead", buf_str(&r->fix.instead));
	call_free(&nearest);
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
	buf_addf(show_line(s, COLOR_NONE, "experiments"), "%u", c->trials);
	if (s->r->fix.counted != FIX_NOT_TRIED)
		buf_addf(&s->out->line, "; what opens counted %llu in a trial",
			 (unsigned long long)s->r->fix.counted);
	showing_end(s->out);
}

static void text_flaws(const struct show *s)
{
	const struct flaw_desc *d;
	size_t at = 0;

	while ((d = flaw_next(&s->r->ask, &at)))
		text_flaw(s, d);
}

/* Say what a number in a log means on this machine, as it may be another one. */
static void text_guess(const struct show *s)
{
	struct buf words = { 0 };

	if (machine_add_guess(&s->k->machine, s->c->attr, s->c->len, &words)) {
		buf_adds(show_line(s, COLOR_NONE, "guess"), buf_str(&words));
		showing_end(s->out);
	}
	buf_free(&words);
}

static void text_result(const struct show *s)
{
	const struct why_result *r = s->r;
	const struct cause *c = &r->cause;

	text_faults(s);
	if (!c->nfaults) {
		showing_begin(s->out, false);
		show_add_label(s, &s->out->line);
		buf_adds(&s->out->line, ": ");
		if (r->there || (s->c->from_log && s->c->error))
			show_add_cause(s, r->there, s->c->there_sure, s->c->error);
		else
			result_words(s, &s->out->line);
		showing_end(s->out);
	}
	if (r->there)
		show_remedy(s, r->there);
	if (c->error && !r->simplest)
		show_fix(s);
	else if (!c->error && !r->not_tried)
		text_flaws(s);
	/* Name the other events that are refused for the same cause, with the same fix. */
	for (size_t i = 0; i < s->nalike; i++) {
		const struct show other = { .k = s->k, .c = s->alike[i]->c };

		buf_adds(i ? &s->out->line : show_line(s, COLOR_NONE, "alike"), i ? ", " : "");
		show_add_label(&other, &s->out->line);
	}
	if (s->nalike)
		showing_end(s->out);
	text_guess(s);
	show_with_pmu(s);
	if (s->out->text.sink.full ||
	    (!s->c->from_log && (r->not_tried || s->c->injected || s->c->error != c->error)))
		show_seen(s);
	show_blocks(s);
	if (!s->c->from_log &&
	    (r->there || (c->nfaults && !r->simplest && (r->not_tried || !is_sure(c))))) {
		result_words(s, show_line(s, COLOR_NONE, "verdict"));
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
	json_probe(s);
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
	show_with_pmu(s);
	show_blocks(s);
	json_verdict(s);
}

void show_result(const struct show *s)
{
	const struct cause *c = &s->r->cause;

	if (s->out->json)
		json_result(s);
	else
		text_result(s);
	if (!s->r->not_tried && (!c->error || s->r->fix.measures))
		show_doubt(s);
	if (!s->out->json)
		return;
	if (!s->k->quiet)
		sink_uint(s->out->sink, "experiments", c->trials);
	showing_end(s->out);
}

/* Return what two calls have in common that are told in one paragraph; 0: nothing. */
static uint64_t cause_hash(const struct why_kept *k)
{
	const struct cause *c = &k->r->cause;
	const struct why_fix *f = &k->r->fix;
	uint64_t h = hash_text(HASH_START, f->flaw ? f->flaw->name : f->another ? "another" : "");

	for (size_t i = 0; i < c->nfaults; i++) {
		h = hash_text(h, c->faults[i].rule ? c->faults[i].rule->name : "?");
		for (size_t n = 0; n < c->faults[i].npast; n++)
			h = hash_text(h, change_name(c->faults[i].past[n]));
	}
	for (size_t i = 0; i < c->n && !f->another; i++)
		h = hash_text(h, change_name(c->changes[i]));
	h = hash_text(h, k->c->error == c->error ? "" : "differs");
	return c->nfaults ? h : 0;
}

void why_result_free(struct why_result *r)
{
	if (!r)
		return;
	change_list_free(&r->changes);
	buf_free(&r->fix.instead);
	free(r);
}

void show_measured(struct why *k, const char *name, const struct why_failures *l)
{
	const struct show s = { .k = k, .out = &k->out };
	struct buf probes = { 0 };

	showing_begin(s.out, false);
	text_escaped(&s.out->line, scan_base_name(name));
	buf_adds(&s.out->line, l->measured.len ? ": measured " : ": measured nothing");
	text_escaped(&s.out->line, buf_str(&l->measured));
	showing_end(s.out);
	for (const char *p = buf_str(&l->fallbacks); *p; p += strcspn(p, "\n"), p += *p == '\n') {
		buf_addf(show_line(&s, COLOR_NONE, "fell back"), "%.*s", (int)strcspn(p, "\n"), p);
		showing_end(s.out);
	}
	for (size_t i = 0; i < l->n && k->hide_probes; i++) {
		const struct show one = { .k = k, .c = &l->list[i]->call };
		struct buf name = { 0 };

		show_add_label(&one, &name);
		if (l->list[i]->probe && !strstr(buf_str(&probes), buf_str(&name)))
			buf_addf(&probes, "%s%s", probes.len ? ", " : "", buf_str(&name));
		buf_free(&name);
	}
	if (probes.len) {
		buf_addf(show_line(&s, COLOR_NONE, "probes"),
			 "%s: refused in tests of what opens; see -v", buf_str(&probes));
		showing_end(s.out);
	}
	buf_free(&probes);
}

/* In which order results are shown: events that measure, dummies, probes. */
enum { KEPT_DUMMY = 1, KEPT_PROBE };

static int kept_rank(const struct why_kept *k)
{
	const struct layout *l = &layout_perf_event_attr;

	if (k->seen && k->seen->probe)
		return KEPT_PROBE;
	return k->seen && layout_get(l, ATTR_TYPE, k->c->attr, k->c->len) == PERF_TYPE_SOFTWARE &&
	       layout_get(l, ATTR_CONFIG, k->c->attr, k->c->len) == PERF_COUNT_SW_DUMMY;
}

/* Show a result with those that are refused alike, unless it is a probe that is hidden. */
static void show_with_alike(struct why *k, size_t i, const struct why_kept **alike)
{
	struct why_kept *one = &k->kept[i];
	struct show s = {
		.k = k, .out = &k->out, .c = one->c, .r = one->r, .seen = one->seen,
		.alike = alike, .times = one->times,
	};

	for (size_t n = i + 1; n < k->nkept && one->hash; n++) {
		struct why_kept *other = &k->kept[n];

		if (!other->r || other->hash != one->hash || kept_rank(other) != kept_rank(one))
			continue;
		alike[s.nalike++] = other;
		s.times += other->times;
		why_result_free(other->r);
		other->r = NULL;
	}
	k->facts.rules.target = one->target;
	if (kept_rank(one) != KEPT_PROBE || !k->hide_probes)
		show_result(&s);
	why_result_free(one->r);
	one->r = NULL;
}

void show_kept(struct why *k)
{
	const struct why_kept **alike = xcalloc(k->nkept + 1, sizeof(*alike));

	progress_end(&k->progress);
	for (size_t i = 0; i < k->nkept; i++)
		k->kept[i].hash = cause_hash(&k->kept[i]);
	for (int rank = 0; rank <= KEPT_PROBE; rank++)
		for (size_t i = 0; i < k->nkept; i++)
			if (k->kept[i].r && kept_rank(&k->kept[i]) == rank)
				show_with_alike(k, i, alike);
	free(alike);
	free(k->kept);
	k->kept = NULL;
	k->nkept = 0;
}
