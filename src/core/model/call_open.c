// SPDX-License-Identifier: LGPL-2.1-or-later
/* The effect of perf_event_open on the model, and what followed a failure. */
#include <stdlib.h>
#include <string.h>

#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/model/calls.h"
#include "core/model/event_name.h"

/* Set the event's name, "cpu-clock:u cpu0"; the second of that name ends with " #2". */
static void open_name_event(struct model *m, struct event *e)
{
	struct buf name = { 0 };
	uint64_t key;
	uintptr_t count;

	event_name_probed(e->attr, e->attr_len, m->names, e->probed, &name);
	if (e->cpu >= 0)
		buf_addf(&name, " cpu%d", e->cpu);
	key = hash_text(HASH_START, buf_str(&name));
	count = (uintptr_t)map_get(&m->name_counts, key) + 1;
	map_set(&m->name_counts, key, (void *)count);
	if (count > 1)
		buf_addf(&name, " #%zu", (size_t)count);
	free(e->name);
	e->name = xstrdup(buf_str(&name));
	buf_free(&name);
}

/* Return a copy of the path or function that the attr points to, if it is one of a probe. */
static char *probed_of(const struct model *m, const struct call *c, const uint8_t *attr, size_t len)
{
	const struct layout *l = &layout_perf_event_attr;
	uint32_t type = (uint32_t)layout_get(l, ATTR_TYPE, attr, len);
	const char *pmu = type >= PERF_TYPE_MAX && m->names->pmu ? m->names->pmu(m->names, type) : NULL;
	const char *text;
	size_t n;
	bool cut;

	if (!pmu || (strcmp(pmu, "uprobe") && strcmp(pmu, "kprobe")))
		return NULL;
	/* both members are config1 */
	text = call_string(c, AT_SYSCALL_ENTER, layout_get(l, ATTR_UPROBE_PATH, attr, len), &n, &cut);
	return text ? xstrndup(text, n) : NULL;
}

/* Set what follows from the attr, and task.measured of the task that the event counts, or NULL. */
static void take_attr(struct event *e, struct task *target)
{
	if (target)
		target->measured = true;
	e->unread = !event_name_knows(e->attr_len);
	e->read_format = event_attr(e, ATTR_READ_FORMAT);
	e->format_known = !e->unread;
	if (e->unread) {
		e->start = START_UNKNOWN;
		return;
	}
	if (event_attr(e, ATTR_ENABLE_ON_EXEC))
		e->start = START_EXEC;
	else if (!event_attr(e, ATTR_DISABLED))
		e->start = START_OPEN;
	e->enabled = !event_attr(e, ATTR_DISABLED);
}

static void note_limits(struct opened_limits *l, const struct event *e)
{
	uint64_t freq = event_attr(e, ATTR_FREQ) ? event_attr(e, ATTR_SAMPLE_FREQ) : 0;
	uint64_t stack = event_attr(e, ATTR_SAMPLE_TYPE) & PERF_SAMPLE_CALLCHAIN ?
			 event_attr(e, ATTR_SAMPLE_MAX_STACK) : 0;

	l->sample_freq = freq > l->sample_freq ? freq : l->sample_freq;
	l->sample_max_stack = stack > l->sample_max_stack ? stack : l->sample_max_stack;
	if (e->cpu >= 0 && (uint32_t)e->cpu >= l->cpus)
		l->cpus = (uint32_t)e->cpu + 1;
}

void model_after_open(struct model *m, struct task *t, const struct call *c)
{
	size_t len;
	const uint8_t *attr = call_bytes(c, AT_SYSCALL_ENTER, call_word(c, 0), EVENT_ATTR_MAX,
					 &len);
	struct event *e = event_new(m, attr, len), *other = fdtab_event(t->files, call_int(c, 3));

	e->pid = call_target(c);
	e->cpu = call_int(c, 2);
	e->flags = c->args[4];
	e->opener = c->tid;
	e->fd = (int)c->ret;
	e->probed = probed_of(m, c, e->attr, e->attr_len);
	open_name_event(m, e);
	take_attr(e, e->flags & PERF_FLAG_PID_CGROUP || e->pid < 0 ? NULL :
		     model_task(m, e->pid ? e->pid : c->tid));
	if (other && e->flags & PERF_FLAG_FD_OUTPUT)
		event_redirect(e, other);
	if (other && !(e->flags & PERF_FLAG_FD_NO_GROUP))
		event_lead(e, other->leader ? other->leader : other);
	/* a member counts only while its leader does */
	if (e->leader && e->start == START_OPEN && e->leader->start != START_OPEN) {
		e->start = START_LEADER;
		e->enabled = e->leader->enabled;
	}
	fdtab_set(t->files, e->fd, file_new(e), e->flags & PERF_FLAG_FD_CLOEXEC);
	if (t->info)
		t->info->opens++;
	note_limits(&m->opened, e);
}

void model_describe(struct model *m, struct event *e, const struct activity_described *f)
{
	if (event_known(e))
		return;
	e->described = true;
	attr_forget(m, e->attr);
	e->attr_len = f->attr_len < EVENT_ATTR_MAX ? f->attr_len : EVENT_ATTR_MAX;
	e->attr = attr_keep(m, f->attr, e->attr_len);
	e->pid = f->cgroup ? -1 : f->pid;
	e->cpu = f->cpu;
	e->flags = f->cgroup ? PERF_FLAG_PID_CGROUP : 0;
	take_attr(e, e->pid > 0 ? model_task(m, e->pid) : NULL);
	if (f->enabled && e->start == START_NEVER)
		e->start = START_UNKNOWN; /* by which call */
	e->enabled = f->enabled;
	if (f->leader && f->leader != e && !f->leader->leader && !e->leads) /* else a dump is wrong */
		event_lead(e, f->leader);
	if (f->output && f->output != e)
		event_redirect(e, f->output);
	open_name_event(m, e);
}

/* Return the task that an event measures: pid 0 means its opener; -1: a CPU or a cgroup. */
static pid_t target_task(pid_t pid, uint64_t flags, pid_t opener)
{
	if (flags & PERF_FLAG_PID_CGROUP)
		return -1;
	return pid ? pid : opener;
}

struct rule_group model_group(const struct model *m, const struct call *c)
{
	const struct task *t = model_task(m, c->tid);
	const struct event *e = t ? fdtab_event(t->files, call_int(c, 3)) : NULL;
	struct rule_group g = { .event = FACT_UNKNOWN };

	if (call_int(c, 3) == -1)
		return g;
	g.event = fact_of(e);
	if (!e || !event_known(e))
		return g;
	g.alive = FACT_YES;
	g.leads = fact_of(!e->leader || e->leader->closed);
	g.same_task = fact_of(target_task(e->pid, e->flags, e->opener) ==
			      target_task(call_target(c), c->args[4], c->tid));
	g.same_cgroup = (c->args[4] | e->flags) & PERF_FLAG_PID_CGROUP ? FACT_UNKNOWN : FACT_YES;
	g.ring = fact_of(e->mapped);
	if (e->unread)
		return g;
	g.attr = e->attr;
	g.len = e->attr_len;
	g.cpu = e->cpu;
	g.siblings = e->members;
	g.formats = e->formats;
	return g;
}

struct attempt attempt_of(const struct model *m, const struct call *c)
{
	struct attempt a = {
		.tid = c->tid, .error = (int)c->ret, .attr_at = call_word(c, 0), .injected = c->inject.injected,
		.pid = call_target(c), .cpu = call_int(c, 2), .group_fd = call_int(c, 3),
		.flags = c->args[4], .group = model_group(m, c), .events = m->nevents,
		.opened = &m->opened, .ns = c->enter_ns,
	};

	a.attr = call_bytes(c, AT_SYSCALL_ENTER, a.attr_at, ATTEMPT_ATTR_MAX, &a.attr_len);
	return a;
}

void model_open_failed(struct model *m, struct task *t, const struct call *c)
{
	struct attempt *a;

	if (!m->keep || m->few)
		return;
	if (!(m->nattempts & (m->nattempts - 1))) /* full at each power of two */
		m->attempts = xrealloc(m->attempts, (m->nattempts ? 2 * m->nattempts : 1) *
				       sizeof(*a));
	a = &m->attempts[m->nattempts++];
	*a = attempt_of(m, c);
	a->attr = attr_keep(m, a->attr, a->attr_len);
	a->probed = probed_of(m, c, a->attr, a->attr_len);
	a->because = xstrdup(c->inject.because);
	if (t->info)
		t->info->failures++;
}

/* What a program did after an open that failed --------------------------------- */

enum { LIKE_SHARED = 3, LIKE_DIFFERENT = 6, REMEMBERED = 8 };

static uint64_t attempt_get(const struct attempt *a, unsigned int field)
{
	return layout_get(&layout_perf_event_attr, field, a->attr, a->attr_len);
}

/* Count the members that both attrs set to the same value, and append those that differ. */
static size_t attempt_diff(const struct attempt *a, const struct event *e, size_t *shared,
			   struct buf *different)
{
	const struct layout *l = &layout_perf_event_attr;
	size_t n = 0;

	*shared = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct field *f = &l->fields[i];
		uint64_t x = field_get(f, a->attr, a->attr_len);
		uint64_t y = field_get(f, e->attr, e->attr_len);

		/* the first member of a union represents it */
		if (i && f->offset == f[-1].offset && f->bit == f[-1].bit &&
		    f->nbits == f[-1].nbits)
			continue;
		*shared += x && x == y;
		if (x == y)
			continue;
		n++;
		if (different)
			buf_addf(different, "%s%s", different->len ? ", " : "", f->name);
	}
	return n;
}

static bool attempt_is_one_of(const uint8_t *attr, const uint8_t *const list[REMEMBERED])
{
	for (size_t i = 0; i < REMEMBERED; i++)
		if (list[i] == attr)
			return true;
	return false;
}

/*
 * The first event opened after the failure that asks for nearly the same; for
 * the same target, or else for another one.
 */
static const struct event *attempt_find_instead(const struct model *m, const struct attempt *a,
						bool same_pid)
{
	struct event *const *events;
	/* equal attrs have the same address */
	const uint8_t *unlike[REMEMBERED] = { NULL };
	size_t n = model_events(m, &events), shared, different, nunlike = 0;

	for (size_t i = a->events; i < n; i++) {
		const struct event *e = events[i];

		if (e->opener != a->tid || (same_pid && e->pid != a->pid) ||
		    (e->cpu >= 0 && a->cpu >= 0 && e->cpu != a->cpu) ||
		    attempt_is_one_of(e->attr, unlike))
			continue;
		/* a program that asks for two events of one type wants both */
		if (attempt_get(a, ATTR_TYPE) == event_attr(e, ATTR_TYPE) &&
		    attempt_get(a, ATTR_CONFIG) != event_attr(e, ATTR_CONFIG))
			continue;
		different = attempt_diff(a, e, &shared, NULL);
		if (!different || (different <= LIKE_DIFFERENT && shared >= LIKE_SHARED))
			return e;
		unlike[nunlike++ % REMEMBERED] = e->attr;
	}
	return NULL;
}

const struct event *attempt_instead(const struct model *m, const struct attempt *a)
{
	const struct event *e = attempt_find_instead(m, a, true);

	return e ? e : attempt_find_instead(m, a, false);
}

void attempt_compare(const struct attempt *a, const struct event *e, struct buf *different)
{
	size_t shared;

	attempt_diff(a, e, &shared, different);
	if (e->pid != a->pid)
		buf_addf(different, "%spid", different->len ? ", " : "");
	if (e->cpu != a->cpu)
		buf_addf(different, "%scpu", different->len ? ", " : "");
	if ((e->leader ? e->leader->fd : -1) != a->group_fd)
		buf_addf(different, "%sgroup_fd", different->len ? ", " : "");
	if (e->flags != a->flags)
		buf_addf(different, "%sflags", different->len ? ", " : "");
}

bool attempt_same_event(const struct attempt *a, const struct event *e)
{
	return attempt_get(a, ATTR_TYPE) == event_attr(e, ATTR_TYPE) &&
	       attempt_get(a, ATTR_CONFIG) == event_attr(e, ATTR_CONFIG);
}
