// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/text/text_view.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/call_decode.h"
#include "core/abi/siginfo.h"
#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/judge/judge.h"
#include "core/judge/refused.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/lib/scan_text.h"
#include "formats/text/text_fit.h"
#include "formats/text/text_view_internal.h"

bool call_text_begin(const struct call *c, const struct names *n, struct text_sink *t)
{
	text_colored(t->out, t->color, COLOR_CALL, c->desc->name);
	buf_addc(t->out, '(');
	text_sink_top(t, false, c->desc);
	call_args(c, AT_SYSCALL_ENTER, n, &t->sink);
	return t->level[0].any;
}

void call_text_rest(const struct call *c, bool any, const struct names *n,
		    struct text_sink *t)
{
	text_sink_top(t, false, c->desc);
	t->level[0].any = any;
	call_args(c, AT_SYSCALL_EXIT, n, &t->sink);
	buf_addc(t->out, ')');
}

static void result_value(const struct call *c, const struct names *n, struct text_sink *t)
{
	struct buf error = { 0 };

	if (!c->returned) {
		buf_addc(t->out, '?');
		return;
	}
	text_sink_top(t, true, NULL);
	if (c->failed) {
		error_text(c->ret, &error);
		text_colored(t->out, t->color, COLOR_ERROR, buf_str(&error));
		buf_free(&error);
		return;
	}
	switch (call_result_kind(c)) {
	case RESULT_FD:
		sink_fd(&t->sink, NULL, c->ret,
			t->labels && n->fd ? n->fd(n, c, c->ret) : NULL);
		break;
	case RESULT_ADDR:
	case RESULT_FLAGS:
		sink_hex(&t->sink, NULL, (uint64_t)c->ret);
		break;
	case RESULT_NUMBER:
		sink_sint(&t->sink, NULL, c->ret);
		break;
	}
}

void call_text_result(const struct call *c, const struct names *n, struct text_sink *t)
{
	char name[32];
	size_t start;

	buf_adds(t->out, "= ");
	result_value(c, n, t);
	/* what injection did to the call, as strace does */
	if (c->inject.injected)
		buf_adds(t->out, " (INJECTED)");
	if (c->inject.signal) {
		signal_name(c->inject.signal, name, sizeof(name));
		buf_addf(t->out, " (INJECTED: %s)", name);
	}
	if (c->inject.enter_delay_ns || c->inject.exit_delay_ns)
		buf_adds(t->out, " (DELAYED)");
	/* " (in [5], left {...})" if the kernel wrote more than the result */
	start = t->out->len;
	buf_adds(t->out, " (");
	text_sink_top(t, true, c->desc);
	call_results(c, n, &t->sink);
	if (t->level[0].any) {
		buf_addc(t->out, ')');
	} else {
		t->out->len = start;
		t->out->data[start] = '\0';
	}
	call_result_notes(c, n, &t->sink);
}

/* A call that runs this long is shown before it returns. */
#define IDLE_NS 200000000ULL

static void pending_free(struct pending *p)
{
	buf_free(&p->args);
	buf_free(&p->stack);
	free(p);
}

static void text_free(struct view *view)
{
	struct text_view *v = view_self(view);

	text_tell_run(v, UINT64_MAX);
	text_words_end(v);
	if (v->omitted && text_width(v)) {
		buf_reset(&v->line);
		buf_adds(&v->line, "+++ members were left out to fit the terminal: --width=full "
				   "shows them +++\n");
		text_wrap(&v->line, text_width(v));
		output_write(v->out, getpid(), buf_str(&v->line), v->line.len);
	}
	map_each(slot, &v->pending.by_tid)
		pending_free(slot->value);
	while (v->spare) {
		struct inflight *next = v->spare->next;

		pending_free((struct pending *)v->spare);
		v->spare = next;
	}
	inflights_free(&v->pending);
	map_free_values(&v->comms);
	buf_free(&v->line);
	buf_free(&v->extra);
	buf_free(&v->run.key);
	buf_free(&v->run.next);
	free(v);
}

/* Lines have a pid once there is more than one task. */
static void text_on_born(struct view *view, const struct activity *a)
{
	struct text_view *v = view_self(view);

	(void)a;
	v->many |= v->tasks++ > 0;
}

static struct pending *pending_take(struct text_view *v, pid_t tid)
{
	return (struct pending *)inflight_take(&v->pending, tid);
}

static void pending_done(struct text_view *v, struct pending *p)
{
	if (v->partial == p)
		text_close_partial(v);
	p->in.next = v->spare;
	v->spare = &p->in;
}

static void text_on_enter(struct view *view, const struct call *c)
{
	struct text_view *v = view_self(view);
	struct pending *p;
	struct text_sink t;

	if (!c->shown)
		return;
	p = pending_take(v, c->tid);
	if (p) /* its return was not seen */
		pending_done(v, p);
	p = (struct pending *)v->spare;
	if (p) {
		v->spare = p->in.next;
		buf_reset(&p->args);
		buf_reset(&p->stack);
	} else {
		p = xcalloc(1, sizeof(*p));
	}
	p->desc = c->desc;
	p->nr = c->nr;
	p->ip = c->ip;
	p->word = c->arch->word;
	inflight_add(&v->pending, &p->in, c->tid, c->enter_ns);
	text_init_sink(v, &t, &p->args);
	p->any = call_text_begin(c, v->names, &t);
}

/* Calls that are equal to that of the last line ------------------------------------------- */

/* Append the words of a text that out does not have behind those bytes yet, without numbers. */
static void note_words(struct buf *out, const char *text, size_t from)
{
	for (size_t n; *text; text += n) {
		for (n = 0; scan_is_word(text[n]);)
			n++;
		if (n && !isdigit((unsigned char)*text) &&
		    !memmem(buf_str(out) + from, out->len - from, text, n)) {
			buf_addc(out, ' ');
			buf_add(out, text, n);
		}
		n += !n;
	}
}

/* Return the bytes of the arguments that equal calls share: of a wait, not its time. */
static size_t shared_args(const struct pending *p)
{
	const char *args = buf_str(&p->args), *end = strrchr(args, ']');

	return p->desc->class == CLASS_POLL && end ? (size_t)(end - args) : p->args.len;
}

/* Return whether a call that has begun may be equal to the last line's. */
static bool run_goes_on(const struct text_view *v, const struct pending *p)
{
	size_t n = shared_args(p);

	return v->run.key.len && v->run.tid == p->in.tid && v->run.args == n &&
	       !memcmp(v->run.key.data, p->args.data, n);
}

/* Count the call, which has returned, and return true if it is equal to the last line's. */
static bool text_repeats(struct text_view *v, const struct pending *p, const struct call *c)
{
	struct buf *key = &v->run.next;
	size_t n = shared_args(p);
	struct text_sink t;

	buf_reset(key);
	/* new descriptors are what a trace is read for */
	if (!text_width(v) || p->stack.len || (!c->failed && call_result_kind(c) == RESULT_FD))
		return false;
	buf_reset(&v->extra);
	text_init_sink(v, &t, &v->extra);
	call_text_rest(c, p->any, v->names, &t);
	call_text_result(c, v->names, &t);
	buf_add(key, buf_str(&p->args), n);
	note_words(key, buf_str(&v->extra), n);
	if (v->partial == p || p->in.split || !run_goes_on(v, p) ||
	    strcmp(buf_str(key), buf_str(&v->run.key)))
		return false;
	if (!v->run.more++)
		v->run.first_ns = c->enter_ns;
	v->run.last_ns = c->exit_ns;
	text_tell_run(v, c->exit_ns);
	return true;
}

/*
 * Show the call in which the target waits, after a pause without output.  The line does not
 * change, but is written before the call returns.
 */
static void text_on_idle(struct view *view, uint64_t ns)
{
	struct text_view *v = view_self(view);
	struct inflight *in = v->pending.head.next;

	while (in != &v->pending.head && in->split)
		in = in->next;
	text_tell_run(v, ns);
	if (!v->partial && !text_must_wait(v) && !v->o->pid_never &&
	    in != &v->pending.head && ns >= in->enter_ns + IDLE_NS &&
	    !run_goes_on(v, (struct pending *)in))
		text_write_partial(v, (struct pending *)in);
	output_flush(v->out);
}

static void text_cut(struct view *view, bool begins)
{
	struct text_view *v = view_self(view);

	v->pending.held = begins;
	if (begins)
		output_next(v->out);
	else
		inflights_join(&v->pending);
}

/*
 * Start the line that ends a call, with the call's arguments or with "<... resumed>"; continue
 * the current line if it is the call's.
 */
static void begin_last_line(struct text_view *v, const struct pending *p, uint64_t ns)
{
	if (v->partial == p) {
		v->partial = NULL;
		buf_reset(&v->line);
		return;
	}
	text_split_older(v, p->in.split ? ns : p->in.enter_ns, p->in.tid);
	text_start_call(v, p, p->in.split ? ns : p->in.enter_ns);
	if (p->in.split)
		buf_addf(&v->line, "<... %s resumed>", p->desc->name);
	else
		buf_adds(&v->line, buf_str(&p->args));
}

static void text_finish_call(struct text_view *v, struct pending *p)
{
	text_end_line(v, p->in.tid, p);
	if (p->stack.len)
		output_write(v->out, p->in.tid, buf_str(&p->stack), p->stack.len);
}

/*
 * Append why an open was refused, if known: by the rights of pevtrace, which the program mostly
 * has, or whatever its rights are.
 */
static void add_reason(struct text_view *v, const struct call *c, struct sink *sink)
{
	struct attempt a = attempt_of(v->o->model, c);
	struct judgement j = { .sure = false };
	struct buf note = { 0 };

	if (v->o->host && !a.injected)
		judge_here(&a, v->o->host, &j);
	if (!j.sure && !a.injected)
		judge_attempt(&a, v->o->release, c->arch, v->names, &j);
	v->rule = j.rule;
	if (!j.rule)
		return;
	buf_adds(&note, j.sure ? "" : "perhaps: ");
	text_meaning(&note, j.rule->meaning);
	note.data[strcspn(note.data, ";")] = '\0'; /* a remark follows */
	sink_note(sink, "reason", note.data);
	buf_free(&note);
}

/* Append why another call on an event was refused. */
static void add_refusal(struct text_view *v, const struct call *c, struct sink *sink)
{
	struct refused_where where = { NULL, v->o->release, c->arch, v->names };
	struct facts facts;

	if (v->o->host) {
		facts_open(&facts, v->o->host);
		where.facts = &facts;
	}
	judge_note_refused(v->o->model, c, &where, sink);
	if (v->o->host)
		facts_close(&facts);
}

static void text_on_exit(struct view *view, const struct call *c)
{
	struct text_view *v = view_self(view);
	struct pending *p = pending_take(v, c->tid);
	struct text_sink t;
	struct buf was;

	if (!p)
		return;
	if (view_shows_status(v->o->status, c) && !text_repeats(v, p, c)) {
		begin_last_line(v, p, c->exit_ns);
		text_init_sink(v, &t, &v->line);
		call_text_rest(c, p->any && !p->in.split, v->names, &t);
		buf_addc(&v->line, ' ');
		text_align_result(v);
		call_text_result(c, v->names, &t);
		if (c->failed && text_width(v) && v->o->model) {
			if (p->desc->id == CALL_PERF_EVENT_OPEN)
				add_reason(v, c, &t.sink);
			else
				add_refusal(v, c, &t.sink);
		}
		if (v->o->duration.shown) {
			buf_adds(&v->line, " <");
			text_add_time(&v->line, c->exit_ns - c->start_ns, 0, v->o->duration.digits);
			buf_addc(&v->line, '>');
		}
		text_finish_call(v, p);
		was = v->run.key;
		v->run.key = v->run.next;
		v->run.next = was;
		v->run.args = shared_args(p);
		v->run.tid = c->tid;
		v->run.name = c->desc->name;
	}
	pending_done(v, p);
}

static void text_on_abandon(struct view *view, const struct activity *a)
{
	const struct activity_abandoned *b = &a->abandoned;
	struct text_view *v = view_self(view);
	struct pending *p = pending_take(v, b->call->tid);

	if (!p)
		return;
	if (v->o->status & (b->detached ? STATUS_DETACHED : STATUS_UNFINISHED)) {
		begin_last_line(v, p, b->ns);
		if (b->detached) {
			buf_adds(&v->line, " <detached ...>");
		} else {
			buf_adds(&v->line, strncmp(p->desc->name, "exit", 4) ?
					   " <unfinished ...>) " : ") ");
			text_align_result(v);
			buf_adds(&v->line, "= ?");
		}
		text_finish_call(v, p);
	}
	pending_done(v, p);
}

static void text_on_stack(struct view *view, pid_t tid, const struct view_frame *frames,
			  size_t n, const char *why)
{
	struct text_view *v = view_self(view);
	struct pending *p = (struct pending *)inflight_get(&v->pending, tid);

	if (!p)
		return;
	for_each(f, frames, n) {
		buf_adds(&p->stack, " > ");
		text_escaped(&p->stack, f->module ? f->module : "unmapped memory");
		buf_addc(&p->stack, '(');
		if (f->symbol)
			text_escaped(&p->stack, f->symbol);
		if (!f->inlined)
			buf_addf(&p->stack, "+0x%llx", (unsigned long long)f->offset);
		buf_addf(&p->stack, ") [0x%llx]", (unsigned long long)f->ip);
		if (f->file) {
			buf_addc(&p->stack, ' ');
			text_escaped(&p->stack, scan_base_name(f->file));
			buf_addf(&p->stack, ":%u", f->line);
		}
		buf_adds(&p->stack, f->inlined ? " (inlined)\n" : "\n");
	}
	if (why)
		buf_addf(&p->stack, " > (%s)\n", why);
	if (text_width(v))
		text_wrap(&p->stack, text_width(v));
}

static void event_line(struct text_view *v, pid_t tid, uint64_t ns, const char *text)
{
	text_split_older(v, ns, 0);
	text_start_line(v, tid, ns);
	buf_adds(&v->line, "+++ ");
	text_escaped(&v->line, text);
	buf_adds(&v->line, " +++");
	text_end_line(v, tid, NULL);
}

static void add_struct(struct text_view *v, const struct walk *w)
{
	struct text_sink t;

	text_init_sink(v, &t, &v->line);
	text_sink_top(&t, true, NULL);
	sink_begin(&t.sink, NULL, SINK_OBJECT);
	layout_emit(w, &t.sink);
	sink_end(&t.sink);
}

/* Append "WHAT5<cpu-clock>", or "WHAT<cpu-clock>" if the task has no such descriptor. */
static void add_labelled_fd(struct buf *out, const char *what, const struct event *e, int fd)
{
	buf_adds(out, what);
	if (fd >= 0)
		buf_addf(out, "%d", fd);
	buf_addc(out, '<');
	text_escaped(out, e->name);
	buf_addc(out, '>');
}

/* Show an event from before, with its attr as an open would; in a file's head, each descriptor. */
static void text_was_open(struct view *view, const struct activity *a)
{
	bool found = a->kind == ACTIVITY_FOUND;
	const struct event *e = found ? a->found.event : a->described.event;
	pid_t tid = found ? a->found.tid : a->described.tid;
	uint64_t ns = found ? clock_ns() : a->described.ns;
	int fd = found ? a->found.fd : model_fd_of(e->owner, tid, e);
	struct text_view *v = view_self(view);
	const struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = e->attr, .len = e->attr_len,
		.names = v->names,
	};

	if (v->o->quiet & QUIET_EXIT || found != v->pending.held || (found && !e->attr_len))
		return;
	text_split_older(v, ns, 0);
	text_start_line(v, tid, ns);
	add_labelled_fd(&v->line, "--- ", e, fd);
	buf_adds(&v->line, " was open: ");
	add_struct(v, &w);
	buf_addf(&v->line, e->flags & PERF_FLAG_PID_CGROUP ? ", a cgroup" : ", pid %d", (int)e->pid);
	buf_addf(&v->line, ", cpu %d", e->cpu);
	if (e->leader)
		add_labelled_fd(&v->line, ", in the group of ", e->leader,
				model_fd_of(e->owner, tid, e->leader));
	if (e->output)
		add_labelled_fd(&v->line, ", output to ", e->output,
				model_fd_of(e->owner, tid, e->output));
	buf_addf(&v->line, ", %s ---", e->enabled ? "enabled" : "disabled");
	text_end_line(v, tid, NULL);
}

/* Lines about rings: records, and looks at the first page. */

static void start_ring_line(struct text_view *v, pid_t tid, uint64_t ns, unsigned int ring)
{
	text_split_older(v, ns, tid);
	text_start_line(v, tid, ns);
	buf_addf(&v->line, "ring %u: ", ring);
}

static void text_on_record(struct view *view, const struct activity *a)
{
	const struct activity_record *r = &a->record;
	struct text_view *v = view_self(view);
	struct text_sink t;

	if (v->o->words)
		text_words_record(v, r);
	if (!v->o->records || v->o->words)
		return;
	start_ring_line(v, r->tid, r->ns, r->ring->number);
	buf_addc(&v->line, '<');
	text_escaped(&v->line, r->event->name);
	buf_adds(&v->line, r->sure ? "> " : "?> ");
	text_init_sink(v, &t, &v->line);
	text_sink_top(&t, true, NULL);
	record_emit(r->bytes, r->len, r->format, v->names, &t.sink, r->hooks);
	text_end_line(v, r->tid, NULL);
}

static void text_on_looked(struct view *view, const struct activity *a)
{
	const struct activity_look *l = &a->look;
	struct text_view *v = view_self(view);
	const struct walk page = {
		.layout = &layout_perf_event_mmap_page, .bytes = l->page, .len = l->page_len,
	};

	if (!v->o->records)
		return;
	if (l->error && l->error != ESRCH) { /* ESRCH: the task has ended */
		start_ring_line(v, l->tid, l->ns, l->ring->number);
		buf_addf(&v->line, "could not be looked into: %s", strerror(l->error));
		text_end_line(v, l->tid, NULL);
	}
	if (v->o->full && l->page_len && !v->o->words) {
		start_ring_line(v, l->tid, l->ns, l->ring->number);
		add_struct(v, &page);
		text_end_line(v, l->tid, NULL);
	}
	if (l->missed) {
		start_ring_line(v, l->tid, l->ns, l->ring->number);
		buf_addf(&v->line, "%llu bytes were overwritten before they could be seen",
			 (unsigned long long)l->missed);
		text_end_line(v, l->tid, NULL);
	}
	if (l->torn) {
		start_ring_line(v, l->tid, l->ns, l->ring->number);
		buf_adds(&v->line, "holds bytes that are no records; skipped");
		text_end_line(v, l->tid, NULL);
	}
}

static void text_on_signal(struct view *view, const struct activity *a)
{
	const struct activity_signal *g = &a->signal;
	struct text_view *v = view_self(view);
	struct text_sink t;
	char name[32];

	if (!g->shown)
		return;
	text_split_older(v, g->ns, 0);
	text_start_line(v, g->tid, g->ns);
	text_init_sink(v, &t, &v->line);
	signal_name(g->info.si_signo, name, sizeof(name));
	buf_addf(&v->line, "--- %s ", name);
	siginfo_emit(&g->info, &t.sink);
	buf_adds(&v->line, " ---");
	text_end_line(v, g->tid, NULL);
}

static void text_on_comm(struct view *view, const struct activity *a)
{
	struct text_view *v = view_self(view);

	if (v->o->comms)
		free(map_set(&v->comms, (uint64_t)a->comm.tid, xstrdup(a->comm.comm)));
}

static void text_on_exec(struct view *view, const struct activity *a)
{
	const struct activity_exec *x = &a->exec;
	struct text_view *v = view_self(view);
	bool in_call = inflight_get(&v->pending, x->former);
	struct inflight *stale = inflight_rename(&v->pending, x->former, x->tid);
	char text[4200];

	if (stale)
		pending_done(v, (struct pending *)stale);
	if (x->shown && v->o->pid_never && x->former != x->tid &&
	    !(v->o->quiet & QUIET_SUPERSEDED)) {
		snprintf(text, sizeof(text), "pid changed to %d", (int)x->tid);
		event_line(v, x->former, x->ns, text);
		output_done(v->out, x->former);
	}
	if (!x->shown || in_call || !x->exe)
		return; /* the execve's own line shows it, or it is not to be shown */
	snprintf(text, sizeof(text), "now runs %s", x->exe);
	event_line(v, x->tid, x->ns, text);
}

static void text_on_lost(struct view *view, const struct activity *a)
{
	struct text_view *v = view_self(view);

	text_split_older(v, a->lost.ns, 0);
	text_start_line(v, 0, a->lost.ns); /* of no task */
	buf_addf(&v->line, "+++ lost %llu messages of the kernel, so calls are missing +++",
		 (unsigned long long)a->lost.messages);
	text_end_line(v, getpid(), NULL);
}

void text_task_end(enum view_end how, int status, char *text, size_t size)
{
	if (how == END_EXIT)
		status_text(status, text, size);
	else if (how == END_DETACHED)
		snprintf(text, size, "detached");
	else if (status)
		snprintf(text, size, "superseded by execve in pid %d", status);
	else
		snprintf(text, size, "superseded by another thread's exec");
}

static void text_on_gone(struct view *view, const struct activity *a)
{
	const struct activity_gone *g = &a->gone;
	struct text_view *v = view_self(view);
	char text[80];

	text_tell_run(v, UINT64_MAX);
	if (!g->shown || g->how == END_DETACHED ||
	    v->o->quiet & (g->how == END_SUPERSEDED ? QUIET_SUPERSEDED : QUIET_EXIT)) {
		output_done(v->out, g->tid);
		return;
	}
	text_task_end(g->how, g->status, text, sizeof(text));
	event_line(v, g->tid, g->ns, text);
	output_done(v->out, g->tid);
	free(map_del(&v->comms, (uint64_t)g->tid));
}

/* The view ------------------------------------------------------------------- */

static const struct view_ops ops = {
	.on[ACTIVITY_TASK] = text_on_born,
	.enter = text_on_enter,
	.exit = text_on_exit,
	.on[ACTIVITY_COMM] = text_on_comm,
	.on[ACTIVITY_ABANDONED] = text_on_abandon,
	.stack = text_on_stack,
	.on[ACTIVITY_RECORD] = text_on_record,
	.on[ACTIVITY_MEASURED] = text_words_measured,
	.on[ACTIVITY_LOOK] = text_on_looked,
	.on[ACTIVITY_DESCRIBED] = text_was_open,
	.on[ACTIVITY_FOUND] = text_was_open,
	.on[ACTIVITY_SIGNAL] = text_on_signal,
	.on[ACTIVITY_EXEC] = text_on_exec,
	.on[ACTIVITY_GONE] = text_on_gone,
	.on[ACTIVITY_LOST] = text_on_lost,
	.idle = text_on_idle,
	.cut = text_cut,
	.free = text_free,
};

struct view *text_view_new(const struct text_options *o,
			   const struct names *names, struct output *out,
			   int64_t real_offset)
{
	struct text_view *v = xcalloc(1, sizeof(*v));

	v->view.ops = &ops;
	v->o = o;
	v->names = names;
	v->out = out;
	v->real_offset = real_offset;
	v->many = o->pid_always;
	inflights_init(&v->pending);
	return &v->view;
}
