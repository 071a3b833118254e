// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace diff: what two dumps or perf.data files, or one and an expectation, differ in. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/input.h"
#include "cli/machine.h"
#include "cli/options.h"
#include "cmd/cmd.h"
#include "cmd/diff/diff_print.h"
#include "dump/compare.h"
#include "dump/expect.h"
#include "dump/perfdata.h"
#include "lib/die.h"

enum { OPT_IGNORE = 256, OPT_ONLY, OPT_COLOR, OPT_NORMALIZE, OPT_EXPECT, OPT_KEEP_GOING,
       OPT_NO_PROBES };

static const char help[] =
"Usage: pevtrace diff [OPTION]... DUMP DUMP\n"
"       pevtrace diff --normalize [OPTION]... DUMP\n"
"       pevtrace diff --expect=FILE [OPTION]... DUMP\n"
"Say in what two runs differ that pevtrace --json=DUMP has recorded. A DUMP may\n"
"be a perf.data file, too: then attrs of events are compared, and nothing else.\n"
"\n"
"Events are matched by what they are, not by descriptor; pids, descriptors,\n"
"ids, addresses, times, counts, waits and reads are left out.\n"
"\n"
"      --normalize       write the dump in normal form, one call a line\n"
"      --expect=FILE     compare with FILE: a normal form with * and a|b\n"
"      --ignore=FIELD    leave that field out; repeatable, or with commas\n"
"      --only=FIELD      compare that field only; repeatable, or with commas\n"
"                        FIELD: a field, a call, CALL.FIELD, errno, added,\n"
"                        removed or order\n"
"      --no-probes       without opens that failed, and events that were opened\n"
"                        and closed with nothing done to them\n"
"  -j, --json            one JSON object a line\n"
"      --keep-going      pass over what cannot be read\n"
"      --color[=WHEN]    always, never or auto\n"
"  -h, --help            print this help\n"
"  -V, --version         print the version\n"
"\n"
"A DUMP of - is standard input. The exit status is 0 where nothing differs,\n"
"1 where something does, 2 on misuse and trouble.\n";

static const struct option long_options[] = {
	{ "color", optional_argument, NULL, OPT_COLOR },
	{ "expect", required_argument, NULL, OPT_EXPECT },
	{ "help", no_argument, NULL, 'h' },
	{ "ignore", required_argument, NULL, OPT_IGNORE },
	{ "json", no_argument, NULL, 'j' },
	{ "keep-going", no_argument, NULL, OPT_KEEP_GOING },
	{ "no-probes", no_argument, NULL, OPT_NO_PROBES },
	{ "normalize", no_argument, NULL, OPT_NORMALIZE },
	{ "only", required_argument, NULL, OPT_ONLY },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

struct diffing {
	struct normal_choice choice;
	char **words;		/* what the choice's names point into */
	size_t nwords;
	struct diff_print print;
	bool normalize;
	struct normal_reading how;
	const char *expect;
	bool trouble;
	struct normal_forms *forms;
};

/* One that is compared. */
struct side {
	struct normal *normal;	/* NULL: trouble, which was told */
	bool ids;		/* a perf.data file, with the ids of every event */
};

/* Options -------------------------------------------------------------------- */

static void choose(struct diffing *d, const char ***list, size_t *n, const char *arg,
		   const char *option)
{
	char *copy = xstrdup(arg), *save, *word;

	d->words = xrealloc(d->words, (d->nwords + 1) * sizeof(*d->words));
	d->words[d->nwords++] = copy;
	for (word = strtok_r(copy, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		if (!normal_known(word) && strcmp(word, "added") &&
		    strcmp(word, "removed") && strcmp(word, "order"))
			die("%s: no field or call is named '%s'; "
			    "pevtrace diff --normalize shows what they are called",
			    option, word);
		*list = xrealloc(*list, (*n + 1) * sizeof(**list));
		(*list)[(*n)++] = word;
	}
}

static void one_option(struct diffing *d, int opt, const char *arg, char **argv)
{
	switch (opt) {
	case 'h':
		options_say(help);
	case 'V':
		options_say(PACKAGE_STRING "\n");
	case 'j':
		d->print.json = true;
		break;
	case OPT_IGNORE:
		choose(d, &d->choice.ignore, &d->choice.nignore, arg, "--ignore");
		break;
	case OPT_ONLY:
		choose(d, &d->choice.only, &d->choice.nonly, arg, "--only");
		break;
	case OPT_COLOR:
		d->print.color = color_wanted(option_color(arg), isatty(STDOUT_FILENO));
		break;
	case OPT_NORMALIZE:
		d->normalize = true;
		break;
	case OPT_EXPECT:
		d->expect = arg;
		break;
	case OPT_KEEP_GOING:
		d->how.keep_going = true;
		break;
	case OPT_NO_PROBES:
		d->how.no_probes = true;
		break;
	default:
		options_wrong(opt, argv, "diff");
	}
}

/* Options may stand behind the files, too. */
static void parse(struct diffing *d, int argc, char **argv)
{
	int opt, wanted, given;

	d->print.color = color_wanted(COLOR_AUTO, isatty(STDOUT_FILENO));
	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, ":hjV", long_options, NULL)) != -1)
		one_option(d, opt, optarg, argv);
	if (d->normalize && d->expect)
		die("--normalize and --expect do not go together");
	wanted = d->normalize || d->expect ? 1 : 2;
	given = argc - optind;
	if (given != wanted)
		die("pevtrace diff%s takes %s, not %d; see pevtrace diff --help",
		    d->normalize ? " --normalize" : d->expect ? " --expect" : "",
		    wanted == 1 ? "one file" : "two files", given);
	if (wanted == 2 && !strcmp(argv[optind], "-") && !strcmp(argv[optind + 1], "-"))
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

static int normalize(struct diffing *d, const char *path)
{
	struct side s = read_side(d, path);

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
		warn("%s is a perf.data file; --expect takes what pevtrace diff --normalize "
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
	if (s.normal)
		ok = expect_check(x, s.normal, &d->choice, diff_print_mismatch, &d->print);
	normal_free(s.normal);
	expect_free(x);
	return ok < 0 ? EXIT_TROUBLE : ok ? EXIT_YES : EXIT_NO;
}

/* A file has only attrs: so be it with a dump that it is compared with. */
static void meet(struct diffing *d, struct side *a, struct side *b)
{
	struct side *file = a->normal->attrs_only ? a : b, *dump = file == a ? b : a;
	uint64_t left_out;

	if (a->normal->attrs_only == b->normal->attrs_only)
		return;
	dump->normal = normal_attrs(dump->normal, file->ids, &left_out);
	diff_print_scope(&d->print, left_out);
}

static int two(struct diffing *d, const char *first, const char *second)
{
	struct side a = read_side(d, first), b = { .normal = NULL };
	bool same = true;

	if (a.normal)
		b = read_side(d, second);
	d->print.a = first;
	d->print.b = second;
	if (a.normal && b.normal) {
		meet(d, &a, &b);
		same = compare(a.normal, b.normal, &d->choice, diff_print_difference,
			       &d->print);
		diff_print_end(&d->print);
	}
	normal_free(a.normal);
	normal_free(b.normal);
	return same ? EXIT_YES : EXIT_NO;
}

int cmd_diff(int argc, char **argv)
{
	struct diffing d = { 0 };
	int status;

	parse(&d, argc, argv);
	d.forms = normal_forms_new();
	if (d.normalize)
		status = normalize(&d, argv[optind]);
	else if (d.expect)
		status = expect(&d, argv[optind]);
	else
		status = two(&d, argv[optind], argv[optind + 1]);
	if (fflush(stdout) || ferror(stdout)) {
		warn("cannot write to standard output: %s", strerror(errno));
		d.trouble = true;
	}
	normal_forms_free(d.forms);
	diff_print_free(&d.print);
	for (size_t i = 0; i < d.nwords; i++)
		free(d.words[i]);
	free(d.words);
	free(d.choice.ignore);
	free(d.choice.only);
	return d.trouble ? EXIT_TROUBLE : status;
}
