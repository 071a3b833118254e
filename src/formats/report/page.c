// SPDX-License-Identifier: LGPL-2.1-or-later
/* The page: its template (page.html) with the parts in place of {{NAME}}. */
#include <stdio.h>
#include <time.h>

#include "formats/report/page_internal.h"
#include "formats/text/flaw_text.h"
#include "xlat/rows.h"
#include "xlat/tables.h"

/* Append an argument, quoted for a shell if necessary. */
static void add_shell_word(const char *arg, struct buf *out)
{
	bool plain = *arg && !arg[strspn(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "0123456789_-+=.,:/@%^")];

	if (plain) {
		html_add(out, arg);
		return;
	}
	html_add(out, "'");
	for (; *arg; arg++) {
		if (*arg == '\'')
			html_add(out, "'\\''");
		else
			html_addf(out, "%c", *arg);
	}
	html_add(out, "'");
}

/* Append the command line, or the processes that were attached. */
static void part_title(const struct report *r, struct buf *out)
{
	const struct session_facts *f = r->facts;

	if (f->command && f->command[0]) {
		for (size_t i = 0; f->command[i]; i++) {
			buf_adds(out, i ? " " : "");
			add_shell_word(f->command[i], out);
		}
		return;
	}
	for (size_t i = 0; i < f->npids; i++)
		buf_addf(out, "%s%d", i ? ", " : "process ", (int)f->pids[i]);
	if (!f->npids)
		html_add(out, r->about.dump);
}

static void part_meta(const struct report *r, struct buf *out)
{
	const struct session_facts *f = r->facts;
	time_t started = (time_t)((f->start_ns + (uint64_t)f->real_offset) / 1000000000);
	char text[64] = "";
	struct tm tm;

	if (gmtime_r(&started, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm);
	buf_addf(out, "<li><time>%s</time></li><li>", text);
	if (*r->about.machine)
		html_addf(out, "%s</li><li>", r->about.machine);
	html_addf(out, "%s %s, %s", f->sysname ? f->sysname : "Linux",
		  f->release ? f->release : "", f->arch->name);
	html_put(out, "</li><li>pevtrace ", f->pevtrace ? f->pevtrace : "", "</li>");
	html_put(out, "<li>", r->about.dump, "</li>");
	if (!reader_whole(r->about.reader))
		buf_adds(out, "<li class=\"error\">incomplete: lines of the dump are missing "
			      "or cannot be read</li>");
}

static void part_summary(const struct report *r, struct buf *out)
{
	struct buf text = { 0 };

	if (!r->about.summary)
		return;
	r->about.summary(r->about.summary_ctx, &text);
	html_put(out, "<p class=\"lead\">", buf_str(&text), "</p>");
	buf_free(&text);
}

static void part_dump(const struct report *r, struct buf *out)
{
	html_add(out, r->about.dump);
}

/* Overview ------------------------------------------------------------------ */

static void add_card(struct buf *out, const char *href, const char *number, const char *what,
		     const char *more)
{
	buf_addf(out, "<li><a href=\"#%s\"><span class=\"n\">%s</span> <span class=\"what\">"
		 "%s</span> <span class=\"more\">%s</span></a></li>\n", href, number, what,
		 more);
}

static void add_count_card(struct buf *out, const char *href, const char *one,
			   const char *many, uint64_t n, const char *more)
{
	char number[32];

	snprintf(number, sizeof(number), "%llu", (unsigned long long)n);
	add_card(out, href, number, n == 1 ? one : many, more);
}

/* A tile for each flaw that was seen, the worst first, which leads to the event. */
static void add_flaw_cards(const struct report *r, struct buf *out)
{
	static const char *const classes[] = {
		[FLAW_ERROR] = "error", [FLAW_WARNING] = "warning", [FLAW_NOTE] = "noted",
	};
	struct flaws flaws = { .of = { { 0 } } };
	struct buf text = { 0 };

	flaws_of(&flaws, r->model);
	for (enum flaw_severity s = FLAW_ERROR; s <= FLAW_NOTE; s++)
		for (enum flaw_id i = 0; i < FLAW_COUNT; i++) {
			const struct flaw *f = &flaws.of[i];

			if (!f->events || flaw_descs[i].severity != s)
				continue;
			buf_addf(out, "<li class=\"%s\"><a href=\"#event-%u\"><span class=\"n\">",
				 classes[s], f->number);
			flaw_amount(i, f, &text);
			html_put(out, "", buf_str(&text), "</span> <span class=\"what\">");
			buf_reset(&text);
			for (const char *c = flaw_descs[i].name; *c; c++)
				buf_addc(out, *c == '_' ? ' ' : *c);
			flaw_text(i, f, &text);
			html_put(out, "</span> <span class=\"more\">", f->event, "");
			if (f->events > 1)
				buf_addf(out, " and %u more", f->events - 1);
			html_put(out, ": ", buf_str(&text), "</span></a></li>\n");
			buf_reset(&text);
		}
	buf_free(&text);
}

static void part_overview(const struct report *r, struct buf *out)
{
	uint64_t calls = 0, errors = 0, probes = 0, groups = 0;
	uint64_t ns = r->last_ns - r->facts->start_ns;
	struct ring *const *rings;
	struct event *const *events;
	size_t nevents = model_events(r->model, &events);
	const struct attempt *attempts;
	size_t nattempts = model_attempts(r->model, &attempts);
	char text[32], more[80];

	for (size_t i = 0; i < CALL_COUNT; i++) {
		calls += r->counts.of[i].calls;
		errors += r->counts.of[i].errors;
	}
	for (size_t i = 0; i < nevents; i++) {
		probes += event_is_probe(events[i]);
		groups += events[i]->leader != NULL;
	}
	add_flaw_cards(r, out);
	if (ns < 1000000000)
		snprintf(text, sizeof(text), "%.3f ms", (double)ns / 1e6);
	else
		snprintf(text, sizeof(text), "%.3f s", (double)ns / 1e9);
	snprintf(more, sizeof(more), "%zu task%s", r->ntasks, r->ntasks == 1 ? "" : "s");
	add_card(out, "timeline", text, "duration", more);
	snprintf(more, sizeof(more), "%llu failed", (unsigned long long)errors);
	add_count_card(out, "calls", "call", "calls", calls, more);
	snprintf(more, sizeof(more), "%llu as probe%s, %llu in groups",
		 (unsigned long long)probes, probes == 1 ? "" : "s",
		 (unsigned long long)groups);
	add_count_card(out, "events", "event opened", "events opened", nevents, more);
	add_count_card(out, "failures", "failed open", "failed opens", nattempts,
		       nattempts ? "with causes" : "every open succeeded");
	add_count_card(out, "rings", "ring mapped", "rings mapped",
		       model_rings(r->model, &rings), "");
	add_count_card(out, "timeline", "record read", "records read", r->records_seen, "");
}

/* The template ---------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*write)(const struct report *r, struct buf *out); /* or NULL, and: */
	const char *text;
} parts[] = {
	{ "attrs", part_attrs, NULL }, { "calls", part_calls, NULL },
	{ "counts", part_counts, NULL }, { "data", part_data, NULL },
	{ "dump", part_dump, NULL }, { "events", part_events, NULL },
	{ "failures", part_failures, NULL }, { "graph", part_graph, NULL },
	{ "meta", part_meta, NULL }, { "overview", part_overview, NULL },
	{ "rings", part_rings, NULL }, { "script", NULL, page_script },
	{ "script-hash", NULL, page_script_sha256 }, { "style", NULL, page_style },
	{ "style-hash", NULL, page_style_sha256 }, { "summary", part_summary, NULL },
	{ "tasks", part_tasks, NULL },
	{ "title", part_title, NULL }, { "version", NULL, PACKAGE_STRING },
};

bool report_is_page(const char *path)
{
	static const char mark[] = "<meta name=\"generator\" content=\"pevtrace ";
	char head[4096] = "";
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(head, 1, sizeof(head), f) : 0;

	if (f)
		fclose(f);
	return memmem(head, n, mark, sizeof(mark) - 1);
}

void page_write(struct report *r)
{
	const char *p = page_template, *name, *end;
	struct buf out = { 0 };

	while ((name = strstr(p, "{{")) && (end = strstr(name, "}}"))) {
		buf_add(&out, p, (size_t)(name - p));
		name += 2;
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
			size_t len = strlen(parts[i].name);

			if (len != (size_t)(end - name) || memcmp(parts[i].name, name, len))
				continue;
			if (parts[i].write)
				parts[i].write(r, &out);
			else
				buf_adds(&out, parts[i].text);
		}
		page_flush(r, &out);
		p = end + 2;
	}
	buf_adds(&out, p);
	output_write(r->out, 0, out.data, out.len);
	buf_free(&out);
}
