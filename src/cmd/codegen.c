// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace codegen DUMP: a C program that makes the calls of a dump. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "cli/options.h"
#include "cmd/cmd.h"
#include "codegen/gather.h"
#include "lib/create.h"
#include "lib/die.h"

enum { OPT_ALL = 256, OPT_EVENT, OPT_PID };

static const char help[] =
"Usage: pevtrace codegen [OPTION]... DUMP\n"
"Write a C program that makes the perf calls of a program whose trace\n"
"pevtrace --json=DUMP has recorded: it opens the same events, sets them up in the\n"
"same way, takes their records and prints their counts.\n"
"\n"
"      --all             with opens that failed and with probes, which are events\n"
"                        that were opened and closed and not used\n"
"      --event=N         that event only, with its group and its ring\n"
"      --pid=PID         the calls of that process, if several opened events\n"
"  -o, --output=FILE     write to FILE, not to standard output\n"
"  -h, --help            print this help\n"
"  -V, --version         print the version\n"
"\n"
"A DUMP of - is standard input. The exit status is 0 where all is in the program,\n"
"1 where something had to be left out, 2 on misuse and trouble.\n";

static const struct option long_options[] = {
	{ "all", no_argument, NULL, OPT_ALL },
	{ "event", required_argument, NULL, OPT_EVENT },
	{ "help", no_argument, NULL, 'h' },
	{ "output", required_argument, NULL, 'o' },
	{ "pid", required_argument, NULL, OPT_PID },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

struct generating {
	struct c_choice choice;
	pid_t pid;
	const char *output;
};

static void one_option(struct generating *g, int opt, const char *arg, char **argv)
{
	switch (opt) {
	case 'h':
		options_say(help);
	case 'V':
		options_say(PACKAGE_STRING "\n");
	case 'o':
		g->output = strcmp(arg, "-") ? arg : NULL;
		break;
	case OPT_ALL:
		g->choice.all = true;
		break;
	case OPT_EVENT:
		g->choice.event = (unsigned int)option_number(arg, "--event", 1, INT_MAX);
		break;
	case OPT_PID:
		g->pid = (pid_t)option_number(arg, "--pid", 1, INT_MAX);
		break;
	default:
		options_wrong(opt, argv, "codegen");
	}
}

static const char *parse(struct generating *g, int argc, char **argv)
{
	int opt;

	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, ":ho:V", long_options, NULL)) != -1)
		one_option(g, opt, optarg, argv);
	if (g->choice.all && g->choice.event)
		die("--all and --event do not go together");
	if (argc - optind != 1)
		die("pevtrace codegen takes one dump, not %d; see pevtrace codegen --help",
		    argc - optind);
	return argv[optind];
}

static bool put(const struct generating *g, const struct buf *text)
{
	int fd = g->output ? create_file(g->output, O_TRUNC) : -1;
	FILE *f = !g->output ? stdout : fd < 0 ? NULL : fdopen(fd, "w");
	bool ok = f && fwrite(text->data, 1, text->len, f) == text->len && !fflush(f);

	if (!ok)
		warn("cannot write to %s: %s", g->output ? g->output : "standard output",
		     create_error(errno));
	if (f && f != stdout && fclose(f) && ok) {
		warn("cannot write to %s: %s", g->output, strerror(errno));
		ok = false;
	}
	return ok;
}

/* False when the program does less, or other things, than what was traced. */
static bool tell_missing(const struct gathered *all)
{
	const struct c_program *p = all->program;

	if (all->left_out)
		warn("the program makes the calls of process %d; %zu other%s used events, "
		     "too: --pid chooses", (int)all->pid, all->left_out,
		     all->left_out == 1 ? "" : "s");
	if (p->missing)
		warn("%zu call%s had to be left out; comments in the program say where and "
		     "why", p->missing, p->missing == 1 ? "" : "s");
	if (p->threads > 1)
		warn("%zu threads made the calls, and one makes them in the program",
		     p->threads);
	if (p->inexact)
		warn("%zu call%s used a descriptor or an address that the program cannot have",
		     p->inexact, p->inexact == 1 ? "" : "s");
	return !all->left_out && !p->missing && p->threads <= 1 && !p->inexact;
}

static int generate(struct generating *g, FILE *f, const char *path)
{
	struct gathered all;
	struct buf text = { 0 };
	int status = EXIT_TROUBLE;

	if (!gather_read(&all, f, path, g->pid, g->choice.event)) {
		gathered_free(&all);
		return status;
	}
	if (!c_program_choose(all.program, &g->choice)) {
		if (g->choice.event)
			warn("%s: process %d did not open event %u", path, (int)all.pid,
			     g->choice.event);
		else
			warn("%s: all opens of process %d failed or were probes; --all "
			     "generates these, too", path, (int)all.pid);
	} else {
		c_program_write(all.program, &text);
		if (put(g, &text))
			status = tell_missing(&all) ? EXIT_YES : EXIT_NO;
	}
	buf_free(&text);
	gathered_free(&all);
	return status;
}

int cmd_codegen(int argc, char **argv)
{
	struct generating g = { .pid = 0 };
	const char *path = parse(&g, argc, argv);
	FILE *f = input_open(path, &path);
	int status = input_has_calls(f, path) ? generate(&g, f, path) : EXIT_TROUBLE;

	input_close(f);
	return status;
}
