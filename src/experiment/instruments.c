// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "experiment/instruments.h"

#include <string.h>

#include "core/abi/strings.h"
#include "core/host/rights.h"

/* After which an instrument that never worked is believed not to. */
enum { TRIES = 3 };

/* An instrument that cannot be opened is tried once: experiment_run() waits for what is busy. */
const struct instrument_result *instrument_find(struct instruments *is, enum instrument i)
{
	struct instrument_result *r = &is->results[i];

	for (int n = 0; n < TRIES && !is->tried[i]; n++) {
		instrument_try(is->host, i, r);
		is->tried[i] = r->verdict == INSTRUMENT_WORKS || r->verdict == INSTRUMENT_ABSENT;
	}
	is->tried[i] = true;
	return r;
}

bool instrument_fails(struct instruments *is, enum instrument i)
{
	enum instrument_verdict v = instrument_find(is, i)->verdict;

	return v == INSTRUMENT_DEAD || v == INSTRUMENT_IMPLAUSIBLE;
}

/* Which instrument an event needs ------------------------------------------------------- */

bool instrument_of(struct host *host, const uint8_t *attr, size_t len, enum instrument *i)
{
	const struct layout *l = &layout_perf_event_attr;
	uint32_t type = (uint32_t)layout_get(l, ATTR_TYPE, attr, len);
	bool samples = layout_get(l, ATTR_SAMPLE_PERIOD, attr, len);
	const char *pmu = host ? host_pmu(host, type) : NULL;
	const struct pmu_desc *d = pmu ? pmu_desc_by_name(pmu) : NULL;

	switch (type) {
	case PERF_TYPE_BREAKPOINT:
		*i = layout_get(l, ATTR_SIGTRAP, attr, len) ? INSTRUMENT_BREAKPOINT_SIGNAL :
		     layout_get(l, ATTR_BP_TYPE, attr, len) & HW_BREAKPOINT_X ?
		     INSTRUMENT_BREAKPOINT_CODE : INSTRUMENT_BREAKPOINT_DATA;
		return true;
	case PERF_TYPE_SOFTWARE:
		switch (layout_get(l, ATTR_CONFIG, attr, len)) {
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
	else if (d && d->traits & PMU_TRAIT_CORE)
		*i = samples ? INSTRUMENT_HARDWARE_SAMPLES : INSTRUMENT_HARDWARE;
	else
		return false;
	return true;
}

/* Words ---------------------------------------------------------------------------------- */

/* Name, what it measures, what that is called in a count, and what it lacks if it is dead. */
static const struct {
	const char *name, *meaning, *counted, *lack;
} words[INSTRUMENTS] = {
	[INSTRUMENT_BREAKPOINT_DATA] = { "breakpoint.data", "writes of a watched variable",
		"writes", "hardware breakpoints do not fire" },
	[INSTRUMENT_BREAKPOINT_CODE] = { "breakpoint.code", "calls of a function",
		"calls", "hardware breakpoints do not fire" },
	[INSTRUMENT_BREAKPOINT_SIGNAL] = { "breakpoint.signal", "signals of a watchpoint (sigtrap)",
		"signals", "hardware breakpoints do not fire" },
	[INSTRUMENT_HARDWARE] = { "hardware", "instructions of a loop of known length",
		"instructions", "hardware counters do not advance" },
	[INSTRUMENT_HARDWARE_SAMPLES] = { "hardware.samples", "samples of cycles",
		"samples", "hardware counters do not interrupt" },
	[INSTRUMENT_CLOCK] = { "clock", "task-clock, against the clocks of clock_gettime(2)",
		"ns", "the clock of tasks does not advance" },
	[INSTRUMENT_CLOCK_SAMPLES] = { "clock.samples", "samples of cpu-clock",
		"samples", "the clock of CPUs does not interrupt" },
	[INSTRUMENT_PAGE_FAULTS] = { "page-faults", "writes to fresh pages",
		"page faults", "page faults are not counted" },
	[INSTRUMENT_UPROBE] = { "uprobe", "calls of a function of pevtrace",
		"calls", "uprobes are not hit" },
	[INSTRUMENT_TRACEPOINT] = { "tracepoint", "system calls, or switches between tasks",
		"events", "tracepoints are not hit" },
	[INSTRUMENT_BPF] = { "bpf", "a BPF program is loaded", "", "" },
	[INSTRUMENT_COMPAT] = { "compat", "a 32-bit program runs",
		"", "32-bit programs do not run" },
	[INSTRUMENT_AUX] = { "aux", "bytes in an AUX area",
		"bytes", "AUX areas receive no data" },
};

const char *const instrument_verdicts[] = {
	[INSTRUMENT_UNKNOWN] = "unknown", [INSTRUMENT_ABSENT] = "absent",
	[INSTRUMENT_DEAD] = "dead", [INSTRUMENT_IMPLAUSIBLE] = "implausible",
	[INSTRUMENT_WORKS] = "works",
};

bool instrument_complain(struct instruments *is, enum instrument i, struct buf *out)
{
	const struct instrument_result *r = instrument_find(is, i);
	bool dead = r->verdict == INSTRUMENT_DEAD;

	if (!instrument_fails(is, i))
		return false;
	/* a counter that does not advance cannot interrupt, either */
	if (i == INSTRUMENT_HARDWARE_SAMPLES && instrument_fails(is, INSTRUMENT_HARDWARE))
		return instrument_complain(is, INSTRUMENT_HARDWARE, out);
	buf_addf(out, "opens, but does not count%s on this machine: ", dead ? "" : " correctly");
	if (dead)
		buf_adds(out, words[i].lack);
	else
		buf_addf(out, "%llu to %llu %s of a known loop were counted as %llu",
			 (unsigned long long)r->least, (unsigned long long)r->most,
			 words[i].counted, (unsigned long long)r->counted);
	if (confine_virtual())
		buf_adds(out, " in this virtual machine");
	if (dead && i <= INSTRUMENT_BREAKPOINT_SIGNAL)
		buf_adds(out, " (gdb's would not either)");
	return true;
}

bool instrument_doubt(struct instruments *is, const uint8_t *attr, size_t len, uint64_t count,
		      struct buf *out)
{
	enum instrument i;

	/* of what counts at all, only counters of the CPU are known to count absurdly */
	if (!instrument_of(is->host, attr, len, &i) ||
	    (count && (i != INSTRUMENT_HARDWARE ||
		       instrument_find(is, i)->verdict == INSTRUMENT_DEAD)))
		return false;
	return instrument_complain(is, i, out);
}

void instrument_emit_doubt(struct instruments *is, const uint8_t *attr, size_t len,
			   uint64_t count, struct sink *k)
{
	struct buf why = { 0 };
	enum instrument i;

	if (instrument_doubt(is, attr, len, count, &why) &&
	    instrument_of(is->host, attr, len, &i)) {
		sink_begin(k, "instrument", SINK_OBJECT);
		sink_symbol(k, "name", instrument_name(i));
		sink_symbol(k, "verdict", instrument_verdicts[instrument_find(is, i)->verdict]);
		sink_symbol(k, "words", buf_str(&why));
		sink_end(k);
	}
	buf_free(&why);
}

bool instrument_is_hardware(struct host *host, const uint8_t *attr, size_t len)
{
	enum instrument i;

	return instrument_of(host, attr, len, &i) && i <= INSTRUMENT_HARDWARE_SAMPLES;
}

const char *instrument_reason(const struct instrument_result *r)
{
	return r->why ?: r->verdict == INSTRUMENT_UNKNOWN ? "no child process could try it" :
	       error_name(r->error) ?: "an error";
}

const char *instrument_name(enum instrument i)
{
	return words[i].name;
}

const char *instrument_meaning(enum instrument i)
{
	return words[i].meaning;
}
