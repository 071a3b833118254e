// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace list --tried: which features are tried, and how the trials begin and end. */
#include "verbs/list/features.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/host/pmu.h"
#include "core/lib/die.h"
#include "core/model/event_name.h"
#include "experiment/trial.h"
#include "verbs/measure/refusal.h"

/* The list, by kind, from the tables ------------------------------------------------------- */

static const uint32_t hardware = PERF_TYPE_HARDWARE, software = PERF_TYPE_SOFTWARE,
	cache = PERF_TYPE_HW_CACHE;

/* Append an untried feature; the pointer is valid until the next call. */
static struct feature *features_add(struct features *fs, const struct feature_kind *k,
				    const char *name, uint32_t since, const char *meaning)
{
	struct feature new = { .kind = k, .prefix = "", .since = since, .meaning = meaning };

	buf_adds(&new.name, name);
	APPEND(fs->list, fs->n) = new;
	return &fs->list[fs->n - 1];
}

static void add_table(struct features *fs, const struct feature_kind *k, const struct xlat *x,
		      feature_try_fn *try, const void *what)
{
	for_each(e, x->entries, x->n) {
		struct feature *f;

		if (e->traits & (XLAT_NONABI | XLAT_ALIAS))
			continue;
		f = features_add(fs, k, e->name, xlat_since(e, fs->facts.rules.machine.release),
				 e->meaning);
		f->prefix = x->prefix;
		f->try = try;
		f->what = what;
		f->value = e->value;
	}
}

static void add_members(struct features *fs, const struct feature_kind *k)
{
	const struct layout *l = &layout_perf_event_attr;

	for_each(m, l->fields, l->n) {
		struct feature *f;
		size_t n = 0;

		if (m->kind == FIELD_RESERVED)
			continue;
		f = features_add(fs, k, m->name, m->since, m->meaning);
		for (size_t j = 0; j < l->n; j++)
			n += !strcmp(l->fields[j].name, m->name);
		if (n > 1 && m->when.pmu)
			buf_addf(&f->name, " (%s)", m->when.pmu);
		f->try = features_try_member;
		f->what = m;
	}
}

/* Add the arguments that choose the target or group, and the flags. */
static void features_add_call(struct features *fs, const struct feature_kind *k)
{
	const struct call_desc *d = call_by_name("perf_event_open");

	for (unsigned int i = 0; i < d->nargs; i++) {
		const struct arg_desc *a = &d->args[i];
		struct feature *f;

		if (a->kind != ARG_EVENT_PID && a->kind != ARG_CPU && a->kind != ARG_GROUP_FD)
			continue;
		f = features_add(fs, k, a->name, d->since, "Measures the task or CPU, or joins "
				 "the group, that it names");
		f->try = features_try_argument;
		f->what = a;
		if (a->kind != ARG_EVENT_PID)
			continue;
		f = features_add(fs, k, a->name, d->since, "Measures every task of a CPU");
		buf_adds(&f->name, "=-1");
		f->try = features_try_cpu;
	}
	add_table(fs, k, &xlat_perf_event_open_flags, features_try_flag, NULL);
	for (size_t i = 0; i < fs->n; i++)
		if (fs->list[i].try == features_try_flag &&
		    fs->list[i].value == PERF_FLAG_PID_CGROUP)
			fs->list[i].try = features_try_cpu;
}

static void add_ioctls(struct features *fs, const struct feature_kind *k)
{
	for_each(d, ioctl_descs, ioctl_ndescs) {
		struct feature *f = features_add(fs, k, d->name, d->since, d->meaning);

		f->try = features_try_ioctl;
		f->what = d;
	}
}

static bool real(const struct xlat_entry *e)
{
	return !(e->traits & XLAT_NONABI);
}

static void add_cache(struct features *fs, const struct feature_kind *k,
		      const struct xlat_entry *id, const struct xlat_entry *op,
		      const struct xlat_entry *result)
{
	uint64_t config = id->value | op->value << 8 | result->value << 16;
	uint8_t attr[FEATURE_ATTR_MAX];
	size_t len = features_attr(fs, cache, config, attr);
	struct buf name = { 0 };
	struct feature *f;

	features_put(attr, ATTR_EXCLUDE_KERNEL, 0); /* no modifiers in the name */
	event_name(attr, len, &fs->machine.names, &name);
	f = features_add(fs, k, buf_str(&name), id->since, id->meaning);
	f->try = features_try_event;
	f->what = &cache;
	f->value = config;
	buf_free(&name);
}

static void add_caches(struct features *fs, const struct feature_kind *k)
{
	const struct xlat *ids = &xlat_perf_hw_cache_id, *ops = &xlat_perf_hw_cache_op_id,
		*results = &xlat_perf_hw_cache_op_result_id;

	for (size_t i = 0; i < ids->n; i++)
		for (size_t j = 0; j < ops->n; j++)
			for (size_t l = 0; l < results->n; l++)
				if (real(&ids->entries[i]) && real(&ops->entries[j]) &&
				    real(&results->entries[l]))
					add_cache(fs, k, &ids->entries[i], &ops->entries[j],
						  &results->entries[l]);
}

static void add_breakpoints(struct features *fs, const struct feature_kind *k)
{
	add_table(fs, k, &xlat_hw_breakpoint_type, features_try_breakpoint, NULL);
	add_table(fs, k, &xlat_hw_breakpoint_len, features_try_breakpoint,
		  &xlat_hw_breakpoint_len);
}

static int features_by_name(const void *a, const void *b)
{
	const struct pmu *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* Add PMUs in alphabetical order. */
static void add_pmus(struct features *fs, const struct feature_kind *k)
{
	const struct pmu **all = NULL;
	size_t n = 0;

	for (const struct pmu *p = host_pmus(fs->machine.host); p; p = p->next)
		APPEND(all, n) = p;
	if (n)
		qsort(all, n, sizeof(*all), features_by_name);
	for (size_t i = 0; i < n; i++) {
		const struct pmu_desc *d = pmu_desc_by_name(all[i]->name);
		struct feature *f = features_add(fs, k, all[i]->name, d ? d->since : 0,
						 d ? d->meaning : "");

		f->try = features_try_pmu;
		f->what = all[i];
	}
	free(all);
}

static const struct feature_kind feature_kinds[] = {
	{ "attr", "members of struct perf_event_attr", true, .add = add_members },
	{ "size", "sizes of struct perf_event_attr", true,
	  .table = &xlat_perf_attr_size, .try = features_try_size },
	{ "sample_type", "what samples hold", true,
	  .table = &xlat_perf_event_sample_format, .try = features_try_sample },
	{ "branch_sample_type", "branches that samples hold", true,
	  .table = &xlat_perf_branch_sample_type, .try = features_try_sample },
	{ "read_format", "what a read returns", true,
	  .table = &xlat_perf_event_read_format, .try = features_try_read },
	{ "clockid", "clocks that times are taken from", false,
	  .table = &xlat_clockid, .try = features_try_clock },
	{ "call", "arguments and flags of perf_event_open", true, .add = features_add_call },
	{ "ioctl", "ioctls of an event", true, .add = add_ioctls },
	{ "type", "types of events", true,
	  .table = &xlat_perf_type_id, .try = features_try_type },
	{ "hardware", "generic hardware events", true,
	  .table = &xlat_perf_hw_id, .try = features_try_event, .what = &hardware },
	{ "cache", "generic cache events", true, .add = add_caches },
	{ "software", "software events", true,
	  .table = &xlat_perf_sw_ids, .try = features_try_event, .what = &software },
	{ "breakpoint", "kinds and lengths of breakpoints", false, .add = add_breakpoints },
	{ "pmu", "PMUs in sysfs", false, .add = add_pmus },
	{ NULL, NULL, false, .add = NULL },
};

/* More than one experiment has open at a time. */
enum { DESCRIPTORS = 12 };

/* Selection ----------------------------------------------------------------------------- */

static const struct feature_kind *features_kind_of(const char *word)
{
	for (const struct feature_kind *k = feature_kinds; k->name; k++)
		if (!strcmp(k->name, word))
			return k;
	return NULL;
}

/* Return whether word is the kind or name of f: whole, without PERF_, or without its prefix. */
static bool called(const struct feature *f, const char *word)
{
	const char *name = buf_str(&f->name);
	size_t n = strlen(f->prefix);

	if (features_kind_of(word))
		return f->kind == features_kind_of(word);
	return !strcasecmp(name, word) || (n && !strcasecmp(name + n, word)) ||
	       (!strncmp(name, "PERF_", 5) && !strcasecmp(name + 5, word));
}

static void free_feature(struct feature *f)
{
	buf_free(&f->name);
	buf_free(&f->why);
}

static void offer_features(const struct features *fs, struct nearest *n)
{
	for (const struct feature_kind *k = feature_kinds; k->name; k++)
		nearest_try(n, k->name);
	for_each(f, fs->list, fs->n) {
		nearest_try(n, buf_str(&f->name));
		nearest_try(n, buf_str(&f->name) + strlen(f->prefix));
	}
}

/* Fill in the list with all features, then keep those that were asked for. */
static void list(struct features *fs)
{
	struct nearest near;
	size_t n = 0;

	for (const struct feature_kind *k = feature_kinds; k->name; k++) {
		if (k->add)
			k->add(fs, k);
		if (k->table)
			add_table(fs, k, k->table, k->try, k->what);
	}
	for (const char *const *w = fs->words; *w; w++) {
		/* a kind may have no features here */
		bool known = features_kind_of(*w);

		for (size_t i = 0; i < fs->n && !known; i++)
			known = called(&fs->list[i], *w);
		if (known)
			continue;
		nearest_start(&near, *w, strlen(*w));
		offer_features(fs, &near);
		if (*near.best)
			die("no such kind or feature '%s'; did you mean %s?", *w, near.best);
		die("no such kind or feature '%s'; pevtrace list --help lists the kinds, and "
		    "pevtrace list --tried KIND the features of a kind", *w);
	}
	for (size_t i = 0; i < fs->n; i++) {
		bool wanted = !fs->words[0];

		for (const char *const *w = fs->words; *w && !wanted; w++)
			wanted = called(&fs->list[i], *w);
		if (wanted)
			fs->list[n++] = fs->list[i];
		else
			free_feature(&fs->list[i]);
	}
	fs->n = n;
}

static void list_free(struct features *fs)
{
	for (size_t i = 0; i < fs->n; i++)
		free_feature(&fs->list[i]);
	free(fs->list);
	features_runs_free(fs);
	facts_close(&fs->facts);
	machine_close(&fs->machine);
}

static bool features_try_all(struct features *fs)
{
	struct progress progress;
	struct buf why = { 0 };
	bool children = false;

	/* reap children even if SIGCHLD was ignored by our parent */
	signal(SIGCHLD, SIG_DFL);
	fs->gate = trial_gate();
	if (fs->gate)
		buf_addf(&why, "blocked: every call fails before it reaches perf, with %s",
			 error_name(fs->gate));
	for (size_t i = 0; fs->gate && i < fs->n; i++)
		features_found(&fs->list[i], FEATURE_UNTRIED, NULL, buf_str(&why));
	buf_free(&why);
	features_prepare(fs);
	features_show_facts(fs);
	for (size_t i = 0; i < fs->nbases; i++)
		children |= fs->bases[i].error != ECHILD;
	if (!fs->gate && !children) {
		warn("cannot create a process to try calls in; raise the limit of processes "
		     "(ulimit -u, pids.max of the cgroup)");
		return false;
	}
	showing_progress(&fs->out, &progress, "features tried");
	for (size_t i = 0; i < fs->n; i++) {
		if (!fs->gate) {
			progress_step(&progress, i, fs->n);
			fs->list[i].try(fs, &fs->list[i]);
			features_found(&fs->list[i], FEATURE_UNTRIED, NULL,
				       "the trial did not end");
		}
		features_show(fs, i);
	}
	progress_end(&progress);
	if (fs->held >= 0)
		close(fs->held);
	return true;
}

int features_run(const struct options *o, const char *const *words, bool all_cpus,
		 bool tracepoints)
{
	struct features fs = { .words = words, .all_cpus = all_cpus, .tracepoints = tracepoints };
	bool tried;

	if (!descriptors_want(DESCRIPTORS)) {
		refusal_descriptors("list --tried", DESCRIPTORS);
		return EXIT_TROUBLE;
	}
	mounts_warn_facts();
	machine_open(&fs.machine);
	facts_open(&fs.facts, fs.machine.host);
	fs.instruments.host = fs.machine.host;
	list(&fs);
	showing_open(&fs.out, o);
	tried = features_try_all(&fs);
	if (fs.ran_out)
		warn("descriptors ran out (%s): refusals with that error are no results; see "
		     "ulimit -n and fs.file-max", error_name(fs.ran_out));
	if (tried) {
		features_show_instruments(&fs);
		features_show_machine(&fs);
	}
	list_free(&fs);
	return showing_close(&fs.out) && tried && !fs.ran_out ? EXIT_YES : EXIT_TROUBLE;
}

void features_offer(struct nearest *n)
{
	static const char *const none[] = { NULL };
	struct features fs = { .words = none };

	machine_open(&fs.machine);
	facts_open(&fs.facts, fs.machine.host);
	list(&fs);
	offer_features(&fs, n);
	list_free(&fs);
}
