// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events that were opened alike, so that a story explains them once. */
#include "core/lib/hash.h"
#include "explain/story_internal.h"
#include "formats/text/summary.h"

struct open_attr story_attr(const struct story *s, const struct event *e)
{
	return (struct open_attr){
		.attr = e->attr, .len = e->attr_len, .names = s->names, .arch = s->arch,
		.probed = e->probed,
		.pid = e->flags & PERF_FLAG_PID_CGROUP ? -1 : e->pid, .flags = e->flags,
	};
}

void story_who(const struct story *s, pid_t tid, struct prose *p)
{
	summary_add_task(s->m, tid, &p->text);
}

void story_target(const struct story *s, const struct event *e, struct prose *p)
{
	struct open_attr a = story_attr(s, e);

	if (e->flags & PERF_FLAG_PID_CGROUP && e->pid < 0)
		prose_adds(p, "the tasks of a cgroup");
	else if (e->flags & PERF_FLAG_PID_CGROUP)
		prose_addf(p, "the tasks of the cgroup of fd %d", (int)e->pid);
	else if (e->pid == -1)
		prose_adds(p, "every task");
	else
		story_who(s, e->pid ? e->pid : e->opener, p);
	if (e->pid != -1 && open_attr_get(&a, ATTR_INHERIT))
		prose_addf(p, " and its %s", story_heirs(s));
}

void story_event_name(const struct story *s, const struct event *e, struct prose *p)
{
	const struct story_open o = story_open_of(e);

	if (event_known(e))
		story_open_name(s, &o, p);
	else
		prose_adds(p, "an event opened before the trace began");
}

void story_event_fds(const struct story *s, const struct event *e,
		     const struct event *const *list, size_t n, struct prose *p)
{
	story_event_name(s, e, p);
	prose_adds(p, " (");
	story_fds(list, n, p);
	prose_adds(p, ")");
}

void story_fds(const struct event *const *events, size_t n, struct prose *p)
{
	size_t items = 0, run;

	prose_adds(p, n == 1 ? "fd " : "fds ");
	for (size_t i = 0; i < n; i += run) {
		for (run = 1; i + run < n && events[i + run]->fd == events[i]->fd + (int)run; run++)
			;
		run = run > 2 ? run : 1;
		if (++items > STORY_FDS) {
			prose_addf(p, " and %zu more", n - i);
			return;
		}
		prose_adds(p, !i ? "" : i + run == n ? " and " : ", ");
		prose_addf(p, run > 1 ? "%d to %d" : "%d", events[i]->fd, events[i + run - 1]->fd);
	}
}

bool story_is_dummy(const struct story_text *t, const struct family *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct open_attr a = story_attr(t->s, f->events[i]);

		if (!event_attr_known(f->events[i]) || open_attr_source(&a) != SOURCE_DUMMY)
			return false;
	}
	return true;
}

bool story_uses_events(const struct story_text *t, pid_t tid)
{
	for_each(k, t->tasks, t->ntasks)
		if ((*k)->tid == tid && (*k)->opens + (*k)->failures + (*k)->reads + (*k)->polls)
			return true;
	return false;
}

bool story_is_target(const struct story_text *t, pid_t tid)
{
	for_each(e, t->events, t->nevents)
		if ((*e)->pid == tid && event_known(*e) && !((*e)->flags & PERF_FLAG_PID_CGROUP) &&
		    !story_probe(t->s, *e))
			return true;
	return false;
}

bool story_any_asks(const struct story_text *t, unsigned int member)
{
	for (size_t i = 0; i < t->nfamilies; i++)
		if (event_attr(t->families[i].events[0], member))
			return true;
	return false;
}

/* Making them ------------------------------------------------------------------------- */

/* Copy the attr without the members that tell which event it is. */
static void bare_attr(const struct event *e, uint8_t *attr)
{
	const struct field *f = layout_perf_event_attr.fields;

	memset(attr, 0, EVENT_ATTR_MAX);
	memcpy(attr, e->attr, e->attr_len);
	field_clear(&f[ATTR_TYPE], attr, EVENT_ATTR_MAX);
	field_clear(&f[ATTR_BP_TYPE], attr, EVENT_ATTR_MAX);
	for (size_t i = 0; i < ATTR_CONFIGS; i++)
		field_clear(&f[attr_configs[i]], attr, EVENT_ATTR_MAX);
}

static bool is_kin(const struct story *s, const struct event *a, const struct event *b)
{
	struct open_attr x = story_attr(s, a), y = story_attr(s, b);
	uint8_t one[EVENT_ATTR_MAX], other[EVENT_ATTR_MAX];

	if (a->opener != b->opener || a->flags != b->flags || (a->pid < 0) != (b->pid < 0) ||
	    !a->leader != !b->leader || event_known(a) != event_known(b) || a->unread != b->unread)
		return false;
	/* the unit of a period depends on the source */
	if (open_attr_get(&x, ATTR_SAMPLE_PERIOD) && open_attr_source(&x) != open_attr_source(&y))
		return false;
	bare_attr(a, one);
	bare_attr(b, other);
	return !memcmp(one, other, sizeof(one));
}

void families_make(struct story_text *t)
{
	struct map by_hash = { 0 };

	for (size_t i = 0; i < t->nevents; i++) {
		const struct event *e = t->events[i];
		uint8_t attr[EVENT_ATTR_MAX];
		struct family *f = NULL;
		uint64_t hash;
		size_t k;

		if (story_probe(t->s, e))
			continue;
		bare_attr(e, attr);
		hash = hash_bytes(HASH_START, attr, sizeof(attr));
		hash = hash_word(hash_word(hash, (uint64_t)e->opener), e->flags);
		hash = hash_word(hash, (uint64_t)(e->pid < 0) << 1 | !e->leader);
		k = (size_t)(uintptr_t)map_get(&by_hash, hash);
		if (k && is_kin(t->s, t->families[k - 1].events[0], e))
			f = &t->families[k - 1];
		/* the hash does not cover the source of samples */
		for (k = 0; !f && k < t->nfamilies && k < STORY_ITEMS; k++)
			if (is_kin(t->s, t->families[k].events[0], e))
				f = &t->families[k];
		if (!f) {
			f = &APPEND(t->families, t->nfamilies);
			*f = (struct family){ .n = 0 };
			map_set(&by_hash, hash, (void *)(uintptr_t)t->nfamilies);
		}
		APPEND(f->events, f->n) = e;
	}
	map_free(&by_hash);
}

/* Kinds ----------------------------------------------------------------------------------- */

static bool same_kind(const struct event *a, const struct event *b)
{
	return a->attr_len == b->attr_len && !memcmp(a->attr, b->attr, a->attr_len);
}

size_t family_kinds(const struct family *f, const struct event *out[STORY_ITEMS])
{
	size_t n = 0, k;

	for (size_t i = 0; i < f->n && n < STORY_ITEMS; i++) {
		for (k = 0; k < n && !same_kind(out[k], f->events[i]); k++)
			;
		if (k == n)
			out[n++] = f->events[i];
	}
	return n;
}

size_t family_of_kind(const struct family *f, const struct event *kind, const struct event **list)
{
	size_t n = 0;

	for (size_t k = 0; k < f->n; k++)
		if (same_kind(kind, f->events[k]))
			list[n++] = f->events[k];
	return n;
}

void family_list(const struct story_text *t, const struct family *f)
{
	const struct event *kinds[STORY_ITEMS], **list = xcalloc(f->n, sizeof(*list));
	size_t all = family_kinds(f, kinds), listed = 0;

	for (size_t i = 0; i < all; i++) {
		size_t n = family_of_kind(f, kinds[i], list);

		prose_adds(t->p, all == STORY_ITEMS && i ? ", " : prose_sep(i, all));
		story_event_fds(t->s, kinds[i], list, n, t->p);
		listed += n;
	}
	if (listed < f->n)
		prose_addf(t->p, " and %zu more", f->n - listed);
	free(list);
}
