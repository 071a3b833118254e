// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/cli/select.h"

#include <limits.h>
#include <regex.h>
#include <stdlib.h>

#include "core/abi/strings.h"
#include "core/host/event_words.h"
#include "core/lib/die.h"
#include "engine/ptrace/nr.h"
#include "formats/text/text_view.h"

/* The words of SELECT_STATUSES. */
static const unsigned int statuses[] = {
	STATUS_SUCCESSFUL, STATUS_FAILED, STATUS_UNFINISHED, STATUS_UNAVAILABLE, STATUS_DETACHED,
	STATUS_ALL, 0,
};

void selection_init(struct selection *s)
{
	for (size_t i = 0; i < CALL_COUNT; i++)
		s->calls[i] = SELECT_PERF;
	s->status = STATUS_ALL;
	s->signals = ~0ULL;
}

void selection_no_calls(struct selection *s)
{
	for (size_t i = 0; i < CALL_COUNT; i++)
		s->calls[i] = SELECT_NONE;
}

/* Skip the !s before a set; each negates it. */
static bool skip_negations(const char **set)
{
	bool negate = false;

	for (; **set == '!'; ++*set)
		negate = !negate;
	return negate;
}

static void each_word(const char *set, const char *option,
		      void (*add)(void *ctx, const char *word, const char *option),
		      void *ctx)
{
	char *copy = xstrdup(set), *save, *word;
	size_t n = 0;

	for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save), n++)
		add(ctx, word, option);
	free(copy);
	if (!n)
		die("%s= requires a list such as %s=all; see pevtrace --help", option, option);
}

/* trace= ----------------------------------------------------------------- */

/* Offer the words of a set that name several calls. */
static void offer_classes(struct nearest *n)
{
	nearest_try(n, "perf");
	nearest_try(n, "all");
	nearest_try(n, "none");
	for (unsigned int i = 0; call_class_name(i); i++) {
		char class[32];

		snprintf(class, sizeof(class), "%%%s", call_class_name(i));
		nearest_try(n, class);
	}
}

void selection_offer_calls(struct nearest *n)
{
	offer_classes(n);
	for (size_t i = 0; i < CALL_COUNT; i++)
		nearest_try(n, call_descs[i].name);
}

/* Classes that strace has and pevtrace has not, as no call in them is decoded. */
static const char *const foreign_classes[] = {
	"%clock", "%creds", "%file", "%fstat", "%fstatfs", "%ipc", "%lstat", "%net", "%network",
	"%pure", "%signal", "%stat", "%statfs", "%%stat", "%%statfs", NULL,
};

static bool is_foreign(const char *word)
{
	const char *const *class = foreign_classes;
	char name[64];
	uint64_t nr;

	/* strace has them without % as well */
	while (*class && strcmp(*class, word) && strcmp(*class + 1, word))
		class++;
	return *class || (*word != '%' && nr_is_call(word)) ||
	       (scan_whole(word, SCAN_DECIMAL, 0, INT_MAX, &nr) &&
		nr_name((int)nr, name, sizeof(name)));
}

static _Noreturn void unknown_call(const char *word, const char *option)
{
	struct event_code event;
	struct buf known = { 0 };
	struct nearest n;

	if (*word == '!')
		die("'%s' in %s=: a ! negates the whole list, and is before its first word", word,
		    option);
	nearest_start(&n, word, strlen(word));
	selection_offer_calls(&n);
	if (is_foreign(word))
		die("'%s' in %s=: pevtrace decodes only calls that are used with perf events; use "
		    "strace -e trace=%s", word, option, word);
	if (event_word_generic(word, strcspn(word, ":"), &event))
		die("'%s' in %s= is an event; pevtrace open -e %s opens it", word, option, word);
	if (*n.best)
		die("unknown call '%s' in %s=; did you mean %s?", word, option, n.best);
	nearest_start_words(&n, &known);
	offer_classes(&n);
	die("unknown call '%s' in %s=; valid are names and numbers of calls, /REGEX, and:%s", word,
	    option, buf_str(&known));
}

/* Select the calls whose names match; return whether there are any. */
static bool add_matching(enum selected *calls, const char *pattern, const char *option)
{
	bool found = false;
	char why[128];
	regex_t re;
	int err = regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB);

	if (err) {
		regerror(err, &re, why, sizeof(why));
		die("'/%s' in %s=: %s", pattern, option, why);
	}
	for (size_t i = 0; i < CALL_COUNT; i++) {
		if (regexec(&re, call_descs[i].name, 0, NULL, 0))
			continue;
		calls[i] = SELECT_ALL;
		found = true;
	}
	regfree(&re);
	return found;
}

/* Return whether %desc has the call, which in strace are all that take a descriptor. */
static bool takes_descriptor(const struct call_desc *d)
{
	static const bool all_do[] = {
		[CLASS_OPEN] = true, [CLASS_IOCTL] = true, [CLASS_BPF] = true,
		[CLASS_POLL] = true, [CLASS_READ] = true,  [CLASS_DESC] = true,
	};

	if (d->class < sizeof(all_do) / sizeof(*all_do) && all_do[d->class])
		return true;
	for (size_t i = 0; d->class != CLASS_PASS && i < d->nargs; i++) /* strace's %net */
		if (d->args[i].kind == ARG_FD)
			return true;
	return false;
}

/* Select the calls of a class, named with or without %; return whether there is such a class. */
static bool add_class(enum selected *calls, const char *word)
{
	bool marked = *word == '%', found = false;

	if (!marked && nr_is_call(word))
		return false;
	word += marked;
	for (size_t i = 0; i < CALL_COUNT; i++) {
		const struct call_desc *d = &call_descs[i];

		if (strcmp(word, call_class_name(d->class)) &&
		    (strcmp(word, call_class_name(CLASS_DESC)) || !takes_descriptor(d)))
			continue;
		calls[i] = SELECT_ALL;
		found = true;
	}
	return found;
}

/* Select the call with that name or number of this machine; return whether it is decoded. */
static bool add_call(enum selected *calls, const char *word)
{
	const struct call_desc *d;
	char name[64];
	uint64_t nr;

	if (scan_whole(word, SCAN_DECIMAL, 0, INT_MAX, &nr)) {
		if (!nr_name((int)nr, name, sizeof(name)))
			return false;
		word = name;
	}
	d = call_by_name(word);
	if (d)
		calls[d->id] = SELECT_ALL;
	return d;
}

struct named_calls {
	enum selected *calls;
	bool hidden;		/* the set is negated, and may have calls that are never shown */
};

static void selection_add_call(void *ctx, const char *word, const char *option)
{
	const struct named_calls *named = ctx;
	enum selected *calls = named->calls;
	bool optional = *word == '?', all, perf;
	const char *abi = strchr(word, '@');

	if (abi && *word != '/')
		die("'%s' in %s=: calls are selected in every ABI; leave out '%s'", word, option,
		    abi);
	word += optional;
	all = !strcmp(word, "all");
	perf = !strcmp(word, "perf");
	if (*word == '/') {
		if (!add_matching(calls, word + 1, option) && !optional && !named->hidden)
			die("'%s' in %s= matches no call that pevtrace decodes; use "
			    "strace -e trace=%s for others", word, option, word);
		return;
	}
	for (size_t i = 0; (all || perf) && i < CALL_COUNT; i++)
		if (all || calls[i] == SELECT_NONE)
			calls[i] = all ? SELECT_ALL : SELECT_PERF;
	if (!all && !perf && strcmp(word, "none") && !add_call(calls, word) &&
	    !add_class(calls, word) && !optional && !(named->hidden && is_foreign(word)))
		unknown_call(word, option);
}

void selection_calls(const char *set, const char *option, enum selected *calls)
{
	bool negate = skip_negations(&set);
	struct named_calls named = { .calls = calls, .hidden = negate };

	memset(calls, 0, CALL_COUNT * sizeof(*calls));
	each_word(set, option, selection_add_call, &named);
	for (size_t i = 0; negate && i < CALL_COUNT; i++)
		calls[i] = calls[i] ? SELECT_NONE : SELECT_PERF;
}

void selection_trace(void *to, const char *set, const struct verb_option *o)
{
	struct selection *s = to;

	(void)o;
	s->chosen = true;
	selection_calls(set, "-e trace", s->calls);
}

/* status= ---------------------------------------------------------------- */

struct status_set {
	const struct verb_option *option;
	unsigned int status;
};

static void add_status(void *ctx, const char *word, const char *option)
{
	struct status_set *set = ctx;

	(void)option;
	set->status |= statuses[verb_word(word, set->option)];
}

void selection_status(void *to, const char *set, const struct verb_option *o)
{
	struct status_set named = { .option = o };
	struct selection *s = to;
	bool negate = skip_negations(&set);

	each_word(set, "-e status", add_status, &named);
	s->status = negate ? STATUS_ALL & ~named.status : named.status;
}

/* signal= ---------------------------------------------------------------- */

void selection_offer_signals(struct nearest *n)
{
	char name[32];

	for (int i = 1; i <= 64; i++)
		if (signal_name(i, name, sizeof(name))) {
			nearest_try(n, name);
			nearest_try(n, name + strlen("SIG"));
		}
}

int signal_number(const char *word, const char *option)
{
	int sig = signal_by_name(word);
	struct nearest n;

	if (sig)
		return sig;
	nearest_start(&n, word, strlen(word));
	selection_offer_signals(&n);
	if (*n.best)
		die("unknown signal '%s' in %s=; did you mean %s?", word, option, n.best);
	die("unknown signal '%s' in %s=; use names such as SIGIO, or numbers from 1 to 64",
	    word, option);
}

static void add_signal(void *ctx, const char *word, const char *option)
{
	uint64_t *signals = ctx;

	if (!strcmp(word, "all"))
		*signals = ~0ULL;
	else if (strcmp(word, "none"))
		*signals |= 1ULL << (signal_number(word, option) - 1);
}

void selection_signal(void *to, const char *set, const struct verb_option *o)
{
	struct selection *s = to;
	uint64_t signals = 0;
	bool negate = skip_negations(&set);

	(void)o;
	each_word(set, "-e signal", add_signal, &signals);
	s->signals = negate ? ~signals : signals;
}
