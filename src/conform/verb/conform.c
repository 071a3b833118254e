// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace conform: compare the man page with headers and the kernel. */
#include "conform/verb/conform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "conform/patch.h"
#include "core/host/proc.h"
#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "verbs/cmd.h"
#include "xlat/tables.h"

static void false_claim(struct conform_cmd *cmd, const struct claim_result *r)
{
	const struct claim_desc *d = r->claim;
	struct conform *c = &cmd->c;
	struct buf detail = { 0 };
	struct finding *f;
	unsigned int line = page_find(&c->page, d->section, d->place);

	if (!line && page_is_english(&c->page)) {
		compare_untried(c, xstrdup("the page does not make this claim"));
		return;
	}
	f = compare_add(c, FINDING_KERNEL, FINDING_CLAIM, NULL, d->name, d->section,
			"The page claims: %s. False here", d->meaning);
	finding_since(f, d->since);
	if (line)
		place_page(c, f, line);
	else
		finding_place(f, FINDING_PAGE, c->page.desc.file, 0, d->place);
	finding_place(f, FINDING_KERNEL, cmd->kernel, 0, *r->seen ? r->seen : NULL);
	if (*r->expected)
		buf_addf(&detail, "expected: %s\n", r->expected);
	if (*r->seen)
		buf_addf(&detail, "seen: %s\n", r->seen);
	buf_adds(&detail, r->calls);
	finding_detail(f, &detail);
}

/* Report a claim that the experiment did not contradict but the page does not contain. */
static void undocumented_claim(struct conform_cmd *cmd, const struct claim_result *r)
{
	const struct claim_desc *d = r->claim;
	const char *words = tables_pair(undocumented_descs, d->name);
	struct finding *f;

	if (!words || !page_omits(&cmd->c.page, d->section, d->place, words))
		return;
	f = compare_add(&cmd->c, FINDING_KERNEL, FINDING_UNSAID, NULL, d->name, d->section,
			"Undocumented: %s", d->meaning);
	finding_since(f, d->since);
	place_page(&cmd->c, f, page_find(&cmd->c.page, d->section, d->place));
	if (r->verdict == CLAIM_TRUE)
		finding_place(f, FINDING_KERNEL, cmd->kernel, 0, "observed");
	if (!f->detail)
		f->detail = xstrdup(r->verdict == CLAIM_TRUE ? r->calls : r->reason);
}

static void claims_report(void *ctx, const struct claim_result *r)
{
	const struct claim_desc *d = r->claim;
	struct conform_cmd *cmd = ctx;
	size_t tried = cmd->claims[CLAIM_TRUE] + cmd->claims[CLAIM_FALSE] +
		       cmd->claims[CLAIM_UNTRIED];

	conform_show_before(cmd, r->claim->section);
	if (!cmd->claim && !cmd->section)
		progress_step(&cmd->progress, tried, claim_ndescs);
	compare_begin(&cmd->c, "kernel: %s", r->claim->name);
	cmd->claims[r->verdict]++;
	if (r->verdict == CLAIM_FALSE)
		false_claim(cmd, r);
	else
		undocumented_claim(cmd, r);
	if (r->verdict != CLAIM_UNTRIED)
		return;
	compare_untried(&cmd->c, xstrdup(r->reason));
	/* a patch would correct it if it were false */
	if (d->correction && !tables_pair(undocumented_descs, d->name) &&
	    page_find(&cmd->c.page, d->section, d->place))
		buf_addf(&cmd->uncorrected, "%s%s (%s)", cmd->uncorrected.len ? ", " : "", d->name,
			 r->reason);
}

static void conform_set_format(void *to, const char *arg, const struct verb_option *o)
{
	struct conform_cmd *cmd = to;
	enum conform_format format = (enum conform_format)o->least;

	(void)arg;
	if (cmd->format && cmd->format != format)
		die("--json, --tap and --markdown are mutually exclusive");
	cmd->format = format;
	cmd->options.json = format == CONFORM_JSON;
}

static void set_header(void *to, const char *arg, const struct verb_option *o)
{
	struct conform_cmd *cmd = to;

	if (cmd->nheaders == CONFORM_HEADERS)
		die("%s: more than %d headers", o->typed, CONFORM_HEADERS);
	cmd->headers[cmd->nheaders++] = arg;
}

static void set_since(void *to, const char *arg, const struct verb_option *o)
{
	const char *end = arg;
	uint32_t release = release_read(&end);

	if (!release || *end)
		die("%s requires a release of Linux such as 5.13, not '%s'", o->typed, arg);
	*(uint32_t *)to = release;
}

#define AT(member) offsetof(struct conform_cmd, member)

static const struct verb_option sources[] = {
	{ .name = "man", .arg = "FILE", .set = verb_set_text, .at = AT(man),
	  .help = "read this page's source, plain or compressed by gzip or xz, in any language "
		  "(default: the installed one)" },
	{ .name = "header", .arg = "FILE", .set = set_header,
	  .help = "read this header; repeatable (default: the system's linux/perf_event.h and "
		  "linux/hw_breakpoint.h)" },
	{ .name = "btf", .arg = "FILE", .set = verb_set_text, .at = AT(btf),
	  .help = "read the types of another kernel: raw BTF, or an ELF file that has it "
		  "(default: " BTF_KERNEL ")" },
	{ .name = "no-headers", .set = verb_set_true, .at = AT(no_headers),
	  .help = "ignore headers, which require a C compiler" },
	{ .name = "no-btf", .set = verb_set_true, .at = AT(no_btf),
	  .help = "ignore the kernel's types" },
	{ .name = "no-behaviour", .set = verb_set_true, .at = AT(no_behaviour),
	  .help = "try nothing on the kernel" },
	{ .name = "examples", .set = verb_set_true, .at = AT(examples),
	  .help = "compile and run the example programs of the page, also of one that --man names; "
		  "only for pages that you trust" },
	{ .name = "claim", .arg = "CLAIM", .set = verb_set_text, .at = AT(claim),
	  .help = "try only claims whose name matches this pattern" },
	{ .name = "nobody", .set = verb_set_true, .at = AT(nobody),
	  .help = "try them as an ordinary user; requires root" },
	{ .name = "self", .set = verb_set_true, .at = AT(self),
	  .help = "compare pevtrace's tables with headers and types, to find what a new kernel "
		  "has added; read no page" },
	{ 0 },
};

static const struct verb_option output[] = {
	{ .name = "section", .arg = "WORD", .set = verb_set_text, .at = AT(section),
	  .help = "show only differences in sections whose heading contains WORD" },
	{ .name = "since", .arg = "RELEASE", .set = set_since, .at = AT(since),
	  .help = "show only differences about things of that Linux or later" },
	{ .name = "verbose", .key = 'v', .set = verb_set_true, .at = AT(verbose),
	  .help = "show every place of a difference, and details" },
	{ .name = "excepted", .set = verb_set_true, .at = AT(show_excepted),
	  .help = "show also exceptions, with their reasons" },
	{ .name = "accounting", .set = verb_set_true, .at = AT(accounting),
	  .help = "account for each row of the tables, and each sentence with a number or a name: "
		  "matched, false, or not compared and why; with --verbose, list what matched, too" },
	{ .name = "json", .key = 'j', .set = conform_set_format, .least = CONFORM_JSON,
	  .help = "write JSON, one object per line" },
	{ .name = "tap", .set = conform_set_format, .least = CONFORM_TAP,
	  .help = "write TAP, a test for each thing that was compared" },
	{ .name = "markdown", .set = conform_set_format, .least = CONFORM_MARKDOWN,
	  .help = "write a report to send to the page's authors" },
	{ .name = "patch", .set = verb_set_true, .at = AT(patch),
	  .help = "write a unified diff that corrects your copy of the page; man-pages accepts no "
		  "patches whose text a program wrote" },
	{ 0 },
};

static void conform_check(const struct conform_cmd *cmd)
{
	if (cmd->accounting && (cmd->patch || cmd->self || cmd->format))
		die("--accounting cannot be combined with --self, --patch or another format");
	if (cmd->patch && (cmd->self || cmd->format || cmd->section || cmd->since))
		die("--patch cannot be combined with --self, --section, --since or another format");
	if (cmd->self && (cmd->man || cmd->section))
		die("--self cannot be combined with --man or --section");
	if (cmd->no_behaviour && (cmd->claim || cmd->nobody || cmd->examples))
		die("--no-behaviour cannot be combined with --claim, --nobody or --examples");
	if (cmd->nobody && geteuid())
		die("--nobody requires root; without it, claims are tried as the current user");
	if ((cmd->nheaders && cmd->no_headers) || (cmd->btf && cmd->no_btf))
		die("--header and --no-headers, --btf and --no-btf are mutually exclusive");
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
	die("perf_event_open(2) is not installed: install manpages-dev, or name a file with "
	    "--man");
}

static void conform_compare(struct conform_cmd *cmd)
{
	const struct claims_options claims = {
		.since = cmd->since, .section = cmd->section, .name = cmd->claim,
		.nobody = cmd->nobody,
	};
	struct conform *c = &cmd->c;
	size_t tried = 0;

	if (!cmd->self)
		compare_page(c);
	if (c->header.file)
		compare_source(c, &c->header);
	if (c->btf.file)
		compare_source(c, &c->btf);
	if (cmd->self || cmd->no_behaviour)
		return;
	/* code of a page that could come from anywhere runs only on demand */
	if (cmd->man && !cmd->examples)
		examples_skip(c, "--man names the page; use --examples to run its programs");
	else
		examples_try(c, cmd->kernel);
	if (conform_streams(cmd))
		showing_progress(&cmd->out, &cmd->progress, "claims tried");
	else
		progress_start(&cmd->progress, "claims tried");
	if (conform_claims(&claims, claims_report, cmd) < 0)
		die("cannot try claims: %s", strerror(ENOMEM));
	progress_end(&cmd->progress);
	for (size_t i = 0; i < sizeof(cmd->claims) / sizeof(*cmd->claims); i++)
		tried += cmd->claims[i];
	if (cmd->claim && !tried)
		die("no claim's name matches '%s'; see pevtrace-conform(1)", cmd->claim);
}

/* Die if no heading of the page, and no section of a claim, contains the word of --section. */
static void check_section(const struct conform_cmd *cmd)
{
	const struct page *p = &cmd->c.page;
	struct nearest n;

	if (!cmd->section)
		return;
	nearest_start(&n, cmd->section, strlen(cmd->section));
	for (size_t i = 0; i < p->nsections; i++) {
		if (strcasestr(p->sections[i], cmd->section))
			return;
		nearest_try(&n, p->sections[i]);
	}
	for (size_t i = 0; i < claim_ndescs; i++)
		if (strcasestr(claim_descs[i].section, cmd->section))
			return;
	die("no heading of the page contains '%s'%s", cmd->section, nearest_hint(&n));
}

/* Compare what was read with the page, if any, and show it; return the exit status. */
static int compare_and_show(struct conform_cmd *cmd)
{
	static const char *const system[] = {
		"<linux/perf_event.h>", "<linux/hw_breakpoint.h>",
	};
	const char *btf = cmd->btf ? cmd->btf : BTF_KERNEL;
	bool named = cmd->nheaders, found;
	struct buf diff = { 0 };

	check_section(cmd);
	cmd->c.header.source = FINDING_HEADER;
	if (!cmd->no_headers &&
	    !header_read(named ? cmd->headers : system, named ? cmd->nheaders : 2,
			 &cmd->c.header) && named)
		exit(EXIT_TROUBLE); /* a warning was printed */
	cmd->c.btf.source = FINDING_BTF;
	if (!cmd->no_btf && btf_read(btf, &cmd->c.tables, &cmd->c.btf))
		cmd->c.btf.file = xstrdup(btf);
	else if (cmd->btf)
		exit(EXIT_TROUBLE);
	if (cmd->self && !cmd->c.header.file && !cmd->c.btf.file)
		die("nothing to compare with: neither a header nor BTF could be read");
	showing_open(&cmd->out, &cmd->options);
	conform_show_sources(cmd);
	conform_compare(cmd);
	if (cmd->patch && cmd->uncorrected.len)
		warn("claims that could not be tried are not corrected: %s", cmd->uncorrected.data);
	if (cmd->patch) {
		patch_write(&cmd->c, &diff);
		showing_write(&cmd->out, &diff);
		buf_free(&diff);
	} else if (cmd->accounting) {
		conform_accounting(cmd);
	} else if (cmd->format == CONFORM_MARKDOWN) {
		conform_markdown(cmd);
	} else {
		conform_show(cmd);
	}
	found = conform_count(cmd, FINDING_ERROR) || conform_count(cmd, FINDING_MISSING);
	return !showing_close(&cmd->out) ? EXIT_TROUBLE : found ? EXIT_NO : EXIT_YES;
}

static int conform_run(void *state, const struct verb_args *args)
{
	struct conform_cmd *cmd = state;
	struct utsname u;
	int status = EXIT_TROUBLE;

	if (args->n > 1)
		verb_want(args, 1);
	if (args->n && cmd->man)
		die("two pages: --man=%s and %s", cmd->man, args->words[0]);
	if (args->n)
		cmd->man = args->words[0];
	conform_check(cmd);
	mounts_warn();
	if (!uname(&u))
		snprintf(cmd->kernel, sizeof(cmd->kernel), "%s", u.release);
	tables_read(&cmd->c.tables);
	if (cmd->self || page_read(cmd->man ? cmd->man : installed_page(), &cmd->c.page))
		status = compare_and_show(cmd);
	conform_free(&cmd->c);
	buf_free(&cmd->uncorrected);
	free(cmd->sections);
	return status;
}

static const struct verb_group groups[] = {
	{ "What to compare", sources, 0, 0 },
	{ "What to show", output, 0, 0 },
	{ NULL, options_plain, AT(options), 0 },
	{ 0 },
};

const struct verb conform_verb = {
	.name = "conform",
	.summary = "Compare man page, headers and kernel with each other",
	.usage = "conform [OPTION]... [FILE]",
	.about =
"Compare what is documented about perf_event_open(2): by its manual page, by C headers, by "
"the types of the kernel, and by pevtrace's own tables, which know the release of "
"everything; and try what the page claims that the kernel does. Report each difference with "
"its place. FILE is the same as --man=FILE.",
	.notes =
"The exit status is 0 if there are no differences but notes, 1 if there are, 2 on misuse "
"and trouble.",
	.examples =
"pevtrace conform --section=ERRORS\n"
"pevtrace conform --self --btf=vmlinux",
	.operand = "FILE",
	.groups = groups,
	.size = sizeof(struct conform_cmd),
	.run = conform_run,
};
