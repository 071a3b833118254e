// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace watch: side-band records of processes as they are written. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/abi/attr_member.h"
#include "verbs/cmd.h"
#include "experiment/trial.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "verbs/measure/measure.h"
#include "xlat/constants.h"

enum { PAGES = 64 };

/* The kinds of records, by their bit in the attr; newest last. */
static const struct kind {
	unsigned int member;
	unsigned int with;	/* another bit to set with it, or the same */
	bool by_default;
} kinds[] = {
	{ ATTR_TASK, ATTR_TASK, true },
	{ ATTR_COMM, ATTR_COMM_EXEC, true },
	{ ATTR_MMAP, ATTR_MMAP2, true },
	{ ATTR_MMAP_DATA, ATTR_MMAP2, false },
	{ ATTR_CONTEXT_SWITCH, ATTR_CONTEXT_SWITCH, false },
	{ ATTR_NAMESPACES, ATTR_NAMESPACES, true },
	{ ATTR_KSYMBOL, ATTR_KSYMBOL, true },
	{ ATTR_BPF_EVENT, ATTR_BPF_EVENT, true },
	{ ATTR_CGROUP, ATTR_CGROUP, true },
	{ ATTR_TEXT_POKE, ATTR_TEXT_POKE, true },
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

struct watching {
	struct measure m;	/* first member: hooks cast it back */
	bool wanted[KINDS];
	bool named[KINDS];	/* by the user: never dropped */
};

static const char *kind_name(size_t i)
{
	return layout_perf_event_attr.fields[kinds[i].member].name;
}

/* Other names, after the records. */
static const struct { const char *word; unsigned int member; } others[] = {
	{ "fork", ATTR_TASK }, { "exit", ATTR_TASK }, { "exec", ATTR_COMM },
	{ "mmap2", ATTR_MMAP }, { "namespace", ATTR_NAMESPACES }, { "bpf", ATTR_BPF_EVENT },
	{ "switch", ATTR_CONTEXT_SWITCH },
};

static void offer_kinds(struct nearest *n)
{
	for (size_t i = 0; i < KINDS; i++)
		nearest_try(n, kind_name(i));
	for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++)
		nearest_try(n, others[k].word);
}

static void append_kind(void *ctx, const char *word)
{
	buf_addf(ctx, " %s", word);
}

static size_t find_kind(char *word, const struct verb_option *o)
{
	struct buf words = { 0 };
	struct nearest n;

	for (char *p = word; *p; p++)
		*p = *p == '-' ? '_' : (char)tolower((unsigned char)*p);
	for (size_t i = 0; i < KINDS; i++) {
		if (!strcmp(kind_name(i), word))
			return i;
		for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++)
			if (others[k].member == kinds[i].member && !strcmp(others[k].word, word))
				return i;
	}
	nearest_start(&n, word, strlen(word));
	offer_kinds(&n);
	if (*n.best)
		die("--%s: unknown kind of records '%s'; did you mean %s?", o->name, word, n.best);
	nearest_start_list(&n, append_kind, &words);
	offer_kinds(&n);
	die("--%s: unknown kind of records '%s'; valid are:%s", o->name, word, buf_str(&words));
}

static void watch_choose(struct watching *w, const char *list, const struct verb_option *o)
{
	char *copy = xstrdup(list), *save, *word;

	if (!list[strspn(list, ", ")])
		die("--%s requires kinds of records; see pevtrace watch --help", o->name);
	for (word = strtok_r(copy, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		size_t i = find_kind(word, o);

		w->wanted[i] = w->named[i] = true;
	}
	free(copy);
}

static void watch_set_only(void *to, const char *arg, const struct verb_option *o)
{
	struct watching *w = to;

	memset(w->wanted, 0, sizeof(w->wanted));
	watch_choose(w, arg, o);
}

static void set_also(void *to, const char *arg, const struct verb_option *o)
{
	watch_choose(to, arg, o);
}

static const struct verb_option options[] = {
	{ .name = "only", .arg = "RECORD", .set = watch_set_only,
	  .help = "show these kinds of records: task comm mmap mmap_data namespaces cgroup "
		  "ksymbol bpf_event text_poke context_switch; or fork exit (task), exec "
		  "(comm), bpf, switch" },
	{ .name = "also", .arg = "RECORD", .set = set_also,
	  .help = "show these, too; the default is all that the user may see except mmap_data "
		  "and context_switch" },
	{ 0 },
};

static void watch_init(void *state)
{
	struct watching *w = state;
	struct options *o = &w->m.own_session.options;

	options_init(o);
	selection_trace(&o->select, "none");
	o->text.max_string = PATH_MAX;
	for (size_t i = 0; i < KINDS; i++)
		w->wanted[i] = kinds[i].by_default;
}

/* Set the bits of the kinds that are wanted, and those that go with them. */
static void set_kinds(const struct watching *w, struct event_spec *e)
{
	for (size_t i = 0; i < KINDS; i++)
		event_set(e, kinds[i].with, 0);
	for (size_t i = 0; i < KINDS; i++) {
		event_set(e, kinds[i].member, w->wanted[i]);
		if (w->wanted[i])
			event_set(e, kinds[i].with, 1);
	}
}

/* Add a dummy event, which writes side-band records only. */
static void make_event(struct watching *w, struct host *h)
{
	struct measure *m = &w->m;
	struct event_spec *e;

	if (!event_list_add(&m->events, h, "dummy"))
		die("dummy: %s", m->events.why);
	e = m->events.events;
	event_set(e, ATTR_SAMPLE_TYPE, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU);
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
	set_kinds(w, e);
}

/* Retry without a kind that requires privilege or a newer kernel, unless the user named it. */
static bool watch_retry(void *ctx, struct event_spec *e, int error)
{
	struct watching *w = ctx;
	bool denied = error == EACCES || error == EPERM;

	if ((!denied && error != EINVAL) || (denied && trial_gate()))
		return false;
	for (size_t i = KINDS; i--;) {
		if (!w->wanted[i] || w->named[i] || i < 3 ||
		    (denied && kinds[i].member != ATTR_NAMESPACES))
			continue;
		warn("omitting %s records: %s", kind_name(i), denied ?
		     "they require CAP_PERFMON or root" : "unknown to this kernel");
		w->wanted[i] = false;
		set_kinds(w, e);
		return true;
	}
	return false;
}

/* Drop forks and exits if unwanted: the kernel writes them with names and mappings, too. */
static bool watch_wanted(const struct measure *m, uint32_t type)
{
	return (type != PERF_RECORD_FORK && type != PERF_RECORD_EXIT) ||
	       event_get(m->events.events, ATTR_TASK);
}

static int watch_run(void *state, const struct verb_args *args)
{
	struct watching *w = state;
	struct measure *m = &w->m;
	struct host *h;
	bool ran, command;

	measure_options_end(m, args);
	if (!args->n && !m->own_session.options.npids && !m->cgroup && !measure_is_system(m))
		die("nothing to watch: name a command, a process with -p, or -a for everything; "
		    "see pevtrace watch --help");
	h = host_new("/sys", NULL);
	make_event(w, h);
	host_free(h);
	m->pages = PAGES;
	m->retry = watch_retry;
	m->wanted = watch_wanted;
	ran = measure_open(m) && measure_run(m);
	if (m->lost)
		warn("%llu records were lost: the rings were full",
		     (unsigned long long)m->lost);
	command = m->work.pid;
	if (!measure_end(m))
		ran = false;
	return !ran ? EXIT_TROUBLE : command ? end_like(m->work.status) : EXIT_YES;
}

static const struct verb_group groups[] = {
	{ "What to show", options, 0, 0 },
	MEASURE_GROUPS(0, options_full_strings),
	{ 0 },
};

const struct verb watch_verb = {
	.name = "watch",
	.own = "RECORD",
	.offer = offer_kinds,
	.summary = "Show forks, execs, exits and mappings of processes as they happen",
	.usage =
"watch [OPTION]... [--] COMMAND [ARG]...\n"
"watch [OPTION]... -p PID | -C CPUS | -a | -G CGROUP",
	.about =
"Show the side-band records of perf events as they are written, one line each: forks, "
"execs, exits, names, mappings, and changes of the kernel's code.",
	.notes =
"Calls are shown only with --trace. The exit status is COMMAND's own; 2 on misuse, or if "
"nothing could be watched.",
	.examples =
"pevtrace watch --only=fork,exec,exit make\n"
"pevtrace watch -a --for=10",
	.operand = "COMMAND",
	.command = true,
	.groups = groups,
	.size = sizeof(struct watching),
	.init = watch_init,
	.run = watch_run,
};
