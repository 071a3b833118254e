// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/learn/needs.h"

#include <string.h>

#include "core/abi/strings.h"
#include "core/host/pmu.h"
#include "core/lib/die.h"

#define NO_PMU "No PMU of that name is in /sys/bus/event_source/devices."

static bool has_pmu(struct host *h, const char *name)
{
	return pmu_find(host_pmus(h), name, strlen(name));
}

static bool has_msr(struct host *h)
{
	return has_pmu(h, "msr");
}

static bool has_uprobe(struct host *h)
{
	return has_pmu(h, "uprobe");
}

static bool has_hardware(struct host *h)
{
	/* hybrid machines have one for each kind of core */
	for (const struct pmu *p = host_pmus(h); p; p = p->next)
		if (!strncmp(p->name, "cpu", 3) || strstr(p->name, "_pmu"))
			return true;
	return false;
}

static bool has_task_rename(struct host *h)
{
	uint64_t id;

	return !host_tracepoint_id(h, "task:task_rename", &id);
}

static const struct learn_need needs[] = {
	{ "bpf", "BPF programs", INSTRUMENT_BPF, NULL, NULL },
	{ "breakpoint", "hardware breakpoints", INSTRUMENT_BREAKPOINT_DATA, NULL, NULL },
	{ "clock", "clock events", INSTRUMENT_CLOCK_SAMPLES, NULL, NULL },
	{ "faults", "page-fault events", INSTRUMENT_PAGE_FAULTS, NULL, NULL },
	{ "hardware", "hardware counters", INSTRUMENT_HARDWARE, has_hardware,
	  "No PMU in /sys/bus/event_source/devices counts such events, as in many virtual "
	  "machines." },
	{ "msr", "the msr PMU", INSTRUMENTS, has_msr, NO_PMU },
	{ "sigtrap", "signals of breakpoints", INSTRUMENT_BREAKPOINT_SIGNAL, NULL, NULL },
	{ "tracepoint", "tracepoints", INSTRUMENT_TRACEPOINT, has_task_rename,
	  "Their numbers cannot be read here: that requires root, a mounted tracefs, and a "
	  "kernel with tracepoints that is not locked down." },
	{ "uprobe", "uprobes", INSTRUMENT_UPROBE, has_uprobe, NO_PMU },
};

const struct learn_need *learn_need_next(const char **words)
{
	const char *word = *words + strspn(*words, " ");
	size_t len = strcspn(word, " ");

	*words = word + len;
	if (!len)
		return NULL;
	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if (strlen(needs[i].name) == len && !strncmp(needs[i].name, word, len))
			return &needs[i];
	die("lessons: unknown word of %%needs: '%.*s'", (int)len, word);
}

/* Append why an instrument that was tried does not work. */
static void explain_result(struct instruments *is, enum instrument i, struct buf *why)
{
	const struct instrument_result *r = instrument_find(is, i);

	if (r->verdict == INSTRUMENT_ABSENT)
		buf_addf(why, "The kernel refuses one here: %s (%s).",
			 error_name(r->error) ? error_name(r->error) : "an error",
			 strerror(r->error));
	else if (r->verdict == INSTRUMENT_UNKNOWN)
		buf_addf(why, "Whether one works could not be tried here: %s.",
			 instrument_reason(r));
	else {
		buf_adds(why, "One ");
		instrument_complain(is, i, why);
		buf_addc(why, '.');
	}
}

bool learn_need_works(struct instruments *is, const struct learn_need *n, struct buf *why)
{
	bool here = !n->here || n->here(is->host);

	if (here && (n->instrument == INSTRUMENTS ||
		     instrument_find(is, n->instrument)->verdict == INSTRUMENT_WORKS))
		return true;
	buf_addf(why, "This needs %s. ", n->meaning);
	if (here)
		explain_result(is, n->instrument, why);
	else
		buf_adds(why, n->unless_here);
	return false;
}
