// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/cli/log_calls.h"

#include <stdlib.h>

#include "core/abi/tables.h"
#include "core/lib/die.h"
#include "core/lib/list.h"

struct log_event {
	struct attr_text_call call;
	uint8_t attr[EVENT_ATTR_MAX];
	size_t len;
};

void log_calls_add(struct log_calls *l, const struct attr_text *a)
{
	struct log_event e = { .call = a->call };

	if (!a->call.returned || a->call.error || a->elided)
		return;
	e.len = a->len < sizeof(e.attr) ? a->len : sizeof(e.attr);
	memcpy(e.attr, a->bytes, e.len);
	APPEND(l->events, l->n) = e;
}

/* Return the newest event that a task opened as that descriptor, or NULL. */
static const struct log_event *find_opened(const struct log_calls *l, int32_t tid, int32_t fd)
{
	for (size_t i = l->n; i--;)
		if (l->events[i].call.fd == fd && l->events[i].call.tid == tid)
			return &l->events[i];
	return NULL;
}

/* Return what is known of the event of group_fd. */
static struct rule_group group_of(const struct log_calls *l, const struct attr_text_call *c)
{
	const struct log_event *e = find_opened(l, c->tid, c->group_fd);
	struct rule_group g = { .event = c->group_fd < -1 ? FACT_NO : FACT_UNKNOWN };

	if (!e || c->group_fd < 0)
		return g;
	g = (struct rule_group){
		.event = FACT_YES, .leads = fact_of(e->call.group_fd == -1),
		.same_task = fact_of(e->call.pid == c->pid), .attr = e->attr, .len = e->len,
		.same_cgroup = (e->call.flags | c->flags) & PERF_FLAG_PID_CGROUP ? FACT_UNKNOWN :
										   FACT_YES,
		.cpu = e->call.cpu,
	};
	for_each(m, l->events, l->n) {
		if (m->call.tid != c->tid || m->call.group_fd != c->group_fd)
			continue;
		g.siblings++;
		g.formats |= 1U << (layout_get(&layout_perf_event_attr, ATTR_READ_FORMAT, m->attr,
					       m->len) & 31);
	}
	return g;
}

struct attempt log_calls_attempt(const struct log_calls *l, const struct attr_text *a)
{
	const struct attr_text_call *c = &a->call;

	return (struct attempt){
		.tid = c->tid, .error = c->error, .attr = a->bytes, .attr_len = a->len,
		.pid = c->pid, .cpu = c->cpu, .group_fd = c->group_fd, .flags = c->flags,
		.group = group_of(l, c),
	};
}

void log_calls_free(struct log_calls *l)
{
	free(l->events);
	*l = (struct log_calls){ .n = 0 };
}
