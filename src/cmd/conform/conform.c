// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace conform: does the man page tell the truth? */
#include "cmd/conform/conform.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "conform/btf.h"
#include "conform/header.h"
#include "conform/tables.h"
#include "lib/die.h"

enum { OPT_MAN = 256, OPT_HEADER, OPT_BTF, OPT_SELF, OPT_SINCE, OPT_SECTION, OPT_TAP,
       OPT_MARKDOWN, OPT_NO_HEADERS, OPT_NO_BTF, OPT_EXCEPTED, OPT_COLOR,
       OPT_NO_BEHAVIOUR, OPT_NOBODY, OPT_CLAIM };

static const char help[] =
"Usage: pevtrace conform [OPTION]...\n"
"Compare what is said of perf_event_open(2): by its manual page, by C headers, by\n"
"the types of the kernel, and by pevtrace's own tables, which know the release of\n"
"everything; and try what the page says that the kernel does.  Each difference is\n"
"told with its place.\n"
"\n"
"      --man=FILE          the page's source, plain or packed by gzip or xz, in any\n"
"                          language (default: the installed one)\n"
"      --header=FILE       a header, may be repeated (default: the system's\n"
"                          linux/perf_event.h and linux/hw_breakpoint.h)\n"
"      --btf=FILE          types of another kernel: raw BTF, or an ELF file that has\n"
"                          it (default: " BTF_KERNEL ")\n"
"      --no-headers        leave headers out, which need a C compiler\n"
"      --no-btf            leave the kernel's types out\n"
"      --no-behaviour      try nothing on the kernel\n"
"      --claim=PATTERN     try only claims of such a name\n"
"      --nobody            try them as an ordinary user, which takes root\n"
"      --self              compare pevtrace's tables with headers and types, so that\n"
"                          what a new kernel has added is named; no page is read\n"
"      --section=WORD      only what belongs into sections whose heading has WORD\n"
"      --since=RELEASE     only what is about things of that Linux or later\n"
"  -v, --verbose           every place of a difference, and more about it\n"
"      --excepted          show what is not reported, too, and why\n"
"  -j, --json              as JSON, one object a line\n"
"      --tap               as TAP, a test for each thing that was compared\n"
"      --markdown          as a report to send to the page's authors\n"
"  -o, --output=FILE       write there, not to standard output\n"
"      --color[=WHEN]      always, never or auto\n"
"  -h, --help              print this help\n"
"\n"
"The exit status is 0 when there are no differences but notes, 1 when there are,\n"
"and 2 on misuse and trouble.\n";

static const struct option long_options[] = {
	{ "btf", required_argument, NULL, OPT_BTF },
	{ "claim", required_argument, NULL, OPT_CLAIM },
	{ "color", optional_argument, NULL, OPT_COLOR },
	{ "excepted", no_argument, NULL, OPT_EXCEPTED },
	{ "header", required_argument, NULL, OPT_HEADER },
	{ "help", no_argument, NULL, 'h' },
	{ "json", no_argument, NULL, 'j' },
	{ "man", required_argument, NULL, OPT_MAN },
	{ "markdown", no_argument, NULL, OPT_MARKDOWN },
	{ "no-behaviour", no_argument, NULL, OPT_NO_BEHAVIOUR },
	{ "no-btf", no_argument, NULL, OPT_NO_BTF },
	{ "no-headers", no_argument, NULL, OPT_NO_HEADERS },
	{ "nobody", no_argument, NULL, OPT_NOBODY },
	{ "output", required_argument, NULL, 'o' },
	{ "section", required_argument, NULL, OPT_SECTION },
	{ "self", no_argument, NULL, OPT_SELF },
	{ "since", required_argument, NULL, OPT_SINCE },
	{ "tap", no_argument, NULL, OPT_TAP },
	{ "verbose", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

/* "5.13", "2.6.31" */
static uint32_t release_option(const char *text)
{
	const char *end = text;
	uint32_t release = release_read(&end);

	if (!release || *end)
		die("--since=%s: that is no release of Linux; write it like 5.13", text);
	return release;
}

static void set_format(struct conform_cmd *cmd, enum conform_format format)
{
	if (cmd->format && cmd->format != format)
		die("of --json, --tap and --markdown only one can be had at a time");
	cmd->format = format;
	cmd->options.json = format == CONFORM_JSON;
}

static void take(struct conform_cmd *cmd, int opt, char **argv)
{
	switch (opt) {
	case 'h':
		options_say(help);
	case 'j':
		set_format(cmd, CONFORM_JSON);
		break;
	case 'o':
		cmd->options.output = optarg;
		break;
	case 'v':
		cmd->verbose = true;
		break;
	case OPT_MAN:
		cmd->man = optarg;
		break;
	case OPT_HEADER:
		if (cmd->nheaders == CONFORM_HEADERS)
			die("more than %d headers are too many", CONFORM_HEADERS);
		cmd->headers[cmd->nheaders++] = optarg;
		break;
	case OPT_BTF:
		cmd->btf = optarg;
		break;
	case OPT_SELF:
		cmd->self = true;
		break;
	case OPT_SINCE:
		cmd->since = release_option(optarg);
		break;
	case OPT_SECTION:
		cmd->section = optarg;
		break;
	case OPT_TAP:
		set_format(cmd, CONFORM_TAP);
		break;
	case OPT_MARKDOWN:
		set_format(cmd, CONFORM_MARKDOWN);
		break;
	case OPT_NO_HEADERS:
		cmd->no_headers = true;
		break;
	case OPT_NO_BTF:
		cmd->no_btf = true;
		break;
	case OPT_NO_BEHAVIOUR:
		cmd->no_behaviour = true;
		break;
	case OPT_CLAIM:
		cmd->claim = optarg;
		break;
	case OPT_NOBODY:
		cmd->nobody = true;
		break;
	case OPT_EXCEPTED:
		cmd->show_excepted = true;
		break;
	case OPT_COLOR:
		cmd->options.color = option_color(optarg);
		break;
	default:
		options_wrong(opt, argv, "conform");
	}
}

static void parse(struct conform_cmd *cmd, int argc, char **argv)
{
	int opt;

	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, ":hjo:v", long_options, NULL)) != -1)
		take(cmd, opt, argv);
	if (optind < argc)
		die("conform takes no '%s'; a page is named by --man", argv[optind]);
	if (cmd->self && (cmd->man || cmd->section))
		die("--self reads no page: --man and --section do not go with it");
	if (cmd->no_behaviour && (cmd->claim || cmd->nobody))
		die("--claim and --nobody are about what --no-behaviour leaves out");
	if (cmd->nobody && geteuid())
		die("--nobody takes root, to become another user; without it, what is tried is "
		    "tried as the user that you are");
	if ((cmd->nheaders && cmd->no_headers) || (cmd->btf && cmd->no_btf))
		die("--header and --no-headers, --btf and --no-btf exclude each other");
}

/* Sources --------------------------------------------------------------------------------- */

static const char *installed_page(void)
{
	static const char *const pages[] = {
		"/usr/local/share/man/man2/perf_event_open.2",
		"/usr/share/man/man2/perf_event_open.2.gz",
		"/usr/share/man/man2/perf_event_open.2.xz",
		"/usr/share/man/man2/perf_event_open.2",
	};

	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++)
		if (!access(pages[i], R_OK))
			return pages[i];
	die("perf_event_open(2) is not installed: install manpages-dev, or name a file of it by "
	    "--man");
}

/* What was named must be read; what was not is done without, and that was said. */
static void need(bool read, bool named)
{
	if (!read && named)
		exit(EXIT_TROUBLE);
}

static void read_headers(struct conform_cmd *cmd)
{
	static const char *const system[] = {
		"<linux/perf_event.h>", "<linux/hw_breakpoint.h>",
	};
	bool named = cmd->nheaders;

	cmd->c.header.source = FINDING_HEADER;
	if (!cmd->no_headers)
		need(header_read(named ? cmd->headers : system, named ? cmd->nheaders : 2,
				 &cmd->c.header), named);
}

static void read_btf(struct conform_cmd *cmd)
{
	const char *path = cmd->btf ? cmd->btf : BTF_KERNEL;

	cmd->c.btf.source = FINDING_BTF;
	if (cmd->no_btf)
		return;
	if (!btf_read(path, &cmd->c.tables, &cmd->c.btf)) {
		need(false, cmd->btf);
		return;
	}
	cmd->c.btf.file = xstrdup(path);
}

static void compare(struct conform_cmd *cmd)
{
	struct conform *c = &cmd->c;

	if (!cmd->self)
		compare_page(c);
	if (!cmd->self && !cmd->no_behaviour)
		conform_try_claims(cmd);
	if (c->header.file)
		compare_source(c, &c->header);
	if (c->btf.file)
		compare_source(c, &c->btf);
}

/* Which findings -------------------------------------------------------------------------- */

bool conform_wanted(const struct conform_cmd *cmd, const struct finding *f)
{
	if (cmd->section && !strcasestr(f->section, cmd->section))
		return false;
	return !cmd->since || (f->since && release_option(f->since) >= cmd->since);
}

size_t conform_count(const struct conform_cmd *cmd, enum finding_severity severity)
{
	size_t n = 0;

	for (size_t i = 0; i < cmd->c.found.n; i++)
		n += cmd->c.found.all[i].severity == severity &&
		     conform_wanted(cmd, &cmd->c.found.all[i]);
	return n;
}

int cmd_conform(int argc, char **argv)
{
	struct conform_cmd cmd = { .man = NULL };
	struct utsname u;
	bool ok, found;

	parse(&cmd, argc, argv);
	if (!uname(&u))
		snprintf(cmd.kernel, sizeof(cmd.kernel), "%s", u.release);
	tables_read(&cmd.c.tables);
	if (!cmd.self && !page_read(cmd.man ? cmd.man : installed_page(), &cmd.c.page))
		return EXIT_TROUBLE;
	read_headers(&cmd);
	read_btf(&cmd);
	if (cmd.self && !cmd.c.header.file && !cmd.c.btf.file)
		die("there is neither a header nor BTF to compare with");
	compare(&cmd);
	showing_open(&cmd.out, &cmd.options);
	conform_show(&cmd);
	ok = showing_close(&cmd.out);
	found = conform_count(&cmd, FINDING_ERROR) || conform_count(&cmd, FINDING_MISSING);
	conform_free(&cmd.c);
	return !ok ? EXIT_TROUBLE : found ? EXIT_NO : EXIT_YES;
}
