// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/measure/reason.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/host/event_text.h"
#include "core/host/facts.h"
#include "core/lib/die.h"
#include "verbs/measure/refusal.h"
#include "xlat/constants.h"

/* A refused event and its target. */
struct refused {
	const struct measure *m;
	size_t event, target;
	const struct event_spec *e;
};

static struct refused reason_find(const struct measure *m, size_t event)
{
	struct refused r = { .m = m, .event = event, .e = &m->events.events[event] };

	while (r.target + 1 < m->ntargets && batch_fd(&m->batch, r.target, event) >= 0)
		r.target++;
	return r;
}

static bool is_open(const struct refused *r, size_t i)
{
	return batch_fd(&r->m->batch, r->target, i) >= 0;
}

/* The rule ---------------------------------------------------------------------- */

static void reason_tell_group(const struct refused *r, struct rule_group *g)
{
	const struct event_list *l = &r->m->events;
	const struct attr_text *leader = &l->events[r->e->leader].attr;

	if (r->e->leader == r->event)
		return;
	*g = (struct rule_group){
		.event = FACT_YES, .alive = FACT_YES, .leads = FACT_YES,
		.same_task = FACT_YES, .same_cgroup = FACT_YES, .ring = FACT_NO,
		.attr = leader->bytes, .len = leader->len,
		.cpu = r->m->targets[r->target].cpu,
	};
	for (size_t i = r->e->leader + 1; i < r->event; i++) {
		if (l->events[i].leader != r->e->leader || !is_open(r, i))
			continue;
		g->siblings++;
		g->formats |= 1U << (event_get(&l->events[i], ATTR_READ_FORMAT) & 31);
	}
}

static void find_rule(struct reason *out, const struct refused *r, struct facts *facts,
		      int error)
{
	const struct target *t = &r->m->targets[r->target];
	uint8_t attr[sizeof(r->e->attr.bytes)];
	const struct rule_ask ask = {
		.attr = attr, .len = r->e->attr.len, .pid = t->pid, .cpu = t->cpu,
		.group_fd = r->e->leader == r->event ? -1 :
			    batch_fd(&r->m->batch, r->target, r->e->leader),
		.flags = r->m->batch.flags, .facts = &facts->rules,
	};
	struct rule_verdict v;

	memcpy(attr, r->e->attr.bytes, sizeof(attr));
	own_call_place_strings(&r->e->attr, attr);
	facts_target(facts, &ask);
	reason_tell_group(r, &facts->rules.target.group);
	if (error == ENOSPC)
		facts->rules.target.breakpoint = FACT_NO;
	rules_judge(&ask, &v);
	out->rule = rules_cause(&v, error, &out->sure);
}

/* The command --------------------------------------------------------------------- */

/* Return whether event i must be open before: its group, and breakpoints for a breakpoint. */
static bool belongs(const struct refused *r, size_t i)
{
	const struct event_spec *other = &r->m->events.events[i];
	bool breakpoints = event_get(r->e, ATTR_TYPE) == PERF_TYPE_BREAKPOINT &&
			   event_get(other, ATTR_TYPE) == PERF_TYPE_BREAKPOINT;

	return i == r->event || (is_open(r, i) && (other->leader == r->e->leader || breakpoints));
}

static void add_events(struct buf *out, const struct refused *r)
{
	const struct event_list *l = &r->m->events;
	size_t group = SIZE_MAX;

	for (size_t i = 0; i <= r->event; i++) {
		size_t leader = l->events[i].leader;
		bool grouped = event_grouped(l, i);

		if (!belongs(r, i))
			continue;
		if (group != SIZE_MAX && group != leader)
			buf_addc(out, '}');
		if (out->len)
			buf_addc(out, ',');
		if (grouped && group != leader)
			buf_addc(out, '{');
		group = grouped ? leader : SIZE_MAX;
		event_text(out, r->m->own_session.machine.host, &r->m->own_session.machine.names,
			   &l->events[i]);
	}
	if (group != SIZE_MAX)
		buf_addc(out, '}');
}

/* Add text quoted for a shell. */
static void reason_add_quoted(struct buf *out, const char *text)
{
	buf_addc(out, '\'');
	for (const char *p = text; *p; p++) {
		if (*p == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addc(out, *p);
	}
	buf_addc(out, '\'');
}

static void reason_add_target(struct buf *out, const struct refused *r)
{
	const struct target *t = &r->m->targets[r->target];
	char link[64], path[4096];
	ssize_t n;

	if (r->m->batch.flags & PERF_FLAG_PID_CGROUP) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", t->pid);
		n = readlink(link, path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = '\0';
		buf_adds(out, " --cgroup=");
		reason_add_quoted(out, path);
	} else if (t->pid && t->pid != r->m->work.pid) {
		buf_addf(out, " -p %d", (int)t->pid);
	}
	if (t->cpu != -1)
		buf_addf(out, " -C %d", t->cpu);
}

static void find_reason(struct reason *r, const struct measure *m, struct facts *facts,
			size_t event, int error)
{
	struct refused what = reason_find(m, event);
	struct buf events = { 0 };

	*r = (struct reason){ .rule = NULL };
	find_rule(r, &what, facts, error);
	add_events(&events, &what);
	buf_adds(&r->command, "pevtrace why -e ");
	reason_add_quoted(&r->command, buf_str(&events));
	reason_add_target(&r->command, &what);
	buf_free(&events);
}

/* Telling ---------------------------------------------------------------------------- */

/* Return whether the event opened on any target: a thread may have exited meanwhile. */
static bool open_somewhere(const struct measure *m, size_t event)
{
	for (size_t t = 0; t < m->ntargets; t++)
		if (batch_fd(&m->batch, t, event) >= 0)
			return true;
	return false;
}

/* Facts are read only after a failure, as that costs time. */
void reason_tell(const struct measure *m)
{
	const struct batch *b = &m->batch;
	struct facts facts = { 0 };
	struct reason r;

	for (size_t i = 0; i < m->events.n; i++) {
		const struct event_spec *e = &m->events.events[i];

		if (!b->errors[i] || (b->errors[i] == ESRCH && open_somewhere(m, i)))
			continue;
		if (e->leader != i && b->errors[e->leader] && !open_somewhere(m, e->leader)) {
			warn("cannot open '%s': its group leader was refused", e->attr.label);
			continue;
		}
		if (!facts.host)
			facts_open(&facts, m->own_session.machine.host);
		find_reason(&r, m, &facts, i, b->errors[i]);
		refusal_open(e->attr.label, b->errors[i], measure_is_system(m) || m->cgroup, &r);
		buf_free(&r.command);
	}
	if (facts.host)
		facts_close(&facts);
}
