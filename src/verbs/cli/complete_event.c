// SPDX-License-Identifier: LGPL-2.1-or-later
/* Completion of events: names, terms of PMUs, tracepoints, members and their values. */
#include <string.h>

#include "core/abi/attr_member.h"
#include "verbs/cli/complete_internal.h"
#include "verbs/cli/machine.h"
#include "core/host/event_words.h"
#include "core/host/host.h"
#include "core/host/pmu.h"
#include "xlat/tables.h"

/* The place of the cursor in a list of events. */
struct cursor {
	const char *piece;	/* begin of the event, term or member */
	const char *pmu;	/* between the slashes of a PMU: its name; NULL elsewhere */
	size_t pmu_len;
	bool after_event;	/* a member may follow */
};

static struct cursor cursor_place(const char *text)
{
	struct cursor p = { .piece = text };

	for (; *text; text++) {
		if (*text == '/' && p.pmu) {
			p.pmu = NULL;
		} else if (*text == '/' && strncmp(p.piece, "mem:", 4) &&
			   !memchr(p.piece, '=', (size_t)(text - p.piece))) {
			p.pmu = p.piece;
			p.pmu_len = (size_t)(text - p.piece);
			p.piece = text + 1;
		} else if (strchr(",{}", *text)) {
			p.after_event = *text == ',';
			p.piece = text + 1;
		}
	}
	return p;
}

/* Complete the value of a member that the piece names before its equals sign. */
static bool member_value(struct completion *c, const char *piece)
{
	const char *equals = strchr(piece, '=');
	const struct field *f = equals ? attr_member(piece, (size_t)(equals - piece)) : NULL;

	if (!equals)
		return false;
	complete_skip(c, "=|");
	if (f && f->xlat)
		xlat_offer(f->xlat, true, &c->offers);
	return true;
}

/* Offer name and suffix as one word. */
static void complete_joined(struct completion *c, const char *name, const char *suffix,
			    const char *help)
{
	struct buf word = { 0 };

	buf_addf(&word, "%s%s", name, suffix);
	complete_with(c, buf_str(&word), help);
	buf_free(&word);
}

struct systems {
	struct completion *c;
	struct buf offered;	/* " sched: irq:" */
};

/*
 * Offer a tracepoint, or before the colon is typed its system, as there are thousands of
 * tracepoints.
 */
static void complete_tracepoint(void *ctx, uint64_t id, const char *name)
{
	struct systems *s = ctx;
	struct buf system = { 0 };

	(void)id;
	if (strchr(s->c->typed, ':')) {
		complete_with(s->c, name, NULL);
		return;
	}
	buf_addf(&system, " %.*s:", (int)strcspn(name, ":"), name);
	if (!strstr(buf_str(&s->offered), buf_str(&system))) {
		buf_adds(&s->offered, buf_str(&system));
		complete_with(s->c, buf_str(&system) + 1, NULL);
	}
	buf_free(&system);
}

/* Offer the members of the attr; one of a single bit requires no value. */
static void complete_members(struct completion *c)
{
	const struct layout *attr = &layout_perf_event_attr;

	for (size_t i = 0; i < attr->n; i++) {
		const struct field *f = &attr->fields[i];

		if (f->kind != FIELD_RESERVED)
			complete_joined(c, f->name, f->nbits == 1 ? "" : "=", f->meaning);
	}
}

/* Complete what follows the slash of a PMU; one that is on or off requires no value. */
static void complete_terms(struct completion *c, const struct pmu *p)
{
	for (size_t i = 0; i < p->nterms; i++)
		complete_joined(c, p->terms[i].name, pmu_term_max(&p->terms[i]) > 1 ? "=" : "",
				NULL);
	for (size_t i = 0; i < p->naliases; i++)
		complete_joined(c, p->aliases[i].name, "/", NULL);
}

static void complete_names(struct completion *c, struct host *h)
{
	struct systems s = { .c = c };

	event_words_near(&c->offers);
	for (const struct pmu *p = host_pmus(h); p; p = p->next)
		if (p->nterms || p->naliases)
			complete_joined(c, p->name, "/", NULL);
	host_each_tracepoint(h, complete_tracepoint, &s);
	buf_free(&s.offered);
}

void complete_event(struct completion *c)
{
	struct cursor p = cursor_place(c->typed);
	struct machine m;

	buf_add(&c->head, c->typed, (size_t)(p.piece - c->typed));
	c->typed = p.piece;
	if (!p.pmu && member_value(c, p.piece))
		return;
	machine_open(&m);
	if (p.pmu) {
		const struct pmu *pmu = pmu_find(host_pmus(m.host), p.pmu, p.pmu_len);

		if (pmu && !strchr(p.piece, '='))
			complete_terms(c, pmu);
	} else {
		complete_names(c, m.host);
		if (p.after_event)
			complete_members(c);
	}
	machine_close(&m);
}
