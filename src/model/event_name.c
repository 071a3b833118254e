// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/event_name.h"

#include <ctype.h>
#include <string.h>

#include "abi/attr_fields.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

static uint64_t name_get(const uint8_t *attr, size_t len, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, attr, len);
}

/* Append "cpu-clock" for PERF_COUNT_SW_CPU_CLOCK, "software:99" for unknown values. */
static void add_generic(const struct xlat *x, uint64_t v, const char *class,
			struct buf *out)
{
	const char *name = xlat_name(x, v);

	if (!name) {
		buf_addf(out, "%s:0x%llx", class, (unsigned long long)v);
		return;
	}
	for (name += strlen(x->prefix); *name; name++)
		buf_addc(out, *name == '_' ? '-' : (char)tolower(*name));
}

static void name_add_part(const struct xlat *x, uint64_t v, const char *sep,
			  struct buf *out)
{
	const char *name = xlat_name(x, v);

	buf_adds(out, sep);
	if (name)
		buf_adds(out, name + strlen(x->prefix));
	else
		buf_addf(out, "0x%llx", (unsigned long long)v);
}

static void name_add_cache(uint64_t config, struct buf *out)
{
	name_add_part(&xlat_perf_hw_cache_id, config & 0xff, "", out);
	name_add_part(&xlat_perf_hw_cache_op_id, config >> 8 & 0xff, ":", out);
	name_add_part(&xlat_perf_hw_cache_op_result_id, config >> 16 & 0xff, ":", out);
}

static void name_add_breakpoint(const uint8_t *attr, size_t len, struct buf *out)
{
	uint64_t type = name_get(attr, len, ATTR_BP_TYPE);

	buf_addf(out, "mem:0x%llx/%llu:",
		 (unsigned long long)name_get(attr, len, ATTR_BP_ADDR),
		 (unsigned long long)name_get(attr, len, ATTR_BP_LEN));
	if (type & HW_BREAKPOINT_R)
		buf_addc(out, 'r');
	if (type & HW_BREAKPOINT_W)
		buf_addc(out, 'w');
	if (type & HW_BREAKPOINT_X)
		buf_addc(out, 'x');
}

static void add_dynamic(uint32_t type, const uint8_t *attr, size_t len,
			const struct names *n, struct buf *out)
{
	uint64_t configs[ATTR_CONFIGS];
	const char *terms, *pmu;

	attr_get_configs(attr, len, configs);
	terms = n && n->terms ? n->terms(n, type, configs, ATTR_CONFIGS) : NULL;
	if (terms) {
		buf_adds(out, terms);
		return;
	}
	if (type == PERF_TYPE_RAW) {
		buf_addf(out, "r%llx", (unsigned long long)configs[0]);
		return;
	}
	pmu = n && n->pmu ? n->pmu(n, type) : NULL;
	if (pmu)
		buf_addf(out, "%s/0x%llx/", pmu, (unsigned long long)configs[0]);
	else
		buf_addf(out, "pmu%u/0x%llx/", type, (unsigned long long)configs[0]);
}

static void name_add_tracepoint(uint64_t id, const struct names *n, struct buf *out)
{
	const char *name = n && n->tracepoint ? n->tracepoint(n, id) : NULL;

	if (name)
		buf_adds(out, name);
	else
		buf_addf(out, "tracepoint:%llu", (unsigned long long)id);
}

/* Append perf's modifiers: the modes that are not excluded. */
static void add_modifiers(const uint8_t *attr, size_t len, struct buf *out)
{
	bool u = !name_get(attr, len, ATTR_EXCLUDE_USER);
	bool k = !name_get(attr, len, ATTR_EXCLUDE_KERNEL);
	uint64_t precise = name_get(attr, len, ATTR_PRECISE_IP);

	if (u && k && !precise)
		return;
	buf_addc(out, ':');
	if (u && !k)
		buf_addc(out, 'u');
	else if (k && !u)
		buf_addc(out, 'k');
	else if (!u && !k)
		buf_addc(out, 'h');
	while (precise--)
		buf_addc(out, 'p');
}

bool event_name_knows(size_t len)
{
	const struct field *size = &layout_perf_event_attr.fields[ATTR_SIZE];

	return len >= size->offset + size->width;
}

/* Append "uprobe:bash+0x4245c0"; return false if the PMU is none of probes. */
static bool name_add_probe(const uint8_t *attr, size_t len, const struct names *n,
			   const char *probed, struct buf *out)
{
	uint32_t type = (uint32_t)name_get(attr, len, ATTR_TYPE);
	const char *pmu = probed && type >= PERF_TYPE_MAX && n && n->pmu ? n->pmu(n, type) : NULL;
	bool user = pmu && !strcmp(pmu, "uprobe");
	uint64_t offset = name_get(attr, len, ATTR_PROBE_OFFSET);

	if (!user && !(pmu && !strcmp(pmu, "kprobe")))
		return false;
	if (user && strrchr(probed, '/'))
		probed = strrchr(probed, '/') + 1;
	/* bit 0 of config: at the return of the function (format/retprobe) */
	buf_addf(out, "%s%sprobe:%s", user ? "u" : "k",
		 name_get(attr, len, ATTR_CONFIG) & 1 ? "ret" : "", probed);
	if (user || offset)
		buf_addf(out, "+0x%llx", (unsigned long long)offset);
	return true;
}

void event_name_probed(const uint8_t *attr, size_t len, const struct names *n,
		       const char *probed, struct buf *out)
{
	if (name_add_probe(attr, len, n, probed, out))
		add_modifiers(attr, len, out);
	else
		event_name(attr, len, n, out);
}

void event_name(const uint8_t *attr, size_t len, const struct names *n,
		struct buf *out)
{
	uint32_t type = (uint32_t)name_get(attr, len, ATTR_TYPE);
	uint64_t config = name_get(attr, len, ATTR_CONFIG);

	if (!event_name_knows(len)) {
		buf_adds(out, "event with an unreadable attr");
		return;
	}
	switch (type) {
	case PERF_TYPE_HARDWARE:
		add_generic(&xlat_perf_hw_id, config & PERF_HW_EVENT_MASK,
			    "hardware", out);
		break;
	case PERF_TYPE_SOFTWARE:
		add_generic(&xlat_perf_sw_ids, config, "software", out);
		break;
	case PERF_TYPE_TRACEPOINT:
		name_add_tracepoint(config, n, out);
		break;
	case PERF_TYPE_HW_CACHE:
		name_add_cache(config, out);
		break;
	case PERF_TYPE_BREAKPOINT:
		name_add_breakpoint(attr, len, out);
		break;
	default:
		add_dynamic(type, attr, len, n, out);
	}
	add_modifiers(attr, len, out);
}
