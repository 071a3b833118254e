// SPDX-License-Identifier: LGPL-2.1-or-later
/* Failed calls: the kernel checks that may have caused them, consequences and remedies. */
#include <errno.h>

#include "core/abi/as_kernel.h"
#include "core/abi/siginfo.h"
#include "core/abi/strings.h"
#include "core/judge/remedy.h"
#include "core/model/model.h"
#include "explain/attr_prose.h"
#include "explain/story_internal.h"
#include "formats/text/text.h"

/* Kinds of failures that are told in brief. */
enum { FAILURES_BRIEF = 6, FAILURES_BYTES = 1300 };

/* Which check refused a call ------------------------------------------------------------ */

/* The checks that may have refused a call. */
struct suspects {
	struct judgement by;
	/* the later checks that would refuse, too, and those that passed before the first */
	const struct rule_desc *later[RULE_COUNT];
	size_t nlater, passed;
	const struct rule_desc *before[RULE_COUNT];
};

/* Find what refused an attempt, and the place of the first suspect among that kernel's checks. */
static void find_suspects(const struct story *s, const struct attempt *a, struct suspects *out)
{
	const struct judgement *j = &out->by;
	unsigned int first = RULE_COUNT, last = 0;

	*out = (struct suspects){ .nlater = 0 };
	if (!a->injected)
		judge_attempt(a, s->release, s->arch, s->names, &out->by);
	for (size_t i = 0; i < j->nsuspects; i++) {
		first = j->suspects[i]->id < first ? j->suspects[i]->id : first;
		last = j->suspects[i]->id > last ? j->suspects[i]->id : last;
	}
	for (size_t i = 0; i < RULE_COUNT && j->nsuspects; i++) {
		const struct rule_desc *d = &rule_descs[i];

		if (s->release && (d->since > s->release || (d->until && d->until <= s->release)))
			continue;
		if (d->id < first)
			out->before[out->passed++] = d;
		else if (d->id > last && judge_refuses(&j->rules, i))
			out->later[out->nlater++] = d;
	}
}

/* Sentences -------------------------------------------------------------------------------- */

static void add_injected(const char *because, struct prose *p)
{
	prose_adds(p, " pevtrace injected this error");
	if (because && *because)
		prose_addf(p, " (%s)", because);
	prose_adds(p, ": the kernel did not see the call.");
}

/* Write what the check of a rule is about: " {sample_freq=5000000}". */
static void add_values(const struct story *s, const struct attempt *a, const struct rule_desc *rule,
		       struct prose *p)
{
	const struct open_attr attr = {
		.attr = a->attr, .len = a->attr_len, .names = s->names, .arch = s->arch,
		.probed = a->probed,
	};
	const struct walk w = attr_prose_walk(&attr);
	struct call *c = xcalloc(1, sizeof(*c));
	struct text_sink sink;
	struct buf out = { 0 };

	*c = (struct call){
		.desc = call_by_name("perf_event_open"), .arch = s->arch,
		.args = { a->attr_at, (uint64_t)(int64_t)a->pid, (uint64_t)(int64_t)a->cpu,
			  (uint64_t)(int64_t)a->group_fd, a->flags },
	};
	text_sink_init(&sink, &out);
	sink_begin(&sink.sink, NULL, SINK_OBJECT);
	judge_emit_fields(&w, c, rule, s->release, &sink.sink);
	sink_end(&sink.sink);
	if (out.len > 2)
		prose_addf(p, " %s", buf_str(&out));
	buf_free(&out);
	free(c);
}

/* Write which checks come before and behind. */
static void add_order(const struct suspects *s, struct prose *p)
{
	prose_addf(p, " %zu checks come before %s and passed", s->passed,
		   s->by.nsuspects == 1 ? "it" : "these");
	for (size_t i = 0; i < s->passed; i++)
		prose_addf(p, "%s%s", i ? ", " : " (", s->before[i]->name);
	prose_addf(p, "%s; after %s", s->passed ? ")" : "", s->by.nsuspects == 1 ? "it" : "them");
	for (size_t i = 0; i < s->nlater; i++)
		prose_addf(p, "%s%s", i ? prose_sep(i, s->nlater) : ", ", s->later[i]->name);
	prose_adds(p, s->nlater ? " would refuse, too." : " none is known to refuse.");
}

/* Say which breakpoints a task held when one more was refused. */
static void write_slots(const struct story_text *t, const struct attempt *a)
{
	const struct event **list = xcalloc(t->nevents, sizeof(*list));
	pid_t target = a->pid ? a->pid : a->tid;
	size_t n = 0;

	for (size_t i = 0; i < t->nevents; i++) {
		const struct event *e = t->events[i];

		if (event_attr(e, ATTR_TYPE) == PERF_TYPE_BREAKPOINT && e->opened_ns <= a->ns &&
		    (!e->closed || e->closed_ns > a->ns) && (e->pid ? e->pid : e->opener) == target)
			list[n++] = e;
	}
	if (n)
		prose_addf(t->p, " This task held %zu: ", n);
	if (n)
		story_fds(list, n, t->p);
	prose_adds(t->p, n ? "." : "");
	free(list);
}

/* Write which checks refused a call, or may have. */
static void write_checks(const struct story_text *t, const struct judgement *j,
			 const struct attempt *a)
{
	const struct seen_task *task = story_task(t->s, a->pid);
	bool exited = a->error == ESRCH && j->nsuspects == 2 && task && task->gone &&
		      task->gone_ns < a->ns;
	struct prose *p = t->p;

	if (exited) {
		prose_adds(p, " Refused because ");
		story_who(t->s, a->pid, p);
		prose_addf(p, " had exited: by the kernel check %s until it is reaped, then by ",
			   j->suspects[1]->name);
	} else {
		prose_adds(p, j->sure ? " Refused by the kernel check " : j->nsuspects == 1 ?
			   " Perhaps refused by the kernel check " : " Perhaps refused by ");
	}
	for (size_t i = 0; i < (exited ? 1 : j->nsuspects); i++) {
		prose_addf(p, "%s%s", i ? "; or " : "", j->suspects[i]->name);
		if (!exited && (t->full || !i || (i == 1 && j->suspects[i]->id != RULE_PMU_OWN)))
			prose_addf(p, ": %s", j->suspects[i]->meaning);
		/* the name of the event tells type and config */
		if (i < 2 && !(j->suspects[i]->by & (RULE_BY_PMU | RULE_BY_SLOTS)))
			add_values(t->s, a, j->suspects[i], p);
	}
	prose_adds(p, ".");
	if (j->rule->by & RULE_BY_SLOTS)
		write_slots(t, a);
	else if (j->rule->id == RULE_FREQ_LIMIT)
		prose_addf(p, a->opened && a->opened->sample_freq ?
			   " The trace does not have the limit; %llu opened." :
			   " The trace does not have the limit.",
			   (unsigned long long)(a->opened ? a->opened->sample_freq : 0));
}

static void add_suspects(const struct story_text *t, const struct suspects *s,
			 const struct attempt *a)
{
	struct prose *p = t->p;
	const struct xlat_entry *e = xlat_find(&xlat_perf_open_errno, (uint64_t)a->error);
	const struct judgement *j = &s->by;
	const struct xlat *x = &xlat_rule_by;
	uint64_t by = t->full ? UINT64_MAX : ~(uint64_t)(RULE_BY_ATTR | RULE_BY_CALL);
	struct text_sink sink;
	struct buf change = { 0 };
	bool any;

	if (!j->nsuspects) {
		if (e)
			prose_addf(p, " %s generally means: %s.", e->name, e->meaning);
		return;
	}
	write_checks(t, j, a);
	if (t->full)
		add_order(s, p);
	/* what to change, as why says it; else by what decides the check */
	text_sink_init(&sink, &change);
	any = remedy_of_attempt(a, t->s->release, t->s->arch, t->s->names, j, &sink.sink, &change);
	if (any) {
		prose_addf(p, " Remedy: %s", buf_str(&change));
		by = RULE_BY_PARANOID | RULE_BY_CAPS | RULE_BY_LIMITS;
	}
	buf_free(&change);
	for (size_t i = 0; i < x->n; i++) {
		const struct term_desc *d = j->rule->by & by & x->entries[i].value ?
			term_by_name(x->entries[i].name) : NULL;

		if (!d)
			continue;
		prose_adds(p, any ? ", or " : " Remedy: ");
		prose_meaning(p, d->text);
		if (x->entries[i].value == RULE_BY_ATTR && *j->rule->fields)
			prose_addf(p, " (%s)", j->rule->fields);
		any = true;
	}
	prose_adds(p, any ? "." : "");
}

/* Whether a failure matters. */
enum fate {
	FATE_REAL,	/* no similar event opened later */
	FATE_REPLACED,	/* one did */
	FATE_TEST,	/* the program only tested the kernel, as perf does before its own events */
};

/* Failures with one error, the same suspects and one fate. */
struct failures {
	const struct attempt **list;
	size_t n, times;
	bool more;	/* than the list has */
	struct suspects why;
	enum fate fate;
	struct buf names;	/* of those in the list, each between line feeds */
	struct buf label;	/* "cycles and cs (ENOENT", without the end */
};

/* Return the event that opened in place of what failed: with another program than perf no probe. */
static const struct event *event_instead(const struct story_text *t, const struct attempt *a)
{
	struct attempt later = *a;
	const struct event *e;

	do {
		e = attempt_instead(t->s->m, &later);
		later.events = e ? e->number : 0;
	} while (e && story_probe(t->s, e) && !story_is_perf(t->s, a->tid));
	/* perf falls back to a clock if it samples; else the other event was wanted, too */
	if (e && story_is_perf(t->s, a->tid) && !attempt_same_event(a, e) &&
	    !story_probe(t->s, e) && !event_attr(e, ATTR_SAMPLE_PERIOD))
		return NULL;
	/* an event of another task does not measure this one */
	return e && a->pid > 0 && e->pid > 0 && e->pid != a->pid ? NULL : e;
}

static enum fate fate_of(const struct story_text *t, const struct attempt *a)
{
	const struct event *e = event_instead(t, a);
	const struct story_open o = story_open_failed(a);
	unsigned int own = 0;

	while (own < t->nevents && (story_probe(t->s, t->events[own]) ||
				    !event_known(t->events[own])))
		own++;
	if (!story_is_perf(t->s, a->tid))
		return e ? FATE_REPLACED : FATE_REAL;
	if ((e && story_probe(t->s, e)) ||
	    (a->events <= own && own < t->nevents && story_purpose(&o)))
		return FATE_TEST;
	return e ? FATE_REPLACED : FATE_REAL;
}

static bool failures_match(const struct failures *f, const struct attempt *a,
			   const struct judgement *by, enum fate fate)
{
	const struct attempt *first = f->list[0];

	if (by->nsuspects && by->rule->by & RULE_BY_TASK && first->pid != a->pid)
		return false;
	/* what other arguments than the attr decide has a cause of its own in each call */
	if (by->nsuspects && by->suspects[by->nsuspects - 1]->by & RULE_BY_CALL &&
	    (first->pid != a->pid || first->cpu != a->cpu || first->group_fd != a->group_fd ||
	     first->flags != a->flags))
		return false;
	return f->fate == fate && first->error == a->error && first->injected == a->injected &&
	       !strcmp(first->because, a->because) &&
	       f->why.by.nsuspects == by->nsuspects &&
	       !memcmp(f->why.by.suspects, by->suspects, by->nsuspects * sizeof(*by->suspects));
}

/* Add an attempt: the list has the first of each name. */
static void failures_add(const struct story *s, struct failures *f, const struct attempt *a)
{
	const struct story_open o = story_open_failed(a);
	struct prose name = { .out = NULL };

	f->times++;
	prose_adds(&name, "\n");
	story_open_name(s, &o, &name);
	prose_adds(&name, "\n");
	if (!strstr(buf_str(&f->names), buf_str(&name.text))) {
		buf_adds(&f->names, buf_str(&name.text));
		f->more |= f->n == STORY_ITEMS;
		if (f->n < STORY_ITEMS)
			APPEND(f->list, f->n) = a;
	}
	buf_free(&name.text);
}

/* Write the names of what failed. */
static void failures_names(const struct story_text *t, const struct failures *f, size_t most)
{
	size_t n = f->n > most ? most : f->n;

	for (size_t i = 0; i < n; i++) {
		const struct story_open o = story_open_failed(f->list[i]);

		prose_adds(t->p, n < f->n && i ? ", " : prose_sep(i, n));
		story_open_name(t->s, &o, t->p);
	}
	if (n < f->n)
		prose_addf(t->p, " and %zu more", f->n - n);
	prose_adds(t->p, f->more ? " and others" : "");
}

static size_t failures_open(const struct story_text *t, const struct failures *f)
{
	return f->list[0]->events - story_found(t->s, NULL) +
	       (size_t)(f->list[0] - t->attempts) + 1;
}

/* Write which members and arguments differ. */
static void write_differences(const struct attempt *a, const struct event *e, struct prose *p)
{
	struct buf different = { 0 };

	attempt_compare(a, e, &different);
	if (different.len)
		prose_addf(p, ", which differs in %s", buf_str(&different));
	buf_free(&different);
}

/* Write those of one fate, up to most; return how many there are.  Equal labels get numbers. */
static size_t failures_of_fate(const struct story_text *t, const struct failures *list, size_t n,
			       enum fate fate, const char *sep)
{
	struct prose *p = t->p;
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		const char *label = buf_str(&list[i].label);
		bool twins = false, said = false;

		for (size_t k = 0; k < n && list[i].fate == fate; k++) {
			if (k == i || strcmp(buf_str(&list[k].label), label))
				continue;
			twins = true;
			said |= k < i && list[k].fate == fate;
		}
		if (list[i].fate != fate || said)
			continue;
		if (count++ == FAILURES_BRIEF)
			prose_adds(p, " and others");
		if (count > FAILURES_BRIEF)
			continue;
		prose_addf(p, "%s%s", sep, label);
		for (size_t k = i; twins && k < n; k++)
			if (list[k].fate == fate && !strcmp(buf_str(&list[k].label), label))
				prose_addf(p, "%s%zu%s", k == i ? ", open " : ", ",
					   failures_open(t, &list[k]), list[k].times > 1 ? "..." : "");
		prose_adds(p, ")");
		sep = ", ";
	}
	return count;
}

void failures_fates(const struct story_text *t, const struct failures *list, size_t n)
{
	struct prose *p = t->p;
	const char *sep = ": ";
	size_t kinds = 0;
	bool others = false;

	if (failures_of_fate(t, list, n, FATE_REAL, sep)) {
		prose_adds(p, ", which nothing replaced");
		sep = "; ";
	}
	if (failures_of_fate(t, list, n, FATE_REPLACED, sep)) {
		for (size_t i = 0; i < n; i++)
			kinds += list[i].fate == FATE_REPLACED;
		for (size_t i = 0; i < n; i++) {
			const struct attempt *first = list[i].list[0];
			const struct event *e = event_instead(t, first);
			struct open_attr a;

			if (list[i].fate != FATE_REPLACED)
				continue;
			a = story_attr(t->s, e);
			if (story_is_perf(t->s, e->opener)) {
				prose_adds(p, ", in place of which perf opened ");
				story_event_fds(t->s, e, &e, 1, p);
			} else {
				prose_adds(p, ". Later, ");
				story_event_name(t->s, e, p);
				prose_addf(p, " opened as fd %d", e->fd);
			}
			for (size_t k = 1; k < list[i].n && !others; k++)
				others = event_instead(t, list[i].list[k]) != e;
			prose_adds(p, others ? " and others" : "");
			if (!attempt_same_event(first, e) && open_attr_source(&a) == SOURCE_CLOCK)
				prose_adds(p, ", which counts time");
			else if (kinds == 1)
				write_differences(first, e, p);
			else
				prose_adds(p, " with other arguments");
			if (e->pid != first->pid && kinds > 1) {
				prose_adds(p, " for ");
				story_target(t->s, e, p);
			}
			break;
		}
		sep = "; ";
	}
	if (failures_of_fate(t, list, n, FATE_TEST, sep))
		prose_adds(p, ", a test of what opens here");
}

static void failures_write(const struct story_text *t, const struct failures *f)
{
	const struct story_open first = story_open_failed(f->list[0]);
	const struct event *later = attempt_instead(t->s->m, f->list[0]);
	struct prose *p = t->p;

	prose_line(p, 0, 2);
	prose_adds(p, "Failed: ");
	failures_names(t, f, t->full ? STORY_ITEMS : 2);
	prose_adds(p, ": ");
	if (t->full)
		error_name_text(f->list[0]->error, &p->text);
	else
		prose_adds(p, error_name(f->list[0]->error));
	prose_addf(p, ", open %zu", failures_open(t, f));
	if (f->times > 1)
		prose_addf(p, " and %zu more", f->times - 1);
	prose_adds(p, ".");
	if (f->list[0]->injected)
		add_injected(f->list[0]->because, p);
	else
		add_suspects(t, &f->why, f->list[0]);
	if (t->full && f->why.by.rule && f->why.by.rule->by & RULE_BY_PMU &&
	    story_hardware(&first, NULL)) {
		prose_adds(p, " Such an event requires ");
		story_hardware(&first, p);
		prose_adds(p, ".");
	}
	if (t->full && later) {
		prose_addf(p, " %s event opened later (fd %d)",
			   attempt_same_event(f->list[0], later) ? "The same" : "A similar",
			   later->fd);
		write_differences(f->list[0], later, p);
		prose_adds(p, ".");
	}
	if (t->o->held && f->list[0]->error == t->o->held_errno && !f->list[0]->injected)
		prose_addf(p, " When the first failed, such events were held by %s.", t->o->held);
}

static void other_failure(const struct story_text *t, const struct seen_failure *f)
{
	struct prose *p = t->p;

	prose_line(p, 0, 2);
	prose_adds(p, "Failed: ");
	prose_adds(p, f->request ? f->request : f->call->name);
	if (f->event) {
		prose_adds(p, " on ");
		story_event_fds(t->s, f->event, &f->event, 1, p);
	}
	prose_adds(p, ": ");
	error_name_text(f->error, &p->text);
	if (f->times > 1) {
		prose_adds(p, ", ");
		prose_times(p, f->times);
	}
	prose_adds(p, ".");
	if (f->injected)
		add_injected(NULL, p);
	else if (f->cause)
		prose_addf(p, "%s %s%s%s.", f->sure ? "" : " Perhaps:", f->cause->meaning,
			   *f->numbers ? ": " : "", f->numbers);
}

size_t failures_find(const struct story_text *t, struct failures **list)
{
	struct story_text copy = *t;
	struct suspects why;
	size_t n = 0, k;

	*list = NULL;
	for_each(a, t->attempts, t->nattempts) {
		enum fate fate = fate_of(t, a);

		find_suspects(t->s, a, &why);
		for (k = 0; k < n && !failures_match(&(*list)[k], a, &why.by, fate); k++)
			;
		if (k == n) {
			*list = xrealloc(*list, ++n * sizeof(**list));
			(*list)[k] = (struct failures){ .why = why, .fate = fate };
		}
		failures_add(t->s, &(*list)[k], a);
	}
	for (k = 0; k < n; k++) {
		struct prose label = { .out = NULL };

		copy.p = &label;
		failures_names(&copy, &(*list)[k], 2);
		prose_addf(&label, " (%s", error_name((*list)[k].list[0]->error));
		(*list)[k].label = label.text;
	}
	return n;
}

void failures_free(struct failures *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].list);
		buf_free(&list[i].label);
		buf_free(&list[i].names);
	}
	free(list);
}

void failures_tell(const struct story_text *t, const struct failures *list, size_t n)
{
	size_t said = 0, left = 0, most = t->full ? SIZE_MAX : t->p->out->len + FAILURES_BYTES;

	for (int fate = FATE_REAL; fate <= FATE_TEST; fate++)
		for (size_t i = 0; i < n; i++) {
			if ((int)list[i].fate != fate || (fate == FATE_TEST && !t->full))
				continue;
			if (t->full || (said++ < FAILURES_BRIEF && t->p->out->len < most))
				failures_write(t, &list[i]);
			else
				left++;
		}
	for (size_t i = 0; i < t->s->nfailures; i++) {
		if (t->full || (said++ < FAILURES_BRIEF && t->p->out->len < most))
			other_failure(t, &t->s->failures[i]);
		else
			left++;
	}
	if (left) {
		prose_line(t->p, 0, 2);
		prose_addf(t->p, "Failed: %zu more kind%s of calls, see --deep.", left,
			   left == 1 ? "" : "s");
	}
	prose_end(t->p);
}
