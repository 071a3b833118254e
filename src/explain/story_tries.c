// SPDX-License-Identifier: LGPL-2.1-or-later
/* What was tried: probes, failed opens, and the similar event that opened after them. */
#include <stdlib.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/abi/need.h"
#include "core/abi/strings.h"
#include "core/lib/die.h"
#include "core/model/attempt.h"
#include "core/model/event_name.h"
#include "explain/attr_prose.h"
#include "explain/story_internal.h"
#include "xlat/tables.h"

/* A probe (event) or a failed open (attempt). */
struct try {
	const uint8_t *attr;
	size_t len;
	pid_t tid, pid;
	int cpu;
	uint64_t flags;
	const struct event *event;
	const struct attempt *attempt;
};

static void try_name(const struct story_text *t, const struct try *y)
{
	struct buf name = { 0 };

	event_name_probed(y->attr, y->len, t->s->names, y->event ? y->event->probed :
			  y->attempt ? y->attempt->probed : NULL, &name);
	prose_name(t->p, buf_str(&name));
	buf_free(&name);
}

/* Count the members that differ from another try, and write their new values to p. */
static size_t try_differences(const struct story_text *t, const struct try *y,
			      const struct try *before, struct prose *p)
{
	struct open_attr a = {
		.attr = y->attr, .len = y->len, .names = t->s->names, .arch = t->s->arch,
	};
	struct walk w = attr_prose_walk(&a);
	const struct field *f;
	size_t at = 0, n = 0;

	while ((f = layout_next(&w, &at))) {
		if (field_get(f, y->attr, y->len) == field_get(f, before->attr, before->len))
			continue;
		if (p) {
			prose_adds(p, n ? ", " : "");
			attr_prose_member(&a, (unsigned int)(f - w.layout->fields), p);
		}
		n++;
	}
	return n;
}

static bool try_same_attr(const struct try *a, const struct try *b)
{
	return a->len == b->len && !memcmp(a->attr, b->attr, a->len);
}

/* Return whether one item covers both: the same probe again, or equal failures. */
static bool try_same(const struct story_text *t, const struct try *a, const struct try *b)
{
	if (!a->event != !b->event || a->tid != b->tid)
		return false;
	if (a->event)
		return try_same_attr(a, b);
	return a->attempt->error == b->attempt->error &&
	       a->attempt->injected == b->attempt->injected &&
	       attempt_instead(t->s->m, a->attempt) == attempt_instead(t->s->m, b->attempt);
}

static void try_instead(const struct story_text *t, const struct attempt *a)
{
	const struct event *e = attempt_instead(t->s->m, a);
	struct try was = { .attr = a->attr, .len = a->attr_len };
	struct try is = { .event = e };
	struct prose *p = t->p;

	if (!e)
		return;
	is.attr = e->attr;
	is.len = e->attr_len;
	if (attempt_same_event(a, e)) {
		prose_adds(p, " The same event opened next (");
	} else {
		prose_adds(p, " A similar event opened later: ");
		story_event_name(t->s, e, p);
		prose_adds(p, " (");
	}
	story_fd(e, p);
	prose_adds(p, ")");
	if (try_differences(t, &is, &was, NULL)) {
		prose_adds(p, ", with ");
		try_differences(t, &is, &was, p);
	}
	if (e->pid != a->pid)
		prose_addf(p, "%s pid %d", try_differences(t, &is, &was, NULL) ? " and" : ", with",
			   (int)e->pid);
	prose_adds(p, ".");
}

/* Count the different events of a run, and write their names. */
static size_t try_names(const struct story_text *t, const struct try *run, size_t n, bool say)
{
	size_t names = 0, all = say ? try_names(t, run, n, false) : 0;

	for (size_t i = 0; i < n && i < STORY_ITEMS; i++) {
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = try_same_attr(&run[k], &run[i]);
		if (seen)
			continue;
		if (say) {
			prose_adds(t->p, prose_sep(names, all));
			try_name(t, &run[i]);
		}
		names++;
	}
	return names;
}

/* Say what the kernel's answer tells the program: whether it has a feature. */
static void try_purpose(const struct try *y, const struct try *before, struct prose *p)
{
	const struct story_open open = {
		.attr = y->attr, .len = y->len, .pid = y->pid, .cpu = y->cpu, .flags = y->flags,
	};
	struct open_need mine = open_need(y->attr, y->len, y->flags), had = { 0 };
	const char *purpose = story_purpose(&open);

	if (before)
		had = open_need(before->attr, before->len, before->flags);
	if (purpose) {
		prose_addf(p, " Purpose: %s.", purpose);
	} else if (before && mine.since > had.since) {
		prose_addf(p, " Purpose: a test for %s, new in Linux ", mine.name);
		release_since_text(mine.since, &p->text);
		prose_adds(p, ".");
	}
}

static void try_write_run(const struct story_text *t, const struct try *run, size_t n,
			  const struct try *before)
{
	const struct xlat_entry *e;
	struct prose *p = t->p;
	size_t names;

	prose_item(p);
	names = try_names(t, run, n, true);
	if (n > names)
		prose_addf(p, ", %zu times", n);
	else if (n == 1 && run->cpu >= 0)
		prose_addf(p, " on CPU %d", run->cpu);
	if (names == 1 && before && before->tid == run->tid) {
		prose_adds(p, ", now with ");
		if (!try_differences(t, run, before, p))
			prose_adds(p, "the same attr");
	}
	if (run->event) {
		prose_addf(p, " (fd %d): opened and closed.",
			   run->event->fd);
		try_purpose(run, before, p);
		return;
	}
	prose_adds(p, ": failed with ");
	e = xlat_find(&xlat_perf_open_errno, (uint64_t)run->attempt->error);
	if (e)
		prose_addf(p, "%s (%s)", e->name, error_meaning(run->attempt->error));
	else
		prose_addf(p, "error %d", run->attempt->error);
	prose_adds(p, run->attempt->injected ? ", injected." : ".");
	try_purpose(run, before, p);
	try_instead(t, run[n - 1].attempt);
}

/* Get the next probe or failure; an attempt knows how many events preceded it. */
static bool try_next(const struct story_text *t, size_t *event, size_t *attempt, struct try *y)
{
	struct event *const *events;
	const struct attempt *attempts;
	size_t ne = model_events(t->s->m, &events), na = model_attempts(t->s->m, &attempts);

	for (;;) {
		if (*attempt < na && attempts[*attempt].events <= *event) {
			const struct attempt *a = &attempts[(*attempt)++];

			*y = (struct try){
				.attr = a->attr, .len = a->attr_len, .tid = a->tid, .pid = a->pid,
				.cpu = a->cpu, .flags = a->flags, .attempt = a,
			};
			return true;
		}
		if (*event >= ne)
			return false;
		++*event;
		if (story_probe(t->s, events[*event - 1]))
			break;
	}
	*y = (struct try){
		.attr = events[*event - 1]->attr, .len = events[*event - 1]->attr_len,
		.tid = events[*event - 1]->opener, .cpu = events[*event - 1]->cpu,
		.pid = events[*event - 1]->pid, .flags = events[*event - 1]->flags,
		.event = events[*event - 1],
	};
	return true;
}

/* Return all of them in order, for the caller to free. */
static struct try *tries_list(const struct story_text *t, size_t *n)
{
	size_t event = 0, attempt = 0;
	struct try *list = NULL, one;

	*n = 0;
	while (try_next(t, &event, &attempt, &one)) {
		list = xrealloc(list, (*n + 1) * sizeof(*list));
		list[(*n)++] = one;
	}
	return list;
}

/* Name the descriptors that a later event got after a probe had been closed. */
static void tries_reused(const struct story_text *t)
{
	struct event *const *events;
	size_t n = model_events(t->s->m, &events), listed = 0;
	struct prose *p = t->p;
	struct map seen = { 0 };	/* opener and descriptor -> number of probes */

	for (size_t i = 0; i < n && listed < STORY_ITEMS; i++) {
		uint64_t key = (uint64_t)events[i]->opener << 32 | (uint32_t)events[i]->fd;
		uintptr_t probes = (uintptr_t)map_get(&seen, key);

		if (story_probe(t->s, events[i])) {
			map_set(&seen, key, (void *)(probes + 1));
			continue;
		}
		if (!probes)
			continue;
		if (!listed++)
			prose_para(p);
		prose_addf(p, "%sd %d", listed == 1 ? "F" : " f", events[i]->fd);
		prose_adds(p, " was used again, after ");
		prose_count(p, probes, "probe");
		prose_adds(p, ", for ");
		story_event_name(t->s, events[i], p);
		prose_adds(p, ".");
	}
	map_free(&seen);
}

void story_tries(const struct story_text *t)
{
	size_t n, run, runs = 0;
	struct try *list = tries_list(t, &n);
	struct prose *p = t->p;

	if (n) {
		prose_head(p, "What was tried");
		prose_adds(p, "Failed opens and probes, in order:");
	}
	for (size_t i = 0; i < n; i += run, runs++) {
		for (run = 1; i + run < n && try_same(t, &list[i], &list[i + run]); run++)
			;
		if (runs < STORY_ITEMS)
			try_write_run(t, &list[i], run, i ? &list[i - 1] : NULL);
	}
	story_rest(t, runs, "more attempt");
	tries_reused(t);
	prose_end(p);
	free(list);
}
