// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace open --side-band: the dummy event that writes side-band records, and their kinds. */
#include "verbs/open/open.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/abi/attr_member.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "experiment/trial.h"
#include "xlat/constants.h"

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

_Static_assert((int)KINDS == (int)SIDE_BAND_KINDS, "struct side_band has all kinds");

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

void side_band_offer(struct nearest *n)
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
	side_band_offer(&n);
	if (*n.best)
		die("%s: unknown kind of records '%s'; did you mean %s?", o->typed, word, n.best);
	nearest_start_list(&n, append_kind, &words);
	side_band_offer(&n);
	die("%s: unknown kind of records '%s'; valid are:%s", o->typed, word, buf_str(&words));
}

static void choose(struct side_band *s, const char *list, const struct verb_option *o)
{
	char *copy = xstrdup(list), *save, *word;

	if (!list[strspn(list, ", ")])
		die("%s requires kinds of records; see pevtrace open --help", o->typed);
	for (word = strtok_r(copy, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		size_t i = find_kind(word, o);

		s->wanted[i] = s->named[i] = true;
	}
	free(copy);
}

static void set_only(void *to, const char *arg, const struct verb_option *o)
{
	struct side_band *s = to;

	memset(s->wanted, 0, sizeof(s->wanted));
	choose(s, arg, o);
}

static void set_also(void *to, const char *arg, const struct verb_option *o)
{
	choose(to, arg, o);
}

const struct verb_option side_band_options[] = {
	{ .name = "only", .arg = "RECORD", .set = set_only,
	  .help = "show these kinds of records: task comm mmap mmap_data namespaces cgroup "
		  "ksymbol bpf_event text_poke context_switch; or fork exit (task), exec "
		  "(comm), bpf, switch" },
	{ .name = "also", .arg = "RECORD", .set = set_also,
	  .help = "show these, too; the default is all that the user may see except mmap_data "
		  "and context_switch" },
	{ 0 },
};

void side_band_init(struct side_band *s)
{
	for (size_t i = 0; i < KINDS; i++)
		s->wanted[i] = kinds[i].by_default;
}

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

void side_band_add_event(struct opening *o, struct host *h)
{
	struct measure *m = &o->m;
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
	set_kinds(&o->side_band, e);
}

bool side_band_retry(void *ctx, struct event_spec *e, int error)
{
	struct opening *o = ctx;
	struct side_band *s = &o->side_band;
	bool denied = error == EACCES || error == EPERM;

	if ((!denied && error != EINVAL) || (denied && trial_gate()))
		return false;
	for (size_t i = KINDS; i--;) {
		if (!s->wanted[i] || s->named[i] || i < 3 ||
		    (denied && kinds[i].member != ATTR_NAMESPACES))
			continue;
		warn("omitting %s records: %s", kind_name(i), denied ?
		     "they require CAP_PERFMON or root" : "unknown to this kernel");
		s->wanted[i] = false;
		set_kinds(s, e);
		return true;
	}
	return false;
}

bool side_band_wanted(const struct measure *m, uint32_t type)
{
	return (type != PERF_RECORD_FORK && type != PERF_RECORD_EXIT) ||
	       event_get(m->events.events, ATTR_TASK);
}
