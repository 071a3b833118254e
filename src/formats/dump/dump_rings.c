// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines about rings and their records, and about ids and counts of events. */
#include "formats/dump/dump_view_internal.h"

enum { AUX_PIECE = 1 << 20 }; /* bytes of an AUX area in a line */

void dump_on_record(struct view *v, pid_t tid, uint64_t ns, const struct view_record *r)
{
	struct dump_view *d = dump_self(v);
	struct json_text line, *o = dump_task_line(&line, KIND_RECORD, tid, ns);

	dump_before(d, ns, tid);
	json_add_uint(o, "ring", r->ring->number);
	json_add_uint(o, "event", r->event->number);
	json_add_bool(o, "sure", r->sure);
	o->unnamed = "record";
	record_emit(r->bytes, r->len, r->format, d->names, &o->sink, r->hooks);
	json_add_bytes(o, "hex", r->bytes, r->len);
	dump_write(d, tid, o);
	d->records++;
}

void dump_on_looked(struct view *v, pid_t tid, uint64_t ns, const struct view_look *l)
{
	struct dump_view *d = dump_self(v);
	struct json_text line, *o = dump_task_line(&line, KIND_LOOK, tid, ns);

	dump_before(d, ns, tid);
	json_add_uint(o, "ring", l->ring->number);
	json_add_uint(o, "missed", l->missed);
	json_add_bool(o, "torn", l->torn);
	json_add_bytes(o, "page", l->page, l->page_len);
	if (l->error)
		json_add_int(o, "error", l->error);
	dump_write(d, tid, o);
	d->missed += l->missed;
	d->unseen += !!l->error;
}

void dump_on_aux(struct view *v, pid_t tid, uint64_t ns, const struct view_aux *a)
{
	struct dump_view *d = dump_self(v);
	size_t at = 0;

	dump_before(d, ns, tid);
	do {
		struct json_text line, *o = dump_task_line(&line, KIND_AUX, tid, ns);
		size_t n = a->len - at < AUX_PIECE ? a->len - at : AUX_PIECE;

		json_add_uint(o, "ring", a->ring->number);
		json_add_uint(o, "position", a->position + at);
		json_add_uint(o, "missed", at ? 0 : a->missed);
		json_add_bytes(o, "hex", n ? a->bytes + at : NULL, n);
		dump_write(d, tid, o);
		at += n;
	} while (at < a->len);
}

void dump_on_learnt_id(struct view *v, const struct event *e)
{
	struct json_text line, *o = dump_line(&line, KIND_ID);

	json_add_uint(o, "event", e->number);
	json_add_uint(o, "id", e->id);
	dump_write(dump_self(v), e->opener, o);
}

void dump_on_count(struct view *v, const struct event *e)
{
	struct json_text line, *o = dump_line(&line, KIND_COUNT);

	json_add_uint(o, "event", e->number);
	json_add_uint(o, "id", e->id);
	json_add_uint(o, "count", e->count.value);
	if (!event_attr_known(e) && e->format_known)
		json_add_hex(o, "read_format", e->read_format);
	if (e->count.timed) {
		json_add_uint(o, "time_enabled", e->count.enabled);
		json_add_uint(o, "time_running", e->count.running);
	}
	if (e->lost_read)
		json_add_uint(o, "lost", e->lost_read);
	dump_write(dump_self(v), e->opener, o);
}
