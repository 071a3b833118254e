// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "core/host/facts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/host/pmu.h"
#include "core/host/proc.h"
#include "core/host/rights.h"
#include "core/host/sysfile.h"
#include "core/lib/die.h"
#include "core/lib/scan_text.h"

/* Since this release, cpu_clock and task_clock are PMUs, with these types. */
#define CLOCKS_SINCE KVER(6, 4, 0)
enum { CPU_CLOCK_TYPE = PERF_TYPE_MAX, TASK_CLOCK_TYPE };

/* Return a sysctl of perf; if it cannot be read, the default, and note that in unread. */
static uint64_t facts_sysctl(const char *name, uint64_t otherwise, enum rule_unread number,
			     unsigned int *unread)
{
	char path[128];
	int64_t v;

	snprintf(path, sizeof(path), "/proc/sys/kernel/perf_event_%s", name);
	if (sysfile_number(AT_FDCWD, path, &v))
		return (uint64_t)v;
	*unread |= number;
	return otherwise;
}

/* Return whether a file contains the word, between blanks or commas; unknown if it is empty. */
static enum fact file_has(const char *path, const char *word)
{
	char *at, first[2];
	size_t len = strlen(word);
	bool found = false;
	struct lines l;

	if (!sysfile_read_kernel(path, first, sizeof(first)) || !*first)
		return FACT_UNKNOWN;
	l = lines_of(path);
	if (!l.file)
		return FACT_UNKNOWN;
	while (!found && lines_next(&l))
		for (at = l.text; !found && (at = strstr(at, word)); at += len)
			found = (at == l.text || strchr(" \t,", at[-1])) && strchr(" \t,", at[len]);
	lines_end(&l);
	return fact_of(found);
}

void facts_derive(struct facts *f)
{
	/* Debian's has no sublevel: 6.1.0-56 is "... Debian 6.1.192-2 (...)" */
	const char *plain = f->release, *debian = strstr(f->version, "Debian ");
	const char *cpus = f->possible;
	struct rule_machine *m = &f->rules.machine;
	uint64_t first, last = 0;

	if (debian)
		debian += strlen("Debian ");
	m->release = debian ? release_read(&debian) : 0;
	if (!m->release)
		m->release = release_read(&plain);
	m->caps = f->first_user_ns == FACT_YES ? f->own_caps : 0;
	m->caps_unread = f->first_user_ns == FACT_UNKNOWN ? f->own_caps : 0;
	/* the number of possible ones: the last of a list like "0-3,8", plus one */
	while (scan_range(&cpus, &first, &last))
		;
	if (cpus == f->possible)
		m->unread |= UNREAD_CPUS;
	m->cpus = (uint32_t)last + 1;
}

struct facts facts_unknown(void)
{
	return (struct facts){
		.rules.machine = {
			.unread = UNREAD_PARANOID | UNREAD_SAMPLE_RATE | UNREAD_STACK, .paranoid = 2,
			.max_sample_rate = 100000, .max_stack = 127,
		},
		.own_caps = UINT64_MAX, .mlock_kb = -1, .confined.bounding = UINT64_MAX,
	};
}

/* The process --------------------------------------------------------------------- */

void facts_refresh(struct facts *f)
{
	struct rule_machine *m = &f->rules.machine;
	unsigned int no_mlock = 0;

	if (host_elsewhere(f->host))
		return;
	f->own_caps = rights_effective();
	f->first_user_ns = rights_user_ns_is_first();
	facts_derive(f);
	m->unread &= UNREAD_CPUS;
	m->paranoid = (int32_t)facts_sysctl("paranoid", 2, UNREAD_PARANOID, &m->unread);
	m->max_sample_rate = facts_sysctl("max_sample_rate", 100000, UNREAD_SAMPLE_RATE, &m->unread);
	m->max_stack = facts_sysctl("max_stack", 127, UNREAD_STACK, &m->unread);
	f->mlock_kb = (int64_t)facts_sysctl("mlock_kb", (uint64_t)-1, 0, &no_mlock);
}

/* The machine --------------------------------------------------------------------- */

/*
 * Return the end of user addresses: the largest of the possible ones before which this process can
 * map a page.
 */
static uint64_t user_end(const struct rule_machine *m)
{
	const uint64_t *end = m->arch->user_ends;
	bool found = false;

	for (; end && *end; end++) {
		void *want = (void *)(uintptr_t)(*end - m->page_size), *got;

		if ((uintptr_t)want != *end - m->page_size)
			continue;
		got = mmap(want, m->page_size, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		found = got == MAP_FAILED ? errno == EEXIST : got == want;
		if (got != MAP_FAILED)
			munmap(got, m->page_size);
		if (found)
			break;
	}
	return end ? *end : 0;
}

static void read_online(char *text, size_t size)
{
	if (!sysfile_read_kernel("/sys/devices/system/cpu/online", text, size))
		*text = '\0';
}

enum fact facts_lockdown(void)
{
	char text[128];

	if (!sysfile_read_kernel("/sys/kernel/security/lockdown", text, sizeof(text)) || !*text)
		return FACT_UNKNOWN;
	return fact_of(strstr(text, "[confidentiality]"));
}

/*
 * Return whether SELinux is active, the only security module that checks perf events: then the
 * kernel has its file system.
 */
static enum fact facts_security(void)
{
	enum fact listed = file_has("/proc/filesystems", "selinuxfs");
	struct statfs fs;

	if (listed != FACT_UNKNOWN)
		return listed;
	/* the kernel makes a directory of sysfs to mount it on */
	return !statfs("/sys/fs", &fs) && fs.f_type == SYSFS_MAGIC ?
	       fact_of(!access("/sys/fs/selinux", F_OK)) : FACT_UNKNOWN;
}

struct rule_pmu *facts_add_pmu(struct facts *f, uint32_t type, const char *name)
{
	struct rule_machine *m = &f->rules.machine;
	struct rule_pmu *more = xrealloc(f->pmus, (m->npmus + 1) * sizeof(*more));
	size_t at = m->npmus;

	if (!more)
		return NULL;
	m->pmus = f->pmus = more;
	m->npmus++;
	for (; at && more[at - 1].type > type; at--)
		more[at] = more[at - 1];
	more[at] = (struct rule_pmu){
		.type = type, .name = name, .desc = pmu_desc_by_name(name),
	};
	return &more[at];
}

/* Take the PMU of sysfs; return false if memory is exhausted, in libpevtrace. */
static bool take_pmu(struct facts *f, const struct pmu *p)
{
	struct rule_pmu *added = facts_add_pmu(f, p->type, p->name);
	/* the events/ of these lists all that the CPU has */
	bool complete = (!strcmp(p->name, "msr") || !strncmp(p->name, "armv8_pmuv3", 11)) &&
			p->naliases && !(p->unread >> PMU_EVENTS & 1);

	if (!added)
		return false;
	for (size_t i = 0; i < p->naliases; i++)
		added->brs |= !strcmp(p->aliases[i].name, "branch-brs");
	added->threshold_unread = p->unread >> PMU_CAPS & 1;
	for_each(cap, p->caps, p->ncaps) {
		uint64_t most;

		if (strcmp(cap->name, "threshold_max"))
			continue;
		added->threshold_unread = !scan_whole(cap->text, SCAN_C, 0, INT64_MAX, &most);
		added->threshold_max = added->threshold_unread ? 0 : (int64_t)most;
	}
	if (!complete || f->configs)
		return true;
	f->configs = xcalloc(p->naliases, sizeof(*f->configs));
	for (size_t i = 0; f->configs && i < p->naliases; i++)
		f->configs[i] = p->aliases[i].config[0];
	added->configs = f->configs;
	added->nconfigs = f->configs ? p->naliases : 0;
	return f->configs;
}

void facts_add_pmus(struct facts *f)
{
	struct rule_machine *m = &f->rules.machine;
	const struct pmu *p = host_pmus(f->host);
	bool good = host_has_pmus(f->host), shown = false, kprobes = false, software = false;

	for (; p; p = p->next) {
		good &= take_pmu(f, p);
		shown |= p->type == CPU_CLOCK_TYPE || p->type == TASK_CLOCK_TYPE;
		kprobes |= !strcmp(p->name, "kprobe");
		software |= p->type == PERF_TYPE_SOFTWARE;
	}
	/* every kernel has it, and its type is fixed */
	if (!software)
		good &= facts_add_pmu(f, PERF_TYPE_SOFTWARE, "software") != NULL;
	if (m->release >= CLOCKS_SINCE && !shown) {
		good &= facts_add_pmu(f, CPU_CLOCK_TYPE, "cpu_clock") &&
			facts_add_pmu(f, TASK_CLOCK_TYPE, "task_clock");
	}
	m->pmus_known = good ? FACT_YES : FACT_UNKNOWN;
	if (good && m->release >= KVER(4, 17, 0))
		m->kprobes = fact_of(kprobes);
}

void facts_open(struct facts *f, struct host *h)
{
	struct rule_machine *m = &f->rules.machine;
	struct utsname u;

	*f = host_elsewhere(h) ? *host_elsewhere(h) : (struct facts){ .mlock_kb = -1 };
	f->host = h;
	f->pmus = NULL; /* those of another machine are owned by its own facts */
	f->configs = NULL;
	if (host_elsewhere(h))
		return;
	uname(&u);
	snprintf(f->release, sizeof(f->release), "%s", u.release);
	snprintf(f->version, sizeof(f->version), "%s", u.version);
	if (!sysfile_read_kernel("/sys/devices/system/cpu/possible", f->possible, sizeof(f->possible)))
		*f->possible = '\0';
	read_online(f->online, sizeof(f->online));
	m->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	m->arch = arch_by_name(u.machine);
	if (!m->arch)
		m->arch = arch_native();
	m->user_end = user_end(m);
	m->cgroups = file_has("/proc/cgroups", "perf_event");
	m->wide_breakpoints = file_has("/proc/cpuinfo", "bpext");
	confinement_read(&f->confined);
	m->lockdown = facts_lockdown();
	m->security = facts_security();
	facts_refresh(f);
	facts_add_pmus(f);
}

void facts_close(struct facts *f)
{
	free(f->pmus);
	free(f->configs);
}

/* Ids of tracepoints have 16 bits (struct trace_entry of the kernel). */
#define TRACE_EVENT_TYPE_MAX 0xffff

static uint64_t target_member(const struct rule_ask *ask, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, ask->attr, ask->len);
}

/* The caller. */
static const struct rule_task own_task = { FACT_YES, FACT_YES, FACT_YES, FACT_YES, FACT_YES };

/* Tasks ---------------------------------------------------------------------------- */

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

void facts_memory(const struct facts *f, pid_t pid, struct rule_memory *m)
{
	struct rlimit limit;
	struct lines l = proc_lines(pid, "status");
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned long pinned;

	while (lines_next(&l))
		if (sscanf(l.text, "VmPin: %lu kB", &pinned) == 1)
			m->pinned = pinned * 1024ULL;
	lines_end(&l);
	if (f->mlock_kb < 0 || cpus < 1)
		return;
	m->free = (uint64_t)f->mlock_kb * 1024 / f->rules.machine.page_size *
		  f->rules.machine.page_size * (uint64_t)cpus;
	if (prlimit(pid, RLIMIT_MEMLOCK, NULL, &limit))
		return;
	m->known = FACT_YES;
	m->limit = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

enum fact facts_task_exists(pid_t pid)
{
	/* for kill(2), negative numbers are process groups */
	return fact_of(!pid || (pid > 0 && (!kill(pid, 0) || errno == EPERM)));
}

static void find_task(const struct facts *f, pid_t pid, struct rule_task *t)
{
	char path[64], its[64] = "", ours[64] = "", is;
	bool read;

	snprintf(path, sizeof(path), "/proc/self/task/%d", pid);
	if (!pid || pid == getpid() || (proc_is_ours() && !access(path, F_OK))) {
		*t = own_task;
		return;
	}
	t->exists = facts_task_exists(pid);
	if (t->exists == FACT_NO || !proc_is_ours())
		return;
	is = state(pid);
	t->living = is ? fact_of(is != 'Z' && is != 'X') : FACT_UNKNOWN;
	/* reading this link requires PTRACE_MODE_READ */
	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	read = readlink(path, its, sizeof(its) - 1) > 0;
	t->readable = read ? FACT_YES : errno == EACCES || errno == EPERM ? FACT_NO : FACT_UNKNOWN;
	snprintf(path, sizeof(path), "/proc/%d/ns", pid);
	if (!proc_has(path))
		t->readable = FACT_UNKNOWN;
	/* a zombie has no memory, but its owner is unchanged */
	t->attachable = t->living == FACT_NO ? t->readable : may_attach(pid);
	/* CAP_KILL, effective in the task's user namespace */
	if (f->rules.machine.caps >> ABI_CAP_KILL & 1)
		t->killable = FACT_YES;
	else if (read && readlink("/proc/self/ns/user", ours, sizeof(ours) - 1) > 0 &&
		 !strcmp(its, ours))
		t->killable = fact_of(f->own_caps >> ABI_CAP_KILL & 1);
}

/* CPUs and descriptors --------------------------------------------------------------- */

/* Return whether the CPU is in a list like "0-3,8"; "": not known. */
static enum fact cpu_online(int32_t cpu, const char *at)
{
	uint64_t first, last;

	if (cpu < 0)
		return FACT_NO;
	if (!*at)
		return FACT_UNKNOWN;
	while (scan_range(&at, &first, &last))
		if ((uint64_t)cpu >= first && (uint64_t)cpu <= last)
			return FACT_YES;
	return FACT_NO;
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

/* Cgroups ---------------------------------------------------------------------------- */

static void find_cgroup(int fd, struct rule_target *t)
{
	struct statfs fs;
	struct stat st, at;
	struct mntent m;
	char line[4096];
	unsigned int hierarchy;
	FILE *f;

	t->cgroup_dir = t->cgroup_perf = FACT_NO;
	if (fd < 0 || fstat(fd, &st) || fstatfs(fd, &fs) || !S_ISDIR(st.st_mode) ||
	    (fs.f_type != CGROUP2_SUPER_MAGIC && fs.f_type != CGROUP_SUPER_MAGIC))
		return;
	t->cgroup_dir = FACT_YES;
	t->cgroup_perf = FACT_UNKNOWN;
	/* is the mount of version 1 one with the controller? */
	f = fs.f_type == CGROUP_SUPER_MAGIC ? setmntent("/proc/self/mounts", "re") : NULL;
	while (f && t->cgroup_perf == FACT_UNKNOWN && getmntent_r(f, &m, line, sizeof(line)))
		if (!strcmp(m.mnt_type, "cgroup") && !stat(m.mnt_dir, &at) &&
		    at.st_dev == st.st_dev)
			t->cgroup_perf = fact_of(hasmntopt(&m, "perf_event"));
	if (f)
		endmntent(f);
	if (fs.f_type == CGROUP_SUPER_MAGIC)
		return;
	/* perf_event is in version 2 if its hierarchy is 0 */
	for (struct lines l = lines_of("/proc/cgroups"); lines_next(&l);)
		if (sscanf(l.text, "perf_event %u", &hierarchy) == 1)
			t->cgroup_perf = fact_of(!hierarchy);
}

/* Probes ----------------------------------------------------------------------------- */

static void note_map(void *ctx, uint64_t start, uint64_t end)
{
	(void)start;
	(void)end;
	*(bool *)ctx = true;
}

static void find_path(uint64_t addr, int32_t pid, struct rule_path *p)
{
	char path[PATH_MAX], real[PATH_MAX];
	size_t have = own_memory_read(addr, path, sizeof(path));
	const char *end = memchr(path, '\0', have);
	size_t len = end ? (size_t)(end - path) + 1 : have == sizeof(path) ? have + 1 : 0;
	struct statfs fs;
	struct stat st;
	bool mapped = false;

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
	/* files of pseudo-filesystems have no page cache */
	if (!statfs(path, &fs))
		p->pages = fact_of(fs.f_type != PROC_SUPER_MAGIC && fs.f_type != SYSFS_MAGIC &&
				   fs.f_type != DEBUGFS_MAGIC && fs.f_type != TRACEFS_MAGIC &&
				   fs.f_type != CGROUP_SUPER_MAGIC &&
				   fs.f_type != CGROUP2_SUPER_MAGIC);
	p->size = (uint64_t)st.st_size;
	/* what tasks other than the one to be measured have mapped is not looked for */
	if (pid >= 0 && realpath(path, real) && proc_is_ours() &&
	    proc_each_map(pid ? pid : getpid(), real, note_map, &mapped))
		p->mapped = fact_of(mapped);
}

static void find_tracepoint(struct facts *f, const struct rule_ask *ask)
{
	struct rule_target *t = &f->rules.target;
	uint64_t id = target_member(ask, ATTR_CONFIG);

	if (target_member(ask, ATTR_TYPE) != PERF_TYPE_TRACEPOINT)
		return;
	t->tracepoint_name = host_tracepoint(f->host, id);
	t->tracepoint = t->tracepoint_name ? FACT_YES :
			host_has_tracepoints(f->host) || id > TRACE_EVENT_TYPE_MAX ? FACT_NO :
			FACT_UNKNOWN;
}

/* Find what is known of the target on another machine, of a process that may open one more file. */
static void find_elsewhere(struct facts *f, const struct rule_ask *ask)
{
	struct rule_target *t = &f->rules.target;

	*t = (struct rule_target){
		.descriptor = FACT_YES, .cpu_online = cpu_online(ask->cpu, f->online),
		.group.event = ask->group_fd < -1 ? FACT_NO : FACT_UNKNOWN,
	};
	if (!(ask->flags & PERF_FLAG_PID_CGROUP) && !ask->pid)
		t->task = own_task;
	find_tracepoint(f, ask);
}

void facts_target(struct facts *f, const struct rule_ask *ask)
{
	const struct rule_pmu *pmu = rules_pmu(&f->rules.machine, ask->attr, ask->len);
	struct rule_target *t = &f->rules.target;
	int fd, group = ask->group_fd;
	char link[64];

	if (host_elsewhere(f->host)) {
		find_elsewhere(f, ask);
		return;
	}
	fd = open("/", O_PATH | O_CLOEXEC);
	*t = (struct rule_target){ .descriptor = fact_of(fd >= 0 || errno != EMFILE) };
	if (fd >= 0)
		close(fd);
	if (ask->flags & PERF_FLAG_PID_CGROUP)
		find_cgroup(ask->pid, t);
	else if (ask->pid != -1)
		find_task(f, ask->pid, &t->task);
	read_online(f->online, sizeof(f->online));
	t->cpu_online = cpu_online(ask->cpu, f->online);
	if (group < -1 || (group >= 0 && fcntl(group, F_GETFD) < 0))
		t->group.event = FACT_NO;
	else if (group >= 0 && proc_is_ours() && proc_fd_link(getpid(), group, link, sizeof(link)))
		t->group.event = fact_of(!strcmp(link, PROC_EVENT_LINK));
	find_tracepoint(f, ask);
	if (pmu && !strcmp(pmu->name, "uprobe"))
		find_path(target_member(ask, ATTR_UPROBE_PATH),
			  ask->flags & PERF_FLAG_PID_CGROUP ? -1 : ask->pid, &t->path);
}
