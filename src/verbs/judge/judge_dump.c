// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls read from a dump, with the groups that they joined. */
#include "verbs/judge/judge.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dump/reader.h"
#include "core/lib/die.h"
#include "core/model/attempt.h"
#include "core/model/model.h"
#include "xlat/constants.h"

struct picking {
	struct view view;
	struct reader *dump;
	struct session session;
	struct judge_call *into;
	unsigned long line;
	pid_t tid;		/* whose call it is, once it has begun */
	bool begun, done;
	const char *other;	/* name of the other call on that line */
	struct judge_failures *failures; /* NULL: a line is wanted, else all failures */
	bool born;		/* the dump has a task */
};

static void copy_call(struct call *to, const struct call *from)
{
	memcpy(to->args, from->args, sizeof(to->args));
	to->arch = from->arch;
	for (size_t i = 0; i < from->ncaptures; i++) {
		const struct capture *k = &from->captures[i];

		if (k->phase == AT_SYSCALL_ENTER)
			call_add_capture(to, k->phase, k->addr, k->want,
					 k->len ? from->pool.data + k->at : NULL, k->len);
	}
}

/* Return the task that an event measures: pid 0 means its opener. */
static pid_t target(pid_t pid, uint64_t flags, pid_t opener)
{
	if (flags & PERF_FLAG_PID_CGROUP)
		return -1;
	return pid ? pid : opener;
}

static void tell_members(const struct model *m, const struct event *leader,
			 struct rule_group *g)
{
	struct event *const *list;
	size_t n = model_events(m, &list);

	for (size_t i = 0; i < n; i++) {
		if (list[i]->leader != leader || list[i]->closed)
			continue;
		g->siblings++;
		if (list[i]->format_known)
			g->formats |= 1U << (list[i]->read_format & 31);
	}
}

static void judge_dump_group(struct picking *p, const struct call *c)
{
	const struct event *e = model_event(p->session.model, c->tid, call_int(c, 3));
	struct judge_call *to = p->into;
	struct rule_group *g = &to->group;

	if (call_int(c, 3) == -1)
		return;
	*g = (struct rule_group){ .event = e ? FACT_YES : FACT_NO };
	if (!e || !event_known(e)) {
		to->not_here = e ? "the event behind group_fd was opened before the dump "
				   "begins" : NULL;
		return;
	}
	g->alive = FACT_YES;
	g->leads = e->leader ? FACT_NO : FACT_YES;
	g->same_task = target(e->pid, e->flags, e->opener) ==
		       target(call_target(c), c->args[4], c->tid) ? FACT_YES : FACT_NO;
	g->same_cgroup = (c->args[4] | e->flags) & PERF_FLAG_PID_CGROUP ? FACT_UNKNOWN :
									  FACT_YES;
	g->ring = e->mapped ? FACT_YES : FACT_NO;
	if (e->unread) {
		to->not_here = "the attr of the event behind group_fd could not be read";
		return;
	}
	g->cpu = e->cpu;
	memcpy(to->leader_attr, e->attr, e->attr_len);
	g->attr = to->leader_attr;
	g->len = e->attr_len;
	tell_members(p->session.model, e, g);
	to->alone = (struct trial_event){
		.attr = g->attr, .len = g->len, .cpu = g->cpu, .leader = TRIAL_NONE,
		.ring = e->mapped,
	};
	to->before = (struct trial_state){ .events = &to->alone, .n = 1 };
	if (e->leader || g->same_task != FACT_YES)
		to->not_here = "the event behind group_fd is a member of a group, or of "
			       "another task";
}

static void pick_take(struct picking *p, const struct call *c)
{
	struct judge_call *to = p->into;

	if (c->desc != to->call.desc) {
		p->other = c->desc->name;
		return;
	}
	if (!p->begun) {
		copy_call(&to->call, c);
		judge_dump_group(p, c);
		p->begun = true;
		p->tid = c->tid;
	}
}

static struct picking *picking_of(struct view *v)
{
	return (struct picking *)v; /* view is its first member */
}

static void pick_on_born(struct view *v, const struct birth *b, uint64_t ns)
{
	(void)b, (void)ns;
	picking_of(v)->born = true;
}

static void pick_on_enter(struct view *v, const struct call *c)
{
	struct picking *p = picking_of(v);

	if (!p->failures && reader_line(p->dump) == p->line)
		pick_take(p, c);
}

/* A descriptor that was no event in the dump must be none here. */
static void settle(struct judge_call *c)
{
	if (c->group.event == FACT_NO)
		c->call.args[3] = INT_MAX;
	if (c->call.args[4] & PERF_FLAG_PID_CGROUP)
		c->not_here = "the dump does not contain the cgroup";
}

static bool same_bytes(const struct call *a, const struct call *b)
{
	return a->pool.len == b->pool.len &&
	       (!a->pool.len || !memcmp(a->pool.data, b->pool.data, a->pool.len));
}

/* Return whether two calls differ in nothing but task and CPU. */
static bool alike(const struct judge_call *a, const struct judge_call *b)
{
	const struct rule_group *g = &a->group, *h = &b->group;

	return a->error == b->error && a->injected == b->injected &&
	       same_bytes(&a->call, &b->call) &&
	       (call_int(&a->call, 1) < 0) == (call_int(&b->call, 1) < 0) &&
	       (call_int(&a->call, 2) < 0) == (call_int(&b->call, 2) < 0) &&
	       a->call.args[4] == b->call.args[4] && g->event == h->event &&
	       g->leads == h->leads && g->same_task == h->same_task && g->ring == h->ring &&
	       g->siblings == h->siblings && g->len == h->len &&
	       !memcmp(a->leader_attr, b->leader_attr, g->len);
}

static void take_failure(struct picking *p, const struct call *c)
{
	struct judge_failures *l = p->failures;
	struct judge_failed *new = xcalloc(1, sizeof(*new));
	const struct attempt *attempts;

	p->into = &new->call;
	judge_call_init(&new->call);
	copy_call(&new->call.call, c);
	judge_dump_group(p, c);
	settle(&new->call);
	new->call.from_dump = new->call.returned = true;
	new->call.error = (int)c->ret;
	new->call.injected = c->inject.injected;
	new->times = 1;
	new->line = reader_line(p->dump);
	new->attempt = model_attempts(p->session.model, &attempts);
	for (size_t i = 0; i < l->n; i++) {
		if (!alike(&l->list[i]->call, &new->call))
			continue;
		l->list[i]->times++;
		judge_call_free(&new->call);
		free(new);
		p->into = NULL;
		return;
	}
	l->list = xrealloc(l->list, (l->n + 1) * sizeof(*l->list));
	l->list[l->n++] = new;
}

static void pick_before_exit(struct view *v, const struct call *c)
{
	struct picking *p = picking_of(v);

	if (p->failures && c->failed && c->desc->id == CALL_PERF_EVENT_OPEN)
		take_failure(p, c);
	else if (!p->failures && reader_line(p->dump) == p->line)
		pick_take(p, c);
	if (p->into && p->begun && !p->done && c->tid == p->tid) {
		p->into->returned = true;
		p->into->error = c->failed ? (int)c->ret : 0;
		p->into->injected = c->inject.injected;
		p->done = true;
	}
}

static const struct view_ops picking_ops = {
	.born = pick_on_born, .enter = pick_on_enter, .before_exit = pick_before_exit,
};

/* Read the dump into p->session, which the caller ends; false after a warn(). */
static bool pick_all(struct picking *p, FILE *f, const char *path)
{
	struct session_setup setup = { .keep = true };

	p->dump = reader_open(f, path, true);
	if (!p->dump)
		return false;
	setup.source = reader_names(p->dump);
	p->view.ops = &picking_ops;
	session_start(&p->session, &setup, reader_facts(p->dump));
	session_add_view(&p->session, &p->view);
	reader_progress(p->dump);
	reader_run(p->dump, &p->session);
	return true;
}

static void pick_end(struct picking *p)
{
	session_end(&p->session);
	reader_close(p->dump);
}

int32_t judge_pid_here(const struct judge_call *c)
{
	int32_t pid = call_int(&c->call, 1);

	return pid > 0 && !(c->call.args[4] & PERF_FLAG_PID_CGROUP) ? 0 : pid;
}

static bool pick(struct picking *p, FILE *f, const char *path)
{
	if (!pick_all(p, f, path))
		return false;
	pick_end(p);
	if (p->other)
		warn("%s:%lu: not a perf_event_open but %s", path,
		     p->line, p->other);
	else if (!p->begun)
		warn("%s:%lu: no call on that line; name one that begins or ends "
		     "a perf_event_open", path, p->line);
	return p->begun;
}

bool judge_call_of_dump(struct judge_call *c, const char *path, unsigned long line)
{
	struct picking p = { .into = c, .line = line };
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f) {
		warn("cannot read '%s': %s", path, strerror(errno));
		return false;
	}
	c->from_dump = true;
	ok = pick(&p, f, path);
	fclose(f);
	if (ok)
		settle(c);
	return ok;
}

/* Find what opened instead of each; another event does not count. */
static void find_instead(const struct model *m, struct judge_failures *l)
{
	const struct attempt *attempts;
	size_t n = model_attempts(m, &attempts);

	for (size_t i = 0; i < l->n; i++) {
		struct judge_failed *f = l->list[i];
		const struct event *e = f->attempt < n ?
			attempt_instead(m, &attempts[f->attempt]) : NULL;
		struct buf differs = { 0 };

		if (!e || !attempt_same_event(&attempts[f->attempt], e))
			continue;
		attempt_compare(&attempts[f->attempt], e, &differs);
		f->instead = xstrdup(e->name);
		f->differs = xstrdup(buf_str(&differs));
		buf_free(&differs);
	}
}

static void find_own_tasks(const struct model *m, struct judge_failures *l)
{
	struct task_info *const *tasks;
	size_t n = model_tasks(m, &tasks);

	for (size_t i = 0; i < l->n; i++)
		for (size_t j = 0; j < n && !l->list[i]->own_task; j++)
			l->list[i]->own_task = tasks[j]->tid == call_target(&l->list[i]->call.call);
}

bool judge_failures_of_dump(FILE *f, const char *path, struct judge_failures *out)
{
	struct picking p = { .failures = out };

	*out = (struct judge_failures){ .n = 0 };
	if (!pick_all(&p, f, path))
		return false;
	find_instead(p.session.model, out);
	find_own_tasks(p.session.model, out);
	pick_end(&p);
	return p.born;
}

void judge_failures_free(struct judge_failures *l)
{
	for (size_t i = 0; i < l->n; i++) {
		judge_call_free(&l->list[i]->call);
		free(l->list[i]->instead);
		free(l->list[i]->differs);
		free(l->list[i]);
	}
	free(l->list);
}
