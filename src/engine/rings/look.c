// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "engine/rings/look.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/abi/read_format.h"
#include "core/host/proc.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/lib/map.h"
#include "engine/rings/borrow.h"
#include "engine/rings/ring.h"
#include "engine/rings/writer.h"

enum {
	FIRST_MS = 5,
	LEAST_MS = 1,
	MOST_MS = 100,
	MUCH = 8,		/* an eighth of a ring: read it more often */
	LITTLE = 64,		/* a 64th of each: read them less often */
};

void pace_reset(struct pace *p)
{
	*p = (struct pace){ 0 };
}

void pace_note(struct pace *p, uint64_t new_bytes, uint64_t size)
{
	if (!p->read)
		p->nearly_empty = true;
	p->read = true;
	p->filling |= new_bytes > size / MUCH;
	p->nearly_empty &= new_bytes < size / LITTLE;
}

unsigned int pace_next(struct pace *p)
{
	unsigned int ms = p->ms ? p->ms : FIRST_MS;

	if (p->filling)
		ms /= 2;
	else if (p->read && p->nearly_empty)
		ms *= 2;
	*p = (struct pace){ .ms = ms < LEAST_MS ? LEAST_MS : ms > MOST_MS ? MOST_MS : ms };
	return p->ms;
}

enum {
	COUNT_MAX = 16384,	/* the kernel's limit for a group read */
	FEW = 64,		/* above this number, drop the state of unmapped rings */
};

/* A ring that is read. */
struct look_state {
	struct ring_seen seen;
	void *kept;		/* pevtrace's own mapping, or NULL */
	size_t length;		/* of it */
	void *kept_aux;		/* the same of the AUX area */
	size_t aux_length;
	uint64_t aux_seen;	/* aux_head at the last read */
};

struct looker {
	struct session *session;
	struct map rings;	/* ring number -> struct look_state */
	bool keeps;		/* see look_keep() */
	struct pace pace;
	bool takes_aux;
	uint64_t aux_left;	/* bytes of AUX areas that may still be read */
};

/* One read of some rings or counts. */
struct look {
	struct looker *looker;
	pid_t pid, tid;
	struct ring *ring;
	const struct event *only;	/* NULL: all rings */
	uint64_t start, end;	/* for look_if_area() */
	uint64_t aux_refused;	/* bytes beyond the limit, in the last read */
};

struct looker *looker_new(struct session *s)
{
	struct looker *l = xcalloc(1, sizeof(*l));

	l->session = s;
	return l;
}

static void state_free(struct look_state *state)
{
	if (state->kept)
		munmap(state->kept, state->length);
	if (state->kept_aux)
		munmap(state->kept_aux, state->aux_length);
	free(state);
}

void looker_free(struct looker *l)
{
	if (!l)
		return;
	map_each(slot, &l->rings)
		state_free(slot->value);
	map_free(&l->rings);
	free(l);
}

/*
 * Return a copy of an event's descriptor, or a negative errno.  Its link in /proc must be
 * that of a perf event: another thread may have replaced the descriptor, or a seccomp filter
 * may have faked the result of perf_event_open(), and a read could consume the tracee's
 * input or block.
 */
static int borrow_event_fd(pid_t pid, pid_t tid, int its_fd)
{
	int fd = its_fd < 0 ? -EBADF : borrow_fd(pid, tid, its_fd);

	if (fd < 0 || proc_fd_is(getpid(), fd, PROC_EVENT_LINK) > 0)
		return fd;
	close(fd);
	return -EBADF;
}

static int borrow(const struct look *k, const struct event *e)
{
	const struct model *m = k->looker->session->model;
	int fd = borrow_event_fd(k->pid, k->tid, model_fd_of(m, k->tid, e)), other;

	if (fd != -ESRCH || k->tid == k->pid)
		return fd;
	/* the BPF engine may report a thread's call when the thread has ended */
	other = borrow_event_fd(k->pid, k->pid, model_fd_of(m, k->pid, e));
	return other < 0 ? fd : other;
}

uint64_t look_id(pid_t pid, pid_t tid, int its_fd)
{
	int fd = borrow_event_fd(pid, tid, its_fd);
	uint64_t id;

	if (fd < 0)
		return 0;
	id = event_id_of(fd);
	close(fd);
	return id;
}

/* Ask for the event's id if it is unknown: samples carry only the id. */
static void learn_id(void *ctx, struct event *e)
{
	struct look *k = ctx;
	uint64_t id;
	int fd;

	if (e->id)
		return;
	fd = borrow(k, e);
	if (fd < 0)
		return;
	id = event_id_of(fd);
	if (id)
		session_feed(k->looker->session, &(struct activity){
			ACTIVITY_ID, .id = { e, id },
		});
	close(fd);
}

static void got_record(void *ctx, const uint8_t *bytes, size_t len)
{
	struct look *k = ctx;
	struct session *s = k->looker->session;
	struct record_format format;
	struct activity a = { .kind = ACTIVITY_RECORD };

	writer_find(s->model, k->ring, bytes, len, &format, &a.record);
	a.record.tid = k->tid;
	a.record.ns = clock_ns();
	session_feed(s, &a);
}

void look_forget(struct looker *l)
{
	map_each(slot, &l->rings) {
		const struct ring *r = model_ring(l->session->model, (unsigned int)slot->key);

		if (!r || !r->mappings)
			state_free(map_del(&l->rings, slot->key));
	}
}

static struct look_state *ring_state(struct looker *l, const struct ring *r)
{
	struct look_state *state = map_get(&l->rings, r->number);

	if (!state) {
		if (l->rings.len >= FEW && !(l->rings.len & (l->rings.len - 1)))
			look_forget(l);
		state = xcalloc(1, sizeof(*state));
		map_set(&l->rings, r->number, state);
		pace_reset(&l->pace);
	}
	return state;
}

/* Read a ring by the mapping that was kept; return 0 or a negative errno. */
static int walk_kept(struct look *k, struct look_state *state, struct ring_result *result)
{
	const struct ring *r = k->ring;
	const struct ring_image image = {
		.bytes = state->kept, .length = state->length, .overwrite = r->overwrite,
		.backward = event_attr(r->event, ATTR_WRITE_BACKWARD), .settle = ring_settle,
	};

	return ring_walk(&image, &state->seen, result, got_record, k);
}

/* Map a ring for a read; return 0, a negative errno, or 1 if it is gone. */
static int walk_borrowed(struct look *k, struct look_state *state, const struct ring *mapping,
			 struct ring_result *result)
{
	struct ring *r = k->ring;
	int fd, error;

	/*
	 * mmap(MAP_FIXED) or shmat(2) may have covered the ring without a stop: mapping the
	 * event would make a new one, which changes what the next calls of the task return.
	 */
	if (!proc_file_mapped(k->pid, mapping->start, mapping->end))
		return 1;
	fd = borrow(k, r->event);
	if (fd < 0)
		return fd;
	model_each_writer(k->looker->session->model, r, learn_id, k);
	error = ring_look(fd, (size_t)(r->end - r->start),
			  event_attr(r->event, ATTR_WRITE_BACKWARD), r->overwrite,
			  &state->seen, result, got_record, k);
	close(fd);
	/* if it was covered meanwhile, the bytes may be of a new ring */
	return proc_file_mapped(k->pid, mapping->start, mapping->end) ? error : 1;
}

/* AUX areas ----------------------------------------------------------------- */

static void got_aux(void *ctx, const uint8_t *bytes, size_t len, uint64_t position)
{
	struct look *k = ctx;
	uint64_t n = len < k->looker->aux_left ? len : k->looker->aux_left;

	k->looker->aux_left -= n;
	k->aux_refused = len - n;
	if (n)
		session_feed(k->looker->session, &(struct activity){
			ACTIVITY_AUX, .aux = {
				.tid = k->tid, .ns = clock_ns(), .ring = k->ring,
				.position = position, .bytes = bytes, .len = n,
			},
		});
}

static void look_at_area(struct look *k, struct look_state *state, void *page, const void *bytes,
			 size_t size)
{
	struct aux_area area = {
		.page = page, .bytes = bytes, .size = size, .seen = state->aux_seen,
	};
	struct aux_result result;
	uint64_t missed;

	k->aux_refused = 0;
	aux_peek(&area, &result, got_aux, k);
	state->aux_seen = area.seen;
	pace_note(&k->looker->pace, result.bytes + result.missed, size);
	missed = result.missed + k->aux_refused;
	if (missed)
		session_feed(k->looker->session, &(struct activity){
			ACTIVITY_AUX, .aux = {
				.tid = k->tid, .ns = clock_ns(), .ring = k->ring,
				.position = area.seen, .missed = missed,
			},
		});
}

/* Return the AUX area to read with the ring, or NULL.  Snapshots are written at any time. */
static struct ring *look_area_of(const struct look *k)
{
	struct ring *aux = k->ring->event->buffer[1];
	uint64_t size = aux ? aux->end - aux->start : 0;

	return k->looker->takes_aux && aux && aux->mappings && !aux->overwrite &&
	       aux->pid == k->pid && size && !(size & (size - 1)) ? aux : NULL;
}

/* Map the AUX area of an event; return NULL if that fails. */
static void *map_aux_area(int fd, const struct ring *aux, const void *page)
{
	uint64_t offset = layout_get(&layout_perf_event_mmap_page, PERF_EVENT_MMAP_PAGE_AUX_OFFSET,
				     page, RING_PAGE_BYTES);
	void *bytes = mmap(NULL, (size_t)(aux->end - aux->start), PROT_READ, MAP_SHARED, fd,
			   (off_t)offset);

	return bytes == MAP_FAILED ? NULL : bytes;
}

/* Map ring and area for a read.  Both must be mapped by their owner, see walk_borrowed(). */
static void borrow_area(struct look *k, struct look_state *state, const struct ring *aux)
{
	size_t length = (size_t)(k->ring->end - k->ring->start);
	size_t size = (size_t)(aux->end - aux->start);
	void *page = MAP_FAILED, *bytes = NULL;
	int fd = borrow(k, k->ring->event);

	if (fd < 0)
		return;
	if (proc_file_mapped(k->pid, aux->start, aux->end))
		page = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED)
		bytes = map_aux_area(fd, aux, page);
	if (bytes && proc_file_mapped(k->pid, aux->start, aux->end))
		look_at_area(k, state, page, bytes, size);
	if (bytes)
		munmap(bytes, size);
	if (page != MAP_FAILED)
		munmap(page, length);
	close(fd);
}

void look_take_aux(struct looker *l, uint64_t most)
{
	l->takes_aux = true;
	l->aux_left = most;
}

/* Rings ---------------------------------------------------------------------- */

static void look_at_ring(void *ctx, struct ring *mapping)
{
	struct look *k = ctx;
	struct looker *l = k->looker;
	struct ring *r = ring_first(mapping);
	const struct ring *aux;
	struct look_state *state;
	struct ring_result result;
	int error;

	if (k->only && r->event != k->only)
		return;
	k->ring = r;
	state = ring_state(l, r);
	if (!l->keeps)
		error = walk_borrowed(k, state, mapping, &result);
	else
		error = state->kept ? walk_kept(k, state, &result) : -ESRCH;
	if (error > 0 || error == -EBADF) /* a closed ring was read when it was closed */
		return;
	if (error) {
		session_feed(l->session, &(struct activity){
			ACTIVITY_LOOK, .look = {
				.tid = k->tid, .ns = clock_ns(), .ring = r, .error = -error,
			},
		});
		return;
	}
	pace_note(&l->pace, result.bytes + result.missed, (uint64_t)(r->end - r->start));
	aux = look_area_of(k);
	if (state->kept_aux)
		look_at_area(k, state, state->kept, state->kept_aux, state->aux_length);
	else if (aux && !l->keeps)
		borrow_area(k, state, aux);
	session_feed(l->session, &(struct activity){
		ACTIVITY_LOOK, .look = {
			.tid = k->tid, .ns = clock_ns(), .ring = r,
			.page = result.page.bytes, .page_len = sizeof(result.page.bytes),
			.missed = result.missed, .torn = result.torn,
		},
	});
}

/* Read a ring whose AUX area is in the range, while the ring itself is not. */
static void look_if_area(void *ctx, struct ring *mapping)
{
	const struct look *k = ctx;
	const struct ring *aux = ring_first(mapping)->event->buffer[1];

	if (aux && aux->pid == k->pid && aux->start < k->end && k->start < aux->end &&
	    (mapping->start >= k->end || k->start >= mapping->end))
		look_at_ring(ctx, mapping);
}

/* Map a ring and its AUX area, unless their owner has let them go: that would make new ones. */
static void keep_ring(void *ctx, struct ring *mapping)
{
	struct look *k = ctx;
	struct ring *r = ring_first(mapping), *aux, *wanted;
	struct look_state *state = ring_state(k->looker, r);
	size_t length = (size_t)(r->end - r->start);
	void *bytes;
	int fd;

	k->ring = r;
	aux = look_area_of(k);
	/* the area is mapped at a later call than the ring */
	wanted = !state->kept ? mapping : aux && !state->kept_aux ? aux : NULL;
	if (!wanted || !proc_file_mapped(k->pid, wanted->start, wanted->end))
		return;
	fd = borrow(k, r->event);
	if (fd < 0)
		return;
	if (state->kept) {
		state->kept_aux = map_aux_area(fd, aux, state->kept);
		state->aux_length = (size_t)(aux->end - aux->start);
	} else {
		bytes = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
		state->kept = bytes == MAP_FAILED ? NULL : bytes;
		state->length = length;
	}
	close(fd);
}

void look_keep(struct looker *l, pid_t pid, pid_t tid)
{
	struct look k = { .looker = l, .pid = pid, .tid = tid };

	l->keeps = true;
	model_each_ring(l->session->model, tid, 0, 0, keep_ring, &k);
}

unsigned int look_pace(struct looker *l)
{
	return pace_next(&l->pace);
}

void look_all(struct looker *l, pid_t pid, pid_t tid)
{
	look_range(l, pid, tid, 0, 0);
}

void look_event(struct looker *l, pid_t pid, pid_t tid, const struct event *e)
{
	struct look k = { .looker = l, .pid = pid, .tid = tid, .only = e };

	model_each_ring(l->session->model, tid, 0, 0, look_at_ring, &k);
}

void look_range(struct looker *l, pid_t pid, pid_t tid, uint64_t start, uint64_t end)
{
	struct look k = {
		.looker = l, .pid = pid, .tid = tid, .start = start, .end = end,
	};

	model_each_ring(l->session->model, tid, start, end, look_at_ring, &k);
	if (l->takes_aux && end)
		model_each_ring(l->session->model, tid, 0, 0, look_if_area, &k);
}

static void look_set_count(void *ctx, const struct read_value *v)
{
	struct event *e = ctx;

	if (v->has_id && e->id && v->id != e->id)
		return; /* another member of its group */
	if (!v->has_id && v->index)
		return;
	e->count = (struct event_count){
		.known = true, .timed = v->timed, .value = v->value,
		.enabled = v->enabled, .running = v->running,
	};
	if (v->has_lost)
		event_note_lost(e, v->lost);
}

/*
 * Infer the read_format of an event that was opened before attach from the place of its id
 * in a read.  It stays unknown for groups and if several formats match.
 */
static void guess_format(struct event *e, const uint8_t *bytes, size_t len)
{
	static const struct {
		size_t words, id_at;	/* id_at 0: no id */
		uint64_t format;
	} shapes[] = {
		{ 1, 0, 0 },
		{ 2, 1, PERF_FORMAT_ID },
		{ 3, 1, PERF_FORMAT_ID | PERF_FORMAT_LOST },
		{ 4, 3, PERF_FORMAT_TOTAL_TIME_ENABLED |
			PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID },
		{ 5, 3, PERF_FORMAT_TOTAL_TIME_ENABLED |
			PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
			PERF_FORMAT_LOST },
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		size_t at = shapes[i].id_at;

		if (len != 8 * shapes[i].words ||
		    (at && (!e->id || load_uint(bytes + 8 * at, 8) != e->id)))
			continue;
		e->read_format = shapes[i].format;
		e->format_known = true;
		return;
	}
}

static void look_count_event(void *ctx, int its_fd, bool cloexec, struct event *e)
{
	uint8_t bytes[COUNT_MAX];
	const struct look *k = ctx;
	ssize_t n;
	int fd;

	(void)its_fd;
	(void)cloexec;
	learn_id(ctx, e);
	fd = borrow(k, e);
	if (fd < 0)
		return;
	n = ring_read_count(fd, bytes, sizeof(bytes));
	close(fd);
	if (n <= 0)
		return;
	if (!e->format_known)
		guess_format(e, bytes, (size_t)n);
	if (!e->format_known)
		return;
	read_format_each(bytes, (size_t)n, e->read_format, look_set_count, e);
	session_count(k->looker->session, e);
}

void look_count(struct looker *l, pid_t pid, pid_t tid, struct event *e)
{
	struct look k = { .looker = l, .pid = pid, .tid = tid };

	look_count_event(&k, -1, false, e);
}

void look_counts(struct looker *l, pid_t pid, pid_t tid)
{
	struct look k = { .looker = l, .pid = pid, .tid = tid };

	model_each_fd(l->session->model, tid, look_count_event, &k);
}
