// SPDX-License-Identifier: LGPL-2.1-or-later
/* The calls in question, and those that are read from a dump, with the groups that they joined. */
#include "core/abi/tables.h"
#include "verbs/why/why.h"

#include <errno.h>
#include <stdlib.h>

#include "core/abi/strings.h"
#include "core/judge/flaws.h"
#include "core/judge/remedy.h"
#include "core/lib/die.h"
#include "core/model/event_name.h"
#include "formats/dump/reader.h"

void why_call_init(struct why_call *c)
{
	memset(c, 0, sizeof(*c));
	c->call.desc = call_by_name("perf_event_open");
	c->call.arch = arch_native();
	c->call.returned = true;
}

void why_call_free(struct why_call *c)
{
	call_free(&c->call);
	buf_free(&c->remedy);
	for (size_t i = 0; i < ATTR_TEXT_STRINGS; i++)
		buf_free(&c->strings[i]);
}

void why_call_args(struct why_call *c, int32_t pid, int32_t cpu, int32_t group_fd,
		     uint64_t flags)
{
	c->call.args[1] = (uint64_t)(int64_t)pid;
	c->call.args[2] = (uint64_t)(int64_t)cpu;
	c->call.args[3] = (uint64_t)(int64_t)group_fd;
	c->call.args[4] = flags;
}

void why_call_prepare(struct why_call *c, const struct names *names)
{
	const uint8_t *bytes = call_bytes(&c->call, AT_SYSCALL_ENTER, c->call.args[0],
					  sizeof(c->attr), &c->len);
	struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = c->attr, .names = names,
	};
	const struct field *f;
	size_t at = 0, n = 0, len;
	bool cut;

	if (!bytes) {
		c->len = 0;
		return;
	}
	memcpy(c->attr, bytes, c->len);
	w.len = c->len;
	while (n < ATTR_TEXT_STRINGS && (f = layout_next(&w, &at))) {
		struct buf *to = &c->strings[n];
		const char *text;

		if (f->kind != FIELD_STRING)
			continue;
		n++;
		text = call_string(&c->call, AT_SYSCALL_ENTER, field_get(f, c->attr, c->len),
				   &len, &cut);
		if (!text || f->offset + f->width > c->len)
			continue;
		/* point the attr to a copy of the captured string */
		buf_reset(to);
		buf_add(to, text, len);
		buf_addc(to, '\0');
		field_set(f, (uintptr_t)to->data, c->attr);
	}
}

/* Dumps ------------------------------------------------------------------------------ */

struct picking {
	struct view view;
	struct reader *dump;
	struct session session;
	struct why_call *into;
	unsigned long line;
	pid_t tid;		/* whose call it is, once it has begun */
	bool begun, done;
	unsigned long nearest;	/* line of an open that is nearest to it, or 0 */
	struct why_failures *failures; /* NULL: a line is wanted, else all failures */
	const struct facts *here;
	bool born;		/* the dump has a task */
};

static void copy_call(struct call *to, const struct call *from)
{
	memcpy(to->args, from->args, sizeof(to->args));
	to->arch = from->arch;
	for_each(k, from->captures, from->ncaptures) {
		if (k->phase == AT_SYSCALL_ENTER)
			call_add_capture(to, k->phase, k->addr, k->want,
					 k->len ? from->pool.data + k->at : NULL, k->len);
	}
}

/* Let the event be open when the call of its group is tried. */
static void keep_open(struct why_call *to, const struct event *e, const uint8_t *attr,
		      enum trial_whom whom)
{
	struct trial_state *s = &to->before;

	to->open[s->n] = (struct trial_event){
		.attr = attr, .len = e->attr_len, .cpu = e->cpu, .whom = whom,
		.leader = (int)s->n - 1, .ring = e->mapped, .holds = true,
	};
	s->leader = (int)s->n++;
	s->events = to->open;
}

static void take_group(struct picking *p, const struct call *c)
{
	const struct event *e = model_event(p->session.model, c->tid, call_int(c, 3));
	struct why_call *to = p->into;
	struct rule_group *g = &to->group;
	enum trial_whom whom;

	*g = model_group(p->session.model, c);
	if (g->event != FACT_YES)
		return;
	if (!g->attr) {
		to->not_here = e->unread ? "the attr of the event behind group_fd could not be read" :
			       "the event behind group_fd was opened before the dump begins";
		return;
	}
	memcpy(to->group_attr, e->attr, e->attr_len);
	g->attr = to->group_attr;
	whom = g->same_task == FACT_YES ? TRIAL_SAME : e->pid == -1 ? TRIAL_NO_TASK : TRIAL_CHILD;
	if (e->flags & PERF_FLAG_PID_CGROUP)
		to->not_here = "the dump does not contain the cgroup of the event behind group_fd";
	else if (whom == TRIAL_CHILD && call_target(c) != -1)
		to->not_here = "the event behind group_fd is of another task";
	if (g->leads == FACT_NO) {
		memcpy(to->leader_attr, e->leader->attr, e->leader->attr_len);
		keep_open(to, e->leader, to->leader_attr, whom);
	}
	keep_open(to, e, to->group_attr, whom);
}

void why_judge_there(struct why_call *c, const struct attempt *refused, uint32_t release,
		     const struct arch *arch, const struct names *names)
{
	struct text_sink sink;
	struct judgement j;

	judge_attempt(refused, release, arch, names, &j);
	c->there = j.rule;
	c->there_sure = j.sure;
	text_sink_init(&sink, &c->remedy);
	remedy_of_attempt(refused, release, arch, names, &j, &sink.sink, &c->remedy);
}

/* The caller's descriptors of events that hold what the kernel says that an open lacked. */
struct own {
	const struct call *call;
	const struct rule_desc *rule;
	uint32_t *fds;
	size_t n;
};

static void note_own(void *ctx, int fd, bool cloexec, struct event *e)
{
	struct own *own = ctx;
	const struct call *c = own->call;
	pid_t pid = call_target(c) ?: c->tid, of = e->pid ?: e->opener;
	int cpu = call_int(c, 2);
	size_t len;
	const uint8_t *attr = call_bytes(c, AT_SYSCALL_ENTER, c->args[0], PERF_ATTR_SIZE_VER0, &len);

	(void)cloexec;
	if (own->rule->by & RULE_BY_RLIMIT ||
	    (attr && event_attr(e, ATTR_TYPE) == layout_get(&layout_perf_event_attr, ATTR_TYPE, attr,
							    len) &&
	     (of < 0 || pid < 0 || of == pid) && (e->cpu < 0 || cpu < 0 || e->cpu == cpu)))
		APPEND(own->fds, own->n) = (uint32_t)fd;
}

/* Append to the remedy that the command itself holds what it lacked, if it does. */
static void add_own(struct picking *p, const struct call *c, const struct rule_desc *rule)
{
	struct buf *out = &p->into->remedy;
	struct own own = { c, rule, NULL, 0 };

	if (rule && (rule->by & (RULE_BY_SLOTS | RULE_BY_RLIMIT) || rule->id == RULE_EXCLUSIVE_BUSY))
		model_each_fd(p->session.model, c->tid, note_own, &own);
	if (own.n && rule->by & RULE_BY_RLIMIT)
		buf_adds(out, "raise the limit with ulimit -n, or ");
	if (own.n) {
		buf_adds(out, "close one of the command's own events first: fds ");
		buf_add_ranges(out, own.fds, own.n);
	}
	free(own.fds);
}

/* Take the result of the call, and find the rule that refused it where the dump was made. */
static void take_result(struct picking *p, const struct call *c)
{
	const struct names *names = &p->session.names;
	struct attempt refused = attempt_of(p->session.model, c);
	struct why_call *to = p->into;

	to->returned = true;
	to->error = c->failed ? (int)c->ret : 0;
	to->injected = c->inject.injected;
	if (!to->error || to->injected)
		return;
	refused.error = to->error;
	refused.group = to->group;
	why_judge_there(to, &refused, names->release, names->arch, names);
	add_own(p, c, to->there);
}

/* Take the call that begins or ends on the line that is wanted. */
static void take_line(struct picking *p, const struct call *c)
{
	struct why_call *to = p->into;
	unsigned long line = reader_line(p->dump);

	if (p->failures || c->desc != to->call.desc)
		return;
	if (!p->nearest || labs((long)(line - p->line)) < labs((long)(p->nearest - p->line)))
		p->nearest = line;
	if (line == p->line && !p->begun) {
		copy_call(&to->call, c);
		take_group(p, c);
		p->begun = true;
		p->tid = c->tid;
	}
}

static struct picking *picking_of(struct view *v)
{
	return (struct picking *)v; /* view is its first member */
}

static void pick_on_born(struct view *v, const struct activity *a)
{
	(void)a;
	picking_of(v)->born = true;
}

static void pick_on_enter(struct view *v, const struct call *c)
{
	take_line(picking_of(v), c);
}

static void settle(struct why_call *c)
{
	if (c->call.args[4] & PERF_FLAG_PID_CGROUP)
		c->not_here = "the dump does not contain the cgroup";
}

/* Return whether two calls differ in nothing but task and CPU. */
static bool alike(const struct why_call *a, const struct why_call *b)
{
	const struct rule_group *g = &a->group, *h = &b->group;
	size_t len = a->call.pool.len;

	return a->error == b->error && a->injected == b->injected &&
	       len == b->call.pool.len &&
	       (!len || !memcmp(a->call.pool.data, b->call.pool.data, len)) &&
	       (call_int(&a->call, 1) < 0) == (call_int(&b->call, 1) < 0) &&
	       (call_int(&a->call, 2) < 0) == (call_int(&b->call, 2) < 0) &&
	       a->call.args[4] == b->call.args[4] && g->event == h->event &&
	       g->leads == h->leads && g->same_task == h->same_task && g->ring == h->ring &&
	       g->siblings == h->siblings && g->len == h->len &&
	       !memcmp(a->group_attr, b->group_attr, g->len);
}

static void take_failure(struct picking *p, const struct call *c)
{
	struct why_failures *l = p->failures;
	struct why_failed *new = xcalloc(1, sizeof(*new));
	const struct attempt *attempts;

	p->into = &new->call;
	why_call_init(&new->call);
	copy_call(&new->call.call, c);
	take_group(p, c);
	settle(&new->call);
	new->call.from_dump = true;
	take_result(p, c);
	new->times = 1;
	new->attempt = model_attempts(p->session.model, &attempts);
	for (size_t i = 0; i < l->n; i++) {
		if (!alike(&l->list[i]->call, &new->call))
			continue;
		l->list[i]->times++;
		why_call_free(&new->call);
		free(new);
		p->into = NULL;
		return;
	}
	APPEND(l->list, l->n) = new;
}

static void pick_before_exit(struct view *v, const struct call *c)
{
	struct picking *p = picking_of(v);

	if (p->failures && c->failed && c->desc->id == CALL_PERF_EVENT_OPEN) {
		take_failure(p, c);
	} else if (p->failures && c->failed) {
		const struct names *names = &p->session.names;
		const struct refused_where where = { p->here, names->release, names->arch, names };

		why_use_add(p->failures, &p->session, c, &where);
	}
	take_line(p, c);
	if (p->into && p->begun && !p->done && c->tid == p->tid) {
		take_result(p, c);
		p->done = true;
	}
}

static const struct view_ops picking_ops = {
	.on[ACTIVITY_TASK] = pick_on_born,
	.enter = pick_on_enter,
	.before_exit = pick_before_exit,
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

int32_t why_pid_here(const struct why_call *c)
{
	int32_t pid = call_int(&c->call, 1);

	return pid > 0 && c->error != ESRCH && !(c->call.args[4] & PERF_FLAG_PID_CGROUP) ? 0 : pid;
}

bool why_call_of_dump(struct why_call *c, const char *path, unsigned long line)
{
	struct picking p = { .into = c, .line = line };
	FILE *f = fopen(path, "re");
	bool read;

	if (!f) {
		warn("cannot read '%s': %s", path, strerror(errno));
		return false;
	}
	c->from_dump = true;
	read = pick_all(&p, f, path);
	if (read)
		pick_end(&p);
	fclose(f);
	if (!read)
		return false;
	if (!p.begun && p.nearest)
		warn("%s:%lu: no perf_event_open on that line; the nearest is %s:%lu", path, line,
		     path, p.nearest);
	else if (!p.begun)
		warn("%s has no perf_event_open", path);
	if (p.begun)
		settle(c);
	return p.begun;
}

/* Find out whether it named a task of the trace, and what opened instead of it. */
static void complete_failure(const struct model *m, struct why_failed *f)
{
	const struct attempt *attempts;
	struct task_info *const *tasks;
	size_t n = model_attempts(m, &attempts), ntasks = model_tasks(m, &tasks);
	const struct event *e = f->attempt < n ? attempt_instead(m, &attempts[f->attempt]) : NULL;
	struct buf differs = { 0 };

	for (size_t i = 0; i < ntasks && !f->own_task; i++)
		f->own_task = tasks[i]->tid == call_target(&f->call.call);
	if (!e)
		return;
	attempt_compare(&attempts[f->attempt], e, &differs);
	f->instead = xstrdup(e->name);
	f->differs = xstrdup(buf_str(&differs));
	f->probe = event_is_probe(e);
	f->same = attempt_same_event(&attempts[f->attempt], e);
	buf_free(&differs);
}

static void add_differences(const struct attempt *was, const uint8_t *attr, size_t len,
			    const struct names *names, struct buf *out)
{
	const struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = attr, .len = len, .names = names,
	};
	const struct field *f;
	bool another = false;
	size_t at = 0;

	while ((f = layout_next_change(&w, was->attr, was->attr_len, &at))) {
		unsigned long long is = field_get(f, attr, len);
		unsigned long long old = field_get(f, was->attr, was->attr_len);

		if (another && f->kind == FIELD_CONFIG)
			continue;
		buf_adds(out, out->len ? ", " : "");
		if (f->kind == FIELD_PMU || f->kind == FIELD_CONFIG) {
			event_name(attr, len, names, out);
			buf_adds(out, ", another event");
			another = true;
		} else if (f->kind != FIELD_BOOL && f->kind != FIELD_FLAGS && is < old) {
			buf_addf(out, "%s lowered from %llu to %llu", f->name, old, is);
		} else {
			buf_addf(out, f->kind == FIELD_FLAGS ? "%s=0x%llx (was 0x%llx)" :
				 "%s=%llu (was %llu)", f->name, is, old);
		}
		if (f - w.layout->fields == ATTR_EXCLUDE_KERNEL && is)
			buf_adds(out, " as :u does: the kernel is not measured");
	}
}

/* Describe which event opened in place of those that were tried; the same words once. */
static void add_fallback(const struct attempt *first, const struct attempt *last,
			 const struct event *e, const struct names *names, struct buf *last_words,
			 struct buf *out)
{
	struct buf words = { 0 }, way = { 0 };

	add_differences(first, e->attr, e->attr_len, names, &words);
	if (e->pid != first->pid)
		buf_addf(&words, "%sanother task", words.len ? ", " : "");
	add_differences(first, last->attr, last->attr_len, names, &way);
	if (way.len)
		buf_addf(&words, " (with %s it was refused, too)", buf_str(&way));
	if (!last_words->len || strcmp(buf_str(last_words), buf_str(&words)))
		buf_addf(out, "%s%s, in place of ", out->len ? "\n" : "",
			 words.len ? buf_str(&words) : "the same call again");
	else
		buf_adds(out, ", ");
	event_name(first->attr, first->attr_len, names, out);
	buf_free(last_words);
	buf_free(&way);
	*last_words = words;
}

/* Describe how the program went on after its failures, and what it measured in the end. */
static void describe_fallbacks(const struct model *m, const struct names *names,
			       struct why_failures *out)
{
	const struct attempt *list;
	struct event *const *events;
	size_t n = model_attempts(m, &list), nevents = model_events(m, &events), last;
	struct buf words = { 0 }, *to = &out->measured;

	for (size_t i = 0; i < n; i = last + 1) {
		const struct event *e = attempt_instead(m, &list[i]);

		/* those that were tried before the same event are one way to it */
		for (last = i; last + 1 < n && e && attempt_instead(m, &list[last + 1]) == e;)
			last++;
		if (e && !event_is_probe(e))
			add_fallback(&list[i], &list[last], e, names, &words, &out->fallbacks);
	}
	buf_reset(&words);
	for (size_t i = 0; i < nevents; i++) {
		const struct event *e = events[i];
		const struct rule_ask ask = { .attr = e->attr, .len = e->attr_len };
		const struct flaw_desc *flaw;
		struct buf name = { 0 };
		size_t at = 0;

		buf_addc(&name, '\n');
		event_name(e->attr, e->attr_len, names, &name);
		buf_addc(&name, '\n');
		if (!event_is_probe(e) && !strstr(buf_str(&words), buf_str(&name))) {
			buf_addf(to, "%s%.*s", to->len ? ", " : "", (int)name.len - 2,
				 name.data + 1);
			if ((flaw = flaw_next(&ask, &at)))
				buf_addf(to, " (%s: flaw %s)", flaw->consequence, flaw->name);
			buf_add(&words, name.data, name.len);
		}
		buf_free(&name);
	}
	buf_free(&words);
}

bool why_failures_of_dump(FILE *f, const char *path, const struct facts *here,
			  struct why_failures *out)
{
	struct picking p = { .failures = out, .here = here };

	*out = (struct why_failures){ .n = 0 };
	if (!pick_all(&p, f, path))
		return false;
	for (size_t i = 0; i < out->n; i++)
		complete_failure(p.session.model, out->list[i]);
	describe_fallbacks(p.session.model, reader_names(p.dump), out);
	pick_end(&p);
	return p.born;
}

void why_failures_free(struct why_failures *l)
{
	for (size_t i = 0; i < l->n; i++) {
		why_call_free(&l->list[i]->call);
		free(l->list[i]->instead);
		free(l->list[i]->differs);
		free(l->list[i]);
	}
	for_each(u, l->uses, l->nuses) {
		free(u->line);
		buf_free(&u->refused.numbers);
	}
	free(l->uses);
	buf_free(&l->fallbacks);
	buf_free(&l->measured);
	free(l->list);
}
