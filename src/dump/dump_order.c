// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The lines of a dump are in the order of time: a call is split into two lines, "enter" and
 * "exit", if other lines come in between.
 */
#include <stdlib.h>

#include "dump/dump_call.h"
#include "dump/dump_view_internal.h"

void dump_write(struct dump_view *d, pid_t tid, struct json_object *o)
{
	struct buf line = { 0 };

	json_line(&line, o);
	buf_addc(&line, '\n');
	output_write(d->out, tid, line.data, line.len);
	buf_free(&line);
}

void dump_write_enter(void *ctx, struct inflight *in)
{
	struct begun *b = (struct begun *)in;
	struct json_object *o = dump_line(KIND_ENTER);

	dump_call_beginning(o, b->call, b->stack);
	dump_add(o, "args", b->args);
	b->args = NULL;
	dump_add(o, "memory", dump_call_memory(b->call, true, false));
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
	json_object_put(b->args);
	json_object_put(b->about);
	json_object_put(b->stack);
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
