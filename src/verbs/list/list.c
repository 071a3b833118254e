// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace list: the events that can be named on this machine, or what works here. */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/host/event_words.h"
#include "core/host/pmu.h"
#include "core/lib/die.h"
#include "core/model/event_name.h"
#include "experiment/trial.h"
#include "formats/text/text_fit.h"
#include "verbs/cmd.h"
#include "verbs/list/features.h"

enum list_kind {
	LIST_HARDWARE, LIST_SOFTWARE, LIST_CACHE, LIST_PMU, LIST_PFM, LIST_RAW, LIST_BREAKPOINT,
	LIST_TRACEPOINT, LIST_KINDS,
};

/* The words for kinds, of bpftrace and of perf list, the headings, and bpftrace's letters. */
static const struct {
	const char *name, *perf, *title, *letter;
} kinds[LIST_KINDS] = {
	[LIST_HARDWARE] = { "hardware", "hw", "Hardware events", "h" },
	[LIST_SOFTWARE] = { "software", "sw", "Software events", "s" },
	[LIST_CACHE] = { "cache", "hwcache", "Cache events", NULL },
	[LIST_PMU] = { "pmu", "pmu", "Events of PMUs", NULL },
	[LIST_PFM] = { "pfm", "libpfm4", "Events of libpfm4", NULL },
	[LIST_RAW] = { "raw", "raw", "Terms of PMUs, and raw events", NULL },
	[LIST_BREAKPOINT] = { "breakpoint", "mem", "Breakpoints", NULL },
	[LIST_TRACEPOINT] = { "tracepoint", "tracepoint", "Tracepoints", "t" },
};

struct listed {
	enum list_kind kind;
	char *name, *also;	/* also: another name of the same event, or NULL */
	char *text;		/* what has the attr, if name is a form and no event; or NULL */
	size_t written;		/* 1 + index in the events that patterns describe, or 0 */
	bool selected;
	int error;		/* errno of an open, if this machine has no such event; or 0 */
};

struct list {
	struct options options;
	bool tried, all_cpus, tracepoints;
	struct machine machine;
	struct showing out;
	struct listed *events;
	size_t n;
	struct event_list written; /* by patterns that match no name */
	size_t column;		/* of attrs in the text */
};

/* Collecting ----------------------------------------------------------------------- */

static struct listed *list_add_event(struct list *l, enum list_kind kind, const char *name)
{
	APPEND(l->events, l->n) = (struct listed){ .kind = kind, .name = xstrdup(name) };
	return &l->events[l->n - 1];
}

static void list_add_form(struct list *l, const char *form, const char *text, enum list_kind kind)
{
	list_add_event(l, kind, form)->text = xstrdup(text);
}

static bool word_code(const char *word, struct event_code *code)
{
	return event_word_generic(word, strlen(word), code) ||
	       event_word_cache(word, strlen(word), code);
}

/* Add a generic event, or another name of one that was added. */
static void on_word(void *ctx, const struct event_code *code, const char *name)
{
	enum list_kind kind = code->type == PERF_TYPE_HARDWARE ? LIST_HARDWARE : LIST_SOFTWARE;
	struct list *l = ctx;
	struct event_code other;

	if (code->type == PERF_TYPE_HW_CACHE) {
		uint8_t attr[PERF_ATTR_SIZE_VER0] = { 0 };
		struct buf perf = { 0 };
		struct listed *e;

		/* first by perf's name */
		attr_put(attr, ATTR_TYPE, code->type);
		attr_put(attr, ATTR_CONFIG, code->config);
		event_name_perf(attr, sizeof(attr), &l->machine.names, &perf);
		e = list_add_event(l, LIST_CACHE, buf_str(&perf));
		e->also = strcasecmp(e->name, name) ? xstrdup(name) : NULL;
		buf_free(&perf);
		return;
	}
	for_each(e, l->events, l->n) {
		if (e->kind != kind || !event_word_generic(e->name, strlen(e->name), &other) ||
		    other.config != code->config)
			continue;
		if (!e->also)
			e->also = xstrdup(name);
		return;
	}
	list_add_event(l, kind, name);
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
	const char *name;
	uint64_t id;

	event_words_each(on_word, l);
	for (const struct pmu *p = host_pmus(l->machine.host); p; p = p->next)
		list_add_pmu(l, p);
	event_words_pfm_each(on_pfm, l);
	list_add_form(l, "rHEX", "r0", LIST_RAW);
	list_add_form(l, "mem:ADDR[/LEN][:ACCESS]", "mem:0", LIST_BREAKPOINT);
	for (size_t at = 0; (name = host_next_tracepoint(l->machine.host, &at, &id));)
		list_add_event(l, LIST_TRACEPOINT, name);
}

/* Selecting ------------------------------------------------------------------------- */

static void list_offer_kinds(struct nearest *n)
{
	for (enum list_kind k = 0; k < LIST_KINDS; k++)
		nearest_try(n, kinds[k].name);
}

static enum list_kind kind_by_word(const char *word)
{
	enum list_kind k = 0;

	while (k < LIST_KINDS && strcmp(word, kinds[k].name) && strcmp(word, kinds[k].perf))
		k++;
	return k;
}

/* Return the kind whose word or letter is before the colon of KIND:PATTERN, or LIST_KINDS. */
static enum list_kind kind_before(const char *pattern)
{
	const char *colon = strchr(pattern, ':');
	char *word = xstrndup(pattern, colon ? (size_t)(colon - pattern) : 0);
	enum list_kind found = kind_by_word(word);

	for (enum list_kind k = 0; k < LIST_KINDS; k++)
		if (kinds[k].letter && !strcmp(word, kinds[k].letter))
			found = k;
	free(word);
	return found;
}

/* A pattern is the word of a kind, KIND:PATTERN as bpftrace has it, or a pattern of names. */
static bool pattern_matches(const char *pattern, const struct listed *e)
{
	enum list_kind of = kind_by_word(pattern), before = kind_before(pattern);
	struct event_code a, b;

	if (of < LIST_KINDS)
		return of == e->kind;
	if (before < LIST_KINDS && before != e->kind)
		return false;
	if (before < LIST_KINDS)
		pattern = strchr(pattern, ':') + 1;
	return verb_pattern_matches(pattern, e->name) ||
	       (e->also && verb_pattern_matches(pattern, e->also)) ||
	       /* or one of its further names, which only perf has */
	       ((e->kind == LIST_HARDWARE || e->kind == LIST_SOFTWARE || e->kind == LIST_CACHE) &&
		word_code(pattern, &a) && word_code(e->name, &b) && a.type == b.type &&
		a.config == b.config);
}

static void warn_no_tracepoints(const struct list *l, const struct verb_args *args)
{
	bool wanted = !args->n;

	for (size_t i = 0; i < args->n; i++) {
		const char *pattern = args->words[i];
		enum list_kind of = kind_by_word(pattern), before = kind_before(pattern);

		/* the name of one is looked up as -e does */
		if (before != LIST_KINDS || of != LIST_KINDS)
			wanted |= before == LIST_TRACEPOINT || of == LIST_TRACEPOINT;
		else
			wanted |= strchr("*?[", *pattern) ||
				  (strchr(pattern, ':') && strpbrk(pattern, "*?["));
	}
	if (wanted && !host_has_tracepoints(l->machine.host))
		warn("cannot read tracepoints: tracefs is not mounted, only root may read it, or "
		     "kernel lockdown hides it");
}

/*
 * Add the events that a pattern describes as -e does, such as cycles:u or r1a8.  Return false after
 * a warn() that gives the reason why there are none.
 */
static bool list_add_written(struct list *l, const char *pattern)
{
	struct nearest n;

	static const enum list_kind of[] = {
		[PERF_TYPE_HARDWARE] = LIST_HARDWARE, [PERF_TYPE_SOFTWARE] = LIST_SOFTWARE,
		[PERF_TYPE_TRACEPOINT] = LIST_TRACEPOINT, [PERF_TYPE_HW_CACHE] = LIST_CACHE,
		[PERF_TYPE_RAW] = LIST_RAW, [PERF_TYPE_BREAKPOINT] = LIST_BREAKPOINT,
	};
	enum list_kind before = kind_before(pattern);
	size_t i = l->written.n;

	/* mem:ADDR is an event; other kinds are no events, though some are PMUs as well */
	if (kind_by_word(pattern) < LIST_KINDS ||
	    (before < LIST_KINDS && before != LIST_BREAKPOINT)) {
		warn("no event matches '%s'", pattern);
		return true;
	}
	nearest_start(&n, pattern, strlen(pattern));
	list_offer_kinds(&n);
	if (!event_list_add(&l->written, l->machine.host, pattern)) {
		warn("no event matches '%s'%s%s", pattern, *n.best ? "" : ": ",
		     *n.best ? nearest_hint(&n) : l->written.why);
		return false;
	}
	for (; i < l->written.n; i++) {
		const struct event_spec *spec = &l->written.events[i];
		uint64_t type = event_get(spec, ATTR_TYPE);
		struct listed *e = list_add_event(l, type < sizeof(of) / sizeof(*of) ? of[type] :
						  LIST_PMU, spec->attr.label);

		e->written = i + 1;
		e->selected = true;
	}
	return true;
}

/* Return false where all that patterns lack was explained. */
static bool list_select(struct list *l, const struct verb_args *args)
{
	bool any = !args->n;
	size_t n = l->n;

	for (size_t k = 0; k < n && !args->n; k++)
		l->events[k].selected = true;
	for (size_t i = 0; i < args->n; i++) {
		bool one = false;

		for (size_t k = 0; k < n; k++) {
			if (!pattern_matches(args->words[i], &l->events[k]))
				continue;
			l->events[k].selected = true;
			one = true;
		}
		any |= one || list_add_written(l, args->words[i]);
	}
	qsort(l->events, l->n, sizeof(*l->events), list_compare);
	return any;
}

/* Return the attr of an event, which points into l or tmp, or NULL. */
static const struct attr_text *list_attr(struct list *l, const struct listed *e,
					 struct event_list *tmp)
{
	if (e->written)
		return &l->written.events[e->written - 1].attr;
	return event_list_add(tmp, l->machine.host, e->text ? e->text : e->name) ?
	       &tmp->events[0].attr : NULL;
}

/* Trying ----------------------------------------------------------------------------- */

/* Try to open an event, disabled, in user mode; return the errno if the machine lacks it. */
static int list_try(struct list *l, const struct listed *e)
{
	struct event_list events = { 0 };
	const struct attr_text *found = list_attr(l, e, &events);
	struct trial t = { 0 };

	if (found) {
		struct attr_text attr = *found;
		const struct rule_ask ask = {
			.attr = attr.bytes, .len = attr.len, .cpu = -1, .group_fd = -1,
		};

		attr_put(attr.bytes, ATTR_DISABLED, 1);
		attr_put(attr.bytes, ATTR_EXCLUDE_KERNEL, 1);
		trial_open(&ask, NULL, &t);
	}
	event_list_free(&events);
	/* others, such as EACCES, tell nothing about the machine */
	return t.error == ENOENT || t.error == EINVAL || t.error == EOPNOTSUPP ||
	       t.error == ENODEV ? t.error : 0;
}

/*
 * Find which of the selected events of the CPU this machine lacks.  Without a CPU's PMU raw
 * events fail with ENOENT, so one of them is tried for all.
 */
static void list_try_all(struct list *l)
{
	bool tried = false;
	int raw = 0;

	for_each(e, l->events, l->n) {
		if (!e->selected)
			continue;
		if (e->kind == LIST_HARDWARE || e->kind == LIST_CACHE) {
			e->error = list_try(l, e);
		} else if (e->kind == LIST_PFM || (e->text && !strcmp(e->text, "r0")) ||
			   (e->kind == LIST_RAW && e->written)) {
			if (!tried)
				raw = list_try(l, e);
			tried = true;
			e->error = raw == ENOENT ? raw : 0;
		}
	}
}

/* Showing --------------------------------------------------------------------------- */

/* Write the attr that the event becomes, as pevtrace open would pass it at the least. */
static void list_emit_attr(struct list *l, const struct listed *e, struct sink *s)
{
	struct event_list events = { 0 };
	const struct attr_text *attr = list_attr(l, e, &events);
	struct walk w = { .layout = &layout_perf_event_attr, .names = &l->machine.names };

	if (attr) {
		w.bytes = attr->bytes;
		w.len = attr->len;
		w.string = attr->nstrings ? (const char *)&attr->pool[attr->strings[0].at] : NULL;
		sink_begin(s, "attr", SINK_OBJECT);
		layout_emit(&w, s);
		sink_end(s);
	}
	event_list_free(&events);
}

static void list_show_json(struct list *l, const struct listed *e)
{
	struct sink *s = l->out.sink;

	s->full = false;
	sink_string(s, e->text ? "form" : "event", e->name, strlen(e->name), false);
	if (e->also)
		sink_string(s, "also", e->also, strlen(e->also), false);
	sink_symbol(s, "kind", kinds[e->kind].name);
	if (e->error)
		sink_symbol(s, "unsupported", error_name(e->error));
	list_emit_attr(l, e, s);
}

static void add_names(const struct listed *e, struct buf *line)
{
	buf_addf(line, "  %s%s%s", e->name, e->also ? " or " : "", e->also ? e->also : "");
}

/* lacking: the heading says that the machine has none of the kind. */
static void list_show_text(struct list *l, const struct listed *e, bool lacking)
{
	struct buf *line = &l->out.line, note = { 0 };

	add_names(e, line);
	buf_pad(line, line->len < l->column ? l->column - line->len : 1);
	list_emit_attr(l, e, l->out.sink);
	if (e->error && !lacking) {
		buf_addf(&note, " /* not on this machine: %s */", error_name(e->error));
		text_colored(line, l->out.text.color, COLOR_ERROR, buf_str(&note));
		buf_free(&note);
	}
	if (l->out.width)
		text_fit(line, NULL, NULL, l->out.width);
}

/* Return the column of the attrs of a kind: behind the names, but for a few long ones. */
static size_t attr_column(const struct list *l, enum list_kind kind)
{
	size_t most = l->out.width ? l->out.width / 2 : 54, column = most < 37 ? most : 37;
	struct buf words = { 0 };

	for (size_t i = 0; i < l->n; i++) {
		buf_reset(&words);
		add_names(&l->events[i], &words);
		if (l->events[i].selected && l->events[i].kind == kind &&
		    words.len + 1 > column && words.len + 1 <= most)
			column = words.len + 1;
	}
	buf_free(&words);
	return column;
}

static void list_add_title(struct list *l, enum list_kind kind, bool lacking, bool more)
{
	bool color = l->out.text.color;
	struct buf *line = &l->out.line;

	buf_adds(line, more ? "\n" : "");
	text_colored(line, color, COLOR_CALL, kinds[kind].title);
	if (lacking && host_has_pmus(l->machine.host))
		text_colored(line, color, COLOR_ERROR, " (no PMU of this machine has them)");
	else if (lacking)
		text_colored(line, color, COLOR_WARNING, " (whether a PMU has them cannot be read)");
	buf_addc(line, ':');
}

static size_t list_show(struct list *l)
{
	enum list_kind last = LIST_KINDS;
	bool lacking = false;
	size_t shown = 0;

	list_try_all(l);
	for (size_t i = 0; i < l->n; i++) {
		const struct listed *e = &l->events[i];

		if (!e->selected)
			continue;
		if (e->kind != last && !l->options.json) {
			lacking = true;
			for (size_t k = i; k < l->n && l->events[k].kind == e->kind; k++)
				lacking &= !l->events[k].selected || l->events[k].error;
			l->column = attr_column(l, e->kind);
			showing_begin(&l->out, true);
			list_add_title(l, e->kind, lacking, shown);
			showing_end(&l->out);
		}
		last = e->kind;
		showing_begin(&l->out, true);
		if (l->options.json)
			list_show_json(l, e);
		else
			list_show_text(l, e, lacking);
		showing_end(&l->out);
		shown++;
	}
	return shown;
}

static int list_run(void *state, const struct verb_args *args)
{
	struct list *l = state;
	size_t shown;
	bool written;

	if (l->all_cpus && !l->tried)
		die("-a/--all-cpus requires --tried: events are listed without measuring anything");
	if (l->tracepoints && (!l->tried || !l->options.json || args->n))
		die("--tracepoints requires --tried --json, and neither KIND nor NAME: it is about a "
		    "machine file");
	if (l->tried)
		return features_run(&l->options, (const char *const *)args->words, l->all_cpus,
				    l->tracepoints);
	showing_open(&l->out, &l->options);
	machine_open(&l->machine);
	mounts_warn();
	list_collect(l);
	if (list_select(l, args))
		warn_no_tracepoints(l, args);
	shown = list_show(l);
	written = showing_close(&l->out);
	for (size_t i = 0; i < l->n; i++) {
		free(l->events[i].name);
		free(l->events[i].also);
		free(l->events[i].text);
	}
	free(l->events);
	event_list_free(&l->written);
	machine_close(&l->machine);
	options_free(&l->options);
	return !written ? EXIT_TROUBLE : shown ? EXIT_YES : EXIT_NO;
}

static const struct verb_foreign foreign[] = {
	{ "event", 'e', .why = "what to list is an argument: pevtrace list cycles; with --tried a KIND or "
			       "NAME: pevtrace list --tried hardware" },
	{ "no-abbrev", 'v', .why = "-j shows all that is known of each event, and of each result of "
				   "--tried" },
	{ "cpu", 'C', .why = "no event is chosen to measure; pevtrace why -C CPU -e EVENT tries one on a CPU, "
			     "and list --tried -a what measures whole CPUs" },
	{ "attach", 'p', .why = "no process is chosen to measure; pevtrace why -p PID -e EVENT tries an event "
				"on one" },
	{ 0 },
};

static const struct verb_option options[] = {
	{ .name = "tried", .set = verb_set_true, .at = offsetof(struct list, tried),
	  .operand = "KIND|NAME", .offer = features_offer,
	  .help = "try what perf_event_open(2) can do here, and list the results" },
	{ .name = "all-cpus", .key = 'a', .set = verb_set_true, .at = offsetof(struct list, all_cpus),
	  .help = "with --tried, try also what measures other tasks: whole CPUs, cgroups, PMUs "
		  "outside of CPUs" },
	{ .name = "tracepoints", .set = verb_set_true, .at = offsetof(struct list, tracepoints),
	  .help = "with --tried --json, add the ids of the kernel's tracepoints to the machine file" },
	{ 0 },
};

static const struct verb_group groups[] = {
	{ "Options", options, 0, 0 },
	{ NULL, options_json, 0, 0 },
	{ NULL, options_plain, 0, 0 },
	{ 0 },
};

const struct verb list_verb = {
	.name = "list",
	.summary = "List the events that can be named here, or try what works",
	.usage =
"list [OPTION]... [PATTERN]...\n"
"list --tried [OPTION]... [KIND|NAME]...",
	.about =
"List the events that can be named on this machine, each with the perf_event_attr that it "
"becomes: generic events, those and the terms of PMUs, those of libpfm4, breakpoints, "
"tracepoints. Those of the CPU that this machine lacks are marked.\n"
"\n"
"With --tried, show what perf_event_open(2) can do here: try every member and bit on a process of "
"pevtrace's own, and observe the effect.",
	.notes =
"A PATTERN with *, ? or [] matches whole names, in any case, another one any part of them. "
"hardware, software, cache, pmu, pfm, raw, breakpoint and tracepoint select a kind, and so before "
"a colon. A PATTERN that matches no name is read as pevtrace open -e reads it: cycles:u, r1a8, "
"mem:0x601040/8:rw.\n"
"\n"
"With --tried, a KIND is attr, size, sample_type, branch_sample_type, read_format, clockid, call, "
"ioctl, type, hardware, cache, software, breakpoint or pmu; a NAME is that of one feature, with or "
"without the prefix of its kind. Default: all. The results:\n"
"\n"
"  yes       it works: its effect was observed\n"
"  accepted  the kernel accepts it, without an observable effect\n"
"  dead      the kernel accepts it, but what it needs does not work on this machine\n"
"  no        the kernel refuses it; the reason follows\n"
"  untried   there is nothing to try it on, or a filter answers for the kernel\n"
"\n"
"What --tried --json prints is a machine file, without names of hosts, users and programs, for "
"--machine=FILE of other verbs.\n"
"\n"
"The exit status is 0, 1 if no event is listed, 2 on misuse and trouble.",
	.examples =
"pevtrace list\n"
"pevtrace list 'sched:*wak*'\n"
"pevtrace list tracepoint:'irq:*' software\n"
"pevtrace list --json pmu\n"
"pevtrace list cycles:pp\n"
"pevtrace list --tried sample_type\n"
"pevtrace list --tried --json precise_ip inherit\n"
"pevtrace list --tried --json -o machine.json",
	.operand = "PATTERN|KIND",
	.own = "KIND",
	.offer = list_offer_kinds,
	.foreign = foreign,
	.groups = groups,
	.size = sizeof(struct list),
	.init = options_init,
	.run = list_run,
};
