// SPDX-License-Identifier: LGPL-2.1-or-later
/* Properties of the objects that a call refers to: task, CPU, cgroup, event, file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/abi/layout.h"
#include "core/host/facts.h"
#include "core/host/proc.h"
#include "core/host/sysfile.h"
#include "core/lib/scan_text.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Ids of tracepoints have 16 bits (struct trace_entry of the kernel). */
#define TRACE_EVENT_TYPE_MAX 0xffff

static uint64_t target_member(const struct rule_ask *ask, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, ask->attr, ask->len);
}

/* Tasks ---------------------------------------------------------------------------- */

static bool is_own_task(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", pid);
	return !pid || pid == getpid() || (proc_is_ours() && !access(path, F_OK));
}

/* Return the state, 'R', 'S', 'Z' ..., or 0 if it cannot be read. */
static char state(pid_t pid)
{
	char path[64], text[256], *name_end;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!sysfile_read_kernel(path, text, sizeof(text)))
		return 0;
	name_end = strrchr(text, ')');
	return name_end && name_end[1] ? name_end[2] : 0;
}

/* Return whether PTRACE_MODE_READ is permitted, which reading this link requires. */
static enum fact may_read(pid_t pid)
{
	char path[64], link[64];

	snprintf(path, sizeof(path), "/proc/%d/ns", pid);
	if (!proc_has(path))
		return FACT_UNKNOWN;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	if (readlink(path, link, sizeof(link)) > 0)
		return FACT_YES;
	return errno == EACCES || errno == EPERM ? FACT_NO : FACT_UNKNOWN;
}

/* Return whether PTRACE_MODE_ATTACH is permitted, which opening the memory requires. */
static enum fact may_attach(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	if (!proc_has(path))
		return FACT_UNKNOWN;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	else if (errno != EACCES && errno != EPERM)
		return FACT_UNKNOWN;
	return fact_of(fd >= 0);
}

/* Return whether CAP_KILL is effective in the task's user namespace. */
static enum fact may_kill(const struct facts *f, pid_t pid)
{
	char path[64], its[64] = "", ours[64] = "";

	if (f->rules.machine.caps >> ABI_CAP_KILL & 1)
		return FACT_YES;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	if (readlink(path, its, sizeof(its) - 1) > 0 &&
	    readlink("/proc/self/ns/user", ours, sizeof(ours) - 1) > 0 && !strcmp(its, ours))
		return fact_of(f->own_caps >> ABI_CAP_KILL & 1);
	return FACT_UNKNOWN;
}

enum fact facts_task_exists(pid_t pid)
{
	/* for kill(2), negative numbers are process groups */
	return fact_of(!pid || (pid > 0 && (!kill(pid, 0) || errno == EPERM)));
}

static void find_task(const struct facts *f, pid_t pid, struct rule_task *t)
{
	char is;

	if (is_own_task(pid)) {
		*t = (struct rule_task){ FACT_YES, FACT_YES, FACT_YES, FACT_YES, FACT_YES };
		return;
	}
	t->exists = facts_task_exists(pid);
	if (t->exists == FACT_NO || !proc_is_ours())
		return;
	is = state(pid);
	t->living = is ? fact_of(is != 'Z' && is != 'X') : FACT_UNKNOWN;
	t->readable = may_read(pid);
	/* a zombie has no memory, but its owner is unchanged */
	t->attachable = t->living == FACT_NO ? t->readable : may_attach(pid);
	t->killable = may_kill(f, pid);
}

/* CPUs and descriptors --------------------------------------------------------------- */

static enum fact cpu_online(int32_t cpu)
{
	char text[256];
	const char *at = text; /* a list like "0-3,8" */
	uint64_t first, last;

	if (cpu < 0)
		return FACT_NO;
	if (!sysfile_read_kernel("/sys/devices/system/cpu/online", text, sizeof(text)))
		return FACT_UNKNOWN;
	while (scan_range(&at, &first, &last))
		if ((uint64_t)cpu >= first && (uint64_t)cpu <= last)
			return FACT_YES;
	return FACT_NO;
}

static enum fact one_more_descriptor(void)
{
	int fd = open("/", O_PATH | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fact_of(fd >= 0 || errno != EMFILE);
}

enum fact facts_descriptors(size_t n)
{
	DIR *d = proc_has("/proc/self/fd") ? sysfile_dir(AT_FDCWD, "/proc/self/fd") : NULL;
	struct rlimit limit;

	if (!d || getrlimit(RLIMIT_NOFILE, &limit)) {
		if (d)
			closedir(d);
		return FACT_UNKNOWN;
	}
	while (sysfile_next(d))
		n++;
	closedir(d);
	return fact_of(n - 1 <= limit.rlim_cur); /* the directory's descriptor is closed */
}

static enum fact target_is_event(int fd)
{
	char link[64];

	if (fd < 0 || fcntl(fd, F_GETFD) < 0)
		return FACT_NO;
	if (!proc_is_ours() || !proc_fd_link(getpid(), fd, link, sizeof(link)))
		return FACT_UNKNOWN;
	return fact_of(!strcmp(link, PROC_EVENT_LINK));
}

/* Cgroups ---------------------------------------------------------------------------- */

/* Return whether a mount of cgroup version 1 has the controller perf_event. */
static enum fact mounted_with_perf(dev_t dev)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	enum fact found = FACT_UNKNOWN;
	struct mntent m;
	struct stat st;
	char line[4096];

	while (f && found == FACT_UNKNOWN && getmntent_r(f, &m, line, sizeof(line)))
		if (!strcmp(m.mnt_type, "cgroup") && !stat(m.mnt_dir, &st) &&
		    st.st_dev == dev)
			found = fact_of(hasmntopt(&m, "perf_event"));
	if (f)
		endmntent(f);
	return found;
}

/* Return whether perf_event is in version 2: /proc/cgroups shows hierarchy 0. */
static enum fact perf_in_version_2(void)
{
	enum fact found = FACT_UNKNOWN;
	FILE *f = fopen("/proc/cgroups", "re");
	char line[256];
	unsigned int hierarchy;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "perf_event %u", &hierarchy) == 1)
			found = fact_of(!hierarchy);
	if (f)
		fclose(f);
	return found;
}

static void find_cgroup(int fd, struct rule_target *t)
{
	struct statfs fs;
	struct stat st;

	t->cgroup_dir = t->cgroup_perf = FACT_NO;
	if (fd < 0 || fstat(fd, &st) || fstatfs(fd, &fs) || !S_ISDIR(st.st_mode))
		return;
	if (fs.f_type == CGROUP2_SUPER_MAGIC)
		t->cgroup_perf = perf_in_version_2();
	else if (fs.f_type == CGROUP_SUPER_MAGIC)
		t->cgroup_perf = mounted_with_perf(st.st_dev);
	else
		return;
	t->cgroup_dir = FACT_YES;
}

/* Probes ----------------------------------------------------------------------------- */

/*
 * Read a string of pevtrace's own memory, which may be unmapped: at most size bytes.  Return
 * its length with the NUL, size + 1 if it has none, or 0 if it cannot be read, with errno.
 */
static size_t read_string(uint64_t addr, char *text, size_t size)
{
	size_t have = 0, page = (size_t)sysconf(_SC_PAGESIZE);

	while (have < size) {
		size_t n = page - (size_t)((addr + have) % page);
		struct iovec to = { text + have, n < size - have ? n : size - have };
		struct iovec from = { (void *)(uintptr_t)(addr + have), to.iov_len };
		ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

		if (got <= 0)
			break;
		if (memchr(text + have, '\0', (size_t)got))
			return have + strlen(text + have) + 1;
		have += (size_t)got;
	}
	return have == size ? size + 1 : 0;
}

/* Return whether files there have a page cache, unlike those of pseudo-filesystems. */
static enum fact has_pages(const char *path)
{
	struct statfs fs;

	if (statfs(path, &fs))
		return FACT_UNKNOWN;
	return fact_of(fs.f_type != PROC_SUPER_MAGIC && fs.f_type != SYSFS_MAGIC &&
		    fs.f_type != DEBUGFS_MAGIC && fs.f_type != TRACEFS_MAGIC &&
		    fs.f_type != CGROUP_SUPER_MAGIC && fs.f_type != CGROUP2_SUPER_MAGIC);
}

static void note_map(void *ctx, uint64_t start, uint64_t end)
{
	(void)start;
	(void)end;
	*(bool *)ctx = true;
}

/* Return whether the task has mapped the file; what others have mapped is not looked for. */
static enum fact has_mapped(int32_t pid, const char *path)
{
	char real[PATH_MAX];
	bool found = false;

	if (pid < 0 || !realpath(path, real) || !proc_is_ours() ||
	    !proc_each_map(pid ? pid : getpid(), real, note_map, &found))
		return FACT_UNKNOWN;
	return fact_of(found);
}

static void find_path(uint64_t addr, int32_t pid, struct rule_path *p)
{
	char path[PATH_MAX];
	size_t len = read_string(addr, path, sizeof(path));
	struct stat st;

	/* a seccomp filter may refuse to read memory, with another error */
	p->readable = len || errno == EFAULT ? fact_of(len) : FACT_UNKNOWN;
	p->too_long = len > sizeof(path);
	p->empty = len == 1;
	if (!len || p->too_long || p->empty)
		return;
	if (stat(path, &st)) {
		p->error = errno;
		return;
	}
	p->regular = fact_of(S_ISREG(st.st_mode));
	p->pages = has_pages(path);
	p->size = (uint64_t)st.st_size;
	p->mapped = has_mapped(pid, path);
}

void facts_target(struct facts *f, const struct rule_ask *ask)
{
	const struct rule_pmu *pmu = rules_pmu(&f->rules.machine, ask->attr, ask->len);
	struct rule_target *t = &f->rules.target;

	*t = (struct rule_target){ .descriptor = one_more_descriptor() };
	if (ask->flags & PERF_FLAG_PID_CGROUP)
		find_cgroup(ask->pid, t);
	else if (ask->pid != -1)
		find_task(f, ask->pid, &t->task);
	t->cpu_online = cpu_online(ask->cpu);
	if (ask->group_fd != -1)
		t->group.event = target_is_event(ask->group_fd);
	if (target_member(ask, ATTR_TYPE) == PERF_TYPE_TRACEPOINT) {
		uint64_t id = target_member(ask, ATTR_CONFIG);

		t->tracepoint_name = host_tracepoint(f->host, id);
		t->tracepoint = t->tracepoint_name ? FACT_YES :
				host_has_tracepoints(f->host) || id > TRACE_EVENT_TYPE_MAX ? FACT_NO :
				FACT_UNKNOWN;
	}
	if (pmu && !strcmp(pmu->name, "uprobe"))
		find_path(target_member(ask, ATTR_UPROBE_PATH),
			  ask->flags & PERF_FLAG_PID_CGROUP ? -1 : ask->pid, &t->path);
}
