// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/counting.lesson */
#include "verbs/learn/learn.h"
#include "lessons/lessons.h"

enum { PAGES = 25, COUNTER = 0 };

bool learn_counting_prepare(struct learn *l)
{
	if (!learn_start_child(l, child_touch, PAGES))
		return false;
	learn_set(l, "task", "%d", (int)l->child_pid);
	learn_set(l, "pages", "%d", PAGES);
	return true;
}

bool learn_counting_open(struct learn *l)
{
	return learn_open(l, COUNTER, "page-faults:u,disabled", l->child_pid, -1, -1);
}

bool learn_counting_peek(struct learn *l)
{
	uint64_t count;

	if (!learn_run_child(l) || !learn_read(l, l->fds[COUNTER], &count))
		return false;
	learn_set_number(l, "before", count);
	return true;
}

bool learn_counting_run(struct learn *l)
{
	return learn_run_counted(l, l->fds[COUNTER], 0);
}

bool learn_counting_read(struct learn *l)
{
	uint64_t count;

	if (!learn_read(l, l->fds[COUNTER], &count))
		return false;
	learn_set_number(l, "count", count);
	learn_set_number(l, "bytes", (uint64_t)learn_last_result(l));
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
	learn_set_number(l, "second", second);
	learn_set_number(l, "reset", reset);
	return true;
}

bool learn_counting_close(struct learn *l)
{
	learn_close_slot(l, COUNTER);
	return true;
}

bool learn_counting_nobody(struct learn *l)
{
	learn_set_open_error(l, "nobody", "page-faults:u,disabled", -1, -1, -1);
	return true;
}
