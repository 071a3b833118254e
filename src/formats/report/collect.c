// SPDX-License-Identifier: LGPL-2.1-or-later
/* The view that collects rows, tasks and failures for the page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/call_decode.h"
#include "core/abi/siginfo.h"
#include "core/abi/strings.h"
#include "core/judge/judge.h"
#include "core/judge/refused.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/lib/scan_text.h"
#include "formats/report/html.h"
#include "formats/report/report.h"
#include "formats/text/text_view.h"
#include "xlat/tables.h"

enum {
	STRING_MAX = 200,	/* bytes of a string in a row */
	COMM_MAX = 15,		/* bytes of a task's name */
};

/* A call that has not returned. */
struct pending {
	struct inflight in;
	struct report_row row;
	struct buf text;	/* "name(first, args" */
	bool any;		/* text has an argument */
};

/* Texts ------------------------------------------------------------------ */

uint32_t pool_add(struct pool *p, const char *text)
{
	uint64_t hash = hash_text(HASH_START, text);
	uintptr_t found;

	/* on a collision, use the next free key */
	for (; (found = (uintptr_t)map_get(&p->by_hash, hash)); hash++)
		if (!strcmp(pool_get(p, (uint32_t)(found - 1)), text))
			return (uint32_t)(found - 1);
	APPEND(p->at, p->n) = p->bytes.len;
	buf_add(&p->bytes, text, strlen(text) + 1);
	map_set(&p->by_hash, hash, (void *)(uintptr_t)p->n);
	return (uint32_t)(p->n - 1);
}

void pool_free(struct pool *p)
{
	buf_free(&p->bytes);
	free(p->at);
	map_free(&p->by_hash);
}

/* Add a text and free its buffer; return its number. */
static uint32_t pool_take(struct pool *p, struct buf *text)
{
	uint32_t number = pool_add(p, buf_str(text));

	buf_free(text);
	return number;
}

/* Tasks ------------------------------------------------------------------ */

static size_t add_report_task(struct report *r, pid_t tid, pid_t pid, uint64_t ns)
{
	GROW(r->tasks, r->ntasks);
	r->tasks[r->ntasks] = (struct report_task){ .tid = tid, .pid = pid, .born_ns = ns };
	map_set(&r->by_tid, (uint64_t)tid, (void *)(r->ntasks + 1));
	return r->ntasks++;
}

static uint32_t task_index(struct report *r, pid_t tid, uint64_t ns)
{
	size_t found = (size_t)map_get(&r->by_tid, (uint64_t)tid);

	return (uint32_t)(found ? found - 1 : add_report_task(r, tid, tid, ns));
}

static void advance_time(struct report *r, uint64_t ns)
{
	life_tick(r);
	if (ns > r->last_ns)
		r->last_ns = ns;
}

static void name_task(struct report *r, pid_t tid, const char *comm)
{
	uint32_t i = task_index(r, tid, r->last_ns); /* may move r->tasks */
	char name[COMM_MAX + 1];

	snprintf(name, sizeof(name), "%s", comm);
	r->tasks[i].name = pool_add(&r->pool, name);
}

static void report_on_comm(struct view *v, const struct activity *a)
{
	name_task(view_self(v), a->comm.tid, a->comm.comm);
}

/* The kernel names a task by the file name of its program. */
static void name_task_by_path(struct report *r, pid_t tid, const char *path)
{
	name_task(r, tid, scan_base_name(path));
}

static void report_on_born(struct view *v, const struct activity *a)
{
	const struct activity_task *b = &a->task;
	struct report *r = view_self(v);
	size_t i, from = (size_t)map_get(&r->by_tid, (uint64_t)b->parent);

	advance_time(r, b->ns);
	i = add_report_task(r, b->tid, b->pid, b->ns);
	if (from) /* a child inherits its parent's name */
		r->tasks[i].name = r->tasks[from - 1].name;
	else if (!b->parent && !b->attached && r->facts->command && r->facts->command[0])
		name_task_by_path(r, b->tid, r->facts->command[0]);
}

/* Rows --------------------------------------------------------------------- */

static void add_row(struct report *r, const struct report_row *row)
{
	if (row->end_ns > r->last_ns)
		r->last_ns = row->end_ns;
	if (r->nrows >= r->about.max_calls) {
		r->left_out++;
		return;
	}
	GROW(r->rows, r->nrows);
	r->rows[r->nrows] = *row;
	r->rows[r->nrows].order = r->nrows;
	r->nrows++;
}

/* Add a row, and free its text. */
static void add_activity_row(struct report *r, uint32_t kind, pid_t tid, uint64_t ns,
			     struct buf *text)
{
	const struct report_row row = {
		.ns = ns, .end_ns = ns, .kind = kind, .task = task_index(r, tid, ns),
		.text = pool_take(&r->pool, text),
		.line = (uint32_t)reader_line(r->about.reader),
	};

	add_row(r, &row);
}

/* The numbers of the events that a call concerns, unordered and unique. */
struct about_events {
	struct sink sink;	/* receives the descriptors */
	const struct report *r;
	const struct call *c;
	struct buf list;
};

static void add_related_event(void *ctx, struct event *e)
{
	struct about_events *a = ctx;
	char text[20];

	snprintf(text, sizeof(text), ",%u,", e->number);
	if (!a->list.len)
		buf_addc(&a->list, ',');
	if (!strstr(a->list.data, text))
		buf_adds(&a->list, text + 1);
}

static void add_related_value(struct sink *s, const char *key, const struct value *v)
{
	struct about_events *a = (struct about_events *)s; /* sink is its first member */
	struct event *e = v->kind != VALUE_FD || (int64_t)v->number < 0 ? NULL :
		model_event(a->r->model, a->c->tid, (int)v->number);

	(void)key;
	if (e)
		add_related_event(a, e);
}

static uint32_t related_events(struct report *r, const struct call *c, enum call_phase phase,
			       uint32_t before)
{
	struct sink_ops ops = sink_null_ops;
	struct about_events a = { .sink = { .ops = &ops }, .r = r, .c = c };
	const struct ring *ring = NULL;
	uint64_t start, end;

	ops.value = add_related_value;
	if (*pool_get(&r->pool, before))
		buf_addf(&a.list, ",%s,", pool_get(&r->pool, before));
	call_args(c, phase, r->names, &a.sink);
	if (phase == AT_SYSCALL_ENTER) {
		model_each_waited(r->model, c, add_related_event, &a);
		if (model_covers(c, 0, &start, &end))
			ring = model_ring_at(r->model, c->tid, start, end);
	} else if (!c->failed && call_result_kind(c) == RESULT_FD) {
		sink_fd(&a.sink, NULL, c->ret, NULL);
	}
	if (ring)
		add_related_event(&a, ring->event);
	if (!a.list.len)
		return 0;
	a.list.data[a.list.len - 1] = '\0'; /* remove the commas at both ends */
	before = pool_add(&r->pool, a.list.data + 1);
	buf_free(&a.list);
	return before;
}

static void init_sink(struct text_sink *t, struct buf *out)
{
	text_sink_init(t, out);
	t->sink.max_string = STRING_MAX;
	t->labels = true;
}

static struct pending *take_pending(struct report *r, pid_t tid)
{
	return (struct pending *)inflight_take(&r->pending, tid); /* its first member */
}

static void finish_row(struct report *r, struct pending *p, const char *result)
{
	p->row.text = pool_take(&r->pool, &p->text);
	p->row.result = pool_add(&r->pool, result);
	p->row.line = (uint32_t)reader_line(r->about.reader);
	add_row(r, &p->row);
	free(p);
}

/* Finish the row of a call whose return the dump does not contain. */
static void finish_unreturned(struct report *r, struct pending *p)
{
	buf_addc(&p->text, ')');
	finish_row(r, p, "= ?");
}

static void report_on_enter(struct view *v, const struct call *c)
{
	struct report *r = view_self(v);
	struct pending *p;
	struct text_sink t;

	advance_time(r, c->enter_ns);
	p = take_pending(r, c->tid);
	if (p)
		finish_unreturned(r, p);
	if (!c->shown)
		return;
	p = xcalloc(1, sizeof(*p));
	p->row.kind = (uint32_t)c->desc->id;
	p->row.task = task_index(r, c->tid, c->enter_ns);
	p->row.ns = p->row.end_ns = c->enter_ns;
	init_sink(&t, &p->text);
	p->any = call_text_begin(c, r->names, &t);
	p->row.events = related_events(r, c, AT_SYSCALL_ENTER, 0);
	inflight_add(&r->pending, &p->in, c->tid, c->enter_ns);
}

/* An event that was opened before the trace has no call, and so no line. */
static void report_on_described(struct view *v, const struct activity *a)
{
	const struct event *e = a->described.event;
	struct report *r = view_self(v);
	struct report_event *life = life_event(r, e->number);
	struct buf rows = { 0 };

	life->attr_count = attr_rows(NULL, e, r->names, &rows);
	life->attr = pool_take(&r->pool, &rows);
}

/* Append why an open failed, by the rules of the dump's kernel release and without the machine. */
static void explain_failure(const struct report *r, const struct call *c, const struct attempt *a,
			    struct buf *out)
{
	const struct xlat_entry *e = xlat_find(&xlat_perf_open_errno, (uint64_t)c->ret);
	struct judgement j;

	if (c->inject.injected) {
		buf_adds(out, "Injected by pevtrace: the kernel did not see the call");
		html_addf(out, "%s%s.", c->inject.because[0] ? ". " : "", c->inject.because);
		return;
	}
	judge_attempt(a, r->names->release, r->names->arch, r->names, &j);
	if (j.rule) {
		html_addf(out, "%s%s ", j.sure ? "" : "Perhaps: ", j.rule->meaning);
		html_put(out, "<span class=\"rule\">rule ", j.rule->name, "</span>");
	} else {
		html_add(out, e ? e->meaning : "Unknown error.");
	}
}

static void add_failure(struct report *r, const struct call *c)
{
	const struct attempt *attempts;
	size_t n = model_attempts(r->model, &attempts);
	struct report_failure *last = r->nfailures ? &r->failures[r->nfailures - 1] : NULL;
	struct report_failure f = {
		.attempt = n - 1, .line = (uint32_t)reader_line(r->about.reader), .times = 1,
	};
	struct buf text = { 0 };

	if (n == r->nattempts) /* the model does not know the task */
		return;
	r->nattempts = n;
	attr_rows(c, NULL, r->names, &text);
	f.attr = pool_take(&r->pool, &text);
	if (last && last->attr == f.attr &&
	    attempts[last->attempt].error == attempts[f.attempt].error &&
	    attempts[last->attempt].injected == attempts[f.attempt].injected &&
	    attempts[last->attempt].tid == attempts[f.attempt].tid) {
		last->times++;
		return;
	}
	explain_failure(r, c, &attempts[f.attempt], &text);
	f.why = pool_take(&r->pool, &text);
	APPEND(r->failures, r->nfailures) = f;
}

static void report_on_exit(struct view *v, const struct call *c)
{
	struct report *r = view_self(v);
	struct pending *p = take_pending(r, c->tid);
	bool opens = c->desc->id == CALL_PERF_EVENT_OPEN;
	const struct event *e = opens ? model_opened(r->model, c) : NULL;
	const struct refused_where where = { NULL, r->names->release, r->names->arch, r->names };
	struct buf text = { 0 };
	struct text_sink t;

	advance_time(r, c->exit_ns);
	if (opens && c->failed)
		add_failure(r, c);
	if (e) {
		struct report_event *life = life_event(r, e->number);

		life->attr_count = attr_rows(c, NULL, r->names, &text);
		life->attr = pool_take(&r->pool, &text);
		life->line = (uint32_t)reader_line(r->about.reader);
	}
	life_after(r, c);
	if (!p)
		return;
	call_counts_add(&r->counts, c);
	init_sink(&t, &p->text);
	call_text_rest(c, p->any, r->names, &t);
	init_sink(&t, &text);
	call_text_result(c, r->names, &t);
	if (c->failed && !opens)
		judge_note_refused(r->model, c, &where, &t.sink);
	p->row.ns = c->start_ns;
	p->row.end_ns = c->exit_ns;
	p->row.error = c->failed ? (int)c->ret : 0;
	p->row.events = related_events(r, c, AT_SYSCALL_EXIT, p->row.events);
	finish_row(r, p, buf_str(&text));
	buf_free(&text);
}

static void report_on_abandon(struct view *v, const struct activity *a)
{
	const struct activity_abandoned *b = &a->abandoned;
	struct report *r = view_self(v);
	struct pending *p = take_pending(r, b->call->tid);

	advance_time(r, b->ns);
	if (!p)
		return;
	p->row.end_ns = b->ns;
	if (!b->detached && !strncmp(b->call->desc->name, "exit", 4))
		finish_unreturned(r, p);
	else
		finish_row(r, p, b->detached ? "<detached ...>" : "<unfinished ...>) = ?");
}

static void report_on_signal(struct view *v, const struct activity *a)
{
	const struct activity_signal *g = &a->signal;
	struct report *r = view_self(v);
	struct buf text = { 0 };
	struct text_sink t;
	char name[32];

	advance_time(r, g->ns);
	if (!g->shown)
		return;
	signal_name(g->info.si_signo, name, sizeof(name));
	buf_addf(&text, "%s ", name);
	init_sink(&t, &text);
	siginfo_emit(&g->info, &t.sink);
	add_activity_row(r, ROW_SIGNAL, g->tid, g->ns, &text);
}

static void report_on_exec(struct view *v, const struct activity *a)
{
	const struct activity_exec *x = &a->exec;
	struct report *r = view_self(v);
	struct inflight *displaced = inflight_rename(&r->pending, x->former, x->tid);
	struct buf text = { 0 };

	advance_time(r, x->ns);
	if (x->former != x->tid) {
		map_set(&r->by_tid, (uint64_t)x->tid,
			(void *)((uintptr_t)task_index(r, x->former, x->ns) + 1));
		map_del(&r->by_tid, (uint64_t)x->former);
	}
	if (displaced) /* of the former leader */
		finish_unreturned(r, (struct pending *)displaced);
	r->exec_ns = x->ns;
	if (x->exe)
		name_task_by_path(r, x->tid, x->exe);
	if (!x->shown || !x->exe)
		return;
	buf_adds(&text, "now runs ");
	text_escaped(&text, x->exe);
	add_activity_row(r, ROW_EXEC, x->tid, x->ns, &text);
}

static void report_on_gone(struct view *v, const struct activity *a)
{
	const struct activity_gone *g = &a->gone;
	struct report *r = view_self(v);
	uint32_t task = task_index(r, g->tid, g->ns); /* may move r->tasks */
	struct buf text = { 0 };
	char end[80];

	advance_time(r, g->ns);
	r->tasks[task].gone_ns = g->ns;
	r->exec_ns = g->ns; /* its descriptors and rings may have ended */
	text_task_end(g->how, g->status, end, sizeof(end));
	buf_adds(&text, end);
	if (g->shown)
		add_activity_row(r, ROW_END, g->tid, g->ns, &text);
	buf_free(&text);
}

static void report_on_record(struct view *v, const struct activity *a)
{
	advance_time(view_self(v), a->record.ns);
	life_record(view_self(v), &a->record);
}

static void report_on_looked(struct view *v, const struct activity *a)
{
	advance_time(view_self(v), a->look.ns);
	life_looked(view_self(v), &a->look);
}

/* Start and end ----------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
	const struct report_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void report_free(struct view *v)
{
	struct report *r = view_self(v);

	map_each(slot, &r->pending.by_tid) {
		((struct pending *)slot->value)->row.end_ns = r->last_ns;
		finish_unreturned(r, slot->value);
	}
	life_end(r);
	if (r->nrows)
		qsort(r->rows, r->nrows, sizeof(*r->rows), compare_rows);
	page_write(r);
	life_free(r);
	pool_free(&r->pool);
	map_free(&r->by_tid);
	inflights_free(&r->pending);
	free(r->rows);
	free(r->tasks);
	free(r->failures);
	free(r);
}

static const struct view_ops report_ops = {
	.on[ACTIVITY_TASK] = report_on_born,
	.on[ACTIVITY_COMM] = report_on_comm,
	.on[ACTIVITY_DESCRIBED] = report_on_described,
	.enter = report_on_enter,
	.exit = report_on_exit,
	.on[ACTIVITY_ABANDONED] = report_on_abandon,
	.on[ACTIVITY_RECORD] = report_on_record,
	.on[ACTIVITY_LOOK] = report_on_looked,
	.on[ACTIVITY_SIGNAL] = report_on_signal,
	.on[ACTIVITY_EXEC] = report_on_exec,
	.on[ACTIVITY_GONE] = report_on_gone,
	.free = report_free,
};

struct view *report_view_new(const struct report_about *about, const struct model *m,
			     const struct names *names, struct output *out)
{
	struct report *r = xcalloc(1, sizeof(*r));

	r->view.ops = &report_ops;
	r->about = *about;
	r->facts = reader_facts(about->reader);
	r->model = m;
	r->names = names;
	r->out = out;
	r->last_ns = r->facts->start_ns;
	inflights_init(&r->pending);
	pool_add(&r->pool, ""); /* number 0 */
	return &r->view;
}
