// SPDX-License-Identifier: LGPL-2.1-or-later
/* The values that texts show and %when tests, and the features of the machine. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/strings.h"
#include "host/pmu.h"
#include "host/rights.h"
#include "learn/learn.h"
#include "lib/die.h"

/* Values ------------------------------------------------------------------------------- */

static struct learn_value *find_value(const struct learn *l, const char *name)
{
	for (size_t i = 0; i < l->nvalues; i++)
		if (!strcmp(l->values[i].name, name))
			return &l->values[i];
	return NULL;
}

const char *learn_get(const struct learn *l, const char *name)
{
	const struct learn_value *v = find_value(l, name);

	return v ? v->text : NULL;
}

void learn_set(struct learn *l, const char *name, const char *fmt, ...)
{
	struct learn_value *v = find_value(l, name);
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

const char *learn_error(int64_t result)
{
	const char *name = error_name((int)-result);

	return name ? name : "an error";
}

void learn_set_number(struct learn *l, const char *name, uint64_t v)
{
	learn_set(l, name, "%llu", (unsigned long long)v);
}

void learn_set_hex(struct learn *l, const char *name, uint64_t v)
{
	learn_set(l, name, "0x%llx", (unsigned long long)v);
}

void learn_set_error(struct learn *l, const char *name, int64_t result)
{
	learn_set(l, name, "%s", result < 0 ? learn_error(result) : "none");
}

/* The machine -------------------------------------------------------------------------- */

static bool has_pmu(struct host *h, const char *name)
{
	return pmu_find(host_pmus(h), name, strlen(name));
}

static bool has_hardware(struct host *h)
{
	const struct pmu *all = host_pmus(h);

	/* hybrid machines have one for each kind of core */
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
