// SPDX-License-Identifier: LGPL-2.1-or-later
#include "explain/story.h"

#include <stdlib.h>
#include <string.h>

#include "abi/layout.h"
#include "explain/story_internal.h"
#include "lib/die.h"
#include "lib/hash.h"
#include "model/event_name.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Names --------------------------------------------------------------------------- */

struct attr_words story_words(const struct story *s, const struct event *e)
{
	return (struct attr_words){
		.attr = e->attr, .len = e->attr_len, .names = s->names, .arch = s->arch,
		.pid = e->flags & PERF_FLAG_PID_CGROUP ? -1 : e->pid, .flags = e->flags,
	};
}


bool story_probe(const struct story *s, const struct event *e)
{
	const struct told_event *told = event_is_probe(e) ? story_event(s, e) : NULL;

	return told && told->closes;
}

void story_who(const struct story *s, pid_t tid, struct prose *p)
{
	struct task_info *const *tasks;
	size_t n = model_tasks(s->m, &tasks);

	/* a tid may come twice: the later one is meant nearly always */
	while (n--) {
		if (tasks[n]->tid != tid || !*tasks[n]->comm)
			continue;
		prose_name(p, tasks[n]->comm);
		prose_addf(p, "[%d]", (int)tid);
		return;
	}
	prose_addf(p, "task %d", (int)tid);
}

void story_target(const struct story *s, const struct event *e, struct prose *p)
{
	struct attr_words a = story_words(s, e);

	if (e->flags & PERF_FLAG_PID_CGROUP)
		prose_addf(p, "the tasks of the cgroup behind fd %d", (int)e->pid);
	else if (e->pid == -1)
		prose_adds(p, "every task");
	else
		story_who(s, e->pid ? e->pid : e->opener, p);
	if (e->pid != -1 && attr_word(&a, ATTR_INHERIT))
		prose_adds(p, " and every task that it makes");
}

void story_event_name(const struct story *s, const struct event *e, struct prose *p)
{
	struct buf name = { 0 };

	if (e->found) {
		prose_adds(p, "an event opened before the trace began");
		return;
	}
	event_name(e->attr, e->attr_len, s->names, &name);
	prose_name(p, buf_str(&name));
	buf_free(&name);
}

/* Up to there they count on one by one; how many that are. */
static size_t fd_run(const struct event *const *events, size_t n)
{
	size_t run = 1;

	while (run < n && events[run]->fd == events[0]->fd + (int)run)
		run++;
	return run > 2 ? run : 1;
}

void story_fds(const struct event *const *events, size_t n, struct prose *p)
{
	size_t items = 0, run;

	prose_adds(p, n == 1 ? "fd " : "fds ");
	for (size_t i = 0; i < n; i += run) {
		run = fd_run(&events[i], n - i);
		if (++items > TOLD_FDS) {
			prose_addf(p, " and %zu more", n - i);
			return;
		}
		prose_adds(p, !i ? "" : i + run == n ? " and " : ", ");
		prose_addf(p, run > 1 ? "%d to %d" : "%d", events[i]->fd,
			   events[i + run - 1]->fd);
	}
}

const char *story_record(uint32_t type)
{
	const char *name = xlat_name(&xlat_perf_event_type, type);

	return name ? name + strlen(xlat_perf_event_type.prefix) : NULL;
}

void story_rest(const struct telling *t, size_t n, const char *what)
{
	if (n <= TOLD_MANY)
		return;
	prose_item(t->p);
	prose_adds(t->p, "And ");
	prose_count(t->p, n - TOLD_MANY, what);
	prose_adds(t->p, ".");
}

size_t story_found(const struct story *s, const struct event **list)
{
	struct event *const *events;
	size_t n = model_events(s->m, &events), found = 0;

	for (size_t i = 0; i < n; i++) {
		if (!events[i]->found)
			continue;
		if (list)
			list[found] = events[i];
		found++;
	}
	return found;
}

bool story_looked(const struct story *s)
{
	struct ring *const *rings;
	size_t n = model_rings(s->m, &rings);

	while (n--)
		if (rings[n]->looks || rings[n]->blind)
			return true;
	return false;
}

/* The kernel's side ------------------------------------------------------------------ */

static void list_steps(struct prose *p, const char *intro, const char *const *steps, size_t n)
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

void story_steps(const struct telling *t, const char *intro, const char *const *steps, size_t n)
{
	if (t->o->kernel)
		list_steps(t->p, intro, steps, n);
}

void story_open_steps(const struct attr_words *a, const char *out[STORY_OPEN_STEPS])
{
	const char *steps[STORY_OPEN_STEPS] = {
		"copy", a->pid >= 0 ? "target" : NULL, "pmu", attr_init_step(a),
		a->pid >= 0 ? "rights" : NULL, "install", "schedule",
	};

	memcpy(out, steps, sizeof(steps));
}

void story_call_steps(const struct attr_words *a, struct prose *p)
{
	const char *sample[] = { attr_sample_step(a), "record", "wakeup" };
	const char *open[STORY_OPEN_STEPS];

	story_open_steps(a, open);
	list_steps(p, "the open goes through these functions, and later, when the task or CPU "
		      "runs, through the last ones", open, STORY_OPEN_STEPS);
	if (attr_samples(a))
		list_steps(p, "a sample comes about so", sample, 3);
}

/* Families -------------------------------------------------------------------------- */

/* The attr without what tells which event it is. */
static void bare(const struct event *e, uint8_t *attr)
{
	static const unsigned int which[] = {
		ATTR_TYPE, ATTR_CONFIG, ATTR_CONFIG1, ATTR_CONFIG2, ATTR_CONFIG3,
		ATTR_CONFIG4, ATTR_BP_TYPE,
	};

	memset(attr, 0, EVENT_ATTR_MAX);
	memcpy(attr, e->attr, e->attr_len);
	for (size_t i = 0; i < sizeof(which) / sizeof(*which); i++)
		field_clear(&layout_perf_event_attr.fields[which[i]], attr, EVENT_ATTR_MAX);
}

static bool kin(const struct story *s, const struct event *a, const struct event *b)
{
	struct attr_words x = story_words(s, a), y = story_words(s, b);
	uint8_t one[EVENT_ATTR_MAX], other[EVENT_ATTR_MAX];

	if (a->opener != b->opener || a->flags != b->flags || (a->pid < 0) != (b->pid < 0) ||
	    !a->leader != !b->leader || a->found != b->found ||
	    a->unread != b->unread)
		return false;
	/* what a period means depends on what is counted */
	if (attr_word(&x, ATTR_SAMPLE_PERIOD) && attr_source(&x) != attr_source(&y))
		return false;
	bare(a, one);
	bare(b, other);
	return !memcmp(one, other, sizeof(one));
}

static uint64_t kin_hash(const struct event *e)
{
	uint64_t hash = hash_word(HASH_START, (uint64_t)e->opener);
	uint8_t attr[EVENT_ATTR_MAX];

	bare(e, attr);
	for (size_t i = 0; i < sizeof(attr); i += sizeof(uint64_t))
		hash = hash_word(hash, load_uint(attr + i, sizeof(uint64_t)));
	hash = hash_word(hash, e->flags);
	return hash_word(hash, (uint64_t)(e->pid < 0) << 1 | !e->leader);
}

/* Its family; NULL where it is the first of one. */
static struct family *find_family(const struct telling *t, const struct map *by_hash,
				  const struct event *e, uint64_t hash)
{
	size_t k = (size_t)(uintptr_t)map_get(by_hash, hash);

	if (k && kin(t->s, t->families[k - 1].events[0], e))
		return &t->families[k - 1];
	/* kin differ in what the hash does not hold: the source of samples */
	for (k = 0; k < t->nfamilies && k < TOLD_MANY; k++)
		if (kin(t->s, t->families[k].events[0], e))
			return &t->families[k];
	return NULL;
}

static struct family *new_family(struct telling *t)
{
	t->families = xrealloc(t->families, (t->nfamilies + 1) * sizeof(*t->families));
	t->families[t->nfamilies] = (struct family){ .n = 0 };
	return &t->families[t->nfamilies++];
}

static void make_families(struct telling *t)
{
	struct event *const *events;
	size_t n = model_events(t->s->m, &events);
	struct map by_hash = { 0 };

	for (size_t i = 0; i < n; i++) {
		uint64_t hash = story_probe(t->s, events[i]) ? 0 : kin_hash(events[i]);
		struct family *f;

		if (!hash)
			continue;
		f = find_family(t, &by_hash, events[i], hash);
		if (!f) {
			f = new_family(t);
			map_set(&by_hash, hash, (void *)(uintptr_t)t->nfamilies);
		}
		f->events = xrealloc(f->events, (f->n + 1) * sizeof(*f->events));
		f->events[f->n++] = events[i];
	}
	map_free(&by_hash);
}

static void free_families(struct telling *t)
{
	for (size_t i = 0; i < t->nfamilies; i++)
		free(t->families[i].events);
	free(t->families);
}

/* The whole ------------------------------------------------------------------------- */

void story_tell(const struct view *v, const struct story_options *o, struct prose *p)
{
	struct telling t = { .s = (const struct story *)v, .o = o, .p = p };
	struct event *const *events;
	const struct attempt *attempts;
	size_t n = model_events(t.s->m, &events) + model_attempts(t.s->m, &attempts);

	if (!n) {
		prose_adds(p, "No event was opened, and no call to perf_event_open failed: "
			      "there is nothing to explain.");
		prose_end(p);
		return;
	}
	make_families(&t);
	story_short(&t);
	if (o->level != STORY_BRIEF) {
		story_tries(&t);
		story_opens(&t);
		story_starts(&t);
		story_samples(&t);
		story_data(&t);
		story_records(&t);
		story_tasks(&t);
		story_exactness(&t);
	}
	story_failures(&t);
	if (o->level != STORY_BRIEF) {
		story_figures(&t);
		story_read_on(&t);
	}
	free_families(&t);
}
