// SPDX-License-Identifier: LGPL-2.1-or-later
#include "render/text_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "abi/layout.h"
#include "lib/buf.h"
#include "lib/die.h"
#include "lib/map.h"
#include "render/siginfo.h"
#include "render/text.h"
#include "xlat/tables.h"

#define NS 1000000000ULL

/* A call that has begun and not yet returned. */
struct pending {
	struct pending *prev, *next;	/* in the order of beginning */
	pid_t tid;
	const struct call_desc *desc;
	uint64_t enter_ns;
	struct buf args;	/* "name(first, args" */
	struct buf stack;	/* lines to come behind it */
	bool any;		/* there is an argument before the next one */
	bool split;		/* its beginning is printed already */
};

struct text_view {
	const struct text_options *o;
	const struct names *names;
	struct output *out;
	int64_t real_offset;
	bool many;
	uint64_t last_ns;		/* time of the line before, for -r */
	struct map pending;		/* tid to struct pending */
	struct pending head;		/* list: head.next is the oldest */
	struct pending *spare;		/* finished ones, to be used again */
	struct buf line;
};

struct text_view *text_view_new(const struct text_options *o,
				const struct names *names, struct output *out,
				int64_t real_offset)
{
	struct text_view *v = xcalloc(1, sizeof(*v));

	v->o = o;
	v->names = names;
	v->out = out;
	v->real_offset = real_offset;
	v->many = o->pid_always;
	v->head.prev = v->head.next = &v->head;
	return v;
}

static void pending_free(struct pending *p)
{
	buf_free(&p->args);
	buf_free(&p->stack);
	free(p);
}

void text_view_free(struct text_view *v)
{
	struct map_slot *slot;
	size_t at = 0;

	if (!v)
		return;
	while ((slot = map_next(&v->pending, &at)))
		pending_free(slot->value);
	while (v->spare) {
		struct pending *next = v->spare->next;

		pending_free(v->spare);
		v->spare = next;
	}
	map_free(&v->pending);
	buf_free(&v->line);
	free(v);
}

void text_view_many(struct text_view *v)
{
	v->many = true;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

/* What stands at the start of every line: pid and time. */
static void start_line(struct text_view *v, pid_t tid, uint64_t ns)
{
	uint64_t real = (uint64_t)((int64_t)ns + v->real_offset), delta;
	time_t seconds = (time_t)(real / NS);
	struct tm tm;
	char text[32];

	buf_reset(&v->line);
	if (v->many && !v->o->pid_never)
		buf_addf(&v->line, v->o->pid_always ? "%-5d " : "[pid %5d] ", (int)tid);
	if (v->o->relative) {
		delta = v->last_ns && ns > v->last_ns ? ns - v->last_ns : 0;
		v->last_ns = ns;
		buf_addf(&v->line, "%6llu.%06llu ", (unsigned long long)(delta / NS),
			 (unsigned long long)(delta % NS / 1000));
	}
	if (v->o->clock == CLOCK_OFF)
		return;
	if (v->o->clock == CLOCK_EPOCH) {
		buf_addf(&v->line, "%lld.%06llu ", (long long)seconds,
			 (unsigned long long)(real % NS / 1000));
		return;
	}
	localtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	buf_adds(&v->line, text);
	if (v->o->clock == CLOCK_MICROS)
		buf_addf(&v->line, ".%06llu", (unsigned long long)(real % NS / 1000));
	buf_addc(&v->line, ' ');
}

static void end_line(struct text_view *v, pid_t tid)
{
	buf_addc(&v->line, '\n');
	output_write(v->out, tid, buf_str(&v->line), v->line.len);
}

/* With a choice of outcomes a line is written only once that is known. */
static bool must_wait(const struct text_view *v)
{
	return v->o->status != STATUS_ALL;
}

/*
 * Lines stand in the order in which their calls began.  Before one is
 * written, those that began earlier and still run are written as unfinished.
 */
static void split_older(struct text_view *v, uint64_t ns, pid_t tid)
{
	if (must_wait(v) || v->o->pid_never)
		return;
	for (struct pending *p = v->head.next; p != &v->head; p = p->next) {
		if (p->enter_ns > ns)
			break;
		if (p->split || p->tid == tid)
			continue;
		start_line(v, p->tid, p->enter_ns);
		buf_adds(&v->line, buf_str(&p->args));
		if (p->any && p->desc->in_args < p->desc->nargs)
			buf_addc(&v->line, ',');
		buf_adds(&v->line, " <unfinished ...>");
		end_line(v, p->tid);
		p->split = true;
	}
}

static struct pending *pending_new(struct text_view *v, const struct call *c)
{
	struct pending *p = v->spare;

	if (p) {
		v->spare = p->next;
		buf_reset(&p->args);
		buf_reset(&p->stack);
	} else {
		p = xcalloc(1, sizeof(*p));
	}
	p->tid = c->tid;
	p->desc = c->desc;
	p->enter_ns = c->enter_ns;
	p->split = false;
	p->prev = v->head.prev;
	p->next = &v->head;
	p->prev->next = p->next->prev = p;
	map_set(&v->pending, (uint64_t)c->tid, p);
	return p;
}

static struct pending *pending_take(struct text_view *v, pid_t tid)
{
	struct pending *p = map_del(&v->pending, (uint64_t)tid);

	if (p) {
		p->prev->next = p->next;
		p->next->prev = p->prev;
	}
	return p;
}

static void pending_done(struct text_view *v, struct pending *p)
{
	p->next = v->spare;
	v->spare = p;
}

static void init_sink(const struct text_view *v, struct text_sink *t, struct buf *out)
{
	text_sink_init(t, out);
	t->sink.full = v->o->full;
	t->sink.max_string = v->o->max_string;
	t->labels = v->o->labels;
	t->color = v->o->color;
}

void text_view_enter(struct text_view *v, const struct call *c)
{
	struct pending *p = pending_take(v, c->tid);
	struct text_sink t;

	if (p) /* its end was not seen */
		pending_done(v, p);
	p = pending_new(v, c);
	init_sink(v, &t, &p->args);
	text_colored(&p->args, v->o->color, COLOR_CALL, c->desc->name);
	buf_addc(&p->args, '(');
	text_sink_top(&t, false, c->desc);
	call_args(c, AT_ENTER, v->names, &t.sink);
	p->any = t.level[0].any;
}

/* " = 5", " = -1 ENOENT (No such file or directory)", " = 0x7f...". */
static void add_result(struct text_view *v, const struct call *c, struct text_sink *t)
{
	struct buf *out = &v->line, error = { 0 };

	buf_adds(out, " = ");
	if (!c->returned) {
		buf_addc(out, '?');
		return;
	}
	text_sink_top(t, true, NULL);
	if (c->failed) {
		error_text(c->ret, &error);
		text_colored(out, v->o->color, COLOR_ERROR, buf_str(&error));
		buf_free(&error);
		return;
	}
	switch (call_result_kind(c)) {
	case RESULT_FD:
		t->sink.ops->fd(&t->sink, NULL, c->ret,
				v->o->labels && v->names->fd ?
				v->names->fd(v->names, c, c->ret) : NULL);
		break;
	case RESULT_ADDR:
	case RESULT_FLAGS:
		t->sink.ops->hex(&t->sink, NULL, (uint64_t)c->ret);
		break;
	case RESULT_NUMBER:
		t->sink.ops->sint(&t->sink, NULL, c->ret);
		break;
	}
}

/* " (in [5], left {...})" where the kernel wrote more than its result. */
static void add_results(struct text_view *v, const struct call *c, struct text_sink *t)
{
	size_t start = v->line.len;

	buf_adds(&v->line, " (");
	text_sink_top(t, true, c->desc);
	call_results(c, v->names, &t->sink);
	if (t->level[0].any) {
		buf_addc(&v->line, ')');
		return;
	}
	v->line.len = start;
	v->line.data[start] = '\0';
}

static unsigned int status_of(const struct call *c)
{
	if (!c->returned)
		return STATUS_UNAVAILABLE;
	return c->failed ? STATUS_FAILED : STATUS_SUCCESSFUL;
}

/* The start of the line that ends a call: all of it, or "<... resumed>". */
static void begin_last_line(struct text_view *v, const struct pending *p, uint64_t ns)
{
	split_older(v, p->split ? ns : p->enter_ns, p->tid);
	start_line(v, p->tid, p->split ? ns : p->enter_ns);
	if (p->split)
		buf_addf(&v->line, "<... %s resumed>", p->desc->name);
	else
		buf_adds(&v->line, buf_str(&p->args));
}

static void finish(struct text_view *v, struct pending *p)
{
	end_line(v, p->tid);
	if (p->stack.len)
		output_write(v->out, p->tid, buf_str(&p->stack), p->stack.len);
}

void text_view_exit(struct text_view *v, const struct call *c)
{
	struct pending *p = pending_take(v, c->tid);
	struct text_sink t;

	if (!p)
		return;
	if (v->o->status & status_of(c)) {
		begin_last_line(v, p, c->exit_ns);
		init_sink(v, &t, &v->line);
		text_sink_top(&t, false, c->desc);
		t.level[0].any = p->any && !p->split;
		call_args(c, AT_EXIT, v->names, &t.sink);
		buf_addc(&v->line, ')');
		add_result(v, c, &t);
		add_results(v, c, &t);
		call_result_notes(c, v->names, &t.sink);
		if (v->o->duration)
			buf_addf(&v->line, " <%llu.%06llu>",
				 (unsigned long long)((c->exit_ns - c->start_ns) / NS),
				 (unsigned long long)((c->exit_ns - c->start_ns) % NS / 1000));
		finish(v, p);
	}
	pending_done(v, p);
}

void text_view_abandon(struct text_view *v, pid_t tid, bool let_go)
{
	struct pending *p = pending_take(v, tid);
	bool ends;

	if (!p)
		return;
	ends = !strncmp(p->desc->name, "exit", 4);
	if (v->o->status & (let_go ? STATUS_DETACHED : ends ? STATUS_UNAVAILABLE :
			    STATUS_UNFINISHED)) {
		begin_last_line(v, p, now_ns());
		if (let_go)
			buf_adds(&v->line, " <detached ...>");
		else if (ends)
			buf_adds(&v->line, ") = ?");
		else
			buf_adds(&v->line, " <unfinished ...>) = ?");
		finish(v, p);
	}
	pending_done(v, p);
}

bool text_view_in_call(const struct text_view *v, pid_t tid)
{
	return map_get(&v->pending, (uint64_t)tid);
}

void text_view_frame(struct text_view *v, pid_t tid, const char *module,
		     const char *symbol, uint64_t offset, uint64_t ip)
{
	struct pending *p = map_get(&v->pending, (uint64_t)tid);

	if (!p)
		return;
	buf_adds(&p->stack, " > ");
	text_escaped(&p->stack, module ? module : "unmapped memory");
	buf_addc(&p->stack, '(');
	if (symbol)
		text_escaped(&p->stack, symbol);
	buf_addf(&p->stack, "+0x%llx) [0x%llx]\n", (unsigned long long)offset,
		 (unsigned long long)ip);
}

void text_view_no_stack(struct text_view *v, pid_t tid, const char *why)
{
	struct pending *p = map_get(&v->pending, (uint64_t)tid);

	if (p)
		buf_addf(&p->stack, " > (%s)\n", why);
}

static void event_line(struct text_view *v, pid_t tid, const char *before,
		       const char *text, const char *after)
{
	uint64_t ns = now_ns();

	split_older(v, ns, 0);
	start_line(v, tid, ns);
	buf_adds(&v->line, before);
	text_escaped(&v->line, text);
	buf_adds(&v->line, after);
	end_line(v, tid);
}

static void start_ring_line(struct text_view *v, pid_t tid, unsigned int ring)
{
	uint64_t ns = now_ns();

	split_older(v, ns, tid);
	start_line(v, tid, ns);
	buf_addf(&v->line, "ring %u: ", ring);
}

void text_view_record(struct text_view *v, pid_t tid, unsigned int ring,
		      const char *e, const struct record_format *format,
		      const struct record_hooks *hooks, const uint8_t *bytes,
		      size_t len)
{
	struct text_sink t;

	start_ring_line(v, tid, ring);
	buf_addc(&v->line, '<');
	text_escaped(&v->line, e);
	buf_adds(&v->line, "> ");
	init_sink(v, &t, &v->line);
	text_sink_top(&t, true, NULL);
	record_emit(bytes, len, format, v->names, &t.sink, hooks);
	end_line(v, tid);
}

void text_view_ring(struct text_view *v, pid_t tid, unsigned int ring,
		    const char *text)
{
	start_ring_line(v, tid, ring);
	text_escaped(&v->line, text);
	end_line(v, tid);
}

void text_view_ring_page(struct text_view *v, pid_t tid, unsigned int ring,
			 const uint8_t *bytes, size_t len)
{
	const struct walk w = {
		.layout = &layout_perf_event_mmap_page, .bytes = bytes, .len = len,
	};
	struct text_sink t;

	start_ring_line(v, tid, ring);
	init_sink(v, &t, &v->line);
	text_sink_top(&t, true, NULL);
	t.sink.ops->begin(&t.sink, NULL, SINK_OBJECT);
	layout_emit(&w, &t.sink);
	t.sink.ops->end(&t.sink);
	end_line(v, tid);
}

void text_view_signal(struct text_view *v, pid_t tid, const siginfo_t *info)
{
	uint64_t ns = now_ns();
	struct text_sink t;
	char name[32];

	split_older(v, ns, 0);
	start_line(v, tid, ns);
	init_sink(v, &t, &v->line);
	signal_name(info->si_signo, name, sizeof(name));
	buf_addf(&v->line, "--- %s ", name);
	siginfo_emit(info, &t.sink);
	buf_adds(&v->line, " ---");
	end_line(v, tid);
}

void text_view_event(struct text_view *v, pid_t tid, const char *text)
{
	event_line(v, tid, "+++ ", text, " +++");
}

void text_view_gone(struct text_view *v, pid_t tid, int status)
{
	char text[80], name[32];

	if (v->o->quiet > 1)
		return;
	if (WIFEXITED(status)) {
		snprintf(text, sizeof(text), "exited with %d", WEXITSTATUS(status));
	} else {
		signal_name(WTERMSIG(status), name, sizeof(name));
		snprintf(text, sizeof(text), "killed by %s%s", name,
			 WCOREDUMP(status) ? " (core dumped)" : "");
	}
	text_view_event(v, tid, text);
}

void text_view_renamed(struct text_view *v, pid_t former, pid_t tid)
{
	struct pending *p = map_del(&v->pending, (uint64_t)former);

	if (!p)
		return;
	p->tid = tid;
	p = map_set(&v->pending, (uint64_t)tid, p);
	if (!p)
		return;
	p->prev->next = p->next;
	p->next->prev = p->prev;
	pending_done(v, p);
}
