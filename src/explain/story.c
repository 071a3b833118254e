// SPDX-License-Identifier: LGPL-2.1-or-later
/* The order of a story's chapters; tasks, and MMAP records. */
#include "core/lib/list.h"
#include "explain/story.h"

#include <sys/wait.h>

#include "explain/story_internal.h"

/* Tasks ------------------------------------------------------------------------------- */

static void task_write(const struct story_text *t, const struct seen_task *task)
{
	struct prose *p = t->p;

	prose_item(p);
	story_who(t->s, task->tid, p);
	if (task->attached) {
		prose_adds(p, " was attached to.");
	} else if (task->parent) {
		prose_adds(p, task->thread ? " is a thread created by " :
					     " is a process created by ");
		story_who(t->s, task->parent, p);
		if (task->by)
			prose_addf(p, " with %s", task->by->name);
		prose_adds(p, ".");
	} else {
		prose_adds(p, " is the traced command.");
	}
	if (story_is_target(t, task->tid))
		prose_adds(p, " Events were opened on it.");
	prose_adds(p, !task->gone ? " It was running when the trace ended." :
		      task->how == END_DETACHED ? " pevtrace detached from it." : "");
}

static void story_tasks(const struct story_text *t)
{
	struct prose *p = t->p;
	size_t others = 0, written = 0;

	prose_head(p, "Tasks");
	for_each(task, t->s->tasks, t->s->ntasks) {
		bool matters = story_uses_events(t, task->tid) || story_is_target(t, task->tid);

		if (written >= STORY_ITEMS || (!matters && !t->o->deep)) {
			others++;
			continue;
		}
		written++;
		task_write(t, task);
	}
	if (others) {
		prose_item(p);
		prose_count(p, others, "other task ran", "other tasks ran");
		prose_adds(p, written < STORY_ITEMS ? "; no event names them by pid." : ".");
		if (story_any_asks(t, ATTR_INHERIT))
			prose_adds(p, " Children of a measured task inherit its events and are "
				      "counted with it.");
	}
	prose_end(p);
}

/* MMAP records -------------------------------------------------------------------------- */

static void story_mmaps(const struct story_text *t)
{
	bool maps = story_any_asks(t, ATTR_MMAP) || story_any_asks(t, ATTR_MMAP_DATA);
	bool tasks = story_any_asks(t, ATTR_TASK) || story_any_asks(t, ATTR_COMM);
	size_t npaths = t->s->npaths; /* 0 without MMAP records */
	struct prose *p = t->p;

	if (!t->nrings || (!maps && (!tasks || story_found(t->s, NULL))))
		return;
	prose_head(p, "MMAP records");
	if (maps) {
		prose_adds(p, "With mmap=1 the kernel writes a record for each new mapping while "
			      "the event is enabled.");
		if (t->s->maps)
			prose_count(p, t->s->maps, "MMAP record was seen",
				    "MMAP records were seen");
		else if (story_looked(t->s))
			prose_adds(p, " None was seen.");
		if (npaths)
			prose_adds(p, npaths == STORY_PATHS ? ", among others for " : ", for ");
		for (size_t i = 0; i < npaths; i++) {
			prose_adds(p, prose_sep(i, npaths));
			prose_name(p, t->s->paths[i]);
		}
		if (t->s->maps)
			prose_adds(p, ". An exec maps the program and its dynamic loader, which "
				      "maps the libraries.");
		prose_adds(p, " Earlier mappings are not recorded: a tool reads /proc/PID/maps and "
			      "synthesizes records for them, as perf record does at the start of "
			      "its file.");
	} else {
		prose_adds(p, "No event asks for mappings (mmap and mmap_data are 0), so the "
			      "kernel wrote no MMAP records.");
	}
	prose_end(p);
}

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
		story_tries(&t, false);
		story_opens(&t);
		story_mmaps(&t);
		story_tasks(&t);
		story_kernel(&t);
	}
	for (size_t i = 0; i < t.nfamilies; i++)
		free(t.families[i].events);
	free(t.families);
}
