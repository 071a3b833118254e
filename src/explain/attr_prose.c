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

static void what_tracepoint(const struct open_attr *a, uint64_t id, struct prose *p)
{
	const char *name = a->names && a->names->tracepoint ?
		a->names->tracepoint(a->names, id) : NULL;

	prose_adds(p, "hits of the tracepoint ");
	if (name)
		prose_name(p, name);
	else
		prose_addf(p, "with id %llu", (unsigned long long)id);
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

static void what_pmu(const struct open_attr *a, uint32_t type, struct prose *p)
{
	const char *name = a->names && a->names->pmu ? a->names->pmu(a->names, type) : NULL;

	prose_adds(p, "an event of the PMU ");
	if (name)
		prose_name(p, name);
	else
		prose_addf(p, "with type %u, whose name is unknown", type);
}

void attr_prose_what(const struct open_attr *a, struct prose *p)
{
	uint32_t type = (uint32_t)open_attr_get(a, ATTR_TYPE);
	uint64_t config = open_attr_get(a, ATTR_CONFIG);
	const struct xlat_entry *e = NULL;

	if (type == PERF_TYPE_SOFTWARE)
		e = xlat_find(&xlat_perf_sw_ids, config);
	else if (type == PERF_TYPE_HARDWARE)
		e = xlat_find(&xlat_perf_hw_id, config & PERF_HW_EVENT_MASK);
	if (e)
		prose_meaning(p, e->meaning);
	else if (type == PERF_TYPE_BREAKPOINT)
		what_breakpoint(a, p);
	else if (type == PERF_TYPE_TRACEPOINT)
		what_tracepoint(a, config, p);
	else if ((e = xlat_find(&xlat_perf_type_id, type)))
		prose_meaning(p, e->meaning);
	else
		what_pmu(a, type, p);
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
