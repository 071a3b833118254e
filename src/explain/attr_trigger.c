// SPDX-License-Identifier: LGPL-2.1-or-later
#include "explain/attr_trigger.h"

#include "xlat/constants.h"
#include "xlat/layouts.h"

/* Triggers ---------------------------------------------------------------------------- */

struct attr_trigger attr_trigger_of(const struct open_attr *a)
{
	struct attr_trigger t = {
		.source = open_attr_source(a), .sigtrap = open_attr_get(a, ATTR_SIGTRAP),
	};
	uint64_t period = open_attr_get(a, ATTR_SAMPLE_PERIOD);
	bool freq = open_attr_get(a, ATTR_FREQ);

	if (t.source == SOURCE_CLOCK) {
		t.ns = freq && period ? 1000000000 / period : period;
		t.task = a->pid != -1;
		t.idle = !t.task && !open_attr_get(a, ATTR_EXCLUDE_IDLE);
	} else {
		t.adaptive = freq && t.source != SOURCE_MSR;
	}
	return t;
}

bool attr_trigger_same(const struct attr_trigger *a, const struct attr_trigger *b)
{
	return a->source == b->source && a->adaptive == b->adaptive && a->sigtrap == b->sigtrap &&
	       a->task == b->task && a->idle == b->idle && a->ns == b->ns;
}

static void trigger_clock(const struct attr_trigger *t, struct prose *p)
{
	prose_addf(p, "a high-resolution timer expires every %llu ns, and its handler takes the "
		      "sample.", (unsigned long long)(t->ns < CLOCK_PERIOD_MIN ?
						      CLOCK_PERIOD_MIN : t->ns));
	if (t->ns < CLOCK_PERIOD_MIN)
		prose_adds(p, " The attr asks for a shorter period than the kernel allows.");
	if (t->task)
		prose_adds(p, " The timer runs only while the task is on a CPU, so a sleeping "
			      "task is not sampled.");
	else if (t->idle)
		prose_adds(p, " The timer also runs while the CPU is idle.");
}

void attr_trigger_write(const struct attr_trigger *t, struct prose *p)
{
	static const char *const texts[] = {
		[SOURCE_SOFTWARE] = "the kernel counts the event where it occurs, and takes the "
			"sample there at the end of each period.",
		[SOURCE_BPF] = "a BPF program writes the sample with bpf_perf_event_output().",
		[SOURCE_TRACEPOINT] = "each hit of the tracepoint counts once; the hit that ends "
			"a period takes the sample.",
		[SOURCE_BREAKPOINT] = "each access raises a debug exception and counts once; the "
			"one that ends a period takes the sample.",
		[SOURCE_UPROBE] = "each hit of the breakpoint that the kernel inserted into the "
			"code counts once; the hit that ends a period takes the sample.",
		[SOURCE_KPROBE] = "each hit of the probe counts once; the hit that ends a period "
			"takes the sample.",
		[SOURCE_CPU] = "the CPU's counter starts at minus the period and raises an "
			"interrupt when it overflows (an NMI on x86); the handler takes the "
			"sample.",
		[SOURCE_MSR] = "never: this PMU has no interrupt.",
		[SOURCE_OTHER] = "the PMU raises an interrupt at the end of each period.",
	};

	if (t->source == SOURCE_CLOCK)
		trigger_clock(t, p);
	else if (texts[t->source])
		prose_adds(p, texts[t->source]);
	if (t->sigtrap)
		prose_adds(p, " With sigtrap=1 the task also receives a SIGTRAP.");
	if (t->adaptive)
		prose_adds(p, " With freq=1 the kernel adjusts the period at timer ticks.");
}

/* Steps ------------------------------------------------------------------------------- */

const char *attr_trigger_init_step(const struct open_attr *a)
{
	static const char *const steps[] = {
		[SOURCE_SOFTWARE] = "init_software", [SOURCE_DUMMY] = "init_software",
		[SOURCE_BPF] = "init_software", [SOURCE_TRACEPOINT] = "init_tracepoint",
		[SOURCE_BREAKPOINT] = "init_breakpoint", [SOURCE_UPROBE] = "init_uprobe",
		[SOURCE_KPROBE] = "init_kprobe", [SOURCE_MSR] = "init_msr",
		[SOURCE_CPU] = "init_cpu", [SOURCE_OTHER] = NULL,
	};
	enum event_source s = open_attr_source(a);

	if (s == SOURCE_CLOCK)
		return open_attr_get(a, ATTR_CONFIG) == PERF_COUNT_SW_TASK_CLOCK ?
			"init_task_clock" : "init_cpu_clock";
	return steps[s];
}

const char *attr_trigger_sample_step(const struct open_attr *a)
{
	static const char *const steps[] = {
		[SOURCE_CLOCK] = "sample_clock", [SOURCE_SOFTWARE] = "sample_software",
		[SOURCE_TRACEPOINT] = "sample_tracepoint",
		[SOURCE_BREAKPOINT] = "sample_breakpoint", [SOURCE_UPROBE] = "sample_uprobe",
		[SOURCE_CPU] = "sample_hardware", [SOURCE_OTHER] = NULL,
	};

	return steps[open_attr_source(a)];
}
