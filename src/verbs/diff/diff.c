// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace diff: compare two dumps or perf.data files, or a dump with an expectation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/abi/attr_member.h"
#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "core/lib/pager.h"
#include "formats/diff/compare.h"
#include "formats/diff/expect.h"
#include "formats/perfdata/perfdata.h"
#include "verbs/cli/input.h"
#include "verbs/cli/machine.h"
#include "verbs/cli/options.h"
#include "verbs/cmd.h"
#include "verbs/diff/diff_print.h"
#include "xlat/tables.h"

/* Whether the threads of a process are compared as one task. */
enum merge_when { MERGE_AUTO, MERGE_ALWAYS, MERGE_NEVER };

struct diffing {
	struct normal_choice choice;
	char **words;		/* owned; names in choice point into them */
	size_t nwords;
	struct diff_print print;
	enum color_when color;
	bool normalize, no_pager;
	enum merge_when merge;
	struct normal_reading how;
	const char *expect;
	bool trouble;
	struct normal_forms *forms;
};

/* One of the compared files. */
struct side {
	struct normal *normal;	/* NULL after a warn() */
	bool ids;		/* a perf.data file, with the ids of every event */
};

/* Options -------------------------------------------------------------------- */

static void offer_fields(struct nearest *n)
{
	for (size_t i = 0; i < CALL_COUNT; i++)
		nearest_try(n, call_descs[i].name);
	attr_member_offer(n);
}

static _Noreturn void unknown_field(const char *word, const struct verb_option *o)
{
	struct nearest n;

	nearest_start(&n, word, strlen(word));
	offer_fields(&n);
	if (*n.best)
		die("%s: no such field or call '%s'; did you mean %s?", o->typed, word, n.best);
	die("%s: no such field or call '%s'; pevtrace diff --normalize shows their names",
	    o->typed, word);
}

static void diff_choose(struct diffing *d, const char ***list, size_t *n, const char *arg,
			const struct verb_option *o)
{
	char *copy = xstrdup(arg), *save, *word;

	d->words = xrealloc(d->words, (d->nwords + 1) * sizeof(*d->words));
	d->words[d->nwords++] = copy;
	for (word = strtok_r(copy, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		if (!normal_known(word) && strcmp(word, "added") &&
		    strcmp(word, "removed") && strcmp(word, "order"))
			unknown_field(word, o);
		*list = xrealloc(*list, (*n + 1) * sizeof(**list));
		(*list)[(*n)++] = word;
	}
}

static void set_ignore(void *to, const char *arg, const struct verb_option *o)
{
	struct diffing *d = to;

	diff_choose(d, &d->choice.ignore, &d->choice.nignore, arg, o);
}

static void diff_set_only(void *to, const char *arg, const struct verb_option *o)
{
	struct diffing *d = to;

	diff_choose(d, &d->choice.only, &d->choice.nonly, arg, o);
}

static void diff_set_merge(void *to, const char *arg, const struct verb_option *o)
{
	static const enum merge_when when[] = { MERGE_ALWAYS, MERGE_NEVER, MERGE_AUTO };

	*(enum merge_when *)to = arg ? when[verb_word(arg, o)] : MERGE_ALWAYS;
}

#define AT(member) offsetof(struct diffing, member)

static const struct verb_option options[] = {
	{ .name = "normalize", .set = verb_set_true, .at = AT(normalize),
	  .help = "write the dump in normal form, one call per line" },
	{ .name = "expect", .arg = "FILE", .set = verb_set_text, .at = AT(expect),
	  .help = "compare with FILE: a normal form with * and a|b" },
	{ .name = "ignore", .arg = "FIELD", .set = set_ignore,
	  .help = "ignore a field, a call, CALL.FIELD, errno, added, removed or order; "
		  "repeatable" },
	{ .name = "only", .arg = "FIELD", .set = diff_set_only,
	  .help = "compare only that; repeatable" },
	{ .name = "no-probes", .set = verb_set_true, .at = AT(how.no_probes),
	  .help = "ignore opens that failed, and events that were opened and closed without "
		  "being used" },
	{ .name = "merge-threads", .arg = "WHEN", .optional = true, .words = "always never auto",
	  .help = "compare the threads of a process as one task; auto, without it: if they are "
		  "equal then", .set = diff_set_merge, .at = AT(merge) },
	{ .name = "keep-going", .set = verb_set_true, .at = AT(how.keep_going),
	  .help = "skip lines that cannot be read" },
	{ .name = "json", .key = 'j', .set = verb_set_true, .at = AT(print.json),
	  .help = "write JSON, one object per line" },
	{ .name = "color", .arg = "WHEN", .optional = true, .words = "always never auto",
	  .help = "color the output", .set = options_set_color, .at = AT(color) },
	{ .name = "no-pager", .set = verb_set_true, .at = AT(no_pager),
	  .help = "do not show output on a terminal by a pager" },
	{ 0 },
};

/* Die unless options and files go together. */
static void diff_check(const struct diffing *d, const struct verb_args *args)
{
	size_t wanted = d->normalize || d->expect ? 1 : 2;

	if (d->normalize && d->expect)
		die("--normalize and --expect are mutually exclusive");
	verb_want(args, wanted);
	if (wanted == 2 && !strcmp(args->words[0], "-") && !strcmp(args->words[1], "-"))
		die("only one of the files can be standard input");
}

/* Work ------------------------------------------------------------------------ */

static struct side read_side(struct diffing *d, const char *path)
{
	struct side s = { .normal = NULL };
	struct machine machine;
	const char *name;
	bool whole = false;
	FILE *f = input_open(path, &name);

	if (perfdata_is(f)) {
		machine_open(&machine);
		s.normal = normal_read_perfdata(f, name, d->forms, &machine.names,
						d->how.keep_going, &whole, &s.ids);
		machine_close(&machine);
	} else {
		s.normal = normal_read(f, name, d->forms, &d->how, &whole);
	}
	input_close(f);
	d->trouble |= !whole;
	return s;
}

/* Prepare to show what was read; progress was shown meanwhile. */
static void diff_show(struct diffing *d)
{
	if (!d->no_pager)
		pager_start();
	d->print.color = color_wanted(d->color, pager_is_terminal(STDOUT_FILENO));
	if (pager_is_terminal(STDOUT_FILENO))
		d->print.width = terminal_columns(STDOUT_FILENO);
}

static int normalize(struct diffing *d, const char *path)
{
	struct side s = read_side(d, path);

	diff_show(d);
	if (s.normal)
		diff_print_normal(&d->print, s.normal, &d->choice);
	normal_free(s.normal);
	return EXIT_YES;
}

static struct expectation *read_expectation(struct diffing *d)
{
	struct expectation *x = NULL;
	const char *name;
	FILE *f = input_open(d->expect, &name);

	d->print.a = name;
	if (perfdata_is(f))
		warn("%s is a perf.data file; --expect requires what pevtrace diff --normalize "
		     "writes of it", name);
	else
		x = expect_read(f, name, &d->choice);
	input_close(f);
	return x;
}

static int expect(struct diffing *d, const char *path)
{
	struct expectation *x = read_expectation(d);
	struct side s = { .normal = NULL };
	int ok = -1;

	d->print.b = path;
	if (x)
		s = read_side(d, path);
	diff_show(d);
	if (s.normal)
		ok = expect_check(x, s.normal, &d->choice, diff_print_mismatch, &d->print);
	normal_free(s.normal);
	expect_free(x);
	return ok < 0 ? EXIT_TROUBLE : ok ? EXIT_YES : EXIT_NO;
}

/* If only one side is a perf.data file, reduce the dump to attrs, too. */
static void meet(struct diffing *d, struct side *a, struct side *b)
{
	struct side *file = a->normal->attrs_only ? a : b, *dump = file == a ? b : a;
	uint64_t left_out;

	if (a->normal->attrs_only == b->normal->attrs_only)
		return;
	dump->normal = normal_attrs(dump->normal, file->ids, &left_out);
	diff_print_scope(&d->print, left_out);
}

static void report_nothing(void *ctx, const struct difference *difference)
{
	(void)ctx, (void)difference;
}

static bool same_calls(struct diffing *d, struct side side[2])
{
	return normal_compare(side[0].normal, side[1].normal, &d->choice, report_nothing, NULL);
}

static bool read_two(struct diffing *d, const char *const path[2], struct side side[2])
{
	side[0] = read_side(d, path[0]);
	side[1] = side[0].normal ? read_side(d, path[1]) : (struct side){ .normal = NULL };
	return side[1].normal;
}

static void free_two(struct side side[2])
{
	normal_free(side[0].normal);
	normal_free(side[1].normal);
}

/*
 * Replace the dumps that were read by the same with merged threads, if they are equal only then:
 * the calls of a Go program move between its threads.
 */
static void try_merged(struct diffing *d, const char *const path[2], struct side side[2])
{
	struct side merged[2];

	if (d->trouble || !side[0].normal->threads || !side[1].normal->threads ||
	    !strcmp(path[0], "-") || !strcmp(path[1], "-") || same_calls(d, side))
		return;
	d->how.merge_threads = true;
	if (!read_two(d, path, merged) || !same_calls(d, merged)) {
		free_two(merged);
		return;
	}
	warn("equal only if the threads of a process are compared as one task: calls moved "
	     "between threads; see --merge-threads");
	free_two(side);
	memcpy(side, merged, sizeof(merged));
}

static int two(struct diffing *d, const char *const path[2])
{
	struct side side[2];
	bool same = true;

	d->print.a = path[0];
	d->print.b = path[1];
	if (read_two(d, path, side)) {
		if (d->merge == MERGE_AUTO)
			try_merged(d, path, side);
		diff_show(d);
		meet(d, &side[0], &side[1]);
		same = normal_compare(side[0].normal, side[1].normal, &d->choice,
				      diff_print_difference, &d->print);
		diff_print_end(&d->print);
	}
	free_two(side);
	return same ? EXIT_YES : EXIT_NO;
}

static int diff_run(void *state, const struct verb_args *args)
{
	struct diffing *d = state;
	int status;

	diff_check(d, args);
	for (size_t i = 0; i < args->n; i++)
		d->no_pager |= input_is_terminal(args->words[i]);
	d->forms = normal_forms_new();
	d->how.merge_threads = d->merge == MERGE_ALWAYS;
	if (d->normalize)
		status = normalize(d, args->words[0]);
	else if (d->expect)
		status = expect(d, args->words[0]);
	else
		status = two(d, (const char *[]){ args->words[0], args->words[1] });
	if ((fflush(stdout) || ferror(stdout)) && !pager_was_left()) {
		warn("cannot write to standard output: %s", strerror(errno));
		d->trouble = true;
	}
	normal_forms_free(d->forms);
	diff_print_free(&d->print);
	for (size_t i = 0; i < d->nwords; i++)
		free(d->words[i]);
	free(d->words);
	free(d->choice.ignore);
	free(d->choice.only);
	return d->trouble ? EXIT_TROUBLE : status;
}

const struct verb diff_verb = {
	.name = "diff",
	.own = "FIELD",
	.offer = offer_fields,
	.summary = "Compare two dumps, or a dump and an expectation",
	.usage =
"diff [OPTION]... DUMP DUMP\n"
"diff --normalize [OPTION]... DUMP\n"
"diff --expect=FILE [OPTION]... DUMP",
	.about =
"Show how two runs differ that pevtrace --json=DUMP recorded. A DUMP may also be a "
"perf.data file, of which the attrs of events are compared.\n"
"\n"
"Events are matched by their attrs. Pids, descriptors, ids, addresses, times, counts, waits "
"and reads are ignored.",
	.notes =
"A DUMP of - is standard input. The exit status is 0 if nothing differs, 1 if something "
"does, 2 on misuse and trouble.",
	.examples =
"pevtrace diff --ignore=sample_freq old.jsonl new.jsonl\n"
"pevtrace diff --normalize good.jsonl >expected\n"
"pevtrace diff --expect=expected dump.jsonl",
	.operand = "DUMP",
	.groups = (const struct verb_group[]){ { "Options", options, 0, 0 }, { 0 } },
	.size = sizeof(struct diffing),
	.run = diff_run,
};
