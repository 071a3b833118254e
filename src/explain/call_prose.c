// SPDX-License-Identifier: LGPL-2.1-or-later
/* One open in English: what it requires, the kernel functions behind it, and one call in full. */
#include "explain/story.h"

#include "core/abi/as_kernel.h"
#include "core/abi/attr_text.h"
#include "core/abi/rules.h"
#include "core/abi/strings.h"
#include "core/judge/flaws.h"
#include "core/model/event_name.h"
#include "core/model/model.h"
#include "explain/attr_prose.h"
#include "explain/story_internal.h"

/* Conditions of src/explain/story.in -------------------------------------------------- */

/* Return the text of the first row that applies, and set *rows behind it; NULL: none. */
static const char *next_that_holds(const struct pair_desc **rows, const struct story_open *o)
{
	const struct rule_ask ask = {
		.attr = o->attr, .len = o->len, .pid = o->pid, .cpu = o->cpu, .flags = o->flags,
	};

	while ((*rows)->name) {
		const struct pair_desc *row = (*rows)++;

		if (open_meets(row->name, &ask))
			return row->text;
	}
	return NULL;
}

/* Write the texts of all rows that apply, unless p is NULL; return how many there are. */
static size_t write_texts(const struct pair_desc *rows, const struct story_open *o,
			  const char *sep, struct prose *p)
{
	const char *text;
	size_t n = 0;

	for (; (text = next_that_holds(&rows, o)); n++)
		if (p)
			prose_addf(p, "%s%s", n ? sep : "", text);
	return n;
}

struct story_open story_open_of(const struct event *e)
{
	return (struct story_open){
		.attr = e->attr, .len = e->attr_len, .pid = e->pid, .cpu = e->cpu,
		.flags = e->flags, .probed = e->probed,
	};
}

struct story_open story_open_failed(const struct attempt *a)
{
	return (struct story_open){
		.attr = a->attr, .len = a->attr_len, .pid = a->pid, .cpu = a->cpu,
		.flags = a->flags, .probed = a->probed,
	};
}

void story_open_name(const struct story *s, const struct story_open *o, struct prose *p)
{
	struct buf name = { 0 };

	event_name_probed(o->attr, o->len, s->names, o->probed, &name);
	prose_name(p, buf_str(&name));
	buf_free(&name);
}

const char *story_purpose(const struct story_open *o)
{
	const struct pair_desc *rows = purpose_descs;

	return next_that_holds(&rows, o);
}

void story_defaults(const struct story_text *t, const struct family *f)
{
	const struct story_open o = story_open_of(f->events[0]);

	if (!write_texts(default_descs, &o, "; ", NULL))
		return;
	prose_item(t->p);
	write_texts(default_descs, &o, "; ", t->p);
	prose_adds(t->p, ".");
}

/* Requirements --------------------------------------------------------------------------- */

size_t story_hardware(const struct story_open *o, struct prose *p)
{
	return write_texts(requirement_descs, o, ", ", p);
}

/* Return the privilege check that refuses a call; NULL: none. */
static const struct rule_desc *privilege_check(const struct judge_case *user)
{
	struct judgement j;

	judge_open(user, &j);
	for (size_t i = 0; i < RULE_COUNT; i++)
		if (rule_descs[i].by & (RULE_BY_PARANOID | RULE_BY_CAPS) &&
		    j.rules.says[i] == RULE_REFUSES)
			return &rule_descs[i];
	return NULL;
}

/* The call as an ordinary user makes it on a machine without limits, its facts in *m. */
static struct judge_case needs_case(const struct story *s, const struct story_open *o,
				    struct judge_machine *m)
{
	judge_unlimited(m, s->release, s->arch, s->names, o->attr, o->len);
	return (struct judge_case){
		.ask = {
			.attr = o->attr, .len = o->len, .pid = o->pid, .cpu = o->cpu,
			.group_fd = -1, .flags = o->flags, .facts = &m->facts,
		},
		.seen = JUDGE_NOT_SEEN,
	};
}

uint32_t story_oldest(const struct story *s, const struct story_open *o, struct as_refusal *older)
{
	struct judge_machine m;
	const struct judge_case user = needs_case(s, o, &m);

	return as_kernel_oldest(&user.ask, older);
}

/*
 * Return the highest perf_event_paranoid up to 2 at which the call passes, -2 if there is none, and
 * in *above the check that refuses it above that.
 */
static int highest_paranoid(const struct judge_case *user, struct judge_machine *m,
			    const struct rule_desc **above)
{
	const struct rule_desc *refuser;
	int level = 2;

	m->facts.target.task.attachable = m->facts.target.task.readable = FACT_YES;
	for (; level >= -1; level--) {
		m->facts.machine.paranoid = level;
		refuser = privilege_check(user);
		if (!refuser)
			break;
		*above = refuser;
	}
	return level;
}

static bool counts_nothing(const struct rule_ask *ask)
{
	const struct flaw_desc *d;
	size_t at = 0;

	while ((d = flaw_next(ask, &at)) && d->severity != FLAW_ERROR)
		;
	return d;
}

/* Write the change with which the call passes at level 2 and still counts, if there is a small one. */
static void rights_change(const struct judge_case *user, struct judge_machine *m, bool brief,
			  struct prose *p)
{
	uint8_t attr[EVENT_ATTR_MAX] = { 0 };
	const struct rule_desc *above = NULL;

	for (int i = 1; i < 4 && user->ask.len <= sizeof(attr); i++) {
		struct judge_case changed = *user;

		memcpy(attr, user->ask.attr, user->ask.len);
		changed.ask.attr = attr;
		if (i & 1)
			field_set(&layout_perf_event_attr.fields[ATTR_EXCLUDE_KERNEL], 1, attr);
		if (i & 2)
			changed.ask.pid = 0;
		if ((i & 2 && (user->ask.pid != -1 || user->ask.flags & PERF_FLAG_PID_CGROUP)) ||
		    highest_paranoid(&changed, m, &above) != 2 || counts_nothing(&changed.ask))
			continue;
		prose_addf(p, "%s2 with %s%s%s%s", brief ? " (" : "; at ", i & 1 ?
			   "exclude_kernel=1" : "", i == 3 ? " and " : "",
			   i & 2 ? "a task of its own" : "", brief ? ")" : "");
		return;
	}
}

void story_rights(const struct story *s, const struct story_open *o, bool brief, struct prose *p)
{
	struct judge_machine m;
	const struct judge_case user = needs_case(s, o, &m);
	const struct rule_desc *above = NULL;
	int level = highest_paranoid(&user, &m, &above);

	if (brief && level >= -1)
		prose_addf(p, "%d or below", level);
	else if (brief)
		prose_addf(p, "a capability (check %s)", above->name);
	else if (level == 2)
		prose_adds(p, "at perf_event_paranoid 2, too");
	else if (level >= -1)
		prose_addf(p, "at perf_event_paranoid %d or below (check %s)", level, above->name);
	else
		prose_addf(p, "at no perf_event_paranoid (check %s)", above->name);
	if (level < 2)
		rights_change(&user, &m, brief, p);
}

void story_needs(const struct story *s, const struct story_open *o, struct prose *p)
{
	struct as_refusal older;

	prose_adds(p, "Requires Linux ");
	release_text(release_mainline(story_oldest(s, o, &older)), &p->text);
	if (older.lacks)
		prose_addf(p, ", which brought %s (older kernels refuse it)", older.because);
	else if (older.error)
		prose_addf(p, " (older kernels refuse it: %s)", older.because);
	prose_adds(p, ", and ");
	prose_adds(p, story_hardware(o, p) ? "." : "no hardware.");
	prose_adds(p, " An ordinary user may open it ");
	story_rights(s, o, false, p);
	prose_adds(p, ".");
}

static void steps_list(struct prose *p, const char *intro, const char *const *steps, size_t n)
{
	prose_para(p);
	prose_addf(p, "In the kernel, %s:", intro);
	for (size_t i = 0; i < n; i++) {
		const struct step_desc *d = steps[i] ? step_by_name(steps[i]) : NULL;

		for (; d && d->step && !strcmp(d->step, steps[i]); d++) {
			prose_line(p, 4, 8);
			prose_addf(p, "%s: %s.", d->function, d->meaning);
		}
	}
	prose_end(p);
}

void story_steps(const struct story_text *t, const char *intro, const char *const *steps, size_t n)
{
	if (t->o->kernel)
		steps_list(t->p, intro, steps, n);
}

void story_open_steps(const struct open_attr *a, const char *out[STORY_OPEN_STEPS])
{
	const char *const steps[STORY_OPEN_STEPS] = {
		"copy", a->pid >= 0 ? "target" : NULL, "pmu", attr_trigger_init_step(a),
		a->pid >= 0 ? "rights" : NULL, "install", "schedule",
	};

	memcpy(out, steps, sizeof(steps));
}

static void call_measures(const struct call *c, struct prose *p)
{
	int32_t pid = call_target(c), cpu = call_int(c, 2), group = call_int(c, 3);

	prose_item(p);
	prose_addf(p, "pid=%d, cpu=%d, group_fd=%d: measures ", pid, cpu, group);
	if (c->args[4] & PERF_FLAG_PID_CGROUP)
		prose_addf(p, "the tasks of the cgroup of fd %d", pid);
	else if (pid < 0)
		prose_adds(p, "every task");
	else if (!pid)
		prose_adds(p, "the calling task");
	else
		prose_addf(p, "task %d", pid);
	if (cpu >= 0)
		prose_addf(p, " on CPU %d", cpu);
	else
		prose_adds(p, " on any CPU");
	if (group >= 0)
		prose_addf(p, ", in the group of fd %d", group);
	prose_adds(p, ".");
}

static void call_result(const struct call_prose *c, struct prose *p)
{
	const struct xlat_entry *e = xlat_find(&xlat_perf_open_errno, (uint64_t)c->error);

	if (!c->returned)
		return;
	prose_para(p);
	if (c->error)
		prose_addf(p, "The call failed: %s.", error_meaning(c->error));
	else
		prose_adds(p, "The call succeeded.");
	if (c->injected)
		prose_adds(p, " pevtrace injected this result: the kernel did not see the call.");
	if (c->injected || !c->error)
		return;
	if (e)
		prose_addf(p, " %s: %s.", e->name, e->meaning);
	if (c->refused_by)
		prose_addf(p, " The cause %s rule %s: %s. pevtrace why says what to do.",
			   c->assumed ? "may be" : "is", c->refused_by->name,
			   c->refused_by->meaning);
	else
		prose_adds(p, " pevtrace why finds the cause.");
}

static void call_refusal(const struct call_prose *c, struct prose *p)
{
	if (!c->refused_by)
		return;
	prose_para(p);
	prose_addf(p, "This kernel would refuse it with %s (%s)", error_name(c->error),
		   error_meaning(c->error));
	if (c->assumed)
		rules_assumption_text(&p->text);
	prose_addf(p, ", by rule %s: %s. pevtrace why", c->refused_by->name,
		   c->refused_by->meaning);
	if (c->events) {
		prose_adds(p, " -e '");
		prose_name(p, c->events);
		prose_adds(p, "'");
	} else {
		prose_adds(p, ", given this attr,");
	}
	prose_adds(p, " finds what would open.");
}

static void call_attr(const struct call_prose *c, const struct open_attr *a, bool deep,
		      struct prose *p)
{
	const struct story s = { .names = a->names, .arch = a->arch };
	const struct story_open open = {
		.attr = a->attr, .len = a->len, .pid = call_int(c->call, 1),
		.cpu = call_int(c->call, 2), .flags = c->call->args[4],
	};
	struct attr_trigger trigger = attr_trigger_of(a);

	if (*c->label) {
		prose_name(p, c->label);
		prose_adds(p, ": ");
	}
	prose_adds(p, "perf_event_open asks for an event that ");
	prose_adds(p, open_attr_samples(a) ? "samples: " : "counts: ");
	attr_prose_what(a, p);
	prose_adds(p, ".");
	if (c->made)
		call_measures(c->call, p);
	attr_prose_event(a, p);
	attr_items_write(a, deep, p);
	if (open_attr_samples(a)) {
		prose_para(p);
		prose_adds(p, "When samples are taken: ");
		attr_trigger_write(&trigger, p);
	}
	prose_para(p);
	if (c->elided)
		prose_adds(p, "The text leaves members or values out (\"...\"). They are unknown: what is said "
			      "above covers only the members in the text, and what the call requires "
			      "cannot be told. strace -v and pevtrace leave nothing out.");
	else
		story_needs(&s, &open, p);
}

void call_prose_write(const struct call_prose *c, const struct story_options *o, struct prose *p)
{
	struct open_attr a = {
		.names = c->names, .arch = c->call->arch, .call = c->call,
		.pid = call_int(c->call, 1), .flags = c->call->args[4],
	};
	const char *steps[STORY_OPEN_STEPS];

	a.attr = call_bytes(c->call, AT_SYSCALL_ENTER, c->call->args[0], ATTR_TEXT_MAX, &a.len);
	prose_para(p);
	if (!a.attr) {
		prose_adds(p, "The attr could not be read: EFAULT.");
		prose_end(p);
		return;
	}
	call_attr(c, &a, o->deep, p);
	if (c->made)
		call_result(c, p);
	else
		call_refusal(c, p);
	prose_end(p);
	if (!o->kernel)
		return;
	story_open_steps(&a, steps);
	steps_list(p, "the open calls these functions, the last of them when the task or CPU is "
		      "scheduled", steps, STORY_OPEN_STEPS);
	steps[0] = attr_trigger_sample_step(&a);
	steps[1] = open_attr_get(&a, ATTR_WRITE_BACKWARD) ? "record_backward" : "record";
	steps[2] = "wakeup";
	if (open_attr_samples(&a))
		steps_list(p, "a sample is taken by", steps, 3);
}
