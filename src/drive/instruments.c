// SPDX-License-Identifier: LGPL-2.1-or-later
#include "drive/instruments.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "abi/layout.h"
#include "drive/bpf.h"
#include "drive/experiment.h"
#include "drive/open_event.h"
#include "drive/work.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* TRIES: after which an instrument that never worked is believed not to. */
enum { ATTR_MAX = 256, TRIES = 3 };

/* A count that a few ms of work cannot reach. */
#define ABSURD 1000000

enum quantity { QUANTITY_COUNT, QUANTITY_SAMPLES, QUANTITY_TRAPS };

/* How an instrument is tried: an event, and what it should count of the work of an experiment. */
struct instrument_try {
	uint8_t attr[ATTR_MAX];
	unsigned int work;
	enum quantity quantity;
	uint64_t least, most;
};

static void try_attr(struct instrument_try *t, uint32_t type, uint64_t config)
{
	attr_put(t->attr, ATTR_TYPE, type);
	attr_put(t->attr, ATTR_SIZE, layout_perf_event_attr.size);
	attr_put(t->attr, ATTR_CONFIG, config);
	attr_put(t->attr, ATTR_SAMPLE_PERIOD, 1);
	attr_put(t->attr, ATTR_EXCLUDE_KERNEL, 1);
}

static void try_exactly(struct instrument_try *t, uint64_t times)
{
	t->least = t->most = times;
}

static bool prepare_breakpoint(enum instrument i, struct instrument_try *t)
{
	bool code = i == INSTRUMENT_BREAKPOINT_CODE;

	try_attr(t, PERF_TYPE_BREAKPOINT, 0);
	attr_put(t->attr, ATTR_BP_TYPE, code ? HW_BREAKPOINT_X : HW_BREAKPOINT_W);
	attr_put(t->attr, ATTR_BP_ADDR, code ? work_called() : work_watched());
	attr_put(t->attr, ATTR_BP_LEN, code ? sizeof(long) : HW_BREAKPOINT_LEN_4);
	if (i == INSTRUMENT_BREAKPOINT_SIGNAL) {
		attr_put(t->attr, ATTR_SIGTRAP, 1);
		attr_put(t->attr, ATTR_REMOVE_ON_EXEC, 1);
		t->quantity = QUANTITY_TRAPS;
	}
	try_exactly(t, WORK_TIMES);
	return true;
}

static bool prepare_clock(enum instrument i, struct instrument_try *t)
{
	try_attr(t, PERF_TYPE_SOFTWARE, i == INSTRUMENT_CLOCK ? PERF_COUNT_SW_TASK_CLOCK :
		 PERF_COUNT_SW_CPU_CLOCK);
	attr_put(t->attr, ATTR_SAMPLE_PERIOD, i == INSTRUMENT_CLOCK ? 0 : 100000);
	t->work = WORK_SPIN;
	if (i == INSTRUMENT_CLOCK) {
		t->least = 1000000;
		t->most = 1000 * (uint64_t)ABSURD;
	} else {
		t->quantity = QUANTITY_SAMPLES;
		t->least = 1;
		t->most = ABSURD;
	}
	return true;
}

static bool prepare_uprobe(struct host *host, struct instrument_try *t)
{
	int64_t type = host ? host_pmu_type(host, "uprobe") : -1;

	if (type < 0 || !work_called_offset())
		return false;
	try_attr(t, (uint32_t)type, 0);
	attr_put(t->attr, ATTR_UPROBE_PATH, (uintptr_t)"/proc/self/exe");
	attr_put(t->attr, ATTR_PROBE_OFFSET, work_called_offset());
	try_exactly(t, WORK_TIMES);
	return true;
}

static bool prepare_tracepoint(struct host *host, struct instrument_try *t)
{
	uint64_t id;

	if (!host || (host_tracepoint_id(host, "raw_syscalls:sys_enter", &id) &&
		      host_tracepoint_id(host, "sched:sched_switch", &id)))
		return false;
	try_attr(t, PERF_TYPE_TRACEPOINT, id);
	/* it is the kernel that meets a tracepoint */
	attr_put(t->attr, ATTR_EXCLUDE_KERNEL, 0);
	t->least = 1;
	t->most = ABSURD;
	return true;
}

/* Fill in a zeroed t; return false if there is no event to try. */
static bool try_prepare(struct instruments *is, enum instrument i, struct instrument_try *t)
{
	switch (i) {
	case INSTRUMENT_BREAKPOINT_DATA:
	case INSTRUMENT_BREAKPOINT_CODE:
	case INSTRUMENT_BREAKPOINT_SIGNAL:
		return prepare_breakpoint(i, t);
	case INSTRUMENT_CLOCK:
	case INSTRUMENT_CLOCK_SAMPLES:
		return prepare_clock(i, t);
	case INSTRUMENT_PAGE_FAULTS:
		try_attr(t, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
		t->least = 1;
		t->most = ABSURD;
		return true;
	case INSTRUMENT_UPROBE:
		return prepare_uprobe(is->host, t);
	case INSTRUMENT_TRACEPOINT:
		return prepare_tracepoint(is->host, t);
	default:
		return false;
	}
}

static void judge(const struct instrument_try *t, uint64_t counted, struct instrument_result *r)
{
	*r = (struct instrument_result){
		.verdict = !counted ? INSTRUMENT_DEAD :
			   counted < t->least || counted > t->most ? INSTRUMENT_IMPLAUSIBLE :
			   INSTRUMENT_WORKS,
		.counted = counted, .least = t->least, .most = t->most,
	};
}

static void try_once(const struct instrument_try *t, struct instrument_result *r)
{
	const struct experiment x = {
		.attr = t->attr, .len = layout_perf_event_attr.size, .work = t->work,
		.whom = EXPERIMENT_TASK,
	};
	struct observed o;

	if (!experiment_run(&x, &o))
		*r = (struct instrument_result){ .verdict = INSTRUMENT_UNKNOWN };
	else if (o.error)
		*r = (struct instrument_result){ INSTRUMENT_ABSENT, o.error, 0, 0, 0 };
	else if (t->quantity == QUANTITY_SAMPLES && !o.ring)
		*r = (struct instrument_result){ .verdict = INSTRUMENT_UNKNOWN };
	else
		judge(t, t->quantity == QUANTITY_TRAPS ? o.traps :
		      t->quantity == QUANTITY_SAMPLES ? o.samples : o.count, r);
}

static void find_bpf(struct instrument_result *r)
{
	int fd = bpf_load(BPF_PROG_TYPE_PERF_EVENT, 0);

	r->verdict = fd < 0 ? INSTRUMENT_ABSENT : INSTRUMENT_WORKS;
	r->error = fd < 0 ? -fd : 0;
	if (fd >= 0)
		close(fd);
}

const struct instrument_result *instrument_find(struct instruments *is, enum instrument i)
{
	struct instrument_result *r = &is->results[i];
	struct instrument_try t = { .least = 0 };

	if (is->tried[i])
		return r;
	is->tried[i] = true;
	if (i == INSTRUMENT_BPF)
		find_bpf(r);
	else if (try_prepare(is, i, &t))
		for (int n = 0; n < TRIES && r->verdict != INSTRUMENT_WORKS; n++)
			try_once(&t, r);
	return r;
}

bool instrument_fails(struct instruments *is, enum instrument i)
{
	enum instrument_verdict v = instrument_find(is, i)->verdict;

	return v == INSTRUMENT_DEAD || v == INSTRUMENT_IMPLAUSIBLE;
}

/* Which instrument an event needs ------------------------------------------------------- */

static enum instrument instrument_of_breakpoint(const uint8_t *attr, size_t len)
{
	const struct layout *l = &layout_perf_event_attr;

	return layout_get(l, ATTR_SIGTRAP, attr, len) ? INSTRUMENT_BREAKPOINT_SIGNAL :
	       layout_get(l, ATTR_BP_TYPE, attr, len) & HW_BREAKPOINT_X ?
	       INSTRUMENT_BREAKPOINT_CODE : INSTRUMENT_BREAKPOINT_DATA;
}

static bool instrument_of_software(uint64_t config, bool samples, enum instrument *i)
{
	switch (config) {
	case PERF_COUNT_SW_CPU_CLOCK:
	case PERF_COUNT_SW_TASK_CLOCK:
		*i = samples ? INSTRUMENT_CLOCK_SAMPLES : INSTRUMENT_CLOCK;
		return true;
	case PERF_COUNT_SW_PAGE_FAULTS:
	case PERF_COUNT_SW_PAGE_FAULTS_MIN:
		*i = INSTRUMENT_PAGE_FAULTS;
		return true;
	default:
		return false;
	}
}

/* Return whether a PMU counts what a CPU does: named "cpu", "cpu_atom", "armv8_pmuv3_0"... */
static bool is_cpu_pmu(const char *name)
{
	return !strcmp(name, "cpu") || !strncmp(name, "cpu_", 4) || !strncmp(name, "armv", 4);
}

bool instrument_of(struct host *host, const uint8_t *attr, size_t len, enum instrument *i)
{
	const struct layout *l = &layout_perf_event_attr;
	uint32_t type = (uint32_t)layout_get(l, ATTR_TYPE, attr, len);
	bool samples = layout_get(l, ATTR_SAMPLE_PERIOD, attr, len);
	const char *pmu = host ? host_pmu(host, type) : NULL;

	switch (type) {
	case PERF_TYPE_BREAKPOINT:
		*i = instrument_of_breakpoint(attr, len);
		return true;
	case PERF_TYPE_SOFTWARE:
		return instrument_of_software(layout_get(l, ATTR_CONFIG, attr, len), samples, i);
	case PERF_TYPE_TRACEPOINT:
		*i = INSTRUMENT_TRACEPOINT;
		return true;
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		*i = samples ? INSTRUMENT_HARDWARE_SAMPLES : INSTRUMENT_HARDWARE;
		return true;
	}
	if (pmu && !strcmp(pmu, "uprobe"))
		*i = INSTRUMENT_UPROBE;
	else if (pmu && is_cpu_pmu(pmu))
		*i = samples ? INSTRUMENT_HARDWARE_SAMPLES : INSTRUMENT_HARDWARE;
	else
		return false;
	return true;
}

/* Words ---------------------------------------------------------------------------------- */

static const char *const names[INSTRUMENTS] = {
	[INSTRUMENT_BREAKPOINT_DATA] = "breakpoint.data",
	[INSTRUMENT_BREAKPOINT_CODE] = "breakpoint.code",
	[INSTRUMENT_BREAKPOINT_SIGNAL] = "breakpoint.signal",
	[INSTRUMENT_HARDWARE] = "hardware",
	[INSTRUMENT_HARDWARE_SAMPLES] = "hardware.samples",
	[INSTRUMENT_CLOCK] = "clock",
	[INSTRUMENT_CLOCK_SAMPLES] = "clock.samples",
	[INSTRUMENT_PAGE_FAULTS] = "page-faults",
	[INSTRUMENT_UPROBE] = "uprobe",
	[INSTRUMENT_TRACEPOINT] = "tracepoint",
	[INSTRUMENT_BPF] = "bpf",
	[INSTRUMENT_COMPAT] = "compat",
	[INSTRUMENT_AUX] = "aux",
};

static const char *const verdicts[] = {
	[INSTRUMENT_UNKNOWN] = "unknown", [INSTRUMENT_ABSENT] = "absent",
	[INSTRUMENT_DEAD] = "dead", [INSTRUMENT_IMPLAUSIBLE] = "implausible",
	[INSTRUMENT_WORKS] = "works",
};

/* What a dead instrument does not do, after "opens, but does not count on this machine: ". */
static const char *const complaints[INSTRUMENTS] = {
	[INSTRUMENT_BREAKPOINT_DATA] = "hardware breakpoints do not fire%s (gdb's would not either)",
	[INSTRUMENT_BREAKPOINT_CODE] = "hardware breakpoints do not fire%s (gdb's would not either)",
	[INSTRUMENT_BREAKPOINT_SIGNAL] = "hardware breakpoints do not fire%s (gdb's would not "
					 "either)",
	[INSTRUMENT_HARDWARE] = "hardware counters stay 0%s",
	[INSTRUMENT_HARDWARE_SAMPLES] = "hardware counters do not interrupt%s",
	[INSTRUMENT_CLOCK] = "the clocks of events do not advance%s",
	[INSTRUMENT_CLOCK_SAMPLES] = "the clocks of events do not interrupt%s",
	[INSTRUMENT_PAGE_FAULTS] = "page faults are not counted%s",
	[INSTRUMENT_UPROBE] = "uprobes are not hit%s",
	[INSTRUMENT_TRACEPOINT] = "tracepoints are not hit%s",
	[INSTRUMENT_AUX] = "AUX areas stay empty%s",
};

bool instrument_complain(struct instruments *is, enum instrument i, struct buf *out)
{
	const struct instrument_result *r = instrument_find(is, i);

	if (!instrument_fails(is, i) || !complaints[i])
		return false;
	if (r->verdict == INSTRUMENT_DEAD) {
		buf_adds(out, "opens, but does not count on this machine: ");
		buf_addf(out, complaints[i], "");
	} else {
		buf_addf(out, "opens, but does not count right on this machine: %llu of something "
			 "of which there are %llu to %llu", (unsigned long long)r->counted,
			 (unsigned long long)r->least, (unsigned long long)r->most);
	}
	return true;
}

const char *instrument_name(enum instrument i)
{
	return names[i];
}

const char *instrument_verdict_name(enum instrument_verdict v)
{
	return verdicts[v];
}
