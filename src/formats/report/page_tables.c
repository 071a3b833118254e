// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events, attrs, failures, rings, tasks, counts and calls as HTML tables. */
#include "core/abi/strings.h"
#include "core/model/event_name.h"
#include "core/model/model.h"
#include "formats/report/page_internal.h"
#include "formats/text/text.h"

/* Append a cell of text, and reset the text. */
static void add_cell(struct buf *out, struct buf *text)
{
	html_put(out, "<td>", buf_str(text), "</td>");
	buf_reset(text);
}

static const struct report_event *event_life(const struct report *r, const struct event *e)
{
	static const struct report_event none;

	return e->number < r->nevents ? &r->events[e->number] : &none;
}

/* Events ------------------------------------------------------------------------ */

static void add_event_row(const struct report *r, const struct event *e,
			  struct summary_need *need, struct buf *out)
{
	const struct report_event *life = event_life(r, e);
	struct buf text = { 0 };

	buf_addf(out, "<tr id=\"event-%u\"><th scope=\"row\">#%u", e->number, e->number);
	html_put(out, " <code>", e->name, "</code>");
	if (event_is_probe(e))
		buf_adds(out, " <span class=\"tag\">probe</span>");
	buf_adds(out, "</th>");
	summary_add_target(r->model, e, &text);
	summary_add_mode(r->names, e, &text);
	add_cell(out, &text);
	summary_add_life(r->names, r->model, e, need, &text);
	add_cell(out, &text);
	buf_adds(out, "<td>");
	if (e->leader) {
		buf_adds(out, "in the group of ");
		page_link_event(out, e->leader->number);
	}
	if (e->output) {
		buf_adds(out, e->leader ? "; writes" : "writes");
		buf_adds(out, " to the ring of ");
		page_link_event(out, e->output->number);
	}
	buf_adds(out, "</td>");
	summary_add_counter(e, &text);
	add_cell(out, &text);
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
	struct summary_need need = { .attr = NULL };
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
		add_event_row(r, events[i], &need, out);
		page_flush(r, out);
	}
	page_table_end(out);
	if (n > PAGE_EVENTS)
		buf_addf(out, "<p class=\"rest\">The first %d of %zu events. "
			 "<code>pevtrace decode --summary</code> lists all.</p>\n",
			 (int)PAGE_EVENTS, n);
}

/* Attrs ---------------------------------------------------------------------------- */

static void add_attr_table(const struct report *r, const struct report_event *life, bool open,
			   struct buf *out)
{
	struct event *const *events;
	size_t n = model_events(r->model, &events), users = 0;
	const char *name = "";
	struct buf links = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (event_life(r, events[i])->attr != life->attr)
			continue;
		if (!users++)
			name = events[i]->name;
		if (users > 100)
			continue;
		buf_adds(&links, users > 1 ? ", " : "");
		page_link_event(&links, events[i]->number);
	}
	buf_addf(out, "<details class=\"attr\" id=\"attr-%u\"%s><summary>", life->attr,
		 open ? " open" : "");
	html_put(out, "<code>", name, "</code>");
	if (users > 1)
		buf_addf(out, " and %zu more", users - 1);
	buf_addf(out, " <span class=\"note\">%u fields set, %u unset</span></summary>\n",
		 life->attr_count.set, life->attr_count.unset);
	buf_addf(out, "<p>Events with this attr: %s%s</p>\n", buf_str(&links),
		 users >= 100 ? ", ..." : "");
	page_table_begin(out, "Fields of the attr", "struct perf_event_attr",
			 (const char *const[]){ "Field", "Value", "Meaning", NULL });
	buf_adds(out, pool_get(&r->pool, life->attr));
	buf_adds(out, "</tbody></table></div></details>\n");
	buf_free(&links);
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

static void add_failure_row(const struct report *r, const struct report_failure *f,
			    struct buf *out)
{
	const struct attempt *attempts, *a;
	const struct event *instead;
	struct buf text = { 0 };
	const char *error;

	model_attempts(r->model, &attempts);
	a = &attempts[f->attempt];
	instead = attempt_instead(r->model, a);
	event_name_probed(a->attr, a->attr_len, r->names, a->probed, &text);
	html_put(out, "<tr><th scope=\"row\"><code>", buf_str(&text), "</code>");
	buf_reset(&text);
	if (f->times > 1)
		buf_addf(out, " <span class=\"tag\">%u times</span>", f->times);
	buf_addf(out, "<details><summary>fields</summary><table><tbody>%s</tbody></table>"
		 "</details></th><td><strong class=\"error\">", pool_get(&r->pool, f->attr));
	error = error_name(a->error);
	if (error)
		buf_adds(out, error);
	else
		buf_addf(out, "%d", a->error);
	buf_addf(out, "</strong></td><td>%s</td><td>", pool_get(&r->pool, f->why));
	if (instead) {
		page_link_event(out, instead->number);
		html_put(out, " <code>", instead->name, "</code>, which differs in ");
		attempt_compare(a, instead, &text);
		html_add(out, text.len ? buf_str(&text) : "nothing");
		buf_reset(&text);
	} else {
		buf_adds(out, "No similar event was opened.");
	}
	buf_adds(out, "</td>");
	summary_add_task(r->model, a->tid, &text);
	html_put(out, "<td>", buf_str(&text), " <span class=\"note\">");
	buf_addf(out, "line %u</span></td></tr>\n", f->line);
	buf_free(&text);
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
	buf_addf(out, "<p class=\"hint\">The causes are derived from the dump and the checks of "
		 "%s. On the machine itself, <code>pevtrace why "
		 "DUMP:LINE</code> finds the nearest event that opens.</p>\n",
		 *r->about.machine ? "the machine named above" : "its kernel's release");
}

/* Rings and tasks -------------------------------------------------------------------- */

static void add_ring_row(const struct report *r, const struct summary_writers *w,
			 const struct ring *ring, struct buf *out)
{
	const struct report_ring *life = ring->number < r->nrings ?
		&r->rings[ring->number] : NULL;
	struct buf size = { 0 };
	const char *sep = "";

	buf_addf(out, "<tr id=\"ring-%u\"><th scope=\"row\">ring %u</th>", ring->number,
		 ring->number);
	summary_add_size(ring, r->names->page_size, &size);
	add_cell(out, &size);
	buf_free(&size);
	buf_adds(out, "<td>");
	page_link_event(out, ring->event->number);
	html_put(out, " <code>", ring->event->name, "</code></td><td>");
	for (unsigned int i = summary_first_writer(w, ring); i; i = w->next[i], sep = ", ") {
		buf_adds(out, sep);
		page_link_event(out, i);
	}
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

void part_tasks(const struct report *r, struct buf *out)
{
	struct task_info *const *tasks;
	size_t n = model_tasks(r->model, &tasks), shown = 0;
	struct buf name = { 0 };

	page_table_begin(out, "Table of tasks", "Tasks that use events", (const char *const[]){
		"Task", ">Process", ">Opens", ">Failed", ">Reads", ">Waits", "Waits for", NULL,
	});
	for (size_t i = 0; i < n && shown < PAGE_EVENTS; i++) {
		const struct task_info *t = tasks[i];

		if (!t->opens && !t->failures && !t->reads && !t->polls)
			continue;
		shown++;
		buf_reset(&name);
		summary_add_task(r->model, t->tid, &name);
		html_put(out, "<tr><th scope=\"row\">", buf_str(&name), "</th>");
		buf_addf(out, "<td class=\"num\">%d</td><td class=\"num\">%u</td>"
			 "<td class=\"num\">%u</td><td class=\"num\">%u</td>"
			 "<td class=\"num\">%u</td><td>", (int)t->pid, t->opens, t->failures,
			 t->reads, t->polls);
		for (size_t k = 0; k < t->npolled; k++)
			buf_addf(out, "%s<a href=\"#ring-%u\">ring %u</a>", k ? ", " : "",
				 t->polled[k]->number, t->polled[k]->number);
		buf_adds(out, "</td></tr>\n");
	}
	page_table_end(out);
	buf_free(&name);
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

void part_calls(const struct report *r, struct buf *out)
{
	size_t n = r->nrows < PAGE_CALLS ? r->nrows : PAGE_CALLS;

	for_each(row, r->rows, n) {
		const struct report_task *t = &r->tasks[row->task];

		buf_addf(out, "<tr%s><td class=\"num\">%.6f</td>",
			 row->error ? " class=\"failed\"" : "",
			 (double)(int64_t)(row->ns - r->facts->start_ns) / 1e6);
		html_put(out, "<td>", pool_get(&r->pool, t->name), "");
		buf_addf(out, "[%d]</td>", (int)t->tid);
		html_put(out, "<td class=\"call\"><code>", pool_get(&r->pool, row->text),
			 "</code></td>");
		html_put(out, "<td class=\"call\"><code>", pool_get(&r->pool, row->result),
			 "</code></td>");
		buf_addf(out, "<td class=\"num\">%.3f</td></tr>\n",
			 row->kind < CALL_COUNT ? (double)(row->end_ns - row->ns) / 1e3 : 0.0);
		page_flush(r, out);
	}
	page_table_end(out);
	if (r->left_out)
		buf_addf(out, "<p class=\"rest\">This page holds %zu of %zu calls; "
			 "<code>pevtrace report --calls=%zu</code> includes all.</p>\n", r->nrows,
			 r->nrows + r->left_out, r->nrows + r->left_out);
	if (r->nrows > n) {
		buf_addf(out, "<p class=\"rest noscript\">Without scripts, this table ends after "
			 "the first %zu of %zu calls. ", n, r->nrows);
		html_put(out, "<code>pevtrace decode -y -ttt ", r->about.dump,
			 "</code> prints all.</p>\n");
	}
}
