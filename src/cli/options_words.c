// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/options_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "lib/buf.h"
#include "lib/die.h"
#include "lib/nearest.h"

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
	const struct verb_option digits = { .name = opt->name, .words = precisions };
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

/* Die where a letter and words for the same are both given, as strace does. */
static void note_form(unsigned int *forms, const char *arg, const char *both)
{
	*forms |= arg ? OPTIONS_WORDS : OPTIONS_LETTER;
	if (*forms == (OPTIONS_LETTER | OPTIONS_WORDS))
		die("%s cannot be combined; use one of them", both);
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

	note_form(&o->quiet_forms, arg, "-q and --quiet=");
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

	note_form(&o->label_forms, arg, "-y and --decode-fds=");
	known.words = OPTIONS_LABELS " dev eventfd pidfd signalfd socket";
	each(arg ? arg : "path", &known, o, add_label);
}

/* The table of calls ---------------------------------------------------------------- */

void options_set_sort(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	o->counts_by = opt->name;
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

	o->counts_by = opt->name;
	o->counts.ncolumns = 0;
	each(arg, opt, o, add_column);
	for (size_t i = 0; i < o->counts.ncolumns; i++)
		if (o->counts.columns[i] == COUNT_NAME)
			return;
	o->counts.columns[o->counts.ncolumns++] = COUNT_NAME;
}

/* -e --------------------------------------------------------------------------------- */

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

/* What -e sets by a key.  Those without a setter are strace's; why: what to use. */
struct key {
	const char *name, *other;	/* other: synonyms, separated by |, or NULL */
	verb_set_fn *set;
	const char *words;
	bool live;			/* for traces only */
	const char *why;
};

static void key_trace(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	(void)opt;
	selection_trace(&o->select, arg);
}

static void key_status(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	(void)opt;
	selection_status(&o->select, arg);
}

static void key_signal(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	(void)opt;
	selection_signal(&o->select, arg);
}

static const struct key keys[] = {
	{ "trace", "t", key_trace, NULL, false, NULL },
	{ "status", NULL, key_status, NULL, false, NULL },
	{ "signal", "signals|s", key_signal, NULL, false, NULL },
	{ "quiet", "silent|silence|q", options_set_quiet, OPTIONS_QUIET, false, NULL },
	{ "decode-fds", "decode-fd", options_set_labels, OPTIONS_LABELS, false, NULL },
	{ "inject", NULL, options_set_inject, NULL, true, NULL },
	{ "fault", NULL, options_set_fault, NULL, true, NULL },
#define FOREIGN(name, other, why) { name, other, NULL, NULL, false, why },
	OPTIONS_FOREIGN(FOREIGN)
#undef FOREIGN
};

enum { KEYS = sizeof(keys) / sizeof(*keys) };

void options_offer_keys(struct nearest *n)
{
	for (size_t i = 0; i < KEYS; i++) {
		struct buf key = { 0 };

		buf_addf(&key, "%s=", keys[i].name);
		if (keys[i].set)
			nearest_try(n, buf_str(&key));
		buf_free(&key);
	}
}

static _Noreturn void unknown_key(const char *expr)
{
	struct nearest n;

	nearest_start(&n, expr, strcspn(expr, "=") + 1);
	options_offer_keys(&n);
	if (*n.best)
		die("unknown -e '%s'; did you mean %s?", expr, n.best);
	die("unknown -e '%s'; valid are trace=, status=, signal=, quiet=, decode-fds= and, for a "
	    "trace, inject= and fault=", expr);
}

static const struct key *key_of(const char *expr)
{
	size_t len = strcspn(expr, "=");

	for (const struct key *k = keys; k < keys + KEYS; k++)
		if (verb_is_word(k->name, expr, len) || (k->other && verb_is_word(k->other, expr, len)))
			return k;
	unknown_key(expr);
}

static void set_expr(struct options *o, const char *expr, bool live)
{
	const struct key *k;

	if (*expr == '/' || *expr == '!' || !strchr(expr, '=')) { /* a regex may have a = */
		selection_trace(&o->select, expr);
		return;
	}
	k = key_of(expr);
	if (!k->set)
		die("-e %s= is not supported: %s", k->name, k->why);
	if (k->live && !live)
		die("-e %s= is for tracing; see pevtrace --help", k->name);
	k->set(o, strchr(expr, '=') + 1,
	       &(struct verb_option){ .name = k->name, .words = k->words });
}

void options_set_expr(void *to, const char *arg, const struct verb_option *opt)
{
	(void)opt;
	set_expr(to, arg, false);
}

void options_set_expr_live(void *to, const char *arg, const struct verb_option *opt)
{
	(void)opt;
	set_expr(to, arg, true);
}
