// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cmd/decode/decode_one.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/die.h"

/* What is read at once; a text or a run of records is rarely a thousandth of it. */
#define READ_MAX ((size_t)256 << 20)

enum { OPT_ATTR = 256, OPT_IOCTL, OPT_RECORD, OPT_CONFIG, OPT_ERRNO, OPT_COLOR };

static const struct option long_options[] = {
	{ "attr", required_argument, NULL, OPT_ATTR },
	{ "color", optional_argument, NULL, OPT_COLOR },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "errno", required_argument, NULL, OPT_ERRNO },
	{ "help", no_argument, NULL, 'h' },
	{ "ioctl", required_argument, NULL, OPT_IOCTL },
	{ "json", no_argument, NULL, 'j' },
	{ "no-abbrev", no_argument, NULL, 'v' },
	{ "output", required_argument, NULL, 'o' },
	{ "record", required_argument, NULL, OPT_RECORD },
	{ "string-limit", required_argument, NULL, 's' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
"Usage: pevtrace decode [OPTION]... --attr=ATTR\n"
"       pevtrace decode [OPTION]... --ioctl=NUMBER [ARG]\n"
"       pevtrace decode [OPTION]... --record=RECORDS [--attr=ATTR]\n"
"       pevtrace decode [OPTION]... --config=TYPE:VALUE\n"
"       pevtrace decode [OPTION]... --errno=NUMBER|NAME\n"
"Decode single things of perf_event_open(2).\n"
"\n"
"  --attr=ATTR             struct perf_event_attr: hexadecimal bytes, or text of\n"
"                          C, pevtrace, strace, perf -vv, perf evlist -v\n"
"  --ioctl=NUMBER [ARG]    an ioctl's request, by number or name, and argument\n"
"  --record=RECORDS        records of the ring buffer of the event with --attr\n"
"  --config=TYPE:VALUE     attr.config of that attr.type, PMU or tracepoint\n"
"  --errno=NUMBER|NAME     what an error of perf_event_open means\n"
"\n"
"  -j, --json              as JSON, one object a line\n"
"  -v, --no-abbrev         every field, zero or not\n"
"  -s, --string-limit=N    bytes of a string to show (default 32)\n"
"  -o, --output=FILE       write there, not to standard output\n"
"      --color[=WHEN]      always, never or auto\n"
"\n"
"ATTR and RECORDS may be @FILE, or - for standard input; both may be binary.\n";

bool decode_one_wanted(int argc, char **argv)
{
	static const char *const words[] = {
		"--attr", "--ioctl", "--record", "--config", "--errno",
	};

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		size_t n = strcspn(argv[i], "=");

		for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
			if (strlen(words[k]) == n && !memcmp(argv[i], words[k], n))
				return true;
	}
	return false;
}

bool decode_one_read(const char *arg, const char *option, struct buf *text)
{
	FILE *f = stdin;
	char room[65536];
	bool ok = true;
	size_t n;

	buf_reset(text);
	if (*arg != '@' && strcmp(arg, "-")) {
		buf_adds(text, arg);
		return true;
	}
	if (*arg == '@')
		f = fopen(arg + 1, "re");
	if (!f) {
		warn("cannot read '%s' for %s: %s", arg + 1, option, strerror(errno));
		return false;
	}
	while (ok && (n = fread(room, 1, sizeof(room), f)) > 0) {
		buf_add(text, room, n);
		ok = text->len <= READ_MAX;
	}
	if (!ok)
		warn("'%s' is more than %s takes, 256 MiB; cut it into pieces",
		     *arg == '@' ? arg + 1 : "standard input", option);
	else if (ferror(f))
		warn("cannot read '%s' for %s: %s", *arg == '@' ? arg + 1 : "standard input",
		     option, strerror(errno));
	ok = ok && !ferror(f);
	if (f != stdin)
		fclose(f);
	return ok;
}

bool decode_one_binary(const struct buf *text)
{
	for (size_t i = 0; i < text->len; i++) {
		unsigned char c = (unsigned char)text->data[i];

		if (c < ' ' && !(c >= '\t' && c <= '\r') && c != 033)
			return true;
	}
	return false;
}

static void set_once(const char **place, const char *value, const char *option)
{
	if (*place)
		die("%s was given twice; run pevtrace decode for each", option);
	*place = value;
}

static void one_option(struct decode_one *d, int opt, const char *arg)
{
	switch (opt) {
	case 1:
		if (d->operand)
			die("'%s' is one argument too many; see pevtrace decode "
			    "--attr=x --help", arg);
		d->operand = arg;
		break;
	case 'j':
		d->options.json = true;
		break;
	case 'o':
		d->options.output = arg;
		break;
	case 's':
		d->options.text.max_string = (size_t)option_number(arg, "-s", 0, 1 << 20);
		break;
	case 'v':
		d->options.text.full = true;
		break;
	case OPT_ATTR:
		set_once(&d->attr, arg, "--attr");
		break;
	case OPT_CONFIG:
		set_once(&d->config, arg, "--config");
		break;
	case OPT_ERRNO:
		set_once(&d->error, arg, "--errno");
		break;
	case OPT_IOCTL:
		set_once(&d->ioctl, arg, "--ioctl");
		break;
	case OPT_RECORD:
		set_once(&d->record, arg, "--record");
		break;
	case OPT_COLOR:
		d->options.color = option_color(arg);
		break;
	}
}

/* Exactly one thing; an attr goes with a record, and says how to read it. */
static void check(const struct decode_one *d)
{
	int n = !!d->ioctl + !!d->record + !!d->config + !!d->error;

	if (n > 1 || (n && d->attr && !d->record))
		die("only one of --attr, --ioctl, --record, --config and --errno can be "
		    "decoded at a time; only --record goes with --attr");
	if (d->operand && !d->ioctl)
		die("'%s' does not belong to an option; only --ioctl takes an argument "
		    "more", d->operand);
}

static void parse(struct decode_one *d, int argc, char **argv)
{
	int opt;

	d->options.text.max_string = 32;
	opterr = 0;
	optind = 1;
	while (true) {
		/* the argument of an ioctl may be negative, and is no option then */
		if (optind < argc && argv[optind][0] == '-' &&
		    argv[optind][1] >= '0' && argv[optind][1] <= '9') {
			one_option(d, 1, argv[optind++]);
			continue;
		}
		opt = getopt_long(argc, argv, "-:hjo:s:v", long_options, NULL);
		if (opt == -1)
			break;
		if (opt == 'h') {
			options_say(help);
		}
		if (opt == ':')
			die("option '%s' needs an argument; see pevtrace decode --attr=x "
			    "--help", argv[optind - 1]);
		if (opt == '?')
			die("unknown option '%s' for a single thing; see pevtrace decode "
			    "--attr=x --help", argv[optind - 1]);
		one_option(d, opt, optarg);
	}
	check(d);
}

static bool decode(struct decode_one *d)
{
	if (d->ioctl)
		return decode_one_ioctl(d);
	if (d->record)
		return decode_one_record(d);
	if (d->config)
		return decode_one_config(d);
	if (d->error)
		return decode_one_error(d);
	return decode_one_attr(d);
}

int cmd_decode_one(int argc, char **argv)
{
	struct decode_one d = { .attr = NULL };
	bool ok;

	parse(&d, argc, argv);
	showing_open(&d.out, &d.options);
	machine_open(&d.machine);
	ok = decode(&d);
	machine_close(&d.machine);
	return showing_close(&d.out) && ok ? EXIT_YES : EXIT_TROUBLE;
}
