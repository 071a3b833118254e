// SPDX-License-Identifier: LGPL-2.1-or-later
/* What was opened, field by field. */
#include <string.h>

#include "explain/story_internal.h"
#include "xlat/layouts.h"

static void why_so_many(const struct telling *t, const struct family *f)
{
	struct attr_words a = story_words(t->s, f->events[0]);
	size_t cpus, tasks;
	struct prose *p = t->p;

	story_spread(f, &cpus, &tasks);
	if (cpus < 2 && tasks < 2)
		return;
	prose_adds(p, " There is one event for each ");
	prose_adds(p, cpus > 1 && tasks > 1 ? "CPU and task" : cpus > 1 ? "CPU" : "task");
	if (cpus > 1 && f->events[0]->pid < 0)
		prose_adds(p, ", because an event of every task is always an event of one CPU.");
	else if (cpus > 1 && attr_word(&a, ATTR_INHERIT) && f->events[0]->maps)
		prose_adds(p, ", because the kernel gives no ring to an event that is "
			      "inherited on any CPU (cpu -1).");
	else
		prose_adds(p, ".");
}

static void tell_group(const struct telling *t, const struct family *f)
{
	struct prose *p = t->p;
	struct event *const *events;
	const struct event *leader = f->events[0];
	size_t n = model_events(t->s->m, &events), members = 0;

	if (leader->leader) {
		prose_adds(p, f->n > 1 ? " Each joins a group: group_fd is, for the first, " :
					 " It joins a group: group_fd is ");
		story_fds((const struct event *[]){ leader->leader }, 1, p);
		prose_adds(p, ".");
		prose_adds(p, " The events of a group go onto the PMU together or not at all, so "
			      "their counts belong to the same stretch of time.");
		return;
	}
	for (size_t i = 0; i < n; i++)
		members += events[i]->leader == leader;
	if (!members)
		return;
	prose_adds(p, " ");
	story_fds(&leader, 1, p);
	prose_adds(p, " leads a group with ");
	prose_count(p, members, "other member");
	prose_adds(p, ".");
}

/* The items of a family's fields, one a line. */
static void items_of(const struct telling *t, const struct family *f, struct buf *out)
{
	struct attr_words a = story_words(t->s, f->events[0]);
	struct prose p;

	prose_init(&p, out, 0);
	attr_prose_fields(&a, t->o->level == STORY_DEEP, &p);
	prose_free(&p);
}

/* Whether text has this line, of len bytes with its end. */
static bool has_line(const struct buf *text, const char *line, size_t len)
{
	const char *s = buf_str(text);

	for (size_t n; *s; s += n) {
		n = strcspn(s, "\n") + 1;
		if (n == len && !memcmp(s, line, len))
			return true;
	}
	return false;
}

/* Whether an item of the text sets the member; heads end at ": ". */
static bool sets(const struct buf *text, const char *name, size_t len)
{
	const char *end;

	for (const char *s = buf_str(text); *s; s = end + (*end == '\n')) {
		end = strchrnul(s, '\n');
		for (const char *at = s; (at = memmem(at, (size_t)(end - at), name, len)); at++) {
			if (strstr(s, ": ") < at)
				break;
			if (at[-1] == ' ' && at[len] == '=')
				return true;
		}
	}
	return false;
}

/* What the other family sets and this one does not. */
static void tell_missing(const struct buf *mine, const struct buf *other, struct prose *p)
{
	bool any = false;
	size_t n;

	for (const char *s = buf_str(other); *s; s = strchrnul(s, '\n') + 1) {
		const char *end = strstr(s, ": ");

		for (const char *at = s + 4; end && at < end; at += strcspn(at, " ") + 1) {
			n = strcspn(at, "=");
			if (at + n > end || sets(mine, at, n))
				continue;
			prose_addf(p, "%s%.*s", any ? ", " : " But these are 0: ", (int)n, at);
			any = true;
		}
	}
	prose_adds(p, any ? "." : "");
}

/* Those that no earlier family has, if most of them are an earlier one's. */
static void tell_fields(const struct telling *t, const struct family *f)
{
	const struct family *like = NULL;
	struct buf mine = { 0 }, before = { 0 }, best = { 0 };
	size_t lines = 0, most = 0, n;

	items_of(t, f, &mine);
	for (const char *s = buf_str(&mine); *s; s += strcspn(s, "\n") + 1)
		lines++;
	for (const struct family *g = t->families; g < f; g++) {
		size_t shared = 0;

		buf_reset(&before);
		if (event_told(g->events[0]))
			items_of(t, g, &before);
		for (const char *s = buf_str(&mine); *s; s += n) {
			n = strcspn(s, "\n") + 1;
			shared += has_line(&before, s, n);
		}
		if (shared <= most || 2 * shared < lines)
			continue;
		most = shared;
		like = g;
		buf_reset(&best);
		buf_add(&best, buf_str(&before), before.len);
	}
	for (const char *s = buf_str(&mine); *s; s += n) {
		n = strcspn(s, "\n") + 1;
		if (has_line(&best, s, n))
			continue;
		prose_item(t->p);
		prose_addf(t->p, "%.*s", (int)n - 5, s + 4);
	}
	if (like) {
		prose_item(t->p);
		prose_adds(t->p, lines == most ? "All other fields are those of " :
						 "What else is set is as with ");
		story_fds(like->events, 1, t->p);
		prose_adds(t->p, ".");
		tell_missing(&mine, &best, t->p);
	}
	prose_end(t->p);
	buf_free(&mine);
	buf_free(&before);
	buf_free(&best);
}

static void tell_family(const struct telling *t, const struct family *f)
{
	const struct event *kinds[TOLD_MANY];
	struct attr_words a;
	struct prose *p = t->p;
	size_t n;

	prose_para(p);
	prose_count(p, f->n, "open");
	prose_adds(p, " by ");
	story_who(t->s, f->events[0]->opener, p);
	prose_adds(p, ": ");
	story_list_kinds(t, f);
	prose_adds(p, ", for ");
	story_add_spread(t, f);
	prose_adds(p, ".");
	if (f->events[0]->unread) {
		prose_item(p);
		prose_adds(p, "The attr could not be read in the memory of the program: what it "
			      "asks for is not known.");
		return;
	}
	why_so_many(t, f);
	tell_group(t, f);
	n = story_kinds(f, kinds);
	for (size_t i = 0; i < n; i++) {
		a = story_words(t->s, kinds[i]);
		attr_prose_event(&a, p);
	}
	tell_fields(t, f);
}

/* The way that the first went is told whole, of others the PMU that took them. */
static void tell_way(const struct telling *t, const struct event *e, const char **told,
		     size_t *ntold)
{
	struct attr_words a = story_words(t->s, e);
	const char *steps[STORY_OPEN_STEPS];
	struct buf intro = { 0 };

	story_open_steps(&a, steps);
	for (size_t i = 0; i < *ntold; i++)
		if (told[i] == steps[OPEN_INIT])
			return;
	if (*ntold == TOLD_MANY)
		return;
	if (!*ntold) {
		buf_addf(&intro, "each open goes through these functions (here fd %d), and later, "
				 "when the task or CPU runs, through the last ones", e->fd);
		story_steps(t, buf_str(&intro), steps, STORY_OPEN_STEPS);
	} else if (steps[OPEN_INIT]) {
		buf_addf(&intro, "the PMU that takes fd %d and its like is asked by", e->fd);
		story_steps(t, buf_str(&intro), &steps[OPEN_INIT], 1);
	}
	buf_free(&intro);
	told[(*ntold)++] = steps[OPEN_INIT];
}

/* Where nothing but probes opened: the way of the last call that was refused. */
static void tell_refused_way(const struct telling *t)
{
	const char *steps[STORY_OPEN_STEPS];
	const struct attempt *attempts;
	size_t n = model_attempts(t->s->m, &attempts);
	struct attr_words a = { .names = t->s->names, .arch = t->s->arch };

	if (!n)
		return;
	a.attr = attempts[n - 1].attr;
	a.len = attempts[n - 1].attr_len;
	a.pid = attempts[n - 1].pid;
	a.flags = attempts[n - 1].flags;
	story_open_steps(&a, steps);
	story_steps(t, "an open goes through these functions (here the last that failed), and "
		       "ends at the first that refuses it", steps, STORY_OPEN_STEPS - 1);
}

static void tell_steps(const struct telling *t)
{
	const struct event *kinds[TOLD_MANY];
	const char *told[TOLD_MANY];
	size_t ntold = 0, n;

	for (size_t i = 0; i < t->nfamilies && i < TOLD_MANY; i++) {
		n = event_told(t->families[i].events[0]) ?
			story_kinds(&t->families[i], kinds) : 0;
		for (size_t k = 0; k < n; k++)
			tell_way(t, kinds[k], told, &ntold);
	}
	if (!ntold)
		tell_refused_way(t);
}

void story_opens(const struct telling *t)
{
	bool any = false;

	for (size_t i = 0; i < t->nfamilies && i < TOLD_MANY; i++) {
		if (t->families[i].events[0]->found)
			continue;
		if (!any)
			prose_head(t->p, "What was opened, and for what");
		any = true;
		tell_family(t, &t->families[i]);
	}
	story_rest(t, t->nfamilies, "more kind");
	tell_steps(t);
	prose_end(t->p);
}
