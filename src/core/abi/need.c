// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/need.h"

#include "core/abi/attr_fields.h"
#include "core/abi/layout.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* What is passed on, and to which function. */
struct offering {
	void (*hook)(void *ctx, const struct open_need *need);
	void *ctx;
};

static void offer(const struct offering *o, const char *name, uint32_t since)
{
	struct open_need need = { since, name };

	if (since > KVER(2, 6, 31))
		o->hook(o->ctx, &need);
}

static void offer_value(const struct offering *o, const struct xlat *x, uint64_t v)
{
	const struct xlat_entry *e;
	size_t at = 0;

	if (x->kind != XLAT_FLAGS) {
		e = xlat_find(x, v);
		if (e)
			offer(o, e->name, e->since);
		return;
	}
	while ((e = xlat_next_flag(x, &v, &at)))
		offer(o, e->name, e->since);
}

void open_need_each(const uint8_t *attr, size_t len, uint64_t flags,
		    void (*hook)(void *ctx, const struct open_need *need), void *ctx)
{
	struct walk w = { .layout = &layout_perf_event_attr, .bytes = attr, .len = len };
	uint64_t type = layout_get(w.layout, ATTR_TYPE, attr, len);
	const struct offering o = { hook, ctx };
	const struct field *f;
	size_t at = 0;

	while ((f = layout_next(&w, &at))) {
		const struct xlat *x = f->kind == FIELD_CONFIG ? attr_config_values(type) : f->xlat;
		uint64_t v = field_get(f, attr, len);

		/* an older kernel accepts a longer attr if the members that it lacks are 0 */
		if ((v || f->kind == FIELD_CONFIG) && x && f->kind != FIELD_SIZE)
			offer_value(&o, x, v);
		if (v && f->kind != FIELD_SIZE && f->kind != FIELD_RESERVED)
			offer(&o, f->name, f->since);
	}
	offer_value(&o, &xlat_perf_event_open_flags, flags);
}

static void keep_newest(void *ctx, const struct open_need *need)
{
	struct open_need *newest = ctx;

	if (need->since > newest->since)
		*newest = *need;
}

struct open_need open_need(const uint8_t *attr, size_t len, uint64_t flags)
{
	struct open_need newest = { 0 };

	open_need_each(attr, len, flags, keep_newest, &newest);
	return newest;
}
