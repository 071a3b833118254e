// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace open: open events, and count or sample them, or show side-band records. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "experiment/instruments.h"
#include "experiment/trial.h"
#include "verbs/cmd.h"
#include "verbs/measure/measure.h"
#include "verbs/measure/refusal.h"
#include "xlat/constants.h"

/* Side-band records ----------------------------------------------------------------- */

enum {
	KIND_TASK, KIND_COMM, KIND_MMAP, KIND_MMAP_DATA, KIND_SWITCH, KIND_NAMESPACES, KIND_KSYMBOL,
	KIND_BPF,
};

/* The words for kinds of records: the members of the attr, then others. */
#define KIND_WORDS \
	"task comm mmap mmap-data context-switch namespaces ksymbol bpf-event cgroup text-poke " \
	"fork exit exec mmap2 switch namespace bpf"
static const uint8_t other_kinds[] = {
	KIND_TASK, KIND_TASK, KIND_COMM, KIND_MMAP, KIND_SWITCH, KIND_NAMESPACES, KIND_BPF,
};

/* The kinds of records, by their bit in the attr; newest last. */
#define TYPE(name) (1U << PERF_RECORD_##name)
static const struct kind {
	unsigned int member;
	unsigned int with;	/* another bit to set with it, or the same */
	bool by_default;
	uint32_t types;		/* of its records */
} kinds[] = {
	[KIND_TASK] = { ATTR_TASK, ATTR_TASK, true, TYPE(FORK) | TYPE(EXIT) },
	[KIND_COMM] = { ATTR_COMM, ATTR_COMM_EXEC, true, TYPE(COMM) },
	[KIND_MMAP] = { ATTR_MMAP, ATTR_MMAP2, true, TYPE(MMAP) | TYPE(MMAP2) },
	[KIND_MMAP_DATA] = { ATTR_MMAP_DATA, ATTR_MMAP2, false, TYPE(MMAP) | TYPE(MMAP2) },
	[KIND_SWITCH] = { ATTR_CONTEXT_SWITCH, ATTR_CONTEXT_SWITCH, false,
			  TYPE(SWITCH) | TYPE(SWITCH_CPU_WIDE) },
	{ ATTR_NAMESPACES, ATTR_NAMESPACES, true, TYPE(NAMESPACES) },
	{ ATTR_KSYMBOL, ATTR_KSYMBOL, true, TYPE(KSYMBOL) },
	{ ATTR_BPF_EVENT, ATTR_BPF_EVENT, true, TYPE(BPF_EVENT) },
	{ ATTR_CGROUP, ATTR_CGROUP, true, TYPE(CGROUP) },
	{ ATTR_TEXT_POKE, ATTR_TEXT_POKE, true, TYPE(TEXT_POKE) },
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

/* Which kinds of records --side-band shows, by the index of a kind. */
struct side_band {
	bool wanted[KINDS];
	bool named[KINDS];	/* by the user: never dropped */
};

struct opening {
	struct measure m;	/* first member: hooks cast it back */
	struct event_total *totals;
	struct event_texts texts; /* of -e */
	bool user_only;		/* the warning about excluded kernel events was printed */
	bool is_side_band;	/* --side-band: no counts are shown */
	struct side_band side_band;
	const char *chosen;	/* the option that chose kinds of records, or NULL */
};

static void set_kinds_wanted(void *to, const char *list, const struct verb_option *o)
{
	char *copy = xstrdup(list), *save, *word;
	struct side_band *s = to;

	if (!strcmp(o->name, "only"))
		memset(s->wanted, 0, sizeof(s->wanted));
	if (!list[strspn(list, ", ")])
		die("%s requires kinds of records; see pevtrace open --help", o->typed);
	for (char *p = copy; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	for (word = strtok_r(copy, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		size_t i = verb_word(word, o);

		i = i < KINDS ? i : other_kinds[i - KINDS];
		s->wanted[i] = s->named[i] = true;
	}
	free(copy);
}

static const struct verb_option side_band_options[] = {
	{ .name = "only", .arg = "RECORD", .words = KIND_WORDS, .set = set_kinds_wanted,
	  .help = "show these kinds of records; fork and exit are task, exec is comm" },
	{ .name = "also", .arg = "RECORD", .words = KIND_WORDS, .set = set_kinds_wanted,
	  .help = "show these, too; the default is all that the user may see except mmap-data "
		  "and context-switch, and mmap only with -v" },
	{ 0 },
};

/* Set the bits of the kinds that are wanted, and those that go with them. */
static void set_kinds(const struct side_band *s, struct event_spec *e)
{
	for (size_t i = 0; i < KINDS; i++)
		event_set(e, kinds[i].with, 0);
	for (size_t i = 0; i < KINDS; i++) {
		event_set(e, kinds[i].member, s->wanted[i]);
		if (s->wanted[i])
			event_set(e, kinds[i].with, 1);
	}
}

/* Show records in words, at their time of day unless another is asked for; mappings with -v. */
static void side_band_text(struct side_band *s, struct options *shared)
{
	struct text_options *t = &shared->text;

	if (t->clock == CLOCK_OFF && !t->relative.shown) {
		t->clock = CLOCK_TIME;
		t->clock_digits = 1;
	}
	t->words = UINT32_MAX;
	for (size_t i = 0; i < KINDS; i++)
		t->words &= ~kinds[i].types;
	for (size_t i = 0; i < KINDS; i++)
		if (s->wanted[i] && (i != KIND_MMAP || t->full || s->named[i]))
			t->words |= kinds[i].types;
	if (shared->json || shared->perf_data)
		return;
	/* what names tasks, and the files of programs: an exec's first mapping tells that */
	s->wanted[KIND_MMAP] |= s->wanted[KIND_COMM];
	s->wanted[KIND_TASK] = s->wanted[KIND_COMM] = true;
}

/* Add a dummy event, which writes side-band records only. */
static void side_band_add_event(struct opening *o, struct host *h)
{
	struct measure *m = &o->m;
	struct event_spec *e;

	if (!event_list_add(&m->events, h, "dummy"))
		die("dummy: %s", m->events.why);
	e = m->events.events;
	event_set(e, ATTR_SAMPLE_TYPE, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU);
	event_set(e, ATTR_READ_FORMAT, PERF_FORMAT_LOST);
	event_set(e, ATTR_SAMPLE_ID_ALL, 1);
	event_set(e, ATTR_USE_CLOCKID, 1);
	event_set(e, ATTR_CLOCKID, CLOCK_MONOTONIC);
	/* this needs no privilege, and drops no records */
	event_set(e, ATTR_EXCLUDE_KERNEL, 1);
	event_set(e, ATTR_EXCLUDE_HV, 1);
	event_set(e, ATTR_WATERMARK, 1);
	event_set(e, ATTR_WAKEUP_WATERMARK, 1);
	event_set(e, ATTR_DISABLED, 1);
	event_set(e, ATTR_ENABLE_ON_EXEC, measure_is_command(m));
	event_set(e, ATTR_INHERIT, measure_is_command(m) || m->own_session.options.npids);
	set_kinds(&o->side_band, e);
}

/* Retry without a kind that requires privilege or a newer kernel, unless the user named it. */
static bool side_band_retry(void *ctx, struct event_spec *e, int error)
{
	struct opening *o = ctx;
	struct side_band *s = &o->side_band;
	bool denied = error == EACCES || error == EPERM;

	if ((!denied && error != EINVAL) || (denied && trial_gate()))
		return false;
	if (!denied && event_get(e, ATTR_READ_FORMAT)) { /* before Linux 6.0 */
		event_set(e, ATTR_READ_FORMAT, 0);
		return true;
	}
	for (size_t i = KINDS; i--;) {
		if (!s->wanted[i] || s->named[i] || i <= KIND_MMAP ||
		    (denied && kinds[i].member != ATTR_NAMESPACES))
			continue;
		warn("omitting %s records: %s",
		     layout_perf_event_attr.fields[kinds[i].member].name,
		     denied ? "they require CAP_PERFMON or root" : "unknown to this kernel");
		s->wanted[i] = false;
		set_kinds(s, e);
		return true;
	}
	return false;
}

/* Drop forks and exits if unwanted: the kernel writes them with names and mappings, too. */
static bool side_band_wanted(const struct measure *m, uint32_t type)
{
	return (type != PERF_RECORD_FORK && type != PERF_RECORD_EXIT) ||
	       event_get(m->events.events, ATTR_TASK);
}

enum { RATE = 4000 };	/* samples a second, as perf record has it */
enum { USER_LEVEL = 2 };	/* least perf_event_paranoid with which no user may count the kernel */
enum { SIDE_BAND_PAGES = 64 };	/* of a ring, without --mmap */

/* Attrs ------------------------------------------------------------------------- */

static void or_default(struct event_spec *e, unsigned int member, uint64_t bits)
{
	event_default(e, member, bits | event_get(e, member));
}

static bool samples_counts(const struct event_spec *e)
{
	return event_get(e, ATTR_SAMPLE_TYPE) & PERF_SAMPLE_READ;
}

/*
 * Set defaults of --mmap.  leader: its samples contain the counts of e; or NULL.  cpus: all tasks
 * of CPUs are measured.
 */
static void sample_defaults(struct event_spec *e, const struct event_spec *leader,
			    bool first, bool several, bool cpus)
{
	static const unsigned int beside[] = {
		ATTR_MMAP, ATTR_MMAP2, ATTR_COMM, ATTR_COMM_EXEC, ATTR_TASK,
	};
	uint64_t type = event_get(e, ATTR_TYPE);
	long most = rights_sysctl("perf_event_max_sample_rate", RATE);

	if (leader) {
		event_default(e, ATTR_SAMPLE_TYPE, event_get(leader, ATTR_SAMPLE_TYPE));
	} else {
		/* what perf record samples, at its rate */
		if (type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT)
			event_default(e, ATTR_SAMPLE_PERIOD, 1);
		else
			event_default(e, ATTR_SAMPLE_FREQ,
				      most > 0 && most < RATE ? (uint64_t)most : RATE);
		or_default(e, ATTR_SAMPLE_TYPE,
			   PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			   PERF_SAMPLE_PERIOD |
			   (several ? PERF_SAMPLE_IDENTIFIER : 0) |
			   (type == PERF_TYPE_TRACEPOINT ? PERF_SAMPLE_RAW : 0) |
			   (cpus || type == PERF_TYPE_TRACEPOINT ? PERF_SAMPLE_CPU : 0));
	}
	event_default(e, ATTR_SAMPLE_ID_ALL, 1);
	if (!e->given[ATTR_USE_CLOCKID] && !e->given[ATTR_CLOCKID]) {
		event_set(e, ATTR_USE_CLOCKID, 1);
		event_set(e, ATTR_CLOCKID, CLOCK_MONOTONIC);
	}
	for (size_t i = 0; first && i < sizeof(beside) / sizeof(*beside); i++)
		event_default(e, beside[i], 1);
}

/* Return whether event i can be inherited: counts in samples are of one task. */
static bool may_inherit(const struct event_list *l, size_t i)
{
	size_t leader = l->events[i].leader;
	bool tid = event_get(&l->events[i], ATTR_SAMPLE_TYPE) & PERF_SAMPLE_TID;

	if (!event_grouped(l, i))
		return tid || !samples_counts(&l->events[i]);
	for (size_t k = leader; k < l->n; k++)
		if (l->events[k].leader == leader && samples_counts(&l->events[k]))
			return false;
	return true;
}

/* Set the defaults of perf stat and perf record where the user set nothing. */
static void defaults(struct opening *o)
{
	const struct event_list *l = &o->m.events;
	bool command = measure_is_command(&o->m);

	for (size_t i = 0; i < l->n; i++) {
		struct event_spec *e = &l->events[i], *leader = &l->events[e->leader];

		or_default(e, ATTR_READ_FORMAT, PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING | (o->m.pages ? PERF_FORMAT_LOST : 0));
		if (e == leader)
			event_default(e, ATTR_DISABLED, 1);
		if (e == leader && command)
			event_default(e, ATTR_ENABLE_ON_EXEC, 1);
		if (!e->given[ATTR_EXCLUDE_HOST])
			event_default(e, ATTR_EXCLUDE_GUEST, 1);
		if (o->m.pages)
			sample_defaults(e, e != leader && samples_counts(leader) ? leader : NULL,
					!i, l->n > 1, o->m.all || o->m.cpus.n || o->m.cgroup);
		else if (e->reads) /* no samples contain the counts */
			event_default(e, ATTR_SAMPLE_TYPE,
				      event_get(e, ATTR_SAMPLE_TYPE) & ~(uint64_t)PERF_SAMPLE_READ);
	}
	for (size_t i = 0; i < l->n; i++)
		if ((command || o->m.own_session.options.npids) && may_inherit(l, i))
			event_default(&l->events[i], ATTR_INHERIT, 1);
}

/*
 * Retry without what may be refused: exclude_guest by some PMUs, PERF_FORMAT_LOST before
 * Linux 6.0, and kernel events without privilege.
 */
static bool open_retry(void *ctx, struct event_spec *e, int error)
{
	struct opening *o = ctx;
	struct buf rights = { 0 };

	if ((error == EINVAL || error == EOPNOTSUPP) && !e->given[ATTR_EXCLUDE_GUEST] &&
	    event_get(e, ATTR_EXCLUDE_GUEST)) {
		event_set(e, ATTR_EXCLUDE_GUEST, 0);
		return true;
	}
	/* before Linux 6.13 it excludes counts in samples */
	if (error == EINVAL && !e->given[ATTR_INHERIT] && event_get(e, ATTR_INHERIT) &&
	    samples_counts(e)) {
		event_set(e, ATTR_INHERIT, 0);
		return true;
	}
	if (error == EINVAL && !e->given[ATTR_READ_FORMAT] &&
	    event_get(e, ATTR_READ_FORMAT) & PERF_FORMAT_LOST) {
		event_set(e, ATTR_READ_FORMAT,
			  event_get(e, ATTR_READ_FORMAT) & ~(uint64_t)PERF_FORMAT_LOST);
		return true;
	}
	if ((error != EACCES && error != EPERM) || measure_is_system(&o->m) ||
	    o->m.cgroup || e->given[ATTR_EXCLUDE_KERNEL] ||
	    event_get(e, ATTR_EXCLUDE_KERNEL) || rights_perfmon() ||
	    rights_sysctl("perf_event_paranoid", USER_LEVEL) < USER_LEVEL || trial_gate())
		return false;
	event_set(e, ATTR_EXCLUDE_KERNEL, 1);
	event_default(e, ATTR_EXCLUDE_HV, 1);
	if (!o->user_only) {
		refusal_rights(&rights);
		warn("excluding the kernel: %s", buf_str(&rights));
		buf_free(&rights);
	}
	o->user_only = true;
	return true;
}

/* Counts --------------------------------------------------------------------------- */

static void take_count(void *ctx, size_t target, size_t event, const struct read_value *v)
{
	struct opening *o = ctx;
	const struct target *t = &o->m.targets[target];
	/* a task's event for one CPU does not run while the task is on another */
	bool rests = t->cpu >= 0 && t->pid != -1;

	if (!v->timed)
		event_total_add(&o->totals[event], v->value, 1, 1);
	else
		event_total_add(&o->totals[event], v->value, rests ? v->running : v->enabled,
			   v->running);
}

static void read_totals(struct opening *o, bool quiet)
{
	struct measure *m = &o->m;

	for (size_t i = 0; i < m->events.n; i++) {
		const struct event_spec *e = &m->events.events[i];
		uint64_t config = event_get(e, ATTR_CONFIG);

		o->totals[i] = (struct event_total){
			.name = e->attr.label,
			.clock = event_get(e, ATTR_TYPE) == PERF_TYPE_SOFTWARE &&
				 (config == PERF_COUNT_SW_CPU_CLOCK ||
				  config == PERF_COUNT_SW_TASK_CLOCK),
		};
		for (size_t t = 0; t < m->ntargets; t++)
			o->totals[i].opened |= batch_fd(&m->batch, t, i) >= 0;
	}
	batch_read(&m->batch, quiet, take_count, o);
}

/* Show counts on a terminal, if no records are shown. */
static void show_progress(struct measure *m, double seconds)
{
	struct opening *o = (struct opening *)m;
	struct buf line = { 0 };

	read_totals(o, true);
	event_totals_line(o->totals, m->events.n, seconds, &line);
	progress_show(&m->line, buf_str(&line));
	buf_free(&line);
}

static void print_totals(struct opening *o)
{
	struct measure *m = &o->m;
	struct session *s = &m->own_session.session;
	struct output *text = m->own_session.views.text;
	struct buf table = { 0 };

	read_totals(o, false);
	for (size_t i = 0; i < m->ntargets * m->events.n; i++) {
		int fd = batch_fd(&m->batch, i / m->events.n, i % m->events.n);
		struct event *e = fd < 0 ? NULL : model_event(s->model, gettid(), fd);

		if (e && e->count.known)
			session_count(s, e);
	}
	if (!text)
		return;
	event_totals_print(o->totals, m->events.n, (double)(m->to_ns - m->from_ns) / 1e9, &table);
	if (m->aux_pages)
		buf_addf(&table, "%20llu  aux-bytes /* from AUX areas, with %llu gaps */\n",
			 (unsigned long long)m->aux_bytes,
			 (unsigned long long)m->aux_cut);
	output_write(text, getpid(), buf_str(&table), table.len);
	buf_free(&table);
}

static void warn_doubts(const struct opening *o)
{
	struct instruments is = { .host = host_new("/sys", NULL) };
	struct buf why = { 0 };

	for (size_t i = 0; i < o->m.events.n; i++) {
		const struct attr_text *a = &o->m.events.events[i].attr;

		if (!o->totals[i].opened ||
		    !instrument_doubt(&is, a->bytes, a->len, o->totals[i].value, &why))
			continue;
		warn("%s %s", o->totals[i].name, buf_str(&why));
		buf_reset(&why);
	}
	buf_free(&why);
	host_free(is.host);
}

/* The verb ---------------------------------------------------------------------------- */

static void set_pages(void *to, const char *arg, const struct verb_option *o)
{
	size_t pages = (size_t)verb_number(arg, o, 1, 1 << 20);

	if (pages & (pages - 1))
		die("%s requires a power of two (1, 2, 4, 8, ...), not %zu", o->typed, pages);
	*(size_t *)to = pages;
}

static void set_aux(void *to, const char *arg, const struct verb_option *o)
{
	struct measure *m = to;

	m->aux_snapshot = !strcmp(o->name, "aux-snapshot");
	set_pages(&m->aux_pages, arg, o);
}

static const struct verb_option options[] = {
	{ .name = "event", .key = 'e', .arg = "EVENT", .set = options_set_event,
	  .at = offsetof(struct opening, texts),
	  .help = "open events: perf's names such as cycles:u, sched:sched_switch, msr/tsc/, "
		  "mem:0x1000:rw, r1a8, {a,b}, and members of the attr as in "
		  "cpu-clock,sample_freq=99; repeatable" },
	{ .name = "mmap", .key = 'm', .arg = "PAGES", .set = set_pages,
	  .at = offsetof(struct opening, m.pages),
	  .help = "sample, with rings of PAGES pages (a power of two), and show their records "
		  "as they come" },
	{ .name = "aux", .arg = "PAGES", .set = set_aux, .at = offsetof(struct opening, m),
	  .help = "with --mmap, add an AUX area of PAGES pages to each ring" },
	{ .name = "aux-snapshot", .arg = "PAGES", .set = set_aux,
	  .at = offsetof(struct opening, m),
	  .help = "the same, overwritten, and read at the end" },
	{ .name = "side-band", .set = verb_set_true, .at = offsetof(struct opening, is_side_band),
	  .help = "in place of -e, show forks, execs, exits, names and mappings of processes as "
		  "they happen, one line each" },
	{ 0 },
};

static void open_init(void *state)
{
	struct opening *o = state;

	options_init(&o->m.own_session.options);
	for (size_t i = 0; i < KINDS; i++)
		o->side_band.wanted[i] = kinds[i].by_default;
}

static void open_check(struct opening *o, const struct verb_args *args)
{
	struct measure *m = &o->m;
	struct options *shared = &m->own_session.options;

	measure_options_end(m, args);
	m->once = !args->n && !shared->npids && !m->cgroup && !measure_is_system(m);
	if (o->is_side_band && o->texts.n)
		die("-e and --side-band are mutually exclusive: --side-band opens its own event");
	if (o->is_side_band && m->aux_pages)
		die("--aux and --side-band are mutually exclusive: its event writes no AUX data");
	if (o->is_side_band && m->once)
		die("nothing to watch: name a command, a process with -p, or -a for everything; "
		    "see pevtrace open --help");
	if (o->is_side_band && !shared->select.chosen)
		selection_no_calls(&shared->select);
	if (o->is_side_band && !m->pages)
		m->pages = SIDE_BAND_PAGES;
	if (o->is_side_band)
		side_band_text(&o->side_band, shared);
	if (!o->is_side_band && !o->texts.n && args->n && program_find(args->words[0]))
		die("no program '%s', and no event to open: name events with -e, such as -e %s",
		    args->words[0], args->words[0]);
	if (!o->is_side_band && !o->texts.n)
		die("nothing to open: name events with -e, such as -e cpu-clock; see pevtrace open "
		    "--help");
	if (!o->is_side_band && o->chosen)
		die("%s requires --side-band", o->chosen);
	if (m->aux_pages && !m->pages)
		die("--aux requires --mmap=PAGES: an AUX area belongs to a ring");
	if (shared->perf_data && !m->pages)
		die("--perf-data requires --mmap=PAGES: without rings, there are no records");
}

static int open_run(void *state, const struct verb_args *args)
{
	struct opening *o = state;
	struct measure *m = &o->m;
	struct host *h;
	bool command, ran;

	open_check(o, args);
	h = host_new("/sys", NULL);
	options_read_events(&o->texts, h, &m->events);
	if (o->is_side_band)
		side_band_add_event(o, h);
	else
		defaults(o);
	host_free(h);
	o->totals = xcalloc(m->events.n, sizeof(*o->totals));
	m->retry = o->is_side_band ? side_band_retry : open_retry;
	m->wanted = o->is_side_band ? side_band_wanted : NULL;
	if (isatty(STDERR_FILENO) && !m->pages && !m->own_session.options.json)
		m->progress = show_progress;
	ran = measure_open(m) && measure_run(m);
	if (ran && !o->is_side_band) {
		print_totals(o);
		warn_doubts(o);
	} else if (ran) { /* how much was lost: a LOST record requires that another one follows */
		read_totals(o, false);
	}
	command = m->work.pid;
	if (!measure_end(m))
		ran = false;
	free(o->totals);
	return !ran ? EXIT_TROUBLE : command ? end_like(m->work.status) : EXIT_YES;
}

/* Options of perf record and perf stat that are members of an event's attr here. */
static const struct verb_foreign foreign[] = {
	{ "freq", 'F', .why = "it is a member of the event: -e cpu-clock,freq,sample_freq=99 --mmap=8" },
	{ "count", 'c', .why = "it is a member of the event: -e cpu-clock,sample_period=10000 --mmap=8" },
	{ "call-graph", 'g', .why = "it is a member of the event: -e cpu-clock,sample_period=10000,"
	  "sample_type=IP|CALLCHAIN --mmap=8" },
	{ "interval-print", 'I', .why = "counts are shown at the end; -p PID --for=SECONDS ends it" },
	{ "timeout", 0, .why = "--for=SECONDS ends a measurement" },
	{ "repeat", 0, .why = "perf stat -r repeats a command" },
	{ 0 },
};

static const struct verb_group groups[] = {
	{ "What to open", options, 0, 0 },
	{ "Side-band records", side_band_options, offsetof(struct opening, side_band),
	  offsetof(struct opening, chosen) },
	{ "Whom to measure (COMMAND alone: it and its children)", measure_whom, 0, 0 },
	{ "How to show it", options_log, MEASURE_OPTIONS, 0 },
	{ NULL, options_dump, MEASURE_OPTIONS, 0 },
	{ NULL, options_perf_data, MEASURE_OPTIONS, 0 },
	{ NULL, options_calls, MEASURE_OPTIONS, 0 },
	{ NULL, options_full, MEASURE_OPTIONS, 0 },
	{ NULL, options_times, MEASURE_OPTIONS, 0 },
	{ NULL, measure_quiet, 0, 0 },
	{ 0 },
};

const struct verb open_verb = {
	.name = "open",
	.summary = "Open events; show their calls, counts, samples, side-band records",
	.usage =
"open -e EVENT [OPTION]... [--] COMMAND [ARG]...\n"
"open -e EVENT [OPTION]... -p PID | -C CPUS | -a | -G CGROUP [COMMAND [ARG]...]\n"
"open -e EVENT [OPTION]...\n"
"open --side-band [OPTION]... [--] COMMAND [ARG]...\n"
"open --side-band [OPTION]... -p PID | -C CPUS | -a | -G CGROUP [COMMAND [ARG]...]",
	.about =
"Open events, show the calls for that, and what they count. Without a COMMAND or another "
"target, open them on pevtrace itself and close them at once.\n"
"\n"
"With --side-band, show the side-band records of perf events as they are written, one line each, "
"in words: forks, execs, exits, names, and changes of the kernel's code; mappings with -v, calls "
"with --trace.",
	.notes =
"The exit status is COMMAND's own; 2 on misuse, or if nothing could be opened.",
	.examples =
"pevtrace open -e cycles:u,instructions:u ls\n"
"pevtrace open -q -e page-faults,sample_period=1 --mmap=8 ls\n"
"pevtrace open --side-band --only=fork,exec,exit make\n"
"pevtrace open --side-band -a --for=10",
	.operand = "COMMAND",
	.command = true,
	.foreign = foreign,
	.groups = groups,
	.size = sizeof(struct opening),
	.init = open_init,
	.run = open_run,
};
