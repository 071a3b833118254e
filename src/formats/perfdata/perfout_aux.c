// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The content of AUX areas in a perf.data file: a record that describes the PMU
 * (tools/perf/util/intel-pt.h, arm-spe.h, ...), and pieces.
 */
#include "formats/perfdata/perfout_internal.h"

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

/* Append what perf expects to know of the PMU of an event. */
static void aux_add_words(const struct perfout_view *v, const struct perfout_event *e,
			  uint32_t type, struct buf *b)
{
	/* the crystal's ratio and the nominal one are not known: 0; so is the mode of snapshots */
	const uint64_t pt_words[] = {
		PT_TSC, PT_NORETCOMP, switches(v), 0, on_each_cpu(v, e),
		PT_MTC, PT_MTC_FREQ, 0, 0, PT_CYC, 0,
		0, /* length of the address filter, which follows */
	};

	if (type != PERF_AUXTRACE_S390_CPUMSF)
		buf_add_u64(b, perfout_attr_of(e, ATTR_TYPE));
	if (type == PERF_AUXTRACE_INTEL_PT || type == PERF_AUXTRACE_INTEL_BTS)
		buf_add(b, v->clock, sizeof(v->clock));
	if (type == PERF_AUXTRACE_INTEL_PT)
		buf_add(b, pt_words, sizeof(pt_words));
	else if (type == PERF_AUXTRACE_INTEL_BTS)
		buf_add_u64(b, 0); /* no snapshot */
	else if (type == PERF_AUXTRACE_ARM_SPE)
		buf_add_u64(b, on_each_cpu(v, e));
}

/* PMUs by the start of their names.  cs_etm is not here: perf requires registers of each CPU. */
static const struct kind {
	const char *pmu;
	uint32_t type;
} kinds[] = {
	{ "intel_pt", PERF_AUXTRACE_INTEL_PT },
	{ "intel_bts", PERF_AUXTRACE_INTEL_BTS },
	{ "arm_spe", PERF_AUXTRACE_ARM_SPE },
	{ "cpum_sf", PERF_AUXTRACE_S390_CPUMSF },
	{ "hisi_ptt", PERF_AUXTRACE_HISI_PTT },
};

void perfout_describe_aux(struct perfout_view *v)
{
	const struct layout *l = &layout_perf_auxtrace_info;
	const struct kind *kind = NULL;
	const struct perfout_event *e = NULL;
	const char *pmu;
	struct buf b = { 0 };

	for (size_t i = 0; i < v->nevents && v->names->pmu && !kind; i++) {
		e = v->events[i];
		pmu = v->names->pmu(v->names, (uint32_t)perfout_attr_of(e, ATTR_TYPE));
		for (size_t k = 0; pmu && k < sizeof(kinds) / sizeof(*kinds) && !kind; k++)
			if (!strncmp(pmu, kinds[k].pmu, strlen(kinds[k].pmu)))
				kind = &kinds[k];
	}
	if (!kind || v->aux_described)
		return;
	v->aux_described = true;
	field_set(&l->fields[PERF_AUXTRACE_INFO_TYPE], kind->type,
		  perfout_begin_record(&b, PERF_RECORD_AUXTRACE_INFO, 0, l->size));
	aux_add_words(v, e, kind->type, &b);
	perfout_end_record(&b);
	perfout_record(v, NULL, (const uint8_t *)b.data, b.len);
	buf_free(&b);
}

void perfout_aux(struct perfout_view *v, const struct activity_aux *a)
{
	const struct layout *l = &layout_perf_auxtrace;
	const struct event *e = a->ring->event;
	struct buf b = { 0 };
	uintptr_t area; /* its index + 1 */
	uint8_t *bytes;

	v->missed_aux_bytes += a->missed;
	if (!a->len || !e)
		return;
	perfout_member(v, e);
	if (v->ids_decided)
		perfout_describe_aux(v);
	area = (uintptr_t)map_get(&v->aux_areas, a->ring->number);
	if (!area) {
		area = v->aux_areas.len + 1;
		map_set(&v->aux_areas, a->ring->number, (void *)area);
	}
	bytes = perfout_begin_record(&b, PERF_RECORD_AUXTRACE, 0, l->size);
	field_set(&l->fields[PERF_AUXTRACE_SIZE], (a->len + 7) & ~7ULL, bytes);
	field_set(&l->fields[PERF_AUXTRACE_OFFSET], a->position, bytes);
	field_set(&l->fields[PERF_AUXTRACE_REFERENCE], a->ns, bytes);
	field_set(&l->fields[PERF_AUXTRACE_IDX], (uint32_t)area - 1, bytes);
	field_set(&l->fields[PERF_AUXTRACE_TID],
		  e->cpu >= 0 ? UINT32_MAX : (uint32_t)(e->pid ? e->pid : e->opener), bytes);
	field_set(&l->fields[PERF_AUXTRACE_CPU], (uint32_t)e->cpu, bytes);
	perfout_set_size(&b);
	buf_add(&b, a->bytes, a->len); /* behind the record */
	perfout_pad(&b, 0, 8);
	perfout_record(v, NULL, (const uint8_t *)b.data, b.len);
	buf_free(&b);
}

void perfout_note_clock(struct perfout_view *v, const struct activity_look *l)
{
	/* in the order that the decoders of Intel's PMUs expect */
	static const unsigned int members[] = {
		PERF_EVENT_MMAP_PAGE_TIME_SHIFT, PERF_EVENT_MMAP_PAGE_TIME_MULT,
		PERF_EVENT_MMAP_PAGE_TIME_ZERO, PERF_EVENT_MMAP_PAGE_CAP_USER_TIME_ZERO,
	};

	for (size_t i = 0; !l->error && l->page_len && i < sizeof(members) / sizeof(*members); i++)
		v->clock[i] = layout_get(&layout_perf_event_mmap_page, members[i], l->page,
					 l->page_len);
}
