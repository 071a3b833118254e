// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/measure/measure_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/host/cgroup.h"
#include "core/host/sysfile.h"
#include "core/lib/die.h"
#include "xlat/constants.h"

enum { OTHER_FDS = 24 };	/* descriptors for other things than events */

static void targets_add(struct measure *m, pid_t pid, int cpu)
{
	m->targets = xrealloc(m->targets, (m->ntargets + 1) * sizeof(*m->targets));
	m->targets[m->ntargets++] = (struct target){ pid, cpu };
}

/* Add a target for each of the CPUs, or one for any. */
static void add_on(struct measure *m, pid_t pid, const struct cpus *cpus)
{
	for (size_t i = 0; i < cpus->n; i++)
		targets_add(m, pid, cpus->of[i]);
	if (!cpus->n)
		targets_add(m, pid, -1);
}

static bool add_threads(struct measure *m, pid_t pid, const struct cpus *cpus)
{
	char path[64];
	const char *name;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = sysfile_dir(AT_FDCWD, path);
	if (!d) {
		warn("cannot measure process %d: %s", (int)pid,
		     errno == ENOENT ? "no such process" : strerror(errno));
		return false;
	}
	while ((name = sysfile_next(d)))
		add_on(m, (pid_t)strtol(name, NULL, 10), cpus);
	closedir(d);
	return true;
}

static bool open_cgroup(struct measure *m)
{
	struct buf why = { 0 };

	m->cgroup_fd = cgroup_open(m->cgroup, &why);
	if (m->cgroup_fd < 0)
		warn("-G '%s': %s", m->cgroup, buf_str(&why));
	buf_free(&why);
	return m->cgroup_fd >= 0;
}

/* Return whether there are descriptors for each event and target; else warn before opening. */
static bool enough_fds(const struct measure *m)
{
	uint64_t need = m->ntargets * m->events.n + OTHER_FDS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || need <= limit.rlim_cur)
		return true;
	if (need <= limit.rlim_max) { /* the command, forked before, keeps its limit */
		limit.rlim_cur = limit.rlim_max;
		return !setrlimit(RLIMIT_NOFILE, &limit);
	}
	warn("%zu event%s on %zu target%s (a thread or CPU each) require %llu descriptors, and "
	     "the limit is %llu; raise it (ulimit -n), or name fewer", m->events.n,
	     m->events.n == 1 ? "" : "s", m->ntargets, m->ntargets == 1 ? "" : "s",
	     (unsigned long long)need, (unsigned long long)limit.rlim_max);
	return false;
}

bool targets_find(struct measure *m, bool per_cpu)
{
	const struct options *o = &m->own_session.options;
	struct cpus online, none = { 0 };
	const struct cpus *cpus = &m->cpus;
	bool ok = true;

	cpus_online(&online);
	for (size_t i = 0; ok && i < m->cpus.n; i++) {
		ok = cpus_have(&online, m->cpus.of[i]);
		if (!ok)
			warn("CPU %d is not online; see "
			     "/sys/devices/system/cpu/online", m->cpus.of[i]);
	}
	if (!cpus->n)
		cpus = per_cpu || m->all || m->cgroup ? &online : &none;
	if (ok && m->cgroup) {
		ok = open_cgroup(m);
		m->batch.flags |= PERF_FLAG_PID_CGROUP;
		add_on(m, m->cgroup_fd, cpus);
	} else if (measure_is_system(m)) {
		add_on(m, -1, cpus);
	} else if (m->work.pid && measure_is_command(m)) {
		add_on(m, m->work.pid, cpus);
	} else if (!o->npids) {
		add_on(m, 0, cpus);
	}
	for (size_t i = 0; ok && i < o->npids; i++)
		ok = add_threads(m, o->pids[i], cpus);
	cpus_free(&online);
	return ok && enough_fds(m);
}
