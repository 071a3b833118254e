// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events, attrs, failures, rings, tasks, counts and calls as HTML tables. */
#include <stdlib.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/abi/strings.h"
#include "core/lib/die.h"
#include "core/model/attempt.h"
#include "core/model/event_name.h"
#include "formats/report/escape.h"
#include "formats/report/page_internal.h"
#include "formats/text/summary.h"
#include "formats/text/text.h"

static void add_cell(struct buf *out, const struct buf *text)
{
	buf_adds(out, "<td>");
	html_add(out, buf_str(text));
	buf_adds(out, "</td>");
}

static const struct report_event *event_life(const struct report *r, const struct event *e)
{
	static const struct report_event none;

	return e->number < r->nevents ? &r->events[e->number] : &none;
}

/* Events ------------------------------------------------------------------------ */

static void add_relations(const struct event *e, struct buf *out)
{
	if (e->leader) {
		buf_adds(out, "in the group of ");
		page_link_event(out, e->leader->number);
	}
	if (e->output) {
		buf_adds(out, e->leader ? "; writes" : "writes");
		buf_adds(out, " to the ring of ");
		page_link_event(out, e->output->number);
	}
}

static void add_event_row(const struct report *r, const struct event *e, struct buf *out)
{
	const struct report_event *life = event_life(r, e);
	struct buf text = { 0 };

	buf_addf(out, "<tr id=\"event-%u\"><th scope=\"row\">#%u <code>", e->number, e->number);
	html_add(out, e->name);
	buf_adds(out, "</code>");
	if (event_is_probe(e))
		buf_adds(out, " <span class=\"tag\">probe</span>");
	buf_adds(out, "</th>");
	summary_add_target(r->model, e, &text);
	summary_add_mode(r->names, e, &text);
	add_cell(out, &text);
	buf_reset(&text);
	summary_add_life(r->names, r->model, e, &text);
	add_cell(out, &text);
	buf_adds(out, "<td>");
	add_relations(e, out);
	buf_adds(out, "</td>");
	buf_reset(&text);
	summary_add_counter(e, &text);
	add_cell(out, &text);
	buf_reset(&text);
	summary_add_records(e, &text);
	add_cell(out, &text);
	buf_adds(out, "<td>");
	if (life->attr)
		buf_addf(out, "<a href=\"#attr-%u\">attr</a>", life->attr);
	if (life->line)
		buf_addf(out, " <span class=\"note\">line %u</span>", life->line);
	buf_adds(out, "</td></tr>\n");
	buf_free(&text);
}

void part_events(const struct report *r, struct buf *out)
{
	struct event *const *events;
	size_t n = model_events(r->model, &events);

	if (!n) {
		buf_adds(out, "<p>No event was opened.</p>\n");
		return;
	}
	page_table_begin(out, "Table of events", "Events opened", (const char *const[]){
		"Event", "Target", "Lifetime", "Relations", "Count", "Records", "Fields", NULL,
	});
	for (size_t i = 0; i < n && i < PAGE_EVENTS; i++) {
		add_event_row(r, events[i], out);
		page_flush(r, out);
	}
	page_table_end(out);
	if (n > PAGE_EVENTS)
		buf_addf(out, "<p class=\"rest\">The first %d of %zu events. "
			 "<code>pevtrace decode --summary</code> lists all.</p>\n",
			 (int)PAGE_EVENTS, n);
}

/* Attrs ---------------------------------------------------------------------------- */

/* Append the name of the first event with the attr, and the number of others. */
static void add_attr_name(const struct report *r, uint32_t attr, struct buf *out)
{
	struct event *const *events;
	size_t n = model_events(r->model, &events), users = 0;
	const char *name = NULL;

	for (size_t i = 0; i < n; i++) {
		if (event_life(r, events[i])->attr != attr)
			continue;
		if (!users++)
			name = events[i]->name;
	}
	buf_adds(out, "<code>");
	html_add(out, name ? name : "");
	buf_adds(out, "</code>");
	if (users > 1)
		buf_addf(out, " and %zu more", users - 1);
}

static void add_attr_events(const struct report *r, uint32_t attr, struct buf *out)
{
	struct event *const *events;
	size_t n = model_events(r->model, &events), users = 0;

	buf_adds(out, "<p>Events with this attr: ");
	for (size_t i = 0; i < n && users < 100; i++) {
		if (event_life(r, events[i])->attr != attr)
			continue;
		buf_adds(out, users++ ? ", " : "");
		page_link_event(out, events[i]->number);
	}
	buf_adds(out, users == 100 ? ", ...</p>\n" : "</p>\n");
}

static void add_attr_table(const struct report *r, const struct report_event *life, bool open,
			   struct buf *out)
{
	uint32_t attr = life->attr;

	buf_addf(out, "<details class=\"attr\" id=\"attr-%u\"%s><summary>", attr,
		 open ? " open" : "");
	add_attr_name(r, attr, out);
	buf_addf(out, " <span class=\"note\">%u fields set, %u unset</span></summary>\n",
		 life->attr_count.set, life->attr_count.unset);
	add_attr_events(r, attr, out);
	page_table_begin(out, "Fields of the attr", "struct perf_event_attr",
			 (const char *const[]){ "Field", "Value", "Meaning", NULL });
	buf_adds(out, pool_get(&r->pool, attr));
	buf_adds(out, "</tbody></table></div></details>\n");
}

void part_attrs(const struct report *r, struct buf *out)
{
	struct event *const *events;
	size_t n = model_events(r->model, &events), shown = 0;
	bool *seen = xcalloc(r->pool.n, sizeof(*seen));

	for (size_t i = 0; i < n; i++) {
		const struct report_event *life = event_life(r, events[i]);

		if (!life->attr || seen[life->attr])
			continue;
		seen[life->attr] = true;
		if (shown++ < PAGE_ATTRS)
			add_attr_table(r, life, shown == 1, out);
		page_flush(r, out);
	}
	free(seen);
	if (!shown)
		buf_adds(out, "<p>No attr was seen.</p>\n");
	if (shown > PAGE_ATTRS)
		buf_addf(out, "<p class=\"rest\">The first %d of %zu different attrs. "
			 "<code>pevtrace decode -v -e trace=perf_event_open</code> shows "
			 "all.</p>\n", (int)PAGE_ATTRS, shown);
}

/* Failures --------------------------------------------------------------------------- */

static void add_instead(const struct report *r, const struct attempt *a, struct buf *out)
{
	const struct event *e = attempt_instead(r->model, a);
	struct buf text = { 0 };

	if (!e) {
		buf_adds(out, "No similar event was opened.");
		return;
	}
	page_link_event(out, e->number);
	buf_adds(out, " <code>");
	html_add(out, e->name);
	buf_adds(out, "</code>, which differs in ");
	attempt_compare(a, e, &text);
	html_add(out, text.len ? buf_str(&text) : "nothing");
	buf_free(&text);
}

static void add_failure_row(const struct report *r, const struct report_failure *f,
			    struct buf *out)
{
	const struct attempt *attempts, *a;
	struct buf name = { 0 };
	const char *error;

	model_attempts(r->model, &attempts);
	a = &attempts[f->attempt];
	event_name_probed(a->attr, a->attr_len, r->names, a->probed, &name);
	error = error_name(a->error);
	buf_adds(out, "<tr><th scope=\"row\"><code>");
	html_add(out, buf_str(&name));
	buf_adds(out, "</code>");
	if (f->times > 1)
		buf_addf(out, " <span class=\"tag\">%u times</span>", f->times);
	buf_adds(out, "<details><summary>fields</summary><table><tbody>");
	buf_adds(out, pool_get(&r->pool, f->attr));
	buf_adds(out, "</tbody></table></details></th><td><strong class=\"error\">");
	if (error)
		buf_adds(out, error);
	else
		buf_addf(out, "%d", a->error);
	buf_adds(out, "</strong></td><td>");
	buf_adds(out, pool_get(&r->pool, f->why));
	buf_adds(out, "</td><td>");
	add_instead(r, a, out);
	buf_adds(out, "</td><td>");
	PAGE_ESCAPED(out, summary_add_task, r->model, a->tid);
	buf_addf(out, " <span class=\"note\">line %u</span></td></tr>\n", f->line);
	buf_free(&name);
}

void part_failures(const struct report *r, struct buf *out)
{
	if (!r->nfailures) {
		buf_adds(out, "<p>Every perf_event_open of this trace succeeded.</p>\n");
		return;
	}
	page_table_begin(out, "Table of failed opens",
			 "Refused opens, their causes, and similar events that opened",
			 (const char *const[]){
		"Requested", "Error", "Cause", "Opened instead", "By", NULL,
	});
	for (size_t i = 0; i < r->nfailures && i < PAGE_EVENTS; i++) {
		add_failure_row(r, &r->failures[i], out);
		page_flush(r, out);
	}
	page_table_end(out);
	if (r->nfailures > PAGE_EVENTS)
		buf_addf(out, "<p class=\"rest\">The first %d of %zu. <code>pevtrace decode "
			 "-e trace=%%open -e status=failed</code> shows all.</p>\n",
			 (int)PAGE_EVENTS, r->nfailures);
	buf_adds(out, "<p class=\"hint\">The causes are derived from the dump and the checks of "
		 "its kernel's release. On the machine itself, <code>pevtrace why "
		 "DUMP:LINE</code> finds the nearest event that opens.</p>\n");
}

/* Rings and tasks -------------------------------------------------------------------- */

static void add_ring_writers(const struct report *r, const struct summary_writers *w,
			     const struct ring *ring, struct buf *out)
{
	const char *sep = "";

	for (unsigned int i = summary_first_writer(w, ring); i; i = w->next[i], sep = ", ") {
		buf_adds(out, sep);
		page_link_event(out, model_event_number(r->model, i)->number);
	}
}

static void add_ring_row(const struct report *r, const struct summary_writers *w,
			 const struct ring *ring, struct buf *out)
{
	const struct report_ring *life = ring->number < r->nrings ?
		&r->rings[ring->number] : NULL;

	buf_addf(out, "<tr id=\"ring-%u\"><th scope=\"row\">ring %u</th><td>", ring->number,
		 ring->number);
	PAGE_ESCAPED(out, summary_add_size, ring, r->names->page_size);
	buf_adds(out, "</td><td>");
	page_link_event(out, ring->event->number);
	buf_adds(out, " <code>");
	html_add(out, ring->event->name);
	buf_adds(out, "</code></td><td>");
	add_ring_writers(r, w, ring, out);
	buf_addf(out, "</td><td class=\"num\">%u</td><td class=\"num\">%llu</td>"
		 "<td class=\"num\">%llu", ring->polls, (unsigned long long)ring->records,
		 (unsigned long long)ring->missed);
	if (ring->blind)
		buf_addf(out, " <span class=\"note\">%u look%s failed (%s)</span>", ring->blind,
			 ring->blind == 1 ? "" : "s", strerror(ring->blind_error));
	buf_adds(out, "</td><td class=\"num\">");
	if (life && life->measured)
		buf_addf(out, "%llu", (unsigned long long)life->most);
	buf_adds(out, "</td></tr>\n");
}

void part_rings(const struct report *r, struct buf *out)
{
	struct ring *const *rings;
	size_t n = model_rings(r->model, &rings);
	struct summary_writers writers;

	if (!n) {
		buf_adds(out, "<p>No ring buffer was mapped.</p>\n");
		return;
	}
	page_table_begin(out, "Table of rings",
			 "Ring buffers, and the records read from them (with --records)",
			 (const char *const[]){
		"Ring", "Size", "Of event", "Written by", ">Waits", ">Records",
		">Bytes missed", ">Maximum fill, bytes", NULL,
	});
	summary_find_writers(r->model, &writers);
	for (size_t i = 0; i < n && i < PAGE_EVENTS; i++)
		add_ring_row(r, &writers, rings[i], out);
	summary_free_writers(&writers);
	page_table_end(out);
	if (n > PAGE_EVENTS)
		buf_addf(out, "<p class=\"rest\">The first %d of %zu rings.</p>\n",
			 (int)PAGE_EVENTS, n);
}

static void add_task_row(const struct report *r, const struct task_info *t, struct buf *out)
{
	const char *sep = "";

	buf_adds(out, "<tr><th scope=\"row\">");
	PAGE_ESCAPED(out, summary_add_task, r->model, t->tid);
	buf_addf(out, "</th><td class=\"num\">%d</td><td class=\"num\">%u</td>"
		 "<td class=\"num\">%u</td><td class=\"num\">%u</td><td class=\"num\">%u</td>"
		 "<td>", (int)t->pid, t->opens, t->failures, t->reads, t->polls);
	for (size_t i = 0; i < t->npolled; i++) {
		buf_addf(out, "%s<a href=\"#ring-%u\">ring %u</a>", sep,
			 t->polled[i]->number, t->polled[i]->number);
		sep = ", ";
	}
	buf_adds(out, "</td></tr>\n");
}

void part_tasks(const struct report *r, struct buf *out)
{
	struct task_info *const *tasks;
	size_t n = model_tasks(r->model, &tasks), shown = 0;

	page_table_begin(out, "Table of tasks", "Tasks that use events", (const char *const[]){
		"Task", ">Process", ">Opens", ">Failed", ">Reads", ">Waits", "Waits for", NULL,
	});
	for (size_t i = 0; i < n && shown < PAGE_EVENTS; i++) {
		if (!tasks[i]->opens && !tasks[i]->failures && !tasks[i]->reads &&
		    !tasks[i]->polls)
			continue;
		add_task_row(r, tasks[i], out);
		shown++;
	}
	page_table_end(out);
}

/* Counts and calls ------------------------------------------------------------------- */

void part_counts(const struct report *r, struct buf *out)
{
	struct call_count all = { 0 };

	page_table_begin(out, "Table of counts", "Calls, errors and time by system call",
			 (const char *const[]){
		"Call", "Meaning", ">Calls", ">Errors", ">Time, &#181;s", NULL,
	});
	for (size_t i = 0; i < CALL_COUNT; i++) {
		const struct call_count *n = &r->counts.of[i];

		if (!n->calls)
			continue;
		all.calls += n->calls;
		all.errors += n->errors;
		all.ns += n->ns;
		buf_addf(out, "<tr data-call=\"%s\"><th scope=\"row\"><code>%s</code></th><td>",
			 call_descs[i].name, call_descs[i].name);
		html_add(out, call_descs[i].meaning);
		buf_addf(out, "</td><td class=\"num\">%llu</td><td class=\"num\">%llu</td>"
			 "<td class=\"num\">%.3f</td></tr>\n", (unsigned long long)n->calls,
			 (unsigned long long)n->errors, (double)n->ns / 1e3);
	}
	buf_addf(out, "</tbody>\n<tfoot><tr><th scope=\"row\">total</th><td></td>"
		 "<td class=\"num\">%llu</td><td class=\"num\">%llu</td>"
		 "<td class=\"num\">%.3f</td></tr></tfoot>\n</table>\n</div>\n",
		 (unsigned long long)all.calls, (unsigned long long)all.errors,
		 (double)all.ns / 1e3);
}

static void add_call_row(const struct report *r, const struct report_row *row, struct buf *out)
{
	const struct report_task *t = &r->tasks[row->task];

	buf_addf(out, "<tr%s><td class=\"num\">%.6f</td><td>",
		 row->error ? " class=\"failed\"" : "",
		 (double)(int64_t)(row->ns - r->facts->start_ns) / 1e6);
	html_add(out, pool_get(&r->pool, t->name));
	buf_addf(out, "[%d]</td><td class=\"call\"><code>", (int)t->tid);
	html_add(out, pool_get(&r->pool, row->text));
	buf_adds(out, "</code></td><td class=\"call\"><code>");
	html_add(out, pool_get(&r->pool, row->result));
	buf_addf(out, "</code></td><td class=\"num\">%.3f</td></tr>\n",
		 row->kind < CALL_COUNT ? (double)(row->end_ns - row->ns) / 1e3 : 0.0);
}

void part_calls(const struct report *r, struct buf *out)
{
	size_t n = r->nrows < PAGE_CALLS ? r->nrows : PAGE_CALLS;

	for (size_t i = 0; i < n; i++) {
		add_call_row(r, &r->rows[i], out);
		page_flush(r, out);
	}
	page_table_end(out);
	if (r->left_out)
		buf_addf(out, "<p class=\"rest\">This page holds %zu of %zu calls; "
			 "<code>pevtrace report --calls=%zu</code> includes all.</p>\n", r->nrows,
			 r->nrows + r->left_out, r->nrows + r->left_out);
	if (r->nrows > n) {
		buf_addf(out, "<p class=\"rest noscript\">Without scripts, this table ends after "
			 "the first %zu of %zu calls. <code>pevtrace decode -y -ttt ", n,
			 r->nrows);
		html_add(out, r->about.dump);
		buf_adds(out, "</code> prints all.</p>\n");
	}
}
