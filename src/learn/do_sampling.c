// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/sampling.lesson */
#include <poll.h>
#include <unistd.h>

#include "learn/learn.h"
#include "lessons/lessons.h"

enum {
	PERIOD = 10, TOUCHED = 50, RING = 4, LOSSY = 300, MS = 20, FEW = 3,
	SAMPLER = 0, LOSER, CLOCK,
};

bool learn_sampling_prepare(struct learn *l)
{
	learn_set(l, "period", "%d", PERIOD);
	learn_set(l, "touched", "%d", TOUCHED);
	learn_set(l, "pages", "%d", RING);
	return learn_worker(l, child_touch, TOUCHED);
}

bool learn_sampling_open(struct learn *l)
{
	l->fds[SAMPLER] = learn_open(l, "page-faults:u,sample_period=10,sample_type=IP|TID|TIME,"
				     "disabled,wakeup_events=1", l->task, -1, -1);
	return l->fds[SAMPLER] >= 0;
}

bool learn_sampling_map(struct learn *l)
{
	if (!learn_map(l, l->fds[SAMPLER], RING))
		return false;
	learn_set(l, "length", "%zu", l->stream.rings[0].length);
	return true;
}

/* Tells how long the last one was. */
static bool measure(void *ctx, const struct learn_record *r)
{
	size_t *seen = ctx;

	seen[0]++;
	seen[1] = r->len;
	return true;
}

bool learn_sampling_run(struct learn *l)
{
	size_t seen[2] = { 0 };
	uint64_t count;

	if (!learn_work_counted(l, l->fds[SAMPLER], 0) || !learn_read(l, l->fds[SAMPLER], &count))
		return false;
	learn_look(l, measure, seen);
	learn_set(l, "count", "%llu", (unsigned long long)count);
	learn_set(l, "samples", "%zu", seen[0]);
	learn_set(l, "size", "%zu", seen[1]);
	learn_set(l, "head", "%llu", (unsigned long long)
		  load_uint((uint8_t *)l->stream.rings[0].at + layout_perf_event_mmap_page
			    .fields[PERF_EVENT_MMAP_PAGE_DATA_HEAD].offset, 8));
	return true;
}

bool learn_sampling_page(struct learn *l)
{
	learn_page(l, &l->stream.rings[0], (const unsigned int[]){
		PERF_EVENT_MMAP_PAGE_DATA_HEAD, PERF_EVENT_MMAP_PAGE_DATA_TAIL,
		PERF_EVENT_MMAP_PAGE_DATA_OFFSET, PERF_EVENT_MMAP_PAGE_DATA_SIZE,
	}, 4);
	return true;
}

bool learn_sampling_poll(struct learn *l)
{
	struct pollfd p = { .fd = l->fds[SAMPLER], .events = POLLIN };
	int64_t ready;

	l->chore->times = PERIOD;
	if (!learn_work_counted(l, l->fds[SAMPLER], 0))
		return false;
	ready = own_call(&l->own_session.own_calls, CALL_POLL, (const uint64_t[CALL_MAX_ARGS]){
		(uintptr_t)&p, 1, 0,
	});
	learn_set(l, "ready", "%lld", (long long)ready);
	learn_unmap(l);
	return true;
}

bool learn_sampling_lose(struct learn *l)
{
	uint64_t words[2] = { 0 };
	unsigned int kept = 0;

	l->chore->times = LOSSY;
	l->fds[LOSER] = learn_open(l, "page-faults:u,sample_period=1,sample_type=IP|TID|TIME,"
				   "read_format=LOST", l->task, -1, -1);
	if (l->fds[LOSER] < 0 || !learn_map(l, l->fds[LOSER], 1) || !learn_work(l) ||
	    own_call_read(&l->own_session.own_calls, l->fds[LOSER], words, sizeof(words)) < 0)
		return false;
	learn_look(l, learn_count, &kept);
	learn_unmap(l);
	learn_set(l, "lossy", "%llu", (unsigned long long)words[0]);
	learn_set(l, "lost", "%llu", (unsigned long long)words[1]);
	learn_set(l, "kept", "%u", kept);
	return true;
}

bool learn_sampling_frequency(struct learn *l)
{
	int left = FEW;

	if (!learn_worker(l, child_spin, MS))
		return false;
	l->fds[CLOCK] = learn_open(l, "cpu-clock:u,sample_freq=500,sample_type=TIME|PERIOD",
				   l->task, -1, -1);
	if (l->fds[CLOCK] < 0 || !learn_map(l, l->fds[CLOCK], 1) || !learn_work(l))
		return false;
	learn_look(l, learn_first, &left);
	if (left < 0)
		learn_say(l, "[... %d more]", -left);
	learn_unmap(l);
	return true;
}
