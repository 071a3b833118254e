// SPDX-License-Identifier: LGPL-2.1-or-later
/* Where an event's counts come from, and what makes it sample. */
#include <string.h>

#include "abi/layout.h"
#include "explain/attr_prose.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

uint64_t attr_word(const struct attr_words *a, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, a->attr, a->len);
}

/* What kind of event it is --------------------------------------------------------- */

static enum event_source software_source(uint64_t config)
{
	switch (config) {
	case PERF_COUNT_SW_CPU_CLOCK:
	case PERF_COUNT_SW_TASK_CLOCK:
		return SOURCE_CLOCK;
	case PERF_COUNT_SW_DUMMY:
		return SOURCE_DUMMY;
	case PERF_COUNT_SW_BPF_OUTPUT:
		return SOURCE_BPF;
	default:
		return SOURCE_SOFTWARE;
	}
}

/* By the traits that rules.in gives the PMU, where it has the name of one. */
static enum event_source pmu_source(const char *pmu)
{
	static const struct {
		const char *name;
		enum event_source source;
	} own[] = {
		{ "cpu_clock", SOURCE_CLOCK }, { "task_clock", SOURCE_CLOCK },
		{ "uprobe", SOURCE_UPROBE }, { "kprobe", SOURCE_KPROBE },
	};
	const struct pmu_desc *d = pmu ? pmu_desc_by_name(pmu) : NULL;

	for (size_t i = 0; pmu && i < sizeof(own) / sizeof(*own); i++)
		if (!strcmp(own[i].name, pmu))
			return own[i].source;
	if (d && d->traits & PMU_TRAIT_CORE)
		return SOURCE_CPU;
	return d && d->traits & PMU_TRAIT_NO_INTERRUPT ? SOURCE_MSR : SOURCE_OTHER;
}

enum event_source attr_source(const struct attr_words *a)
{
	uint32_t type = (uint32_t)attr_word(a, ATTR_TYPE);

	switch (type) {
	case PERF_TYPE_SOFTWARE:
		return software_source(attr_word(a, ATTR_CONFIG));
	case PERF_TYPE_TRACEPOINT:
		return SOURCE_TRACEPOINT;
	case PERF_TYPE_BREAKPOINT:
		return SOURCE_BREAKPOINT;
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		return SOURCE_CPU;
	default:
		return pmu_source(a->names && a->names->pmu ? a->names->pmu(a->names, type) :
							      NULL);
	}
}

static bool is_task_clock(const struct attr_words *a)
{
	return attr_word(a, ATTR_CONFIG) == PERF_COUNT_SW_TASK_CLOCK;
}

const char *attr_init_step(const struct attr_words *a)
{
	static const char *const steps[] = {
		[SOURCE_SOFTWARE] = "init_software", [SOURCE_DUMMY] = "init_software",
		[SOURCE_BPF] = "init_software", [SOURCE_TRACEPOINT] = "init_tracepoint",
		[SOURCE_BREAKPOINT] = "init_breakpoint", [SOURCE_UPROBE] = "init_uprobe",
		[SOURCE_KPROBE] = "init_kprobe", [SOURCE_MSR] = "init_msr",
		[SOURCE_CPU] = "init_cpu", [SOURCE_OTHER] = NULL,
	};
	enum event_source s = attr_source(a);

	if (s == SOURCE_CLOCK)
		return is_task_clock(a) ? "init_task_clock" : "init_cpu_clock";
	return steps[s];
}

const char *attr_sample_step(const struct attr_words *a)
{
	static const char *const steps[] = {
		[SOURCE_CLOCK] = "sample_clock", [SOURCE_SOFTWARE] = "sample_software",
		[SOURCE_TRACEPOINT] = "sample_tracepoint",
		[SOURCE_BREAKPOINT] = "sample_breakpoint", [SOURCE_UPROBE] = "sample_uprobe",
		[SOURCE_CPU] = "sample_hardware", [SOURCE_OTHER] = NULL,
	};

	return steps[attr_source(a)];
}

bool attr_samples(const struct attr_words *a)
{
	return attr_word(a, ATTR_SAMPLE_PERIOD) && attr_source(a) != SOURCE_DUMMY;
}

bool attr_every_hit(const struct attr_words *a)
{
	enum event_source s = attr_source(a);

	return attr_word(a, ATTR_SAMPLE_PERIOD) == 1 && !attr_word(a, ATTR_FREQ) &&
	       (s == SOURCE_TRACEPOINT || s == SOURCE_UPROBE || s == SOURCE_KPROBE ||
		s == SOURCE_BREAKPOINT || s == SOURCE_SOFTWARE);
}

/* Triggers -------------------------------------------------------------------------- */

static void trigger_clock(const struct attr_words *a, struct prose *p)
{
	uint64_t ns = attr_word(a, ATTR_SAMPLE_PERIOD);

	if (attr_word(a, ATTR_FREQ))
		ns = 1000000000 / ns;
	prose_addf(p, "a high resolution timer of the kernel interrupts the CPU every %llu ns, "
		      "and the interrupt takes the sample.",
		   (unsigned long long)(ns < ATTR_CLOCK_LEAST ? ATTR_CLOCK_LEAST : ns));
	if (ns < ATTR_CLOCK_LEAST)
		prose_adds(p, " It was asked for more often than the timer goes.");
	if (a->pid != -1)
		prose_adds(p, " The timer is started when the task comes onto the CPU and stopped "
			      "when it leaves, so a task that sleeps is not sampled.");
	else if (!attr_word(a, ATTR_EXCLUDE_IDLE))
		prose_adds(p, " It runs whether the CPU has work or not, so an idle CPU is "
			      "sampled, too.");
}

void attr_prose_trigger(const struct attr_words *a, struct prose *p)
{
	static const char *const texts[] = {
		[SOURCE_SOFTWARE] = "the kernel itself counts, in the code where the thing "
			"happens, and takes the sample there and then when a period is full.",
		[SOURCE_BPF] = "a BPF program writes the sample when it calls "
			"bpf_perf_event_output().",
		[SOURCE_TRACEPOINT] = "each hit of the tracepoint is one count, and the sample is "
			"taken in the tracepoint when a period is full.",
		[SOURCE_BREAKPOINT] = "the CPU raises a debug exception at the access, which is "
			"one count, and the sample is taken there when a period is full.",
		[SOURCE_UPROBE] = "the task runs into the breakpoint that the kernel has put into "
			"the code, which is one count, and the sample is taken there when a "
			"period is full.",
		[SOURCE_KPROBE] = "the kernel runs into the probe, which is one count, and the "
			"sample is taken there when a period is full.",
		[SOURCE_CPU] = "the counter of the CPU is set to minus the period, counts up, and "
			"raises an interrupt when it overflows (on x86 one that cannot be masked, "
			"an NMI), and the interrupt takes the sample.",
		[SOURCE_MSR] = "never: this PMU has no interrupt.",
		[SOURCE_OTHER] = "the PMU raises an interrupt when a period is full.",
	};
	enum event_source s = attr_source(a);

	if (s == SOURCE_CLOCK)
		trigger_clock(a, p);
	else if (s < sizeof(texts) / sizeof(*texts) && texts[s])
		prose_adds(p, texts[s]);
	if (attr_word(a, ATTR_SIGTRAP))
		prose_adds(p, " As sigtrap=1, the task gets a SIGTRAP for it.");
	if (s != SOURCE_CLOCK && attr_word(a, ATTR_FREQ) && s != SOURCE_MSR)
		prose_adds(p, " As freq=1 asks for a rate, the kernel sets the period anew at the "
			      "ticks of the clock.");
}
