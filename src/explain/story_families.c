// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events that were opened alike, so that a story explains them once. */
#include <stdlib.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "explain/story_internal.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

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

static uint64_t kin_hash(const struct event *e)
{
	uint64_t hash = hash_word(HASH_START, (uint64_t)e->opener);
	uint8_t attr[EVENT_ATTR_MAX];

	bare_attr(e, attr);
	for (size_t i = 0; i < sizeof(attr); i += sizeof(uint64_t))
		hash = hash_word(hash, load_uint(attr + i, sizeof(uint64_t)));
	hash = hash_word(hash, e->flags);
	return hash_word(hash, (uint64_t)(e->pid < 0) << 1 | !e->leader);
}

/* Return the event's family; NULL if it is the first of one. */
static struct family *find_family(const struct story_text *t, const struct map *by_hash,
				  const struct event *e, uint64_t hash)
{
	size_t k = (size_t)(uintptr_t)map_get(by_hash, hash);

	if (k && is_kin(t->s, t->families[k - 1].events[0], e))
		return &t->families[k - 1];
	/* the hash does not cover the source of samples */
	for (k = 0; k < t->nfamilies && k < STORY_ITEMS; k++)
		if (is_kin(t->s, t->families[k].events[0], e))
			return &t->families[k];
	return NULL;
}

static struct family *new_family(struct story_text *t)
{
	t->families = xrealloc(t->families, (t->nfamilies + 1) * sizeof(*t->families));
	t->families[t->nfamilies] = (struct family){ .n = 0 };
	return &t->families[t->nfamilies++];
}

void families_make(struct story_text *t)
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

void families_free(struct story_text *t)
{
	for (size_t i = 0; i < t->nfamilies; i++)
		free(t->families[i].events);
	free(t->families);
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

void family_list(const struct story_text *t, const struct family *f)
{
	const struct event *kinds[STORY_ITEMS], **list = xcalloc(f->n, sizeof(*list));
	size_t all = family_kinds(f, kinds), listed = 0;

	for (size_t i = 0; i < all; i++) {
		size_t n = 0;

		for (size_t k = 0; k < f->n; k++)
			if (same_kind(kinds[i], f->events[k]))
				list[n++] = f->events[k];
		prose_adds(t->p, all == STORY_ITEMS && i ? ", " : prose_sep(i, all));
		story_event_name(t->s, kinds[i], t->p);
		prose_adds(t->p, " (");
		story_fds(list, n, t->p);
		prose_adds(t->p, ")");
		listed += n;
	}
	if (listed < f->n)
		prose_addf(t->p, " and %zu more", f->n - listed);
	free(list);
}

size_t family_leaders(const struct family *f, const struct event **out)
{
	size_t n = 0, k;

	for (size_t i = 0; i < f->n; i++) {
		for (k = 0; k < n && out[k] != f->events[i]->leader; k++)
			;
		if (k == n && f->events[i]->leader)
			out[n++] = f->events[i]->leader;
	}
	return n;
}

/* CPUs and tasks ---------------------------------------------------------------------------- */

static int compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

/* Sort numbers and drop duplicates; return how many are left. */
static size_t distinct_ints(int *list, size_t n)
{
	size_t kept = 0;

	qsort(list, n, sizeof(*list), compare_ints);
	for (size_t i = 0; i < n; i++)
		if (!i || list[i] != list[i - 1])
			list[kept++] = list[i];
	return kept;
}

/* Return the CPUs, for the caller to free, and count CPUs and tasks. */
static int *spread_cpus(const struct family *f, size_t *cpus, size_t *tasks)
{
	int *cpu = xcalloc(f->n, sizeof(*cpu)), *task = xcalloc(f->n, sizeof(*task));

	*cpus = *tasks = 0;
	for (size_t i = 0; i < f->n; i++) {
		if (f->events[i]->cpu >= 0)
			cpu[(*cpus)++] = f->events[i]->cpu;
		if (f->events[i]->pid >= 0)
			task[(*tasks)++] = f->events[i]->pid;
	}
	*cpus = distinct_ints(cpu, *cpus);
	*tasks = distinct_ints(task, *tasks);
	free(task);
	return cpu;
}

void family_spread(const struct family *f, size_t *cpus, size_t *tasks)
{
	free(spread_cpus(f, cpus, tasks));
}

void family_write_spread(const struct story_text *t, const struct family *f)
{
	struct prose *p = t->p;
	size_t cpus, tasks, run;
	int *cpu = spread_cpus(f, &cpus, &tasks);

	if (tasks > 1)
		prose_addf(p, "%zu tasks", tasks);
	else
		story_target(t->s, f->events[0], p);
	if (cpus)
		prose_adds(p, cpus == 1 ? ", on CPU " : ", on CPUs ");
	for (size_t i = 0; i < cpus; i += run) {
		for (run = 1; i + run < cpus && cpu[i + run] == cpu[i] + (int)run; run++)
			;
		run = run > 2 ? run : 1;
		prose_addf(p, "%s%d", prose_sep(i, cpus - run + 1), cpu[i]);
		if (run > 1)
			prose_addf(p, " to %d", cpu[i] + (int)run - 1);
	}
	free(cpu);
}
