// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace explain: a dump's story, one call, or a word, in English. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/input.h"
#include "cmd/check/check.h"
#include "cmd/cmd.h"
#include "cmd/decode/decode.h"
#include "cmd/decode/decode_one.h"
#include "explain/call_prose.h"
#include "explain/lexicon.h"
#include "host/event_syntax.h"
#include "lib/die.h"

static const char help[] =
"Usage: pevtrace explain [OPTION]... DUMP\n"
"       pevtrace explain [OPTION]... DUMP:LINE\n"
"       pevtrace explain [OPTION]... --attr=ATTR | -e EVENT\n"
"       pevtrace explain WORD...\n"
"Say in English what a traced program did with perf events, what one call of\n"
"perf_event_open(2) asks for, or what a word of the interface means.\n"
"\n"
"DUMP is what pevtrace --json=DUMP COMMAND wrote; pevtrace --explain COMMAND tells\n"
"the same story at once. WORD is a field, constant, ioctl, call, record, error,\n"
"check, PMU, structure, table or function of the kernel: precise_ip, cpu_clock,\n"
"EOPNOTSUPP, perf_event_attr.type.\n"
"\n"
"      --brief             what was done and what failed, no more\n"
"      --deep              with all there is to know of each field\n"
"      --kernel            with the functions of the kernel, step by step\n"
"      --attr=ATTR         an attr as pevtrace decode --attr takes it\n"
"  -e, --event=EVENT       an event by name, as pevtrace open takes it\n"
"      --width=COLUMNS     break lines there (default: the terminal's, or 80)\n"
"  -o, --output=FILE       write there, not to standard output\n"
"      --color[=WHEN]      always, never or auto; with it, links to man pages\n"
"  -h, --help              print this help\n"
"\n"
"The exit status is 0, 1 where a word is not known, 2 on misuse and trouble.\n";

enum { OPT_BRIEF = 256, OPT_DEEP, OPT_KERNEL, OPT_ATTR, OPT_COLOR, OPT_WIDTH };

static const struct option long_options[] = {
	{ "attr", required_argument, NULL, OPT_ATTR },
	{ "brief", no_argument, NULL, OPT_BRIEF },
	{ "color", optional_argument, NULL, OPT_COLOR },
	{ "deep", no_argument, NULL, OPT_DEEP },
	{ "event", required_argument, NULL, 'e' },
	{ "help", no_argument, NULL, 'h' },
	{ "kernel", no_argument, NULL, OPT_KERNEL },
	{ "output", required_argument, NULL, 'o' },
	{ "width", required_argument, NULL, OPT_WIDTH },
	{ NULL, 0, NULL, 0 },
};

struct explaining {
	struct options options;
	const char *attr, *events;
	char **words;
	int nwords;
	struct check check;	/* what calls are judged with; never made */
	struct showing out;
	struct prose prose;
	struct buf text;
};

/* Options --------------------------------------------------------------------------- */

static void one_option(struct explaining *x, int opt, const char *arg)
{
	struct options *o = &x->options;

	switch (opt) {
	case 'e':
		x->events = arg;
		break;
	case 'o':
		o->output = arg;
		break;
	case OPT_ATTR:
		x->attr = arg;
		break;
	case OPT_BRIEF:
		o->story.level = STORY_BRIEF;
		break;
	case OPT_DEEP:
		o->story.level = STORY_DEEP;
		break;
	case OPT_KERNEL:
		o->story.kernel = true;
		break;
	case OPT_COLOR:
		o->color = option_color(arg);
		break;
	case OPT_WIDTH:
		o->width = (unsigned int)option_number(arg, "--width", 20, 1 << 20);
		break;
	}
}

static void parse(struct explaining *x, int argc, char **argv)
{
	int opt;

	options_init(&x->options);
	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, ":e:ho:", long_options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			options_say(help);
		case ':':
		case '?':
			options_wrong(opt, argv, "explain");
		default:
			one_option(x, opt, optarg);
		}
	}
	x->words = argv + optind;
	x->nwords = argc - optind;
	if (!x->nwords && !x->attr && !x->events)
		die("nothing to explain: name a dump, DUMP:LINE, a word, --attr or -e; see "
		    "pevtrace explain --help");
	if ((x->nwords > 0) + !!x->attr + !!x->events > 1)
		die("a dump or words, --attr and -e do not go together: run pevtrace explain "
		    "for each");
}

/* One call --------------------------------------------------------------------------- */

/* Judge a call that was not made: which rule refuses it on this machine? */
static void judge_call(struct explaining *x, struct check_call *c, struct call_prose *out)
{
	struct check_result r;

	check_ask(&x->check, c, &r);
	out->refused_by = r.judged.rule;
	out->error = r.judged.error;
}

static void explain_call(struct explaining *x, struct check_call *c)
{
	struct call_prose o = {
		.call = &c->call, .names = &x->check.machine.names, .label = c->label,
		.events = x->events, .made = c->from_dump, .returned = c->returned,
		.error = c->error, .injected = c->injected,
	};

	if (!c->from_dump)
		judge_call(x, c, &o);
	call_prose_write(&o, &x->options.story, &x->prose);
}

static int explain_attr(struct explaining *x, const struct attr_text *a)
{
	struct check_call *c = xmalloc(sizeof(*c));

	check_call_init(c);
	memcpy(c->label, a->label, sizeof(c->label));
	c->call.args[0] = CHECK_ATTR_AT;
	attr_text_capture(a, &c->call, CHECK_ATTR_AT);
	check_call_args(c, 0, -1, -1, 0);
	explain_call(x, c);
	check_call_free(c);
	free(c);
	return EXIT_YES;
}

static int explain_text(struct explaining *x)
{
	struct attr_text a;

	return decode_one_single_attr(x->attr, "--attr", &a) ? explain_attr(x, &a) :
							       EXIT_TROUBLE;
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
		status = check_worse(status, explain_attr(x, &l.events[i].attr));
	event_list_free(&l);
	return status;
}

static int explain_line(struct explaining *x, const char *path, unsigned long line)
{
	struct check_call *c = xmalloc(sizeof(*c));
	int status = EXIT_TROUBLE;

	check_call_init(c);
	if (check_call_of_dump(c, path, line)) {
		explain_call(x, c);
		status = EXIT_YES;
	}
	check_call_free(c);
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
		lexicon_tell(e, &s->x->prose);
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
		warn("there is neither a file nor a word '%s'; did you mean %s?", word,
		     s.nearest.best);
	else
		warn("there is neither a file nor a word '%s'; pevtrace explain perf_event_attr "
		     "is a place to begin", word);
	return EXIT_NO;
}

/* The story --------------------------------------------------------------------------- */

static int explain_dump(struct explaining *x, const char *path)
{
	struct options *o = &x->options;
	const char *name;
	FILE *f = input_open(path, &name);
	int status = EXIT_TROUBLE;

	o->explain = o->keep = o->to_stdout = true;
	if (input_has_calls(f, name))
		status = decode_dump(f, name, o);
	input_close(f);
	return status;
}

/* All but stories write here, and what they write is of one prose. */
static int explain_others(struct explaining *x, unsigned long line, const char *path)
{
	bool judged = x->attr || x->events;
	int status = EXIT_YES;

	showing_open(&x->out, &x->options);
	prose_init(&x->prose, &x->text, x->options.width ? x->options.width :
					prose_width(fileno(x->out.out)));
	x->prose.color = x->prose.links = x->out.text.color;
	machine_open(&x->check.machine);
	if (judged)
		facts_open(&x->check.facts, x->check.machine.host);
	if (path)
		status = explain_line(x, path, line);
	else if (x->attr)
		status = explain_text(x);
	else if (x->events)
		status = explain_events(x);
	for (int i = 0; !path && i < x->nwords; i++)
		status = check_worse(status, explain_word(x, x->words[i]));
	prose_free(&x->prose);
	fwrite(buf_str(&x->text), 1, x->text.len, x->out.out);
	buf_free(&x->text);
	if (judged)
		facts_close(&x->check.facts);
	machine_close(&x->check.machine);
	return showing_close(&x->out) ? status : EXIT_TROUBLE;
}

int cmd_explain(int argc, char **argv)
{
	struct explaining x = { .check.offline = true };
	unsigned long line = 0;
	char *path = NULL;
	int status;

	parse(&x, argc, argv);
	if (x.nwords == 1 && (!strcmp(x.words[0], "-") || !access(x.words[0], F_OK)))
		return explain_dump(&x, x.words[0]);
	if (x.nwords == 1)
		path = check_dump_of(x.words[0], &line);
	status = explain_others(&x, line, path);
	free(path);
	return status;
}
