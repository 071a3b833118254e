// SPDX-License-Identifier: LGPL-2.1-or-later
#include "drive/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/layout.h"
#include "drive/open_event.h"
#include "lib/die.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* No kernel has this flag: its answer comes before it looks at anything else. */
#define NO_SUCH_FLAG 0x40000000

/* What the child tells, in memory that both have. */
struct told {
	struct trial trial;
	bool opening;		/* it is in the last call, or behind it */
	bool done;
};

static int open_before(const struct rule_ask *ask, const struct trial_event *e, int group_fd)
{
	uint8_t attr[4096];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t len = e->len < sizeof(attr) ? e->len : sizeof(attr);
	int fd;

	memcpy(attr, e->attr, len);
	fd = open_event(attr, len, ask->pid, e->cpu, group_fd,
			ask->flags & PERF_FLAG_PID_CGROUP);
	if (fd >= 0 && e->ring &&
	    mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
		return -errno;
	return fd;
}

/* Others only take a descriptor: to open and close them can take long. */
static bool matters(const struct trial_state *s, size_t i)
{
	const struct trial_event *e = &s->events[i];

	return e->holds || (s->leader != TRIAL_NONE &&
			    ((int)i == s->leader || e->leader == s->leader));
}

/* The descriptor that is to be group_fd; a negative errno where one does not open. */
static int make_state(const struct rule_ask *ask, const struct trial_state *s, int *group_fd)
{
	int *fds = xcalloc(s->n, sizeof(*fds));

	for (size_t i = 0; i < s->n; i++) {
		int leader = s->events[i].leader;

		if (matters(s, i))
			fds[i] = open_before(ask, &s->events[i], leader == TRIAL_NONE ? -1 :
								 fds[leader]);
		else if ((fds[i] = open("/", O_PATH)) < 0)
			fds[i] = -errno;
		if (fds[i] < 0)
			return fds[i];
	}
	/* a group that is not asked for any more stays without its member */
	if (s->leader != TRIAL_NONE && ask->group_fd != -1)
		*group_fd = fds[s->leader];
	return 0;
}

static _Noreturn void child(const struct rule_ask *ask, const struct trial_state *before,
			    struct told *told)
{
	uint8_t attr[4096];
	size_t len = ask->len < sizeof(attr) ? ask->len : sizeof(attr);
	int group_fd = ask->group_fd, fd;

	if (before && before->n) {
		told->trial.before_error = -make_state(ask, before, &group_fd);
		if (told->trial.before_error) {
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

bool trial_open(const struct rule_ask *ask, const struct trial_state *before,
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
		child(ask, before, told);
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

/* The flag is none that a kernel has, and is the first thing that it looks at. */
int trial_gate(void)
{
	uint8_t attr[PERF_ATTR_SIZE_VER0] = { 0 };
	int fd;

	put(attr, ATTR_TYPE, PERF_TYPE_SOFTWARE);
	put(attr, ATTR_SIZE, sizeof(attr));
	put(attr, ATTR_CONFIG, PERF_COUNT_SW_DUMMY);
	put(attr, ATTR_DISABLED, 1);
	put(attr, ATTR_EXCLUDE_KERNEL, 1);
	fd = open_event(attr, sizeof(attr), 0, -1, -1, NO_SUCH_FLAG);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EINVAL ? 0 : -fd;
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

enum fact trial_breakpoint(const struct rule_ask *ask, const struct trial_state *before)
{
	uint8_t attr[PERF_ATTR_SIZE_VER1] = { 0 };
	const struct rule_ask one = {
		.attr = attr, .len = sizeof(attr), .pid = ask->pid, .cpu = ask->cpu,
		.group_fd = -1,
	};
	bool data = layout_get(&layout_perf_event_attr, ATTR_BP_TYPE, ask->attr, ask->len) &
		    HW_BREAKPOINT_RW;
	struct trial t;

	put(attr, ATTR_TYPE, PERF_TYPE_BREAKPOINT);
	put(attr, ATTR_SIZE, sizeof(attr));
	put(attr, ATTR_DISABLED, 1);
	put(attr, ATTR_EXCLUDE_KERNEL, 1);
	put(attr, ATTR_BP_TYPE, data ? HW_BREAKPOINT_W : HW_BREAKPOINT_X);
	put(attr, ATTR_BP_LEN, data ? HW_BREAKPOINT_LEN_4 : sizeof(long));
	if (!trial_open(&one, before, &t) || t.before_error || (t.error && t.error != ENOSPC))
		return FACT_UNKNOWN;
	return t.error ? FACT_NO : FACT_YES;
}
