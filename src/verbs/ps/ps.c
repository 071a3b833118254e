// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace ps: every perf event of this machine, and who holds it. */
#include "verbs/ps/ps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/abi/tables.h"
#include "core/host/facts.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "engine/ptrace/proc.h"
#include "engine/rings/borrow.h"
#include "verbs/cmd.h"

enum { MOST_SECONDS = 86400 };

/* Return whether the event has the type, config and other members that are set in spec. */
static bool is_such(const struct events_event *v, const struct event_spec *spec)
{
	uint8_t attr[EVENTS_ATTR_MAX];
	size_t len = events_attr(v, attr);

	for (unsigned int i = 0; len && i < ATTR_NFIELDS; i++) {
		uint64_t wanted = event_get(spec, i);

		if ((wanted || spec->given[i] || i == ATTR_TYPE || i == ATTR_CONFIG) &&
		    i != ATTR_SIZE && layout_get(&layout_perf_event_attr, i, attr, len) != wanted)
			return false;
	}
	return len;
}

/*
 * Return whether -p selects the event, and so does -e or one of the patterns; without these, all
 * are selected.
 */
static bool ps_selects(struct ps *p, const struct events_event *v)
{
	bool concerned = !p->options.npids, chosen = !p->chosen.n && !*p->patterns;
	struct buf name = { 0 };

	for (size_t i = 0; i < p->options.npids && !concerned; i++) {
		uint32_t pid = (uint32_t)p->options.pids[i];

		/* it measures the process, or is held by it */
		concerned = v->facts.target == pid || v->facts.target_process == pid;
		for (size_t k = 0; k < v->nholders; k++)
			concerned |= v->holders[k].pid == pid || v->holders[k].tid == pid;
	}
	if (!concerned)
		return false;
	for (size_t i = 0; i < p->chosen.n && !chosen; i++)
		chosen = is_such(v, &p->chosen.events[i]);
	ps_name(p, v, &name);
	for (char *const *pattern = p->patterns; *pattern && !chosen; pattern++)
		chosen = verb_pattern_matches(*pattern, buf_str(&name));
	buf_free(&name);
	return chosen;
}

/* Rows ------------------------------------------------------------------------------------ */

/* Return the holder below which an event is listed: the first, or one that -p names. */
static const struct events_holder *holder_of(const struct ps *p, const struct events_event *v)
{
	for (size_t i = 0; i < v->nholders; i++)
		for (size_t k = 0; k < p->options.npids; k++)
			if ((uint32_t)p->options.pids[k] == v->holders[i].pid)
				return &v->holders[i];
	return v->holders;
}

static int compare_words(uint64_t l, uint64_t r)
{
	return (l > r) - (l < r);
}

/* Compare by holder: processes by their ids, then BPF links, then the kernel. */
static int compare_holders(const struct events_holder *l, const struct events_holder *r)
{
	int c = compare_words(l->pid - 1U, r->pid - 1U);

	c = c ? c : compare_words(l->tid, r->tid);
	return c || l->pid ? c : compare_words(l->reference, r->reference);
}

static bool is_dummy(const struct events_facts *f)
{
	return f->attr_len && f->type == PERF_TYPE_SOFTWARE &&
	       layout_get(&layout_perf_event_attr, ATTR_CONFIG, f->attr, f->attr_len) ==
	       PERF_COUNT_SW_DUMMY;
}

/* Return 0 for events of one row: dummy events, or those that differ by their CPU only. */
static int compare_twins(const struct ps_item *x, const struct ps_item *y)
{
	const struct events_facts *f = &x->v->facts, *g = &y->v->facts;
	int c = compare_holders(x->by, y->by);

	c = c ? c : compare_words(is_dummy(f), is_dummy(g));
	/* what has ended is not hidden in a row of what counts */
	c = c ? c : compare_words(f->state >= 0, g->state >= 0);
	c = c || f->state >= 0 ? c : f->state - g->state;
	if (c || is_dummy(f))
		return c;
	c = compare_words(f->cpu < 0 ? f->id : 0, g->cpu < 0 ? g->id : 0);
	c = c ? c : compare_words(f->target, g->target);
	c = c ? c : compare_words(f->type, g->type);
	c = c ? c : compare_words(f->cgroup, g->cgroup);
	c = c ? c : compare_words(f->attr_len, g->attr_len);
	return c ? c : memcmp(f->attr, g->attr, f->attr_len);
}

static int compare_items(const void *a, const void *b)
{
	const struct ps_item *x = a, *y = b;
	int c = compare_twins(x, y);

	return c ? c : compare_words(x->v->facts.id, y->v->facts.id);
}

static int ps_compare_rows(const void *a, const void *b)
{
	const struct ps_row *x = a, *y = b;
	int c = compare_holders(x->items->by, y->items->by);

	return c ? c : compare_words(x->sum.facts.id, y->sum.facts.id);
}

static void ps_row_add(struct ps_row *r, const struct events_event *v)
{
	struct events_facts *f = &r->sum.facts;
	const struct events_facts *g = &v->facts;

	r->n++;
	r->sum.counted &= v->counted;
	r->sum.stale |= v->stale;
	r->sum.old_times |= v->old_times;
	r->sum.timed &= g->target == f->target; /* times of several tasks make no share */
	f->count += g->count;
	f->lost += g->lost;
	f->running_ns += g->running_ns;
	if (!f->target) /* a task is on one CPU at a time */
		f->enabled_ns += g->enabled_ns;
	else if (g->enabled_ns > f->enabled_ns)
		f->enabled_ns = g->enabled_ns;
	f->state = g->state > f->state ? g->state : f->state;
	f->pages |= g->pages;
	f->aux_pages |= g->aux_pages;
}

/*
 * Return the rows, to be freed: by holder, with dummy events and those that differ by their CPU
 * only in one row unless the options unfold them; for JSON, an event each.  items: room for n.
 */
static struct ps_row *ps_rows(struct ps *p, struct events_event *const *list, size_t n,
			      struct ps_item *items, size_t *nrows)
{
	struct ps_row *rows = xcalloc(n + 1, sizeof(*rows)), *last = NULL;
	bool unfold = p->unfold || p->options.text.full || p->out.json;

	*nrows = 0;
	for (size_t i = 0; i < n; i++)
		items[i] = (struct ps_item){ list[i], holder_of(p, list[i]) };
	if (!p->out.json)
		qsort(items, n, sizeof(*items), compare_items);
	for (size_t i = 0; i < n; i++) {
		const struct events_event *v = items[i].v;

		if (last && !unfold && v->facts.attr_len && !compare_twins(last->items, &items[i]))
			ps_row_add(last, v);
		else
			*(last = &rows[(*nrows)++]) = (struct ps_row){
				.p = p, .items = &items[i], .n = 1, .sum = *v,
			};
	}
	if (!p->out.json)
		qsort(rows, *nrows, sizeof(*rows), ps_compare_rows);
	for (size_t i = 1; i < *nrows; i++)
		rows[i].again = !compare_holders(rows[i].items->by, rows[i - 1].items->by);
	return rows;
}

/* Append how much it is in all. */
static void ps_add_totals(const struct ps *p, const struct ps_item *items, size_t n, struct buf *out)
{
	struct map processes = { 0 }, rings = { 0 };
	uint64_t pages = 0;
	size_t fds = 0;

	for (size_t i = 0; i < n; i++) {
		const struct events_event *v = items[i].v;
		const struct events_facts *f = &v->facts;

		for (size_t k = 0; k < v->nholders; k++) {
			fds += v->holders[k].reference == EVENTS_DESCRIPTOR;
			if (v->holders[k].pid)
				map_set(&processes, v->holders[k].pid, &processes);
		}
		if (f->ring && !map_set(&rings, f->ring, &rings))
			pages += 1 + f->pages + f->aux_pages;
	}
	buf_addf(out, "total: events %zu, processes %zu, descriptors %zu", n, processes.len, fds);
	if (p->events.bpf)
		buf_addf(out, ", rings %zu, pinned %llu KiB", rings.len,
			 (unsigned long long)(pages * p->machine.names.page_size / 1024));
	map_free(&processes);
	map_free(&rings);
}

/* The list ---------------------------------------------------------------------------------- */

static void tell_limits(const struct ps *p)
{
	const struct events *e = &p->events;
	struct buf others = { 0 };
	int64_t watchdog;

	if (e->hidden)
		buf_addf(&others, ", and nothing of %zu processes that may not be read", e->hidden);
	if (!e->bpf)
		warn("%s; without them, only ids and counts of descriptors are shown, not what and "
		     "whom events count, their state, group and ring%s",
		     buf_str(&e->why), buf_str(&others));
	buf_free(&others);
	if (p->stale)
		warn("a count with ? is what the kernel last stored, as no descriptor of the event "
		     "can be read: %s", borrow_refusal() ?: "the rules of ptrace(2), Yama or a "
		     "container forbid to copy those of its holders, or it has none");
	if (proc_pid_namespace())
		warn("only what processes of this PID namespace hold is listed; run pevtrace ps "
		     "outside of it for the whole machine");
	if (sysfile_number(AT_FDCWD, "/proc/sys/kernel/nmi_watchdog", &watchdog) && watchdog)
		warn("not listed: the watchdog for hard lockups (kernel.nmi_watchdog=1), which may "
		     "have a counter of each CPU");
	if (e->bpf && !e->links)
		warn("events that only a BPF link holds are missing: their list requires Linux 5.19");
}

static bool ps_once(struct ps *p)
{
	struct events_event **list;
	struct buf total = { 0 };
	struct ps_item *items;
	struct ps_row *rows;
	size_t n = 0, nrows;

	events_read(&p->events);
	p->now_ns = clock_ns(); /* counts that grow are read last */
	list = xcalloc(p->events.n + 1, sizeof(*list));
	for (size_t i = 0; i < p->events.n; i++)
		if (ps_selects(p, p->events.list[i])) {
			list[n++] = p->events.list[i];
			p->stale |= p->events.list[i]->stale;
		}
	items = xcalloc(n + 1, sizeof(*items));
	rows = ps_rows(p, list, n, items, &nrows);
	ps_add_totals(p, items, n, &total);
	ps_show(p, rows, nrows, buf_str(&total));
	buf_free(&total);
	free(items);
	free(rows);
	/* for the rates of the next list */
	map_free(&p->counts);
	p->counts = (struct map){ 0 };
	for (size_t i = 0; i < p->events.n; i++)
		if (p->events.list[i]->counted)
			map_set(&p->counts, p->events.list[i]->facts.id,
				(void *)(uintptr_t)(p->events.list[i]->facts.count + 1));
	p->before_ns = p->now_ns;
	free(list);
	return n;
}

/* Warn about each process given with -p that does not exist; return whether there is one. */
static bool tell_missing(const struct options *o)
{
	bool missing = false;

	for (size_t i = 0; i < o->npids; i++) {
		if (facts_task_exists(o->pids[i]) == FACT_YES)
			continue;
		warn("no process %d", (int)o->pids[i]);
		missing = true;
	}
	return missing;
}

static int ps_run(void *state, const struct verb_args *args)
{
	static const struct verb_option by_number = { .typed = "PID" };
	char **patterns = xcalloc(args->n + 1, sizeof(*patterns));
	struct ps *p = state;
	bool any, unread;
	size_t n = 0;

	p->patterns = patterns;
	for (size_t i = 0; i < args->n; i++) {
		if (!*args->words[i] || args->words[i][strspn(args->words[i], "0123456789,")])
			patterns[n++] = args->words[i];
		else
			options_set_pids(&p->options, args->words[i], &by_number);
	}
	machine_open(&p->machine);
	options_read_events(&p->texts, p->machine.host, &p->chosen);
	p->instruments.host = p->machine.host;
	mounts_warn();
	events_open(&p->events);
	p->options.no_pager |= p->watch; /* as it does not end */
	showing_open(&p->out, &p->options);
	any = ps_once(p);
	tell_limits(p);
	while (p->watch && !p->out.failed) {
		fflush(p->out.out);
		sleep((unsigned int)p->watch);
		any = ps_once(p);
	}
	unread = p->events.unread;
	if (!any && !p->options.json && !tell_missing(&p->options))
		warn(p->options.npids || p->chosen.n || args->n ?
		     "no perf event matches: a WORD is a part of the name of an event or a process, "
		     "and -p selects by PID; pevtrace ps lists all" :
		     p->events.unread ? "the holders of perf events cannot be listed" :
		     p->events.hidden ? "the other processes hold no perf event" :
					"nobody holds a perf event");
	free(patterns);
	events_close(&p->events);
	event_list_free(&p->chosen);
	map_free(&p->counts);
	machine_close(&p->machine);
	options_free(&p->options);
	return !showing_close(&p->out) || (unread && !any) ? EXIT_TROUBLE : any ? EXIT_YES : EXIT_NO;
}

#define AT(member) offsetof(struct ps, member)

static const struct verb_option options[] = {
	{ .name = "attach", .key = 'p', .arg = "PID", .set = options_set_pids,
	  .at = AT(options), .help = "only events that these processes hold, or that measure them" },
	{ .name = "event", .key = 'e', .arg = "EVENT", .set = options_set_event,
	  .at = AT(texts),
	  .help = "only events such as open -e EVENT opens: with its type, config and the "
		  "members that it sets; repeatable" },
	{ .name = "watch", .arg = "SECONDS", .optional = true, .set = verb_set_size, .at = AT(watch),
	  .bare = "2", .least = 1, .most = MOST_SECONDS,
	  .help = "list again and again, every 2 seconds, with counts per second" },
	{ 0 },
};

static const struct verb_option details[] = {
	{ .name = "unfold", .set = verb_set_true, .at = AT(unfold),
	  .help = "show each event in a row of its own, also dummies and those that differ by "
		  "their CPU only" },
	{ .name = "no-abbrev", .key = 'v', .set = verb_set_true, .at = AT(options.text.full),
	  .help = "the same, with all that is known of each event below its row" },
	{ 0 },
};

static const struct verb_group groups[] = {
	{ "Which events", options, 0, 0 },
	{ "How to show them", options_json, AT(options), 0 },
	{ NULL, details, 0, 0 },
	{ NULL, options_plain, AT(options), 0 },
	{ 0 },
};

const struct verb ps_verb = {
	.name = "ps",
	.summary = "List every perf event of this machine, and who holds it",
	.usage = "ps [OPTION]... [PID|PATTERN]...",
	.operand = "PID|PATTERN",
	.about =
"List every perf event of this machine by the processes that hold it: what it counts, of whom, its "
"state and count, and the share of time that it had a counter. A row has all dummy events of a "
"process, or events that differ by their CPU only; the last line is the total.\n"
"\n"
"The list comes from the kernel, through BPF iterators. Without the rights for them, only the "
"descriptors of processes that /proc shows are listed. The kernel's own for a "
"task, such as watchpoints of a debugger, are listed, those for a CPU are not: a message tells "
"of the watchdog for hard lockups.",
	.notes =
"A PATTERN with *, ? or [] matches whole names of events, another one any part of them; a number "
"is the PID of -p.\n"
"\n"
"Columns: COUNT has ? if it is old, as no descriptor can be read; RAN is the share of the enabled "
"time in which the event counted; MORE has !: such "
"events do not count on this machine, g: in a group, r: has a ring, a: has an AUX area, b: has a "
"BPF program, l: lost samples. -v shows them in full. The exit status is 0 if events are listed, 1 "
"if there are none, 2 on misuse and trouble.",
	.examples =
"pevtrace ps\n"
"pevtrace ps -v 1234\n"
"pevtrace ps --watch=1 -e cycles",
	.groups = groups,
	.size = sizeof(struct ps),
	.init = options_init,
	.run = ps_run,
};
