// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace explain: a dump's story, one call, or a word, in English. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/host/event_syntax.h"
#include "core/lib/die.h"
#include "core/lib/pager.h"
#include "explain/lexicon.h"
#include "explain/story.h"
#include "verbs/cli/input.h"
#include "verbs/cmd.h"
#include "verbs/decode/decode.h"
#include "verbs/why/why.h"

struct explaining {
	struct options options;
	const char *attr, *events;
	char **words;
	int nwords;
	struct why check;	/* judges calls, without making them */
	struct showing out;
	struct prose prose;
	struct buf text;
};

/* Options --------------------------------------------------------------------------- */

#define AT(member) offsetof(struct explaining, member)

static const struct verb_option options[] = {
	{ .name = "attr", .arg = "ATTR", .set = verb_set_text, .at = AT(attr),
	  .help = "explain an attr, as pevtrace decode --attr reads it" },
	{ .name = "event", .key = 'e', .arg = "EVENT", .set = verb_set_text, .at = AT(events),
	  .help = "explain an event by name, as pevtrace open reads it" },
	{ .name = "deep", .key = 'v', .set = verb_set_true, .at = AT(options.story.deep),
	  .help = "explain each member and call in full" },
	{ .name = "kernel", .set = verb_set_true, .at = AT(options.story.kernel),
	  .help = "show the functions of the kernel, step by step" },
	{ .name = "width", .arg = "COLUMNS", .set = verb_set_int, .at = AT(options.text.width),
	  .least = 20, .most = 1 << 20,
	  .help = "break lines at this width (default: the terminal's, or 80)" },
	{ 0 },
};

/* One call --------------------------------------------------------------------------- */

static void explain_call(struct explaining *x, struct why_call *c, bool made, bool elided)
{
	struct call_prose o = {
		.call = &c->call, .names = &x->check.machine.names, .label = c->label,
		.events = x->events, .made = made, .returned = c->returned,
		.error = c->error, .injected = c->injected, .elided = elided,
	};
	struct why_answer r;
	struct buf why = { 0 };

	if (!made && !elided) {
		/* which rule refuses it on this machine? */
		why_ask(&x->check, c, &r);
		o.refused_by = r.judged.rule;
		o.assumed = rules_assumed(&r.judged.rules);
		o.error = r.judged.error;
	}
	call_prose_write(&o, &x->options.story, &x->prose);
	/* it may open, but not count: others than those of the hardware need time to tell */
	if (!made && !elided && !o.error &&
	    instrument_is_hardware(x->check.machine.host, c->attr, c->len) &&
	    instrument_doubt(&x->check.instruments, c->attr, c->len, 0, &why)) {
		prose_para(&x->prose);
		prose_addf(&x->prose, "Such an event %s.", buf_str(&why));
		prose_end(&x->prose);
	}
	buf_free(&why);
}

static int explain_attr(struct explaining *x, const struct attr_text *a)
{
	struct why_call *c = xmalloc(sizeof(*c));

	why_call_init(c);
	memcpy(c->label, a->label, sizeof(c->label));
	c->call.args[0] = WHY_ATTR_AT;
	attr_text_capture(a, &c->call, WHY_ATTR_AT);
	why_call_args(c, 0, -1, -1, 0);
	if (a->call.given) {
		why_call_args(c, a->call.pid, a->call.cpu, a->call.group_fd, a->call.flags);
		c->returned = a->call.returned;
		c->error = a->call.error;
	}
	explain_call(x, c, a->call.given, a->elided);
	why_call_free(c);
	free(c);
	return EXIT_YES;
}

static int explain_given(struct explaining *x)
{
	struct attr_text *a = xmalloc(sizeof(*a)); /* large for a stack */
	int status = input_attr(x->attr, "--attr", a) ? explain_attr(x, a) : EXIT_TROUBLE;

	free(a);
	return status;
}

/* Explain each call in a log of strace. */
static int explain_log(struct explaining *x, const char *path)
{
	struct attr_text *a = xmalloc(sizeof(*a)); /* large for a stack */
	struct buf arg = { 0 }, text = { 0 };
	struct attr_reader r;
	enum attr_read got = ATTR_BAD;

	buf_addf(&arg, "@%s", path);
	if (input_text(buf_str(&arg), "explain", &text)) {
		attr_reader_init(&r, buf_str(&text), text.len);
		while ((got = attr_reader_next(&r, a)) == ATTR_READ)
			explain_attr(x, a);
		if (got == ATTR_BAD)
			warn("cannot read %s: %s", path, r.in.why);
	}
	free(a);
	buf_free(&arg);
	buf_free(&text);
	return got == ATTR_BAD ? EXIT_TROUBLE : EXIT_YES;
}

static int explain_events(struct explaining *x)
{
	struct event_list l = { 0 };
	int status = EXIT_YES;

	if (!event_list_add(&l, x->check.machine.host, x->events)) {
		warn("-e '%s': at character %zu: %s", x->events, l.at + 1, l.why);
		status = EXIT_TROUBLE;
	}
	for (size_t i = 0; i < l.n; i++)
		status = why_worse(status, explain_attr(x, &l.events[i].attr));
	event_list_free(&l);
	return status;
}

static int explain_line(struct explaining *x, const char *path, unsigned long line)
{
	struct why_call *c = xmalloc(sizeof(*c));
	int status = EXIT_TROUBLE;

	why_call_init(c);
	if (why_call_of_dump(c, path, line)) {
		explain_call(x, c, true, false);
		status = EXIT_YES;
	}
	why_call_free(c);
	free(c);
	return status;
}

/* Words ------------------------------------------------------------------------------- */

struct search {
	struct explaining *x;
	const char *word;
	size_t found;
	struct nearest nearest;
};

static void explain_entry(void *ctx, const struct lexicon_entry *e)
{
	struct search *s = ctx;

	if (lexicon_means(e, s->word)) {
		s->found++;
		lexicon_write(e, &s->x->prose);
	} else {
		lexicon_offer(e, &s->nearest);
	}
}

static int explain_word(struct explaining *x, const char *word)
{
	struct search s = { .x = x, .word = word };

	nearest_start(&s.nearest, word, strlen(word));
	lexicon_each(explain_entry, &s);
	if (s.found)
		return EXIT_YES;
	if (*s.nearest.best)
		warn("no such file or term '%s'; did you mean %s?", word,
		     s.nearest.best);
	else
		warn("no such file or term '%s'; begin with pevtrace explain perf_event_attr",
		     word);
	return EXIT_NO;
}

/* The story --------------------------------------------------------------------------- */

/* Explain terms, attrs, events or one line of a dump. */
static int explain_others(struct explaining *x, unsigned long line, const char *path)
{
	bool log = !path && x->nwords == 1 && input_is_log(x->words[0]);
	bool judged = x->attr || x->events || log;
	int status = EXIT_YES;

	showing_open(&x->out, &x->options);
	prose_init(&x->prose, &x->text, x->options.text.width ? x->options.text.width :
					terminal_columns(fileno(x->out.out)));
	x->prose.color = x->prose.links = x->out.text.color;
	machine_open(&x->check.machine);
	x->check.instruments.host = x->check.machine.host;
	if (judged)
		facts_open(&x->check.facts, x->check.machine.host);
	if (path)
		status = explain_line(x, path, line);
	else if (log)
		status = explain_log(x, x->words[0]);
	else if (x->attr)
		status = explain_given(x);
	else if (x->events)
		status = explain_events(x);
	for (int i = 0; !path && !log && i < x->nwords; i++)
		status = why_worse(status, explain_word(x, x->words[i]));
	prose_free(&x->prose);
	showing_write(&x->out, &x->text);
	buf_free(&x->text);
	if (judged)
		facts_close(&x->check.facts);
	machine_close(&x->check.machine);
	return showing_close(&x->out) ? status : EXIT_TROUBLE;
}

static int explain_run(void *state, const struct verb_args *args)
{
	struct explaining *x = state;
	struct options *o = &x->options;
	int status = EXIT_TROUBLE;
	unsigned long line = 0;
	const char *name;
	char *path = NULL;
	FILE *f;

	x->check.rules_only = true;
	x->words = args->words;
	x->nwords = (int)args->n;
	if (!x->nwords && !x->attr && !x->events)
		die("nothing to explain: name a dump, DUMP:LINE, a term, --attr or -e; see "
		    "pevtrace explain --help");
	if ((x->nwords > 0) + !!x->attr + !!x->events > 1)
		die("dumps or terms, --attr and -e are mutually exclusive: run pevtrace explain "
		    "for each");
	if (x->nwords == 1 && (!strcmp(x->words[0], "-") ||
			       (!access(x->words[0], F_OK) && !input_is_log(x->words[0])))) {
		f = input_open(x->words[0], &name);
		o->explain = o->keep = o->to_stdout = true;
		if (input_has_calls(f, name))
			status = decode_dump(f, name, o);
		input_close(f);
		return status;
	}
	if (x->nwords == 1)
		path = why_dump_of(x->words[0], &line);
	status = explain_others(x, line, path);
	free(path);
	return status;
}

static const struct verb_group groups[] = {
	{ "What to explain", options, 0, 0 },
	{ "How to show it", options_plain, AT(options), 0 },
	{ 0 },
};

const struct verb explain_verb = {
	.name = "explain",
	.summary = "Explain a dump, a call or a term of the interface in English",
	.usage =
"explain [OPTION]... DUMP\n"
"explain [OPTION]... DUMP:LINE\n"
"explain [OPTION]... --attr=ATTR | -e EVENT\n"
"explain [OPTION]... TERM...\n"
"--explain[=HOW] [OPTION]... COMMAND [ARG]...",
	.about =
"Explain in English what a traced program did with perf events, what one call of "
"perf_event_open(2) asks for, or what a term of the interface means.\n"
"\n"
"DUMP is what pevtrace --json=DUMP COMMAND wrote; pevtrace --explain COMMAND does both at "
"once. TERM is a field, constant, ioctl, call, record, error, rule, PMU, structure, table "
"function or file of the kernel, or a word of perf: precise_ip, EOPNOTSUPP, perf_event_paranoid, evsel.",
	.notes =
"Colored output has links to man pages. The exit status is 0, 1 if a term is unknown, 2 on "
"misuse and trouble.",
	.examples =
"pevtrace explain precise_ip\n"
"pevtrace explain --deep -e cycles:pp\n"
"pevtrace explain dump.jsonl",
	.operand = "TERM|DUMP|DUMP:LINE",
	.groups = groups,
	.size = sizeof(struct explaining),
	.init = options_init,
	.run = explain_run,
};
