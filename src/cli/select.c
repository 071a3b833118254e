// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/select.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "abi/strings.h"
#include "lib/buf.h"
#include "lib/die.h"
#include "lib/nearest.h"
#include "text/text_view.h"

static const struct {
	const char *name;
	unsigned int status;
} statuses[] = {
	{ "successful", STATUS_SUCCESSFUL },   { "failed", STATUS_FAILED },
	{ "unfinished", STATUS_UNFINISHED },   { "unavailable", STATUS_UNAVAILABLE },
	{ "detached", STATUS_DETACHED },       { "all", STATUS_ALL },
	{ "none", 0 },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

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

/* Call add for each word of a comma-separated set. */
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

static _Noreturn void unknown_call(const char *word, const char *option)
{
	struct buf known = { 0 };
	struct nearest n;

	nearest_start(&n, word, strlen(word));
	buf_adds(&known, "perf all none");
	for (unsigned int i = 0; call_class_name(i); i++) {
		char class[32];

		snprintf(class, sizeof(class), "%%%s", call_class_name(i));
		buf_addf(&known, " %s", class);
		nearest_try(&n, class);
	}
	for (size_t i = 0; i < CALL_COUNT; i++) {
		buf_addf(&known, " %s", call_descs[i].name);
		nearest_try(&n, call_descs[i].name);
	}
	if (*n.best)
		die("unknown call '%s' in %s=; did you mean %s?", word, option, n.best);
	die("unknown call '%s' in %s=; valid are: %s", word, option, buf_str(&known));
}

static void selection_add_call(void *ctx, const char *word, const char *option)
{
	enum selected *calls = ctx;
	const struct call_desc *d = call_by_name(word);
	bool all = !strcmp(word, "all"), perf = !strcmp(word, "perf");
	bool found = d || all || perf || !strcmp(word, "none");

	if (d)
		calls[d->id] = SELECT_ALL;
	for (size_t i = 0; i < CALL_COUNT; i++) {
		bool in_class = *word == '%' &&
			!strcmp(word + 1, call_class_name(call_descs[i].class));

		found = found || in_class;
		if (all || in_class)
			calls[i] = SELECT_ALL;
		else if (perf && calls[i] == SELECT_NONE)
			calls[i] = SELECT_PERF;
	}
	if (!found)
		unknown_call(word, option);
}

void selection_calls(const char *set, const char *option, enum selected *calls)
{
	bool negate = *set == '!';

	memset(calls, 0, CALL_COUNT * sizeof(*calls));
	each_word(set + negate, option, selection_add_call, calls);
	for (size_t i = 0; negate && i < CALL_COUNT; i++)
		calls[i] = calls[i] ? SELECT_NONE : SELECT_PERF;
}

void selection_trace(struct selection *s, const char *set)
{
	s->chosen = true;
	selection_calls(set, "-e trace", s->calls);
}

/* status= ---------------------------------------------------------------- */

static void add_status(void *ctx, const char *word, const char *option)
{
	unsigned int *status = ctx;
	struct nearest n;

	nearest_start(&n, word, strlen(word));
	for (size_t i = 0; i < COUNT(statuses); i++) {
		if (!strcmp(word, statuses[i].name)) {
			*status |= statuses[i].status;
			return;
		}
		nearest_try(&n, statuses[i].name);
	}
	die("unknown status '%s' in %s=; %s%s%s", word, option,
	    *n.best ? "did you mean " : "valid are: ", *n.best ? n.best : SELECT_STATUSES,
	    *n.best ? "?" : "");
}

void selection_status(struct selection *s, const char *set)
{
	unsigned int status = 0;
	bool negate = *set == '!';

	each_word(set + negate, "-e status", add_status, &status);
	s->status = negate ? STATUS_ALL & ~status : status;
}

/* signal= ---------------------------------------------------------------- */

int signal_number(const char *word, const char *option)
{
	int sig = signal_by_name(word);
	struct nearest n;
	char name[32];

	if (sig)
		return sig;
	nearest_start(&n, word, strlen(word));
	for (int i = 1; i <= 64; i++)
		if (signal_name(i, name, sizeof(name))) {
			nearest_try(&n, name);
			nearest_try(&n, name + strlen("SIG"));
		}
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

void selection_signal(struct selection *s, const char *set)
{
	uint64_t signals = 0;
	bool negate = *set == '!';

	each_word(set + negate, "-e signal", add_signal, &signals);
	s->signals = negate ? ~signals : signals;
}

static _Noreturn void unknown_key(const char *expr)
{
	struct nearest n;

	nearest_start(&n, expr, strcspn(expr, "=") + 1);
	nearest_try(&n, "trace=");
	nearest_try(&n, "status=");
	nearest_try(&n, "signal=");
	nearest_try(&n, "inject=");
	if (*n.best)
		die("unknown -e '%s'; did you mean %s?", expr, n.best);
	die("unknown -e '%s'; valid are trace=, status=, signal= and, for a trace, inject=", expr);
}

void selection_parse(struct selection *s, const char *expr)
{
	static const struct {
		const char *key;
		void (*parse)(struct selection *s, const char *set);
	} keys[] = {
		{ "trace=", selection_trace },
		{ "status=", selection_status },
		{ "signal=", selection_signal },
	};

	for (size_t i = 0; i < COUNT(keys); i++) {
		if (!strncmp(expr, keys[i].key, strlen(keys[i].key))) {
			keys[i].parse(s, expr + strlen(keys[i].key));
			return;
		}
	}
	if (!strncmp(expr, "inject=", strlen("inject=")))
		die("-e inject= is for tracing; see pevtrace --help");
	if (strchr(expr, '='))
		unknown_key(expr);
	selection_trace(s, expr);
}
