// SPDX-License-Identifier: LGPL-2.1-or-later
/* Judging the calls that a command line names, one after the other. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/abi/layout.h"
#include "core/abi/strings.h"
#include "core/host/event_syntax.h"
#include "core/host/mounts.h"
#include "core/host/proc.h"
#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "core/lib/scan_text.h"
#include "verbs/cli/input.h"
#include "verbs/judge/judge.h"
#include "verbs/measure/refusal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* The descriptor that the leader of --leader would have. */
enum { LEADER_FD = 3 };

static void take_attr(struct judge_call *c, const struct attr_text *a)
{
	memcpy(c->label, a->label, sizeof(c->label));
	c->call.args[0] = JUDGE_ATTR_AT;
	attr_text_capture(a, &c->call, JUDGE_ATTR_AT);
}

/* No opened call leads the group. */
enum { NO_LEADER = TRIAL_NONE };

/* Add the members of the group, opened on the same task and CPU. */
static void judge_list_group(const struct judge *k, int leader, struct rule_group *g)
{
	for (size_t i = 0; i < k->opened.n; i++) {
		const struct trial_event *e = &k->opened.events[i];

		if (e->leader != leader)
			continue;
		g->siblings++;
		g->formats |= 1U << (layout_get(&layout_perf_event_attr, ATTR_READ_FORMAT,
						e->attr, e->len) & 31);
	}
}

/* Join a group.  at: index of the leader in k->opened, or NO_LEADER: it was refused. */
static void join(const struct judge *k, struct judge_call *c, const struct attr_text *leader,
		 int at)
{
	memcpy(c->leader_attr, leader->bytes, leader->len);
	c->group = (struct rule_group){
		.event = FACT_YES, .alive = FACT_YES, .leads = FACT_YES,
		.same_task = FACT_YES, .same_cgroup = FACT_YES, .ring = FACT_NO,
		.attr = c->leader_attr, .len = leader->len, .cpu = k->cpu,
	};
	if (at == NO_LEADER) {
		c->not_here = "its group leader is refused";
		c->group.event = FACT_NO;
	} else {
		judge_list_group(k, at, &c->group);
	}
	c->before.leader = at;
}

/* Return whether the event holds a scarce resource: a hardware counter, a breakpoint. */
static bool holds(const struct judge *k, const struct judge_call *c)
{
	const struct rule_pmu *p = rules_pmu(&k->facts.rules.machine, c->attr, c->len);

	return !p || p->type == PERF_TYPE_BREAKPOINT || !p->desc ||
	       !(p->desc->traits & PMU_TRAIT_SOFTWARE);
}

/* Keep the event open: later calls may join its group. */
static int keep(struct judge *k, struct judge_call *c, int leader)
{
	struct judge_opened *o = &k->opened;

	o->calls = xrealloc(o->calls, (o->n + 1) * sizeof(*o->calls));
	o->events = xrealloc(o->events, (o->n + 1) * sizeof(*o->events));
	o->calls[o->n] = c;
	o->events[o->n] = (struct trial_event){
		.attr = c->attr, .len = c->len, .cpu = k->cpu, .leader = leader,
		.holds = holds(k, c),
	};
	if (leader != TRIAL_NONE)
		o->events[leader].holds |= o->events[o->n].holds;
	return (int)o->n++;
}

static void free_opened(struct judge_opened *o)
{
	for (size_t i = 0; i < o->n; i++) {
		judge_call_free(o->calls[i]);
		free(o->calls[i]);
	}
	free(o->calls);
	free(o->events);
}

/* An attr that was named, and the group that it joins. */
struct named {
	const struct attr_text *attr;	/* NULL: the null pointer */
	const struct attr_text *leader;	/* NULL: no group */
	int leader_at;			/* index in k->opened, or NO_LEADER */
	bool leads;			/* the attr of --leader */
	bool stays;			/* if it opens */
	/* the result */
	bool opens;
	int at;				/* index in k->opened if it stays and opens */
};

/*
 * Return why a probe of a dump or log is not tried, or NULL: its path was the traced process's, and
 * at a bad offset a probe ends the processes that hit it, so that on others it is not trusted.
 */
static const char *probe_elsewhere(const struct judge *k, const struct judge_call *c)
{
	struct host *h = k->machine.host;
	size_t len = 0;
	const uint8_t *attr = call_bytes(&c->call, AT_SYSCALL_ENTER, c->call.args[0],
					 JUDGE_ATTR_MAX, &len);
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

/* Return whether a task of that id exists. */
static bool task_is_here(int32_t pid)
{
	return pid <= 0 || !kill(pid, 0) || errno == EPERM;
}

/* Set the other arguments: those of the options, else those in the text of the call. */
static void take_call(const struct judge *k, struct judge_call *c, const struct named *n)
{
	const struct attr_text_call *text = n->attr ? &n->attr->call : NULL;
	int32_t pid = k->pid, group_fd = n->leader ? LEADER_FD : k->group_fd;
	bool cgroup;

	if (!text || !text->given) {
		judge_call_args(c, pid, k->cpu, group_fd, k->flags);
		return;
	}
	cgroup = text->flags & PERF_FLAG_PID_CGROUP;
	if (!k->pid_given)
		pid = task_is_here(text->pid) || cgroup ? text->pid : 0;
	if (!k->pid_given && cgroup)
		c->not_here = "the cgroup of its descriptor is unknown";
	else if (!k->pid_given && pid != text->pid)
		warn("no task %d is here: the call is judged for pevtrace itself; -p names "
		     "another task", text->pid);
	if (group_fd == -1 && text->group_fd != -1) {
		group_fd = text->group_fd;
		c->not_here = "the event of its group_fd is unknown";
	}
	judge_call_args(c, pid, k->cpu_given ? k->cpu : text->cpu, group_fd,
			k->flags_given ? k->flags : text->flags);
	if (!c->not_here)
		c->not_here = probe_elsewhere(k, c);
}

/* Report that an attr lacks members; return the exit status. */
static int judge_elided(const struct attr_text_call *text)
{
	warn("the attr ends with \"...\"%s%s: what is left out is unknown, so the call cannot be "
	     "judged; use pevtrace or strace -v, which leave nothing out",
	     !text->returned ? "" : text->error ? ", of a call that failed with " :
						 ", of a call that succeeded",
	     text->returned && text->error ? error_name(text->error) : "");
	return EXIT_TROUBLE;
}

static int judge_named(struct judge *k, struct named *n)
{
	struct judge_call *c;
	int status;

	if (n->attr && n->attr->elided) {
		n->opens = false;
		n->at = NO_LEADER;
		return judge_elided(&n->attr->call);
	}
	c = xmalloc(sizeof(*c));
	judge_call_init(c);
	c->leads = n->leads;
	c->before = (struct trial_state){ k->opened.events, k->opened.n, TRIAL_NONE };
	if (n->attr)
		take_attr(c, n->attr);
	if (n->leader)
		join(k, c, n->leader, n->leader_at);
	take_call(k, c, n);
	status = k->verb->one(k, c);
	n->opens = c->opens;
	n->at = NO_LEADER;
	if (n->stays && c->opens && !c->not_here) {
		n->at = keep(k, c, n->leader ? n->leader_at : TRIAL_NONE);
		return status;
	}
	judge_call_free(c);
	free(c);
	return status;
}

static int judge_one_attr(struct judge *k, const struct attr_text *a,
			  const struct attr_text *leader)
{
	struct named n = { .attr = a, .leader = leader, .leader_at = 0 };

	return judge_named(k, &n);
}

/* Judge the leader as a call of its own; return false if it does not open. */
static bool take_leader(struct judge *k, struct attr_text *leader, int *status)
{
	struct named n = { .attr = leader, .leads = true, .stays = true };

	if (!input_attr(k->leader, "--leader", leader)) {
		*status = EXIT_TROUBLE;
		return false;
	}
	*status = judge_named(k, &n);
	return n.opens;
}

static int judge_text(struct judge *k, const struct buf *text, const struct attr_text *leader)
{
	struct text_cursor cursor = { .why = "" };
	struct attr_text a;
	struct attr_reader r;
	enum attr_read got = ATTR_END;
	int status = EXIT_YES;
	size_t n = 0;

	if (input_is_binary(text)) {
		if (attr_text_bytes(&cursor, (const uint8_t *)text->data, text->len, &a))
			return judge_one_attr(k, &a, leader);
		warn("cannot read the attr: %s", cursor.why);
		return EXIT_TROUBLE;
	}
	attr_reader_init(&r, buf_str(text), text->len);
	for (; (got = attr_reader_next(&r, &a)) == ATTR_READ; n++)
		status = judge_worse(status, judge_one_attr(k, &a, leader));
	if (got == ATTR_BAD && !n && !access(buf_str(text), F_OK))
		warn("'%s' is a file: use %s:LINE for a call of a dump (grep -n perf_event_open "
		     "finds them), or @%s for an attr",
		     buf_str(text), buf_str(text), buf_str(text));
	else if (got == ATTR_BAD)
		warn("cannot read the attr: %s%s", r.in.why, nearest_hinted(r.in.why) ? "" :
		     "; use bytes, an attr as C, strace or perf write it, @FILE, DUMP:LINE, or -e "
		     "with an event's name");
	else if (!n)
		warn("no attr found");
	return got == ATTR_BAD || !n ? EXIT_TROUBLE : status;
}

/* Judge the events in order, as they would be opened: those that open stay open. */
static int judge_list(struct judge *k, const struct event_list *l,
		      const struct attr_text *leader)
{
	int *at = xcalloc(l->n, sizeof(*at)), status = EXIT_YES, refused = -1;

	for (size_t i = 0; i < l->n; i++) {
		const struct event_spec *e = &l->events[i];
		bool leads = e->leader == i;
		struct named n = {
			.attr = &e->attr, .stays = true, .leader_at = leads ? 0 : at[e->leader],
			.leader = leads ? leader : &l->events[e->leader].attr,
		};
		int one = judge_named(k, &n);

		at[i] = n.at;
		status = judge_worse(status, one);
		if (!n.opens)
			refused = judge_worse(refused, one);
	}
	free(at);
	return k->verb->of_refused && refused >= 0 ? refused : status;
}

static int judge_events(struct judge *k, const struct attr_text *leader)
{
	struct event_list l = { 0 };
	int status = EXIT_YES;

	for (size_t i = 0; i < k->nevents && !status; i++) {
		if (event_list_add(&l, k->machine.host, k->events[i]))
			continue;
		warn("-e '%s': at character %zu: %s", k->events[i], l.at + 1, l.why);
		status = EXIT_TROUBLE;
	}
	if (!status)
		status = judge_list(k, &l, leader);
	event_list_free(&l);
	return status;
}

static int judge_operand(struct judge *k)
{
	struct attr_text leader;
	struct buf text = { 0 }, path = { 0 };
	int status = EXIT_YES;

	if (k->leader && !take_leader(k, &leader, &status))
		return status;
	if (k->events)
		return judge_events(k, k->leader ? &leader : NULL);
	if (!strcmp(k->what, "NULL"))
		return judge_one_attr(k, NULL, k->leader ? &leader : NULL);
	status = EXIT_TROUBLE;
	if (input_is_log(k->what))
		buf_addf(&path, "@%s", k->what);
	else
		buf_adds(&path, k->what);
	if (input_text(buf_str(&path), k->verb->name, &text))
		status = judge_text(k, &text, k->leader ? &leader : NULL);
	buf_free(&path);
	buf_free(&text);
	return status;
}

/* Bytes in hexadecimal may have colons between them, and attrs have braces or "=". */
static bool is_path(const char *what)
{
	return what[strspn(what, "0123456789abcdefABCDEFxX:")] && !strpbrk(what, "{}=,; \t\n");
}

char *judge_dump_of(const char *what, unsigned long *line)
{
	const char *colon = strrchr(what, ':');
	uint64_t number;
	char *path;

	if (!colon)
		return NULL;
	path = xstrdup(what);
	path[colon - what] = '\0';
	if (!scan_whole(colon + 1, SCAN_DECIMAL, 0, UINT64_MAX, &number)) {
		if (!colon[1] && !access(path, F_OK))
			die("'%s' has no LINE: name a call as %s:LINE (grep -n perf_event_open "
			    "finds them)", what, path);
		free(path);
		return NULL;
	}
	*line = number;
	if (!access(path, F_OK))
		return path;
	if (is_path(what))
		die("cannot read the dump '%s': %s; pevtrace --json=FILE COMMAND writes one",
		    path, strerror(errno));
	free(path);
	return NULL;
}

/* Judge a call of a dump, changed by the options. */
static int judge_dump(struct judge *k, const char *path, unsigned long line)
{
	struct judge_call *c = xmalloc(sizeof(*c));
	int status = EXIT_TROUBLE;
	uint64_t flags;
	int32_t pid;

	judge_call_init(c);
	if (judge_call_of_dump(c, path, line)) {
		flags = k->flags_given ? k->flags : c->call.args[4];
		if (k->cgroup) {
			c->not_here = NULL;
			flags |= PERF_FLAG_PID_CGROUP;
		}
		pid = judge_pid_here(c);
		judge_call_args(c, k->pid_given ? k->pid : pid,
				k->cpu_given ? k->cpu : call_int(&c->call, 2),
				call_int(&c->call, 3), flags);
		if (!c->not_here)
			c->not_here = probe_elsewhere(k, c);
		status = k->verb->one(k, c);
	}
	judge_call_free(c);
	free(c);
	return status;
}

static int judge_run_all(struct judge *k, const char *path, unsigned long line)
{
	int status;

	/* a command writes to the terminal itself */
	k->options.no_pager |= k->command != NULL;
	showing_open(&k->out, &k->options);
	machine_open(&k->machine);
	mounts_warn_facts();
	facts_open(&k->facts, k->machine.host);
	k->instruments.host = k->machine.host;
	status = k->command ? k->verb->command(k) :
		 path ? judge_dump(k, path, line) : judge_operand(k);
	free_opened(&k->opened);
	facts_close(&k->facts);
	machine_close(&k->machine);
	if (k->cgroup)
		close(k->pid);
	return showing_close(&k->out) ? status : EXIT_TROUBLE;
}

int judge_run(struct judge *k, const struct judge_verb *verb, const struct verb_args *args)
{
	unsigned long line = 0;
	char *path = NULL;
	int status = EXIT_TROUBLE;

	k->verb = verb;
	judge_take_args(k, args);
	if (k->what)
		path = judge_dump_of(k->what, &line);
	if (path && (k->leader || k->group_fd != -1))
		die("--leader and --group-fd cannot be combined with DUMP:LINE");
	/* do not raise the limits of a command */
	if (!k->command && !k->offline && !descriptors_want(JUDGE_DESCRIPTORS))
		refusal_descriptors(verb->name, JUDGE_DESCRIPTORS);
	else
		status = judge_run_all(k, path, line);
	free(k->events);
	free(path);
	return status;
}
