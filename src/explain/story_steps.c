// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel functions of a story (xlat/kernel.in). */
#include <string.h>

#include "explain/attr_trigger.h"
#include "explain/story_internal.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

static void steps_list(struct prose *p, const char *intro, const char *const *steps, size_t n)
{
	prose_para(p);
	prose_addf(p, "In the kernel, %s:", intro);
	for (size_t i = 0; i < n; i++) {
		const struct step_desc *d = steps[i] ? step_by_name(steps[i]) : NULL;

		for (; d && d->step && !strcmp(d->step, steps[i]); d++) {
			prose_line(p, 4, 8);
			prose_addf(p, "%s: %s.", d->function, d->meaning);
		}
	}
	prose_end(p);
}

void story_steps(const struct story_text *t, const char *intro, const char *const *steps,
		 size_t n)
{
	if (t->o->kernel)
		steps_list(t->p, intro, steps, n);
}

void story_open_steps(const struct open_attr *a, const char *out[STORY_OPEN_STEPS])
{
	const char *steps[STORY_OPEN_STEPS] = {
		"copy", a->pid >= 0 ? "target" : NULL, "pmu", attr_trigger_init_step(a),
		a->pid >= 0 ? "rights" : NULL, "install", "schedule",
	};

	memcpy(out, steps, sizeof(steps));
}

void story_call_steps(const struct open_attr *a, struct prose *p)
{
	const char *sample[] = {
		attr_trigger_sample_step(a),
		open_attr_get(a, ATTR_WRITE_BACKWARD) ? "record_backward" : "record", "wakeup",
	};
	const char *open[STORY_OPEN_STEPS];

	story_open_steps(a, open);
	steps_list(p, "the open calls these functions, the last of them when the task or CPU is "
		      "scheduled", open, STORY_OPEN_STEPS);
	if (open_attr_samples(a))
		steps_list(p, "a sample is taken by", sample, 3);
}
