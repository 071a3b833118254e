// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "core/judge/flaws_seen.h"

#include <stdio.h>

#include "core/judge/flaws.h"

/* An event that is judged. */
struct judged {
	const struct model *m;
	const struct event *e;
	struct flaw found;	/* the numbers */
};

/*
 * Return the bytes of a ring that would have held the most records lost at once: a program that is
 * woken at half of them has the other half for what comes until it reads.  0: not known.
 */
static uint64_t ring_enough(const struct ring_totals *r)
{
	uint64_t size = r->size, need;

	if (!r->burst || !size || r->overwrite || r->burst > UINT32_MAX)
		return 0;
	need = size + 2 * r->burst * ((r->bytes + r->records - 1) / r->records);
	while (size < need)
		size *= 2;
	return size;
}

static bool records_lost(struct judged *j)
{
	const struct ring_totals *r = &j->e->ring;

	j->found.n = r->lost_read > r->lost_reported ? r->lost_read : r->lost_reported;
	j->found.of = r->records ? r->records + j->found.n : 0;
	j->found.partly = r->partly;
	if (!r->bytes || r->partly)
		return j->found.n;
	j->found.about = r->missed;
	j->found.of += ring_missed(r);
	j->found.bursts = r->bursts;
	j->found.burst = r->burst;
	j->found.enough = ring_enough(r);
	return j->found.n;
}

/* Define a function that returns whether a flaw was seen. */
#define SEEN(flaw, condition) \
	static bool flaw(struct judged *j) \
	{ \
		return condition; \
	}

SEEN(samples_lost, (j->found.n = j->e->samples_lost))
SEEN(throttled, (j->found.n = event_records(j->e, PERF_RECORD_THROTTLE)))
SEEN(records_overwritten, (j->found.n = j->e->ring.overwritten))
SEEN(records_unread, (j->found.n = j->e->ring.unread))
SEEN(error_state, (j->found.n = j->e->empty_reads))

/* Take the times of the last read; return whether it was after the event was enabled. */
static bool times_read(struct judged *j)
{
	const struct event_count *c = &j->e->count;

	j->found.n = c->running;
	j->found.of = c->enabled;
	return c->known && c->timed && c->started && event_attr_known(j->e);
}

SEEN(multiplexed, times_read(j) && j->found.n && model_takes_turns(j->m, j->e))
SEEN(never_scheduled, times_read(j) && !j->found.n && model_takes_turns(j->m, j->e))
SEEN(task_never_ran, times_read(j) && !j->found.of && j->e->start != START_UNKNOWN)

/* A program runs although its event is disabled, and a ring may serve other events. */
static bool never_enabled(struct judged *j)
{
	const struct event *e = j->e;

	return e->closed && e->start == START_NEVER && event_attr_known(e) &&
	       e->bpf == BPF_NONE && (e->count.known || (e->maps && !e->ring.shared));
}

static bool (*const seen[FLAW_COUNT])(struct judged *j) = {
	[FLAW_RECORDS_LOST] = records_lost, [FLAW_SAMPLES_LOST] = samples_lost,
	[FLAW_THROTTLED] = throttled, [FLAW_RECORDS_OVERWRITTEN] = records_overwritten,
	[FLAW_RECORDS_UNREAD] = records_unread,
	[FLAW_ERROR_STATE] = error_state, [FLAW_MULTIPLEXED] = multiplexed,
	[FLAW_NEVER_SCHEDULED] = never_scheduled, [FLAW_TASK_NEVER_RAN] = task_never_ran,
	[FLAW_NEVER_ENABLED] = never_enabled,
};

/* Return whether it is a loss: its number is the sum over all events. */
static bool flaw_sums(enum flaw_id id)
{
	return id == FLAW_RECORDS_LOST || id == FLAW_SAMPLES_LOST || id == FLAW_THROTTLED ||
	       id == FLAW_RECORDS_OVERWRITTEN || id == FLAW_RECORDS_UNREAD;
}

/* Return whether b is worse than a: times are shares, other numbers are losses. */
static bool flaw_worse(enum flaw_id id, const struct flaw *a, const struct flaw *b)
{
	double x = (double)a->n, y = (double)b->n;

	if (id == FLAW_MULTIPLEXED) {
		x = (double)a->of / x;
		y = (double)b->of / y;
	}
	return y > x || (y == x && b->number < a->number);
}

static void flaw_join(enum flaw_id id, struct flaw *to, const struct flaw *one)
{
	const struct flaw old = *to;

	if (!old.events || flaw_worse(id, &old, one))
		*to = *one;
	to->events = old.events + 1;
	if (!old.events || !flaw_sums(id))
		return;
	to->n = old.n + one->n;
	to->of = old.of && one->of ? old.of + one->of : 0;
	to->partly = old.partly || one->partly;
	to->about = old.about || one->about;
	to->bursts = old.bursts + one->bursts;
	to->burst = old.burst > one->burst ? old.burst : one->burst;
	to->enough = old.enough > one->enough ? old.enough : one->enough;
}

static void flaws_found(struct flaws *f, enum flaw_id id, struct judged *j)
{
	j->found.events = 1;
	j->found.number = j->e->number;
	j->found.ring = event_writes_to(j->e)->ring.size;
	j->found.page = model_page_size(j->m);
	j->found.overwrite = event_writes_to(j->e)->ring.overwrite;
	snprintf(j->found.event, sizeof(j->found.event), "%s", j->e->name ? j->e->name : "");
	flaw_join(id, &f->of[id], &j->found);
}

void flaws_add(struct flaws *f, const struct model *m, const struct event *e)
{
	const struct rule_facts facts = { .machine.release = model_release(m) };
	struct rule_ask ask = {
		.attr = e->attr, .len = e->attr_len, .pid = e->pid, .cpu = e->cpu,
		.group_fd = -1, .flags = e->flags, .facts = &facts,
	};
	const struct flaw_desc *d;
	size_t at = 0;

	if (event_is_probe(e))
		return;
	for (unsigned int i = 0; i < FLAW_COUNT; i++) {
		struct judged j = { .m = m, .e = e };

		if (seen[i] && seen[i](&j))
			flaws_found(f, i, &j);
	}
	/* what the open excludes is judged by the count: some tracepoints are of user mode */
	while (event_attr_known(e) && (d = flaw_next(&ask, &at)))
		if (d->id == FLAW_REFRESH_HANGS ? e->refreshed :
		    d->id == FLAW_READS_MISSING ? event_writes_to(e)->ring.size &&
						  !event_records(e, PERF_RECORD_READ) :
		    d->until || (e->count.known && !e->count.value))
			flaws_found(f, d->id, &(struct judged){ .m = m, .e = e });
}

void flaws_of(struct flaws *f, const struct model *m)
{
	const struct event *e;
	size_t at = 0;

	while ((e = model_next_event(m, &at)))
		flaws_add(f, m, e);
}

bool flaw_loss_differs(enum flaw_id id, const struct flaws *a, const struct flaws *b)
{
	const struct flaw *x = &a->of[id], *y = &b->of[id];

	return flaw_sums(id) && (!x->events != !y->events || x->n / 2 > y->n || y->n / 2 > x->n);
}
