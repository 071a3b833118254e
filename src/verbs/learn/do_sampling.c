// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/sampling.lesson */
#include <poll.h>
#include <unistd.h>

#include "verbs/learn/learn.h"
#include "lessons/lessons.h"

enum {
	PERIOD = 10, TOUCHED = 50, RING = 4, LOSSY = 300, MS = 20, FEW = 3, TURNS = 50,
	SAMPLER = 0, LOSER, CLOCK,
};

bool learn_sampling_prepare(struct learn *l)
{
	learn_set(l, "period", "%d", PERIOD);
	learn_set(l, "touched", "%d", TOUCHED);
	learn_set(l, "pages", "%d", RING);
	return learn_start_child(l, child_touch, TOUCHED);
}

bool learn_sampling_open(struct learn *l)
{
	return learn_open(l, SAMPLER, "page-faults:u,sample_period=10,sample_type=IP|TID|TIME,"
			  "disabled,wakeup_events=1", l->child_pid, -1, -1);
}

bool learn_sampling_map(struct learn *l)
{
	if (!learn_map(l, l->fds[SAMPLER], RING))
		return false;
	learn_set(l, "length", "%zu", l->stream.rings[0].length);
	return true;
}

/* Count records, and note the size of the last one. */
static bool note_record_size(void *ctx, const struct learn_record *r)
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

	if (!learn_run_counted(l, l->fds[SAMPLER], 0) || !learn_read(l, l->fds[SAMPLER], &count))
		return false;
	learn_look(l, note_record_size, seen);
	learn_set_number(l, "count", count);
	learn_set(l, "samples", "%zu", seen[0]);
	learn_set(l, "size", "%zu", seen[1]);
	learn_set_number(l, "head", layout_get(&layout_perf_event_mmap_page,
					       PERF_EVENT_MMAP_PAGE_DATA_HEAD,
					       l->stream.rings[0].at, RING_PAGE_BYTES));
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
	const long now[2] = { 0 };	/* a timespec, in the size of the call */
	int64_t ready;

	l->child->times = PERIOD;
	if (!learn_run_counted(l, l->fds[SAMPLER], 0))
		return false;
	/* newer architectures have no poll(2) */
	ready = own_call(&l->own_session.own_calls, CALL_PPOLL, (const uint64_t[CALL_MAX_ARGS]){
		(uintptr_t)&p, 1, (uintptr_t)now,
	});
	learn_set_number(l, "ready", (uint64_t)ready);
	learn_unmap(l);
	return true;
}

#define FAULTS "page-faults:u,sample_period=1,sample_type=IP|TID|TIME"

/* PERF_FORMAT_LOST is refused before Linux 6.0: count the rest of the faults there. */
bool learn_sampling_lose(struct learn *l)
{
	uint64_t words[2] = { 0 };
	unsigned int kept = 0;
	bool lost_known;

	l->child->times = LOSSY;
	l->fds[LOSER] = learn_try_open(l, FAULTS ",read_format=LOST", l->child_pid, -1, -1);
	lost_known = l->fds[LOSER] >= 0;
	if ((!lost_known && !learn_open(l, LOSER, FAULTS, l->child_pid, -1, -1)) ||
	    !learn_map(l, l->fds[LOSER], 1) || !learn_run_child(l) ||
	    own_call_read(&l->own_session.own_calls, l->fds[LOSER], words, sizeof(words)) < 0)
		return false;
	learn_look(l, learn_count, &kept);
	learn_unmap(l);
	learn_set_number(l, "lossy", words[0]);
	learn_set_number(l, "lost", lost_known ? words[1] : words[0] - kept);
	learn_set(l, "kept", "%u", kept);
	return true;
}

bool learn_sampling_frequency(struct learn *l)
{
	int left = FEW;

	if (!learn_start_child(l, child_spin, MS))
		return false;
	if (!learn_open(l, CLOCK, "cpu-clock:u,sample_freq=500,sample_type=TIME|PERIOD",
			l->child_pid, -1, -1) ||
	    !learn_map(l, l->fds[CLOCK], 1))
		return false;
	/* on a busy machine a sample may come late */
	for (int n = 0; n < TURNS && left == FEW; n++) {
		if (!learn_run_child(l))
			return false;
		learn_look(l, learn_first, &left);
	}
	if (left < 0)
		learn_say(l, "[... %d more]", -left);
	learn_unmap(l);
	return true;
}
