// SPDX-License-Identifier: LGPL-2.1-or-later
/* The options of struct measure. */
#include <stdlib.h>

#include "core/lib/die.h"
#include "verbs/measure/measure.h"

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
