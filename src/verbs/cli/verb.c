// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/cli/verb.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "core/lib/program.h"
#include "core/lib/scan_text.h"

struct command_line {
	const struct verb *verb;
	const struct verb *const *all;
	char *state;
	char **next;		/* of argv */
	enum { FORM_LETTER = 1, FORM_NAME } forms[128]; /* those given, by letter */
	char **typed;		/* how options were given; owned */
	size_t ntyped;
	bool command;		/* operands are a command */
	struct verb_args args;
};

/* Setters ------------------------------------------------------------------------- */

void verb_set_true(void *to, const char *arg, const struct verb_option *o)
{
	if (arg)
		verb_word(arg, o);
	*(bool *)to = true;
}

void verb_set_text(void *to, const char *arg, const struct verb_option *o)
{
	(void)o;
	*(const char **)to = arg;
}

long verb_number(const char *text, const struct verb_option *o, long least, long most)
{
	uint64_t n;

	if (!scan_whole(text, SCAN_DECIMAL, (uint64_t)least, (uint64_t)most, &n))
		die("%s requires a number from %ld to %ld, not '%s'", o->typed, least, most, text);
	return (long)n;
}

void verb_set_size(void *to, const char *arg, const struct verb_option *o)
{
	*(size_t *)to = (size_t)verb_number(arg, o, o->least, o->most);
}

void verb_set_int(void *to, const char *arg, const struct verb_option *o)
{
	*(unsigned int *)to = (unsigned int)verb_number(arg, o, o->least, o->most);
}

void verb_set_signed(void *to, const char *arg, const struct verb_option *o)
{
	int64_t v;

	if (!scan_signed(arg, SCAN_C, INT32_MIN + 1, INT32_MAX, &v))
		die("%s requires a number, not '%s'", o->typed, arg);
	*(int32_t *)to = (int32_t)v;
}

/* Options --------------------------------------------------------------------------- */

static _Noreturn void die_see_help(const struct verb *v, const char *what)
{
	bool trace = !strcmp(v->name, "trace");

	die("%s; see pevtrace%s%s --help", what, trace ? "" : " ", trace ? "" : v->name);
}

const struct verb_option *verb_option_of(const struct verb *v, const char *word, size_t len)
{
	struct verb_at at = { 0 };
	const struct verb_option *o;

	while ((o = verb_next(v, &at)))
		if (len == 1 ? o->key == *word :
		    o->name && strlen(o->name) == len && !memcmp(o->name, word, len))
			break;
	return o;
}

/* Return the option of another program, such as strace, or NULL.  begins: word abbreviates it. */
static const struct verb_foreign *foreign_of(const struct verb *v, const char *word, size_t len,
					     bool begins)
{
	const struct verb_foreign *f = v->foreign;

	while (f && (f->why || f->same)) {
		if (len == 1 ? f->key == *word :
		    f->name && !strncmp(f->name, word, len) && (begins || !f->name[len]))
			return f;
		f++;
	}
	return NULL;
}

/* Die if a word is a program: what follows would be its words. */
static void check_command(const struct verb_args *args)
{
	const char *name = args->verb->name;

	for (size_t i = 0; i < args->n && verb_reads(args->verb, "COMMAND"); i++)
		if (program_is(args->words[i]))
			die("%s: write -- before a command, as in pevtrace %s -- %s", name, name,
			    args->words[i]);
}

static _Noreturn void unknown_option(const struct command_line *l, const char *word, size_t len)
{
	const struct verb_foreign *f = foreign_of(l->verb, word, len, true);
	const struct verb *v = l->verb, *const *other = l->all;
	/* the default verb, which traces, may have it */
	const struct verb_option *o = l->all ? verb_option_of(*l->all, word, len) : NULL;
	struct buf what = { 0 };
	struct verb_at at = { 0 };
	struct nearest n;

	buf_addf(&what, "option '%s%.*s'", len > 1 ? "--" : "-", (int)len, word);
	if (f && f->why)
		die("%s is not supported: %s", buf_str(&what), f->why);
	check_command(&l->args);
	if (*word == 'e' && len == 1 && verb_reads(v, "EVENT"))
		die("%s is not needed: an event is an argument, as in pevtrace %s cpu-clock:u",
		    buf_str(&what), v->name);
	if (o)
		die("%s is for tracing; %s", buf_str(&what),
		    o->instead ? o->instead : "see pevtrace --help");
	nearest_start(&n, word, len);
	while (len > 1 && (o = verb_next(v, &at)))
		if (o->name)
			nearest_try(&n, o->name);
	if (*n.best)
		die("unknown %s; did you mean --%s?", buf_str(&what), n.best);
	while (len > 1 && other && *other && !verb_option_of(*other, word, len))
		other++;
	if (len > 1 && other && *other)
		die("%s is not for %s: see pevtrace %s --help", buf_str(&what), v->name,
		    (*other)->name);
	buf_reset(&what);
	buf_addf(&what, "unknown option '%s%.*s'", len > 1 ? "--" : "-", (int)len, word);
	die_see_help(v, buf_str(&what));
}

/* Find the long option of that name, or the only one that begins so. */
static struct verb_at find_long(const struct command_line *l, const char *word, size_t len)
{
	const struct verb *v = l->verb;
	const struct verb_foreign *f = foreign_of(v, word, len, false);
	struct verb_at at = { 0 }, found = { 0 };
	unsigned int n = 0;

	if (f && f->same)
		return find_long(l, f->same, strlen(f->same));
	for (const struct verb_option *o; (o = verb_next(v, &at));) {
		if (!o->name || strncmp(o->name, word, len))
			continue;
		if (!o->name[len])
			return at;
		found = at;
		n++;
	}
	f = n ? NULL : foreign_of(v, word, len, true);
	if (f && f->same)
		return find_long(l, f->same, strlen(f->same));
	if (!n)
		unknown_option(l, word, len);
	if (n > 1) {
		struct buf what = { 0 };

		at = (struct verb_at){ 0 };
		buf_addf(&what, "option '--%.*s' is ambiguous:", (int)len, word);
		for (const struct verb_option *o; (o = verb_next(v, &at));)
			if (o->name && !strncmp(o->name, word, len))
				buf_addf(&what, " --%s", o->name);
		die("%s", buf_str(&what));
	}
	return found;
}

static struct verb_at find_short(const struct command_line *l, char key)
{
	const struct verb_foreign *f = foreign_of(l->verb, &key, 1, false);
	struct verb_at at = { 0 };

	if (f && f->same)
		return find_long(l, f->same, strlen(f->same));
	for (const struct verb_option *o; (o = verb_next(l->verb, &at));)
		if (o->key == key)
			return at;
	unknown_option(l, &key, 1);
}

/*
 * Set what the option sets, given as prefix and name; where it is --help or --version, do not
 * return.
 */
static void apply(struct command_line *l, const struct verb_at *at, const char *prefix,
		  const char *name, const char *arg)
{
	struct verb_option o = *at->option;
	struct buf typed = { 0 };

	if (!o.set) {
		if (o.key == 'h' && !strcmp(prefix, "-"))
			verb_brief(l->verb, l->all);
		else if (o.key == 'h')
			verb_help(l->verb, l->all);
		else
			puts(PACKAGE_STRING);
		verb_exit_flushed();
	}
	buf_addf(&typed, "%s%s", prefix, name);
	o.typed = buf_str(&typed);
	APPEND(l->typed, l->ntyped) = typed.data;
	if (at->group->given && o.name)
		memcpy(l->state + at->group->given, &o.typed, sizeof(o.typed));
	l->command |= o.command;
	o.set(l->state + at->group->at + o.at, arg, &o);
}

/* Set what a long option sets; prefix: "--" or "-e ", arg: as it was given, or NULL. */
static void apply_long(struct command_line *l, const struct verb_at *at, const char *prefix,
		       const char *arg)
{
	l->forms[(unsigned char)at->option->excludes] |= FORM_NAME;
	apply(l, at, prefix, at->option->name, arg ? arg : at->option->bare);
}

void verb_offer_exprs(const struct verb *v, struct nearest *n)
{
	struct verb_at at = { 0 };

	for (const struct verb_option *o; (o = verb_next(v, &at));) {
		struct buf name = { 0 };

		buf_addf(&name, "%s=", o->expr ? o->name : "");
		if (o->expr)
			nearest_try(n, buf_str(&name));
		buf_free(&name);
	}
}

static _Noreturn void unknown_expr(const struct command_line *l, const char *expr, size_t len)
{
	const struct verb_option *o;
	struct buf valid = { 0 };
	struct nearest n;

	for (const struct verb_foreign *f = l->verb->foreign; f && (f->why || f->same); f++)
		if (f->why && f->name && (verb_is_word(f->name, expr, len) ||
					  (f->expr && verb_is_word(f->expr, expr, len))))
			die("-e %s= is not supported: %s", f->name, f->why);
	o = l->all ? verb_option_of(*l->all, expr, len) : NULL;
	if (o && o->expr)
		die("-e %s= is for tracing; see pevtrace --help", o->name);
	nearest_start(&n, expr, len + 1);
	verb_offer_exprs(l->verb, &n);
	if (*n.best)
		die("unknown -e '%s'; did you mean %s?", expr, n.best);
	nearest_start_words(&n, &valid);
	verb_offer_exprs(l->verb, &n);
	die("unknown -e '%s'; valid are%s", expr, buf_str(&valid));
}

/* Parse -e NAME=ARG, which is --NAME=ARG, or -e ARG, which is --trace=ARG. */
static void parse_expr(struct command_line *l, const char *expr)
{
	/* a regex may have a = */
	bool named = *expr != '/' && *expr != '!' && strchr(expr, '=');
	const char *name = named ? expr : "trace=";
	size_t len = strcspn(name, "=");
	struct verb_at at = { 0 };
	const struct verb_option *o;

	while ((o = verb_next(l->verb, &at)) && !(o->expr && verb_is_word(o->expr, name, len)))
		if (o->expr && !named && !strcmp(o->name, expr))
			die("-e %s requires an argument, as in -e %s=%s", expr, expr, o->arg);
	if (!o)
		unknown_expr(l, expr, len);
	apply_long(l, &at, "-e ", named ? expr + len + 1 : expr);
}

/* Return the next word, which the option that prefix and name say requires as its argument. */
static const char *take_argument(struct command_line *l, const char *prefix, const char *name)
{
	struct buf what = { 0 };

	if (*l->next) {
		snprintf(l->args.swallowed, sizeof(l->args.swallowed),
			 "'%.60s' is the argument of %s%s", *l->next, prefix, name);
		return *l->next++;
	}
	buf_addf(&what, "option '%s%s' requires an argument", prefix, name);
	die_see_help(l->verb, buf_str(&what));
}

static void parse_long(struct command_line *l, const char *word)
{
	size_t len = strcspn(word, "=");
	struct verb_at at = find_long(l, word, len);
	const char *arg = word[len] ? word + len + 1 : NULL;

	if (arg && !at.option->arg)
		die("option '--%s' allows no argument", at.option->name);
	if (!arg && at.option->arg && !at.option->optional)
		arg = take_argument(l, "--", word);
	if (at.option->exprs)
		parse_expr(l, arg);
	else
		apply_long(l, &at, "--", arg);
}

/* Apply -aN where an option's digits belong to the letter; return whether one's do. */
static bool parse_digits(struct command_line *l, const char *word)
{
	struct verb_at at = { 0 };
	uint64_t n;

	if (word[1] != '-' && (word[1] < '0' || word[1] > '9'))
		return false;
	for (const struct verb_option *o; (o = verb_next(l->verb, &at));) {
		if (o->digits_of != *word)
			continue;
		if (!scan_whole(word + 1, SCAN_DECIMAL, (uint64_t)o->least, (uint64_t)o->most, &n))
			die("invalid -%c argument: '%s'; use -%cN or --%s=N with N from %ld to %ld",
			    *word, word + 1, *word, o->name, o->least, o->most);
		apply(l, &at, "--", o->name, word + 1);
		return true;
	}
	return false;
}

/* Parse one or more short options in one word; an optional argument needs the long form. */
static void parse_short(struct command_line *l, const char *word)
{
	if (parse_digits(l, word))
		return;
	while (*word) {
		const char key[] = { *word, '\0' };
		struct verb_at at = find_short(l, *word++);
		const char *arg = NULL;

		if (at.option->arg && !at.option->optional) {
			arg = *word ? word : take_argument(l, "-", key);
			word = "";
		}
		if (at.option->exprs) {
			parse_expr(l, arg);
			return;
		}
		if (*word == '=' && at.option->name)
			die("-%s allows no '='; use --%s%s", key, at.option->name, word);
		l->forms[(unsigned char)at.option->key] |= FORM_LETTER;
		apply(l, &at, "-", key, arg);
	}
}

static void verb_parse(struct command_line *l)
{
	struct verb_args *a = &l->args;
	bool ended = false, dashes = false;
	struct verb_at at = { 0 };
	size_t before = 0;

	while (*l->next) {
		char *word = *l->next++;

		*a->swallowed = '\0';
		if (!ended && !strcmp(word, "--")) {
			ended = dashes = true;
			before = a->n;
		} else if (ended || *word != '-' || !word[1] || scan_is_digit(word[1])) {
			/* -1 is a number, and - a file */
			a->words[a->n++] = word;
			ended |= l->verb->command || l->command;
		} else if (word[1] == '-') {
			parse_long(l, word + 2);
		} else {
			parse_short(l, word + 1);
		}
	}
	a->certain |= dashes;
	if (dashes && a->n > before && !l->verb->command &&
	    (verb_reads(l->verb, "COMMAND") ||
	     (verb_reads(l->verb, "DUMP") && a->n > before + 1))) {
		/* behind a NULL that ends the other words; one word may be a file, too */
		a->command = a->words + before + 1;
		memmove(a->command, a->words + before, (a->n - before) * sizeof(*a->words));
		a->words[before] = NULL;
		a->n = before;
	}
	/* a letter and a long name may exclude each other, as in strace */
	for (const struct verb_option *o; (o = verb_next(l->verb, &at));)
		if (o->excludes &&
		    l->forms[(unsigned char)o->excludes] == (FORM_LETTER | FORM_NAME))
			die("-%c and --%s cannot be combined; use one of them", o->excludes, o->name);
}

static void on_file_limit(int sig)
{
	(void)sig;
}

/*
 * A script has SIGINT ignored for what it runs in the background: who sends it to a verb without a
 * COMMAND wants its end all the same.  A COMMAND ignores what pevtrace does.
 */
static void heed(const struct command_line *l, int sig)
{
	if (!l->args.command && !((l->verb->command || l->command) && l->args.n) &&
	    signal_is_ignored(sig))
		signal(sig, SIG_DFL);
}

int verb_run(const struct verb *v, const struct verb *const *all, int argc, char **argv)
{
	struct command_line l = {
		.verb = v, .all = all, .state = xcalloc(1, v->size), .next = argv + !!argc,
		.args = {
			.words = xcalloc((size_t)argc + 2, sizeof(char *)), .verb = v, .all = all,
			.certain = argc && !strcmp(argv[0], v->name),
		},
	};
	const struct sigaction report = { .sa_handler = on_file_limit, .sa_flags = SA_RESTART };
	struct sigaction was;
	int status;

	/*
	 * Let writes beyond RLIMIT_FSIZE fail with EFBIG, which is reported, instead of ending
	 * pevtrace.  A handler, unlike SIG_IGN, does not outlive an exec.
	 */
	if (!sigaction(SIGXFSZ, NULL, &was) && was.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &report, NULL);
	if (v->init)
		v->init(l.state);
	verb_parse(&l);
	if (!v->operand && l.args.n)
		die("%s: unexpected argument '%s'; see pevtrace %s --help", v->name,
		    l.args.words[0], v->name);
	heed(&l, SIGINT);
	heed(&l, SIGTERM);
	status = v->run(l.state, &l.args);
	for (size_t i = 0; i < l.ntyped; i++)
		free(l.typed[i]);
	free(l.typed);
	free(l.args.words);
	free(l.state);
	return status;
}

bool verb_reads(const struct verb *v, const char *kind)
{
	return v->operand && verb_is_word(v->operand, kind, strlen(kind));
}

void verb_want(const struct verb_args *args, size_t n)
{
	const char *name = args->verb->name;
	struct buf kinds = { 0 };

	if (args->n + !!args->command < n) {
		for (const char *kind = args->verb->operand; *kind; kind += strcspn(kind, "|")) {
			kind += *kind == '|';
			buf_addf(&kinds, "%s%.*s",
				 !kinds.len ? "" : strchr(kind, '|') ? ", " : " or ",
				 (int)strcspn(kind, "|"), kind);
		}
		die("%s: missing %s%s%s%s; see pevtrace %s --help", name,
		    args->n ? "operand: another " : "", buf_str(&kinds),
		    *args->swallowed ? ", as " : "", args->swallowed,
		    name);
	}
	if (args->n > n)
		check_command(args);
	if (args->n + !!args->command > n)
		die("%s: unexpected argument '%s'; see pevtrace %s --help", name,
		    args->n > n ? args->words[n] : args->command[0], name);
}

/* Verbs ----------------------------------------------------------------------------- */

const struct verb *verb_find(const struct verb *const *all, const char *name)
{
	while (*all && strcmp((*all)->name, name))
		all++;
	return *all;
}

/* Verbs that are part of others now. */
static const struct {
	const char *was, *now, *more;
} renamed[] = {
	{ "check", "why --rules-only", "; why --once makes the call, too" },
	{ "features", "list --tried", "" },
	{ "watch", "open --side-band", "" },
};

enum { RENAMED = sizeof(renamed) / sizeof(*renamed) };

const char *verb_nearest(const struct verb *const *all, const char *word, struct nearest *n)
{
	for (size_t i = 0; i < RENAMED; i++)
		if (!strcmp(renamed[i].was, word))
			die("%s is now %s%s", word, renamed[i].now, renamed[i].more);
	nearest_start(n, word, strlen(word));
	for (; *all; all++)
		nearest_try(n, (*all)->name);
	for (size_t i = 0; i < RENAMED; i++)
		nearest_try(n, renamed[i].was);
	for (size_t i = 0; i < RENAMED; i++)
		if (!strcmp(renamed[i].was, n->best))
			return renamed[i].now;
	return n->best;
}

bool verb_is_perfs(const char *word)
{
	return verb_is_word("record|stat|top|script|annotate|bench|evlist|mem|lock|sched|kmem|c2c|"
			    "test", word, strlen(word));
}

void verb_check_spelling(const struct verb *const *all, const char *word)
{
	struct nearest n;
	const char *best = verb_nearest(all, word, &n);

	if (*word == '-' || strchr(word, '/') || !program_find(word))
		return;
	if (verb_is_perfs(word))
		die("cannot run '%s': not found in PATH; did you mean pevtrace perf %s?", word,
		    word);
	if (!strcmp(best, word))
		die("cannot run '%s': not found in PATH; a verb is the first word: pevtrace %s",
		    word, word);
	best = strcmp(word, "version") ? best : "--version";
	if (*best)
		die("cannot run '%s': not found in PATH; did you mean pevtrace %s?", word, best);
}
