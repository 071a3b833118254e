// SPDX-License-Identifier: LGPL-2.1-or-later
#include "experiment/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "engine/rings/ring.h"
#include "xlat/constants.h"

enum { READ_MAX = 16384 };	/* the kernel's limit for a group read */

static int *fd_of(struct batch *b, size_t target, size_t event)
{
	return &b->fds[target * b->events->n + event];
}

/* Open one event; return 0 or an errno. */
static int open_one(struct batch *b, size_t target, size_t event, batch_retry_fn *retry,
		    void *ctx)
{
	struct event_spec *e = &b->events->events[event];
	int group = e->leader == event ? -1 : batch_fd(b, target, e->leader);
	int fd;

	if (e->leader != event && group < 0)
		return b->errors[e->leader];
	do
		fd = own_call_open(b->own_calls, &e->attr, b->targets[target].pid,
				b->targets[target].cpu, group, b->flags);
	while (fd < 0 && retry && retry(ctx, e, -fd));
	if (fd < 0)
		return -fd;
	*fd_of(b, target, event) = fd;
	b->nopen++;
	return 0;
}

void batch_open(struct batch *b, batch_retry_fn *retry, void *ctx)
{
	size_t n = b->events->n;
	int error;

	b->fds = xcalloc(b->ntargets * n, sizeof(*b->fds));
	b->errors = xcalloc(n, sizeof(*b->errors));
	for (size_t i = 0; i < b->ntargets * n; i++)
		b->fds[i] = -1;
	for (size_t t = 0; t < b->ntargets; t++) {
		for (size_t i = 0; i < n; i++) {
			error = open_one(b, t, i, retry, ctx);
			if (error)
				b->errors[i] = error;
			if (error == EMFILE || error == ENFILE)
				return;
		}
	}
}

/* Return the ring that the event's records go to, or NULL. */
static struct stream_ring *shared_ring(struct stream *s, const struct target *t,
				       size_t target, bool backward)
{
	for (size_t i = 0; i < s->n; i++) {
		struct stream_ring *r = &s->rings[i];

		if (r->backward == backward && r->cpu == t->cpu &&
		    (t->cpu >= 0 || r->target == target))
			return r;
	}
	return NULL;
}

/* Tell the model the event's id: samples carry only the id. */
static void ask_id(struct batch *b, int fd)
{
	uint64_t id = 0;

	own_call_ioctl(b->own_calls, fd, PERF_EVENT_IOC_ID, (uintptr_t)&id);
}

static int map_one(struct batch *b, struct stream *s, size_t target, size_t event,
		   size_t pages)
{
	int fd = batch_fd(b, target, event), error = 0;
	const struct target *t = &b->targets[target];
	bool backward = event_get(&b->events->events[event], ATTR_WRITE_BACKWARD);
	struct stream_ring *r = shared_ring(s, t, target, backward);
	size_t length = (1 + pages) * (size_t)sysconf(_SC_PAGESIZE);
	void *at;

	if (r) {
		ask_id(b, fd);
		return (int)-own_call_ioctl(b->own_calls, fd, PERF_EVENT_IOC_SET_OUTPUT,
					 (uint64_t)r->fd);
	}
	at = own_call_map_at(b->own_calls, fd, length, 0, !backward, &error);
	if (!at)
		return error;
	stream_add(s, &(struct stream_ring){
		.fd = fd, .at = at, .length = length, .backward = backward,
		.cpu = t->cpu, .target = target,
	});
	if (b->events->n > 1)
		ask_id(b, fd);
	return 0;
}

int batch_map(struct batch *b, struct stream *s, size_t pages)
{
	int error = 0;

	for (size_t t = 0; !error && t < b->ntargets; t++)
		for (size_t i = 0; !error && i < b->events->n; i++)
			if (batch_fd(b, t, i) >= 0)
				error = map_one(b, s, t, i, pages);
	return error;
}

/* Map an AUX area beside the ring that the event's records go to. */
static int map_aux(struct batch *b, struct stream *s, size_t target, size_t event, size_t size,
		   bool snapshot)
{
	bool backward = event_get(&b->events->events[event], ATTR_WRITE_BACKWARD);
	struct stream_ring *r = shared_ring(s, &b->targets[target], target, backward);

	if (!r || r->aux.bytes || backward)
		return 0;
	return aux_map(&r->aux, b->own_calls, batch_fd(b, target, event), r->at, r->length, size,
		       snapshot);
}

int batch_map_aux(struct batch *b, struct stream *s, size_t pages, bool snapshot)
{
	size_t size = pages * (size_t)sysconf(_SC_PAGESIZE), areas = 0;
	int error = 0;

	for (size_t t = 0; t < b->ntargets; t++)
		for (size_t i = 0; i < b->events->n; i++) {
			if (batch_fd(b, t, i) < 0)
				continue;
			error = map_aux(b, s, t, i, size, snapshot);
			if (error && error != EOPNOTSUPP)
				return error;
		}
	for (size_t i = 0; i < s->n; i++)
		areas += s->rings[i].aux.bytes != NULL;
	return areas ? 0 : EOPNOTSUPP;
}

void batch_control(struct batch *b, uint32_t request)
{
	for (size_t t = 0; t < b->ntargets; t++)
		for (size_t i = 0; i < b->events->n; i++)
			if (b->events->events[i].leader == i && batch_fd(b, t, i) >= 0)
				own_call_ioctl(b->own_calls, batch_fd(b, t, i), request, 0);
}

/* Return the number of bytes that a read returns; members: open events of the group. */
static size_t batch_read_size(uint64_t format, size_t members)
{
	size_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	size_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	size_t size = format & PERF_FORMAT_GROUP ? 8 * (1 + times + members * each) :
		      8 * (times + each);

	return size < READ_MAX ? size : READ_MAX;
}

/* The read of an event. */
struct reading {
	const struct batch *b;
	size_t target, event;
	batch_value_fn *hook;
	void *ctx;
};

static bool is_open_member(const struct batch *b, size_t target, size_t event, size_t leader)
{
	return b->events->events[event].leader == leader && batch_fd(b, target, event) >= 0;
}

static bool reads_group(const struct batch *b, size_t event)
{
	return event_get(&b->events->events[event], ATTR_READ_FORMAT) & PERF_FORMAT_GROUP;
}

/* Pass on the count of the event itself, or of every member if it leads the group. */
static void batch_take(void *ctx, const struct read_value *v)
{
	const struct reading *r = ctx;
	size_t leader = r->b->events->events[r->event].leader, at = r->event, n = v->index;

	if (reads_group(r->b, r->event))
		for (at = leader; at < r->b->events->n; at++)
			if (is_open_member(r->b, r->target, at, leader) && !n--)
				break;
	if (at == r->event || (leader == r->event && at < r->b->events->n))
		r->hook(r->ctx, r->target, at, v);
}

static void read_one(struct reading *r, struct own_calls *own_calls, bool quiet)
{
	const struct batch *b = r->b;
	const struct event_spec *e = &b->events->events[r->event];
	uint64_t format = event_get(e, ATTR_READ_FORMAT);
	int fd = batch_fd(b, r->target, r->event);
	uint8_t bytes[READ_MAX];
	size_t members = 0, size;
	ssize_t got;

	for (size_t i = e->leader; i < b->events->n; i++)
		members += is_open_member(b, r->target, i, e->leader);
	size = batch_read_size(format, members);
	got = quiet ? ring_read_count(fd, bytes, size) : own_call_read(own_calls, fd, bytes, size);
	if (got > 0)
		read_format_each(bytes, (size_t)got, format, batch_take, r);
}

void batch_read(struct batch *b, bool quiet, batch_value_fn *hook, void *ctx)
{
	struct reading r = { .b = b, .hook = hook, .ctx = ctx };

	for (r.target = 0; r.target < b->ntargets; r.target++) {
		for (r.event = 0; r.event < b->events->n; r.event++) {
			size_t leader = b->events->events[r.event].leader;

			if (batch_fd(b, r.target, r.event) >= 0 &&
			    (leader == r.event || !reads_group(b, leader)))
				read_one(&r, b->own_calls, quiet);
		}
	}
}

void batch_close(struct batch *b)
{
	for (size_t i = 0; b->fds && i < b->ntargets * b->events->n; i++)
		if (b->fds[i] >= 0)
			own_call_close(b->own_calls, b->fds[i]);
	free(b->fds);
	free(b->errors);
	b->fds = b->errors = NULL;
	b->nopen = 0;
}
