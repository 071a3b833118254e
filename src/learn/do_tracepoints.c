// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/tracepoints.lesson */
#include <string.h>

#include "learn/judge.h"
#include "lessons/lessons.h"

enum { COUNTER = 0, SAMPLER };

#define POINT "task:task_rename"
#define FILTER "newcomm == \"beta\" || newcomm == \"gamma\""
#define WRONG "newcom == \"beta\""

static const char *const names[] = { "alpha", "beta", "gamma" };

bool learn_tracepoints_prepare(struct learn *l)
{
	uint64_t id = 0;

	if (!learn_worker(l, child_rename, 1))
		return false;
	for (size_t i = 0; i < 3; i++)
		strcpy(l->chore->names[i], names[i]);
	learn_set(l, "names", "%s, %s, %s", names[0], names[1], names[2]);
	learn_set(l, "filter", "%s", FILTER);
	if (learn_get(l, "tracepoint") &&
	    !host_tracepoint_id(l->own_session.machine.host, POINT, &id))
		learn_set(l, "id", "%llu", (unsigned long long)id);
	return learn_work(l);
}

bool learn_tracepoints_open(struct learn *l)
{
	l->fds[COUNTER] = learn_open(l, POINT, l->task, -1, -1);
	return l->fds[COUNTER] >= 0;
}

bool learn_tracepoints_refused(struct learn *l)
{
	learn_refused(l, "refused", "type=PERF_TYPE_TRACEPOINT,config=1,sample_type=RAW,"
		      "exclude_kernel,exclude_hv", l->task, -1);
	return true;
}

static bool count(struct learn *l, const char *name)
{
	uint64_t n;

	if (!learn_work(l) || !learn_read(l, l->fds[COUNTER], &n))
		return false;
	learn_set(l, name, "%llu", (unsigned long long)n);
	return true;
}

bool learn_tracepoints_count(struct learn *l)
{
	return count(l, "count");
}

bool learn_tracepoints_sample(struct learn *l)
{
	int left = 2;

	l->fds[SAMPLER] = learn_open(l, POINT ",sample_period=1,sample_type=TID|RAW", l->task,
				     -1, -1);
	if (l->fds[SAMPLER] < 0 || !learn_map(l, l->fds[SAMPLER], 1) || !learn_work(l))
		return false;
	learn_look(l, learn_first, &left);
	learn_unmap(l);
	return true;
}

bool learn_tracepoints_filter(struct learn *l)
{
	learn_ioctl(l, l->fds[COUNTER], PERF_EVENT_IOC_RESET, 0);
	if (learn_ioctl(l, l->fds[COUNTER], PERF_EVENT_IOC_SET_FILTER, (uintptr_t)FILTER) < 0)
		return learn_fail(l, "the kernel takes no filters");
	return count(l, "filtered");
}

bool learn_tracepoints_bad(struct learn *l)
{
	int64_t got = learn_ioctl(l, l->fds[SAMPLER], PERF_EVENT_IOC_SET_FILTER,
				  (uintptr_t)WRONG);

	learn_set(l, "bad", "%s", got < 0 ? learn_error(got) : "none");
	return true;
}
