// SPDX-License-Identifier: LGPL-2.1-or-later
/* The order of a story's chapters; its summary, tasks, MMAP records, and where to read more. */
#include "explain/story.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/abi/layout.h"
#include "core/abi/strings.h"
#include "core/lib/die.h"
#include "explain/attr_prose.h"
#include "explain/story_internal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* The summary -------------------------------------------------------------------------- */

static void short_task(const struct story_text *t, const struct task_info *task)
{
	struct prose *p = t->p;
	size_t probes = 0;

	for (size_t i = 0; i < t->nevents; i++)
		probes += t->events[i]->opener == task->tid && story_probe(t->s, t->events[i]);
	story_who(t->s, task->tid, p);
	prose_adds(p, " called perf_event_open ");
	prose_times(p, task->opens + task->failures);
	prose_adds(p, ":");
	prose_count(p, task->opens, "event opened", "events opened");
	if (task->failures) {
		prose_adds(p, ",");
		prose_count(p, task->failures, "call failed", "calls failed");
	}
	prose_adds(p, ".");
	if (probes) {
		prose_count(p, probes, "event was a probe", "events were probes");
		prose_adds(p, ": opened and closed unused, to test what the kernel accepts.");
	}
	if (probes == task->opens)
		prose_adds(p, " No event was left to measure with.");
	prose_adds(p, " ");
}

/* Write how many rings there are and what was seen in them; return false if there is none. */
static bool short_rings(const struct story_text *t)
{
	size_t data = 0, seen = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < t->nrings; i++) {
		const struct ring *r = t->rings[i];

		data += !r->aux && r->end - r->start > t->s->names->page_size;
		seen += r->records;
	}
	prose_para(p);
	if (!data) {
		prose_adds(p, story_found(t->s, NULL) ? "No ring was mapped during the trace." :
			   "No ring was mapped: no records were returned, only counts by read.");
		return false;
	}
	prose_adds(p, "Records are returned through");
	prose_count(p, data, "ring", "rings");
	prose_adds(p, " in memory, not by read.");
	if (!story_looked(t->s))
		prose_adds(p, " The trace was made without --records: the rings' contents are "
			      "unknown.");
	if (seen)
		prose_count(p, seen, "record was seen.", "records were seen.");
	return true;
}

/* Say how many records the kernel lost, by its own account. */
static void short_lost(const struct story_text *t)
{
	uint64_t lost = 0, sources = 0;
	bool overwritten = false;

	for (size_t i = 0; i < t->nevents; i++) {
		const struct event *e = t->events[i];

		lost += e->lost_read > e->lost_reported ? e->lost_read : e->lost_reported;
		sources += e->reads && e->read_format & PERF_FORMAT_LOST;
	}
	for (size_t i = 0; i < t->nrings; i++)
		overwritten |= t->rings[i]->overwrite && !t->rings[i]->aux;
	if (lost)
		prose_addf(t->p, " The kernel reported %llu lost record%s: the ring was full.",
			   (unsigned long long)lost, lost == 1 ? "" : "s");
	else if (sources || story_looked(t->s))
		prose_addf(t->p, " The kernel reported no lost records (%s%s%s).",
			   sources ? "reads with PERF_FORMAT_LOST: 0" : "",
			   sources && story_looked(t->s) ? ", " : "",
			   story_looked(t->s) ? "LOST records: none" : "");
	else
		prose_adds(t->p, " Whether the kernel lost records is unknown.");
	if (overwritten)
		prose_adds(t->p, " Records that were overwritten are not counted as lost.");
}

static void story_short(const struct story_text *t)
{
	size_t found = story_found(t->s, NULL);
	const struct event **list = xcalloc(found + 1, sizeof(*list));
	struct prose *p = t->p;

	prose_head(p, "Summary");
	for (size_t i = 0; i < t->ntasks; i++)
		if (t->tasks[i]->opens || t->tasks[i]->failures)
			short_task(t, t->tasks[i]);
	for (size_t i = 0; i < t->nfamilies && i < STORY_ITEMS; i++)
		if (event_known(t->families[i].events[0]) && t->o->level != STORY_NORMAL) {
			prose_item(p);
			story_family_line(t, &t->families[i]);
		}
	if (story_found(t->s, list)) {
		prose_item(p);
		story_fds(list, found, p);
		prose_adds(p, found == 1 ? ": an event opened before the trace began; its attr is "
				       "unknown." :
				       ": events opened before the trace began; their attrs are "
				       "unknown.");
		story_programs_of(t, list, found);
	}
	free(list);
	if (t->o->level != STORY_NORMAL)
		story_rest(t, t->nfamilies, "more kind.", "more kinds.");
	if (t->nfamilies && short_rings(t))
		short_lost(t);
	prose_end(p);
}

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

static void task_write(const struct story_text *t, const struct seen_task *task)
{
	struct prose *p = t->p;
	char name[32];

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

static void story_tasks(const struct story_text *t)
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

static void story_mmaps(const struct story_text *t)
{
	const char *steps[4] = { NULL };
	bool maps = any_asks(t, ATTR_MMAP, false) || any_asks(t, ATTR_MMAP_DATA, false);
	bool tasks = any_asks(t, ATTR_TASK, false) || any_asks(t, ATTR_COMM, false);
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
		if (any_asks(t, ATTR_TASK, true) || any_asks(t, ATTR_COMM, true))
			prose_adds(p, " But the event that asks for FORK, EXIT or COMM records "
				      "also takes samples, because its sample_period is not 0. A "
				      "reader that shows MMAP records mistakes SAMPLE records for "
				      "them: the start and length that it shows are members of the "
				      "sample, such as CPU and period.");
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

/* Where to read more ------------------------------------------------------------------- */

enum { READ_ON_WORDS = 3 };

/* The newest names of the interface, which are likely to be the least known. */
struct read_on_words {
	const char *name[READ_ON_WORDS];
	uint32_t since[READ_ON_WORDS];
	size_t n;
};

static void read_on_offer(struct read_on_words *w, const char *name, uint32_t since)
{
	size_t at = 0;

	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->name[i], name))
			return;
	while (at < w->n && w->since[at] >= since)
		at++;
	if (at == READ_ON_WORDS)
		return;
	for (size_t i = w->n < READ_ON_WORDS ? w->n++ : READ_ON_WORDS - 1; i > at; i--) {
		w->name[i] = w->name[i - 1];
		w->since[i] = w->since[i - 1];
	}
	w->name[at] = name;
	w->since[at] = since;
}

/* List members that are set, except type and size, successful ioctls, and the last error. */
static void read_on_list(const struct story_text *t)
{
	struct read_on_words words = { .n = 0 };
	const char *error = NULL, *sep = ": ";

	/* the last error of an open that the dictionary has */
	for (size_t i = t->nattempts; i-- && !error;)
		error = xlat_name(&xlat_perf_open_errno, (uint64_t)t->attempts[i].error);
	for (size_t i = 0; i < t->nfamilies; i++) {
		const struct event *e = t->families[i].events[0];
		const struct seen_event *seen = story_event(t->s, e);
		struct open_attr a = story_attr(t->s, e);
		struct walk w = attr_prose_walk(&a);
		const struct field *f;
		size_t at = 0;

		while (event_attr_known(e) && (f = layout_next(&w, &at)))
			if (f != &w.layout->fields[ATTR_TYPE] &&
			    f != &w.layout->fields[ATTR_SIZE] &&
			    f->kind != FIELD_RESERVED && field_get(f, e->attr, e->attr_len))
				read_on_offer(&words, f->name, f->since);
		for (size_t k = 0; seen && k < ioctl_ndescs && k < STORY_IOCTLS; k++)
			if (seen->ioctls[k])
				read_on_offer(&words, ioctl_descs[k].name, ioctl_descs[k].since);
	}
	if (error && words.n == READ_ON_WORDS)
		words.n--;
	for (size_t i = 0; i < words.n; i++, sep = ", ")
		prose_addf(t->p, "%s%s", sep, words.name[i]);
	if (error)
		prose_addf(t->p, "%s%s", sep, error);
}

static void story_read_on(const struct story_text *t)
{
	struct prose *p = t->p;

	if (!t->full) {
		prose_para(p);
		prose_adds(p, "See also: ");
		prose_page(p, "perf_event_open(2)");
		prose_adds(p, "; pevtrace explain TERM, for any name above");
		read_on_list(t);
		prose_adds(p, "; pevtrace why, for a call that fails; --deep and "
			      "--kernel, for each member and function.");
		prose_end(p);
		return;
	}
	prose_head(p, "See also");
	prose_item(p);
	prose_page(p, "perf_event_open(2)");
	prose_adds(p, ": Arguments, Reading results, MMAP layout, Overflow handling, perf_event "
		      "ioctl calls, ERRORS.");
	prose_item(p);
	prose_adds(p, "pevtrace explain TERM explains any name above");
	read_on_list(t);
	prose_adds(p, ".");
	if (t->o->level != STORY_DEEP || !t->o->kernel) {
		prose_item(p);
		prose_addf(p, "%s%s%s shows more.", t->o->level != STORY_DEEP ? "--deep" : "",
			   t->o->level != STORY_DEEP && !t->o->kernel ? " or " : "",
			   t->o->kernel ? "" : "--kernel");
	}
	prose_end(p);
}

void story_write(const struct view *v, const struct story_options *o, struct prose *p)
{
	struct story_text t = {
		.s = (const struct story *)v, .o = o, .p = p,
		.full = o->level == STORY_DEEP || o->kernel,
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
	for (size_t i = 0; i < t.nfamilies; i++)
		free(t.families[i].events);
	free(t.families);
}
