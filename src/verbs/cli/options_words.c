// SPDX-License-Identifier: LGPL-2.1-or-later

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "verbs/cli/options.h"

/* Call add for each word of a list; a leading ! is passed to it as not. */
static void each(const char *list, const struct verb_option *opt, struct options *o,
		 void (*add)(struct options *o, unsigned int word, bool not))
{
	bool not = *list == '!';
	char *copy = xstrdup(list + not), *save, *word = strtok_r(copy, ",", &save);

	if (!word)
		verb_word("", opt);
	for (; word; word = strtok_r(NULL, ",", &save))
		add(o, verb_word(word, opt), not);
	free(copy);
}

/* Times --------------------------------------------------------------------------- */

static const char precisions[] = "s ms us ns";

static unsigned int precision(const char *arg, const struct verb_option *opt)
{
	return arg ? 3 * verb_word(arg, opt) : 6;
}

void options_set_relative(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	o->text.relative = (struct text_time){ true, precision(arg, opt) };
}

void options_set_duration(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	o->text.duration = (struct text_time){ true, precision(arg, opt) };
}

static void more_clock(struct text_options *t)
{
	if (t->clock == CLOCK_OFF)
		t->clock = CLOCK_TIME;
	else if (!t->clock_digits)
		t->clock_digits = 6;
	else
		t->clock = CLOCK_UNIX;
}

/* Skip a prefix of word; return whether it was there. */
static bool skip_word(const char **word, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(*word, prefix, len))
		return false;
	*word += len;
	return true;
}

void options_set_clock(void *to, const char *arg, const struct verb_option *opt)
{
	const struct verb_option digits = { .typed = opt->typed, .words = precisions };
	struct text_options *t = &((struct options *)to)->text;
	char *copy = xstrdup(arg ? arg : ""), *save;
	const char *word = strtok_r(copy, ",", &save);

	if (!arg) {
		more_clock(t);
	} else if (t->clock == CLOCK_OFF) {
		t->clock = CLOCK_TIME;
	}
	for (; word; word = strtok_r(NULL, ",", &save)) {
		bool exact = skip_word(&word, "precision:");

		if (exact || (!skip_word(&word, "format:") && strlen(word) <= 2))
			t->clock_digits = precision(word, &digits);
		else
			t->clock = verb_word(word, opt);
	}
	free(copy);
}

/* Strings, messages, descriptors ---------------------------------------------------- */

void options_set_hex(void *to, const char *arg, const struct verb_option *opt)
{
	struct text_options *t = &((struct options *)to)->text;

	(void)arg, (void)opt;
	t->hex = t->hex == HEX_NEVER ? HEX_NON_ASCII : HEX_ALL;
}

void options_set_hex_words(void *to, const char *arg, const struct verb_option *opt)
{
	static const enum text_hex hex[] = {
		HEX_NEVER, HEX_NON_ASCII_CHARS, HEX_NON_ASCII, HEX_ALL,
	};
	struct options *o = to;

	o->text.hex = arg ? hex[verb_word(arg, opt)] : HEX_ALL;
}

static void add_quiet(struct options *o, unsigned int word, bool not)
{
	/* in the order of the option's words; pevtrace has no messages of two kinds */
	static const unsigned int messages[] = {
		QUIET_ATTACH, QUIET_EXIT, QUIET_SUPERSEDED, 0, 0, QUIET_ALL, 0,
	};

	if (not)
		o->text.quiet &= ~messages[word];
	else
		o->text.quiet |= messages[word];
}

void options_set_quiet(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;
	unsigned int *quiet = &o->text.quiet;

	if (arg) {
		*quiet = *arg == '!' ? QUIET_ALL : 0;
		each(arg, opt, o, add_quiet);
	} else if (!(*quiet & QUIET_ATTACH)) {
		*quiet |= QUIET_ATTACH;
	} else {
		*quiet |= *quiet & QUIET_EXIT ? QUIET_ALL : QUIET_EXIT;
	}
}

static void add_label(struct options *o, unsigned int word, bool not)
{
	if (word > 2)
		die("--decode-fds: pevtrace names the events behind descriptors, not other files; "
		    "use path or all, or strace");
	o->text.labels = (word < 2) != not;
}

void options_set_labels(void *to, const char *arg, const struct verb_option *opt)
{
	struct verb_option known = *opt;
	struct options *o = to;

	known.words = OPTIONS_LABELS " dev eventfd pidfd signalfd socket";
	each(arg ? arg : "path", &known, o, add_label);
}

/* The table of calls ---------------------------------------------------------------- */

void options_set_sort(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	o->counts_by = opt->typed;
	o->counts.sort = (enum count_sort)verb_word(arg, opt);
}

static void add_column(struct options *o, unsigned int word, bool not)
{
	struct call_counts_form *f = &o->counts;

	if (not)
		die("--summary-columns lists what to show; it cannot be negated");
	for (size_t i = 0; i < f->ncolumns; i++)
		if (f->columns[i] == word)
			die("--summary-columns: a column is named twice");
	f->columns[f->ncolumns++] = (enum count_column)word;
}

void options_set_columns(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	o->counts_by = opt->typed;
	o->counts.ncolumns = 0;
	each(arg, opt, o, add_column);
	for (size_t i = 0; i < o->counts.ncolumns; i++)
		if (o->counts.columns[i] == COUNT_NAME)
			return;
	o->counts.columns[o->counts.ncolumns++] = COUNT_NAME;
}

/* Faults ----------------------------------------------------------------------------- */

void options_set_inject(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	(void)opt;
	injections_add(&o->inject, arg, 0);
}

void options_set_fault(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	(void)opt;
	injections_add(&o->inject, arg, -ENOSYS);
}
