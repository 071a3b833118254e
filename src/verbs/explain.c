// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace explain: a dump's story, one call, or a word, in English. */
#include <stdlib.h>

#include "core/abi/strings.h"
#include "core/lib/die.h"
#include "explain/lexicon.h"
#include "verbs/cmd.h"
#include "verbs/decode/decode.h"
#include "verbs/why/why.h"

struct explaining {
	struct options options;
	const struct verb_args *args;
	const char *attr, *events, *as_kernel;
	struct why check;	/* judges calls, without making them */
	bool judges;		/* check has the facts */
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
	{ .name = "as-kernel", .arg = "RELEASE", .set = verb_set_text, .at = AT(as_kernel),
	  .help = "refuse COMMAND what that older kernel would have refused" },
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
		.refused_by = c->there, .assumed = !c->there_sure,
	};
	struct why_answer r;
	struct buf why = { 0 };

	if (!x->judges)
		facts_open(&x->check.facts, x->check.machine.host);
	x->judges = true;
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

/* From now on, know nothing of the machine: a call of a text with its result is evidence of its own. */
static void explain_leave_here(struct explaining *x)
{
	if (!machine_leave_here(&x->check.machine, x->options.machine))
		return;
	if (x->judges)
		facts_close(&x->check.facts);
	x->judges = false;
	x->check.elsewhere = true;
	machine_show(&x->check.machine, &x->out);
}

/* Say what the numbers in an attr of another machine mean here. */
static void explain_guess(struct explaining *x, const struct attr_text *a)
{
	struct buf words = { 0 };

	if (machine_add_guess(&x->check.machine, a->bytes, a->len, &words)) {
		prose_para(&x->prose);
		prose_addf(&x->prose, "A guess: %s.", buf_str(&words));
		prose_end(&x->prose);
	}
	buf_free(&words);
}

static bool explain_attr(void *ctx, struct attr_text *a)
{
	struct explaining *x = ctx;
	struct why_call *c;
	struct buf doubts = { 0 };

	if (a->ioctl.given || (a->again && !a->call.error))
		return true;	/* the same on another CPU */
	if (a->call.returned)
		explain_leave_here(x);
	c = xmalloc(sizeof(*c));
	why_call_init(c);
	if (x->check.elsewhere)
		c->call.arch = x->check.machine.names.arch;
	memcpy(c->label, a->label, sizeof(c->label));
	c->call.args[0] = WHY_ATTR_AT;
	attr_text_capture(a, &c->call, WHY_ATTR_AT);
	why_call_args(c, 0, -1, -1, 0);
	if (a->call.given) {
		why_call_args(c, a->call.pid, a->call.cpu, a->call.group_fd, a->call.flags);
		c->returned = a->call.returned;
		c->error = a->call.error;
	}
	if (c->error) {
		struct attempt refused = log_calls_attempt(&x->check.log, a);
		struct judgement j;

		judge_attempt(&refused, 0, c->call.arch, &x->check.machine.names, &j);
		c->there = j.rule;
		c->there_sure = j.sure && !a->elided;
	}
	log_calls_add(&x->check.log, a);
	explain_call(x, c, a->call.given, a->elided);
	if (attr_text_doubts(a, &doubts)) {
		prose_para(&x->prose);
		prose_addf(&x->prose, "Of the text: %s.", buf_str(&doubts));
		prose_end(&x->prose);
	}
	buf_free(&doubts);
	explain_guess(x, a);
	why_call_free(c);
	free(c);
	return true;
}

static int explain_attrs(struct explaining *x, const char *arg, const char *name)
{
	return input_attrs(arg, name, explain_attr, x) ? EXIT_YES : EXIT_TROUBLE;
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
		explain_attr(x, &l.events[i].attr);
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
	const char *part;	/* a name that has the word as a part; or NULL */
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
		if (!s->part && strlen(s->word) > 3 && strstr(e->name, s->word))
			s->part = e->name;
	}
}

static int explain_word(struct explaining *x, const char *word)
{
	struct search s = { .x = x, .word = word };
	struct event_list l = { 0 };
	struct buf file = { 0 };
	unsigned long line;
	char *path = why_dump_of(word, &line);
	uint64_t number;
	int status;

	if (path) {
		status = explain_line(x, path, line);
		free(path);
		return status;
	}
	if (scan_whole(word, SCAN_DECIMAL, 1, INT_MAX, &number) && error_name((int)number))
		s.word = word = error_name((int)number);
	nearest_start(&s.nearest, word, strlen(word));
	lexicon_each(explain_entry, &s);
	if (s.found)
		return EXIT_YES;
	switch (input_kind(word, x->check.machine.host, &l)) {
	case INPUT_ATTR:
		return explain_attrs(x, word, "the attr");
	case INPUT_LOG:
		buf_addf(&file, "@%s", word);
		status = explain_attrs(x, buf_str(&file), word);
		buf_free(&file);
		return status;
	case INPUT_EVENT:
		event_list_free(&l);
		x->events = word;
		return explain_events(x);
	default:
		if (strpbrk(word, ":=,{"))
			warn("no file or term '%s', and no event: %s", word, l.why);
		else if (strpbrk(word, "/."))
			input_no_file(word);
		else if (input_hint(x->args, word, &file))
			warn("%s", buf_str(&file));
		else if (s.part)
			warn("no file, term or event '%s'; did you mean %s?", word, s.part);
		else
			warn("no file, term or event '%s'%s", word,
			     *s.nearest.best ? nearest_hint(&s.nearest) :
			     "; begin with pevtrace explain perf_event_attr");
		buf_free(&file);
		return EXIT_NO;
	}
}

/* The story --------------------------------------------------------------------------- */

static int explain_others(struct explaining *x)
{
	int status = EXIT_YES;

	showing_open(&x->out, &x->options);
	prose_init(&x->prose, &x->text, x->options.text.width ? x->options.text.width :
					terminal_columns(fileno(x->out.out)));
	x->prose.color = x->prose.links = x->out.text.color;
	x->check.options.machine = x->options.machine;
	machine_open_file(&x->check.machine, x->options.machine);
	x->check.elsewhere = x->check.machine.path;
	machine_show(&x->check.machine, &x->out);
	x->check.instruments.host = x->check.machine.host;
	if (x->attr)
		status = explain_attrs(x, x->attr, "--attr");
	else if (x->events)
		status = explain_events(x);
	for (size_t i = 0; i < x->args->n; i++)
		status = why_worse(status, explain_word(x, x->args->words[i]));
	prose_free(&x->prose);
	showing_write(&x->out, &x->text);
	buf_free(&x->text);
	if (x->judges)
		facts_close(&x->check.facts);
	log_calls_free(&x->check.log);
	machine_close(&x->check.machine);
	return showing_close(&x->out) ? status : EXIT_TROUBLE;
}

/* Run the command as trace --explain does, which sees more than a dump has. */
static int explain_command(const struct explaining *x)
{
	static const char *const colors[] = { "--color=auto", "--color=always", "--color=never" };
	const struct options *o = &x->options;
	struct buf how = { 0 }, width = { 0 }, kernel = { 0 };
	int status;

	buf_addf(&how, "--explain=%s%s", o->story.deep ? "deep," : "",
		 o->story.kernel ? "kernel" : "");
	buf_addf(&width, "--width=%u", o->text.width);
	if (x->as_kernel)
		buf_addf(&kernel, "--as-kernel=%s", x->as_kernel);
	status = input_run_trace(*x->args->all, (const char *[]){
		buf_str(&how), "-o", o->output ? o->output : "-", colors[o->color],
		kernel.len ? buf_str(&kernel) : "-f", o->text.width ? buf_str(&width) : NULL, NULL,
	}, x->args->command);
	buf_free(&how);
	buf_free(&width);
	buf_free(&kernel);
	return status;
}

static int explain_run(void *state, const struct verb_args *args)
{
	struct explaining *x = state;
	struct options *o = &x->options;
	int status = EXIT_TROUBLE;
	unsigned long line;
	const char *name;
	FILE *f;

	x->check.rules_only = true;
	x->args = args;
	if (!args->n && !args->command && !x->attr && !x->events)
		die("nothing to explain: name a dump, DUMP:LINE, a term, an event, or -- COMMAND; "
		    "see pevtrace explain --help");
	if ((args->n > 0) + !!args->command + !!x->attr + !!x->events > 1)
		die("words, --attr, -e and -- COMMAND are mutually exclusive: run pevtrace explain "
		    "for each");
	if (x->as_kernel && !args->command)
		die("--as-kernel requires -- COMMAND; of an event, explain says which kernels open it");
	if (args->command)
		return explain_command(x);
	for (size_t i = 0; i < args->n; i++) {
		enum input_kind kind = input_file_kind(args->words[i]);

		if (kind == INPUT_NONE) /* DUMP:LINE: the output is no more public than the dump */
			free(why_dump_of(args->words[i], &line));
		if (kind == INPUT_NONE || kind == INPUT_LOG)
			continue;
		verb_want(args, 1);
		f = input_session(args, i, false, true, &name);
		o->explain = o->keep = o->to_stdout = true;
		status = decode_dump(f, name, o);
		input_close(f);
		return status;
	}
	return explain_others(x);
}

static const struct verb_group groups[] = {
	{ "What to explain", options, 0, 0 },
	{ NULL, options_machine, AT(options), 0 },
	{ "How to show it", options_plain, AT(options), 0 },
	{ 0 },
};

const struct verb explain_verb = {
	.name = "explain",
	.summary = "Explain a program, a call or a term of the interface in English",
	.usage =
"explain [OPTION]... DUMP | -- COMMAND [ARG]...\n"
"explain [OPTION]... {TERM | EVENT | ATTR | LOG | DUMP:LINE}...\n"
"explain [OPTION]... --attr=ATTR | -e EVENT",
	.about =
"Explain in English what a traced program did with perf events, what one call of "
"perf_event_open(2) asks for, or what a term of the interface means.\n"
"\n"
"DUMP is what pevtrace --json=DUMP COMMAND wrote; -- COMMAND is traced, as by pevtrace "
"--explain COMMAND. TERM is a field, constant, ioctl, call, record, error, rule, PMU, "
"structure, table function or file of the kernel, or a word of perf: precise_ip, EOPNOTSUPP, "
"perf_event_paranoid, evsel.",
	.notes =
"Colored output has links to man pages. The exit status is 0, 1 if a term is unknown, 2 on "
"misuse and trouble.",
	.examples =
"pevtrace explain precise_ip\n"
"pevtrace explain --deep -e cycles:pp\n"
"pevtrace explain -- perf stat true\n"
"pevtrace explain dump.jsonl",
	.operand = "TERM|DUMP|DUMP:LINE|LOG|ATTR|EVENT|COMMAND",
	.groups = groups,
	.size = sizeof(struct explaining),
	.init = options_init,
	.run = explain_run,
};
