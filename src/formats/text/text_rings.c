// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines about rings: records, and looks at the first page. */
#include <errno.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/abi/layout_emit.h"
#include "formats/text/text_view_internal.h"
#include "xlat/tables.h"

static void start_ring_line(struct text_view *v, pid_t tid, uint64_t ns, unsigned int ring)
{
	text_split_older(v, ns, tid);
	text_start_line(v, tid, ns);
	buf_addf(&v->line, "ring %u: ", ring);
}

void text_on_record(struct view *view, const struct activity *a)
{
	const struct activity_record *r = &a->record;
	struct text_view *v = text_self(view);
	struct text_sink t;

	if (!v->o->records)
		return;
	start_ring_line(v, r->tid, r->ns, r->ring->number);
	buf_addc(&v->line, '<');
	text_escaped(&v->line, r->event->name);
	buf_adds(&v->line, r->sure ? "> " : "?> ");
	text_init_sink(v, &t, &v->line);
	text_sink_top(&t, true, NULL);
	record_emit(r->bytes, r->len, r->format, v->names, &t.sink, r->hooks);
	text_end_line(v, r->tid);
}

/* The line of the ring's first page, struct perf_event_mmap_page. */
static void page_line(struct text_view *v, pid_t tid, uint64_t ns, const struct activity_look *l)
{
	const struct walk w = {
		.layout = &layout_perf_event_mmap_page, .bytes = l->page, .len = l->page_len,
	};
	struct text_sink t;

	start_ring_line(v, tid, ns, l->ring->number);
	text_init_sink(v, &t, &v->line);
	text_sink_top(&t, true, NULL);
	sink_begin(&t.sink, NULL, SINK_OBJECT);
	layout_emit(&w, &t.sink);
	sink_end(&t.sink);
	text_end_line(v, tid);
}

void text_on_looked(struct view *view, const struct activity *a)
{
	const struct activity_look *l = &a->look;
	struct text_view *v = text_self(view);

	if (!v->o->records)
		return;
	if (l->error && l->error != ESRCH) { /* ESRCH: the task has ended */
		start_ring_line(v, l->tid, l->ns, l->ring->number);
		buf_addf(&v->line, "could not be looked into: %s", strerror(l->error));
		text_end_line(v, l->tid);
	}
	if (v->o->full && l->page_len)
		page_line(v, l->tid, l->ns, l);
	if (l->missed) {
		start_ring_line(v, l->tid, l->ns, l->ring->number);
		buf_addf(&v->line, "%llu bytes were overwritten before they could be seen",
			 (unsigned long long)l->missed);
		text_end_line(v, l->tid);
	}
	if (l->torn) {
		start_ring_line(v, l->tid, l->ns, l->ring->number);
		buf_adds(&v->line, "holds bytes that are no records; skipped");
		text_end_line(v, l->tid);
	}
}
