// SPDX-License-Identifier: LGPL-2.1-or-later
/* The tasks of a session, and the MMAP records that their mappings caused. */
#include <sys/wait.h>

#include "core/abi/strings.h"
#include "explain/story_internal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

/* Return whether an event asks for the member; samples: whether one that samples does. */
static bool any_asks(const struct story_text *t, unsigned int member, bool samples)
{
	for (size_t i = 0; i < t->nfamilies; i++) {
		struct open_attr a = story_attr(t->s, t->families[i].events[0]);

		if (open_attr_get(&a, member) && (!samples || open_attr_samples(&a)))
			return true;
	}
	return false;
}

/* Tasks ------------------------------------------------------------------------------- */

static bool uses_events(const struct story_text *t, pid_t tid)
{
	for (size_t i = 0; i < t->ntasks; i++) {
		const struct task_info *k = t->tasks[i];

		if (k->tid == tid && (k->opens || k->failures || k->reads || k->polls))
			return true;
	}
	return false;
}

/* Return whether an event names the task by its id. */
static bool is_target(const struct story_text *t, pid_t tid)
{
	for (size_t i = 0; i < t->nfamilies; i++)
		for (size_t k = 0; k < t->families[i].n; k++) {
			const struct event *e = t->families[i].events[k];

			if (event_known(e) && !(e->flags & PERF_FLAG_PID_CGROUP) && e->pid == tid)
				return true;
		}
	return false;
}

static void task_end(const struct seen_task *task, struct prose *p)
{
	char name[32];

	if (!task->gone) {
		prose_adds(p, " It was running when the trace ended.");
	} else if (task->how == END_DETACHED) {
		prose_adds(p, " pevtrace detached from it.");
	} else if (task->how == END_EXIT && WIFSIGNALED(task->status)) {
		signal_name(WTERMSIG(task->status), name, sizeof(name));
		prose_addf(p, " It was killed by %s.", name);
	} else if (task->how == END_EXIT) {
		prose_addf(p, " It exited with status %d.", WEXITSTATUS(task->status));
	}
}

static void task_origin(const struct story_text *t, const struct seen_task *task)
{
	struct prose *p = t->p;

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
}

static void task_write(const struct story_text *t, const struct seen_task *task)
{
	struct prose *p = t->p;

	prose_item(p);
	task_origin(t, task);
	if (task->execs && task->parent) {
		prose_adds(p, " It executed ");
		if (task->exe)
			prose_name(p, task->exe);
		else
			prose_adds(p, "another program");
		prose_adds(p, task->execs == 1 ? "." : " last.");
	}
	if (is_target(t, task->tid))
		prose_adds(p, " Events were opened on it.");
	task_end(task, p);
}

void story_tasks(const struct story_text *t)
{
	struct prose *p = t->p;
	size_t others = 0, written = 0;

	prose_head(p, "Tasks");
	for (size_t i = 0; i < t->s->ntasks; i++) {
		const struct seen_task *task = &t->s->tasks[i];
		bool matters = uses_events(t, task->tid) || is_target(t, task->tid);

		if (written >= STORY_ITEMS || (!matters && t->o->level != STORY_DEEP)) {
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
		if (any_asks(t, ATTR_INHERIT, false))
			prose_adds(p, " Children of a measured task inherit its events and are "
				      "counted with it.");
	}
	prose_end(p);
}

/* MMAP records -------------------------------------------------------------------------- */

static void mmaps_seen(const struct story_text *t)
{
	struct prose *p = t->p;

	prose_count(p, t->s->maps, "MMAP record was seen", "MMAP records were seen");
	if (t->s->npaths) {
		prose_adds(p, t->s->npaths == STORY_PATHS ? ", among others for " : ", for ");
		for (size_t i = 0; i < t->s->npaths; i++) {
			prose_adds(p, prose_sep(i, t->s->npaths));
			prose_name(p, t->s->paths[i]);
		}
	}
	prose_adds(p, ". An exec maps the program and its dynamic loader, which maps the "
		      "libraries.");
}

static void mmaps_none(const struct story_text *t)
{
	struct prose *p = t->p;

	prose_adds(p, "No event asks for mappings (mmap and mmap_data are 0), so the kernel wrote "
		      "no MMAP records.");
	if (any_asks(t, ATTR_TASK, true) || any_asks(t, ATTR_COMM, true))
		prose_adds(p, " But the event that asks for FORK, EXIT or COMM records also takes "
			      "samples, because its sample_period is not 0. A reader that shows "
			      "MMAP records mistakes SAMPLE records for them: the start and length "
			      "that it shows are members of the sample, such as CPU and period.");
}

void story_mmaps(const struct story_text *t)
{
	const char *steps[4] = { NULL };
	bool maps = any_asks(t, ATTR_MMAP, false) || any_asks(t, ATTR_MMAP_DATA, false);
	bool tasks = any_asks(t, ATTR_TASK, false) || any_asks(t, ATTR_COMM, false);
	struct prose *p = t->p;

	if (!t->nrings || (!maps && (!tasks || story_found(t->s, NULL))))
		return;
	prose_head(p, "MMAP records");
	if (maps) {
		prose_adds(p, "With mmap=1 the kernel writes a record for each new mapping while "
			      "the event is enabled.");
		if (t->s->maps)
			mmaps_seen(t);
		else if (story_looked(t->s))
			prose_adds(p, " None was seen.");
		prose_adds(p, " Earlier mappings are not recorded: a tool reads /proc/PID/maps and "
			      "synthesizes records for them, as perf record does at the start of "
			      "its file.");
	} else {
		mmaps_none(t);
	}
	prose_end(p);
	steps[0] = maps ? "side_mmap" : NULL;
	steps[1] = any_asks(t, ATTR_COMM, false) ? "side_comm" : NULL;
	if (any_asks(t, ATTR_TASK, false)) {
		steps[2] = "side_fork";
		steps[3] = "side_exit";
	}
	story_steps(t, "such records are written by", steps, 4);
}
