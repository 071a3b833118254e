// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events of a trace whose open was not seen, descriptors that come and go without a call for that,
 * and what the kernel itself says of events.
 */
#include <errno.h>
#include <sys/mman.h>

#include "core/abi/bpf.h"
#include "core/abi/call_decode.h"
#include "core/abi/ioctl.h"
#include "core/abi/tables.h"
#include "core/host/proc.h"
#include "core/lib/hash.h"
#include "core/lib/map.h"
#include "engine/live/live.h"
#include "engine/rings/bpf.h"
#include "engine/rings/earlier.h"
#include "engine/rings/look.h"
#include "experiment/instruments.h"
#include "formats/text/text.h"

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

/* Set the task's descriptor to the event of that id (0: unknown), which may be new, or NULL. */
static struct event *adopt_event(struct live *l, const struct call *c, int fd, bool cloexec,
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

/* Descriptors ----------------------------------------------------------------------------- */

/* Identify an event by its id, so that a descriptor of it is recognized wherever it comes. */
static void identify_event(void *ctx, pid_t pid, pid_t tid, int fd, struct event *e)
{
	struct live *l = ctx;
	uint64_t id = look_id(pid, tid, fd);

	if (id)
		session_feed(&l->session, &(struct activity){ ACTIVITY_ID, .id = { e, id } });
}

void live_learn_sent_ids(struct live *l, const struct call *c)
{
	int fds[CALL_MAX_PASSED];
	size_t n = call_passed_fds(c, AT_SYSCALL_ENTER, fds);

	for (size_t i = 0; i < n; i++) {
		struct event *e = model_event(l->session.model, c->tid, fds[i]);

		if (e && !e->id)
			identify_event(l, c->pid, c->tid, fds[i], e);
	}
}

/*
 * Add a descriptor that the model does not know, if it is an event's: a known one by its id,
 * else a new one.  Return whether it is an event's.
 */
static bool live_adopt_fd(struct live *l, const struct call *c, int fd, bool cloexec)
{
	struct model *m = l->session.model;
	uint64_t id;

	if (fd < 0 || proc_fd_is(c->tid, fd, PROC_EVENT_LINK) <= 0)
		return false;
	id = look_id(c->pid, c->tid, fd);
	/* without an id, a message in transit is matched by order */
	if (!id && model_passing(m) && c->desc->class == CLASS_PASS)
		return true;
	if (id && !model_event_by_id(m, id))
		model_each_unidentified(m, identify_event, l);
	return adopt_event(l, c, fd, cloexec, id);
}

/* Return the descriptor that the call uses as an event's, or -1. */
static int event_fd_of(const struct live *l, const struct call *c)
{
	uint64_t page = l->names->page_size, pages;
	bool maps = c->desc->id == CALL_MMAP || c->desc->id == CALL_MMAP2;
	struct bpf_command b;

	switch (c->desc->class) {
	case CLASS_IOCTL:
		return ioctl_is_perf(c->args[1]) ? call_int(c, 0) : -1;
	case CLASS_BPF:
		return bpf_command(c, &b) && b.attach_type == ABI_BPF_PERF_EVENT ? b.fd : -1;
	case CLASS_MEMORY:
		/*
		 * A ring buffer has one page and 2^n, or one for the control page only.  So most
		 * mappings of shared files cost nothing more.
		 */
		pages = (call_word(c, 1) + page - 1) / page;
		return maps && c->args[3] & MAP_SHARED && !call_word(c, 5) && pages &&
		       !((pages - 1) & (pages - 2)) ? call_int(c, 4) : -1;
	case CLASS_READ:
		return call_int(c, 0);
	default:
		return -1;
	}
}

void live_forget_closed(struct live *l, const struct call *c)
{
	int fd = c->desc->nargs && c->desc->args[0].kind == ARG_FD ? call_int(c, 0) : -1;

	/* it maps the entries of an io_uring (IORING_OFF_SQES) */
	if (((c->desc->id == CALL_MMAP && call_word(c, 5) == 0x10000000) ||
	     (c->desc->id == CALL_MMAP2 && call_word(c, 5) == 0x10000)) &&
	    proc_fd_is(c->tid, call_int(c, 4), "anon_inode:[io_uring]") > 0)
		map_set(&l->uring, (uint64_t)c->pid, l);
	if (fd >= 0 && map_get(&l->uring, (uint64_t)c->pid) &&
	    model_event(l->session.model, c->tid, fd) &&
	    proc_fd_is(c->tid, fd, PROC_EVENT_LINK) <= 0)
		session_feed(&l->session, &(struct activity){
			ACTIVITY_CLOSED, .closed = { c->tid, fd },
		});
}

void live_adopt_used(struct live *l, const struct call *c)
{
	int fd = event_fd_of(l, c);

	if (fd >= 0 && !model_event(l->session.model, c->tid, fd))
		live_adopt_fd(l, c, fd, false);
}

bool live_adopt_received(struct live *l, struct call *c)
{
	bool waiting = map_del(&l->waiting, (uint64_t)c->tid), event = false;
	int fds[CALL_MAX_PASSED];
	size_t n = c->failed || c->inject.injected ? 0 :
		   call_passed_fds(c, AT_SYSCALL_EXIT, fds);

	for (size_t i = 0; waiting && i < n && !event; i++)
		event = c->inside && i < CALL_PASSED_IDS ? c->passed[i] :
			proc_fd_is(c->tid, fds[i], PROC_EVENT_LINK) > 0;
	if (waiting && !event)
		return false;
	if (waiting)
		session_enter(&l->session, c);
	for (size_t i = 0; i < n; i++) {
		bool cloexec = c->args[2] & ABI_MSG_CMSG_CLOEXEC;

		if (!c->inside)
			live_adopt_fd(l, c, fds[i], cloexec);
		else if (i < CALL_PASSED_IDS && c->passed[i])
			adopt_event(l, c, fds[i], cloexec, c->passed[i]);
	}
	return true;
}

/* What the kernel says of descriptors ------------------------------------------------------- */

void live_agree(struct live *l, const struct call *c)
{
	bool maps = c->desc->id == CALL_MMAP || c->desc->id == CALL_MMAP2;
	/* the descriptor whose event c->event is */
	int fd = maps ? (c->event ? call_int(c, 4) : -1) :
		 c->desc->nargs && c->desc->args[0].kind == ARG_FD ? call_int(c, 0) : -1;
	struct event *e = fd < 0 ? NULL : model_event(l->session.model, c->tid, fd);

	if (fd < 0 || (e && e->id == c->event))
		return;
	if (e && !e->id && c->event)
		session_feed(&l->session, &(struct activity){ ACTIVITY_ID, .id = { e, c->event } });
	else if (c->event)
		adopt_event(l, c, fd, false, c->event);
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

/* One in so many calls is looked at; a stop of 1000 events takes some 40 to 400 us longer. */
enum { LOOK_EVERY = 256, MANY_EVENTS = 1000, SLOW_STOPS = 20 * 1000 * 1000 };

void live_note_stops(struct live *l, const struct call *c)
{
	struct event *e;
	size_t at = 0, n = 0;

	if (c->inside || ++l->calls % LOOK_EVERY)
		return;
	while ((e = model_next_event(l->session.model, &at)))
		n += !e->closed && (e->pid == c->tid || (!e->pid && e->opener == c->tid));
	l->event_stops += n * 2 * LOOK_EVERY; /* stops at the beginning and at the return */
	if (n > l->most_events)
		l->most_events = n;
}

bool live_stops_were_slow(const struct live *l)
{
	return l->most_events >= MANY_EVENTS && l->event_stops >= SLOW_STOPS;
}

void live_note_holders(struct live *l, const struct call *c)
{
	struct model *m = l->session.model;
	struct holders_of of;
	const uint8_t *attr;
	struct event *e;
	size_t len;

	if (l->options.holders && !l->noted_sharers && c->desc->class == CLASS_READ) {
		/* the first time that a count was multiplexed, while its competitors are there */
		e = model_event(m, c->tid, call_int(c, 0));
		if (e && model_takes_turns(m, e)) {
			l->noted_sharers = true;
			of = (struct holders_of){ (uint32_t)event_attr(e, ATTR_TYPE), -1, -1 };
			holders_add(&of, l->names, &l->sharers);
		}
	}
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
