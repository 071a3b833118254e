// SPDX-License-Identifier: LGPL-2.1-or-later
/* Phrases that chapters of a story share. */
#include "core/model/event_name.h"
#include "explain/story_internal.h"
#include "formats/text/summary.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

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
		prose_adds(p, " and its children");
}

void story_event_name(const struct story *s, const struct event *e, struct prose *p)
{
	struct buf name = { 0 };

	if (!event_known(e)) {
		prose_adds(p, "an event opened before the trace began");
		return;
	}
	event_name_probed(e->attr, e->attr_len, s->names, e->probed, &name);
	prose_name(p, buf_str(&name));
	buf_free(&name);
}

/* Return how many descriptors form a run of at least three; 1 if there is no run. */
static size_t fd_run(const struct event *const *events, size_t n)
{
	size_t run = 1;

	while (run < n && events[run]->fd == events[0]->fd + (int)run)
		run++;
	return run > 2 ? run : 1;
}

void story_fds(const struct event *const *events, size_t n, struct prose *p)
{
	size_t items = 0, run;

	prose_adds(p, n == 1 ? "fd " : "fds ");
	for (size_t i = 0; i < n; i += run) {
		run = fd_run(&events[i], n - i);
		if (++items > STORY_FDS) {
			prose_addf(p, " and %zu more", n - i);
			return;
		}
		prose_adds(p, !i ? "" : i + run == n ? " and " : ", ");
		prose_addf(p, run > 1 ? "%d to %d" : "%d", events[i]->fd,
			   events[i + run - 1]->fd);
	}
}

void story_fd(const struct event *e, struct prose *p)
{
	story_fds(&e, 1, p);
}

void story_rest(const struct story_text *t, size_t n, const char *what)
{
	if (n <= STORY_ITEMS)
		return;
	prose_item(t->p);
	prose_count(t->p, n - STORY_ITEMS, what);
	prose_adds(t->p, ".");
}
