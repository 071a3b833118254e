// SPDX-License-Identifier: LGPL-2.1-or-later
/* The order of a story's chapters. */
#include "explain/story.h"

#include "explain/story_internal.h"

void story_write(const struct view *v, const struct story_options *o, struct prose *p)
{
	struct story_text t = {
		.s = (const struct story *)v, .o = o, .p = p, .full = o->deep || o->kernel,
	};

	t.nevents = model_events(t.s->m, &t.events);
	t.ntasks = model_tasks(t.s->m, &t.tasks);
	t.nrings = model_rings(t.s->m, &t.rings);
	t.nattempts = model_attempts(t.s->m, &t.attempts);
	if (!t.nevents && !t.nattempts) {
		prose_adds(p, "No event was opened and no perf_event_open failed: nothing to "
			      "explain.");
		prose_end(p);
		return;
	}
	families_make(&t);
	story_page(&t);
	if (t.full) {
		story_opens(&t);
		story_kernel(&t);
	}
	for (size_t i = 0; i < t.nfamilies; i++)
		free(t.families[i].events);
	free(t.families);
}
