// SPDX-License-Identifier: LGPL-2.1-or-later
#include "explain/attr_prose.h"

#include <string.h>

#include "abi/layout.h"
#include "text/text.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Members as text ------------------------------------------------------------------ */

static struct walk walk_of(const struct attr_words *a)
{
	return (struct walk){
		.layout = &layout_perf_event_attr, .bytes = a->attr, .len = a->len,
		.call = a->call, .arch = a->arch, .names = a->names,
	};
}

void attr_prose_member(const struct attr_words *a, unsigned int index, struct prose *p)
{
	struct walk w = walk_of(a);
	struct buf text = { 0 };
	struct text_sink sink;

	text_sink_init(&sink, &text);
	sink.sink.full = true;
	sink.sink.max_string = 64;
	text_sink_top(&sink, false, NULL);
	sink.sink.ops->begin(&sink.sink, NULL, SINK_OBJECT);
	layout_emit_member(&w, index, &sink.sink);
	sink.sink.ops->end(&sink.sink);
	if (text.len > 2)
		prose_addf(p, "%.*s", (int)text.len - 2, text.data + 1);
	buf_free(&text);
}

static unsigned int index_of(const struct field *f)
{
	return (unsigned int)(f - layout_perf_event_attr.fields);
}

static void members(const struct attr_words *a, struct prose *p, const unsigned int *list,
		    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		prose_adds(p, i ? ", " : "");
		attr_prose_member(a, list[i], p);
	}
	prose_adds(p, ": ");
}

/* The entries of a mask in words: "instruction pointer, CPU number and time". */
static void flags_in_words(const struct xlat *x, uint64_t v, const char *skip, struct prose *p)
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
		const char *meaning = e->meaning;

		if (!strncmp(meaning, skip, strlen(skip)))
			meaning += strlen(skip);
		prose_adds(p, !i ? "" : !comma ? prose_sep(i, n) : i + 1 == n ? "; and " : "; ");
		prose_meaning(p, meaning);
		i++;
	}
	if (v)
		prose_addf(p, "%sbits 0x%llx, which no release known here has",
			   n ? "; " : "", (unsigned long long)v);
}

void attr_prose_what(const struct attr_words *a, struct prose *p)
{
	uint32_t type = (uint32_t)attr_word(a, ATTR_TYPE);
	uint64_t config = attr_word(a, ATTR_CONFIG);
	const struct xlat_entry *e = NULL;
	const char *name;

	if (type == PERF_TYPE_SOFTWARE)
		e = xlat_find(&xlat_perf_sw_ids, config);
	else if (type == PERF_TYPE_HARDWARE)
		e = xlat_find(&xlat_perf_hw_id, config & PERF_HW_EVENT_MASK);
	if (e) {
		prose_meaning(p, e->meaning);
	} else if (type == PERF_TYPE_BREAKPOINT) {
		e = xlat_find(&xlat_hw_breakpoint_type, attr_word(a, ATTR_BP_TYPE));
		prose_meaning(p, e ? e->meaning : "Accesses of a kind that is not known");
		prose_addf(p, " of the %llu bytes at 0x%llx, which the CPU itself watches",
			   (unsigned long long)attr_word(a, ATTR_BP_LEN),
			   (unsigned long long)attr_word(a, ATTR_BP_ADDR));
	} else if (type == PERF_TYPE_TRACEPOINT) {
		name = a->names && a->names->tracepoint ?
			a->names->tracepoint(a->names, config) : NULL;
		prose_adds(p, "each hit of the tracepoint ");
		if (name)
			prose_name(p, name);
		else
			prose_addf(p, "with the id %llu", (unsigned long long)config);
	} else if ((e = xlat_find(&xlat_perf_type_id, type))) {
		prose_meaning(p, e->meaning);
	} else {
		name = a->names && a->names->pmu ? a->names->pmu(a->names, type) : NULL;
		prose_adds(p, "an event of the PMU ");
		if (name)
			prose_name(p, name);
		else
			prose_addf(p, "with the number %u, whose name is not known", type);
	}
}

/* The parts that other records end with, of all that a sample has. */
#define IN_SAMPLE_ID (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | \
		      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* Groups of fields ----------------------------------------------------------------- */

void attr_prose_event(const struct attr_words *a, struct prose *p)
{
	static const unsigned int usual[] = { ATTR_TYPE, ATTR_CONFIG };
	static const unsigned int breakpoint[] = { ATTR_TYPE, ATTR_BP_TYPE, ATTR_BP_ADDR,
						   ATTR_BP_LEN };

	prose_item(p);
	if (attr_word(a, ATTR_TYPE) == PERF_TYPE_BREAKPOINT)
		members(a, p, breakpoint, 4);
	else
		members(a, p, usual, 2);
	attr_prose_what(a, p);
	prose_adds(p, ".");
	prose_end(p);
}

/* What else there is to know of members, in the terms of xlat/. */
static void more(bool deep, const unsigned int *list, size_t n, struct prose *p)
{
	for (size_t i = 0; deep && i < n; i++) {
		char name[64] = "perf_event_attr.";
		const struct term_desc *t;

		strncat(name, layout_perf_event_attr.fields[list[i]].name,
			sizeof(name) - strlen(name) - 1);
		t = term_by_name(name);
		if (t)
			prose_addf(p, " %s.", t->text);
	}
}

static void per_clock(struct prose *p, uint64_t freq, uint64_t period)
{
	if (freq && freq <= 1000000000)
		prose_addf(p, "for this clock the kernel makes a fixed period of it, "
			      "%llu ns, so a sample is taken ",
			   (unsigned long long)(1000000000 / freq));
	if (freq) {
		prose_adds(p, "about ");
		prose_times(p, freq);
		prose_adds(p, " in each second that the event is on a CPU.");
	} else {
		prose_addf(p, "a sample is taken after each %llu ns that the event is on a "
			      "CPU", (unsigned long long)period);
		if (period < ATTR_CLOCK_LEAST)
			prose_addf(p, ", or rather after each %u, as the timer goes no faster",
				   ATTR_CLOCK_LEAST);
		prose_adds(p, ".");
	}
}

static void item_rate(const struct attr_words *a, bool deep, struct prose *p)
{
	static const unsigned int by_freq[] = { ATTR_FREQ, ATTR_SAMPLE_FREQ };
	static const unsigned int by_period[] = { ATTR_SAMPLE_PERIOD };
	uint64_t period = attr_word(a, ATTR_SAMPLE_PERIOD);
	bool freq = attr_word(a, ATTR_FREQ);

	prose_item(p);
	members(a, p, freq ? by_freq : by_period, freq ? 2 : 1);
	if (attr_source(a) == SOURCE_DUMMY)
		prose_adds(p, period ? "a dummy event counts nothing, so it never comes to a "
				       "sample." : "it takes no samples.");
	else if (!period)
		prose_adds(p, "it only counts and takes no samples.");
	else if (attr_source(a) == SOURCE_CLOCK)
		per_clock(p, freq ? period : 0, period);
	else if (freq)
		prose_addf(p, "the kernel adjusts the period to take about %llu samples a "
			      "second.", (unsigned long long)period);
	else if (period == 1)
		prose_adds(p, attr_every_hit(a) ? "a sample is taken at every hit." :
						  "a sample is taken at every single count.");
	else
		prose_addf(p, "a sample is taken after each %llu counts.",
			   (unsigned long long)period);
	more(deep, freq ? by_freq : by_period, freq ? 2 : 1, p);
}

static void item_sample(const struct attr_words *a, bool deep, struct prose *p)
{
	static const unsigned int list[] = { ATTR_SAMPLE_TYPE };
	uint64_t v = attr_word(a, ATTR_SAMPLE_TYPE);
	bool samples = attr_samples(a), ids = attr_word(a, ATTR_SAMPLE_ID_ALL);

	if (!v)
		return;
	prose_item(p);
	members(a, p, list, 1);
	if (!samples && !(ids && v & IN_SAMPLE_ID)) {
		prose_adds(p, "this would say what samples hold, but the event takes none.");
		return;
	}
	prose_adds(p, samples ? "each sample holds: " : "there are no samples, but with "
		      "sample_id_all=1 each other record ends with: ");
	flags_in_words(&xlat_perf_event_sample_format, samples ? v : v & IN_SAMPLE_ID, "", p);
	prose_adds(p, ".");
	more(deep, list, 1, p);
}

static void item_read(const struct attr_words *a, bool deep, struct prose *p)
{
	static const unsigned int list[] = { ATTR_READ_FORMAT };
	uint64_t v = attr_word(a, ATTR_READ_FORMAT), rest = v & ~PERF_FORMAT_GROUP;

	if (!v)
		return;
	prose_item(p);
	members(a, p, list, 1);
	prose_adds(p, v & PERF_FORMAT_GROUP ? "one read returns the counts of the whole group" :
					      "a read returns the count");
	if (rest) {
		prose_adds(p, ", with ");
		flags_in_words(&xlat_perf_event_read_format, rest, "Adds ", p);
	}
	prose_adds(p, ".");
	more(deep, list, 1, p);
}

static void item_start(const struct attr_words *a, bool deep, struct prose *p)
{
	static const unsigned int list[] = { ATTR_DISABLED, ATTR_ENABLE_ON_EXEC };
	bool off = attr_word(a, ATTR_DISABLED), exec = attr_word(a, ATTR_ENABLE_ON_EXEC);

	prose_item(p);
	members(a, p, list, exec ? 2 : 1);
	prose_adds(p, exec && off ? "it stands still until its task runs a program with exec." :
		      exec ? "it runs from the open on; the exec that would start it finds it "
			     "running." :
		      off ? "it stands still until somebody enables it." :
			    "it runs from the open on.");
	more(deep, list, exec ? 2 : 1, p);
}

static void item_wakeup(const struct attr_words *a, bool deep, struct prose *p)
{
	static const unsigned int bytes[] = { ATTR_WATERMARK, ATTR_WAKEUP_WATERMARK };
	static const unsigned int samples[] = { ATTR_WAKEUP_EVENTS };
	uint64_t n = attr_word(a, ATTR_WAKEUP_EVENTS);
	bool watermark = attr_word(a, ATTR_WATERMARK);

	if (!n)
		return;
	prose_item(p);
	members(a, p, watermark ? bytes : samples, watermark ? 2 : 1);
	prose_adds(p, "whoever waits for the ring is woken ");
	if (n == 1)
		prose_adds(p, watermark ? "by every record." :
					  "by every sample; other records wake nobody.");
	else
		prose_addf(p, watermark ? "when %llu bytes of records are new in it." :
					  "by every %llu samples; other records wake nobody.",
			   (unsigned long long)n);
	more(deep, watermark ? bytes : samples, watermark ? 2 : 1, p);
}

/* Switches whose meanings begin alike, as one item: "Writes ...", "Leaves out ...". */
static void item_alike(const struct attr_words *a, const char *verb, const char *says,
		       bool deep, struct prose *p)
{
	const struct field *list[32];
	struct walk w = walk_of(a);
	const struct field *f;
	size_t at = 0, n = 0;

	while (n < 32 && (f = layout_next(&w, &at)))
		if (f->kind == FIELD_BOOL && !strncmp(f->meaning, verb, strlen(verb)) &&
		    cond_holds(&w, &f->needs) && field_get(f, a->attr, a->len))
			list[n++] = f;
	if (!n)
		return;
	prose_item(p);
	for (size_t i = 0; i < n; i++)
		prose_addf(p, "%s%s=1", i ? ", " : "", list[i]->name);
	prose_addf(p, ": %s", says);
	for (size_t i = 0; i < n; i++) {
		const char *rest = list[i]->meaning + strlen(verb);

		prose_addf(p, "%s%.*s", i ? *verb == 'L' ? prose_sep(i, n) : "; " : "",
			   (int)strcspn(rest, *verb == 'L' ? "," : ";"), rest);
	}
	prose_adds(p, ".");
	for (size_t i = 0; i < n; i++) {
		unsigned int index = index_of(list[i]);

		more(deep, &index, 1, p);
	}
}

/* Those that the items above have told of. */
static bool told(const struct field *f)
{
	static const unsigned int done[] = {
		ATTR_TYPE, ATTR_SIZE, ATTR_CONFIG, ATTR_SAMPLE_PERIOD, ATTR_SAMPLE_FREQ,
		ATTR_SAMPLE_TYPE, ATTR_READ_FORMAT, ATTR_DISABLED, ATTR_ENABLE_ON_EXEC,
		ATTR_FREQ, ATTR_WATERMARK, ATTR_WAKEUP_EVENTS, ATTR_WAKEUP_WATERMARK,
		ATTR_BP_TYPE, ATTR_BP_ADDR, ATTR_BP_LEN,
	};

	for (size_t i = 0; i < sizeof(done) / sizeof(*done); i++)
		if (index_of(f) == done[i])
			return true;
	return f->kind == FIELD_BOOL && (!strncmp(f->meaning, "Writes ", 7) ||
					 !strncmp(f->meaning, "Leaves out ", 11));
}

static void add_condition(const struct cond *c, struct prose *p)
{
	const struct field *f = &layout_perf_event_attr.fields[c->field];
	const char *name = f->xlat ? xlat_name(f->xlat, c->value) : NULL;

	prose_addf(p, "%s%s", f->name, c->op == COND_NE ? "!=" : c->op == COND_MASK ? "&" : "=");
	if (name)
		prose_adds(p, name);
	else
		prose_addf(p, "%llu", (unsigned long long)c->value);
}

static void item_other(const struct attr_words *a, const struct field *f, bool acts,
		       bool deep, struct prose *p)
{
	unsigned int index = index_of(f);

	prose_item(p);
	members(a, p, &index, 1);
	if (index == ATTR_PRECISE_IP && attr_source(a) != SOURCE_CPU &&
	    attr_source(a) != SOURCE_OTHER) {
		prose_adds(p, "this changes nothing, as only counters of hardware have a skid");
	} else if (acts && f->kind == FIELD_FLAGS && f->xlat) {
		prose_meaning(p, f->meaning);
		prose_adds(p, ": ");
		flags_in_words(f->xlat, field_get(f, a->attr, a->len), "", p);
	} else if (acts) {
		prose_adds(p, f->kind == FIELD_BOOL ? "it " : "");
		prose_meaning(p, f->meaning);
	} else {
		prose_adds(p, "this changes nothing, as it needs ");
		add_condition(&f->needs, p);
	}
	prose_adds(p, ".");
	more(deep, &index, 1, p);
}

void attr_prose_fields(const struct attr_words *a, bool deep, struct prose *p)
{
	struct walk w = walk_of(a);
	const struct field *f;
	size_t at = 0;

	item_rate(a, deep, p);
	item_sample(a, deep, p);
	item_read(a, deep, p);
	item_start(a, deep, p);
	item_wakeup(a, deep, p);
	item_alike(a, "Leaves out ", "it leaves out ", deep, p);
	item_alike(a, "Writes ", "besides, the event writes ", deep, p);
	while ((f = layout_next(&w, &at))) {
		bool acts = cond_holds(&w, &f->needs);

		if (field_get(f, a->attr, a->len) && (!told(f) || !acts) &&
		    index_of(f) != ATTR_SIZE && index_of(f) != ATTR_CONFIG)
			item_other(a, f, acts, deep, p);
	}
	prose_end(p);
}
