// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The content of AUX areas in a perf.data file: a record that describes the PMU
 * (tools/perf/util/intel-pt.h, arm-spe.h, ...), and pieces.
 */
#include <stdio.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/lib/die.h"
#include "formats/perfdata/perfout_internal.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Masks of perf_event_attr.config of intel_pt: bits of the MSR IA32_RTIT_CTL. */
enum {
	PT_CYC = 1 << 1,
	PT_MTC = 1 << 9,
	PT_TSC = 1 << 10,
	PT_NORETCOMP = 1 << 11,
	PT_MTC_FREQ = 0xf << 14,
};

/* How perf learns of context switches (have_sched_switch in intel-pt.c). */
enum { SWITCHES_UNKNOWN, SWITCHES_TRACEPOINT, SWITCHES_OF_TASKS, SWITCHES_OF_CPUS };

static bool on_each_cpu(const struct perfout_view *v, const struct perfout_event *p)
{
	const struct event *e = model_event_number(v->model, p->number);

	return e && e->cpu >= 0;
}

static uint64_t switches(const struct perfout_view *v)
{
	uint64_t how = SWITCHES_UNKNOWN;

	for (size_t i = 0; i < v->nevents; i++) {
		const struct perfout_event *p = v->events[i];
		const struct event *e = model_event_number(v->model, p->number);

		if (perfout_attr_of(p, ATTR_CONTEXT_SWITCH))
			return e && e->pid < 0 ? SWITCHES_OF_CPUS : SWITCHES_OF_TASKS;
		if (!strcmp(p->name, "sched:sched_switch"))
			how = SWITCHES_TRACEPOINT;
	}
	return how;
}

/* The clock, in the order that the decoders of Intel's PMUs expect. */
static void words_of_clock(const struct perfout_view *v, struct buf *b)
{
	buf_add_u64(b, v->time.shift);
	buf_add_u64(b, v->time.mult);
	buf_add_u64(b, v->time.zero);
	buf_add_u64(b, v->time.valid);
}

/* Append the words of intel_pt; the crystal's ratio and the nominal one are not known: 0. */
static void words_of_pt(const struct perfout_view *v, const struct perfout_event *e, struct buf *b)
{
	buf_add_u64(b, perfout_attr_of(e, ATTR_TYPE));
	words_of_clock(v, b);
	buf_add_u64(b, PT_TSC);
	buf_add_u64(b, PT_NORETCOMP);
	buf_add_u64(b, switches(v));
	buf_add_u64(b, 0); /* no snapshot */
	buf_add_u64(b, on_each_cpu(v, e));
	buf_add_u64(b, PT_MTC);
	buf_add_u64(b, PT_MTC_FREQ);
	buf_add_u64(b, 0);
	buf_add_u64(b, 0);
	buf_add_u64(b, PT_CYC);
	buf_add_u64(b, 0);
	buf_add_u64(b, 0); /* length of the address filter, which follows */
}

static void words_of_bts(const struct perfout_view *v, const struct perfout_event *e,
			 struct buf *b)
{
	buf_add_u64(b, perfout_attr_of(e, ATTR_TYPE));
	words_of_clock(v, b);
	buf_add_u64(b, 0); /* no snapshot */
}

static void words_of_spe(const struct perfout_view *v, const struct perfout_event *e,
			 struct buf *b)
{
	buf_add_u64(b, perfout_attr_of(e, ATTR_TYPE));
	buf_add_u64(b, on_each_cpu(v, e));
}

static void words_of_ptt(const struct perfout_view *v, const struct perfout_event *e,
			 struct buf *b)
{
	(void)v;
	buf_add_u64(b, perfout_attr_of(e, ATTR_TYPE));
}

/* PMUs by the start of their names.  cs_etm is not here: perf requires registers of each CPU. */
static const struct kind {
	const char *pmu;
	uint32_t type;
	void (*words)(const struct perfout_view *v, const struct perfout_event *e, struct buf *b);
} kinds[] = {
	{ "intel_pt", PERF_AUXTRACE_INTEL_PT, words_of_pt },
	{ "intel_bts", PERF_AUXTRACE_INTEL_BTS, words_of_bts },
	{ "arm_spe", PERF_AUXTRACE_ARM_SPE, words_of_spe },
	{ "cpum_sf", PERF_AUXTRACE_S390_CPUMSF, NULL },
	{ "hisi_ptt", PERF_AUXTRACE_HISI_PTT, words_of_ptt },
};

static const struct kind *kind_of(const struct perfout_view *v, const struct perfout_event *e)
{
	const char *pmu = v->names->pmu ?
			  v->names->pmu(v->names, (uint32_t)perfout_attr_of(e, ATTR_TYPE)) : NULL;

	for (size_t i = 0; pmu && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(pmu, kinds[i].pmu, strlen(kinds[i].pmu)))
			return &kinds[i];
	return NULL;
}

/* Write a record whose fixed part is in b, with len bytes after it, padded to 8. */
static void perfout_write_own(struct perfout_view *v, uint32_t type, struct buf *b, const void *bytes,
			 size_t len)
{
	const struct field *f = layout_perf_event_header.fields;

	field_set(&f[PERF_EVENT_HEADER_TYPE], type, (uint8_t *)b->data);
	field_set(&f[PERF_EVENT_HEADER_SIZE], b->len, (uint8_t *)b->data);
	buf_add(b, bytes, len);
	while (b->len % 8)
		buf_addc(b, '\0');
	perfout_own_record(v, (const uint8_t *)b->data, b->len);
	buf_free(b);
}

static uint8_t *perfout_begin_own(struct buf *b, size_t size)
{
	buf_reserve(b, size);
	memset(b->data, 0, size);
	b->len = size;
	return (uint8_t *)b->data;
}

void perfout_describe_aux(struct perfout_view *v)
{
	const struct layout *l = &layout_perf_auxtrace_info;
	const struct kind *kind = NULL;
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < v->nevents && !kind; i++)
		kind = kind_of(v, v->events[i]);
	if (!kind || v->aux_described)
		return;
	v->aux_described = true;
	field_set(&l->fields[PERF_AUXTRACE_INFO_TYPE], kind->type, perfout_begin_own(&b, l->size));
	if (kind->words)
		kind->words(v, v->events[i - 1], &b);
	perfout_write_own(v, PERF_RECORD_AUXTRACE_INFO, &b, NULL, 0);
}

/* Return the index of the AUX area of a ring. */
static uint32_t area_of(struct perfout_view *v, const struct ring *r)
{
	uintptr_t index = (uintptr_t)map_get(&v->aux_areas, r->number);

	if (!index) {
		index = v->aux_areas.len + 1;
		map_set(&v->aux_areas, r->number, (void *)index);
	}
	return (uint32_t)index - 1;
}

void perfout_aux(struct perfout_view *v, uint64_t ns, const struct activity_aux *a)
{
	const struct layout *l = &layout_perf_auxtrace;
	const struct event *e = a->ring->event;
	struct buf b = { 0 };
	uint8_t *bytes;

	v->aux_missed += a->missed;
	if (!a->len || !e)
		return;
	perfout_member(v, e);
	if (v->ids_decided)
		perfout_describe_aux(v);
	bytes = perfout_begin_own(&b, l->size);
	field_set(&l->fields[PERF_AUXTRACE_SIZE], (a->len + 7) & ~7ULL, bytes);
	field_set(&l->fields[PERF_AUXTRACE_OFFSET], a->position, bytes);
	field_set(&l->fields[PERF_AUXTRACE_REFERENCE], ns, bytes);
	field_set(&l->fields[PERF_AUXTRACE_IDX], area_of(v, a->ring), bytes);
	field_set(&l->fields[PERF_AUXTRACE_TID],
		  e->cpu >= 0 ? UINT32_MAX : (uint32_t)(e->pid ? e->pid : e->opener), bytes);
	field_set(&l->fields[PERF_AUXTRACE_CPU], (uint32_t)e->cpu, bytes);
	perfout_write_own(v, PERF_RECORD_AUXTRACE, &b, a->bytes, a->len);
}

void perfout_know_time(struct perfout_view *v, const struct activity_look *l)
{
	const struct layout *page = &layout_perf_event_mmap_page;

	if (l->error || !l->page_len)
		return;
	v->time = (struct perfout_time){
		layout_get(page, PERF_EVENT_MMAP_PAGE_TIME_SHIFT, l->page, l->page_len),
		layout_get(page, PERF_EVENT_MMAP_PAGE_TIME_MULT, l->page, l->page_len),
		layout_get(page, PERF_EVENT_MMAP_PAGE_TIME_ZERO, l->page, l->page_len),
		layout_get(page, PERF_EVENT_MMAP_PAGE_CAP_USER_TIME_ZERO, l->page, l->page_len),
	};
}
