// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/perfdata/perfdata_state.h"

#include <stdlib.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/abi/swap.h"
#include "core/lib/die.h"
#include "xlat/tables.h"

struct perfdata_event *perfdata_event_of(const struct perfdata *p, uint64_t id)
{
	uintptr_t at = (uintptr_t)map_get(&p->by_id, id);

	return at ? &p->events[at - 1] : NULL;
}

uint64_t perfdata_load(const struct perfdata *p, const void *bytes, size_t width)
{
	return p->swapped ? swap_load(bytes, width) : load_uint(bytes, width);
}

bool perfdata_broken(struct perfdata *p, const char *fmt, ...)
{
	struct buf why = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&why, fmt, ap);
	va_end(ap);
	if (!p->broken)
		warn("%s: %s; the file is cut off or damaged", p->file.path, buf_str(&why));
	p->broken = true;
	buf_free(&why);
	return false;
}

void perfdata_add_event(struct perfdata *p, const uint8_t *attr, size_t len,
			const uint8_t *ids, size_t nids)
{
	struct perfdata_event *e;

	/* grows in powers of two */
	if (!(p->nevents & (p->nevents - 1)))
		p->events = xrealloc(p->events, (p->nevents ? 2 * p->nevents : 1) *
				     sizeof(*p->events));
	e = &p->events[p->nevents++];
	*e = (struct perfdata_event){
		.attr = xmalloc(len), .attr_len = len,
		.ids = xmalloc(nids ? nids * sizeof(*e->ids) : 1), .nids = nids,
	};
	memcpy(e->attr, attr, len);
	if (p->swapped)
		swap_layout(&layout_perf_event_attr, e->attr, 0, len);
	for (size_t i = 0; i < nids; i++) {
		e->ids[i] = perfdata_load(p, ids + 8 * i, 8);
		if (!map_get(&p->by_id, e->ids[i]))
			map_set(&p->by_id, e->ids[i], (void *)(uintptr_t)p->nevents);
	}
}

void perfdata_set_name(struct perfdata_event *e, const char *name, size_t len)
{
	free(e->name);
	e->name = xstrndup(name, len);
}
