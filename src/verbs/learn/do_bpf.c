// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/bpf.lesson */
#include <string.h>
#include <unistd.h>

#include "engine/rings/bpf.h"
#include "verbs/learn/learn.h"
#include "lessons/lessons.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

enum { TOUCHED = 5, NAMES = 3, MOST = 8, SAMPLER = 0, POINT };

/* Attach a program that returns 0; the event holds it. */
static bool attach(struct learn *l, int fd, uint32_t type)
{
	int program = bpf_load(type, 0);
	int64_t got;

	if (program < 0)
		return learn_fail(l, "cannot load a BPF program: %s", learn_error(program));
	got = learn_ioctl(l, fd, PERF_EVENT_IOC_SET_BPF, (uint64_t)program);
	close(program);
	return got >= 0 || learn_fail(l, "cannot attach a BPF program: %s", learn_error(got));
}

bool learn_bpf_prepare(struct learn *l)
{
	if (learn_get(l, "bpf") && learn_get(l, "tracepoint"))
		learn_set(l, "point", "yes");
	learn_set(l, "touched", "%d", TOUCHED);
	learn_set(l, "names", "%d", NAMES);
	return learn_start_child(l, child_touch, TOUCHED);
}

bool learn_bpf_open(struct learn *l)
{
	return learn_open(l, SAMPLER, "page-faults:u,sample_period=1,sample_type=IP|TID,disabled",
			  l->child_pid, -1, -1) && learn_map(l, l->fds[SAMPLER], 1);
}

/* Let the child work; set the event's count, and the number of new samples. */
static bool count(struct learn *l, const char *counted, const char *sampled)
{
	unsigned int samples = 0;
	uint64_t n;

	if (!learn_run_counted(l, l->fds[SAMPLER], 0) || !learn_read(l, l->fds[SAMPLER], &n))
		return false;
	learn_look(l, learn_count, &samples);
	learn_set_number(l, counted, n);
	learn_set_number(l, sampled, samples);
	return true;
}

bool learn_bpf_plain(struct learn *l)
{
	return count(l, "count", "samples");
}

bool learn_bpf_attach(struct learn *l)
{
	return attach(l, l->fds[SAMPLER], BPF_PROG_TYPE_PERF_EVENT);
}

bool learn_bpf_drop(struct learn *l)
{
	return count(l, "both", "dropped");
}

bool learn_bpf_point(struct learn *l)
{
	static const char *const names[NAMES] = { "alpha", "beta", "gamma" };
	uint64_t n;

	learn_unmap(l);
	learn_close_slot(l, SAMPLER);
	learn_end_child(l);
	if (!learn_start_child(l, child_rename, 1))
		return false;
	for (size_t i = 0; i < NAMES; i++)
		strcpy(l->child->names[i], names[i]);
	if (!learn_open(l, POINT, "task:task_rename", l->child_pid, -1, -1) ||
	    !attach(l, l->fds[POINT], BPF_PROG_TYPE_TRACEPOINT) || !learn_run_child(l) ||
	    !learn_read(l, l->fds[POINT], &n))
		return false;
	learn_set_number(l, "renames", n);
	return true;
}

bool learn_bpf_query(struct learn *l)
{
	uint32_t list[2 + MOST] = { MOST };	/* struct perf_event_query_bpf */

	if (learn_ioctl(l, l->fds[POINT], PERF_EVENT_IOC_QUERY_BPF, (uintptr_t)list) < 0)
		return learn_fail(l, "cannot list the BPF programs");
	learn_set_number(l, "programs", list[1]);
	return true;
}
