// SPDX-License-Identifier: LGPL-2.1-or-later
/* Answering for the calls that a command line names, or of a command, one after the other. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/lib/die.h"
#include "verbs/cmd.h"
#include "verbs/measure/refusal.h"
#include "verbs/why/why.h"

enum {
	LEADER_FD = 3,		/* the descriptor that the leader of --leader would have */
};

/* Join a group.  at: index of the leader in k->opened, or TRIAL_NONE: it was refused. */
static void join(const struct why *k, struct why_call *c, const struct attr_text *leader,
		 int at)
{
	memcpy(c->group_attr, leader->bytes, leader->len);
	c->group = (struct rule_group){
		.event = FACT_YES, .alive = FACT_YES, .leads = FACT_YES,
		.same_task = FACT_YES, .same_cgroup = FACT_YES, .ring = FACT_NO,
		.attr = c->group_attr, .len = leader->len, .cpu = k->cpu,
	};
	if (at == TRIAL_NONE) {
		c->not_here = "its group leader is refused";
		c->group.event = FACT_NO;
	} else {
		/* add the members of the group, opened on the same task and CPU */
		for_each(e, k->opened.events, k->opened.n) {
			if (e->leader != at)
				continue;
			c->group.siblings++;
			c->group.formats |= 1U << (layout_get(&layout_perf_event_attr,
							      ATTR_READ_FORMAT, e->attr,
							      e->len) & 31);
		}
	}
	c->before.leader = at;
}

/* Keep the event open: later calls may join its group. */
static int keep(struct why *k, struct why_call *c, int leader)
{
	const struct rule_pmu *p = rules_pmu(&k->facts.rules.machine, c->attr, c->len);
	size_t n = k->opened.n;
	struct trial_event *e;

	k->opened.events = e = xrealloc(k->opened.events, (n + 1) * sizeof(*e));
	e[n] = (struct trial_event){
		.attr = c->attr, .len = c->len, .cpu = k->cpu, .leader = leader,
		/* it holds a scarce resource: a hardware counter, a breakpoint */
		.holds = !p || p->type == PERF_TYPE_BREAKPOINT || !p->desc ||
			 !(p->desc->traits & PMU_TRAIT_SOFTWARE),
	};
	if (leader != TRIAL_NONE)
		e[leader].holds |= e[n].holds;
	return (int)k->opened.n++;
}

/* An attr that was named, and the group that it joins. */
struct named {
	const struct attr_text *attr;	/* NULL: the null pointer */
	const struct attr_text *leader;	/* NULL: no group */
	int leader_at;			/* index in k->opened, or TRIAL_NONE */
	bool leads;			/* the attr of --leader */
	bool stays;			/* if it opens */
	bool by_name;			/* named by -e */
	/* the result */
	bool opens;
	int at;				/* index in k->opened if it stays and opens */
};

/*
 * Return why a probe of a dump or log is not tried, or NULL: its path was the traced process's, and
 * at a bad offset a probe ends the processes that hit it, so that on others it is not trusted.
 */
static const char *probe_elsewhere(const struct why *k, const struct why_call *c)
{
	struct host *h = k->machine.host;
	size_t len = 0;
	const uint8_t *attr = call_bytes(&c->call, AT_SYSCALL_ENTER, c->call.args[0],
					 WHY_ATTR_MAX, &len);
	const struct layout *l = &layout_perf_event_attr;
	int64_t type = (int64_t)layout_get(l, ATTR_TYPE, attr, len);
	const char *path;
	size_t n;
	bool cut;

	if (!attr || (type != host_pmu_type(h, "uprobe") && type != host_pmu_type(h, "kprobe")))
		return NULL;
	path = call_string(&c->call, AT_SYSCALL_ENTER, layout_get(l, ATTR_UPROBE_PATH, attr, len),
			   &n, &cut);
	if (c->from_dump && path && n > 6 && !memcmp(path, "/proc/", 6))
		return "the path in /proc names a file of the traced process";
	if (!call_int(&c->call, 1))
		return NULL;
	return "a probe that a dump or log names is tried on no other process";
}

/* From now on, judge for an unknown machine: a call of a text with its result is evidence of its own. */
static void why_leave_here(struct why *k)
{
	if (!machine_leave_here(&k->machine, k->options.machine))
		return;
	facts_close(&k->facts);
	facts_open(&k->facts, k->machine.host);
	k->elsewhere = true;
	machine_show(&k->machine, &k->out);
}

/* Take the result of a call in a text, and find the rule that refused it on a machine that is unknown. */
static void take_evidence(struct why *k, struct why_call *c, const struct attr_text *a)
{
	struct attempt refused = log_calls_attempt(&k->log, a);

	c->from_dump = c->from_log = c->returned = true;
	c->error = a->call.error;
	c->not_here = k->machine.path ? "it is of another machine" : "its machine is not known";
	if (!c->error)
		return;
	why_call_prepare(c, &k->machine.names);
	refused.attr = c->attr;
	refused.attr_len = c->len;
	why_judge_there(c, &refused, 0, k->facts.rules.machine.arch, &k->machine.names);
	c->there_sure &= !a->elided;
}

/* Set the other arguments: those of the options, else those in the text of the call. */
static void take_call(struct why *k, struct why_call *c, const struct named *n)
{
	const struct attr_text_call *text = n->attr ? &n->attr->call : NULL;
	int32_t pid = k->pid, group_fd = n->leader ? LEADER_FD : k->group_fd;
	bool cgroup;

	if (!text || !text->given) {
		why_call_args(c, pid, k->cpu, group_fd, k->flags);
		return;
	}
	cgroup = text->flags & PERF_FLAG_PID_CGROUP;
	if (k->elsewhere) {
		why_call_args(c, text->pid, text->cpu, text->group_fd, text->flags);
		return;
	}
	if (!k->pid_given)
		pid = text->pid <= 0 || cgroup || facts_task_exists(text->pid) == FACT_YES ?
		      text->pid : 0;
	if (!k->pid_given && cgroup)
		c->not_here = "the cgroup of its descriptor is unknown";
	else if (!k->pid_given && pid != text->pid)
		k->missing = text->pid;
	if (group_fd == -1 && text->group_fd != -1) {
		group_fd = text->group_fd;
		c->not_here = "the event of its group_fd is unknown";
	}
	why_call_args(c, pid, k->cpu_given ? k->cpu : text->cpu, group_fd,
			k->flags_given ? k->flags : text->flags);
	if (!c->not_here)
		c->not_here = probe_elsewhere(k, c);
}

static bool is_checked(const struct why *k)
{
	return k->rules_only || k->once;
}

static int answer_one(struct why *k, struct why_call *c)
{
	/* what a log says has happened: there is nothing to predict */
	return is_checked(k) && !c->from_log ? why_check(k, c) : why_examine(k, c, NULL);
}

/* Return a new call, which is kept until all are shown. */
static struct why_call *new_call(struct why *k)
{
	struct why_call *c = xmalloc(sizeof(*c));

	why_call_init(c);
	return APPEND(k->calls, k->ncalls) = c;
}

static int answer_named(struct why *k, struct named *n)
{
	struct why_call *c;
	struct buf doubts = { 0 };
	int status;

	if (n->attr && attr_text_doubts(n->attr, &doubts))
		warn("%s%s%s", n->attr->label, *n->attr->label ? ": " : "", buf_str(&doubts));
	buf_free(&doubts);
	if (n->attr && n->attr->elided && n->attr->call.error) {
		warn("the attr has \"...\" or a variable: what is left out is taken as 0, so the "
		     "cause is a guess; pevtrace or strace -v leave nothing out");
	} else if (n->attr && n->attr->elided) {
		n->opens = false;
		n->at = TRIAL_NONE;
		warn("the attr has \"...\" or a variable%s: what is left out is unknown, so the call "
		     "cannot be judged; use pevtrace or strace -v, which leave nothing out",
		     n->attr->call.returned ? ", of a call that succeeded" : "");
		return EXIT_TROUBLE;
	}
	c = new_call(k);
	c->leads = n->leads;
	c->by_name = n->by_name;
	c->before = (struct trial_state){ k->opened.events, k->opened.n, TRIAL_NONE };
	if (n->attr) {
		memcpy(c->label, n->attr->label, sizeof(c->label));
		c->call.args[0] = WHY_ATTR_AT;
		attr_text_capture(n->attr, &c->call, WHY_ATTR_AT);
	}
	if (n->leader)
		join(k, c, n->leader, n->leader_at);
	if (n->attr && n->attr->call.returned)
		why_leave_here(k);
	if (k->elsewhere)
		c->call.arch = k->facts.rules.machine.arch;
	take_call(k, c, n);
	if (k->elsewhere && n->attr && n->attr->call.returned)
		take_evidence(k, c, n->attr);
	status = answer_one(k, c);
	n->opens = c->opens;
	n->at = TRIAL_NONE;
	if (n->stays && c->opens && !c->not_here)
		n->at = keep(k, c, n->leader ? n->leader_at : TRIAL_NONE);
	return status;
}

static int answer_attr(struct why *k, const struct attr_text *a,
			  const struct attr_text *leader)
{
	struct named n = { .attr = a, .leader = leader, .leader_at = 0 };

	return answer_named(k, &n);
}

/* Answer for the events in order, as they would be opened: those that open stay open. */
static int answer_events(struct why *k, const struct attr_text *leader)
{
	struct event_list l = { 0 };
	int *at, status = EXIT_YES, refused = -1;

	for (size_t i = 0; i < k->events.n; i++) {
		if (event_list_add(&l, k->machine.host, k->events.texts[i]))
			continue;
		warn("-e '%s': at character %zu: %s", k->events.texts[i], l.at + 1, l.why);
		event_list_free(&l);
		return EXIT_TROUBLE;
	}
	at = xcalloc(l.n, sizeof(*at));
	for (size_t i = 0; i < l.n; i++) {
		const struct event_spec *e = &l.events[i];
		bool leads = e->leader == i;
		struct named n = {
			.attr = &e->attr, .stays = true, .by_name = true,
			.leader_at = leads ? 0 : at[e->leader],
			.leader = leads ? leader : &l.events[e->leader].attr,
		};
		int one = answer_named(k, &n);

		at[i] = n.at;
		status = why_worse(status, one);
		if (!n.opens)
			refused = why_worse(refused, one);
	}
	free(at);
	event_list_free(&l);
	return !is_checked(k) && refused >= 0 ? refused : status;
}

/* The attrs of the operand. */
struct attrs {
	struct why *k;
	const struct attr_text *leader;
	int status;
	size_t opened, failed;	/* of a log's calls with a result */
};

static bool answer_each(void *ctx, struct attr_text *a)
{
	struct attrs *all = ctx;

	if (a->ioctl.given)
		return true;
	/* of a log the calls that failed are in question */
	if (all->k->kind == INPUT_LOG && a->call.returned) {
		all->opened += !a->call.error;
		all->failed += !!a->call.error;
		log_calls_add(&all->k->log, a);
		if (!a->call.error)
			return true;
	}
	all->status = why_worse(all->status, answer_attr(all->k, a, all->leader));
	return true;
}

static int answer_operand(struct why *k)
{
	struct attr_text attr, *leader = k->leader ? &attr : NULL;
	struct named n = { .attr = leader, .leads = true, .stays = true };
	struct attrs all = { .k = k, .leader = leader, .status = EXIT_YES };
	enum input_kind kind = k->kind;
	struct event_list list = { 0 };
	struct buf arg = { 0 };
	int status;

	if (leader) {
		/* the leader is a call of its own */
		if (!input_attr(k->leader, "--leader", leader))
			return EXIT_TROUBLE;
		status = answer_named(k, &n);
		if (!n.opens)
			return status;
	}
	if (k->events.n)
		return answer_events(k, leader);
	if (!strcmp(k->what, "NULL"))
		return answer_attr(k, NULL, leader);
	buf_addf(&arg, "%s%s", k->kind == INPUT_NONE ? "" : "@", k->what);
	if (kind == INPUT_NONE)
		kind = strcmp(k->what, "-") ? input_kind(k->what, k->machine.host, &list) : INPUT_ATTR;
	if (kind == INPUT_EVENT) {
		options_set_event(&k->events, k->what, NULL);
		status = answer_events(k, leader);
	} else if (kind == INPUT_NONE && !strpbrk(k->what, "@{}=;\n") &&
		   k->what[strspn(k->what, "-0123456789abcdefABCDEFxX:, ")]) {
		/* what should have been an attr has braces or "=", or is in hexadecimal */
		input_check(k->args, k->what, kind, list.why);
		status = EXIT_TROUBLE;
	} else {
		status = input_attrs(buf_str(&arg), "the attr", answer_each, &all) ? all.status :
			 EXIT_TROUBLE;
		if (all.opened && !all.failed && status == EXIT_YES) {
			warn("no perf_event_open failed in '%s'", k->what);
			status = EXIT_NO;
		}
	}
	event_list_free(&list);
	buf_free(&arg);
	return status;
}

char *why_dump_of(const char *what, unsigned long *line)
{
	const char *colon = strrchr(what, ':');
	uint64_t number;
	char *path;

	if (!colon)
		return NULL;
	path = xstrdup(what);
	path[colon - what] = '\0';
	if (!scan_whole(colon + 1, SCAN_DECIMAL, 0, UINT64_MAX, &number)) {
		if (!access(path, F_OK))
			die("'%s' has no LINE: name a call as %s:LINE (grep -n perf_event_open "
			    "finds them)", what, path);
		free(path);
		return NULL;
	}
	*line = number;
	if (!access(path, F_OK)) {
		input_limit_outputs(path);
		return path;
	}
	/* bytes in hexadecimal may have colons between them, and attrs have braces or "=" */
	if (what[strspn(what, "0123456789abcdefABCDEFxX:")] && !strpbrk(what, "{}=,; \t\n"))
		input_no_file(path);
	free(path);
	return NULL;
}

/* Answer for a call of a dump, changed by the options. */
static int answer_dump(struct why *k, const char *path, unsigned long line)
{
	struct why_call *c = new_call(k);
	int status = EXIT_TROUBLE;
	uint64_t flags;
	int32_t pid;

	if (why_call_of_dump(c, path, line)) {
		flags = k->flags_given ? k->flags : c->call.args[4];
		if (k->cgroup) {
			c->not_here = NULL;
			flags |= PERF_FLAG_PID_CGROUP;
		}
		pid = why_pid_here(c);
		why_call_args(c, k->pid_given ? k->pid : pid,
				k->cpu_given ? k->cpu : call_int(&c->call, 2),
				call_int(&c->call, 3), flags);
		if (!c->not_here)
			c->not_here = probe_elsewhere(k, c);
		status = answer_one(k, c);
	}
	return status;
}

/* The calls of a command ---------------------------------------------------------------- */

static int examine_all(struct why *k, const struct why_failures *l, const char *name)
{
	int meant = -1, probes = -1;

	for (size_t i = 0; i < l->n; i++) {
		struct why_failed *f = l->list[i];
		struct call *c = &f->call.call;
		int32_t pid = call_int(c, 1);
		int *of = f->same || f->probe ? &probes : &meant;

		/* tasks of the command have ended, though zombies may be left */
		if (f->own_task || pid <= 0 || facts_task_exists(pid) != FACT_YES)
			pid = why_pid_here(&f->call);
		why_call_args(&f->call, pid, call_int(c, 2), call_int(c, 3), c->args[4]);
		/* Let the line of progress tell which call is being examined. */
		buf_reset(&k->working);
		buf_addf(&k->working, "experiments at most, for call %zu of %zu", i + 1, l->n);
		k->progress.what = buf_str(&k->working);
		*of = why_worse(*of, is_checked(k) ? why_check(k, &f->call) :
					why_examine(k, &f->call, f));
	}
	if (meant >= 0)
		return meant;
	if (probes < 0 && !l->nuses)
		warn("no perf_event_open failed in '%s'", name);
	return probes < 0 ? EXIT_NO : probes;
}

/* Examine the calls that failed in the command, which is traced, or in the dump. */
static int answer_failures(struct why *k)
{
	struct why_failures failures = { .n = 0 };
	const char *name;
	FILE *f = input_session(k->args, 0, false, false, &name);
	int status = EXIT_TROUBLE;

	if (!descriptors_want(WHY_DESCRIPTORS))
		refusal_descriptors("why", WHY_DESCRIPTORS);
	else if (why_failures_of_dump(f, k->command ? "the trace" : name,
				      k->command ? &k->facts : NULL, &failures))
		status = examine_all(k, &failures, name);
	k->hide_probes = failures.measured.len && !k->out.text.sink.full;
	show_kept(k);
	if (failures.nuses) {
		int of_uses = why_uses_show(k, &failures);

		status = failures.n ? why_worse(status, of_uses) : of_uses;
	}
	if (failures.n && !k->out.json && !k->quiet)
		show_measured(k, k->command ? k->command[0] : name, &failures);
	why_failures_free(&failures);
	input_close(f);
	return status;
}

int why_answer_all(struct why *k, const char *path, unsigned long line)
{
	int status;

	/* a command writes to the terminal itself */
	k->options.no_pager |= k->command != NULL;
	showing_open(&k->out, &k->options);
	machine_open_file(&k->machine, k->options.machine);
	machine_show(&k->machine, &k->out);
	facts_open(&k->facts, k->machine.host);
	k->instruments.host = k->machine.host;
	progress_start(&k->progress, "experiments at most");
	status = k->command || k->kind == INPUT_DUMP ? answer_failures(k) :
		 path ? answer_dump(k, path, line) : answer_operand(k);
	show_kept(k);
	if (k->missing)
		warn("no task %d is here: its calls are judged for pevtrace itself; -p names "
		     "another task", k->missing);
	for (size_t i = 0; i < k->ncalls; i++) {
		why_call_free(k->calls[i]);
		free(k->calls[i]);
	}
	free(k->calls);
	free(k->opened.events);
	buf_free(&k->working);
	log_calls_free(&k->log);
	facts_close(&k->facts);
	machine_close(&k->machine);
	return showing_close(&k->out) ? status : EXIT_TROUBLE;
}
