// SPDX-License-Identifier: LGPL-2.1-or-later
#include "drive/trial.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/layout.h"
#include "drive/open_event.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* What the child tells, in memory that both have. */
struct told {
	struct trial trial;
	bool opening;		/* it is in the last call, or behind it */
	bool done;
};

static int open_leader(const struct trial_leader *l)
{
	uint8_t attr[4096];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t len = l->len < sizeof(attr) ? l->len : sizeof(attr);
	int fd;

	memcpy(attr, l->attr, len);
	fd = open_event(attr, len, l->pid, l->cpu, -1, l->flags);
	if (fd >= 0 && l->ring &&
	    mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
		return -errno;
	return fd;
}

static _Noreturn void child(const struct rule_ask *ask, const struct trial_leader *leader,
			    struct told *told)
{
	uint8_t attr[4096];
	size_t len = ask->len < sizeof(attr) ? ask->len : sizeof(attr);
	int group_fd = ask->group_fd, fd;

	if (leader) {
		group_fd = open_leader(leader);
		if (group_fd < 0) {
			told->trial.leader_error = -group_fd;
			told->done = true;
			_exit(0);
		}
	}
	if (ask->attr)
		memcpy(attr, ask->attr, len);
	told->opening = true;
	fd = open_event(ask->attr ? attr : NULL, len, ask->pid, ask->cpu, group_fd,
			ask->flags);
	told->trial.error = fd < 0 ? -fd : 0;
	if (ask->attr)
		told->trial.size = (uint32_t)layout_get(&layout_perf_event_attr, ATTR_SIZE,
							attr, len);
	told->done = true;
	_exit(0);
}

bool trial_open(const struct rule_ask *ask, const struct trial_leader *leader,
		struct trial *out)
{
	struct told *told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;
	bool known;
	pid_t pid;

	if (told == MAP_FAILED)
		return false;
	pid = fork();
	if (!pid)
		child(ask, leader, told);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	/* only an event that opened can have killed it */
	known = pid > 0 && (told->done || (told->opening && WIFSIGNALED(status)));
	*out = told->trial;
	munmap(told, sizeof(*told));
	return known;
}

static void put(uint8_t *attr, unsigned int index, uint64_t v)
{
	field_set(&layout_perf_event_attr.fields[index], v, attr);
}

uint32_t trial_attr_size(void)
{
	uint8_t attr[PERF_ATTR_SIZE_VER0] = { 0 };
	int fd;

	put(attr, ATTR_SIZE, 1);
	fd = open_event(attr, sizeof(attr), 0, -1, -1, 0);
	if (fd >= 0)
		close(fd);
	return fd == -E2BIG ? (uint32_t)layout_get(&layout_perf_event_attr, ATTR_SIZE, attr,
						   sizeof(attr)) : 0;
}

enum fact trial_breakpoint(int32_t pid, int32_t cpu, uint64_t bp_type)
{
	uint8_t attr[PERF_ATTR_SIZE_VER1] = { 0 };
	const struct rule_ask ask = {
		.attr = attr, .len = sizeof(attr), .pid = pid, .cpu = cpu, .group_fd = -1,
	};
	bool data = bp_type & HW_BREAKPOINT_RW;
	struct trial t;

	put(attr, ATTR_TYPE, PERF_TYPE_BREAKPOINT);
	put(attr, ATTR_SIZE, sizeof(attr));
	put(attr, ATTR_DISABLED, 1);
	put(attr, ATTR_EXCLUDE_KERNEL, 1);
	put(attr, ATTR_BP_TYPE, data ? HW_BREAKPOINT_W : HW_BREAKPOINT_X);
	put(attr, ATTR_BP_LEN, data ? HW_BREAKPOINT_LEN_4 : sizeof(long));
	if (!trial_open(&ask, NULL, &t) || (t.error && t.error != ENOSPC))
		return FACT_UNKNOWN;
	return t.error ? FACT_NO : FACT_YES;
}
