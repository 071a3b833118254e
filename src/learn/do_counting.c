// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/counting.lesson */
#include "learn/learn.h"
#include "lessons/lessons.h"

enum { PAGES = 25, COUNTER = 0 };

bool learn_counting_prepare(struct learn *l)
{
	if (!learn_worker(l, child_touch, PAGES))
		return false;
	learn_set(l, "task", "%d", (int)l->task);
	learn_set(l, "pages", "%d", PAGES);
	return true;
}

bool learn_counting_open(struct learn *l)
{
	l->fds[COUNTER] = learn_open(l, "page-faults:u,disabled", l->task, -1, -1);
	return l->fds[COUNTER] >= 0;
}

bool learn_counting_peek(struct learn *l)
{
	uint64_t count;

	if (!learn_work(l) || !learn_read(l, l->fds[COUNTER], &count))
		return false;
	learn_set(l, "before", "%llu", (unsigned long long)count);
	return true;
}

bool learn_counting_run(struct learn *l)
{
	return learn_work_counted(l, l->fds[COUNTER], 0);
}

bool learn_counting_read(struct learn *l)
{
	uint64_t count;

	if (!learn_read(l, l->fds[COUNTER], &count))
		return false;
	learn_set(l, "count", "%llu", (unsigned long long)count);
	learn_set(l, "bytes", "%lld", (long long)l->own_session.own_calls.call.ret);
	if (count == PAGES)
		learn_set(l, "exact", "yes");
	return true;
}

bool learn_counting_again(struct learn *l)
{
	uint64_t second, reset;

	if (!learn_counting_run(l) || !learn_read(l, l->fds[COUNTER], &second))
		return false;
	learn_ioctl(l, l->fds[COUNTER], PERF_EVENT_IOC_RESET, 0);
	if (!learn_read(l, l->fds[COUNTER], &reset))
		return false;
	learn_set(l, "second", "%llu", (unsigned long long)second);
	learn_set(l, "reset", "%llu", (unsigned long long)reset);
	return true;
}

bool learn_counting_close(struct learn *l)
{
	learn_close(l, l->fds[COUNTER]);
	l->fds[COUNTER] = -1;
	return true;
}

bool learn_counting_nobody(struct learn *l)
{
	int fd = learn_try_open(l, "page-faults:u,disabled", -1, -1, -1);

	if (fd >= 0)
		learn_close(l, fd);
	learn_set(l, "nobody", "%s", fd < 0 ? learn_error(fd) : "none");
	return true;
}
