// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/session/inflight.h"

void inflights_init(struct inflights *l)
{
	*l = (struct inflights){ 0 };
	l->head.prev = l->head.next = &l->head;
}

void inflights_free(struct inflights *l)
{
	map_free(&l->by_tid);
}

void inflight_add(struct inflights *l, struct inflight *p, pid_t tid, uint64_t enter_ns)
{
	p->tid = tid;
	p->enter_ns = enter_ns;
	p->split = false;
	p->prev = l->head.prev;
	p->next = &l->head;
	p->prev->next = p->next->prev = p;
	map_set(&l->by_tid, (uint64_t)tid, p);
}

struct inflight *inflight_get(const struct inflights *l, pid_t tid)
{
	return map_get(&l->by_tid, (uint64_t)tid);
}

struct inflight *inflight_take(struct inflights *l, pid_t tid)
{
	struct inflight *p = map_del(&l->by_tid, (uint64_t)tid);

	if (p) {
		p->prev->next = p->next;
		p->next->prev = p->prev;
	}
	return p;
}

struct inflight *inflight_rename(struct inflights *l, pid_t former, pid_t tid)
{
	struct inflight *p, *before;

	if (former == tid)
		return NULL;
	p = map_del(&l->by_tid, (uint64_t)former);
	if (!p)
		return NULL;
	before = inflight_take(l, tid);
	p->tid = tid;
	map_set(&l->by_tid, (uint64_t)tid, p);
	return before;
}

void inflights_join(struct inflights *l)
{
	for (struct inflight *p = l->head.next; p != &l->head; p = p->next)
		p->split = false;
}

void inflight_split(struct inflights *l, uint64_t ns, pid_t tid,
		    void (*write)(void *ctx, struct inflight *p), void *ctx)
{
	for (struct inflight *p = l->head.next; p != &l->head; p = p->next) {
		if (p->enter_ns > ns || l->held)
			break;
		if (p->split || p->tid == tid)
			continue;
		write(ctx, p);
		p->split = true;
	}
}
