// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the lines of a text view have in common. */
#include <time.h>

#include "formats/text/text_fit.h"
#include "formats/text/text_view_internal.h"

#define NS 1000000000ULL

/* Append a fraction of a second in ns, and its point. */
static void add_fraction(struct buf *out, uint64_t ns, unsigned int digits)
{
	for (unsigned int i = digits; i < 9; i++)
		ns /= 10;
	if (digits)
		buf_addf(out, ".%0*llu", (int)digits, (unsigned long long)ns);
}

void text_add_time(struct buf *out, uint64_t ns, int width, unsigned int digits)
{
	buf_addf(out, "%*llu", width, (unsigned long long)(ns / NS));
	add_fraction(out, ns % NS, digits);
}

void text_add_clock(struct text_view *v, uint64_t ns)
{
	uint64_t real = ns + (uint64_t)v->real_offset;
	uint64_t delta = v->last_ns && ns > v->last_ns ? ns - v->last_ns : 0;
	time_t seconds = (time_t)(real / NS);
	bool clock = v->o->clock != CLOCK_OFF;
	struct tm tm;
	char text[32];

	if (v->o->clock == CLOCK_UNIX) {
		buf_addf(&v->line, "%lld", (long long)seconds);
	} else if (clock) {
		localtime_r(&seconds, &tm);
		strftime(text, sizeof(text), "%H:%M:%S", &tm);
		buf_adds(&v->line, text);
	}
	if (clock) {
		add_fraction(&v->line, real % NS, v->o->clock_digits);
		buf_addc(&v->line, ' ');
	}
	if (v->o->relative.shown) { /* in parentheses behind a time of day, as strace */
		v->last_ns = ns;
		buf_adds(&v->line, clock ? "(+" : "");
		text_add_time(&v->line, delta, 6, v->o->relative.digits);
		buf_adds(&v->line, clock ? ") " : " ");
	}
}

/* Begin v->line. */
static void add_prefix(struct text_view *v, pid_t tid, uint64_t ns)
{
	const char *comm = map_get(&v->comms, (uint64_t)tid);
	bool number = v->many && !v->o->pid_never && tid;

	buf_reset(&v->line);
	if (comm) {
		text_escaped(&v->line, comm);
		buf_addf(&v->line, "[%d] ", (int)tid);
	} else if (number && v->o->pid_always) {
		buf_addu(&v->line, (unsigned long long)tid);
		buf_pad(&v->line, v->line.len < 5 ? 6 - v->line.len : 1);
	} else if (number) {
		buf_addf(&v->line, "[pid %5d] ", (int)tid);
	}
	text_add_clock(v, ns);
}

void text_start_line(struct text_view *v, pid_t tid, uint64_t ns)
{
	text_tell_run(v, UINT64_MAX);
	buf_reset(&v->run.key);
	add_prefix(v, tid, ns);
}

void text_tell_run(struct text_view *v, uint64_t ns)
{
	size_t more = v->run.more;

	if (!more || ns < v->run.first_ns + NS)
		return;
	v->run.more = 0;
	add_prefix(v, v->run.tid, v->run.first_ns);
	buf_addf(&v->line, "%s ... %zu more, ", v->run.name, more);
	text_add_time(&v->line, v->run.last_ns - v->run.first_ns, 0, 2);
	buf_adds(&v->line, " s");
	text_end_line(v, v->run.tid, NULL);
}

void text_start_call(struct text_view *v, const struct pending *p, uint64_t ns)
{
	text_start_line(v, p->in.tid, ns);
	if (v->o->nr)
		buf_addf(&v->line, "[%4llu] ", (unsigned long long)p->nr);
	if (v->o->ip && p->ip)
		buf_addf(&v->line, "[%0*llx] ", 2 * (int)p->word, (unsigned long long)p->ip);
	else if (v->o->ip)
		buf_addf(&v->line, "[%.*s] ", 2 * (int)p->word, "????????????????");
}

void text_align_result(struct text_view *v)
{
	size_t at = v->written + text_columns(buf_str(&v->line));

	if (at < v->o->column)
		buf_pad(&v->line, v->o->column - at);
}

/*
 * Shorten the line, or what of it is not yet written, to the width that the options ask for.  A
 * part leaves a third of it for the result, or for the word that it is unfinished.
 */
static void fit_line(struct text_view *v, const struct pending *p, bool part)
{
	size_t width = text_width(v), last = width / 3;

	if (part)
		width -= last;
	else if (v->written)
		width = width > v->written + last ? width - v->written : last;
	if (width)
		text_fit(&v->line, p ? p->desc : NULL, v->rule, width);
	v->omitted |= width && !v->o->width && p && p->desc->id == CALL_PERF_EVENT_OPEN &&
		      strstr(buf_str(&v->line), "...}");
	v->rule = NULL;
}

void text_write_partial(struct text_view *v, struct pending *p)
{
	const char *row;

	text_start_call(v, p, p->in.enter_ns);
	buf_adds(&v->line, buf_str(&p->args));
	fit_line(v, p, true);
	output_write(v->out, p->in.tid, buf_str(&v->line), v->line.len);
	row = strrchr(buf_str(&v->line), '\n');
	v->written = text_columns(row ? row + 1 : buf_str(&v->line));
	v->partial = p;
}

void text_close_partial(struct text_view *v)
{
	struct pending *p = v->partial;
	const char *comma;

	if (!p)
		return;
	v->partial = NULL;
	v->written = 0;
	p->in.split = true;
	comma = p->any && p->desc->in_args < p->desc->nargs ? "," : "";
	buf_reset(&v->extra);
	buf_addf(&v->extra, "%s <unfinished ...>\n", comma);
	output_write(v->out, p->in.tid, buf_str(&v->extra), v->extra.len);
}

void text_put_line(struct text_view *v, pid_t tid)
{
	buf_addc(&v->line, '\n');
	output_write(v->out, tid, buf_str(&v->line), v->line.len);
	v->written = 0;
}

void text_end_line(struct text_view *v, pid_t tid, const struct pending *p)
{
	text_close_partial(v);
	fit_line(v, p, false);
	text_put_line(v, tid);
}

static void text_write_split(void *ctx, struct inflight *in)
{
	const struct pending *p = (struct pending *)in;
	struct text_view *v = ctx;

	if (v->partial == p) {
		text_close_partial(v);
		return;
	}
	text_start_call(v, p, in->enter_ns);
	buf_adds(&v->line, buf_str(&p->args));
	if (p->any && p->desc->in_args < p->desc->nargs)
		buf_addc(&v->line, ',');
	buf_adds(&v->line, " <unfinished ...>");
	text_end_line(v, in->tid, p);
}

void text_split_older(struct text_view *v, uint64_t ns, pid_t tid)
{
	if (!text_must_wait(v) && !v->o->pid_never)
		inflight_split(&v->pending, ns, tid, text_write_split, v);
}

void text_init_sink(const struct text_view *v, struct text_sink *t, struct buf *out)
{
	text_sink_init(t, out);
	t->sink.full = v->o->full;
	t->sink.max_string = v->o->max_string;
	t->labels = v->o->labels;
	t->color = v->o->color;
	t->hex = v->o->hex;
}
