// SPDX-License-Identifier: LGPL-2.1-or-later
/* What was tried: probes, failures, and what worked instead. */
#include <stdlib.h>
#include <string.h>

#include "abi/layout.h"
#include "explain/story_internal.h"
#include "lib/die.h"
#include "model/attempt.h"
#include "model/event_name.h"
#include "xlat/tables.h"

/* An open, whether it worked or not, as the tries are told in their order. */
struct try {
	const uint8_t *attr;
	size_t len;
	pid_t tid;
	int cpu;
	const struct event *event;	/* or */
	const struct attempt *attempt;
};

static void try_name(const struct telling *t, const struct try *y)
{
	struct buf name = { 0 };

	event_name(y->attr, y->len, t->s->names, &name);
	prose_name(t->p, buf_str(&name));
	buf_free(&name);
}

/* Members that differ from the try before, with their new values; how many. */
static size_t differences(const struct telling *t, const struct try *y, const struct try *before,
			  struct prose *p)
{
	struct attr_words a = {
		.attr = y->attr, .len = y->len, .names = t->s->names, .arch = t->s->arch,
	};
	struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = y->attr, .len = y->len,
		.names = t->s->names,
	};
	const struct field *f;
	size_t at = 0, n = 0;

	while ((f = layout_next(&w, &at))) {
		if (field_get(f, y->attr, y->len) ==
		    field_get(f, before->attr, before->len))
			continue;
		if (p) {
			prose_adds(p, n ? ", " : "");
			attr_prose_member(&a, (unsigned int)(f - w.layout->fields), p);
		}
		n++;
	}
	return n;
}

/* They can be told as one: the same probe again, or failures alike. */
static bool same_try(const struct telling *t, const struct try *a, const struct try *b)
{
	if (!a->event != !b->event || a->tid != b->tid)
		return false;
	if (!a->event)
		return a->attempt->error == b->attempt->error &&
		       a->attempt->injected == b->attempt->injected &&
		       attempt_instead(t->s->m, a->attempt) ==
		       attempt_instead(t->s->m, b->attempt);
	return a->len == b->len && !memcmp(a->attr, b->attr, a->len);
}

static bool same_attr(const struct try *a, const struct try *b)
{
	return a->len == b->len && !memcmp(a->attr, b->attr, a->len);
}

static void tell_instead(const struct telling *t, const struct attempt *a, size_t names)
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
		prose_adds(p, " The same event was opened next (");
	} else {
		prose_addf(p, " The next open like %s that worked was ", names > 1 ? "them" : "it");
		story_event_name(t->s, e, p);
		prose_adds(p, " (");
	}
	story_fds(&e, 1, p);
	prose_adds(p, ")");
	if (differences(t, &is, &was, NULL)) {
		prose_adds(p, ", with ");
		differences(t, &is, &was, p);
	}
	if (e->pid != a->pid)
		prose_addf(p, "%s pid %d", differences(t, &is, &was, NULL) ? " and" : ", with",
			   (int)e->pid);
	prose_adds(p, ".");
}

/* The events of a run, each once; how many there are. */
static size_t run_names(const struct telling *t, const struct try *run, size_t n, bool say)
{
	size_t names = 0, all = say ? run_names(t, run, n, false) : 0;

	for (size_t i = 0; i < n && i < TOLD_MANY; i++) {
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = same_attr(&run[k], &run[i]);
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

static void tell_run(const struct telling *t, const struct try *run, size_t n,
		     const struct try *before)
{
	const struct xlat_entry *e;
	struct prose *p = t->p;
	size_t names;

	prose_item(p);
	names = run_names(t, run, n, true);
	if (n > names)
		prose_addf(p, ", %zu times", n);
	else if (n == 1 && run->cpu >= 0)
		prose_addf(p, " on CPU %d", run->cpu);
	if (names == 1 && before && before->tid == run->tid) {
		prose_adds(p, ", now with ");
		if (!differences(t, run, before, p))
			prose_adds(p, "the same attr");
	}
	if (run->event) {
		prose_adds(p, ": it opened and was closed again, so the kernel takes it.");
		return;
	}
	prose_adds(p, ": refused with ");
	e = xlat_find(&xlat_perf_open_errno, (uint64_t)run->attempt->error);
	if (e)
		prose_addf(p, "%s (%s)", e->name, strerror(run->attempt->error));
	else
		prose_addf(p, "error %d", run->attempt->error);
	prose_adds(p, run->attempt->injected ? ", which was injected." : ".");
	tell_instead(t, run[n - 1].attempt, names);
}

/* The next probe or failure: attempts stand between the events by their count. */
static bool next_try(const struct telling *t, size_t *event, size_t *attempt, struct try *y)
{
	struct event *const *events;
	const struct attempt *attempts;
	size_t ne = model_events(t->s->m, &events), na = model_attempts(t->s->m, &attempts);

	for (;;) {
		if (*attempt < na && attempts[*attempt].events <= *event) {
			const struct attempt *a = &attempts[(*attempt)++];

			*y = (struct try){ .attr = a->attr, .len = a->attr_len, .tid = a->tid,
					   .cpu = a->cpu, .attempt = a };
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
		.event = events[*event - 1],
	};
	return true;
}

/* All of them, in order; the caller frees. */
static struct try *all_tries(const struct telling *t, size_t *n)
{
	size_t event = 0, attempt = 0;
	struct try *list = NULL, one;

	*n = 0;
	while (next_try(t, &event, &attempt, &one)) {
		list = xrealloc(list, (*n + 1) * sizeof(*list));
		list[(*n)++] = one;
	}
	return list;
}

void story_tries(const struct telling *t)
{
	size_t n, run, runs = 0;
	struct try *list = all_tries(t, &n);
	struct prose *p = t->p;

	if (n) {
		prose_head(p, "What was tried");
		prose_adds(p, "Opens that failed, and events that were closed again without "
			      "being used, in their order:");
	}
	for (size_t i = 0; i < n; i += run, runs++) {
		for (run = 1; i + run < n && same_try(t, &list[i], &list[i + run]); run++)
			;
		if (runs < TOLD_MANY)
			tell_run(t, &list[i], run, i ? &list[i - 1] : NULL);
	}
	story_rest(t, runs, "more attempt");
	prose_end(p);
	free(list);
}
