// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace list: the events that can be named on this machine. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/layout.h"
#include "abi/layout_emit.h"
#include "cli/machine.h"
#include "cli/options.h"
#include "cli/showing.h"
#include "cmd/cmd.h"
#include "explain/prose.h"
#include "host/event_syntax.h"
#include "host/event_words.h"
#include "host/host.h"
#include "host/pmu.h"
#include "lib/die.h"
#include "lib/pager.h"
#include "text/text_fit.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum list_kind {
	LIST_HARDWARE, LIST_SOFTWARE, LIST_CACHE, LIST_PMU, LIST_PFM, LIST_RAW, LIST_BREAKPOINT,
	LIST_TRACEPOINT, LIST_KINDS,
};

/* The words for kinds, of bpftrace and of perf list, and the headings. */
static const struct {
	const char *name, *perf, *title;
} kinds[LIST_KINDS] = {
	[LIST_HARDWARE] = { "hardware", "hw", "Hardware events" },
	[LIST_SOFTWARE] = { "software", "sw", "Software events" },
	[LIST_CACHE] = { "cache", "hwcache", "Cache events" },
	[LIST_PMU] = { "pmu", "pmu", "Events of PMUs" },
	[LIST_PFM] = { "pfm", "libpfm4", "Events of libpfm4" },
	[LIST_RAW] = { "raw", "raw", "Terms of PMUs, and raw events" },
	[LIST_BREAKPOINT] = { "breakpoint", "mem", "Breakpoints" },
	[LIST_TRACEPOINT] = { "tracepoint", "tracepoint", "Tracepoints" },
};

struct listed {
	enum list_kind kind;
	char *name, *also;	/* also: another name of the same event, or NULL */
	char *text;		/* what has the attr, if name is a form and no event; or NULL */
};

struct list {
	struct options options;
	struct machine machine;
	struct showing out;
	struct listed *events;
	size_t n;
};

/* Collecting ----------------------------------------------------------------------- */

static struct listed *list_add_event(struct list *l, enum list_kind kind, const char *name)
{
	l->events = xrealloc(l->events, (l->n + 1) * sizeof(*l->events));
	l->events[l->n] = (struct listed){ .kind = kind, .name = xstrdup(name) };
	return &l->events[l->n++];
}

static void list_add_form(struct list *l, const char *form, const char *text, enum list_kind kind)
{
	list_add_event(l, kind, form)->text = xstrdup(text);
}

/* Add a generic event, or another name of one that was added. */
static void on_word(void *ctx, const struct event_code *code, const char *name)
{
	enum list_kind kind = code->type == PERF_TYPE_HARDWARE ? LIST_HARDWARE :
			      code->type == PERF_TYPE_SOFTWARE ? LIST_SOFTWARE : LIST_CACHE;
	struct list *l = ctx;
	struct event_code other;

	for (size_t i = 0; kind != LIST_CACHE && i < l->n; i++) {
		struct listed *e = &l->events[i];

		if (e->kind != kind || !event_word_generic(e->name, strlen(e->name), &other) ||
		    other.config != code->config)
			continue;
		if (!e->also)
			e->also = xstrdup(name);
		return;
	}
	list_add_event(l, kind, name);
}

static void on_tracepoint(void *ctx, uint64_t id, const char *name)
{
	(void)id;
	list_add_event(ctx, LIST_TRACEPOINT, name);
}

static void on_pfm(void *ctx, const char *name)
{
	list_add_event(ctx, LIST_PFM, name);
}

static void list_add_pmu(struct list *l, const struct pmu *p)
{
	struct buf text = { 0 }, type = { 0 };

	for (size_t i = 0; i < p->naliases; i++) {
		buf_reset(&text);
		buf_addf(&text, "%s/%s/", p->name, p->aliases[i].name);
		list_add_event(l, LIST_PMU, buf_str(&text));
	}
	buf_reset(&text);
	buf_addf(&text, "%s/", p->name);
	for (size_t i = 0; i < p->nterms; i++)
		buf_addf(&text, "%s%s=N", i ? "," : "", p->terms[i].name);
	buf_addc(&text, '/');
	buf_addf(&type, "type=%u", p->type);
	if (p->nterms)
		list_add_form(l, buf_str(&text), buf_str(&type), LIST_RAW);
	buf_free(&text);
	buf_free(&type);
}

static int list_compare(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return x->kind != y->kind ? (int)x->kind - (int)y->kind : strcmp(x->name, y->name);
}

static void list_collect(struct list *l)
{
	event_words_each(on_word, l);
	for (const struct pmu *p = host_pmus(l->machine.host); p; p = p->next)
		list_add_pmu(l, p);
	event_words_pfm_each(on_pfm, l);
	list_add_form(l, "rHEX", "r0", LIST_RAW);
	list_add_form(l, "mem:ADDR[/LEN][:ACCESS]", "mem:0", LIST_BREAKPOINT);
	host_each_tracepoint(l->machine.host, on_tracepoint, l);
	qsort(l->events, l->n, sizeof(*l->events), list_compare);
}

/* Selecting ------------------------------------------------------------------------- */

/* Return whether a name matches; a pattern without wildcards may be any part of it. */
static bool name_matches(const char *pattern, const char *name)
{
	if (pattern[strcspn(pattern, "*?[")])
		return !fnmatch(pattern, name, FNM_CASEFOLD);
	return strcasestr(name, pattern);
}

/* Return the kind that has the word, or LIST_KINDS. */
static enum list_kind kind_by_word(const char *word)
{
	enum list_kind k = 0;

	while (k < LIST_KINDS && strcmp(word, kinds[k].name) && strcmp(word, kinds[k].perf))
		k++;
	return k;
}

/* A pattern is the word of a kind, KIND:PATTERN as bpftrace has it, or a pattern of names. */
static bool pattern_matches(const char *pattern, const struct listed *e)
{
	const char *kind = kinds[e->kind].name;
	size_t len = strlen(kind);

	if (kind_by_word(pattern) < LIST_KINDS)
		return kind_by_word(pattern) == e->kind;
	if (!strncmp(pattern, kind, len) && pattern[len] == ':')
		pattern += len + 1;
	return name_matches(pattern, e->name) || (e->also && name_matches(pattern, e->also));
}

static bool list_selects(const struct verb_args *args, const struct listed *e)
{
	bool is = !args->n;

	for (size_t i = 0; i < args->n && !is; i++)
		is = pattern_matches(args->words[i], e);
	return is;
}

/* Showing --------------------------------------------------------------------------- */

/* Write the attr that the event becomes, as pevtrace open would pass it at the least. */
static void list_emit_attr(struct list *l, const struct listed *e, struct sink *s)
{
	struct event_list events = { 0 };
	struct walk w = { .layout = &layout_perf_event_attr, .names = &l->machine.names };

	if (event_list_add(&events, l->machine.host, e->text ? e->text : e->name)) {
		w.bytes = events.events[0].attr.bytes;
		w.len = events.events[0].attr.len;
		s->ops->begin(s, "attr", SINK_OBJECT);
		layout_emit(&w, s);
		s->ops->end(s);
	}
	event_list_free(&events);
}

static void list_string(struct sink *s, const char *key, const char *text)
{
	if (text)
		s->ops->string(s, key, text, strlen(text), false);
}

static void list_show_json(struct list *l, const struct listed *e)
{
	struct sink *s = l->out.sink;

	s->full = false;
	list_string(s, e->text ? "form" : "event", e->name);
	list_string(s, "also", e->also);
	list_string(s, "kind", kinds[e->kind].name);
	list_emit_attr(l, e, s);
}

static void list_show_text(struct list *l, const struct listed *e)
{
	struct buf *line = &l->out.line;

	buf_addf(line, "  %s", e->name);
	if (e->also)
		buf_addf(line, " or %s", e->also);
	buf_pad(line, line->len < 37 ? 37 - line->len : 1);
	list_emit_attr(l, e, l->out.sink);
	if (!l->out.path && pager_is_terminal(STDOUT_FILENO))
		text_fit(line, "", prose_width(STDOUT_FILENO));
}

static void show_heading(struct list *l, enum list_kind kind, bool first)
{
	showing_begin(&l->out, true);
	buf_addf(&l->out.line, "%s%s:", first ? "" : "\n", kinds[kind].title);
	showing_end(&l->out);
}

static size_t list_show(struct list *l, const struct verb_args *args)
{
	enum list_kind last = LIST_KINDS;
	size_t shown = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct listed *e = &l->events[i];

		if (!list_selects(args, e))
			continue;
		if (e->kind != last && !l->options.json)
			show_heading(l, e->kind, !shown);
		last = e->kind;
		showing_begin(&l->out, true);
		if (l->options.json)
			list_show_json(l, e);
		else
			list_show_text(l, e);
		showing_end(&l->out);
		shown++;
	}
	return shown;
}

static void lister_free(struct list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->events[i].name);
		free(l->events[i].also);
		free(l->events[i].text);
	}
	free(l->events);
	machine_close(&l->machine);
	options_free(&l->options);
}

static int list_run(void *state, const struct verb_args *args)
{
	struct list *l = state;
	size_t shown;
	bool written;

	showing_open(&l->out, &l->options);
	machine_open(&l->machine);
	list_collect(l);
	if (!host_has_tracepoints(l->machine.host))
		warn("cannot read tracepoints: tracefs is not mounted, or only root may read it");
	shown = list_show(l, args);
	written = showing_close(&l->out);
	if (!shown && args->n)
		warn("no event matches '%s'; see pevtrace list, or bpftrace -l for probes",
		     args->words[0]);
	lister_free(l);
	return !written ? EXIT_TROUBLE : shown ? EXIT_YES : EXIT_NO;
}

static void list_init(void *state)
{
	options_init(&((struct list *)state)->options);
}

static const struct verb_group groups[] = {
	{ "Options", options_plain, 0, 0 },
	{ NULL, options_json, 0, 0 },
	{ 0 },
};

const struct verb list_verb = {
	.name = "list",
	.summary = "List the events that can be named on this machine",
	.usage = "list [OPTION]... [PATTERN]...",
	.about =
"List the events that can be named on this machine, each with the perf_event_attr that it "
"becomes: generic events, those and the terms of PMUs, those of libpfm4, breakpoints, "
"tracepoints.",
	.notes =
"A PATTERN with *, ? or [] matches whole names, in any case, another one any part of them. "
"hardware, software, cache, pmu, pfm, raw, breakpoint and tracepoint select a kind, and so before "
"a colon. The exit status is 1 if nothing matches.",
	.examples =
"pevtrace list\n"
"pevtrace list 'sched:*wak*'\n"
"pevtrace list tracepoint:'irq:*' software\n"
"pevtrace list --json pmu",
	.operand = "PATTERN",
	.groups = groups,
	.size = sizeof(struct list),
	.init = list_init,
	.run = list_run,
};
