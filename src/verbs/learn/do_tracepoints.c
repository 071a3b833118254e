// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/tracepoints.lesson */
#include <string.h>

#include "verbs/learn/judge.h"
#include "lessons/lessons.h"

enum { COUNTER = 0, SAMPLER };

#define POINT "task:task_rename"
#define FILTER "newcomm == \"beta\" || newcomm == \"gamma\""
#define ANY "type=PERF_TYPE_TRACEPOINT,sample_type=RAW,exclude_kernel,exclude_hv"
#define WRONG "newcom == \"beta\""

static const char *const names[] = { "alpha", "beta", "gamma" };

bool learn_tracepoints_prepare(struct learn *l)
{
	uint64_t id = 0;

	if (!learn_start_child(l, child_rename, 1))
		return false;
	for (size_t i = 0; i < 3; i++)
		strcpy(l->child->names[i], names[i]);
	learn_set(l, "names", "%s, %s, %s", names[0], names[1], names[2]);
	learn_set(l, "filter", "%s", FILTER);
	if (learn_get(l, "tracepoint") &&
	    !host_tracepoint_id(l->own_session.machine.host, POINT, &id))
		learn_set_number(l, "id", id);
	return learn_run_child(l);
}

bool learn_tracepoints_open(struct learn *l)
{
	return learn_open(l, COUNTER, POINT, l->child_pid, -1, -1);
}

bool learn_tracepoints_refused(struct learn *l)
{
	learn_refused(l, "refused", ANY ",config=5", l->child_pid, -1);
	return true;
}

bool learn_tracepoints_unknown(struct learn *l)
{
	learn_set_open_error(l, "unknown", ANY ",config=0xffffffff", l->child_pid, -1, -1);
	return true;
}

static bool count_renames(struct learn *l, const char *name)
{
	uint64_t n;

	if (!learn_run_child(l) || !learn_read(l, l->fds[COUNTER], &n))
		return false;
	learn_set_number(l, name, n);
	return true;
}

bool learn_tracepoints_count(struct learn *l)
{
	return count_renames(l, "count");
}

bool learn_tracepoints_sample(struct learn *l)
{
	int left = 2;

	if (!learn_open(l, SAMPLER, POINT ",sample_period=1,sample_type=TID|RAW", l->child_pid,
			-1, -1) ||
	    !learn_map(l, l->fds[SAMPLER], 1) || !learn_run_child(l))
		return false;
	learn_look(l, learn_first, &left);
	learn_unmap(l);
	return true;
}

bool learn_tracepoints_filter(struct learn *l)
{
	learn_ioctl(l, l->fds[COUNTER], PERF_EVENT_IOC_RESET, 0);
	if (learn_ioctl(l, l->fds[COUNTER], PERF_EVENT_IOC_SET_FILTER, (uintptr_t)FILTER) < 0)
		return learn_fail(l, "cannot set a filter");
	return count_renames(l, "filtered");
}

bool learn_tracepoints_bad(struct learn *l)
{
	int64_t got = learn_ioctl(l, l->fds[SAMPLER], PERF_EVENT_IOC_SET_FILTER,
				  (uintptr_t)WRONG);

	learn_set_error(l, "bad", got);
	return true;
}
