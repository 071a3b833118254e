// SPDX-License-Identifier: LGPL-2.1-or-later
#include "experiment/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "engine/rings/ring.h"
#include "xlat/constants.h"

enum { READ_MAX = 16384 };	/* the kernel's limit for a group read */

void batch_open(struct batch *b, batch_retry_fn *retry, void *ctx)
{
	size_t n = b->events->n;

	b->fds = xcalloc(b->ntargets * n, sizeof(*b->fds));
	b->errors = xcalloc(n, sizeof(*b->errors));
	for (size_t i = 0; i < b->ntargets * n; i++)
		b->fds[i] = -1;
	for (size_t t = 0; t < b->ntargets; t++) {
		for (size_t i = 0; i < n; i++) {
			struct event_spec *e = &b->events->events[i];
			const struct target *on = &b->targets[t];
			int group = e->leader == i ? -1 : batch_fd(b, t, e->leader), fd;

			if (e->leader != i && group < 0) {
				b->errors[i] = b->errors[e->leader];
				continue;
			}
			do
				fd = own_call_open(b->own_calls, &e->attr, on->pid, on->cpu, group,
						   b->flags);
			while (fd < 0 && retry && retry(ctx, e, -fd));
			if (fd < 0)
				b->errors[i] = -fd;
			if (fd == -EMFILE || fd == -ENFILE)
				return;
			if (fd < 0)
				continue;
			b->fds[t * n + i] = fd;
			b->nopen++;
		}
	}
}

/* Return the ring that the event's records go to, or NULL. */
static struct stream_ring *shared_ring(struct stream *s, const struct target *t,
				       size_t target, bool backward)
{
	for_each(r, s->rings, s->n)
		if (r->backward == backward && r->cpu == t->cpu &&
		    (t->cpu >= 0 || r->target == target))
			return r;
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

int batch_map_aux(struct batch *b, struct stream *s, size_t pages, bool snapshot)
{
	size_t size = pages * (size_t)sysconf(_SC_PAGESIZE), areas = 0;
	int error = 0;

	for (size_t t = 0; t < b->ntargets; t++)
		for (size_t i = 0; i < b->events->n; i++) {
			bool backward = event_get(&b->events->events[i], ATTR_WRITE_BACKWARD);
			struct stream_ring *r = shared_ring(s, &b->targets[t], t, backward);

			if (batch_fd(b, t, i) < 0 || !r || r->aux.bytes || backward)
				continue;
			error = aux_map(&r->aux, b->own_calls, batch_fd(b, t, i), r->at, r->length,
					size, snapshot);
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

void batch_read(struct batch *b, bool quiet, batch_value_fn *hook, void *ctx)
{
	struct reading r = { .b = b, .hook = hook, .ctx = ctx };
	uint8_t bytes[READ_MAX];
	ssize_t got;

	for (r.target = 0; r.target < b->ntargets; r.target++) {
		for (r.event = 0; r.event < b->events->n; r.event++) {
			const struct event_spec *e = &b->events->events[r.event];
			uint64_t format = event_get(e, ATTR_READ_FORMAT);
			size_t each = 1 + !!(format & PERF_FORMAT_ID) +
				      !!(format & PERF_FORMAT_LOST);
			bool group = format & PERF_FORMAT_GROUP;
			size_t size = 8 * (!!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
					   !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING) +
					   (group ? 1 : each));
			int fd = batch_fd(b, r.target, r.event);

			if (fd < 0 || (e->leader != r.event && reads_group(b, e->leader)))
				continue;
			for (size_t i = e->leader; group && i < b->events->n; i++)
				if (is_open_member(b, r.target, i, e->leader))
					size += 8 * each;
			if (size > READ_MAX)
				size = READ_MAX;
			got = quiet ? ring_read_count(fd, bytes, size) :
			      own_call_read(b->own_calls, fd, bytes, size);
			if (got > 0)
				read_format_each(bytes, (size_t)got, format, batch_take, &r);
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
