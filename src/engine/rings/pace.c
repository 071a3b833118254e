// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/rings/pace.h"

enum {
	FIRST_MS = 5,
	LEAST_MS = 1,
	MOST_MS = 100,
	MUCH = 8,		/* an eighth of a ring: read it more often */
	LITTLE = 64,		/* a 64th of each: read them less often */
};

void pace_reset(struct pace *p)
{
	*p = (struct pace){ 0 };
}

void pace_note(struct pace *p, uint64_t new_bytes, uint64_t size)
{
	if (!p->read)
		p->nearly_empty = true;
	p->read = true;
	p->filling |= new_bytes > size / MUCH;
	p->nearly_empty &= new_bytes < size / LITTLE;
}

unsigned int pace_next(struct pace *p)
{
	unsigned int ms = p->ms ? p->ms : FIRST_MS;

	if (p->filling)
		ms /= 2;
	else if (p->read && p->nearly_empty)
		ms *= 2;
	*p = (struct pace){ .ms = ms < LEAST_MS ? LEAST_MS : ms > MOST_MS ? MOST_MS : ms };
	return p->ms;
}
