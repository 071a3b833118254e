// SPDX-License-Identifier: LGPL-2.1-or-later
/* Whom events measure, and for how long: the options, and the targets that they name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/host/cgroup.h"
#include "core/host/sysfile.h"
#include "core/lib/die.h"
#include "engine/ptrace/proc.h"
#include "verbs/measure/measure.h"
#include "xlat/constants.h"

static void set_seconds(void *to, const char *arg, const struct verb_option *o)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !(v > 0) || v > 1e9)
		die("%s requires a number of seconds above 0, not '%s'", o->typed, arg);
	*(double *)to = v;
}

static void set_cpus(void *to, const char *arg, const struct verb_option *o)
{
	cpus_free(to);
	if (!cpus_parse(to, arg))
		die("%s requires a list of CPUs such as 0-3,8, not '%s'", o->typed, arg);
}

static void measure_set_quiet(void *to, const char *arg, const struct verb_option *o)
{
	(void)arg, (void)o;
	selection_no_calls(to);
}

#define AT(member) offsetof(struct measure, member)

const struct verb_option measure_whom[] = {
	{ .name = "attach", .key = 'p', .arg = "PID", .set = options_set_pids,
	  .at = MEASURE_OPTIONS,
	  .help = "measure a process with its threads and children; repeatable" },
	{ .name = "all-cpus", .key = 'a', .set = verb_set_true, .at = AT(all),
	  .help = "measure everything on every CPU" },
	{ .name = "cpu", .key = 'C', .arg = "CPUS", .set = set_cpus, .at = AT(cpus),
	  .help = "measure everything, or what -p or -G names, on these CPUs: 0-3,8" },
	{ .name = "cgroup", .key = 'G', .arg = "CGROUP", .set = verb_set_text,
	  .at = AT(cgroup), .help = "measure the tasks of a cgroup" },
	{ .name = "for", .arg = "SECONDS", .set = set_seconds, .at = AT(seconds),
	  .help = "measure for that time; with -p, -a, -C or -G, a COMMAND sets it, too" },
	{ 0 },
};

const struct verb_option measure_quiet[] = {
	{ .name = "quiet", .key = 'q', .set = measure_set_quiet,
	  .at = AT(own_session.options.select), .help = "show no calls" },
	{ 0 },
};

bool measure_is_system(const struct measure *m)
{
	return !m->cgroup && !m->own_session.options.npids && (m->all || m->cpus.n);
}

bool measure_is_command(const struct measure *m)
{
	return m->own_session.options.argv && !m->cgroup && !m->own_session.options.npids &&
	       !measure_is_system(m);
}

void measure_options_end(struct measure *m, const struct verb_args *args)
{
	struct options *o = &m->own_session.options;

	if (args->n)
		o->argv = args->words;
	options_finish(o);
	if (m->all && (m->cgroup || o->npids || m->cpus.n))
		die("-a cannot be combined with -p, -G or -C");
	if (m->cgroup && o->npids)
		die("-p and -G are mutually exclusive; run pevtrace twice");
	if (m->seconds > 0 && o->argv)
		die("--for cannot be combined with a command, which sets the time");
}

enum { OTHER_FDS = 24 };	/* descriptors for other things than events */

/* Add a target for each of the CPUs, or one for any. */
static void add_on(struct measure *m, pid_t pid, const struct cpus *cpus)
{
	size_t n = cpus->n ? cpus->n : 1;

	m->targets = xrealloc(m->targets, (m->ntargets + n) * sizeof(*m->targets));
	for (size_t i = 0; i < n; i++)
		m->targets[m->ntargets++] = (struct target){ pid, cpus->n ? cpus->of[i] : -1 };
}

static bool add_threads(struct measure *m, pid_t pid, const struct cpus *cpus)
{
	DIR *d = proc_threads(pid);
	pid_t tid;

	if (!d) {
		warn("cannot measure process %d: %s", (int)pid,
		     errno == ENOENT ? "no such process" : strerror(errno));
		return false;
	}
	while ((tid = proc_next_thread(d)))
		add_on(m, tid, cpus);
	closedir(d);
	return true;
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
		struct buf why = { 0 };

		m->cgroup_fd = cgroup_open(m->cgroup, &why);
		if (m->cgroup_fd < 0)
			warn("-G '%s': %s", m->cgroup, buf_str(&why));
		buf_free(&why);
		ok = m->cgroup_fd >= 0;
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
