// SPDX-License-Identifier: LGPL-2.1-or-later
#include "experiment/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/abi/layout.h"
#include "core/lib/die.h"
#include "core/lib/program.h"
#include "experiment/open_event.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* A flag that no kernel knows: perf_event_open() checks flags first. */
#define NO_SUCH_FLAG 0x40000000

/* Memory shared with the child. */
struct shared {
	struct trial trial;
	bool opening;		/* the call to be tried has begun */
	bool done;
};

struct attempt {
	const struct rule_ask *ask;
	const struct trial_state *before;
};

static int open_before(const struct rule_ask *ask, const struct trial_event *e, int group_fd)
{
	const int32_t pids[] = {
		[TRIAL_SAME] = ask->pid, [TRIAL_CHILD] = 0, [TRIAL_NO_TASK] = -1,
	};
	uint8_t attr[4096];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t len = e->len < sizeof(attr) ? e->len : sizeof(attr);
	int fd;

	memcpy(attr, e->attr, len);
	fd = open_event(attr, len, pids[e->whom], e->cpu, group_fd,
			e->whom == TRIAL_SAME ? ask->flags & PERF_FLAG_PID_CGROUP : 0);
	if (fd >= 0 && e->ring &&
	    mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
		return -errno;
	return fd;
}

/* Return whether an event must be opened for the trial: opening and closing can be slow. */
static bool matters(const struct trial_state *s, size_t i)
{
	const struct trial_event *e = &s->events[i];

	return e->holds || (s->leader != TRIAL_NONE &&
			    ((int)i == s->leader || e->leader == s->leader));
}

/* Open the events of the state; set *group_fd.  Return 0 or the negative errno of an event. */
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
	/* a change may have removed the call from the group */
	if (s->leader != TRIAL_NONE && ask->group_fd != -1)
		*group_fd = fds[s->leader];
	return 0;
}

static void trial_main(const void *ctx, void *out)
{
	const struct attempt *a = ctx;
	const struct rule_ask *ask = a->ask;
	struct shared *shared = out;
	uint8_t attr[4096];
	size_t len = ask->len < sizeof(attr) ? ask->len : sizeof(attr);
	int group_fd = ask->group_fd, fd;

	if (a->before && a->before->n) {
		shared->trial.before_error = -make_state(ask, a->before, &group_fd);
		shared->done = shared->trial.before_error;
		if (shared->done)
			return;
	}
	if (ask->attr)
		memcpy(attr, ask->attr, len);
	shared->opening = true;
	fd = open_event(ask->attr ? attr : NULL, len, ask->pid, ask->cpu, group_fd,
			ask->flags);
	shared->trial.error = fd < 0 ? -fd : 0;
	if (ask->attr)
		shared->trial.size = (uint32_t)layout_get(&layout_perf_event_attr, ATTR_SIZE,
							  attr, len);
	shared->done = true;
}

bool trial_open(const struct rule_ask *ask, const struct trial_state *before,
		struct trial *out)
{
	struct shared shared;
	int status = child_run(trial_main, &(struct attempt){ ask, before }, &shared,
			       sizeof(shared));

	*out = shared.trial;
	/* a signal that kills the child comes from the event that it opened */
	return shared.done || (shared.opening && status >= 0 && WIFSIGNALED(status));
}

int trial_gate(void)
{
	uint8_t attr[PERF_ATTR_SIZE_VER0] = { 0 };
	int fd;

	attr_put(attr, ATTR_TYPE, PERF_TYPE_SOFTWARE);
	attr_put(attr, ATTR_SIZE, sizeof(attr));
	attr_put(attr, ATTR_CONFIG, PERF_COUNT_SW_DUMMY);
	attr_put(attr, ATTR_DISABLED, 1);
	attr_put(attr, ATTR_EXCLUDE_KERNEL, 1);
	fd = open_event(attr, sizeof(attr), 0, -1, -1, NO_SUCH_FLAG);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EINVAL ? 0 : -fd;
}

uint32_t trial_attr_size(void)
{
	uint8_t attr[PERF_ATTR_SIZE_VER0] = { 0 };
	int fd;

	attr_put(attr, ATTR_SIZE, 1);
	fd = open_event(attr, sizeof(attr), 0, -1, -1, 0);
	if (fd >= 0)
		close(fd);
	return fd == -E2BIG ? (uint32_t)layout_get(&layout_perf_event_attr, ATTR_SIZE, attr,
						   sizeof(attr)) : 0;
}

/* Open an event with the type and config members of another. */
static bool open_bare(const struct rule_ask *ask, bool exclude_kernel, int pid, int cpu, int *error)
{
	uint8_t attr[ATTR_MAX_SIZE] = { 0 };
	const struct rule_ask bare = {
		.attr = attr, .pid = pid, .cpu = cpu, .group_fd = -1,
		.len = ask->len < PERF_ATTR_SIZE_VER1 ? PERF_ATTR_SIZE_VER1 :
		       ask->len < sizeof(attr) ? ask->len : sizeof(attr),
	};
	uint64_t configs[ATTR_CONFIGS];
	struct trial t;

	attr_get_configs(ask->attr, ask->len, configs);
	for (size_t i = 0; i < ATTR_CONFIGS; i++)
		attr_put(attr, attr_configs[i], configs[i]);
	attr_put(attr, ATTR_TYPE, layout_get(&layout_perf_event_attr, ATTR_TYPE, ask->attr,
					     ask->len));
	attr_put(attr, ATTR_SIZE, bare.len);
	attr_put(attr, ATTR_DISABLED, 1);
	attr_put(attr, ATTR_EXCLUDE_KERNEL, exclude_kernel);
	if (!trial_open(&bare, NULL, &t))
		return false;
	*error = t.error;
	return true;
}

enum fact trial_pmu_event(const struct rule_ask *ask, int *error)
{
	const struct rule_pmu *pmu = rules_pmu(&ask->facts->machine, ask->attr, ask->len);

	if (!pmu || (pmu->desc && !(pmu->desc->traits & PMU_TRAIT_OWN_CHECKS)))
		return FACT_UNKNOWN;
	/* a user may not count the kernel; a PMU of a package measures no task */
	if (!open_bare(ask, false, 0, -1, error) ||
	    (*error == EACCES && !open_bare(ask, true, 0, -1, error)) ||
	    (*error == EINVAL && !open_bare(ask, false, -1, 0, error)))
		return FACT_UNKNOWN;
	switch (*error) {
	case 0:
		return FACT_YES;
	case EFAULT:
	case EINVAL:
	case ENODEV:
	case ENOENT:
	case EOPNOTSUPP:
		return FACT_NO;
	default:
		return FACT_UNKNOWN;
	}
}

/* Return whether one more breakpoint of the same kind (data or instruction) can be opened there. */
static enum fact trial_breakpoint(const struct rule_ask *ask, const struct trial_state *before)
{
	uint8_t attr[PERF_ATTR_SIZE_VER1] = { 0 };
	const struct rule_ask one = {
		.attr = attr, .len = sizeof(attr), .pid = ask->pid, .cpu = ask->cpu,
		.group_fd = -1,
	};
	bool data = layout_get(&layout_perf_event_attr, ATTR_BP_TYPE, ask->attr, ask->len) &
		    HW_BREAKPOINT_RW;
	struct trial t;

	attr_put(attr, ATTR_TYPE, PERF_TYPE_BREAKPOINT);
	attr_put(attr, ATTR_SIZE, sizeof(attr));
	attr_put(attr, ATTR_DISABLED, 1);
	attr_put(attr, ATTR_EXCLUDE_KERNEL, 1);
	attr_put(attr, ATTR_BP_TYPE, data ? HW_BREAKPOINT_W : HW_BREAKPOINT_X);
	attr_put(attr, ATTR_BP_LEN, data ? HW_BREAKPOINT_LEN_4 : sizeof(long));
	if (!trial_open(&one, before, &t) || t.before_error || (t.error && t.error != ENOSPC))
		return FACT_UNKNOWN;
	return t.error ? FACT_NO : FACT_YES;
}

void trial_find_facts(const struct rule_ask *ask, const struct trial_state *before,
		      struct rule_facts *f)
{
	if (!f->machine.attr_size)
		f->machine.attr_size = trial_attr_size();
	if (layout_get(&layout_perf_event_attr, ATTR_TYPE, ask->attr, ask->len) ==
	    PERF_TYPE_BREAKPOINT && !(ask->flags & PERF_FLAG_PID_CGROUP))
		f->target.breakpoint = trial_breakpoint(ask, before);
	f->target.pmu_event = trial_pmu_event(ask, &f->target.pmu_error);
}
