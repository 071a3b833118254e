// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "explain/attr_prose.h"

#include <string.h>

#include "formats/text/text.h"

/* The shortest period of a clock's timer, in ns (perf_swevent_start_hrtimer). */
enum { CLOCK_PERIOD_MIN = 10000 };

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

/* Begin an item about n members: "- freq=1, sample_freq=999: ". */
static void attr_prose_begin(const struct open_attr *a, struct prose *p, const unsigned int *list,
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

/* Skip the verb of a meaning: "Adds the id of each event". */
static const char *attr_prose_skip_verb(const char *meaning)
{
	const char *blank = strchr(meaning, ' ');

	return blank ? blank + 1 : meaning;
}

/*
 * Write the meanings of a mask's flags: "instruction pointer, CPU number and time".
 * verbs: the meanings begin with a verb, which is left out.
 */
static void attr_prose_flags(const struct xlat *x, uint64_t v, bool verbs, struct prose *p)
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
		e = xlat_find(&xlat_hw_breakpoint_type, open_attr_get(a, ATTR_BP_TYPE));
		prose_meaning(p, e ? e->meaning : "accesses of an unknown kind");
		prose_addf(p, " of %llu bytes at 0x%llx, detected by a debug register",
			   (unsigned long long)open_attr_get(a, ATTR_BP_LEN),
			   (unsigned long long)open_attr_get(a, ATTR_BP_ADDR));
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
	} else {
		t.adaptive = freq && t.source != SOURCE_MSR;
	}
	return t;
}

bool attr_trigger_same(const struct attr_trigger *a, const struct attr_trigger *b)
{
	return a->source == b->source && a->adaptive == b->adaptive && a->sigtrap == b->sigtrap &&
	       a->task == b->task && a->ns == b->ns;
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
	uint64_t ns = t->ns < CLOCK_PERIOD_MIN ? CLOCK_PERIOD_MIN : t->ns;

	if (t->source == SOURCE_CLOCK)
		prose_addf(p, "a high-resolution timer of %llu ns takes the sample.%s",
			   (unsigned long long)ns, ns == t->ns ? "" :
			   " The attr asks for a shorter period than the kernel allows.");
	else if (sources[t->source].text)
		prose_adds(p, sources[t->source].text);
	if (t->task)
		prose_adds(p, " It runs only while the task is on a CPU: a sleeping task is not "
			      "sampled.");
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

/* The sample_type bits that sample_id_all adds to other records. */
#define IN_SAMPLE_ID (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | \
		      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* Which items an attr has -------------------------------------------------------------- */

static unsigned int item_index(const struct field *f)
{
	return (unsigned int)(f - layout_perf_event_attr.fields);
}

static const unsigned int excludes[] = {
	ATTR_EXCLUDE_USER, ATTR_EXCLUDE_KERNEL, ATTR_EXCLUDE_HV, ATTR_EXCLUDE_IDLE,
	ATTR_EXCLUDE_HOST, ATTR_EXCLUDE_GUEST,
};

static const unsigned int records[] = {
	ATTR_MMAP, ATTR_MMAP_DATA, ATTR_MMAP2, ATTR_COMM, ATTR_TASK, ATTR_CONTEXT_SWITCH,
	ATTR_NAMESPACES, ATTR_KSYMBOL, ATTR_BPF_EVENT, ATTR_CGROUP, ATTR_TEXT_POKE,
	ATTR_DEFER_OUTPUT,
};

enum { NEXCLUDES = sizeof(excludes) / sizeof(*excludes),
       NRECORDS = sizeof(records) / sizeof(*records) };

/* The members that an item of each kind explains together. */
static const struct {
	unsigned int one, pair[2];	/* one; or the pair, if that fact of the item is set */
	unsigned int fact;
	const unsigned int *flags;	/* those whose bits are set in the first fact */
	unsigned int nflags;
} kinds[ITEM_MEMBER] = {
	[ITEM_RATE] = { ATTR_SAMPLE_PERIOD, { ATTR_FREQ, ATTR_SAMPLE_FREQ }, .fact = 1 },
	[ITEM_SAMPLE] = { .one = ATTR_SAMPLE_TYPE },
	[ITEM_READ] = { .one = ATTR_READ_FORMAT },
	[ITEM_START] = { ATTR_DISABLED, { ATTR_DISABLED, ATTR_ENABLE_ON_EXEC }, .fact = 1 },
	[ITEM_WAKEUP] = { ATTR_WAKEUP_EVENTS, { ATTR_WATERMARK, ATTR_WAKEUP_WATERMARK },
			  .fact = 0 },
	[ITEM_EXCLUDE] = { .flags = excludes, .nflags = NEXCLUDES },
	[ITEM_RECORDS] = { .flags = records, .nflags = NRECORDS },
};

static bool is_grouped(unsigned int index)
{
	static const unsigned int others[] = {
		ATTR_TYPE, ATTR_SIZE, ATTR_CONFIG, ATTR_BP_TYPE, ATTR_BP_ADDR, ATTR_BP_LEN,
	};
	bool found = false;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		found |= index == others[i];
	for (size_t k = 0; k < ITEM_MEMBER; k++) {
		found |= index == kinds[k].one || index == kinds[k].pair[0] ||
			 index == kinds[k].pair[1];
		for (unsigned int i = 0; i < kinds[k].nflags; i++)
			found |= index == kinds[k].flags[i];
	}
	return found;
}

/* List the members of an item; return how many there are. */
static size_t item_members(const struct attr_item *item, unsigned int list[NRECORDS])
{
	size_t n = 0;

	if (item->kind == ITEM_MEMBER) {
		list[n++] = item->member;
	} else if (kinds[item->kind].pair[1] && item->facts[kinds[item->kind].fact]) {
		list[n++] = kinds[item->kind].pair[0];
		list[n++] = kinds[item->kind].pair[1];
	} else if (!kinds[item->kind].nflags) {
		list[n++] = kinds[item->kind].one;
	}
	for (unsigned int i = 0; item->kind != ITEM_MEMBER && i < kinds[item->kind].nflags; i++)
		if (item->facts[0] >> i & 1)
			list[n++] = kinds[item->kind].flags[i];
	return n;
}

static struct attr_item member_item(const struct open_attr *a, const struct field *f, bool acts)
{
	struct attr_item item = {
		.kind = ITEM_MEMBER, .member = item_index(f),
		.facts = { field_get(f, a->attr, a->len), acts },
	};

	if (item.member == ATTR_PRECISE_IP) /* only hardware counters have skid */
		item.facts[2] = open_attr_source(a) == SOURCE_CPU ||
				open_attr_source(a) == SOURCE_OTHER;
	else if (item.member == ATTR_SAMPLE_ID_ALL)
		item.facts[2] = open_attr_get(a, ATTR_SAMPLE_TYPE) & IN_SAMPLE_ID;
	else if (f->kind == FIELD_CONFIGX) /* what it means depends on the PMU */
		item.facts[2] = open_attr_get(a, ATTR_TYPE);
	return item;
}

static size_t add_switches(const struct open_attr *a, struct attr_item *out)
{
	struct attr_item exclude = { .kind = ITEM_EXCLUDE }, record = { .kind = ITEM_RECORDS };
	enum event_source source = open_attr_source(a);
	size_t n = 0;

	for (unsigned int i = 0; i < NEXCLUDES; i++)
		exclude.facts[0] |= open_attr_get(a, excludes[i]) << i;
	for (unsigned int i = 0; i < NRECORDS; i++)
		record.facts[0] |= open_attr_get(a, records[i]) << i;
	/*
	 * the bits at which the kernel does not look for such an event: those of its own counters
	 * know user and kernel mode alone (perf_exclude_event()), and clocks the idle task
	 */
	if (source != SOURCE_MSR && source != SOURCE_CPU && source != SOURCE_OTHER)
		exclude.facts[1] = exclude.facts[0] &
				   (source == SOURCE_CLOCK ? 1 << 2 | 1 << 4 | 1 << 5 : 15 << 2);
	if (exclude.facts[0])
		out[n++] = exclude;
	if (record.facts[0])
		out[n++] = record;
	return n;
}

size_t attr_items(const struct open_attr *a, struct attr_item out[ATTR_ITEMS])
{
	struct walk w = attr_prose_walk(a);
	const struct field *f;
	size_t at = 0, n = 0;

	out[n++] = (struct attr_item){ ITEM_RATE, 0, {
		open_attr_source(a), open_attr_get(a, ATTR_FREQ),
		open_attr_get(a, ATTR_SAMPLE_PERIOD), open_attr_every_hit(a) } };
	if (open_attr_get(a, ATTR_SAMPLE_TYPE))
		out[n++] = (struct attr_item){ ITEM_SAMPLE, 0, {
			open_attr_get(a, ATTR_SAMPLE_TYPE), open_attr_samples(a),
			open_attr_get(a, ATTR_SAMPLE_ID_ALL) } };
	if (open_attr_get(a, ATTR_READ_FORMAT))
		out[n++] = (struct attr_item){ ITEM_READ, 0, {
			open_attr_get(a, ATTR_READ_FORMAT) } };
	out[n++] = (struct attr_item){ ITEM_START, 0, {
		open_attr_get(a, ATTR_DISABLED), open_attr_get(a, ATTR_ENABLE_ON_EXEC) } };
	if (open_attr_get(a, ATTR_WAKEUP_EVENTS))
		out[n++] = (struct attr_item){ ITEM_WAKEUP, 0, {
			open_attr_get(a, ATTR_WATERMARK), open_attr_get(a, ATTR_WAKEUP_EVENTS) } };
	n += add_switches(a, out + n);
	while (n < ATTR_ITEMS && (f = layout_next(&w, &at)))
		if (!is_grouped(item_index(f)) && field_get(f, a->attr, a->len))
			out[n++] = member_item(a, f, cond_holds(&w, &f->needs));
	return n;
}

bool attr_item_same(const struct attr_item *x, const struct attr_item *y)
{
	return x->kind == y->kind && x->member == y->member &&
	       !memcmp(x->facts, y->facts, sizeof(x->facts));
}

/* Sentences, without their full stops --------------------------------------------------- */

static void item_rate(const struct attr_item *item, struct prose *p)
{
	bool clock = item->facts[0] == SOURCE_CLOCK, freq = item->facts[1];
	unsigned long long period = item->facts[2];

	if (!period)
		prose_adds(p, "no samples");
	else if (item->facts[0] == SOURCE_DUMMY)
		prose_adds(p, "no samples, because a dummy event counts nothing");
	else if (clock && freq && period <= 1000000000)
		prose_addf(p, "the kernel converts this to a fixed timer period of %llu ns: about "
			      "%llu sample%s per second on a CPU",
			   1000000000 / period, period, period == 1 ? "" : "s");
	else if (clock && freq)
		prose_addf(p, "about %llu samples per second on a CPU", period);
	else if (clock)
		prose_addf(p, "one sample every %llu ns on a CPU%s", period,
			   period < CLOCK_PERIOD_MIN ? "; the kernel raises this to 10000 ns" : "");
	else if (freq)
		prose_addf(p, "the kernel adjusts the period to take about %llu samples per "
			      "second", period);
	else if (period == 1)
		prose_adds(p, item->facts[3] ? "one sample at every hit" :
						       "one sample at every count");
	else
		prose_addf(p, "one sample every %llu counts", period);
}

/* Return whether sample_type matters: to samples, or with sample_id_all to other records. */
static bool sample_type_acts(const struct attr_item *item)
{
	return item->facts[1] || (item->facts[2] && item->facts[0] & IN_SAMPLE_ID);
}

static void item_sample(const struct attr_item *item, struct prose *p)
{
	bool samples = item->facts[1];

	if (!sample_type_acts(item)) {
		prose_adds(p, "no effect: the event takes no samples");
		return;
	}
	prose_adds(p, samples ? "each sample holds: " :
				"no samples, but with sample_id_all=1 other records end with: ");
	attr_prose_flags(&xlat_perf_event_sample_format,
			 item->facts[0] & (samples ? UINT64_MAX : IN_SAMPLE_ID), false, p);
}

static void item_read(const struct attr_item *item, struct prose *p)
{
	uint64_t v = item->facts[0], rest = v & ~PERF_FORMAT_GROUP;

	prose_adds(p, v & PERF_FORMAT_GROUP ? "one read returns the counts of the whole group" :
					      "a read returns the count");
	if (rest) {
		prose_adds(p, ", with ");
		attr_prose_flags(&xlat_perf_event_read_format, rest, true, p);
	}
}

static void item_start(const struct attr_item *item, struct prose *p)
{
	bool off = item->facts[0], exec = item->facts[1];

	prose_adds(p, exec && off ? "starts disabled; enabled by exec" :
		      exec ? "enabled at open; enable_on_exec has no effect" :
		      off ? "starts disabled" : "enabled at open");
}

static void item_wakeup(const struct attr_item *item, struct prose *p)
{
	bool watermark = item->facts[0];
	uint64_t n = item->facts[1];

	if (watermark && n == 1)
		prose_adds(p, "every record wakes up poll");
	else if (watermark)
		prose_addf(p, "poll wakes up after every %llu bytes of records",
			   (unsigned long long)n);
	else if (n == 1)
		prose_adds(p, "every sample wakes up poll; other records do so once the ring "
			      "buffer is half full");
	else
		prose_addf(p, "poll wakes up after every %llu samples, and whenever the ring "
			      "buffer is half full", (unsigned long long)n);
}

static void item_exclude(const struct attr_item *item, struct prose *p)
{
	static const char *const what[NEXCLUDES] = {
		"user mode", "kernel mode", "hypervisor mode", "the idle task", "the host",
		"virtual machines",
	};
	uint64_t ignored = item->facts[1], acting = item->facts[0] & ~ignored, n = 0;
	uint64_t all = (uint64_t)__builtin_popcountll(acting);

	prose_adds(p, acting ? "excludes " : "no effect on such an event");
	for (unsigned int i = 0; i < NEXCLUDES; i++)
		if (acting >> i & 1)
			prose_addf(p, "%s%s", prose_sep(n++, all), what[i]);
	if (!acting || !ignored)
		return;
	all = (uint64_t)__builtin_popcountll(ignored);
	n = 0;
	prose_adds(p, "; on such an event ");
	for (unsigned int i = 0; i < NEXCLUDES; i++)
		if (ignored >> i & 1)
			prose_addf(p, "%s%s", prose_sep(n++, all),
				   layout_perf_event_attr.fields[excludes[i]].name);
	prose_addf(p, " ha%s no effect", all == 1 ? "s" : "ve");
}

static void item_records(const struct attr_item *item, struct prose *p)
{
	unsigned int list[NRECORDS];
	size_t n = item_members(item, list);

	prose_adds(p, "also writes ");
	for (size_t i = 0; i < n; i++) {
		const struct field *f = &layout_perf_event_attr.fields[list[i]];
		const char *what = attr_prose_skip_verb(f->meaning);

		/* what follows a semicolon is no record */
		prose_addf(p, "%s%.*s", i ? "; " : "", (int)strcspn(what, ";"), what);
	}
}

size_t attr_prose_records(const struct open_attr *a, struct prose *p)
{
	size_t n = 0;

	for (unsigned int i = 0; i < NRECORDS; i++) {
		if (!open_attr_get(a, records[i]))
			continue;
		if (p)
			prose_addf(p, "%s%s", n ? ", " : "",
				   layout_perf_event_attr.fields[records[i]].name);
		n++;
	}
	return n;
}

static void item_member(const struct attr_item *item, struct prose *p)
{
	const struct field *f = &layout_perf_event_attr.fields[item->member];

	if (item->member == ATTR_PRECISE_IP && !item->facts[2]) {
		prose_adds(p, "no effect: only hardware counters have skid");
	} else if (item->member == ATTR_SAMPLE_ID_ALL && !item->facts[2]) {
		prose_adds(p, "no effect: sample_type selects nothing that it adds");
	} else if (!item->facts[1]) {
		prose_adds(p, "no effect: requires ");
		attr_prose_condition(&layout_perf_event_attr, &f->needs, p);
	} else {
		prose_meaning(p, f->meaning);
		if (f->kind == FIELD_FLAGS && f->xlat) {
			prose_adds(p, ": ");
			attr_prose_flags(f->xlat, item->facts[0], false, p);
		}
	}
}

void attr_item_write(const struct attr_item *item, const struct open_attr *a, bool deep,
		     struct prose *p)
{
	static void (*const writers[])(const struct attr_item *item, struct prose *p) = {
		item_rate, item_sample, item_read, item_start, item_wakeup, item_exclude,
		item_records, item_member,
	};
	unsigned int list[NRECORDS];
	size_t n = item_members(item, list);

	attr_prose_begin(a, p, list, n);
	writers[item->kind](item, p);
	prose_adds(p, ".");
	if (!deep || (item->kind == ITEM_SAMPLE && !sample_type_acts(item)))
		return;
	/* what terms.in says of the members */
	for (size_t i = 0; i < n; i++) {
		char name[64] = "perf_event_attr.";
		const struct term_desc *t;

		strncat(name, layout_perf_event_attr.fields[list[i]].name,
			sizeof(name) - strlen(name) - 1);
		t = term_by_name(name);
		if (t)
			prose_addf(p, " %s.", t->text);
	}
}

void attr_items_write(const struct open_attr *a, bool deep, struct prose *p)
{
	struct attr_item items[ATTR_ITEMS];
	size_t n = attr_items(a, items);

	for (size_t i = 0; i < n; i++)
		attr_item_write(&items[i], a, deep, p);
	prose_end(p);
}
