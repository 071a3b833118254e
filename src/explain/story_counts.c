// SPDX-License-Identifier: LGPL-2.1-or-later
/* The accuracy of counts and samples, and the final counts. */
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "explain/story_internal.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

/* Accuracy ------------------------------------------------------------------------------ */

/* Begin an item, after the heading if it is the first. */
static void accuracy_item(struct prose *p, bool *head)
{
	if (!*head)
		prose_head(p, "Accuracy");
	*head = true;
	prose_item(p);
}

/* Say which multiplexed events ran together, for what share of the time. */
static void accuracy_turns(const struct story_text *t, size_t shared)
{
	struct event *const *events;
	size_t n = model_events(t->s->m, &events), items = 0;
	const struct event **list = xcalloc(shared, sizeof(*list));
	struct prose *p = t->p;

	prose_adds(p, " They took turns on the PMU, as together they need more counters than "
		      "were free; the events of a group run together or not at all:");
	for (size_t i = 0; i < n && items < STORY_ITEMS; i++) {
		const struct event *e = events[i];
		size_t together = 1;

		if (!model_takes_turns(t->s->m, e) || (e->leader && event_multiplexed(e->leader)))
			continue;
		list[0] = e;
		for (size_t k = i + 1; k < n; k++)
			if (events[k]->leader == e && event_multiplexed(events[k]))
				list[together++] = events[k];
		prose_adds(p, items++ ? ", " : " ");
		story_fds(list, together, p);
		prose_addf(p, " for %.1f %% of the time", 100.0 * (double)e->count.running /
			   (double)e->count.enabled);
	}
	prose_adds(p, items == STORY_ITEMS ? ", and others." : ".");
	if (t->o->sharers)
		prose_addf(p, " When the first of them was read, events of the PMU were held by %s.",
			   t->o->sharers);
	prose_adds(p, " pevtrace ps shows who holds events on this machine, and what share of the "
		      "time each ran.");
	free(list);
}

static void accuracy_counts(const struct story_text *t, bool *head)
{
	struct event *const *events;
	size_t n = model_events(t->s->m, &events), counting = 0, timed = 0, shared = 0;
	size_t hardware = 0, late = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < n; i++) {
		struct open_attr a = story_attr(t->s, events[i]);
		enum event_source s = open_attr_source(&a);

		if (story_probe(t->s, events[i]) || !event_attr_known(events[i]) ||
		    open_attr_samples(&a) || s == SOURCE_DUMMY)
			continue;
		counting++;
		hardware += s == SOURCE_CPU || s == SOURCE_OTHER;
		timed += events[i]->count.known && events[i]->count.timed;
		if (model_takes_turns(t->s->m, events[i]))
			shared++;
		else
			late += event_multiplexed(events[i]);
	}
	if (!counting)
		return;
	accuracy_item(p, head);
	prose_count(p, counting, "event");
	prose_adds(p, counting == 1 ? " counts" : " count");
	prose_adds(p, " without sampling. A count is exact: it covers the time that the event was "
		      "enabled, in the modes that are not excluded.");
	if (shared) {
		prose_addf(p, " But %zu of them %s multiplexed: time_running is less than "
			      "time_enabled. Tools scale such a count by their ratio (count * "
			      "time_enabled / time_running), which gives an estimate.",
			   shared, shared == 1 ? "was" : "were");
		accuracy_turns(t, shared);
	}
	if (late)
		prose_addf(p, " %zu of them %s time_running below time_enabled without need of a "
			      "counter: the kernel puts an event that joins a running group in "
			      "place later.", late, late == 1 ? "has" : "have");
	if (shared || late)
		return;
	if (timed)
		prose_addf(p, " %s: time_running equals time_enabled%s.",
			   timed == 1 ? "It was not multiplexed" : "They were not multiplexed",
			   timed == counting ? "" : " where both were read");
	else if (hardware)
		prose_adds(p, " Whether there was multiplexing is unknown: the times were not "
			      "read.");
	else
		prose_adds(p, " Such events need no hardware counter and are never multiplexed.");
}

static void accuracy_samples(const struct story_text *t, bool *head)
{
	struct event *const *events;
	size_t n = model_events(t->s->m, &events);
	uint64_t samples = 0, lost = 0, every = 0, all = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < n; i++) {
		const struct event *e = events[i];
		struct open_attr a = story_attr(t->s, e);

		if (story_probe(t->s, e) || !event_attr_known(e) || !open_attr_samples(&a) ||
		    !(e->maps || e->output))
			continue;
		every += open_attr_every_hit(&a);
		all++;
		samples += event_records(e, PERF_RECORD_SAMPLE);
		lost += e->lost_read > e->lost_reported ? e->lost_read : e->lost_reported;
	}
	if (!all)
		return;
	accuracy_item(p, head);
	if (every == all)
		prose_adds(p, "With sample_period=1 every hit is sampled: nothing is estimated.");
	else
		prose_adds(p, "Samples are an estimate: each represents everything since the "
			      "previous one, and more samples give a better estimate.");
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

void story_accuracy(const struct story_text *t)
{
	static const char *const steps[] = { "multiplex" };
	struct event *const *events;
	size_t n = model_events(t->s->m, &events), shared = 0, lost = 0;
	bool head = false;

	for (size_t i = 0; i < n; i++) {
		shared += model_takes_turns(t->s->m, events[i]);
		lost += event_multiplexed(events[i]);
	}
	if (!t->nfamilies || (!t->full && !lost))
		return;
	accuracy_counts(t, &head);
	accuracy_samples(t, &head);
	prose_end(t->p);
	if (shared)
		story_steps(t, "events take turns on the PMU by", steps, 1);
}

/* Final counts ---------------------------------------------------------------------------- */

static void count_value(const struct story_text *t, const struct event *e)
{
	const struct event_count *c = &e->count;
	struct open_attr a = story_attr(t->s, e);
	struct prose *p = t->p;

	prose_addf(p, "counted %llu", (unsigned long long)c->value);
	if (open_attr_source(&a) == SOURCE_CLOCK)
		prose_addf(p, " ns (%.3f ms)", (double)c->value / 1e6);
	if (!c->timed)
		return;
	if (event_multiplexed(e) && c->running)
		prose_addf(p, ", on the PMU for %.1f %% of the time it was enabled: %.0f if scaled",
			   100.0 * (double)c->running / (double)c->enabled,
			   (double)c->value * (double)c->enabled / (double)c->running);
	else if (c->enabled && !c->running)
		prose_adds(p, ", but was never on the PMU");
	else
		prose_addf(p, " while enabled for %.3f ms", (double)c->enabled / 1e6);
}

static void count_records(const struct event *e, struct prose *p)
{
	size_t kinds = 0, done = 0;

	for (uint32_t type = 0; type < EVENT_RECORD_TYPES; type++)
		kinds += event_records(e, type) > 0;
	for (uint32_t type = 0; type < EVENT_RECORD_TYPES; type++) {
		const char *name = xlat_name(&xlat_perf_event_type, type);

		if (event_records(e, type))
			prose_addf(p, "%s%llu %s", prose_sep(done++, kinds),
				   (unsigned long long)event_records(e, type),
				   name ? name + strlen(xlat_perf_event_type.prefix) :
					  "of unknown type");
	}
}

static bool has_records(const struct event *e)
{
	for (uint32_t type = 0; type < EVENT_RECORD_TYPES; type++)
		if (event_records(e, type))
			return true;
	return false;
}

static bool has_count(const struct story_text *t, const struct event *e)
{
	struct open_attr a = story_attr(t->s, e);

	return e->count.known && open_attr_source(&a) != SOURCE_DUMMY;
}

static void count_write(const struct story_text *t, const struct event *e)
{
	struct prose *p = t->p;

	prose_item(p);
	story_event_name(t->s, e, p);
	if (e->cpu >= 0)
		prose_addf(p, " on CPU %d", e->cpu);
	prose_adds(p, " (");
	story_fd(e, p);
	prose_adds(p, ") ");
	if (has_count(t, e))
		count_value(t, e);
	if (has_records(e)) {
		prose_adds(p, has_count(t, e) ? ", and wrote " : "wrote ");
		count_records(e, p);
	}
	prose_adds(p, ".");
}

void story_counts(const struct story_text *t)
{
	struct event *const *events;
	size_t n = model_events(t->s->m, &events), written = 0;

	for (size_t i = 0; i < n; i++) {
		if (story_probe(t->s, events[i]) || !event_known(events[i]) ||
		    !(has_count(t, events[i]) || has_records(events[i])))
			continue;
		if (!written)
			prose_head(t->p, "Final counts");
		if (written++ < STORY_ITEMS)
			count_write(t, events[i]);
	}
	story_rest(t, written, "more event");
	prose_end(t->p);
}
