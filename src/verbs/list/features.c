// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace list --tried: which features are tried, and how the trials begin and end. */
#include "verbs/list/features.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/abi/strings.h"
#include "core/host/mounts.h"
#include "core/host/proc.h"
#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "experiment/trial.h"
#include "verbs/measure/refusal.h"

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

static bool features_wanted(const struct features *fs, const struct feature *f)
{
	if (!fs->words[0])
		return true;
	for (const char *const *w = fs->words; *w; w++)
		if (called(f, *w))
			return true;
	return false;
}

/* Return whether word is a kind, even one without features here, or a feature. */
static bool is_known(const struct features *fs, const char *word)
{
	if (features_kind_of(word))
		return true;
	for (size_t i = 0; i < fs->n; i++)
		if (called(&fs->list[i], word))
			return true;
	return false;
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
	for (size_t i = 0; i < fs->n; i++) {
		const struct feature *f = &fs->list[i];

		nearest_try(n, buf_str(&f->name));
		nearest_try(n, buf_str(&f->name) + strlen(f->prefix));
	}
}

static _Noreturn void unknown_feature(const struct features *fs, const char *word)
{
	struct nearest n;

	nearest_start(&n, word, strlen(word));
	offer_features(fs, &n);
	if (*n.best)
		die("no such kind or feature '%s'; did you mean %s?", word, n.best);
	die("no such kind or feature '%s'; pevtrace list --help lists the kinds, and "
	    "pevtrace list --tried KIND the features of a kind", word);
}

/* Fill in the list with all features, then keep those that were asked for. */
static void list(struct features *fs)
{
	size_t n = 0;

	features_list(fs);
	for (const char *const *w = fs->words; *w; w++)
		if (!is_known(fs, *w))
			unknown_feature(fs, *w);
	for (size_t i = 0; i < fs->n; i++)
		if (features_wanted(fs, &fs->list[i]))
			fs->list[n++] = fs->list[i];
		else
			free_feature(&fs->list[i]);
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

/* Mark all as untried: something answers in place of the kernel. */
static void features_blocked(struct features *fs)
{
	struct buf why = { 0 };

	buf_addf(&why, "blocked: every call fails before it reaches perf, with %s",
		 error_name(fs->gate));
	for (size_t i = 0; i < fs->n; i++)
		features_found(&fs->list[i], FEATURE_UNTRIED, NULL, buf_str(&why));
	buf_free(&why);
}

/* Return whether a child could be created for any experiment. */
static bool has_children(const struct features *fs)
{
	for (size_t i = 0; i < fs->nbases; i++)
		if (fs->bases[i].error != ECHILD)
			return true;
	return false;
}

static bool features_try_all(struct features *fs)
{
	struct progress progress;

	/* reap children even if SIGCHLD was ignored by our parent */
	signal(SIGCHLD, SIG_DFL);
	fs->gate = trial_gate();
	if (fs->gate)
		features_blocked(fs);
	features_prepare(fs);
	if (!fs->gate && !has_children(fs)) {
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

int features_run(const struct options *o, const char *const *words, bool all_cpus)
{
	struct features fs = { .words = words, .all_cpus = all_cpus };
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
