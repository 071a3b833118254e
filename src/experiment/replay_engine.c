// SPDX-License-Identifier: LGPL-2.1-or-later
#include "experiment/replay_engine_internal.h"

#include <stdlib.h>

#include "core/abi/call_decode.h"
#include "core/lib/die.h"
#include "xlat/tables.h"

/* State of a call from its enter to its exit. */
struct pending {
	bool concerns;
	struct replayed_fd *closing;
};

/* Unmap all rings, or those that are unmapped in the dump. */
static void unmap_rings(struct replay_engine *r, bool all)
{
	uint64_t *ended = xcalloc(r->rings.len + 1, sizeof(*ended));
	struct map_slot *slot;
	size_t at = 0, n = 0;

	while ((slot = map_next(&r->rings, &at))) {
		struct ring *ring = model_ring(r->model, (unsigned int)slot->key);

		if (all || !ring || ring->unmapped)
			ended[n++] = slot->key;
	}
	for (size_t i = 0; i < n; i++) {
		struct replayed_ring *own = map_del(&r->rings, ended[i]);

		own_call_unmap(r->own_calls, (void *)(uintptr_t)own->at, own->len);
		free(own);
	}
	free(ended);
}

/* Close and unmap the events and rings that are closed and unmapped in the dump. */
static void replay_settle(struct replay_engine *r)
{
	r->unsettled = false;
	unmap_rings(r, false);
	replay_engine_close_fds(r, false);
}

/* Keep the new descriptor or ring only if the call created one in the dump, too. */
static void keep_result(struct replay_engine *r, const struct call *c, const struct replayed *a)
{
	enum call_result kind = call_result_kind(c);
	struct ring *ring;

	if (!a->made || a->result < 0 || (kind != RESULT_FD && kind != RESULT_ADDR))
		return;
	if (kind == RESULT_FD) {
		/* dup2 onto itself creates no descriptor */
		if (!(c->desc->id == CALL_DUP2 && call_int(c, 0) == call_int(c, 1)))
			replay_engine_fd_add(r, c, c->failed ? -1 : (int)c->ret, (int)a->result);
		return;
	}
	ring = c->failed ? NULL : model_mapping_at(r->model, c->tid, (uint64_t)c->ret,
						   (uint64_t)c->ret + call_word(c, 1));
	if (!ring) {
		own_call_unmap(r->own_calls, (void *)(uintptr_t)a->result, call_word(c, 1));
	} else {
		struct replayed_ring *own = xcalloc(1, sizeof(*own)), *was;

		*own = (struct replayed_ring){ (uint64_t)a->result, call_word(c, 1) };
		was = map_set(&r->rings, ring->number, own);
		if (was) /* the dump maps it twice at one address */
			own_call_unmap(r->own_calls, (void *)(uintptr_t)was->at, was->len);
		free(was);
	}
}

void replay_engine_enter(struct replay_engine *r, const struct call *c)
{
	struct pending *p = xcalloc(1, sizeof(*p));

	if (r->unsettled)
		replay_settle(r);
	p->concerns = model_concerns(r->model, c);
	if (c->desc->id == CALL_CLOSE && !c->inject.injected) {
		p->closing = replay_engine_fd_exact(r, c, call_int(c, 0));
		if (p->closing)
			p->closing->closing = true;
	}
	free(map_set(&r->pending, (uint64_t)c->tid, p));
}

struct replayed replay_engine_before_exit(struct replay_engine *r, const struct call *c)
{
	struct pending *p = map_del(&r->pending, (uint64_t)c->tid);
	struct replayed a = { 0 };

	if (r->unsettled)
		replay_settle(r);
	if (p && p->concerns && c->returned)
		a = replay_engine_call(r, c, p->closing);
	else if (p && p->closing)
		p->closing->closing = false;
	free(p);
	return a;
}

void replay_engine_exit(struct replay_engine *r, const struct call *c,
			const struct replayed *a)
{
	keep_result(r, c, a);
	if (c->desc->id == CALL_CLOSE_RANGE || c->desc->id == CALL_MUNMAP ||
	    c->desc->id == CALL_DUP2 || c->desc->id == CALL_DUP3)
		replay_settle(r);
}

/* The model learns of an exec, and of the end of a task, after the views. */
void replay_engine_execed(struct replay_engine *r)
{
	r->unsettled = true;
}

void replay_engine_gone(struct replay_engine *r, pid_t tid)
{
	struct pending *p = map_del(&r->pending, (uint64_t)tid);

	if (p && p->closing)
		p->closing->closing = false;
	free(p);
	r->unsettled = true;
}

int replay_engine_init(struct replay_engine *r)
{
	int error = fence_make(&r->memory, FENCE_SIZE);

	return error ? error : fence_make(&r->string, FENCE_SIZE);
}

void replay_engine_free(struct replay_engine *r)
{
	unmap_rings(r, true);
	replay_engine_close_fds(r, true);
	stand_ins_end(&r->stand_ins);
	map_free_values(&r->pending);
	map_free(&r->by_fd);
	map_free(&r->by_event);
	map_free(&r->rings);
	fence_free(&r->memory);
	fence_free(&r->string);
}
