// SPDX-License-Identifier: LGPL-2.1-or-later
/* What was measured, what the records at the start are, and what the numbers say. */
#include <stdlib.h>
#include <sys/wait.h>

#include "abi/strings.h"
#include "explain/story_internal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

static bool any_asks(const struct telling *t, unsigned int member, bool samples)
{
	for (size_t i = 0; i < t->nfamilies; i++) {
		struct attr_words a = story_words(t->s, t->families[i].events[0]);

		if (attr_word(&a, member) && (!samples || attr_samples(&a)))
			return true;
	}
	return false;
}

/* Tasks ------------------------------------------------------------------------------- */

static bool uses_events(const struct telling *t, pid_t tid)
{
	struct task_info *const *tasks;
	size_t n = model_tasks(t->s->m, &tasks);

	for (size_t i = 0; i < n; i++)
		if (tasks[i]->tid == tid && (tasks[i]->opens || tasks[i]->failures ||
					     tasks[i]->reads || tasks[i]->polls))
			return true;
	return false;
}

/* Some event was opened on it by its id. */
static bool is_target(const struct telling *t, pid_t tid)
{
	for (size_t i = 0; i < t->nfamilies; i++)
		for (size_t k = 0; k < t->families[i].n; k++) {
			const struct event *e = t->families[i].events[k];

			if (!e->found && !(e->flags & PERF_FLAG_PID_CGROUP) && e->pid == tid)
				return true;
		}
	return false;
}

static void tell_end(const struct told_task *task, struct prose *p)
{
	char name[32];

	if (!task->gone) {
		prose_adds(p, " It was running when the trace ended.");
	} else if (task->how == END_DETACHED) {
		prose_adds(p, " pevtrace let go of it.");
	} else if (task->how == END_EXIT && WIFSIGNALED(task->status)) {
		signal_name(WTERMSIG(task->status), name, sizeof(name));
		prose_addf(p, " It was killed by %s.", name);
	} else if (task->how == END_EXIT) {
		prose_addf(p, " It ended with status %d.", WEXITSTATUS(task->status));
	}
}

static void tell_task(const struct telling *t, const struct told_task *task)
{
	struct prose *p = t->p;

	prose_item(p);
	story_who(t->s, task->tid, p);
	prose_adds(p, task->attached ? " was running before" : task->parent ? ", made by " :
						      " is the command that was traced");
	if (!task->attached && task->parent) {
		story_who(t->s, task->parent, p);
		if (task->by)
			prose_addf(p, " with %s", task->by->name);
		prose_adds(p, task->thread ? ", is a thread of the same process" :
					     ", is a process of its own");
	}
	prose_adds(p, ".");
	if (task->execs && task->parent) {
		prose_adds(p, " It ran ");
		if (task->exe)
			prose_name(p, task->exe);
		else
			prose_adds(p, "another program");
		prose_adds(p, task->execs == 1 ? " by exec." : " by its last exec.");
	}
	if (is_target(t, task->tid))
		prose_adds(p, " Events were opened on it.");
	tell_end(task, p);
}

void story_tasks(const struct telling *t)
{
	struct prose *p = t->p;
	size_t others = 0, told = 0;

	prose_head(p, "Who took part");
	for (size_t i = 0; i < t->s->ntasks; i++) {
		const struct told_task *task = &t->s->tasks[i];
		bool matters = uses_events(t, task->tid) || is_target(t, task->tid);

		if (told >= TOLD_MANY || (!matters && t->o->level != STORY_DEEP)) {
			others++;
			continue;
		}
		told++;
		tell_task(t, task);
	}
	if (others) {
		prose_item(p);
		prose_count(p, others, "other task");
		prose_adds(p, told < TOLD_MANY ? " ran, on which no event was opened by its id." :
						 " took part.");
		if (any_asks(t, ATTR_INHERIT, false))
			prose_adds(p, " Those that a measured task made have inherited its events, "
				      "and are counted with it.");
	}
	prose_end(p);
}

/* Records at the start ------------------------------------------------------------------ */

static void seen_maps(const struct telling *t)
{
	struct prose *p = t->p;

	prose_adds(p, " ");
	prose_count(p, t->s->maps, "record");
	prose_adds(p, t->s->maps == 1 ? " of a mapping was seen" : " of mappings were seen");
	if (t->s->npaths) {
		prose_adds(p, t->s->npaths == TOLD_PATHS ? ", among them of " : ", of ");
		for (size_t i = 0; i < t->s->npaths; i++) {
			prose_adds(p, prose_sep(i, t->s->npaths));
			prose_name(p, t->s->paths[i]);
		}
	}
	prose_adds(p, ". An exec makes them when it loads the program and its loader, and the "
		      "loader when it loads libraries.");
}

void story_records(const struct telling *t)
{
	const char *steps[4] = { NULL };
	bool maps = any_asks(t, ATTR_MMAP, false) || any_asks(t, ATTR_MMAP_DATA, false);
	bool tasks = any_asks(t, ATTR_TASK, false) || any_asks(t, ATTR_COMM, false);
	struct ring *const *rings;
	struct prose *p = t->p;

	if (!model_rings(t->s->m, &rings) || (!maps && (!tasks || story_found(t->s, NULL))))
		return;
	prose_head(p, "The mmap records");
	if (maps) {
		prose_adds(p, "With mmap=1 the kernel writes a record when a mapping is made, "
			      "from the moment the event is enabled.");
		if (t->s->maps)
			seen_maps(t);
		else if (story_looked(t->s))
			prose_adds(p, " None was seen here.");
		prose_adds(p, " Mappings made before that never come through a ring: a tool that "
			      "wants them reads /proc/PID/maps and makes the records itself, as "
			      "perf record does at the beginning of its file.");
	} else {
		prose_adds(p, "No event here asks for mappings (mmap and mmap_data are 0), so the "
			      "kernel wrote no MMAP record.");
		if (any_asks(t, ATTR_TASK, true) || any_asks(t, ATTR_COMM, true))
			prose_adds(p, " But the event that asks for FORK, EXIT or COMM records "
				      "samples as well, because its sample_period is not 0: a "
				      "reader that shows mmap records has taken SAMPLE records for "
				      "them. What it shows as start and length are then parts of "
				      "the sample, such as its CPU and period.");
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

/* Exactness ---------------------------------------------------------------------------- */

static bool multiplexed(const struct event *e)
{
	return e->count.known && e->count.timed && e->count.running < e->count.enabled;
}

static void counts(const struct telling *t)
{
	struct event *const *events;
	size_t n = model_events(t->s->m, &events), counting = 0, timed = 0, shared = 0;
	size_t hardware = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < n; i++) {
		struct attr_words a = story_words(t->s, events[i]);

		if (story_probe(t->s, events[i]) || !event_told(events[i]) || attr_samples(&a) ||
		    attr_source(&a) == SOURCE_DUMMY)
			continue;
		counting++;
		hardware += attr_source(&a) == SOURCE_CPU || attr_source(&a) == SOURCE_OTHER;
		timed += events[i]->count.known && events[i]->count.timed;
		shared += multiplexed(events[i]);
	}
	if (!counting)
		return;
	prose_item(p);
	prose_count(p, counting, "event");
	prose_adds(p, counting == 1 ? " counts." : " count.");
	prose_adds(p, " A count is exact: each thing that happens adds one, or for a clock each "
		      "nanosecond, and nothing is sampled. It holds what happened while the event "
		      "was enabled, in the modes that were not excluded.");
	if (shared)
		prose_addf(p, " But %zu of them shared counters with others: time_running is less "
			      "than time_enabled, and a tool scales the count by their quotient, "
			      "which makes it an estimate.", shared);
	else if (timed)
		prose_addf(p, " For %s time_running is time_enabled: %s never had to give up "
			      "a counter to another event (multiplexing), so nothing is scaled.",
			   timed == counting ? "all of them" : "those read with both times",
			   timed == 1 ? "it" : "they");
	else if (hardware)
		prose_adds(p, " Whether they had to share counters (multiplexing) the trace does "
			      "not tell: the times were not read.");
	else
		prose_adds(p, " Such events need no counter of the CPU, so they never have to "
			      "share one (multiplexing).");
}

static void sampled(const struct telling *t)
{
	struct event *const *events;
	size_t n = model_events(t->s->m, &events);
	uint64_t samples = 0, lost = 0, every = 0, all = 0;
	bool any = false;
	struct prose *p = t->p;

	for (size_t i = 0; i < n; i++) {
		struct attr_words a = story_words(t->s, events[i]);

		if (story_probe(t->s, events[i]) || !event_told(events[i]) || !attr_samples(&a) ||
		    !(events[i]->maps || events[i]->output))
			continue;
		any = true;
		every += attr_every_hit(&a);
		all++;
		samples += event_records(events[i], PERF_RECORD_SAMPLE);
		lost += events[i]->lost_read > events[i]->lost_told ? events[i]->lost_read :
								     events[i]->lost_told;
	}
	if (!any)
		return;
	prose_item(p);
	if (every == all)
		prose_adds(p, "With sample_period=1 each hit has its sample, so nothing is "
			      "estimated.");
	else
		prose_adds(p, "Samples are an estimate: each stands for all that happened since "
			      "the one before, and the more there are, the nearer their shares "
			      "come to the truth.");
	if (story_looked(t->s)) {
		prose_adds(p, " ");
		prose_count(p, samples, "sample");
		prose_adds(p, samples == 1 ? " was seen." : " were seen.");
	}
	if (lost) {
		prose_adds(p, " ");
		prose_count(p, lost, "sample");
		prose_adds(p, lost == 1 ? " was lost because its ring was full." :
					  " were lost because their ring was full.");
	}
}

void story_exactness(const struct telling *t)
{
	static const char *const steps[] = { "multiplex" };
	struct event *const *events;
	size_t n = model_events(t->s->m, &events), shared = 0;

	if (!t->nfamilies)
		return;
	prose_head(t->p, "How exact the numbers are");
	counts(t);
	sampled(t);
	prose_end(t->p);
	for (size_t i = 0; i < n; i++)
		shared += multiplexed(events[i]);
	if (shared)
		story_steps(t, "events that share counters take turns by", steps, 1);
}

/* Figures ------------------------------------------------------------------------------ */

static void add_value(const struct telling *t, const struct event *e)
{
	const struct event_count *c = &e->count;
	struct attr_words a = story_words(t->s, e);
	struct prose *p = t->p;

	prose_addf(p, "counted %llu", (unsigned long long)c->value);
	if (attr_source(&a) == SOURCE_CLOCK)
		prose_addf(p, " ns (%.3f ms)", (double)c->value / 1e6);
	if (!c->timed)
		return;
	if (multiplexed(e) && c->running)
		prose_addf(p, ", on the PMU for %.1f %% of its time; scaled, %.0f",
			   100.0 * (double)c->running / (double)c->enabled,
			   (double)c->value * (double)c->enabled / (double)c->running);
	else if (c->enabled && !c->running)
		prose_adds(p, ", but was never on the PMU");
	else
		prose_addf(p, " in the %.3f ms that it was enabled", (double)c->enabled / 1e6);
}

static void add_records(const struct event *e, struct prose *p)
{
	size_t kinds = 0, done = 0;

	for (uint32_t type = 0; type < EVENT_RECORD_TYPES; type++)
		kinds += event_records(e, type) > 0;
	for (uint32_t type = 0; type < EVENT_RECORD_TYPES; type++) {
		const char *name = story_record(type);

		if (!event_records(e, type))
			continue;
		prose_addf(p, "%s%llu %s", prose_sep(done++, kinds),
			   (unsigned long long)event_records(e, type), name ? name : "of other types");
	}
}

static bool wrote(const struct event *e)
{
	for (uint32_t type = 0; type < EVENT_RECORD_TYPES; type++)
		if (event_records(e, type))
			return true;
	return false;
}

static bool counted(const struct telling *t, const struct event *e)
{
	struct attr_words a = story_words(t->s, e);

	return e->count.known && attr_source(&a) != SOURCE_DUMMY;
}

static bool has_figures(const struct telling *t, const struct event *e)
{
	return counted(t, e) || wrote(e);
}

static bool tell_figures(const struct telling *t, const struct event *e, bool head)
{
	struct prose *p = t->p;

	if (!has_figures(t, e))
		return false;
	if (head)
		prose_head(p, "The figures at the end");
	prose_item(p);
	story_event_name(t->s, e, p);
	if (e->cpu >= 0)
		prose_addf(p, " on CPU %d", e->cpu);
	prose_adds(p, " (");
	story_fds(&e, 1, p);
	prose_adds(p, ") ");
	if (counted(t, e))
		add_value(t, e);
	if (wrote(e)) {
		prose_adds(p, counted(t, e) ? ", and wrote " : "wrote ");
		add_records(e, p);
	}
	prose_adds(p, ".");
	return true;
}

void story_figures(const struct telling *t)
{
	struct event *const *events;
	size_t n = model_events(t->s->m, &events), told = 0;

	for (size_t i = 0; i < n; i++)
		if (!story_probe(t->s, events[i]) && !events[i]->found)
			told += told < TOLD_MANY ? tell_figures(t, events[i], !told) :
						   has_figures(t, events[i]);
	story_rest(t, told, "more event");
	prose_end(t->p);
}
