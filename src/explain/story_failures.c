// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What was tried: probes, failed opens, and the similar event that opened after them; what
 * failed, the kernel checks that may have caused it, and remedies.
 */
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

/* A probe (event) or a failed open (attempt). */
struct try {
	struct story_open open;
	pid_t tid;
	const struct event *event;
	const struct attempt *attempt;
	bool early;		/* no event that is no probe had been opened before */
};

/* Count the members that differ from another open, and write their new values to p. */
static size_t open_differences(const struct story_text *t, const struct story_open *o,
			       const struct story_open *before, struct prose *p)
{
	struct open_attr a = {
		.attr = o->attr, .len = o->len, .names = t->s->names, .arch = t->s->arch,
	};
	struct walk w = attr_prose_walk(&a);
	const struct field *f;
	size_t at = 0, n = 0;

	while ((f = layout_next_change(&w, before->attr, before->len, &at))) {
		if (p) {
			prose_adds(p, n ? ", " : "");
			attr_prose_member(&a, (unsigned int)(f - w.layout->fields), p);
		}
		n++;
	}
	return n;
}

static bool same_attr(const struct story_open *a, const struct story_open *b)
{
	return a->len == b->len && !memcmp(a->attr, b->attr, a->len);
}

/* Return whether one item covers both: the same probe again, or equal failures. */
static bool try_same(const struct story_text *t, const struct try *a, const struct try *b)
{
	if (!a->event != !b->event || a->tid != b->tid)
		return false;
	if (a->event)
		return same_attr(&a->open, &b->open);
	return a->attempt->error == b->attempt->error &&
	       a->attempt->injected == b->attempt->injected &&
	       attempt_instead(t->s->m, a->attempt) == attempt_instead(t->s->m, b->attempt);
}

static void try_instead(const struct story_text *t, const struct attempt *a)
{
	const struct event *e = attempt_instead(t->s->m, a);
	struct story_open was = story_open_failed(a), is;
	struct prose *p = t->p;
	size_t changed;

	if (!e)
		return;
	is = story_open_of(e);
	if (attempt_same_event(a, e)) {
		prose_addf(p, " The same event opened later (fd %d)", e->fd);
	} else {
		prose_adds(p, " A similar event opened later: ");
		story_event_fds(t->s, e, &e, 1, p);
	}
	changed = open_differences(t, &is, &was, NULL);
	if (changed) {
		prose_adds(p, ", with ");
		open_differences(t, &is, &was, p);
	}
	if (e->pid != a->pid)
		prose_addf(p, "%s pid %d", changed ? " and" : ", with", (int)e->pid);
	if (e->cpu != a->cpu)
		prose_addf(p, "%s cpu %d", changed || e->pid != a->pid ? " and" : ", with", e->cpu);
	prose_adds(p, ".");
}

/* Count the different events of a run, and write their names. */
static size_t try_names(const struct story_text *t, const struct try *run, size_t n, bool say)
{
	size_t names = 0, all = say ? try_names(t, run, n, false) : 0;

	for (size_t i = 0; i < n && i < STORY_ITEMS; i++) {
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = same_attr(&run[k].open, &run[i].open);
		if (seen)
			continue;
		if (say) {
			prose_adds(t->p, prose_sep(names, all));
			story_open_name(t->s, &run[i].open, t->p);
		}
		names++;
	}
	return names;
}

/* Write what the kernel's answer tells the program, such as whether it has a feature, to p. */
static void try_purpose(const struct try *run, const struct try *before, const char *intro,
			struct prose *p, const struct story_text *t)
{
	const struct story_open *o = &run->open;
	struct open_need mine = open_need(o->attr, o->len, o->flags), had = { 0 };
	const char *purpose = run->early ? story_purpose(o) : NULL;
	const struct event *e = run->attempt ? attempt_instead(t->s->m, run->attempt) : NULL;
	bool tested;

	/* what an event is used for is a sentence about perf */
	if (purpose && !strncmp(purpose, "perf ", 5))
		purpose = NULL;
	if (before)
		had = open_need(before->open.attr, before->open.len, before->open.flags);
	/*
	 * what it asked for was not wanted for its own sake: an event that was closed before the
	 * first real one, or one that opened later without what was refused
	 */
	tested = run->event ? run->early : e && attempt_same_event(run->attempt, e) &&
		 open_need(e->attr, e->attr_len, e->flags).since < mine.since;
	tested &= story_is_perf(t->s, run->tid);
	if (purpose) {
		prose_addf(p, "%s%s", intro, purpose);
	} else if (before && mine.since > had.since && tested) {
		prose_addf(p, "%s%s (Linux ", intro, mine.name);
		release_text(release_mainline(mine.since), &p->text);
		prose_adds(p, ")");
	} else {
		return;
	}
	prose_adds(p, *intro ? "." : "");
}

static void try_write_run(const struct story_text *t, const struct try *run, size_t n,
			  const struct try *before)
{
	const struct xlat_entry *e;
	struct prose *p = t->p;
	size_t names;

	prose_item(p);
	names = try_names(t, run, n, true);
	if (n > names)
		prose_addf(p, ", %zu times", n);
	else if (n == 1 && run->open.cpu >= 0)
		prose_addf(p, " on CPU %d", run->open.cpu);
	if (names == 1 && before && before->tid == run->tid) {
		prose_adds(p, ", now with ");
		if (!open_differences(t, &run->open, &before->open, p))
			prose_adds(p, "the same attr");
	}
	if (run->event) {
		prose_addf(p, " (fd %d): opened and closed.", run->event->fd);
		try_purpose(run, before, " Purpose: a test for ", p, t);
		return;
	}
	prose_adds(p, ": failed with ");
	e = xlat_find(&xlat_perf_open_errno, (uint64_t)run->attempt->error);
	if (e)
		prose_addf(p, "%s (%s)", e->name, error_meaning(run->attempt->error));
	else
		prose_addf(p, "error %d", run->attempt->error);
	prose_adds(p, run->attempt->injected ? ", injected." : ".");
	try_purpose(run, before, " Purpose: a test for ", p, t);
	try_instead(t, run[n - 1].attempt);
}

void story_tries(const struct story_text *t, bool brief)
{
	struct buf tested = { 0 };
	struct try *list = xcalloc(t->nevents + t->nattempts, sizeof(*list));
	size_t n = 0, next = 0, run, runs = 0;
	struct prose *p = t->p;
	bool early = true;

	for (size_t i = 0; i <= t->nevents; i++) {
		const struct event *e = i < t->nevents ? t->events[i] : NULL;

		/* an attempt knows how many events preceded it */
		for (; next < t->nattempts && t->attempts[next].events <= i; next++)
			list[n++] = (struct try){
				.open = story_open_failed(&t->attempts[next]),
				.tid = t->attempts[next].tid, .attempt = &t->attempts[next],
				.early = early,
			};
		if (e && story_probe(t->s, e))
			list[n++] = (struct try){
				.open = story_open_of(e), .tid = e->opener, .event = e,
				.early = early,
			};
		else if (e && event_known(e))
			early = false;
	}
	if (n && !brief) {
		prose_head(p, "What was tried");
		prose_adds(p, "Failed opens and probes, in order:");
	}
	for (size_t i = 0; i < n; i += run, runs++) {
		struct prose purpose = { .out = NULL };

		for (run = 1; i + run < n && try_same(t, &list[i], &list[i + run]); run++)
			;
		if (!brief && runs < STORY_ITEMS)
			try_write_run(t, &list[i], run, i ? &list[i - 1] : NULL);
		else if (brief)
			try_purpose(&list[i], i ? &list[i - 1] : NULL, "", &purpose, t);
		if (purpose.text.len && !strstr(buf_str(&tested), buf_str(&purpose.text)))
			buf_addf(&tested, "%s%s", tested.len ? "; " : "", buf_str(&purpose.text));
		buf_free(&purpose.text);
	}
	if (tested.len) {
		prose_line(p, 0, 2);
		prose_addf(p, "Probes test %s.", buf_str(&tested));
	}
	if (!brief)
		story_rest(t, runs, "more attempt.", "more attempts.");
	prose_end(p);
	buf_free(&tested);
	free(list);
}

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

static const char INJECTED[] = " pevtrace injected this error: the kernel did not see the call.";

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

static void add_suspects(const struct story_text *t, const struct suspects *s,
			 const struct attempt *a)
{
	struct prose *p = t->p;
	const struct xlat_entry *e = xlat_find(&xlat_perf_open_errno, (uint64_t)a->error);
	const struct judgement *j = &s->by;
	const struct seen_task *task = story_task(t->s, a->pid);
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
	prose_adds(p, j->sure ? " Refused by the kernel check " : j->nsuspects == 1 ?
		   " Perhaps refused by the kernel check " : " Perhaps refused by ");
	for (size_t i = 0; i < j->nsuspects; i++) {
		prose_addf(p, "%s%s", i ? "; or " : "", j->suspects[i]->name);
		if (t->full || !i || (i == 1 && j->suspects[i]->id != RULE_PMU_OWN))
			prose_addf(p, ": %s", j->suspects[i]->meaning);
		/* the name of the event tells type and config */
		if (i < 2 && !(j->suspects[i]->by & RULE_BY_PMU))
			add_values(t->s, a, j->suspects[i], p);
	}
	prose_adds(p, ".");
	if (a->error == ESRCH && j->nsuspects == 2 && task && task->gone && task->gone_ns < a->ns) {
		prose_adds(p, " ");
		story_who(t->s, a->pid, p);
		prose_adds(p, " had exited: the latter until it is reaped, then the former.");
	}
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
	       f->why.by.nsuspects == by->nsuspects &&
	       !memcmp(f->why.by.suspects, by->suspects, by->nsuspects * sizeof(*by->suspects));
}

static void failures_add(struct failures *f, const struct attempt *a)
{
	f->times++;
	for (size_t i = 0; i < f->n; i++)
		if (f->list[i]->attr_len == a->attr_len &&
		    !memcmp(f->list[i]->attr, a->attr, a->attr_len))
			return;
	if (f->n == STORY_ITEMS) {
		f->more = true;
		return;
	}
	APPEND(f->list, f->n) = a;
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

	if (failures_of_fate(t, list, n, FATE_REAL, sep)) {
		prose_adds(p, ", which nothing replaced");
		sep = "; ";
	}
	if (failures_of_fate(t, list, n, FATE_REPLACED, sep)) {
		for (size_t i = 0; i < n; i++) {
			const struct event *e = event_instead(t, list[i].list[0]);
			struct open_attr a;

			if (list[i].fate != FATE_REPLACED)
				continue;
			a = story_attr(t->s, e);
			prose_adds(p, story_is_perf(t->s, e->opener) ? ", in place of which perf opened " :
				   ", but later opened ");
			story_event_fds(t->s, e, &e, 1, p);
			if (!attempt_same_event(list[i].list[0], e) &&
			    open_attr_source(&a) == SOURCE_CLOCK)
				prose_adds(p, ", which counts time");
			if (e->pid != list[i].list[0]->pid) {
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
	if (f->times > f->n)
		prose_addf(p, " and %zu more", f->times - 1);
	prose_adds(p, ".");
	if (f->list[0]->injected)
		prose_adds(p, INJECTED);
	else
		add_suspects(t, &f->why, f->list[0]);
	if (t->full && f->why.by.rule && f->why.by.rule->by & RULE_BY_PMU &&
	    story_hardware(&first, NULL)) {
		prose_adds(p, " Such an event requires ");
		story_hardware(&first, p);
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
		prose_adds(p, INJECTED);
	else if (f->cause)
		prose_addf(p, "%s %s%s%s.", f->sure ? "" : " Perhaps:", f->cause->meaning,
			   *f->numbers ? ": " : "", f->numbers);
	if (f->event && f->event->output && !strcmp(f->call->name, "mmap") &&
	    f->cause != &refusal_descs[REFUSAL_MMAP_OUTPUT])
		prose_addf(p, " It is redirected to the ring of fd %d and needs none of its own.",
			   f->event->output->fd);
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
		failures_add(&(*list)[k], a);
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
