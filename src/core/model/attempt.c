// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/model/attempt.h"

#include "core/abi/layout.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum { LIKE_SHARED = 3, LIKE_DIFFERENT = 6, REMEMBERED = 8 };

static uint64_t attempt_get(const struct attempt *a, unsigned int field)
{
	return layout_get(&layout_perf_event_attr, field, a->attr, a->attr_len);
}

/* Count the members that both attrs set to the same value, and append those that differ. */
static size_t attempt_diff(const struct attempt *a, const struct event *e, size_t *shared,
			   struct buf *different)
{
	const struct layout *l = &layout_perf_event_attr;
	size_t n = 0;

	*shared = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct field *f = &l->fields[i];
		uint64_t x = field_get(f, a->attr, a->attr_len);
		uint64_t y = field_get(f, e->attr, e->attr_len);

		/* the first member of a union represents it */
		if (i && f->offset == f[-1].offset && f->bit == f[-1].bit &&
		    f->nbits == f[-1].nbits)
			continue;
		*shared += x && x == y;
		if (x == y)
			continue;
		n++;
		if (different)
			buf_addf(different, "%s%s", different->len ? ", " : "", f->name);
	}
	return n;
}

static bool attempt_is_one_of(const uint8_t *attr, const uint8_t *const list[REMEMBERED])
{
	for (size_t i = 0; i < REMEMBERED; i++)
		if (list[i] == attr)
			return true;
	return false;
}

/*
 * The first event opened after the failure that asks for nearly the same; for
 * the same target, or else for another one.
 */
static const struct event *attempt_find_instead(const struct model *m, const struct attempt *a,
						bool same_pid)
{
	struct event *const *events;
	/* equal attrs have the same address */
	const uint8_t *unlike[REMEMBERED] = { NULL };
	size_t n = model_events(m, &events), shared, nunlike = 0;

	for (size_t i = a->events; i < n; i++) {
		const struct event *e = events[i];

		if (e->opener != a->tid || (same_pid && e->pid != a->pid) ||
		    e->cpu != a->cpu || attempt_is_one_of(e->attr, unlike))
			continue;
		/* a program that asks for two events of one type wants both */
		if (attempt_get(a, ATTR_TYPE) == event_attr(e, ATTR_TYPE) &&
		    attempt_get(a, ATTR_CONFIG) != event_attr(e, ATTR_CONFIG))
			continue;
		if (attempt_diff(a, e, &shared, NULL) <= LIKE_DIFFERENT && shared >= LIKE_SHARED)
			return e;
		unlike[nunlike++ % REMEMBERED] = e->attr;
	}
	return NULL;
}

const struct event *attempt_instead(const struct model *m, const struct attempt *a)
{
	const struct event *e = attempt_find_instead(m, a, true);

	return e ? e : attempt_find_instead(m, a, false);
}

void attempt_compare(const struct attempt *a, const struct event *e, struct buf *different)
{
	size_t shared;

	attempt_diff(a, e, &shared, different);
	if (e->pid != a->pid)
		buf_addf(different, "%spid", different->len ? ", " : "");
}

bool attempt_same_event(const struct attempt *a, const struct event *e)
{
	return attempt_get(a, ATTR_TYPE) == event_attr(e, ATTR_TYPE) &&
	       attempt_get(a, ATTR_CONFIG) == event_attr(e, ATTR_CONFIG);
}
