// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/decode/decode_one.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "verbs/cmd.h"

bool decode_one_wanted(const struct decode_one *d)
{
	return d->attr || d->ioctl || d->record || d->config || d->error || d->c_source || d->arch;
}

static void set_once(void *to, const char *arg, const struct verb_option *o)
{
	if (*(const char **)to)
		die("%s was given twice; run pevtrace decode for each", o->typed);
	verb_set_text(to, arg, o);
}

static void add_known(void *words, const char *word)
{
	buf_addf(words, " %s", word);
}

static void set_arch(void *to, const char *arg, const struct verb_option *o)
{
	const struct arch *a = arch_by_name(arg);
	struct buf known = { 0 };
	struct nearest n;

	if (!a) {
		nearest_start_list(&n, add_known, &known);
		arch_offer(&n);
		die("%s: unknown ABI '%s'; use one of%s", o->typed, arg, buf_str(&known));
	}
	*(const struct arch **)to = a;
}

#define AT(member) offsetof(struct decode_one, member)

const struct verb_option decode_one_options[] = {
	{ .name = "attr", .arg = "ATTR", .set = set_once, .at = AT(attr),
	  .help = "decode a struct perf_event_attr: hexadecimal bytes, or text of C, pevtrace, "
		  "strace, perf -vv, perf evlist -v" },
	{ .name = "arch", .arg = "ARCH", .set = set_arch, .at = AT(arch),
	  .help = "the bytes and numbers are of a program of that ABI, as a dump names it: "
		  "s390x, aarch64" },
	{ .name = "c-source", .set = verb_set_true, .at = AT(c_source),
	  .help = "with --attr, write the attr in C, to be compiled" },
	{ .name = "ioctl", .arg = "NUMBER", .set = set_once, .at = AT(ioctl),
	  .help = "decode the request of an ioctl, by number or name, and its argument" },
	{ .name = "record", .arg = "RECORDS", .set = set_once, .at = AT(record),
	  .help = "decode records of the ring buffer of the event with --attr" },
	{ .name = "config", .arg = "TYPE:VALUE", .set = set_once, .at = AT(config),
	  .help = "decode attr.config of that attr.type, PMU or tracepoint" },
	{ .name = "errno", .arg = "ERRNO", .set = set_once, .at = AT(error),
	  .help = "show what an error of perf_event_open means, by number or name" },
	{ 0 },
};

/* Die unless there is one thing to decode; --attr may say how to read a record. */
static void check(struct decode_one *d, const struct verb_args *args)
{
	int n = !!d->ioctl + !!d->record + !!d->config + !!d->error;

	if (n > 1 || (n && d->attr && !d->record))
		die("--attr, --ioctl, --record, --config and --errno are mutually exclusive; "
		    "only --record and --attr can be combined");
	if (d->c_source && (n || !d->attr || d->options.json))
		die("--c-source applies only to --attr, without --json");
	if (d->arch && !d->attr && !d->ioctl && !d->record)
		die("--arch applies only to --attr, --ioctl and --record");
	if (d->of_dumps)
		die("%s applies only to dumps", d->of_dumps);
	if (d->options.json_path)
		die("--json=FILE applies only to dumps; use --json -o FILE");
	if (args->n > !!d->ioctl)
		die("decode: unexpected argument '%s'; see pevtrace decode --help",
		    args->words[!!d->ioctl]);
	d->operand = args->words[0];
}

static bool decode_one_thing(struct decode_one *d)
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

int decode_one(struct decode_one *d, const struct verb_args *args)
{
	bool ok;

	check(d, args);
	if (!d->arch)
		d->arch = arch_native();
	showing_open(&d->out, &d->options);
	machine_open(&d->machine);
	ok = decode_one_thing(d);
	machine_close(&d->machine);
	return showing_close(&d->out) && ok ? EXIT_YES : EXIT_TROUBLE;
}
