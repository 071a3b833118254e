// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/groups.lesson */
#include <sched.h>

#include "verbs/learn/learn.h"
#include "lessons/lessons.h"

enum { PAGES = 20, MS = 10, MANY = 12, LEADER = 0, MEMBER, CLOCK, FIRST };

#define FORMAT "read_format=GROUP|ID"
#define TIMES "read_format=TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING"

/* Return the lowest CPU in our affinity mask, and count the CPUs in it. */
static int first_cpu(int *count)
{
	cpu_set_t allowed;
	int cpu = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET((size_t)cpu, &allowed))
		cpu++;
	*count = CPU_COUNT(&allowed);
	return cpu;
}

bool learn_groups_prepare(struct learn *l)
{
	int count;

	learn_set(l, "cpu", "%d", first_cpu(&count));
	if (count > 1)
		learn_set(l, "moved", "yes");
	learn_set(l, "pages", "%d", PAGES);
	learn_set(l, "members", "2");
	learn_set(l, "many", "%d", MANY);
	learn_set(l, "ms", "%d", MS);
	learn_set(l, "both", "%d", 2 * MS);
	return learn_start_child(l, child_touch, PAGES);
}

bool learn_groups_open(struct learn *l)
{
	if (!learn_open(l, LEADER, "page-faults:u,disabled," FORMAT, l->child_pid, -1, -1))
		return false;
	return learn_open(l, MEMBER, "task-clock:u," FORMAT, l->child_pid, -1, l->fds[LEADER]);
}

bool learn_groups_run(struct learn *l)
{
	uint64_t nr;

	return learn_run_counted(l, l->fds[LEADER], PERF_IOC_FLAG_GROUP) &&
	       learn_read(l, l->fds[LEADER], &nr);
}

bool learn_groups_wrong(struct learn *l)
{
	learn_set_open_error(l, "wrong", "dummy:u", l->child_pid, -1, l->fds[MEMBER]);
	return true;
}

/* Open more events than there are counters, or one if there are none. */
bool learn_groups_hardware(struct learn *l)
{
	int many = learn_get(l, "hardware") ? MANY : 1;
	uint64_t count;
	bool worked = true;

	if (!learn_start_child(l, child_spin, MS))
		return false;
	for (int i = 0; i < many; i++)
		l->fds[FIRST + i] = learn_try_open(l, "cpu-cycles:u," TIMES, l->child_pid, -1, -1);
	if (l->fds[FIRST] >= 0)
		worked = learn_run_child(l);
	for (int i = 0; i < many; i++) {
		if (l->fds[FIRST + i] < 0)
			continue;
		if (!learn_read(l, l->fds[FIRST + i], &count))
			return false;
		learn_close_slot(l, FIRST + i);
	}
	return worked;
}

bool learn_groups_move(struct learn *l)
{
	uint64_t words[3] = { 0 };
	int count, cpu = first_cpu(&count);

	if (!learn_start_child(l, child_move, 0))
		return false;
	l->child->cpu = cpu;
	l->child->times = MS;
	if (!learn_open(l, CLOCK, "task-clock:u,disabled," TIMES, l->child_pid, cpu, -1))
		return false;
	if (!learn_run_counted(l, l->fds[CLOCK], 0) ||
	    own_call_read(&l->own_session.own_calls, l->fds[CLOCK], words, sizeof(words)) < 0)
		return false;
	learn_set_number(l, "percent", words[1] ? 100 * words[2] / words[1] : 0);
	return true;
}
