// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "experiment/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/lib/program.h"
#include "engine/rings/ring.h"

static int sys_perf_event_open(const void *attr, int32_t pid, int32_t cpu, int32_t group_fd,
			       uint64_t flags)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, (unsigned long)flags);

	return fd < 0 ? -errno : (int)fd;
}

int open_event(uint8_t *attr, size_t len, int32_t pid, int32_t cpu, int32_t group_fd,
	       uint64_t flags)
{
	struct fence f;
	uint8_t *copy;
	int fd, error;

	if (!attr)
		return sys_perf_event_open(NULL, pid, cpu, group_fd, flags);
	error = fence_make(&f, len);
	/* callers would mistake an errno for the result of perf_event_open() */
	if (error)
		die("cannot map memory for an attr: %s", strerror(-error));
	copy = fence_put(&f, attr, len);
	fd = sys_perf_event_open(copy, pid, cpu, group_fd, flags);
	memcpy(attr, copy, len);
	fence_free(&f);
	return fd;
}

void attr_put(uint8_t *attr, unsigned int index, uint64_t v)
{
	field_set(&layout_perf_event_attr.fields[index], v, attr);
}

/* A flag that no kernel knows: perf_event_open() checks flags first. */
#define NO_SUCH_FLAG 0x40000000

/* Memory shared with the child. */
struct shared {
	struct trial trial;
	bool opening;		/* the call to be tried has begun */
	bool done;
};

struct trial_call {
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

/* Open the events of the state; set *group_fd.  Return 0 or the negative errno of an event. */
static int make_state(const struct rule_ask *ask, const struct trial_state *s, int *group_fd)
{
	int *fds = xcalloc(s->n, sizeof(*fds));

	for (size_t i = 0; i < s->n; i++) {
		const struct trial_event *e = &s->events[i];

		/* opening and closing can be slow */
		if (e->holds || (s->leader != TRIAL_NONE &&
				 ((int)i == s->leader || e->leader == s->leader)))
			fds[i] = open_before(ask, e, e->leader == TRIAL_NONE ? -1 : fds[e->leader]);
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
	const struct trial_call *a = ctx;
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
	int status = child_run(trial_main, &(struct trial_call){ ask, before }, &shared,
			       sizeof(shared));

	*out = shared.trial;
	/* a signal that kills the child comes from the event that it opened */
	return shared.done || (shared.opening && status >= 0 && WIFSIGNALED(status));
}

/* Set the type of an attr, and that its event does not count. */
static void set_idle(uint8_t *attr, size_t len, uint64_t type, bool exclude_kernel)
{
	attr_put(attr, ATTR_TYPE, type);
	attr_put(attr, ATTR_SIZE, len);
	attr_put(attr, ATTR_DISABLED, 1);
	attr_put(attr, ATTR_EXCLUDE_KERNEL, exclude_kernel);
}

/* Ask for an event whose size is wrong; return the kernel's answer, a positive errno. */
static int ask_attr_size(uint32_t *size)
{
	uint8_t attr[PERF_ATTR_SIZE_VER0] = { 0 };
	int fd;

	attr_put(attr, ATTR_SIZE, 1);
	fd = open_event(attr, sizeof(attr), 0, -1, -1, 0);
	if (fd >= 0)
		close(fd);
	*size = fd == -E2BIG ? (uint32_t)layout_get(&layout_perf_event_attr, ATTR_SIZE, attr,
						    sizeof(attr)) : 0;
	return fd < 0 ? -fd : 0;
}

int trial_gate(void)
{
	uint8_t attr[PERF_ATTR_SIZE_VER0] = { 0 };
	uint32_t size;
	int fd;

	set_idle(attr, sizeof(attr), PERF_TYPE_SOFTWARE, true);
	attr_put(attr, ATTR_CONFIG, PERF_COUNT_SW_DUMMY);
	fd = open_event(attr, sizeof(attr), 0, -1, -1, NO_SUCH_FLAG);
	if (fd >= 0)
		close(fd);
	/* the kernel's own answer is EINVAL, but it has another one for a wrong size */
	return fd >= 0 || (fd == -EINVAL && ask_attr_size(&size) != EINVAL) ? 0 : -fd;
}

uint32_t trial_attr_size(void)
{
	uint32_t size;

	ask_attr_size(&size);
	return size;
}

enum fact trial_denies_all(const struct rule_machine *m)
{
	uint8_t attr[PERF_ATTR_SIZE_VER0] = { 0 };
	int fd;

	if (m->paranoid <= 2 || m->caps & (1ULL << ABI_CAP_PERFMON | 1ULL << ABI_CAP_SYS_ADMIN))
		return FACT_UNKNOWN;
	set_idle(attr, sizeof(attr), PERF_TYPE_SOFTWARE, true);
	attr_put(attr, ATTR_CONFIG, PERF_COUNT_SW_DUMMY);
	fd = open_event(attr, sizeof(attr), 0, -1, -1, 0);
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? FACT_NO : fd == -EACCES && !trial_gate() ? FACT_YES : FACT_UNKNOWN;
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
	set_idle(attr, bare.len,
		 layout_get(&layout_perf_event_attr, ATTR_TYPE, ask->attr, ask->len),
		 exclude_kernel);
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

void trial_find_facts(const struct rule_ask *ask, const struct trial_state *before,
		      struct rule_facts *f)
{
	const struct layout *l = &layout_perf_event_attr;
	uint8_t attr[PERF_ATTR_SIZE_VER1] = { 0 };
	const struct rule_ask one = {
		.attr = attr, .len = sizeof(attr), .pid = ask->pid, .cpu = ask->cpu,
		.group_fd = -1,
	};
	bool data = layout_get(l, ATTR_BP_TYPE, ask->attr, ask->len) & HW_BREAKPOINT_RW;
	struct trial t;

	if (!f->machine.attr_size)
		f->machine.attr_size = trial_attr_size();
	if (!f->machine.denies_all)
		f->machine.denies_all = trial_denies_all(&f->machine);
	if (layout_get(l, ATTR_TYPE, ask->attr, ask->len) == PERF_TYPE_BREAKPOINT &&
	    !(ask->flags & PERF_FLAG_PID_CGROUP)) {
		/* whether one more breakpoint of the same kind can be opened there */
		set_idle(attr, sizeof(attr), PERF_TYPE_BREAKPOINT, true);
		attr_put(attr, ATTR_BP_TYPE, data ? HW_BREAKPOINT_W : HW_BREAKPOINT_X);
		attr_put(attr, ATTR_BP_LEN, data ? HW_BREAKPOINT_LEN_4 : sizeof(long));
		f->target.breakpoint = !trial_open(&one, before, &t) || t.before_error ||
				       (t.error && t.error != ENOSPC) ? FACT_UNKNOWN :
				       t.error ? FACT_NO : FACT_YES;
	}
	f->target.pmu_event = trial_pmu_event(ask, &f->target.pmu_error);
}
