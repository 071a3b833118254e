// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines about rings and their records, and about ids and counts of events. */
#include "dump/dump_view_internal.h"

void dump_on_record(struct view *v, pid_t tid, uint64_t ns, const struct view_record *r)
{
	struct dump_view *d = dump_self(v);
	struct json_object *o = dump_task_line(KIND_RECORD, tid, ns), *decoded;
	struct json_sink j;

	dump_before(d, ns, tid);
	dump_add_uint(o, "ring", r->ring->number);
	dump_add_uint(o, "event", r->event->number);
	dump_add_bool(o, "sure", r->sure);
	decoded = json_new_object();
	json_sink_init(&j, decoded);
	record_emit(r->bytes, r->len, r->format, d->names, &j.sink, r->hooks);
	dump_add(o, "record",
			       json_object_get(json_object_object_get(decoded, "value")));
	json_object_put(decoded);
	dump_add(o, "hex", json_bytes(r->bytes, r->len));
	dump_write(d, tid, o);
	d->records++;
}

void dump_on_looked(struct view *v, pid_t tid, uint64_t ns, const struct view_look *l)
{
	struct dump_view *d = dump_self(v);
	struct json_object *o = dump_task_line(KIND_LOOK, tid, ns);

	dump_before(d, ns, tid);
	dump_add_uint(o, "ring", l->ring->number);
	dump_add_uint(o, "missed", l->missed);
	dump_add_bool(o, "torn", l->torn);
	dump_add(o, "page", json_bytes(l->page, l->page_len));
	if (l->error)
		dump_add_int(o, "error", l->error);
	dump_write(d, tid, o);
	d->missed += l->missed;
	d->unseen += !!l->error;
}

void dump_on_learnt_id(struct view *v, const struct event *e)
{
	struct json_object *o = dump_line(KIND_ID);

	dump_add_uint(o, "event", e->number);
	dump_add_uint(o, "id", e->id);
	dump_write(dump_self(v), e->opener, o);
}

void dump_on_count(struct view *v, const struct event *e)
{
	struct json_object *o = dump_line(KIND_COUNT);

	dump_add_uint(o, "event", e->number);
	dump_add_uint(o, "id", e->id);
	dump_add_uint(o, "count", e->count.value);
	if (!event_attr_known(e) && e->format_known)
		dump_add(o, "read_format", json_hex(e->read_format));
	if (e->count.timed) {
		dump_add_uint(o, "time_enabled", e->count.enabled);
		dump_add_uint(o, "time_running", e->count.running);
	}
	dump_write(dump_self(v), e->opener, o);
}
