// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The lines of a dump are in the order of time: a call is split into two lines, "enter" and
 * "exit", if other lines come in between.
 */
#include <stdlib.h>

#include "formats/dump/dump_call.h"
#include "formats/dump/dump_view_internal.h"

struct json_text *dump_line(struct json_text *o, const char *kind)
{
	json_text_begin(o);
	json_add_string(o, "kind", kind);
	return o;
}

struct json_text *dump_task_line(struct json_text *o, const char *kind, pid_t tid, uint64_t ns)
{
	dump_line(o, kind);
	json_add_int(o, "tid", tid);
	json_add_uint(o, "ns", ns);
	return o;
}

void dump_write(struct dump_view *d, pid_t tid, struct json_text *o)
{
	struct buf line = json_text_end(o);

	buf_addc(&line, '\n');
	output_write(d->out, tid, line.data, line.len);
	buf_free(&line);
}

void dump_write_enter(void *ctx, struct inflight *in)
{
	struct begun *b = (struct begun *)in;
	struct json_text line, *o = dump_line(&line, KIND_ENTER);

	dump_call_beginning(o, b->call, &b->stack);
	json_add_object(o, "args", &b->args);
	dump_call_add_memory(o, b->call, true, false);
	dump_write(ctx, in->tid, o);
}

void dump_before(struct dump_view *d, uint64_t ns, pid_t tid)
{
	inflight_split(&d->begun, ns, tid, dump_write_enter, d);
	d->last_ns = ns;
}

void begun_free(struct begun *b)
{
	if (!b)
		return;
	json_text_drop(&b->args);
	json_text_drop(&b->about.event);
	json_text_drop(&b->stack);
	free(b);
}

void dump_split_own(struct dump_view *d, pid_t tid)
{
	struct inflight *in = inflight_get(&d->begun, tid);

	if (!in || in->split)
		return;
	dump_before(d, in->enter_ns, tid);
	dump_write_enter(d, in);
	in->split = true;
}
