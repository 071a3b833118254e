// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a lesson has at hand: values, the machine, a session that writes lines. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/cpus.h"
#include "host/pmu.h"
#include "host/rights.h"
#include "learn/learn.h"
#include "lib/die.h"

/* Values ------------------------------------------------------------------------------- */

static struct learn_value *find(const struct learn *l, const char *name)
{
	for (size_t i = 0; i < l->nvalues; i++)
		if (!strcmp(l->values[i].name, name))
			return &l->values[i];
	return NULL;
}

const char *learn_get(const struct learn *l, const char *name)
{
	const struct learn_value *v = find(l, name);

	return v ? v->text : NULL;
}

void learn_set(struct learn *l, const char *name, const char *fmt, ...)
{
	struct learn_value *v = find(l, name);
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (!v) {
		l->values = xrealloc(l->values, (l->nvalues + 1) * sizeof(*l->values));
		v = &l->values[l->nvalues++];
		*v = (struct learn_value){ .name = xstrdup(name) };
	}
	free(v->text);
	v->text = xstrdup(buf_str(&text));
	buf_free(&text);
}

/* The machine -------------------------------------------------------------------------- */

static bool has_pmu(struct host *h, const char *name)
{
	return pmu_find(host_pmus(h), name, strlen(name));
}

static bool has_hardware(struct host *h)
{
	const struct pmu *all = host_pmus(h);

	/* one for each kind of core, on some machines */
	for (const struct pmu *p = all; p; p = p->next)
		if (!strncmp(p->name, "cpu", 3) || strstr(p->name, "_pmu"))
			return true;
	return false;
}

static bool has_msr(struct host *h)
{
	return has_pmu(h, "msr");
}

static bool has_breakpoints(struct host *h)
{
	return has_pmu(h, "breakpoint");
}

static bool has_uprobes(struct host *h)
{
	return has_pmu(h, "uprobe") && rights_perfmon();
}

static bool has_tracepoints(struct host *h)
{
	uint64_t id;

	return !host_tracepoint_id(h, "task:task_rename", &id) && rights_perfmon();
}

static bool is_privileged(struct host *h)
{
	(void)h;
	return rights_perfmon();
}

static bool is_root(struct host *h)
{
	(void)h;
	return !geteuid();
}

const struct learn_need learn_needs[] = {
	{ "breakpoint", "hardware breakpoints", has_breakpoints },
	{ "hardware", "hardware counters", has_hardware },
	{ "msr", "the msr PMU", has_msr },
	{ "perfmon", "root or CAP_PERFMON", is_privileged },
	{ "root", "root", is_root },
	{ "tracepoint", "root and tracefs", has_tracepoints },
	{ "uprobe", "root and the uprobe PMU", has_uprobes },
};
const size_t nlearn_needs = sizeof(learn_needs) / sizeof(*learn_needs);

void learn_set_machine(struct learn *l)
{
	for (size_t i = 0; i < nlearn_needs; i++)
		if (learn_needs[i].here(l->own_session.machine.host))
			learn_set(l, learn_needs[i].name, "yes");
	learn_set(l, "page", "%ld", sysconf(_SC_PAGESIZE));
	learn_set(l, "paranoid", "%ld", rights_sysctl("perf_event_paranoid", 2));
}

/* A lesson's session ---------------------------------------------------------------------- */

bool learn_start(struct learn *l)
{
	struct options *o = &l->own_session.options;

	l->trace = memfd_create("trace", MFD_CLOEXEC);
	if (l->trace < 0) {
		warn("there is no memory for a trace: %s", strerror(errno));
		return false;
	}
	for (size_t i = 0; i < LEARN_FDS; i++)
		l->fds[i] = -1;
	snprintf(l->path, sizeof(l->path), "/proc/self/fd/%d", l->trace);
	options_init(o);
	o->output = l->path;
	o->records = true;
	o->color = COLOR_NEVER;
	o->text.quiet = 2;
	if (!own_session_start(&l->own_session)) {
		close(l->trace);
		return false;
	}
	o->text.pid_never = true; /* read anew for each line */
	learn_set_machine(l);
	return true;
}

bool learn_end(struct learn *l)
{
	bool written;

	learn_end_worker(l);
	if (l->stream.n)
		learn_unmap(l);
	for (size_t i = 0; i < LEARN_FDS; i++)
		if (l->fds[i] >= 0)
			close(l->fds[i]);
	written = own_session_end(&l->own_session);
	options_free(&l->own_session.options);
	close(l->trace);
	for (size_t i = 0; i < l->nvalues; i++) {
		free(l->values[i].name);
		free(l->values[i].text);
	}
	free(l->values);
	buf_free(&l->lines);
	buf_free(&l->why);
	buf_free(&l->kept);
	return written;
}
