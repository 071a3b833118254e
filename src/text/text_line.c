// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the lines of a text view have in common. */
#include <time.h>

#include "abi/strings.h"

#include "text/text_view_internal.h"

#define NS 1000000000ULL

void text_start_line(struct text_view *v, pid_t tid, uint64_t ns)
{
	uint64_t real = ns + (uint64_t)v->real_offset, delta;
	time_t seconds = (time_t)(real / NS);
	struct tm tm;
	const char *comm;
	char text[32];

	buf_reset(&v->line);
	comm = map_get(&v->comms, (uint64_t)tid);
	if (comm) {
		text_escaped(&v->line, comm);
		buf_addf(&v->line, "[%d] ", (int)tid);
	} else if (v->many && !v->o->pid_never) {
		buf_addf(&v->line, v->o->pid_always ? "%-5d " : "[pid %5d] ", (int)tid);
	}
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

void text_close_partial(struct text_view *v)
{
	struct pending *p = v->partial;
	const char *comma;

	if (!p)
		return;
	v->partial = NULL;
	p->in.split = true;
	comma = p->any && p->desc->in_args < p->desc->nargs ? "," : "";
	buf_reset(&v->extra);
	buf_addf(&v->extra, "%s <unfinished ...>\n", comma);
	output_write(v->out, p->in.tid, buf_str(&v->extra), v->extra.len);
}

void text_end_line(struct text_view *v, pid_t tid)
{
	text_close_partial(v);
	buf_addc(&v->line, '\n');
	output_write(v->out, tid, buf_str(&v->line), v->line.len);
}

static void text_write_split(void *ctx, struct inflight *in)
{
	const struct pending *p = (struct pending *)in;
	struct text_view *v = ctx;

	if (v->partial == p) {
		text_close_partial(v);
		return;
	}
	text_start_line(v, in->tid, in->enter_ns);
	buf_adds(&v->line, buf_str(&p->args));
	if (p->any && p->desc->in_args < p->desc->nargs)
		buf_addc(&v->line, ',');
	buf_adds(&v->line, " <unfinished ...>");
	text_end_line(v, in->tid);
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
}
