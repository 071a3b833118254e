// SPDX-License-Identifier: LGPL-2.1-or-later
/* Instruments that measure the work of an experiment, in which everything is done once or more. */
#include "core/host/proc.h"
#include "experiment/experiment.h"
#include "experiment/instruments_internal.h"
#include "experiment/open_event.h"
#include "experiment/work.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum {
	ATTR_MAX = 256,
	CYCLES = 100000, NANOSECONDS = 100000,	/* between two samples */
	ABSURD = 1000000,			/* a count that some ms of work cannot reach */
};

enum quantity { QUANTITY_COUNT, QUANTITY_SAMPLES, QUANTITY_TRAPS };

/* An event, and what it should count. */
struct instrument_event {
	uint8_t attr[ATTR_MAX];
	unsigned int work;
	enum quantity quantity;
	uint64_t least, most;
};

static void set_event(struct instrument_event *e, uint32_t type, uint64_t config, uint64_t period)
{
	attr_put(e->attr, ATTR_TYPE, type);
	attr_put(e->attr, ATTR_SIZE, layout_perf_event_attr.size);
	attr_put(e->attr, ATTR_CONFIG, config);
	attr_put(e->attr, ATTR_SAMPLE_PERIOD, period);
	attr_put(e->attr, ATTR_EXCLUDE_KERNEL, 1);
	e->least = 1;
	e->most = ABSURD;
}

static void set_breakpoint(enum instrument i, struct instrument_event *e)
{
	bool code = i == INSTRUMENT_BREAKPOINT_CODE;

	set_event(e, PERF_TYPE_BREAKPOINT, 0, 1);
	attr_put(e->attr, ATTR_BP_TYPE, code ? HW_BREAKPOINT_X : HW_BREAKPOINT_W);
	attr_put(e->attr, ATTR_BP_ADDR, code ? work_called() : work_watched());
	attr_put(e->attr, ATTR_BP_LEN, code ? sizeof(long) : HW_BREAKPOINT_LEN_4);
	if (i == INSTRUMENT_BREAKPOINT_SIGNAL) {
		attr_put(e->attr, ATTR_SIGTRAP, 1);
		attr_put(e->attr, ATTR_REMOVE_ON_EXEC, 1);
		e->quantity = QUANTITY_TRAPS;
	}
	e->least = e->most = WORK_TIMES;
}

static void set_samples(enum instrument i, struct instrument_event *e)
{
	if (i == INSTRUMENT_HARDWARE_SAMPLES)
		set_event(e, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, CYCLES);
	else
		set_event(e, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, NANOSECONDS);
	e->work = WORK_SPIN;
	e->quantity = QUANTITY_SAMPLES;
}

static const char *set_uprobe(struct host *host, struct instrument_event *e)
{
	int64_t type = host ? host_pmu_type(host, "uprobe") : -1;

	if (type < 0)
		return mounts_pmus_missing() ?: "no uprobe PMU in sysfs";
	if (work_lacks_probe())
		return work_lacks_probe();
	set_event(e, (uint32_t)type, 0, 1);
	attr_put(e->attr, ATTR_UPROBE_PATH, (uintptr_t)WORK_FILE);
	attr_put(e->attr, ATTR_PROBE_OFFSET, work_called_offset());
	e->least = e->most = WORK_TIMES;
	return NULL;
}

static const char *set_tracepoint(struct host *host, struct instrument_event *e)
{
	uint64_t id;

	if (!host || (host_tracepoint_id(host, "raw_syscalls:sys_enter", &id) &&
		      host_tracepoint_id(host, "sched:sched_switch", &id)))
		return "tracefs cannot be read, which has the numbers of tracepoints";
	set_event(e, PERF_TYPE_TRACEPOINT, id, 1);
	/* the CPU is in the kernel when it meets a tracepoint */
	attr_put(e->attr, ATTR_EXCLUDE_KERNEL, 0);
	return NULL;
}

/* Fill in a zeroed e; return why the event cannot be named here, or NULL. */
static const char *set_instrument(struct host *host, enum instrument i, struct instrument_event *e)
{
	switch (i) {
	case INSTRUMENT_UPROBE:
		return set_uprobe(host, e);
	case INSTRUMENT_TRACEPOINT:
		return set_tracepoint(host, e);
	case INSTRUMENT_PAGE_FAULTS:
		set_event(e, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
		return NULL;
	case INSTRUMENT_HARDWARE_SAMPLES:
	case INSTRUMENT_CLOCK_SAMPLES:
		set_samples(i, e);
		return NULL;
	default:
		set_breakpoint(i, e);
		return NULL;
	}
}

void instrument_try_event(struct host *host, enum instrument i, struct instrument_result *r)
{
	struct instrument_event e = { .work = 0 };
	struct experiment x = {
		.attr = e.attr, .len = layout_perf_event_attr.size, .whom = EXPERIMENT_TASK,
	};
	struct observed o;
	uint64_t counted;

	*r = (struct instrument_result){ .why = set_instrument(host, i, &e) };
	if (r->why)
		return;
	x.work = e.work;
	if (!experiment_run(&x, &o))
		return;
	counted = e.quantity == QUANTITY_TRAPS ? o.traps :
		  e.quantity == QUANTITY_SAMPLES ? o.samples : o.count;
	if (o.error)
		*r = (struct instrument_result){
			.verdict = INSTRUMENT_ABSENT, .error = o.error,
			.why = instrument_in_use(x.attr, x.len, o.error),
		};
	else if (e.quantity != QUANTITY_SAMPLES || o.ring)
		*r = instrument_judge(counted, counted, e.least, e.most);
	else
		r->why = "no ring could be mapped";
}
