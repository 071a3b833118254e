// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events of a trace whose open was not seen, and what the kernel itself says of events. */
#include <errno.h>

#include "core/abi/layout.h"
#include "core/lib/hash.h"
#include "core/lib/map.h"
#include "engine/live/live.h"
#include "engine/rings/bpf.h"
#include "engine/rings/earlier.h"
#include "experiment/instruments.h"
#include "formats/text/text.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

void live_watch_fd(struct live *l, int fd)
{
	if (l->tracer)
		trace_watch_fd(l->tracer, fd);
}

void live_learn_program(struct live *l, pid_t tid, int fd, struct event *e)
{
	struct bpf_program p;

	if (!e->bpf && e->found && bpf_attached_program(tid, fd, &p))
		session_feed(&l->session, &(struct activity){
			ACTIVITY_PROGRAM, .program = { e, p.id, p.type, p.name },
		});
}

struct event *live_adopt_event(struct live *l, const struct call *c, int fd, bool cloexec,
			       uint64_t id)
{
	struct model *m = l->session.model;
	struct event *e = id ? model_event_by_id(m, id) : NULL;

	if (!e || model_event(m, c->tid, fd) != e) {
		struct activity a = { ACTIVITY_FOUND, .found = { c->tid, fd, cloexec, e } };

		session_feed(&l->session, &a);
		e = a.found.event;
	}
	if (e && id && !e->id)
		session_feed(&l->session, &(struct activity){ ACTIVITY_ID, .id = { e, id } });
	if (e) {
		earlier_describe(l->earlier, c->pid, c->tid);
		live_watch_fd(l, fd);
		live_learn_program(l, c->tid, fd, e);
	}
	return e;
}

/* What the kernel says of descriptors ------------------------------------------------------- */

/* Return the descriptor whose event c->event is, or -1. */
static int fd_of_event(const struct call *c)
{
	if (c->desc->id == CALL_MMAP || c->desc->id == CALL_MMAP2)
		return c->event ? call_int(c, 4) : -1;
	return c->desc->nargs && c->desc->args[0].kind == ARG_FD ? call_int(c, 0) : -1;
}

void live_agree(struct live *l, const struct call *c)
{
	int fd = fd_of_event(c);
	struct event *e = fd < 0 ? NULL : model_event(l->session.model, c->tid, fd);

	if (fd < 0 || (e && e->id == c->event))
		return;
	if (e && !e->id && c->event)
		session_feed(&l->session, &(struct activity){ ACTIVITY_ID, .id = { e, c->event } });
	else if (c->event)
		live_adopt_event(l, c, fd, false, c->event);
	else if (e)
		session_feed(&l->session, &(struct activity){
			ACTIVITY_CLOSED, .closed = { c->tid, fd },
		});
}

void live_opened(struct live *l, const struct call *c)
{
	struct event *e = c->desc->id == CALL_PERF_EVENT_OPEN && !c->failed && c->event ?
			  model_opened(l->session.model, c) : NULL;

	if (e && !e->id)
		session_feed(&l->session, &(struct activity){ ACTIVITY_ID, .id = { e, c->event } });
}

/* Note the first time that a count was multiplexed, while its competitors are there. */
static void note_sharers(struct live *l, const struct call *c)
{
	struct event *e = model_event(l->session.model, c->tid, call_int(c, 0));

	if (!e || !model_takes_turns(l->session.model, e))
		return;
	l->noted_sharers = true;
	holders_add(&(struct holders_of){ (uint32_t)event_attr(e, ATTR_TYPE), -1, -1 },
		    l->names, &l->sharers);
}

void live_note_holders(struct live *l, const struct call *c)
{
	struct holders_of of;
	const uint8_t *attr;
	size_t len;

	if (l->options.holders && !l->noted_sharers && c->desc->class == CLASS_READ)
		note_sharers(l, c);
	if (!l->options.holders || l->held.len || !c->failed || c->inject.injected ||
	    c->desc->id != CALL_PERF_EVENT_OPEN || (c->ret != ENOSPC && c->ret != EBUSY))
		return;
	attr = call_bytes(c, AT_SYSCALL_ENTER, c->args[0], PERF_ATTR_SIZE_VER0, &len);
	if (!attr)
		return;
	of = (struct holders_of){
		.type = (uint32_t)layout_get(&layout_perf_event_attr, ATTR_TYPE, attr, len),
		.tid = c->args[4] & PERF_FLAG_PID_CGROUP ? -1 : call_target(c),
		.cpu = call_int(c, 2),
	};
	if (!of.tid)
		of.tid = c->tid;
	holders_add(&of, l->names, &l->held);
	l->held_errno = (int)c->ret;
}

/* Return what an event counted, or the number of its samples, as far as that was seen. */
static uint64_t counted(const struct event *e)
{
	uint64_t samples = event_records(e, PERF_RECORD_SAMPLE);

	return samples || event_attr(e, ATTR_SAMPLE_PERIOD) || !e->count.known ? samples :
	       e->count.value;
}

void live_note_doubts(struct live *l)
{
	struct instruments is = { .host = l->host };
	struct event *const *events;
	size_t n = model_events(l->session.model, &events);
	struct buf why = { 0 };
	struct map told = { 0 };
	size_t more = 0;

	if (!l->options.doubts)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct event *e = events[i];

		if (!event_attr_known(e) ||
		    !instrument_is_hardware(is.host, e->attr, e->attr_len) ||
		    !instrument_doubt(&is, e->attr, e->attr_len, counted(e), &why))
			continue;
		if (map_set(&told, hash_text(HASH_START, buf_str(&why)), &told)) {
			buf_reset(&why);
			more++;
			continue;
		}
		buf_addf(&l->doubts, "%s", l->doubts.len ? " " : "");
		text_escaped(&l->doubts, e->name);
		buf_addf(&l->doubts, " %s.", buf_str(&why));
		buf_reset(&why);
	}
	if (more)
		buf_addf(&l->doubts, " The same holds for %zu more event%s.", more, more > 1 ? "s" : "");
	map_free(&told);
	buf_free(&why);
}
