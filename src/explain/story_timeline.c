// SPDX-License-Identifier: LGPL-2.1-or-later
/* The timeline of a story: a line for each kind of calls that a task made in a row. */
#include <signal.h>
#include <sys/wait.h>

#include "core/abi/strings.h"
#include "explain/story_internal.h"

enum {
	LINES_OF_A_KIND = 3,	/* and task, above which they are one */
	ENDS = 6,		/* signals and exits in a sentence */
};

/* What is told of each kind, and the least that is left out first. */
static const struct {
	unsigned int kind;
	uint32_t request;
	const char *text;
	unsigned int weight;
} tellings[] = {
	{ SEEN_EXEC, 0, "executed ", 8 },
	{ SEEN_PRCTL_ENABLE, 0, "enabled all its events by prctl", 8 },
	{ SEEN_PRCTL_DISABLE, 0, "disabled all its events by prctl", 7 },
	{ SEEN_MAP, 0, "mapped ", 6 },
	{ SEEN_READ, 0, "read ", 3 },
	{ SEEN_CLOSE, 0, "closed ", 1 },
	{ SEEN_RESUME, 0, "resumed output of ", 9 },
	{ SEEN_RECORD + PERF_RECORD_SAMPLE, 0, "SAMPLE", 8 },
	{ SEEN_RECORD + PERF_RECORD_LOST, 0, "LOST", 9 },
	{ SEEN_RECORD + PERF_RECORD_THROTTLE, 0, "THROTTLE", 9 },
	{ SEEN_RECORD + PERF_RECORD_UNTHROTTLE, 0, "UNTHROTTLE", 6 },
	{ SEEN_RECORD + PERF_RECORD_LOST_SAMPLES, 0, "LOST_SAMPLES", 9 },
	{ SEEN_OPEN, 0, "opened ", 9 },
	{ SEEN_REFUSED, 0, "probes and failed opens:", 4 },
	{ 0, PERF_EVENT_IOC_ENABLE, "enabled ", 8 },
	{ 0, PERF_EVENT_IOC_DISABLE, "disabled ", 8 },
	{ 0, PERF_EVENT_IOC_REFRESH, "enabled for some overflows (PERF_EVENT_IOC_REFRESH) ", 8 },
	{ 0, PERF_EVENT_IOC_RESET, "reset ", 3 },
	{ 0, PERF_EVENT_IOC_PERIOD, "set the period of ", 6 },
	{ 0, PERF_EVENT_IOC_SET_OUTPUT, "redirected ", 6 },
	{ 0, PERF_EVENT_IOC_SET_FILTER, "set the filter of ", 4 },
	{ 0, PERF_EVENT_IOC_SET_BPF, "attached a BPF program to ", 6 },
	{ 0, PERF_EVENT_IOC_PAUSE_OUTPUT, "paused output of ", 9 },
	{ 0, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, "modified ", 4 },
};

/* Return the index of what is told of a kind; -1: nothing. */
static int telling_of(unsigned int kind)
{
	for (size_t i = 0; i < sizeof(tellings) / sizeof(*tellings); i++)
		if (kind == (tellings[i].request ? story_ioctl_kind(tellings[i].request) :
						   tellings[i].kind))
			return (int)i;
	return -1;
}

/* Return whether what the task did besides calls that concern events matters. */
static bool task_matters(const struct story_text *t, unsigned int kind, pid_t tid)
{
	const struct seen_task *task = story_task(t->s, tid);

	return t->full || story_uses_events(t, tid) || story_is_target(t, tid) ||
	       (kind == SEEN_EXEC && task && ((task->inherited && t->s->ntasks <= STORY_SPANS) ||
					      story_uses_events(t, task->parent)));
}

static bool is_record(unsigned int kind)
{
	return kind >= SEEN_RECORD && kind < SEEN_IOCTL;
}

/* Add a span to the lines, without what was done to probes, which are like failed opens. */
static void timeline_add(const struct story_text *t, struct spans *w, const struct span *from)
{
	struct span line = *from;

	line.n = 0;
	for (size_t i = 0; i < from->n; i++) {
		const struct event *e = from->list[i].event;
		bool probe = story_probe(t->s, e);

		if (from->kind != SEEN_OPEN && probe)
			continue;
		line.list = &from->list[i];
		line.n = 1;
		line.times = from->kind == SEEN_CLOSE ? 1 : i ? 0 : from->times;
		line.timed = i ? 0 : from->timed;
		if (from->kind == SEEN_OPEN) {
			line.kind = probe ? SEEN_REFUSED : SEEN_OPEN;
			line.n = !probe;
			line.times = 1;
			line.first_ns = line.last_ns = e->opened_ns;
		}
		spans_add(w, &line, LINES_OF_A_KIND);
	}
	if (!from->n && task_matters(t, from->kind, from->tid))
		spans_add(w, from, LINES_OF_A_KIND);
}

static int compare_lines(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return x->part < y->part ? -1 : x->part > y->part;
}

/* Make the lines, in order of time, of what the tasks did and of the records. */
static void timeline_fill(const struct story_text *t, struct spans *w)
{
	for (size_t i = 0; i < t->s->ntasks + EVENT_RECORD_TYPES; i++) {
		const struct seen_task *task = i < t->s->ntasks ? &t->s->tasks[i] : NULL;
		const struct spans *of = task ? &task->spans : &t->s->records[i - t->s->ntasks];
		struct spans some = { 0 };

		for_each(l, of->items, of->n) {
			l->tid = task ? task->tid : 0;
			if (telling_of(l->kind) >= 0)
				timeline_add(t, &some, l);
		}
		for_each(l, some.items, some.n) {
			l->part = (unsigned int)w->n; /* keeps the order */
			APPEND(w->items, w->n) = *l;
		}
		free(some.items);
	}
	if (w->n)
		qsort(w->items, w->n, sizeof(*w->items), compare_lines);
}

static unsigned int line_weight(const struct story_text *t, const struct span *l)
{
	size_t on = 0;

	for_each(e, l->list, l->n)
		on += e->how & HOW_ON ? 1 : 0;
	if (l->kind == SEEN_EXEC && !l->n && story_task(t->s, l->tid)->inherited)
		return 2;
	return on && on == l->n ? 1 : tellings[telling_of(l->kind)].weight;
}

/* Remove what weighs least, the latest of it, until most lines are left. */
static size_t timeline_cut(const struct story_text *t, struct spans *w, size_t most)
{
	size_t cut = 0;

	for (; w->n > most; cut++) {
		size_t least = 0;

		for (size_t i = 1; i < w->n; i++)
			if (line_weight(t, &w->items[i]) <= line_weight(t, &w->items[least]))
				least = i;
		spans_remove(w, least);
	}
	return cut;
}

static int compare_events(const void *a, const void *b)
{
	const struct event *x = *(const struct event *const *)a, *y = *(const struct event *const *)b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* Write what a call did besides what its name says, to the n events of a list. */
static void line_how(unsigned int how, size_t n, struct prose *p)
{
	static const struct {
		unsigned int how;
		const char *one, *more;
	} texts[] = {
		{ HOW_GROUP, " and its group (PERF_IOC_FLAG_GROUP)",
		  " and their groups (PERF_IOC_FLAG_GROUP)" },
		{ HOW_ON, ", already enabled", ", already enabled" },
		{ HOW_DEAD, ", without effect: its task had exited",
		  ", without effect: their tasks had exited" },
		{ HOW_OPEN, ", enabled at open", ", enabled at open" },
		{ HOW_LEADER, ", which counts while its leader does",
		  ", which count while their leader does" },
		{ HOW_LEFT, ": the leader was closed, and it counts alone",
		  ": the leader was closed, and each counts alone" },
	};

	if (how >> HOW_MEMBERS) {
		prose_adds(p, ":");
		prose_count(p, how >> HOW_MEMBERS, "member", "members");
		prose_adds(p, n > 1 ? " each" : "");
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (how & texts[i].how)
			prose_adds(p, n == 1 ? texts[i].one : texts[i].more);
}

/* Write the members that an ioctl for the leader alone left disabled. */
static void line_left_off(const struct story_text *t, const struct span *l, const struct event **list)
{
	size_t off = 0;

	for (size_t i = 0; i < t->nevents && l->kind == story_ioctl_kind(PERF_EVENT_IOC_ENABLE); i++)
		if (t->events[i]->leader && t->events[i]->leader == l->list[0].event &&
		    t->events[i]->start == START_NEVER && t->events[i]->opened_ns <= l->first_ns)
			list[off++] = t->events[i];
	if (!off || l->n != 1 || l->list[0].how)
		return;
	prose_adds(t->p, " without PERF_IOC_FLAG_GROUP: ");
	story_fds(list, off, t->p);
	prose_adds(t->p, " stayed off");
}

/* Write the events of a line, those to which it was done in one way after another. */
static void line_events(const struct story_text *t, const struct span *l)
{
	const struct event **list = xcalloc(t->nevents + l->n, sizeof(*list));
	unsigned int how = 0, next;
	struct prose *p = t->p;

	for (size_t n, said = 0; said < l->n; said += n, how = next) {
		n = 0;
		next = ~0U;
		for (size_t i = 0; i < l->n; i++)
			if (l->list[i].how == how)
				list[n++] = l->list[i].event;
			else if (l->list[i].how > how && l->list[i].how < next)
				next = l->list[i].how;
		if (!n)
			continue;
		qsort(list, n, sizeof(*list), compare_events);
		prose_adds(p, said ? "; " : l->kind != SEEN_MAP ? "" : n == 1 ? "the ring of " :
									"the rings of ");
		story_fds(list, n, p);
		line_how(how, n, p);
	}
	line_left_off(t, l, list);
	prose_adds(p, l->kind == story_ioctl_kind(PERF_EVENT_IOC_SET_OUTPUT) ?
		      " (PERF_EVENT_IOC_SET_OUTPUT)" : "");
	free(list);
}

/* Write how often, and when last if not about then: only what lasts has an end. */
static void line_ends(const struct story_text *t, const struct span *l)
{
	const uint64_t ns = l->last_ns - l->first_ns, taken = l->taken_last - l->taken_first;
	bool records = is_record(l->kind), until = ns >= (l->folded ? 1000U : 10000000U);
	struct prose *p = t->p;

	if (!records && l->kind != SEEN_REFUSED && l->times > (l->n ? l->n : 1)) {
		prose_adds(p, ", ");
		prose_times(p, l->times);
	}
	if (until)
		prose_addf(p, ", %s %.3f", records ? "until" : "the last at",
			   (double)(l->last_ns - t->s->start_ns) / 1e6);
	if (records && l->timed == l->times && l->times > 1 && (!until || taken / 2 > ns || t->full))
		prose_addf(p, ", taken in %.3f ms", (double)taken / 1e6);
}

static void timeline_line(const struct story_text *t, const struct span *l)
{
	const struct story *s = t->s;
	struct prose *p = t->p;
	char number[32];
	int len = snprintf(number, sizeof(number), "%.3f",
			   l->first_ns > s->start_ns ? (double)(l->first_ns - s->start_ns) / 1e6 : 0.0);

	prose_line(p, len < 9 ? 9 - (unsigned int)len : 0, 13);
	prose_addf(p, "%s ms ", number);
	if (l->tid)
		story_who(s, l->tid, p);
	else
		prose_addf(p, "pevtrace saw %llu", (unsigned long long)l->times);
	prose_adds(p, " ");
	prose_adds(p, tellings[telling_of(l->kind)].text);
	if (is_record(l->kind))
		prose_adds(p, l->times == 1 ? " record of " : " records of ");
	if (l->kind == SEEN_EXEC) {
		prose_name(p, l->exe ? l->exe : "a program");
		prose_adds(p, l->n ? ", which enabled " : "");
	}
	if (l->kind == SEEN_REFUSED)
		prose_count(p, l->times, "call", "calls");
	else if (l->n)
		line_events(t, l);
	line_ends(t, l);
}

void story_timeline(const struct story_text *t, size_t most)
{
	struct spans w = { 0 };
	size_t cut;

	timeline_fill(t, &w);
	cut = timeline_cut(t, &w, most);
	if (w.n)
		prose_para(t->p);
	for (size_t i = 0; i < w.n; i++)
		timeline_line(t, &w.items[i]);
	if (cut) {
		prose_line(t->p, 10, 13);
		prose_addf(t->p, "and %zu more: --deep", cut);
	}
	prose_end(t->p);
	spans_free(&w);
}

/* The end ---------------------------------------------------------------------------------- */

void story_signal(const struct story *s, const struct seen_signal *g, struct prose *p)
{
	char name[32];

	signal_name(g->signo, name, sizeof(name));
	prose_adds(p, name);
	if (g->of_event || g->code == SI_TIMER)
		prose_adds(p, g->of_event ? " from an event" : " from a timer");
	else if (g->from > 0 && g->from == g->tid)
		prose_adds(p, " from itself");
	else if (g->from > 0)
		prose_adds(p, " from ");
	if (g->from > 0 && g->from != g->tid)
		story_who(s, g->from, p);
}

/* Return whether story_end() tells of a task: on a page of processes that the session is about. */
static bool end_matters(const struct story_text *t, const struct seen_task *task)
{
	return task && (t->full || (!task->thread &&
				    (!task->parent || story_uses_events(t, task->tid) ||
				     story_is_target(t, task->tid) ||
				     (task->execs && story_uses_events(t, task->parent) &&
				      t->nevents && task->gone_ns > t->events[0]->opened_ns))));
}

static int compare_endings(const void *a, const void *b)
{
	const struct seen_signal *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* Write what happened, by a signal or (signo is 0) the end of a task: "exited with status 0". */
static void ending_write(const struct story *s, const struct seen_signal *g, struct prose *p)
{
	const struct seen_task *task = story_task(s, g->tid);
	const struct seen_signal by = { .signo = WTERMSIG(task->status) };
	bool killed = WIFSIGNALED(task->status);

	if (!g->signo && (!task->gone || task->how != END_EXIT)) {
		prose_adds(p, task->gone ? "was detached from" :
			   "was running when the trace ended");
	} else if (g->signo || killed) {
		prose_adds(p, g->signo ? "received " : "was killed by ");
		story_signal(s, g->signo ? g : &by, p);
		if (g->times > 1)
			prose_addf(p, " (the first of %u)", g->times);
	} else {
		prose_addf(p, "exited with status %d", WEXITSTATUS(task->status));
	}
}

void story_end(const struct story_text *t)
{
	const struct story *s = t->s;
	struct seen_signal *list = xcalloc(s->ntasks + s->nsignals + 1, sizeof(*list));
	size_t n = 0, most = t->full ? STORY_ITEMS : ENDS;

	for_each(task, s->tasks, s->ntasks)
		if (end_matters(t, task))
			list[n++] = (struct seen_signal){
				.tid = task->tid, .ns = task->gone ? task->gone_ns : UINT64_MAX };
	for_each(g, s->signals, s->nsignals)
		if (story_task(s, g->tid) && (g->of_event || end_matters(t, story_task(s, g->tid))))
			list[n++] = *g;
	qsort(list, n, sizeof(*list), compare_endings);
	if (n)
		prose_line(t->p, 0, 2);
	prose_adds(t->p, n ? "End: " : "");
	if (n > most)
		prose_addf(t->p, "%zu before; ", n - most);
	for (size_t i = n > most ? n - most : 0; i < n; i++) {
		const struct seen_task *task = story_task(s, list[i].tid);
		struct prose what = { .out = NULL }, next = { .out = NULL };

		ending_write(s, &list[i], &what);
		if (i + 1 < n)
			ending_write(s, &list[i + 1], &next);
		story_who(s, list[i].tid, t->p);
		if (list[i].ns != UINT64_MAX)
			prose_addf(t->p, " (%.3f ms)", (double)(list[i].ns - s->start_ns) / 1e6);
		if (t->full && !list[i].signo && task->parent) {
			prose_addf(t->p, ", a %s created by ", task->thread ? "thread" : "process");
			story_who(s, task->parent, t->p);
			prose_addf(t->p, task->by ? " with %s," : ",",
				   task->by ? task->by->name : "");
		}
		/* of those that ended alike once */
		if (!strcmp(buf_str(&what.text), buf_str(&next.text)))
			prose_adds(t->p, " and ");
		else
			prose_addf(t->p, " %s%s", buf_str(&what.text), i + 1 < n ? "; " : ".");
		buf_free(&what.text);
		buf_free(&next.text);
	}
	prose_end(t->p);
	free(list);
}
