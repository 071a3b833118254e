// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace watch: what happens to processes, in the records beside samples. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi/attr_member.h"
#include "cmd/cmd.h"
#include "drive/trial.h"
#include "lib/buf.h"
#include "lib/die.h"
#include "lib/nearest.h"
#include "measure/measure.h"
#include "xlat/constants.h"

enum { OPT_ONLY = MEASURE_OWN, OPT_ALSO, PAGES = 64 };

static const char help[] =
"Usage: pevtrace watch [OPTION]... [--] COMMAND [ARG]...\n"
"       pevtrace watch [OPTION]... -p PID | -C LIST | -a | -G CGROUP\n"
"Print what happens to processes as it happens, one line each: forks, execs,\n"
"exits, names, mappings, and what becomes of the kernel's code.\n"
"\n"
"      --only=LIST            these kinds: task comm mmap mmap_data namespaces\n"
"                             cgroup ksymbol bpf_event text_poke context_switch;\n"
"                             or fork exit (task), exec (comm), bpf, switch\n"
"      --also=LIST            more than the default, which is all that may be\n"
"                             seen but mmap_data and context_switch\n"
"      --trace=SET            the calls that this takes, too: perf, or as in\n"
"                             pevtrace --help\n"
"  -q, --quiet                no calls (the default)\n"
"\n"
MEASURE_HELP
"\n"
"How to show it:\n"
MEASURE_HELP_SHOW
"\n"
"The exit status is COMMAND's own; 2 on misuse, or when nothing could be watched.\n";

static const struct option long_options[] = {
	MEASURE_LONG,
	{ "also", required_argument, NULL, OPT_ALSO },
	{ "only", required_argument, NULL, OPT_ONLY },
	{ NULL, 0, NULL, 0 },
};

/* The kinds, by the bit of attr that asks for them; newest last. */
static const struct kind {
	unsigned int member;
	unsigned int with;	/* another bit that comes with it, or the same */
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
	struct measure m;	/* first: hooks get it back */
	bool wanted[KINDS];
	bool named[KINDS];	/* by the user: not to be left out */
};

static const char *kind_name(size_t i)
{
	return layout_perf_event_attr.fields[kinds[i].member].name;
}

/* What people call them who think of the records, in their small letters. */
static const struct { const char *word; unsigned int member; } others[] = {
	{ "fork", ATTR_TASK }, { "exit", ATTR_TASK }, { "exec", ATTR_COMM },
	{ "mmap2", ATTR_MMAP }, { "namespace", ATTR_NAMESPACES }, { "bpf", ATTR_BPF_EVENT },
	{ "switch", ATTR_CONTEXT_SWITCH },
};

static size_t find_kind(char *word, const char *option)
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
	for (size_t i = 0; i < KINDS; i++)
		nearest_try(&n, kind_name(i));
	if (*n.best)
		die("%s: no kind of records is called '%s'; did you mean %s?", option, word,
		    n.best);
	for (size_t i = 0; i < KINDS; i++)
		buf_addf(&words, " %s", kind_name(i));
	die("%s: no kind of records is called '%s'; there are%s", option, word,
	    buf_str(&words));
}

static void choose(struct watching *w, const char *list, const char *option)
{
	char *copy = xstrdup(list), *save, *word;

	if (!list[strspn(list, ", ")])
		die("%s needs kinds of records; pevtrace watch --help lists them", option);
	for (word = strtok_r(copy, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		size_t i = find_kind(word, option);

		w->wanted[i] = w->named[i] = true;
	}
	free(copy);
}

static void parse(struct watching *w, int argc, char **argv)
{
	struct measure *m = &w->m;
	int opt;

	options_init(&m->own_session.options);
	selection_trace(&m->own_session.options.select, "none");
	m->own_session.options.text.max_string = PATH_MAX;
	for (size_t i = 0; i < KINDS; i++)
		w->wanted[i] = kinds[i].by_default;
	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, MEASURE_SHORT, long_options, NULL)) != -1) {
		switch (opt) {
		case OPT_ONLY:
			memset(w->wanted, 0, sizeof(w->wanted));
			choose(w, optarg, "--only");
			break;
		case OPT_ALSO:
			choose(w, optarg, "--also");
			break;
		default:
			measure_option(m, opt, optarg, argv, "watch", help);
		}
	}
	measure_options_end(m, argc, argv);
	if (!m->own_session.options.argv && !m->own_session.options.npids && !m->cgroup &&
	    !measure_is_system(m))
		die("nobody to watch: name a command, a process with -p, or say -a for "
		    "everybody; see pevtrace watch --help");
}

/* Bits that come along are there as long as one of those is that they go with. */
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

/* An event that counts nothing and writes what goes on beside. */
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
	/* every user may have it that way, and nothing is left out by it */
	event_set(e, ATTR_EXCLUDE_KERNEL, 1);
	event_set(e, ATTR_EXCLUDE_HV, 1);
	event_set(e, ATTR_WATERMARK, 1);
	event_set(e, ATTR_WAKEUP_WATERMARK, 1);
	event_set(e, ATTR_DISABLED, 1);
	event_set(e, ATTR_ENABLE_ON_EXEC, measure_is_command(m));
	event_set(e, ATTR_INHERIT, measure_is_command(m) || m->own_session.options.npids);
	set_kinds(w, e);
}

/*
 * What this user may not see, or this kernel does not know, is left out, unless
 * it was asked for by name.
 */
static bool retry(void *ctx, struct event_spec *e, int error)
{
	struct watching *w = ctx;
	bool denied = error == EACCES || error == EPERM;

	if ((!denied && error != EINVAL) || (denied && trial_gate()))
		return false;
	for (size_t i = KINDS; i--;) {
		if (!w->wanted[i] || w->named[i] || i < 3 ||
		    (denied && kinds[i].member != ATTR_NAMESPACES))
			continue;
		warn("leaving out %s records: %s", kind_name(i), denied ?
		     "they take CAP_PERFMON or root" : "this kernel does not have them");
		w->wanted[i] = false;
		set_kinds(w, e);
		return true;
	}
	return false;
}

/* The kernel adds forks and exits to names and mappings, asked or not. */
static bool wanted(const struct measure *m, uint32_t type)
{
	return (type != PERF_RECORD_FORK && type != PERF_RECORD_EXIT) ||
	       event_get(m->events.events, ATTR_TASK);
}

int cmd_watch(int argc, char **argv)
{
	struct watching w = { 0 };
	struct host *h;
	bool ran, command;

	parse(&w, argc, argv);
	h = host_new("/sys", NULL);
	make_event(&w, h);
	host_free(h);
	w.m.pages = PAGES;
	w.m.retry = retry;
	w.m.wanted = wanted;
	ran = measure_open(&w.m) && measure_run(&w.m);
	if (w.m.lost)
		warn("%llu records were lost: they came faster than they were taken",
		     (unsigned long long)w.m.lost);
	command = w.m.work.pid;
	if (!measure_end(&w.m))
		ran = false;
	return !ran ? EXIT_TROUBLE : command ? end_like(w.m.work.status) : EXIT_YES;
}
