// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/attr_fields.h"

#include <string.h>

#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

const struct field *attr_member(const char *name, size_t len)
{
	const struct layout *l = &layout_perf_event_attr;

	for (size_t i = 0; i < l->n; i++)
		if (strlen(l->fields[i].name) == len && !memcmp(l->fields[i].name, name, len))
			return &l->fields[i];
	return NULL;
}

void attr_get_configs(const uint8_t *attr, size_t len, uint64_t *configs)
{
	for (size_t i = 0; i < ATTR_CONFIGS; i++)
		configs[i] = layout_get(&layout_perf_event_attr, attr_configs[i], attr, len);
}

static const char *pmu_name(const struct walk *w, uint32_t type)
{
	return w->names && w->names->pmu ? w->names->pmu(w->names, type) : NULL;
}

/* Note the name of the PMU, if names can be asked for it. */
static void note_pmu(const struct walk *w, uint32_t type, struct sink *s)
{
	const char *pmu = pmu_name(w, type);

	if (w->names && w->names->pmu)
		sink_note(s, "pmu", pmu ? pmu : "no PMU of this number in sysfs");
}

void attr_emit_type(const struct walk *w, const struct field *f,
		      uint32_t type, struct sink *s)
{
	if (xlat_name(f->xlat, type)) {
		sink_enum(s, f->name, f->xlat, type);
		return;
	}
	sink_uint(s, f->name, type);
	note_pmu(w, type, s);
}

/* Write the config of a generic event; its upper half may name the PMU (since 5.13). */
static void emit_hardware(const struct walk *w, const struct field *f,
			  uint64_t config, struct sink *s)
{
	uint32_t type = (uint32_t)(config >> PERF_PMU_TYPE_SHIFT);
	const struct sink_part parts[] = {
		{ NULL, type, PERF_PMU_TYPE_SHIFT },
		{ &xlat_perf_hw_id, config & PERF_HW_EVENT_MASK, 0 },
	};

	if (!type) {
		sink_enum(s, f->name, &xlat_perf_hw_id, config);
		return;
	}
	sink_packed(s, f->name, config, parts, 2);
	note_pmu(w, type, s);
}

static void emit_cache(const struct walk *w, const struct field *f,
		       uint64_t config, struct sink *s)
{
	uint32_t type = (uint32_t)(config >> PERF_PMU_TYPE_SHIFT);
	struct sink_part parts[5];
	size_t n = 0;

	if (type)
		parts[n++] = (struct sink_part){ NULL, type, PERF_PMU_TYPE_SHIFT };
	if (config >> 24 & 0xff)
		parts[n++] = (struct sink_part){ NULL, config >> 24 & 0xff, 24 };
	parts[n++] = (struct sink_part){ &xlat_perf_hw_cache_op_result_id,
					 config >> 16 & 0xff, 16 };
	parts[n++] = (struct sink_part){ &xlat_perf_hw_cache_op_id,
					 config >> 8 & 0xff, 8 };
	parts[n++] = (struct sink_part){ &xlat_perf_hw_cache_id, config & 0xff, 0 };
	sink_packed(s, f->name, config, parts, n);
	if (type)
		note_pmu(w, type, s);
}

static void emit_tracepoint(const struct walk *w, const struct field *f,
			    uint64_t config, struct sink *s)
{
	const char *name = NULL;

	sink_uint(s, f->name, config);
	if (w->names && w->names->tracepoint)
		name = w->names->tracepoint(w->names, config);
	if (name)
		sink_note(s, "event", name);
}

/* Write config with a note of its terms by sysfs format/: "cpu/event=0x3c/". */
static void emit_terms(const struct walk *w, const struct field *f,
		       uint32_t type, uint64_t config, struct sink *s)
{
	uint64_t configs[ATTR_CONFIGS];
	const char *terms = NULL;

	sink_hex(s, f->name, config);
	attr_get_configs(w->bytes, w->len, configs);
	if (w->names && w->names->terms)
		terms = w->names->terms(w->names, type, configs, ATTR_CONFIGS);
	if (terms)
		sink_note(s, "event", terms);
}

const struct xlat *attr_config_values(uint64_t type)
{
	return type == PERF_TYPE_HARDWARE ? &xlat_perf_hw_id :
	       type == PERF_TYPE_SOFTWARE ? &xlat_perf_sw_ids : NULL;
}

void attr_emit_config(const struct walk *w, const struct field *f, uint64_t config,
		 struct sink *s)
{
	uint32_t type = (uint32_t)layout_get(w->layout, ATTR_TYPE, w->bytes, w->len);

	switch (type) {
	case PERF_TYPE_HARDWARE:
		emit_hardware(w, f, config, s);
		break;
	case PERF_TYPE_SOFTWARE:
		sink_enum(s, f->name, &xlat_perf_sw_ids, config);
		break;
	case PERF_TYPE_TRACEPOINT:
		emit_tracepoint(w, f, config, s);
		break;
	case PERF_TYPE_HW_CACHE:
		emit_cache(w, f, config, s);
		break;
	case PERF_TYPE_BREAKPOINT:
		sink_hex(s, f->name, config);
		break;
	default:
		emit_terms(w, f, type, config, s);
	}
}

void attr_emit_size(const struct field *f, uint64_t size, struct sink *s)
{
	if (xlat_name(f->xlat, size)) {
		sink_enum(s, f->name, f->xlat, size);
		return;
	}
	sink_uint(s, f->name, size);
	if (!size)
		sink_note(s, "words", "PERF_ATTR_SIZE_VER0 assumed");
	else if (size < PERF_ATTR_SIZE_VER0)
		sink_note(s, "words", "too small: 64 is the least");
	else if (size > ATTR_MAX_SIZE)
		sink_note(s, "words", "too large: more than a page");
	else if (size > layout_perf_event_attr.size)
		sink_note(s, "words", "larger than any known version");
	else
		sink_note(s, "words", "between two versions");
}
