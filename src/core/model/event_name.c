// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "core/model/event_name.h"

#include <ctype.h>
#include <string.h>

#include "core/lib/scan_text.h"

static uint64_t name_get(const uint8_t *attr, size_t len, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, attr, len);
}

/* Append "cpu-clock" for PERF_COUNT_SW_CPU_CLOCK; return false for unknown values. */
static bool name_add_word(const struct xlat *x, uint64_t v, struct buf *out)
{
	const char *name = xlat_name(x, v);

	if (!name)
		return false;
	for (name += strlen(x->prefix); *name; name++)
		buf_addc(out, *name == '_' ? '-' : (char)tolower(*name));
	return true;
}

/* Append the word for an unknown value, "software:99". */
static void add_generic(const struct xlat *x, uint64_t v, const char *class,
			struct buf *out)
{
	if (!name_add_word(x, v, out))
		buf_addf(out, "%s:0x%llx", class, (unsigned long long)v);
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

/* with_len: "mem:0x601040/8:rw" */
static void name_add_breakpoint(const uint8_t *attr, size_t len, bool with_len, struct buf *out)
{
	uint64_t type = name_get(attr, len, ATTR_BP_TYPE);

	buf_addf(out, "mem:0x%llx", (unsigned long long)name_get(attr, len, ATTR_BP_ADDR));
	if (with_len)
		buf_addf(out, "/%llu", (unsigned long long)name_get(attr, len, ATTR_BP_LEN));
	buf_addc(out, ':');
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

void event_name_probed(const uint8_t *attr, size_t len, const struct names *n,
		       const char *probed, struct buf *out)
{
	uint32_t type = (uint32_t)name_get(attr, len, ATTR_TYPE);
	const char *pmu = probed && type >= PERF_TYPE_MAX && n && n->pmu ? n->pmu(n, type) : NULL;
	bool user = pmu && !strcmp(pmu, "uprobe");
	uint64_t offset = name_get(attr, len, ATTR_PROBE_OFFSET);

	if (!user && !(pmu && !strcmp(pmu, "kprobe"))) {
		event_name(attr, len, n, out);
		return;
	}
	/* bit 0 of config: at the return of the function (format/retprobe) */
	buf_addf(out, "%s%sprobe:%s", user ? "u" : "k",
		 name_get(attr, len, ATTR_CONFIG) & 1 ? "ret" : "",
		 user ? scan_base_name(probed) : probed);
	if (user || offset)
		buf_addf(out, "+0x%llx", (unsigned long long)offset);
	add_modifiers(attr, len, out);
}

/* Append the name without modifiers. */
static void name_add_base(const uint8_t *attr, size_t len, const struct names *n, struct buf *out)
{
	uint32_t type = (uint32_t)name_get(attr, len, ATTR_TYPE);
	uint64_t config = name_get(attr, len, ATTR_CONFIG);
	const char *name;

	switch (type) {
	case PERF_TYPE_HARDWARE:
		add_generic(&xlat_perf_hw_id, config & PERF_HW_EVENT_MASK, "hardware", out);
		break;
	case PERF_TYPE_SOFTWARE:
		add_generic(&xlat_perf_sw_ids, config, "software", out);
		break;
	case PERF_TYPE_TRACEPOINT:
		name = n && n->tracepoint ? n->tracepoint(n, config) : NULL;
		if (name)
			buf_adds(out, name);
		else
			buf_addf(out, "tracepoint:%llu", (unsigned long long)config);
		break;
	case PERF_TYPE_HW_CACHE:
		name_add_part(&xlat_perf_hw_cache_id, config & 0xff, "", out);
		name_add_part(&xlat_perf_hw_cache_op_id, config >> 8 & 0xff, ":", out);
		name_add_part(&xlat_perf_hw_cache_op_result_id, config >> 16 & 0xff, ":", out);
		break;
	case PERF_TYPE_BREAKPOINT:
		name_add_breakpoint(attr, len, true, out);
		break;
	default:
		add_dynamic(type, attr, len, n, out);
	}
}

void event_name(const uint8_t *attr, size_t len, const struct names *n,
		struct buf *out)
{
	if (!event_name_knows(len)) {
		buf_adds(out, "event with an unreadable attr");
		return;
	}
	name_add_base(attr, len, n, out);
	add_modifiers(attr, len, out);
}

/* perf's names ------------------------------------------------------------- */

/* Append "L1-dcache-loads" or "L1-dcache-load-misses"; return false for unknown values. */
static bool perf_add_cache(uint64_t config, struct buf *out)
{
	const struct xlat_entry *cache = xlat_find(&xlat_event_cache_word, config & 0xff);
	uint64_t op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (!cache || !xlat_find(&xlat_event_cache_op_word, op) ||
	    !xlat_find(&xlat_event_cache_result_word, result))
		return false;
	buf_adds(out, cache->meaning);
	buf_addc(out, '-');
	name_add_word(&xlat_event_cache_op_word, op, out);
	if (result == PERF_COUNT_HW_CACHE_RESULT_ACCESS) {
		buf_adds(out, op == PERF_COUNT_HW_CACHE_OP_PREFETCH ? "es" : "s");
	} else {
		buf_addc(out, '-');
		name_add_word(&xlat_event_cache_result_word, result, out);
	}
	return true;
}

static bool perf_add_base(uint32_t type, const uint8_t *attr, size_t len, struct buf *out)
{
	uint64_t config = name_get(attr, len, ATTR_CONFIG);

	switch (type) {
	case PERF_TYPE_HARDWARE:
		return name_add_word(&xlat_event_hw_word, config & PERF_HW_EVENT_MASK, out);
	case PERF_TYPE_SOFTWARE:
		return name_add_word(&xlat_event_sw_word, config, out);
	case PERF_TYPE_HW_CACHE:
		return perf_add_cache(config & PERF_HW_EVENT_MASK, out);
	case PERF_TYPE_BREAKPOINT:
		name_add_breakpoint(attr, len, false, out);
		return true;
	default:
		return false;
	}
}

void event_name_perf(const uint8_t *attr, size_t len, const struct names *n, struct buf *out)
{
	static const struct {
		unsigned int member;
		char letter;
	} modes[] = { { ATTR_EXCLUDE_KERNEL, 'k' }, { ATTR_EXCLUDE_USER, 'u' },
		      { ATTR_EXCLUDE_HV, 'h' } };
	uint64_t precise = name_get(attr, len, ATTR_PRECISE_IP);
	const char *sep = ":";
	size_t measured = 0;

	if (!event_name_knows(len)) {
		event_name(attr, len, n, out);
		return;
	}
	if (!perf_add_base((uint32_t)name_get(attr, len, ATTR_TYPE), attr, len, out))
		name_add_base(attr, len, n, out);
	/*
	 * What is measured: k, u and h unless all or none are, and G if only guests are.  That
	 * guests are excluded is the default of perf record and not in the names that it stores.
	 */
	for (size_t i = 0; i < 3; i++)
		measured += !name_get(attr, len, modes[i].member);
	for (size_t i = 0; i < 3 && measured < 3; i++)
		if (!name_get(attr, len, modes[i].member)) {
			buf_addf(out, "%s%c", sep, modes[i].letter);
			sep = "";
		}
	for (uint64_t i = 0; i < precise; i++, sep = "")
		buf_addf(out, "%sp", sep);
	if (name_get(attr, len, ATTR_EXCLUDE_HOST) && !name_get(attr, len, ATTR_EXCLUDE_GUEST))
		buf_addf(out, "%sG", sep);
}
