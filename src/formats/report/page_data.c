// SPDX-License-Identifier: LGPL-2.1-or-later
/* The JSON that the page's script reads; calls and records are stored by columns. */
#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/lib/hash.h"
#include "core/lib/scan_text.h"
#include "formats/report/page_internal.h"
#include "formats/text/flaw_text.h"
#include "xlat/rows.h"

/* The texts of the pool that the data refers to, renumbered. */
struct texts {
	uint32_t *number;	/* by number in the pool: new number + 1; 0: not used */
	uint32_t *list;		/* numbers in the pool */
	uint32_t n;
};

static uint32_t text_number(struct texts *t, uint32_t text)
{
	if (!t->number[text]) {
		t->list[t->n] = text;
		t->number[text] = ++t->n;
	}
	return t->number[text] - 1;
}

/* Append ns since the start, behind text; a malformed dump may have times before it. */
static void add_time(struct buf *out, const char *before, const struct report *r, uint64_t ns)
{
	buf_addf(out, "%s%lld", before, (long long)(int64_t)(ns - r->facts->start_ns));
}

/* Append a string behind text. */
static void add_string(struct buf *out, const char *before, const char *text)
{
	buf_adds(out, before);
	script_add(out, text);
}

/* Rows --------------------------------------------------------------------------- */

/* Append a column, "key":[a number for each row]. */
#define COLUMN(r, out, key, value)						\
	do {									\
		buf_adds(out, ",\"" key "\":[");				\
		for (size_t i = 0; i < (r)->nrows; i++) {			\
			const struct report_row *row = &(r)->rows[i];		\
										\
			buf_addf(out, "%s%lld", i ? "," : "", (long long)(value)); \
			page_flush(r, out);					\
		}								\
		buf_addc(out, ']');						\
	} while (0)

static void add_rows(const struct report *r, struct texts *t, struct buf *out)
{
	uint64_t last = r->facts->start_ns;

	buf_addf(out, "\"rows\":{\"n\":%zu", r->nrows);
	buf_adds(out, ",\"at\":["); /* differences */
	for (size_t i = 0; i < r->nrows; i++) {
		buf_addf(out, "%s%lld", i ? "," : "", (long long)(r->rows[i].ns - last));
		last = r->rows[i].ns;
		page_flush(r, out);
	}
	buf_addc(out, ']');
	COLUMN(r, out, "for", row->end_ns - row->ns);
	COLUMN(r, out, "kind", row->kind);
	COLUMN(r, out, "task", row->task);
	COLUMN(r, out, "error", row->error);
	COLUMN(r, out, "line", row->line);
	COLUMN(r, out, "text", text_number(t, row->text));
	COLUMN(r, out, "result", text_number(t, row->result));
	COLUMN(r, out, "events", text_number(t, row->events));
	buf_adds(out, "},\n");
}

/* Append the name and class of each kind of row: "poll", "exec". */
static void add_kinds(struct buf *out)
{
	static const char *const others[] = {
		[ROW_EXEC - CALL_COUNT] = "exec", [ROW_END - CALL_COUNT] = "exit",
		[ROW_SIGNAL - CALL_COUNT] = "signal",
	};

	buf_adds(out, "\"kinds\":[");
	for (uint32_t i = 0; i < ROW_KINDS; i++)
		buf_addf(out, "%s[\"%s\",\"%s\"]", i ? "," : "",
			 i < CALL_COUNT ? call_descs[i].name : others[i - CALL_COUNT],
			 i < CALL_COUNT ? call_class_name(call_descs[i].class) : "task");
	buf_adds(out, "],\n");
}

static void add_errors(const struct report *r, struct buf *out)
{
	struct map seen = { 0 };
	const char *sep = "";

	buf_adds(out, "\"errors\":{");
	for (size_t i = 0; i < r->nrows; i++) {
		int error = r->rows[i].error;
		const char *name = error ? error_name(error) : NULL;

		if (!name || map_set(&seen, (uint64_t)error, &seen))
			continue;
		buf_addf(out, "%s\"%d\":\"%s\"", sep, error, name);
		sep = ",";
	}
	buf_adds(out, "},\n");
	map_free(&seen);
}

/* Tasks, events, rings -------------------------------------------------------------- */

static void add_tasks(const struct report *r, struct buf *out)
{
	buf_adds(out, "\"tasks\":[");
	for (size_t i = 0; i < r->ntasks; i++) {
		const struct report_task *t = &r->tasks[i];

		buf_addf(out, "%s{\"tid\":%d,\"pid\":%d", i ? ",\n" : "", (int)t->tid,
			 (int)t->pid);
		add_time(out, ",\"born\":", r, t->born_ns);
		add_time(out, ",\"gone\":", r, t->gone_ns ? t->gone_ns : r->last_ns);
		add_string(out, ",\"name\":", pool_get(&r->pool, t->name));
		buf_addc(out, '}');
		page_flush(r, out);
	}
	buf_adds(out, "],\n");
}

/* Append what was wrong with an event, which part of its records was lost, and if it is dead. */
static void add_flaws(const struct report *r, const struct event *e, struct buf *out)
{
	struct flaws flaws = { .of = { { 0 } } };
	const struct flaw *lost = &flaws.of[FLAW_RECORDS_LOST];
	struct buf text = { 0 };
	bool any = false, dead = false;

	flaws_add(&flaws, r->model, e);
	buf_adds(out, ",\"flaws\":[");
	for (enum flaw_id i = 0; i < FLAW_COUNT; i++) {
		if (!flaws.of[i].events)
			continue;
		dead |= &flaws.of[i] != lost && flaw_descs[i].severity == FLAW_ERROR;
		flaw_text(i, &flaws.of[i], &text);
		add_string(out, any ? "," : "", buf_str(&text));
		buf_reset(&text);
		any = true;
	}
	buf_addf(out, "],\"lost\":%.4f,\"dead\":%s",
		 lost->of ? (double)lost->n / (double)lost->of : 0, dead ? "true" : "false");
	buf_free(&text);
}

static void add_event_list(const struct report *r, struct buf *out)
{
	struct event *const *events;
	size_t n = model_events(r->model, &events);
	struct buf text = { 0 };

	buf_adds(out, "\"events\":[");
	for (size_t i = 0; i < n; i++) {
		const struct event *e = events[i];
		const struct report_event *life = &r->events[e->number];

		buf_addf(out, "%s{\"number\":%u,\"leader\":%u,\"output\":%u,\"probe\":%s,"
			 "\"attr\":%u", i ? ",\n" : "", e->number,
			 e->leader ? e->leader->number : 0, e->output ? e->output->number : 0,
			 event_is_probe(e) ? "true" : "false", life->attr);
		add_time(out, ",\"opened\":", r, e->opened_ns ? e->opened_ns : r->facts->start_ns);
		add_time(out, ",\"closed\":", r,
			 e->closed && e->closed_ns ? e->closed_ns : r->last_ns);
		add_string(out, ",\"name\":", e->name);
		summary_add_target(r->model, e, &text);
		add_string(out, ",\"target\":", buf_str(&text));
		buf_reset(&text);
		summary_add_mode(r->names, e, &text);
		add_string(out, ",\"mode\":", buf_str(&text) + (*buf_str(&text) == ',' ? 2 : 0));
		buf_reset(&text);
		buf_adds(out, ",\"enabled\":[");
		for (size_t k = 0; k < life->nenabled; k++) {
			add_time(out, k ? "," : "", r, life->enabled[k].from);
			add_time(out, ",", r, life->enabled[k].to);
		}
		buf_adds(out, "]");
		add_flaws(r, e, out);
		buf_addc(out, '}');
		page_flush(r, out);
	}
	buf_adds(out, "],\n");
	buf_free(&text);
}

static void add_rings(const struct report *r, struct buf *out)
{
	struct ring *const *rings;
	size_t n = model_rings(r->model, &rings);

	buf_adds(out, "\"rings\":[");
	for (size_t i = 0; i < n; i++) {
		struct report_span s = { 0 };
		struct buf size = { 0 };

		if (rings[i]->number < r->nrings)
			s = r->rings[rings[i]->number].mapped;
		summary_add_size(rings[i], r->names->page_size, &size);
		buf_addf(out, "%s{\"number\":%u,\"event\":%u", i ? ",\n" : "", rings[i]->number,
			 rings[i]->event->number);
		add_time(out, ",\"from\":", r, s.from ? s.from : r->facts->start_ns);
		add_time(out, ",\"to\":", r, s.to ? s.to : r->last_ns);
		add_string(out, ",\"size\":", buf_str(&size));
		buf_addc(out, '}');
		buf_free(&size);
	}
	buf_adds(out, "],\n");
}

/* Records ----------------------------------------------------------------------------- */

/* Append for each event the times of its records, as differences, and their types. */
static void add_record_columns(const struct report *r, struct buf *out)
{
	const struct xlat *x = &xlat_perf_event_type;
	const char *sep = "";
	size_t i = 0, end;

	buf_adds(out, "\"types\":{");
	for (const struct xlat_entry *e = x->entries; e < x->entries + x->n; e++) {
		if (e->traits & XLAT_NONABI)
			continue;
		buf_addf(out, "%s\"%llu\":\"%s\"", sep, (unsigned long long)e->value,
			 e->name + strlen(x->prefix));
		sep = ",";
	}
	buf_addf(out, "},\n\"recordsSeen\":%llu,\"records\":[",
		 (unsigned long long)r->records_seen);
	for (; i < r->nrecords; i = end) {
		uint64_t last = r->facts->start_ns;

		for (end = i; end < r->nrecords && r->records[end].event == r->records[i].event;)
			end++;
		buf_addf(out, "%s{\"event\":%u,\"at\":[", i ? ",\n" : "", r->records[i].event);
		for (size_t k = i; k < end; k++) {
			buf_addf(out, "%s%lld", k > i ? "," : "",
				 (long long)(r->records[k].ns - last));
			last = r->records[k].ns;
			page_flush(r, out);
		}
		buf_adds(out, "],\"type\":[");
		for (size_t k = i; k < end; k++)
			buf_addf(out, "%s%u", k > i ? "," : "", r->records[k].type);
		buf_adds(out, "]}");
		page_flush(r, out);
	}
	buf_adds(out, "],\n");
}

/* Words and meanings ------------------------------------------------------------------- */

struct word {
	const char *name, *meaning;
	bool used;
};

struct words {
	struct word *list;
	size_t n;
	struct map by_hash;
};

static void add_known_word(struct words *w, const char *name, const char *meaning)
{
	uint64_t hash = hash_bytes(HASH_START, name, strlen(name));

	if (!meaning || !*meaning || map_get(&w->by_hash, hash))
		return;
	APPEND(w->list, w->n) = (struct word){ name, meaning, false };
	map_set(&w->by_hash, hash, (void *)w->n);
}

/* Add every name of the tables that the text of a call may contain. */
static void add_known_words(struct words *w)
{
	const struct layout *l = &layout_perf_event_attr;

	for (size_t i = 0; i < CALL_COUNT; i++)
		add_known_word(w, call_descs[i].name, call_descs[i].meaning);
	for (size_t i = 0; i < ioctl_ndescs; i++)
		add_known_word(w, ioctl_descs[i].name, ioctl_descs[i].meaning);
	for (size_t i = 0; i < l->n; i++)
		add_known_word(w, l->fields[i].name, l->fields[i].meaning);
	for (size_t i = 0; xlat_tables[i]; i++)
		for (size_t k = 0; k < xlat_tables[i]->n; k++)
			add_known_word(w, xlat_tables[i]->entries[k].name,
				       xlat_tables[i]->entries[k].meaning);
}

static void mark_used_words(struct words *w, const char *text)
{
	while (*text) {
		const char *start = text;
		size_t len, found = 0;

		text += scan_word(text, NULL);
		len = (size_t)(text - start);
		if (len > 2)
			found = (size_t)map_get(&w->by_hash, hash_bytes(HASH_START, start, len));
		if (found && strlen(w->list[found - 1].name) == len &&
		    !memcmp(w->list[found - 1].name, start, len))
			w->list[found - 1].used = true;
		text += *text && text == start;
		while (*text && !scan_is_word(*text))
			text++;
	}
}

void part_data(const struct report *r, struct buf *out)
{
	struct texts t = {
		.number = xcalloc(r->pool.n, sizeof(*t.number)),
		.list = xcalloc(r->pool.n, sizeof(*t.list)),
	};
	struct words w = { 0 };
	const char *sep = "";

	add_time(out, "{\"end\":", r, r->last_ns);
	buf_adds(out, ",\n");
	add_kinds(out);
	add_errors(r, out);
	add_tasks(r, out);
	add_event_list(r, out);
	add_rings(r, out);
	add_record_columns(r, out);
	add_rows(r, &t, out);
	add_known_words(&w);
	buf_adds(out, "\"texts\":[");
	for (uint32_t i = 0; i < t.n; i++) {
		const char *text = pool_get(&r->pool, t.list[i]);

		add_string(out, i ? ",\n" : "\n", text);
		mark_used_words(&w, text);
		page_flush(r, out);
	}
	buf_adds(out, "],\n\"words\":{");
	for (size_t i = 0; i < w.n; i++) {
		if (!w.list[i].used)
			continue;
		add_string(out, sep, w.list[i].name);
		add_string(out, ":", w.list[i].meaning);
		sep = ",\n";
	}
	buf_adds(out, "}}");
	free(w.list);
	map_free(&w.by_hash);
	free(t.number);
	free(t.list);
}
