// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/breakpoints.lesson */
#include <stdio.h>

#include "verbs/learn/learn.h"
#include "lessons/lessons.h"

enum { TIMES = 3, COUNTER = 0, SAMPLER, FIRST, IP_AT = 8, IPS = 8 };

static int open_breakpoint(struct learn *l, uint64_t addr, const char *more)
{
	char event[128];

	snprintf(event, sizeof(event), "mem:0x%llx/8:w:u%s", (unsigned long long)addr, more);
	return learn_try_open(l, event, l->child_pid, -1, -1);
}

static uint64_t variable_address(const struct learn *l)
{
	return (uintptr_t)&l->child->variable;
}

bool learn_breakpoints_prepare(struct learn *l)
{
	if (!learn_start_child(l, child_write, TIMES))
		return false;
	learn_set(l, "times", "%d", TIMES);
	learn_set_hex(l, "address", variable_address(l));
	return true;
}

bool learn_breakpoints_open(struct learn *l)
{
	l->fds[COUNTER] = open_breakpoint(l, variable_address(l), "");
	if (l->fds[COUNTER] >= 0)
		learn_set(l, "worked", "yes");
	learn_set_error(l, "refused", l->fds[COUNTER]);
	return true;
}

bool learn_breakpoints_run(struct learn *l)
{
	uint64_t count;

	if (!learn_run_child(l) || !learn_read(l, l->fds[COUNTER], &count))
		return false;
	learn_set_number(l, "count", count);
	return true;
}

/* Different instruction pointers in samples. */
struct places {
	uint64_t ips[IPS];
	unsigned int n;
};

static bool note_ip(void *ctx, const struct learn_record *r)
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

	l->fds[SAMPLER] = open_breakpoint(l, variable_address(l),
					  ",sample_period=1,sample_type=IP|TID|ADDR");
	if (l->fds[SAMPLER] < 0)
		return learn_fail(l, "cannot open a second breakpoint: %s",
				  learn_error(l->fds[SAMPLER]));
	if (!learn_map(l, l->fds[SAMPLER], 1) || !learn_run_child(l))
		return false;
	learn_look(l, note_ip, &p);
	learn_unmap(l);
	learn_close_slot(l, SAMPLER);
	learn_set(l, "alike", "%s", p.n == 1 ? "yes" : "no");
	learn_set(l, "places", "%u", p.n);
	return true;
}

bool learn_breakpoints_odd(struct learn *l)
{
	int fd = open_breakpoint(l, variable_address(l) + 1, "");

	if (fd >= 0)
		learn_close(l, fd);
	learn_set_error(l, "odd", fd);
	return true;
}

bool learn_breakpoints_many(struct learn *l)
{
	int n = 0, fd = -1;

	while (FIRST + n < LEARN_FDS) {
		fd = open_breakpoint(l, variable_address(l) + 8 * (uint64_t)n, "");
		if (fd < 0)
			break;
		l->fds[FIRST + n++] = fd;
	}
	for (int i = 0; i < n; i++) {
		learn_close_slot(l, FIRST + i);
	}
	learn_set(l, "slots", "%d", n + 1);
	learn_set(l, "full", "%s", fd < 0 ? learn_error(fd) : "nothing yet");
	return true;
}
