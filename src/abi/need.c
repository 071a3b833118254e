// SPDX-License-Identifier: LGPL-2.1-or-later
#include "abi/need.h"

#include "abi/attr_fields.h"
#include "abi/layout.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

static void offer(struct open_need *n, const char *name, uint32_t since)
{
	if (since > n->since && since > KVER(2, 6, 31))
		*n = (struct open_need){ since, name };
}

static void offer_value(struct open_need *n, const struct xlat *x, uint64_t v)
{
	const struct xlat_entry *e;
	size_t at = 0;

	if (x->kind != XLAT_FLAGS) {
		e = xlat_find(x, v);
		if (e)
			offer(n, e->name, e->since);
		return;
	}
	while ((e = xlat_next_flag(x, &v, &at)))
		offer(n, e->name, e->since);
}

struct open_need open_need(const uint8_t *attr, size_t len, uint64_t flags)
{
	struct walk w = { .layout = &layout_perf_event_attr, .bytes = attr, .len = len };
	uint64_t type = layout_get(w.layout, ATTR_TYPE, attr, len);
	struct open_need n = { 0 };
	const struct field *f;
	size_t at = 0;

	while ((f = layout_next(&w, &at))) {
		const struct xlat *x = f->kind == FIELD_CONFIG ? attr_config_values(type) : f->xlat;
		uint64_t v = field_get(f, attr, len);

		/* an older kernel accepts a longer attr if the members that it lacks are 0 */
		if ((v || f->kind == FIELD_CONFIG) && x && f->kind != FIELD_SIZE)
			offer_value(&n, x, v);
		if (v && f->kind != FIELD_SIZE && f->kind != FIELD_RESERVED)
			offer(&n, f->name, f->since);
	}
	offer_value(&n, &xlat_perf_event_open_flags, flags);
	return n;
}
