// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The page of a story, which is all of it but for --deep: the result in two sentences, failures,
 * the table, the timeline, how samples and counts come, what it requires, probes.
 */
#include "core/judge/flaws_seen.h"
#include "explain/story_internal.h"
#include "formats/text/flaw_text.h"
#include "xlat/rows.h"

enum {
	PAGE_LINES = 40,	/* of 80 columns, which the timeline fills */
	PAGE_EVENTS = 8,	/* above which the table folds those that are alike */
	PAGE_LEAST = 11,		/* lines of the timeline, for which other lines are left out */
	PAGE_NEEDED = 3,	/* where the rest leaves no more */
	PAGE_NAMES = 4,		/* events in a sentence */
	PAGE_CLAUSES = 3,
	PAGE_CPUS = 6,		/* with their rates */
};

/* The result ---------------------------------------------------------------------------- */

static void page_rate(const struct open_attr *a, struct prose *p)
{
	uint64_t period = open_attr_get(a, ATTR_SAMPLE_PERIOD);

	prose_adds(p, ", ");
	if (open_attr_get(a, ATTR_FREQ)) {
		prose_addf(p, "at %llu Hz", (unsigned long long)period);
	} else if (period == 1) {
		prose_adds(p, open_attr_every_hit(a) ? "at every hit" : "at every count");
	} else {
		prose_addf(p, "every %llu %s", (unsigned long long)period,
			   open_attr_source(a) == SOURCE_CLOCK ? "ns" : "counts");
	}
}

/* Events that one sentence is about: of one opener and target, counted or sampled alike. */
struct clause {
	const struct event *first;
	const struct event *kinds[PAGE_NAMES];
	size_t n, all;			/* of different names: listed, and in all */
};

static bool never_on(const struct event *e)
{
	return e->start == START_NEVER && event_attr_known(e);
}

static bool clause_fits(const struct story_text *t, const struct event *a, const struct event *b)
{
	return a->opener == b->opener && (a->pid < 0 ? b->pid < 0 : a->pid == b->pid) &&
	       a->unread == b->unread && never_on(a) == never_on(b) &&
	       event_attr(a, ATTR_INHERIT) == event_attr(b, ATTR_INHERIT) &&
	       event_attr(a, ATTR_SAMPLE_PERIOD) == event_attr(b, ATTR_SAMPLE_PERIOD) &&
	       event_attr(a, ATTR_FREQ) == event_attr(b, ATTR_FREQ) &&
	       event_attr(a, ATTR_PINNED) == event_attr(b, ATTR_PINNED) &&
	       event_attr(a, ATTR_EXCLUSIVE) == event_attr(b, ATTR_EXCLUSIVE) &&
	       !story_program_runs(t, a) == !story_program_runs(t, b);
}

static void clause_add(struct clause *c, const struct event *e)
{
	for (size_t i = 0; i < c->n; i++)
		if (e->attr_len == c->kinds[i]->attr_len &&
		    !memcmp(e->attr, c->kinds[i]->attr, e->attr_len))
			return;
	if (c->n < PAGE_NAMES)
		c->kinds[c->n++] = e;
	c->all++;
}

static void clause_names(const struct story_text *t, const struct clause *c)
{
	/* what was never enabled is in the table */
	size_t n = never_on(c->first) && c->all > 2 ? 1 : c->n;

	for (size_t i = 0; i < n; i++) {
		prose_adds(t->p, n == c->all ? prose_sep(i, c->n) : i ? ", " : "");
		story_event_name(t->s, c->kinds[i], t->p);
	}
	if (n < c->all)
		prose_addf(t->p, " and %zu more", c->all - n);
	prose_adds(t->p, event_attr(c->first, ATTR_PINNED) ? " (pinned=1)" : "");
	prose_adds(t->p, event_attr(c->first, ATTR_EXCLUSIVE) ? " (exclusive=1)" : "");
}

/* Write "sampled sh[2] and its children with cpu-clock, at 99 Hz"; before: the clause before. */
static void clause_write(const struct story_text *t, const struct clause *c,
			 const struct clause *before)
{
	const struct event *e = c->first;
	struct open_attr a = story_attr(t->s, e), b = story_attr(t->s, before ? before->first : e);
	struct prose *p = t->p;

	if (e->unread) {
		prose_adds(p, "opened events whose attr could not be read");
		return;
	}
	if (open_attr_samples(&a) && !never_on(e) && !e->found) {
		if (!before || !open_attr_samples(&b) || before->first->pid != e->pid ||
		    event_attr(before->first, ATTR_INHERIT) != event_attr(e, ATTR_INHERIT)) {
			prose_adds(p, "sampled ");
			story_target(t->s, e, p);
			prose_adds(p, " ");
		}
		prose_adds(p, "with ");
		clause_names(t, c);
		page_rate(&a, p);
		return;
	}
	prose_adds(p, e->found ? "held " : never_on(e) ? "opened, but never enabled, " :
		      story_program_runs(t, e) ? "ran BPF programs at the hits of " :
		      open_attr_source(&a) == SOURCE_DUMMY ? "asked for side-band records by " :
		      "counted ");
	clause_names(t, c);
	prose_adds(p, " for ");
	if ((e->pid == 0 || e->pid == e->opener) && event_attr(e, ATTR_INHERIT))
		prose_addf(p, "itself and its %s", story_heirs(t->s));
	else if (e->pid == 0 || e->pid == e->opener)
		prose_adds(p, t->s->threads ? "itself alone" : "itself");
	else
		story_target(t->s, e, p);
}

/* Say what was measured, for whom and how: dummies only if there is nothing else. */
static void page_measured(const struct story_text *t)
{
	struct clause list[PAGE_CLAUSES];
	size_t n = 0, k, left = 0, other = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < t->nfamilies; i++)
		other += !story_is_dummy(t, &t->families[i]);
	for (size_t i = 0; i < t->nfamilies; i++)
		for (size_t j = 0; j < t->families[i].n; j++) {
			const struct event *e = t->families[i].events[j];

			if ((other && story_is_dummy(t, &t->families[i])) || !event_known(e))
				break;
			for (k = 0; k < n && !clause_fits(t, list[k].first, e); k++)
				;
			if (k == PAGE_CLAUSES) {
				left++;
				continue;
			}
			if (k == n)
				list[n++] = (struct clause){ .first = e };
			clause_add(&list[k], e);
		}
	for (k = 0; k < n; k++) {
		if (k && list[k].first->opener == list[k - 1].first->opener) {
			prose_adds(p, k + 1 == n ? ", and " : ", ");
		} else {
			prose_adds(p, k ? "; " : "");
			story_who(t->s, list[k].first->opener, p);
			prose_adds(p, " ");
		}
		clause_write(t, &list[k], k && list[k].first->opener == list[k - 1].first->opener ?
					  &list[k - 1] : NULL);
	}
	if (left)
		prose_addf(p, "; %zu more events are in the table", left);
}

/* Return how many samples per second of its count a clock took. */
static double page_hz(const struct event *e)
{
	return (double)event_records(e, PERF_RECORD_SAMPLE) * 1e9 / (double)e->count.value;
}

/* Return whether the event is a clock that sampled and whose count is known. */
static bool page_clock(const struct story_text *t, const struct event *e)
{
	struct open_attr a = story_attr(t->s, e);

	return event_attr_known(e) && open_attr_samples(&a) && !story_probe(t->s, e) &&
	       open_attr_source(&a) == SOURCE_CLOCK && e->bpf == BPF_NONE && e->count.known &&
	       e->count.value;
}

/* Write the samples of each CPU. */
static void page_each_cpu(const struct story_text *t)
{
	size_t said = 0;

	for (size_t i = 0; i < t->nevents; i++) {
		const struct event *e = t->events[i];

		if (page_clock(t, e) && said++ < PAGE_CPUS)
			prose_addf(t->p, "%sCPU %d: %llu, %.0f Hz", said > 1 ? "; " : " (", e->cpu,
				   (unsigned long long)event_records(e, PERF_RECORD_SAMPLE),
				   page_hz(e));
	}
	prose_adds(t->p, said > PAGE_CPUS ? "; ...)" : ")");
}

/* Write how long clocks that took samples counted, and how many samples were due. */
static void page_times(const struct story_text *t, uint64_t samples, bool all)
{
	const struct event *slow = NULL, *fast = NULL;
	uint64_t ns = 0, timed = 0, hz = 0, throttled = 0;
	double due = 0;
	size_t cpus = 0;
	int cpu = -1;	/* of the event before */

	for (size_t i = 0; i < t->nevents; i++) {
		const struct event *e = t->events[i];
		struct open_attr a = story_attr(t->s, e);
		uint64_t period = open_attr_get(&a, ATTR_SAMPLE_PERIOD);

		if (!page_clock(t, e))
			continue;
		ns += e->count.value;
		cpus += e->pid < 0 && e->cpu != cpu;
		cpu = e->cpu;
		timed += event_records(e, PERF_RECORD_SAMPLE);
		throttled += event_records(e, PERF_RECORD_THROTTLE);
		hz += open_attr_get(&a, ATTR_FREQ) ? 1 : 0;
		due += open_attr_get(&a, ATTR_FREQ) ?
		       (double)e->count.value * 1e-9 * (double)period :
		       (double)e->count.value / (double)(period ? period : 1);
		/* where it takes no sample it is not due either */
		all &= !open_attr_get(&a, ATTR_EXCLUDE_USER) && !open_attr_get(&a, ATTR_EXCLUDE_IDLE) &&
		       !open_attr_get(&a, ATTR_EXCLUDE_KERNEL);
		slow = slow && page_hz(slow) <= page_hz(e) ? slow : e;
		fast = fast && page_hz(fast) >= page_hz(e) ? fast : e;
	}
	if (!ns)
		return;
	prose_addf(t->p, cpus > 1 ? " in %.3f ms of %zu CPUs" : " in %.3f ms", (double)ns / 1e6, cpus);
	if (timed != samples || !all || t->lost)
		return;
	if (slow->pid < 0 && fast->pid < 0 && 2 * page_hz(slow) < page_hz(fast))
		page_each_cpu(t);
	else if (hz)
		prose_addf(t->p, " (%.0f Hz)", (double)samples * 1e9 / (double)ns);
	if (due >= 1)
		prose_addf(t->p, " of about %.0f due%s", due, due < 1.5 * (double)samples ? "" :
			   throttled ? " (the kernel throttled it)" :
			   " (the trace does not show why)");
}

/* Write how many records there were, or why it is not known. */
static void page_records(const struct story_text *t)
{
	uint64_t samples = 0, records = 0, missed = 0, sources = 0, sampling = 0, about = 0;
	uint64_t user = t->s->modes[PERF_RECORD_MISC_USER];
	uint64_t kernel = t->s->modes[PERF_RECORD_MISC_KERNEL];
	size_t rings = 0, overwritten = 0, blind = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < t->nevents; i++) {
		const struct event *e = t->events[i];
		struct open_attr a = story_attr(t->s, e);

		sampling += event_attr_known(e) && open_attr_samples(&a) &&
			    !story_probe(t->s, e) && e->start != START_NEVER;
		sources += e->reads && e->read_format & PERF_FORMAT_LOST;
		about += ring_missed(&e->ring);
		samples += event_records(e, PERF_RECORD_SAMPLE);
		for (uint32_t type = 0; type < EVENT_RECORD_TYPES; type++)
			records += event_records(e, type);
	}
	for (size_t i = 0; i < t->nrings; i++) {
		rings += story_ring_kib(t, t->rings[i]) && !t->rings[i]->aux && !t->rings[i]->first;
		overwritten += t->rings[i]->overwrite && !t->rings[i]->aux;
		missed += t->rings[i]->missed;
		blind += t->rings[i]->blind;
	}
	if (!rings) {
		prose_adds(p, sampling ? ": no ring was mapped, so no samples were written" : "");
	} else if (story_looked(t->s) && (sampling || records)) {
		prose_adds(p, missed || blind ? ": at least" : ":");
		prose_count(p, samples, "sample", "samples");
		if (missed)
			prose_addf(p, about ? " (pevtrace missed %llu bytes, about %llu records)" :
				   " (pevtrace missed %llu bytes)", (unsigned long long)missed,
				   (unsigned long long)about);
		page_times(t, samples, !missed && !blind);
		if (samples)
			prose_addf(p, ", %llu in user and %llu in kernel mode",
				   (unsigned long long)user, (unsigned long long)kernel);
		if (t->s->idle)
			prose_addf(p, ", %llu of the idle task", (unsigned long long)t->s->idle);
		if (records > samples) {
			prose_adds(p, samples ? ", and" : " and");
			prose_count(p, records - samples, "other record", "other records");
		}
	} else if (!story_looked(t->s)) {
		prose_adds(p, ": what the rings held was not seen: it is with --records, at waits "
			      "and unmappings");
	}
	if (rings > overwritten && !t->lost && (sampling || records) &&
	    (story_looked(t->s) || sources))
		prose_adds(p, story_looked(t->s) ? ", none lost" : "; by its reads, none were lost");
}

/* Write what was seen to be wrong with events; that they were never enabled is said already. */
static void page_flaws(const struct story_text *t, struct flaws *flaws)
{
	struct buf *text = &t->p->text;

	flaws->of[FLAW_NEVER_ENABLED].events = 0;
	flaws_print(flaws, " ", ".", false, text);
	for (size_t i = 0; i < text->len; i++)
		if (text->data[i] == '\n')
			text->data[i] = ' ';
	if (t->o->sharers && (flaws->of[FLAW_MULTIPLEXED].events ||
			      flaws->of[FLAW_NEVER_SCHEDULED].events))
		prose_addf(t->p, " When it was read first, events of the PMU were held by %s.",
			   t->o->sharers);
}

static void page_head(const struct story_text *t, const struct failures *list, size_t n)
{
	size_t found = story_found(t->s, NULL), opens = 0, failed = 0, probes = 0;
	struct story_text copy = *t;
	struct flaws flaws = { .of = { { 0 } } };
	struct prose *p = t->p;

	flaws_of(&flaws, t->s->m);
	copy.lost = flaws.of[FLAW_RECORDS_LOST].events || flaws.of[FLAW_SAMPLES_LOST].events;
	page_measured(t);
	if (t->nfamilies > found)
		page_records(&copy);
	if (t->nfamilies)
		prose_adds(p, ".");
	if (found) {
		const struct event **events = xcalloc(found, sizeof(*events));

		story_found(t->s, events);
		prose_adds(p, " ");
		story_fds(events, found, p);
		prose_adds(p, found == 1 ? ": an event opened before the trace began; its attr is "
					   "unknown." :
					   ": events opened before the trace began; their attrs are "
					   "unknown.");
		story_programs_of(t, events, found);
		free(events);
	}
	page_flaws(t, &flaws);
	for (size_t i = 0; i < t->ntasks; i++) {
		opens += t->tasks[i]->opens;
		failed += t->tasks[i]->failures;
	}
	for (size_t i = 0; i < t->nevents; i++)
		probes += story_probe(t->s, t->events[i]);
	if (!t->nfamilies) {
		story_who(t->s, t->nattempts ? t->attempts[0].tid : t->events[0]->opener, p);
		prose_adds(p, " measured nothing.");
	}
	if (failed) {
		prose_addf(p, opens ? " Of %zu opens, %zu failed" : failed == 1 ?
			   " Its only open failed" : " All %zu opens failed", opens + failed, failed);
		failures_fates(t, list, n);
	}
	if (probes) {
		prose_adds(p, failed ? ";" : "");
		prose_count(p, probes, "event was a probe, closed unused",
			    "events were probes, closed unused");
	}
	prose_adds(p, failed || probes ? "." : "");
	prose_end(p);
}

/* What it requires -------------------------------------------------------------------------- */

static void page_hardware(const struct story_text *t)
{
	for (size_t i = 0; i < t->nfamilies; i++) {
		const struct story_open o = story_open_of(t->families[i].events[0]);

		if (event_attr_known(t->families[i].events[0]) && story_hardware(&o, t->p))
			return;
	}
	prose_adds(t->p, "no hardware");
}

/* Return whether perf goes on if it is refused: an event that only tells it of BPF programs. */
static bool page_optional(const struct story_text *t, const struct family *f)
{
	const struct story_open o = story_open_of(f->events[0]);

	return t->nfamilies > 1 && story_is_dummy(t, f) && story_purpose(&o) &&
	       story_is_perf(t->s, f->events[0]->opener);
}

/* Return the newest of the ioctls that succeeded, if it is newer than that release; or NULL. */
static const struct ioctl_desc *page_ioctl(const struct story_text *t, uint32_t release)
{
	const struct ioctl_desc *newest = NULL;

	for (size_t i = 0; i < ioctl_ndescs; i++)
		for (size_t k = 0; k < t->nevents; k++)
			if (ioctl_descs[i].since > (newest ? newest->since : release) &&
			    (story_times(t->s, SEEN_IOCTL + (unsigned int)i, t->events[k])))
				newest = &ioctl_descs[i];
	return newest;
}

/* The rights that some of the events require. */
struct rights {
	struct buf text, names;
	size_t n;		/* names */
	bool optional;
};

/* Add what an event of a family requires to a list of n; return how many there are. */
static size_t rights_add(const struct story_text *t, const struct family *f, const struct event *e,
			 struct rights list[PAGE_CLAUSES], size_t n)
{
	const struct story_open o = story_open_of(e);
	struct prose rights = { .out = NULL }, name = { .out = NULL };
	bool optional = page_optional(t, f);
	size_t k;

	story_rights(t->s, &o, true, &rights);
	if (optional)	/* without the change that would do, too */
		rights.text.data[strcspn(rights.text.data, "(")] = '\0';
	for (k = 0; k < n && (list[k].optional != optional ||
			      strcmp(buf_str(&list[k].text), buf_str(&rights.text))); k++)
		;
	if (k == n && n < PAGE_CLAUSES) {
		buf_adds(&list[n].text, buf_str(&rights.text));
		list[n++].optional = optional;
	}
	if (optional)
		story_fds(f->events, f->n, &name);
	else
		story_event_name(t->s, e, &name);
	if (k < n && !strstr(buf_str(&list[k].names), buf_str(&name.text)) && list[k].n++ < 3)
		buf_addf(&list[k].names, "%s%s",
			 list[k].n == 1 ? "" : list[k].n == 2 ? ", " : " and ",
			 list[k].n < 3 ? buf_str(&name.text) : "others");
	buf_free(&rights.text);
	buf_free(&name.text);
	return n;
}

/* Write the rights of each kind of events, last those of events without which perf goes on. */
static void page_rights(const struct story_text *t)
{
	const struct event *kinds[STORY_ITEMS];
	struct rights list[PAGE_CLAUSES] = { { .n = 0 } };
	bool levels = false;	/* one begins with a number */
	size_t n = 0;

	for (size_t i = 0; i < 2 * t->nfamilies; i++) {
		const struct family *f = &t->families[i % t->nfamilies];
		bool optional = page_optional(t, f);
		size_t of = family_kinds(f, kinds);

		for (size_t k = 0; k < of && optional == (i >= t->nfamilies); k++)
			if (event_attr_known(kinds[k]) && !kinds[k]->found)
				n = rights_add(t, f, kinds[k], list, n);
	}
	for (size_t k = 0; k < n; k++) {
		bool level = *buf_str(&list[k].text) != 'a';

		prose_adds(t->p, k ? ", " : " ");
		prose_adds(t->p, !levels && level ? "CAP_PERFMON, or perf_event_paranoid " : "");
		levels |= level;
		prose_adds(t->p, buf_str(&list[k].text));
		if (n > 1)
			prose_addf(t->p, " for %s", buf_str(&list[k].names));
		prose_adds(t->p, list[k].optional ? " (optional)" : "");
		buf_free(&list[k].text);
		buf_free(&list[k].names);
	}
}

/* The release is the newest that an event requires; rights are those of each kind. */
static void page_needs(const struct story_text *t)
{
	const struct event *newest = NULL;
	const struct ioctl_desc *ioctl;
	struct as_refusal older = { 0 }, why;
	struct prose *p = t->p;
	uint32_t since = 0, oldest;
	
	for (size_t i = 0; i < t->nfamilies && i < STORY_ITEMS; i++) {
		const struct event *e = t->families[i].events[0];
		const struct story_open o = story_open_of(e);

		if (!event_attr_known(e) || e->found || page_optional(t, &t->families[i]))
			continue;
		oldest = story_oldest(t->s, &o, &why);
		if (newest && oldest <= since)
			continue;
		newest = e;
		since = oldest;
		older = why;
	}
	if (!newest)
		return;
	ioctl = page_ioctl(t, release_mainline(since));
	prose_line(p, 0, 2);
	prose_adds(p, "Requires Linux ");
	release_text(ioctl ? ioctl->since : release_mainline(since), &p->text);
	if (ioctl) {
		prose_addf(p, " (%s)", ioctl->name);
	} else if (older.lacks || older.error) {
		prose_addf(p, older.lacks ? " (%s of " : " (older kernels: \"%s\", of ", older.because);
		story_event_name(t->s, newest, p);
		prose_adds(p, ")");
	}
	prose_adds(p, ", and ");
	page_hardware(t);
	prose_adds(p, ". An ordinary user needs");
	page_rights(t);
	prose_adds(p, ".");
}

/* The page ----------------------------------------------------------------------------------- */

static size_t count_lines(const struct buf *b)
{
	size_t n = 0;

	for (const char *s = buf_str(b); (s = strchr(s, '\n')); s++)
		n++;
	return n;
}

/* Begin a part of the page that is written to out. */
static void page_part(struct story_text *part, struct prose *p, struct buf *out,
		      const struct story_text *t)
{
	buf_reset(out);
	prose_init(p, out, t->p->width);
	p->color = t->p->color;
	p->links = t->p->links;
	p->any = true;
	part->p = p;
}

/* Write the timeline in up to that many lines, some of which may have been broken. */
static void page_timeline(const struct story_text *t, size_t most)
{
	struct story_text part = *t;
	struct buf out = { 0 };
	struct prose p;
	size_t events = most, lines;

	do {
		page_part(&part, &p, &out, t);
		story_timeline(&part, events);
		prose_free(&p);
		lines = count_lines(&out);
	} while (lines > most && events-- > 1);
	buf_add(t->p->out, out.data, out.len);
	buf_free(&out);
}

/* Write what follows the timeline to out; see tight.  Return its lines. */
static size_t page_tail(const struct story_text *t, struct buf *out)
{
	struct story_text tail = *t;
	struct prose p;

	page_part(&tail, &p, out, t);
	story_end(&tail);
	prose_para(&p);
	story_data(&tail);
	prose_para(&p);
	if (!t->full)
		page_needs(&tail);
	if (t->tight < 3)
		story_tries(&tail);
	if (!t->full && t->tight < 3) {
		prose_line(&p, 0, 2);
		prose_adds(&p, "See also: ");
		prose_page(&p, "perf_event_open(2)");
		prose_addf(&p, "; pevtrace explain TERM; %s--deep.",
			   t->nattempts ? "pevtrace why; " : "");
	}
	prose_free(&p);
	return count_lines(out);
}

void story_page(const struct story_text *t)
{
	struct failures *list;
	size_t n = failures_find(t, &list), used, begin = count_lines(t->p->out);
	struct story_text rest = *t;
	struct buf tail = { 0 };

	page_head(t, list, n);
	failures_tell(t, list, n);
	failures_free(list, n);
	if (t->o->doubts) {
		prose_line(t->p, 0, 2);
		prose_addf(t->p, "Not counted: %s", t->o->doubts);
		prose_end(t->p);
	}
	story_table(t, t->full ? STORY_ITEMS : PAGE_EVENTS);
	used = count_lines(t->p->out) - begin;
	while (used + page_tail(&rest, &tail) + (rest.tight ? PAGE_NEEDED + 2 : PAGE_LEAST) >
	       PAGE_LINES && !t->full && rest.tight < 4)
		rest.tight++;
	used += count_lines(&tail);
	page_timeline(t, t->full ? STORY_ITEMS : used + PAGE_NEEDED > PAGE_LINES ? PAGE_NEEDED :
		      PAGE_LINES - used);
	buf_add(t->p->out, tail.data, tail.len);
	buf_free(&tail);
}
