// SPDX-License-Identifier: LGPL-2.1-or-later
#include "explain/story.h"

#include "explain/story_internal.h"

void story_write(const struct view *v, const struct story_options *o, struct prose *p)
{
	struct story_text t = {
		.s = (const struct story *)v, .o = o, .p = p,
		.full = o->level == STORY_DEEP || o->kernel,
	};
	struct event *const *events;
	const struct attempt *attempts;

	if (!model_events(t.s->m, &events) && !model_attempts(t.s->m, &attempts)) {
		prose_adds(p, "No event was opened and no perf_event_open failed: nothing to "
			      "explain.");
		prose_end(p);
		return;
	}
	families_make(&t);
	story_short(&t);
	if (o->level != STORY_BRIEF) {
		story_tries(&t);
		story_opens(&t);
		if (t.full) {
			story_starts(&t);
			story_samples(&t);
		}
		story_data(&t);
		if (t.full) {
			story_mmaps(&t);
			story_tasks(&t);
		}
		story_accuracy(&t);
	}
	story_failures(&t);
	if (o->doubts) {
		prose_head(p, "Not counted");
		prose_adds(p, o->doubts);
		prose_end(p);
	}
	if (o->level != STORY_BRIEF) {
		story_counts(&t);
		story_read_on(&t);
	}
	families_free(&t);
}
