// SPDX-License-Identifier: LGPL-2.1-or-later
/* The JSON that the page's script reads; calls and records are stored by columns. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/abi/strings.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/lib/scan_text.h"
#include "formats/report/escape.h"
#include "formats/report/page_internal.h"
#include "formats/text/summary.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* The texts of the pool that the data refers to, renumbered. */
struct texts {
	const struct report *r;
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

/* Append ns since the start; a malformed dump may have times before it. */
static void add_time(struct buf *out, const struct report *r, uint64_t ns)
{
	buf_addf(out, "%lld", (long long)(int64_t)(ns - r->facts->start_ns));
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

/* Return the name of a kind of row: "poll", "exec". */
static const char *row_kind_name(uint32_t kind)
{
	static const char *const others[] = {
		[ROW_EXEC - CALL_COUNT] = "exec", [ROW_END - CALL_COUNT] = "exit",
		[ROW_SIGNAL - CALL_COUNT] = "signal",
	};

	return kind < CALL_COUNT ? call_descs[kind].name : others[kind - CALL_COUNT];
}

static void add_kinds(const struct report *r, struct buf *out)
{
	(void)r;
	buf_adds(out, "\"kinds\":[");
	for (uint32_t i = 0; i < ROW_KINDS; i++)
		buf_addf(out, "%s[\"%s\",\"%s\"]", i ? "," : "", row_kind_name(i),
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

		buf_addf(out, "%s{\"tid\":%d,\"pid\":%d,\"born\":", i ? ",\n" : "",
			 (int)t->tid, (int)t->pid);
		add_time(out, r, t->born_ns);
		buf_adds(out, ",\"gone\":");
		add_time(out, r, t->gone_ns ? t->gone_ns : r->last_ns);
		buf_adds(out, ",\"name\":");
		script_add(out, pool_get(&r->pool, t->name));
		buf_addc(out, '}');
		page_flush(r, out);
	}
	buf_adds(out, "],\n");
}

static void add_target_text(const struct report *r, const struct event *e, struct buf *out)
{
	struct buf text = { 0 };

	summary_add_target(r->model, e, &text);
	script_add(out, buf_str(&text));
	buf_free(&text);
}

static void add_mode_text(const struct report *r, const struct event *e, struct buf *out)
{
	struct buf text = { 0 };

	summary_add_mode(r->names, e, &text);
	script_add(out, buf_str(&text) + (*buf_str(&text) == ',' ? 2 : 0));
	buf_free(&text);
}

static void add_event_object(const struct report *r, const struct event *e, struct buf *out)
{
	const struct report_event *life = &r->events[e->number];

	buf_addf(out, "{\"number\":%u,\"leader\":%u,\"output\":%u,\"probe\":%s,\"attr\":%u,"
		 "\"opened\":", e->number, e->leader ? e->leader->number : 0,
		 e->output ? e->output->number : 0, event_is_probe(e) ? "true" : "false",
		 life->attr);
	add_time(out, r, e->opened_ns ? e->opened_ns : r->facts->start_ns);
	buf_adds(out, ",\"closed\":");
	add_time(out, r, e->closed && e->closed_ns ? e->closed_ns : r->last_ns);
	buf_adds(out, ",\"name\":");
	script_add(out, e->name);
	buf_adds(out, ",\"target\":");
	add_target_text(r, e, out);
	buf_adds(out, ",\"mode\":");
	add_mode_text(r, e, out);
	buf_adds(out, ",\"enabled\":[");
	for (size_t i = 0; i < life->nenabled; i++) {
		buf_adds(out, i ? "," : "");
		add_time(out, r, life->enabled[i].from);
		buf_addc(out, ',');
		add_time(out, r, life->enabled[i].to);
	}
	buf_adds(out, "]}");
}

static void add_event_list(const struct report *r, struct buf *out)
{
	struct event *const *events;
	size_t n = model_events(r->model, &events);

	buf_adds(out, "\"events\":[");
	for (size_t i = 0; i < n; i++) {
		buf_adds(out, i ? ",\n" : "");
		add_event_object(r, events[i], out);
		page_flush(r, out);
	}
	buf_adds(out, "],\n");
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
		buf_addf(out, "%s{\"number\":%u,\"event\":%u,\"from\":", i ? ",\n" : "",
			 rings[i]->number, rings[i]->event->number);
		add_time(out, r, s.from ? s.from : r->facts->start_ns);
		buf_adds(out, ",\"to\":");
		add_time(out, r, s.to ? s.to : r->last_ns);
		buf_adds(out, ",\"size\":");
		script_add(out, buf_str(&size));
		buf_addc(out, '}');
		buf_free(&size);
	}
	buf_adds(out, "],\n");
}

/* Records ----------------------------------------------------------------------------- */

static void add_record_types(struct buf *out)
{
	const struct xlat *x = &xlat_perf_event_type;
	const char *sep = "";

	buf_adds(out, "\"types\":{");
	for (size_t i = 0; i < x->n; i++) {
		if (x->entries[i].traits & XLAT_NONABI)
			continue;
		buf_addf(out, "%s\"%llu\":\"%s\"", sep, (unsigned long long)x->entries[i].value,
			 x->entries[i].name + strlen(x->prefix));
		sep = ",";
	}
	buf_adds(out, "},\n");
}

/* Append for each event the times of its records, as differences, and their types. */
static void add_record_columns(const struct report *r, struct buf *out)
{
	size_t i = 0, end;

	add_record_types(out);
	buf_addf(out, "\"recordsSeen\":%llu,\"records\":[", (unsigned long long)r->records_seen);
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

static uint64_t text_word_hash(const char *name, size_t len)
{
	return hash_bytes(HASH_START, name, len);
}

static void add_known_word(struct words *w, const char *name, const char *meaning)
{
	uint64_t hash = text_word_hash(name, strlen(name));

	if (!meaning || !*meaning || map_get(&w->by_hash, hash))
		return;
	if (!(w->n & (w->n - 1))) /* room is made in powers of two */
		w->list = xrealloc(w->list, (w->n ? 2 * w->n : 1) * sizeof(*w->list));
	w->list[w->n++] = (struct word){ name, meaning, false };
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
		size_t found;

		text += scan_word(text, NULL);
		found = text - start > 2 ?
			(size_t)map_get(&w->by_hash, text_word_hash(start, (size_t)(text - start))) : 0;
		if (found && strlen(w->list[found - 1].name) == (size_t)(text - start) &&
		    !strncmp(w->list[found - 1].name, start, (size_t)(text - start)))
			w->list[found - 1].used = true;
		text += *text && text == start;
		while (*text && !scan_is_word(*text))
			text++;
	}
}

static void add_texts(const struct texts *t, struct words *w, struct buf *out)
{
	const struct report *r = t->r;

	buf_adds(out, "\"texts\":[");
	for (uint32_t i = 0; i < t->n; i++) {
		const char *text = pool_get(&r->pool, t->list[i]);

		buf_adds(out, i ? ",\n" : "\n");
		script_add(out, text);
		mark_used_words(w, text);
		page_flush(r, out);
	}
	buf_adds(out, "],\n");
}

static void add_used_words(const struct words *w, struct buf *out)
{
	const char *sep = "";

	buf_adds(out, "\"words\":{");
	for (size_t i = 0; i < w->n; i++) {
		if (!w->list[i].used)
			continue;
		buf_adds(out, sep);
		script_add(out, w->list[i].name);
		buf_addc(out, ':');
		script_add(out, w->list[i].meaning);
		sep = ",\n";
	}
	buf_adds(out, "}");
}

void part_data(const struct report *r, struct buf *out)
{
	struct texts t = {
		.r = r, .number = xcalloc(r->pool.n, sizeof(*t.number)),
		.list = xcalloc(r->pool.n, sizeof(*t.list)),
	};
	struct words w = { 0 };

	add_known_words(&w);
	buf_adds(out, "{\"end\":");
	add_time(out, r, r->last_ns);
	buf_adds(out, ",\n");
	add_kinds(r, out);
	add_errors(r, out);
	add_tasks(r, out);
	add_event_list(r, out);
	add_rings(r, out);
	add_record_columns(r, out);
	add_rows(r, &t, out);
	add_texts(&t, &w, out);
	add_used_words(&w, out);
	buf_adds(out, "}");
	free(w.list);
	map_free(&w.by_hash);
	free(t.number);
	free(t.list);
}
