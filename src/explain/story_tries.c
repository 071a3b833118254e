// SPDX-License-Identifier: LGPL-2.1-or-later
/* The purpose of probes and failed opens. */
#include "explain/story_internal.h"

enum { TRIES_BYTES = 1000 };

/* A probe or a failed open. */
struct try {
	struct story_open open;
	pid_t tid;
	const struct attempt *attempt;	/* NULL: of a probe */
	bool early;		/* no event but probes and dummies had been opened before */
};

/* Write what the kernel's answer tells the program, such as whether it has a feature, to p. */
static void try_purpose(const struct try *run, const struct try *before, struct prose *p,
			const struct story_text *t)
{
	const struct story_open *o = &run->open;
	struct open_need mine = open_need(o->attr, o->len, o->flags), had = { 0 };
	const char *purpose = run->early ? story_purpose(o) : NULL;
	const struct event *e = run->attempt ? attempt_instead(t->s->m, run->attempt) : NULL;
	bool tested;

	if (before)
		had = open_need(before->open.attr, before->open.len, before->open.flags);
	/*
	 * what it asked for was not wanted for its own sake: an event that was closed before the
	 * first real one, or one that opened later without what was refused
	 */
	tested = run->attempt ? e && attempt_same_event(run->attempt, e) &&
		 open_need(e->attr, e->attr_len, e->flags).since < mine.since : run->early;
	/* what an event is used for is a sentence about perf */
	if (purpose && strncmp(purpose, "perf ", 5)) {
		prose_adds(p, purpose);
	} else if (before && mine.since > had.since && tested && story_is_perf(t->s, run->tid)) {
		prose_addf(p, "%s (Linux ", mine.name);
		release_text(release_mainline(mine.since), &p->text);
		prose_adds(p, ")");
	}
}

/* Add what a probe or failed open tests, if it is new. */
static void try_add(const struct story_text *t, const struct try *now, struct try *before,
		    struct buf *said)
{
	struct prose p = { .out = NULL };

	if (said->len < TRIES_BYTES)
		try_purpose(now, before->tid == now->tid ? before : NULL, &p, t);
	if (p.text.len && !strstr(buf_str(said), buf_str(&p.text)))
		buf_addf(said, "%s%s", said->len ? "; " : "Probes test ", buf_str(&p.text));
	buf_free(&p.text);
	*before = *now;
}

void story_tries(const struct story_text *t)
{
	struct try before = { .tid = -1 };
	struct buf said = { 0 };
	size_t next = 0;
	bool early = true;

	for (size_t i = 0; i <= t->nevents; i++) {
		const struct event *e = i < t->nevents ? t->events[i] : NULL;

		/* an attempt knows how many events preceded it */
		for (; next < t->nattempts && t->attempts[next].events <= i; next++) {
			const struct attempt *a = &t->attempts[next];

			try_add(t, &(struct try){ story_open_failed(a), a->tid, a, early }, &before,
				&said);
		}
		if (e && story_probe(t->s, e)) {
			try_add(t, &(struct try){ story_open_of(e), e->opener, NULL, early },
				&before, &said);
		} else if (e && event_known(e)) {
			struct open_attr attr = story_attr(t->s, e);

			early &= open_attr_source(&attr) == SOURCE_DUMMY;
		}
	}
	if (said.len) {
		prose_line(t->p, 0, 2);
		prose_addf(t->p, "%s.", buf_str(&said));
		prose_end(t->p);
	}
	buf_free(&said);
}
