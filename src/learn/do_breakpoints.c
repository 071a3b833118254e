// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/breakpoints.lesson */
#include <stdio.h>

#include "learn/learn.h"
#include "lessons/lessons.h"

enum { TIMES = 3, COUNTER = 0, SAMPLER, FIRST, IP_AT = 8, IPS = 8 };

static int watch(struct learn *l, uint64_t addr, const char *more)
{
	char event[128];

	snprintf(event, sizeof(event), "mem:0x%llx/8:w:u%s", (unsigned long long)addr, more);
	return learn_try_open(l, event, l->task, -1, -1);
}

static uint64_t variable(const struct learn *l)
{
	return (uintptr_t)&l->chore->variable;
}

bool learn_breakpoints_prepare(struct learn *l)
{
	if (!learn_worker(l, child_write, TIMES))
		return false;
	learn_set(l, "times", "%d", TIMES);
	learn_set(l, "address", "0x%llx", (unsigned long long)variable(l));
	return true;
}

bool learn_breakpoints_open(struct learn *l)
{
	l->fds[COUNTER] = watch(l, variable(l), "");
	if (l->fds[COUNTER] >= 0)
		learn_set(l, "worked", "yes");
	return true;
}

bool learn_breakpoints_run(struct learn *l)
{
	uint64_t count;

	if (!learn_work(l) || !learn_read(l, l->fds[COUNTER], &count))
		return false;
	learn_set(l, "count", "%llu", (unsigned long long)count);
	return true;
}

struct places {
	uint64_t ips[IPS];
	unsigned int n;
};

static bool take(void *ctx, const struct learn_record *r)
{
	struct places *p = ctx;
	uint64_t ip = r->len >= IP_AT + 8 ? load_uint(r->bytes + IP_AT, 8) : 0;

	for (unsigned int i = 0; i < p->n; i++)
		if (p->ips[i] == ip)
			return true;
	if (p->n < IPS)
		p->ips[p->n++] = ip;
	return true;
}

bool learn_breakpoints_sample(struct learn *l)
{
	struct places p = { .n = 0 };

	l->fds[SAMPLER] = watch(l, variable(l), ",sample_period=1,sample_type=IP|TID|ADDR");
	if (l->fds[SAMPLER] < 0)
		return learn_fail(l, "a second breakpoint is refused (%s)",
				  learn_error(l->fds[SAMPLER]));
	if (!learn_map(l, l->fds[SAMPLER], 1) || !learn_work(l))
		return false;
	learn_look(l, take, &p);
	learn_unmap(l);
	learn_close(l, l->fds[SAMPLER]);
	l->fds[SAMPLER] = -1;
	learn_set(l, "alike", "%s", p.n == 1 ? "yes" : "no");
	learn_set(l, "places", "%u", p.n);
	return true;
}

bool learn_breakpoints_odd(struct learn *l)
{
	int fd = watch(l, variable(l) + 1, "");

	if (fd >= 0)
		learn_close(l, fd);
	learn_set(l, "odd", "%s", fd < 0 ? learn_error(fd) : "none");
	return true;
}

bool learn_breakpoints_many(struct learn *l)
{
	int n = 0, fd = -1;

	while (FIRST + n < LEARN_FDS) {
		fd = watch(l, variable(l) + 8 * (uint64_t)n, "");
		if (fd < 0)
			break;
		l->fds[FIRST + n++] = fd;
	}
	for (int i = 0; i < n; i++) {
		learn_close(l, l->fds[FIRST + i]);
		l->fds[FIRST + i] = -1;
	}
	learn_set(l, "slots", "%d", n + 1);
	learn_set(l, "full", "%s", fd < 0 ? learn_error(fd) : "nothing yet");
	return true;
}
