// SPDX-License-Identifier: LGPL-2.1-or-later
#include "explain/attr_prose.h"

#include <string.h>

#include "core/abi/layout_emit.h"
#include "formats/text/text.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Members as text ------------------------------------------------------------------ */

struct walk attr_prose_walk(const struct open_attr *a)
{
	return (struct walk){
		.layout = &layout_perf_event_attr, .bytes = a->attr, .len = a->len,
		.call = a->call, .string = a->probed, .arch = a->arch, .names = a->names,
	};
}

void attr_prose_member(const struct open_attr *a, unsigned int index, struct prose *p)
{
	struct walk w = attr_prose_walk(a);
	struct buf text = { 0 };
	struct text_sink sink;

	text_sink_init(&sink, &text);
	sink.sink.full = true;
	sink.sink.max_string = SIZE_MAX;
	text_sink_top(&sink, false, NULL);
	sink_begin(&sink.sink, NULL, SINK_OBJECT);
	layout_emit_member(&w, index, &sink.sink);
	sink_end(&sink.sink);
	if (text.len > 2) /* without the braces */
		prose_addf(p, "%.*s", (int)text.len - 2, text.data + 1);
	buf_free(&text);
}

void attr_prose_begin(const struct open_attr *a, struct prose *p, const unsigned int *list,
		      size_t n)
{
	prose_item(p);
	for (size_t i = 0; i < n; i++) {
		prose_adds(p, i ? ", " : "");
		attr_prose_member(a, list[i], p);
	}
	prose_adds(p, ": ");
}

void attr_prose_condition(const struct layout *l, const struct cond *c, struct prose *p)
{
	const struct field *f = &l->fields[c->field];
	const char *op = c->op == COND_EQ ? "=" : c->op == COND_NE ? "!=" : "&";
	const char *name = f->xlat ? xlat_name(f->xlat, c->value) : NULL;

	if (c->op == COND_PMU)
		prose_addf(p, "type is that of the PMU %s", c->pmu);
	else if (name)
		prose_addf(p, "%s%s%s", f->name, op, name);
	else
		prose_addf(p, "%s%s%llu", f->name, op, (unsigned long long)c->value);
}

const char *attr_prose_skip_verb(const char *meaning)
{
	const char *blank = strchr(meaning, ' ');

	return blank ? blank + 1 : meaning;
}

void attr_prose_flags(const struct xlat *x, uint64_t v, bool verbs, struct prose *p)
{
	const struct xlat_entry *e;
	uint64_t rest = v, n = 0, i = 0;
	bool comma = false;
	size_t at = 0;

	while ((e = xlat_next_flag(x, &rest, &at))) {
		comma |= strchr(e->meaning, ',') || strstr(e->meaning, " and ");
		n++;
	}
	at = 0;
	while ((e = xlat_next_flag(x, &v, &at))) {
		prose_adds(p, !i ? "" : !comma ? prose_sep(i, n) : i + 1 == n ? "; and " : "; ");
		prose_meaning(p, verbs ? attr_prose_skip_verb(e->meaning) : e->meaning);
		i++;
	}
	if (v)
		prose_addf(p, "%sthe unknown bits 0x%llx", n ? "; " : "", (unsigned long long)v);
}

/* What the event measures ------------------------------------------------------------ */

/* Write the name of a thing with a number; its number, if the name is NULL. */
static void what_named(const char *name, const char *number, uint64_t v, struct prose *p)
{
	if (name)
		prose_name(p, name);
	else
		prose_addf(p, "with %s %llu", number, (unsigned long long)v);
}

static void what_breakpoint(const struct open_attr *a, struct prose *p)
{
	const struct xlat_entry *e = xlat_find(&xlat_hw_breakpoint_type,
					       open_attr_get(a, ATTR_BP_TYPE));

	prose_meaning(p, e ? e->meaning : "accesses of an unknown kind");
	prose_addf(p, " of %llu bytes at 0x%llx, detected by a debug register",
		   (unsigned long long)open_attr_get(a, ATTR_BP_LEN),
		   (unsigned long long)open_attr_get(a, ATTR_BP_ADDR));
}

void attr_prose_what(const struct open_attr *a, struct prose *p)
{
	uint32_t type = (uint32_t)open_attr_get(a, ATTR_TYPE);
	uint64_t config = open_attr_get(a, ATTR_CONFIG);
	const struct xlat_entry *e = NULL;
	const char *name = NULL;

	if (type == PERF_TYPE_SOFTWARE)
		e = xlat_find(&xlat_perf_sw_ids, config);
	else if (type == PERF_TYPE_HARDWARE)
		e = xlat_find(&xlat_perf_hw_id, config & PERF_HW_EVENT_MASK);
	if (e) {
		prose_meaning(p, e->meaning);
	} else if (type == PERF_TYPE_BREAKPOINT) {
		what_breakpoint(a, p);
	} else if (type == PERF_TYPE_TRACEPOINT) {
		prose_adds(p, "hits of the tracepoint ");
		if (a->names && a->names->tracepoint)
			name = a->names->tracepoint(a->names, config);
		what_named(name, "id", config, p);
	} else if ((e = xlat_find(&xlat_perf_type_id, type))) {
		prose_meaning(p, e->meaning);
	} else {
		prose_adds(p, "an event of the PMU ");
		if (a->names && a->names->pmu)
			name = a->names->pmu(a->names, type);
		what_named(name, "type", type, p);
		prose_adds(p, name ? "" : ", whose name is unknown");
	}
}

void attr_prose_event(const struct open_attr *a, struct prose *p)
{
	static const unsigned int usual[] = { ATTR_TYPE, ATTR_CONFIG };
	static const unsigned int breakpoint[] = { ATTR_TYPE, ATTR_BP_TYPE, ATTR_BP_ADDR,
						   ATTR_BP_LEN };

	if (open_attr_get(a, ATTR_TYPE) == PERF_TYPE_BREAKPOINT)
		attr_prose_begin(a, p, breakpoint, 4);
	else
		attr_prose_begin(a, p, usual, 2);
	attr_prose_what(a, p);
	prose_adds(p, ".");
	prose_end(p);
}

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

/* What each source of samples does, and the steps of xlat/kernel.in for it. */
static const struct {
	const char *init, *sample, *text;
} sources[] = {
	[SOURCE_CLOCK] = { .init = "init_cpu_clock", .sample = "sample_clock" },
	[SOURCE_SOFTWARE] = { "init_software", "sample_software",
		"the kernel counts the event where it occurs, and takes the sample there at the "
		"end of each period." },
	[SOURCE_DUMMY] = { .init = "init_software" },
	[SOURCE_BPF] = { "init_software", NULL,
		"a BPF program writes the sample with bpf_perf_event_output()." },
	[SOURCE_TRACEPOINT] = { "init_tracepoint", "sample_tracepoint",
		"each hit of the tracepoint counts once; the hit that ends a period takes the "
		"sample." },
	[SOURCE_BREAKPOINT] = { "init_breakpoint", "sample_breakpoint",
		"each access raises a debug exception and counts once; the one that ends a "
		"period takes the sample." },
	[SOURCE_UPROBE] = { "init_uprobe", "sample_uprobe",
		"each hit of the breakpoint that the kernel inserted into the code counts once; "
		"the hit that ends a period takes the sample." },
	[SOURCE_KPROBE] = { "init_kprobe", NULL,
		"each hit of the probe counts once; the hit that ends a period takes the "
		"sample." },
	[SOURCE_CPU] = { "init_cpu", "sample_hardware",
		"the CPU's counter starts at minus the period and raises an interrupt when it "
		"overflows (an NMI on x86); the handler takes the sample." },
	[SOURCE_MSR] = { "init_msr", NULL, "never: this PMU has no interrupt." },
	[SOURCE_OTHER] = { NULL, NULL, "the PMU raises an interrupt at the end of each period." },
};

void attr_trigger_write(const struct attr_trigger *t, struct prose *p)
{
	if (t->source == SOURCE_CLOCK)
		trigger_clock(t, p);
	else if (sources[t->source].text)
		prose_adds(p, sources[t->source].text);
	if (t->sigtrap)
		prose_adds(p, " With sigtrap=1 the task also receives a SIGTRAP.");
	if (t->adaptive)
		prose_adds(p, " With freq=1 the kernel adjusts the period at timer ticks.");
}

const char *attr_trigger_init_step(const struct open_attr *a)
{
	enum event_source s = open_attr_source(a);

	return s == SOURCE_CLOCK && open_attr_get(a, ATTR_CONFIG) == PERF_COUNT_SW_TASK_CLOCK ?
		"init_task_clock" : sources[s].init;
}

const char *attr_trigger_sample_step(const struct open_attr *a)
{
	return sources[open_attr_source(a)].sample;
}
