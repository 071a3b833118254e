// SPDX-License-Identifier: LGPL-2.1-or-later
#include "render/c_program.h"

#include <stdlib.h>
#include <string.h>

#include "abi/layout.h"
#include "abi/record_walk.h"
#include "lib/die.h"
#include "lib/hash.h"
#include "lib/map.h"
#include "render/c_parts.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* sizeof(struct perf_event_attr) where C_HEADERS come from. */
enum { HEADER_ATTR = PERF_ATTR_SIZE_VER7 };

/* So many steps in a row may be the body of a loop. */
enum { LOOP_MAX = 24 };

#define MARK_START '\001'
#define MARK_STOP '\002'

void c_mark(struct buf *out, enum c_mark what, long number)
{
	buf_addf(out, "%c%c%ld%c", MARK_START, (char)what, number, MARK_STOP);
}

/* What is to be in it ------------------------------------------------------------ */

static bool is_probe(const struct c_event *e)
{
	return !e->failed && !e->used && e->closed;
}

/* From one event to its group, and to the ring that takes its records. */
static void choose_with(struct c_program *p, unsigned int number)
{
	bool more = true;

	for (size_t i = 0; i < p->nevents; i++)
		p->events[i].chosen = p->events[i].number == number;
	while (more) {
		more = false;
		for (size_t i = 0; i < p->nevents; i++) {
			struct c_event *e = &p->events[i];
			struct c_event *leader = e->leader < 0 ? NULL : &p->events[e->leader];
			bool grouped = leader && leader->chosen && !e->failed;

			if (!e->chosen && !grouped)
				continue;
			more |= !e->chosen || (leader && !leader->chosen) ||
				(e->output >= 0 && !p->events[e->output].chosen);
			e->chosen = true;
			if (leader)
				leader->chosen = true;
			if (e->output >= 0)
				p->events[e->output].chosen = true;
		}
	}
}

static bool known_event(const struct c_program *p, unsigned int number)
{
	for (size_t i = 0; i < p->nevents; i++)
		if (p->events[i].number == number)
			return true;
	return false;
}

static bool kept(const struct c_program *p, const struct c_step *s)
{
	return (s->events[0] < 0 || p->events[s->events[0]].chosen) &&
	       (s->events[1] < 0 || p->events[s->events[1]].chosen);
}

bool c_program_choose(struct c_program *p, const struct c_choice *choice)
{
	int events = 0, rings = 0;

	if (choice->event && !known_event(p, choice->event))
		return false;
	if (choice->event)
		choose_with(p, choice->event);
	for (size_t i = 0; i < p->nevents; i++) {
		struct c_event *e = &p->events[i];

		if (!choice->event) {
			e->chosen = choice->all || !(e->failed || is_probe(e));
			p->nfailed += !e->chosen && e->failed;
			p->nprobes += !e->chosen && !e->failed;
		}
		if (e->chosen && !e->failed)
			e->place = events++;
	}
	for (size_t i = 0; i < p->nrings; i++) {
		p->rings[i].chosen = p->events[p->rings[i].event].chosen;
		if (p->rings[i].chosen)
			p->rings[i].place = rings++;
	}
	for (size_t i = 0; i < p->nsteps; i++)
		p->missing += p->steps[i].kind == STEP_NOTE && kept(p, &p->steps[i]);
	for (size_t i = 0; i < p->nevents; i++)
		if (p->events[i].chosen)
			return true;
	return false;
}

/* Writing -------------------------------------------------------------------------- */

/* A line of main(), with marks of numbers only. */
struct line {
	char *text;
	const char *meaning;
};

struct writer {
	struct c_program *p;
	struct c_parts parts;
	struct buf *out;
	int *children;			/* places; -1: not in it */
	int nchildren, nevents, nrings;
	struct line *lines;
	size_t nlines;
	struct map said;		/* hashes of comments that were made */
};

static void add_line(struct writer *w, const char *text, const char *meaning)
{
	if (!(w->nlines & (w->nlines - 1)))
		w->lines = xrealloc(w->lines, (w->nlines ? 2 * w->nlines : 1) *
				    sizeof(*w->lines));
	w->lines[w->nlines++] = (struct line){ xstrdup(text), meaning };
	w->parts.must |= strstr(text, "MUST(") != NULL;
	w->parts.works |= !strcmp(text, "work();");
}

/* Each is explained where it comes up first. */
static bool say(struct writer *w, const char *what, const char *more)
{
	return !map_set(&w->said, hash_text(hash_text(HASH_START, what), more), w);
}

/* More is behind it than the struct of the headers. */
static bool is_larger(const struct c_program_attr *a)
{
	return a->len > HEADER_ATTR;
}

/* A step's text with everything in its place; marks of numbers stay. */
static char *resolve(struct writer *w, const char *text)
{
	struct c_program *p = w->p;
	struct buf out = { 0 };

	for (; *text; text++) {
		char what = text[0] == MARK_START ? text[1] : 0;
		char *end = NULL;
		long n;

		if (!what) {
			buf_addc(&out, *text);
			continue;
		}
		n = strtol(text + 2, &end, 10);
		text = end;
		if (what == MARK_ATTR || what == MARK_MEMBERS) {
			p->attrs[n].used = true;
			buf_adds(&out, p->attrs[n].name);
			if (what == MARK_MEMBERS && is_larger(&p->attrs[n]))
				buf_adds(&out, ".attr");
			continue;
		}
		if (what == MARK_CHILD && w->nchildren == 1) {
			buf_adds(&out, "child");
			continue;
		}
		if (what == MARK_CHILD)
			buf_adds(&out, "child[");
		if (what == MARK_EVENT)
			n = p->events[n].place;
		else if (what == MARK_RING)
			n = p->rings[n].place;
		else if (what == MARK_CHILD)
			n = w->children[n];
		buf_addf(&out, "%c%ld%c", MARK_START, n, MARK_STOP);
		if (what == MARK_CHILD)
			buf_addc(&out, ']');
	}
	return out.data ? out.data : xstrdup("");
}

/* The reads of a group name all of its members, in the order of their opening. */
static void add_group(const struct c_program *p, int event, struct buf *out)
{
	size_t n = 1;

	buf_adds(out, "(const char *[]){ names[");
	c_mark(out, MARK_EVENT, event);
	buf_addc(out, ']');
	for (size_t i = 0; i < p->nevents; i++) {
		if (!p->events[i].chosen || p->events[i].failed || p->events[i].leader != event)
			continue;
		buf_adds(out, ", names[");
		c_mark(out, MARK_EVENT, (long)i);
		buf_addc(out, ']');
		n++;
	}
	buf_addf(out, " }, %zu);", n);
}

static char *read_text(const struct writer *w, int event)
{
	const struct c_program *p = w->p;
	const struct c_event *e = &p->events[event];
	bool plain = c_parts_plain_counts(&w->parts);
	struct buf out = { 0 };

	buf_adds(&out, plain ? "print_count(fd[" : "print_counts(fd[");
	c_mark(&out, MARK_EVENT, event);
	buf_adds(&out, "], ");
	if (!plain) {
		c_mark(&out, MARK_MEMBERS, (long)e->attr);
		buf_adds(&out, ".read_format, ");
	}
	if (e->read_format & PERF_FORMAT_GROUP) {
		add_group(p, event, &out);
		return out.data;
	}
	buf_adds(&out, plain ? "names[" : "&names[");
	c_mark(&out, MARK_EVENT, event);
	buf_adds(&out, plain ? "]);" : "], 1);");
	return out.data;
}

/* Where the program waits, and what it does there -------------------------------- */

/* The places of steps that decide it, as indexes of steps; nsteps: none. */
struct places {
	size_t opened, execed, gone, closed, polled, wait;
};

/* A program that does not wait for anybody goes on within this time. */
#define AT_ONCE_NS 20000000

static bool opens(const struct c_program *p, const struct c_step *s)
{
	return s->kind == STEP_OPEN && !p->events[s->events[0]].failed;
}

static struct places find_places(const struct writer *w)
{
	const struct c_program *p = w->p;
	const size_t none = p->nsteps;
	struct places at = { none, none, none, none, none, none };
	size_t start = 0, stop;

	for (size_t i = 0; i < p->nsteps; i++) {
		const struct c_step *s = &p->steps[i];

		if (opens(p, s) && kept(p, s))
			at.opened = i;
		if (s->kind == STEP_EXEC && w->children[s->child] >= 0)
			at.execed = i;
	}
	if (at.execed != none)
		start = at.execed;
	else if (at.opened != none)
		start = at.opened;
	for (size_t i = start; i < p->nsteps; i++) {
		const struct c_step *s = &p->steps[i];

		if (s->kind == STEP_GONE && w->children[s->child] >= 0)
			at.gone = i;
		if (at.closed == none && kept(p, s) &&
		    (s->kind == STEP_CLOSE || (!w->nchildren && (s->kind == STEP_READ ||
							       s->kind == STEP_STOP))))
			at.closed = i;
	}
	stop = at.gone < at.closed ? at.gone : at.closed;
	for (size_t i = start; i < stop; i++)
		if (p->steps[i].kind == STEP_POLL)
			at.polled = i;
	at.wait = at.polled != none ? at.polled : stop;
	return at;
}

/* Did the traced program wait where this one would wait for ^C? */
static bool lingers(const struct writer *w, const struct places *at)
{
	const struct c_step *steps = w->p->steps;

	if (!w->nevents)
		return false;
	return at->polled != w->p->nsteps || at->wait == w->p->nsteps || !at->wait ||
	       steps[at->wait].ns > steps[at->wait - 1].ns + AT_ONCE_NS;
}

static void add_go(struct writer *w)
{
	struct buf text = { 0 };

	for (int i = 0; i < w->nchildren; i++) {
		buf_reset(&text);
		if (w->nchildren == 1)
			buf_adds(&text, "MUST(write(go, \"\", 1));");
		else
			buf_addf(&text, "MUST(write(go[%c%d%c], \"\", 1));", MARK_START, i,
				 MARK_STOP);
		add_line(w, buf_str(&text), "Lets the command run: it is between its fork and "
			 "its exec");
	}
	buf_free(&text);
}

static void add_wait(struct writer *w)
{
	if (w->parts.watches)
		add_line(w, w->nchildren == 1 ? "watch(child);" : "watch();", w->nchildren ? "Takes records until the command ends" :
			 "Takes records until there is nobody left to measure, or ^C");
	else if (w->nchildren)
		add_line(w, w->nchildren == 1 ? "MUST(waitpid(child, &status, 0));" :
			 "children_ended(0);", "Waits until the command ends");
	else if (!w->p->self)
		add_line(w, "while (!interrupted)\n\t\tpause();", "Counts until ^C");
}

/* Work of our own lies between what enables and what disables, reads or closes. */
static void add_work(struct writer *w, const struct c_step *s, bool *armed)
{
	if (!w->parts.work)
		return;
	if (*armed && (s->kind == STEP_STOP || s->kind == STEP_READ || s->kind == STEP_CLOSE)) {
		add_line(w, "work();", "What is measured");
		*armed = false;
	}
	*armed |= opens(w->p, s) || s->kind == STEP_START;
}

static void add_step(struct writer *w, const struct c_step *s)
{
	char *marked = NULL, *text;

	if (s->kind == STEP_READ)
		marked = read_text(w, s->events[0]);
	text = resolve(w, marked ? marked : s->text);
	add_line(w, text, s->meaning);
	free(marked);
	free(text);
}

/* A backward ring is read while it is paused, when the traced program had it so. */
static bool pauses(const struct c_step *s)
{
	return s->kind == STEP_CALL && s->text &&
	       strstr(s->text, "PERF_EVENT_IOC_PAUSE_OUTPUT, 1)");
}

static void add_drain(struct writer *w, const struct c_ring *r, const char *why)
{
	struct buf text = { 0 };

	if (c_parts_mixed(&w->parts))
		buf_addf(&text, "drains[%c%d%c](%c%d%c);", MARK_START, r->place, MARK_STOP,
			 MARK_START, r->place, MARK_STOP);
	else
		buf_addf(&text, "%s(%c%d%c);", c_drain_name(r->drain), MARK_START, r->place,
			 MARK_STOP);
	add_line(w, buf_str(&text), why);
	buf_free(&text);
}

static void add_paused(struct writer *w, const struct c_step *s)
{
	for (size_t i = 0; i < w->p->nrings; i++) {
		const struct c_ring *r = &w->p->rings[i];

		if (r->chosen && r->event == s->events[0] && r->data)
			add_drain(w, r, "Takes records while nothing is written");
	}
}

/* What is in the ring is taken before it goes, unless watch() has done that. */
static void add_unmap(struct writer *w, const struct c_step *s, bool waited)
{
	struct c_ring *r = &w->p->rings[s->ring];

	if (r->data && !(waited && w->parts.watches))
		add_drain(w, r, "Takes what is in the ring");
	add_step(w, s);
	r->unmapped = true;
	if (w->parts.watches && !waited) {
		struct buf text = { 0 };

		buf_addf(&text, "ring[%c%d%c] = NULL;", MARK_START, r->place, MARK_STOP);
		add_line(w, buf_str(&text), NULL);
		w->parts.gaps = true;
		buf_free(&text);
	}
}

static void add_one(struct writer *w, const struct c_step *s, bool waited, bool *armed)
{
	if (!kept(w->p, s) || !(s->text || s->kind == STEP_READ))
		return;
	add_work(w, s, armed);
	if (s->ring >= 0)
		add_unmap(w, s, waited);
	else
		add_step(w, s);
	if (pauses(s))
		add_paused(w, s);
}

static int by_ring(const void *a, const void *b)
{
	const struct c_step *const *x = a, *const *y = b;

	return (*x)->ring - (*y)->ring;
}

/*
 * When a program unmaps each of its rings at the end depends on when it sees a
 * hang-up: here it is one after the other.
 */
static void sort_unmaps(struct c_program *p, size_t from)
{
	struct c_step **unmaps = xcalloc(p->nsteps + 1, sizeof(*unmaps)), *sorted;
	size_t n = 0, first = p->nsteps, kept_on = 0;

	for (size_t i = from; i < p->nsteps; i++) {
		if (p->steps[i].ring < 0)
			continue;
		first = first == p->nsteps ? i : first;
		unmaps[n++] = &p->steps[i];
	}
	qsort(unmaps, n, sizeof(*unmaps), by_ring);
	sorted = xcalloc(p->nsteps - first + 1, sizeof(*sorted));
	while (kept_on < n) {
		sorted[kept_on] = *unmaps[kept_on];
		kept_on++;
	}
	for (size_t i = first; i < p->nsteps; i++)
		if (p->steps[i].ring < 0)
			sorted[kept_on++] = p->steps[i];
	if (n)
		memcpy(&p->steps[first], sorted, kept_on * sizeof(*sorted));
	free(unmaps);
	free(sorted);
}

static bool maps_later(const struct c_program *p, size_t from)
{
	for (size_t i = from; i < p->nsteps; i++)
		if (p->steps[i].kind == STEP_OPEN || p->steps[i].maps)
			return true;
	return false;
}

static void add_steps(struct writer *w)
{
	struct c_program *p = w->p;
	const struct places at = find_places(w);
	bool gone = !w->nchildren, waited = false, armed = false;

	if (w->parts.until_signal && !lingers(w, &at)) {
		w->parts.until_signal = w->parts.watches = false;
		waited = true;
	}
	if (!maps_later(p, at.wait))
		sort_unmaps(p, at.wait);
	for (size_t i = 0; i <= p->nsteps; i++) {
		if (!gone && (i == at.execed || i == at.wait || i == p->nsteps)) {
			add_go(w);
			gone = true;
		}
		if (!waited && i >= at.wait) {
			add_wait(w);
			waited = true;
		}
		if (i < p->nsteps)
			add_one(w, &p->steps[i], waited, &armed);
	}
	if (armed && w->parts.work)
		add_line(w, "work();", "What is measured");
	for (size_t i = 0; i < p->nrings && !w->parts.watches; i++)
		if (p->rings[i].chosen && p->rings[i].data && !p->rings[i].unmapped)
			add_drain(w, &p->rings[i], "Takes what is in the ring");
}

/* Loops ------------------------------------------------------------------------------ */

/* The n-th number in the text; *at moves behind it.  False at the end. */
static bool next_number(const char **at, long *n)
{
	const char *mark = strchr(*at, MARK_START);
	char *end;

	if (!mark)
		return false;
	*n = strtol(mark + 1, &end, 10);
	*at = end + 1;
	return true;
}

/* The same but for numbers? */
static bool same_shape(const struct line *x, const struct line *y)
{
	const char *a = x->text, *b = y->text;

	if (x->meaning != y->meaning && (!x->meaning || !y->meaning ||
					 strcmp(x->meaning, y->meaning)))
		return false;
	for (;;) {
		size_t n = strcspn(a, "\001"), m = strcspn(b, "\001");

		if (n != m || memcmp(a, b, n))
			return false;
		a += n;
		b += n;
		if (!*a)
			return true;
		a = strchr(a, MARK_STOP) + 1;
		b = strchr(b, MARK_STOP) + 1;
	}
}

/* Do numbers grow from x to y as from y to z? */
static bool same_steps(const struct line *x, const struct line *y, const struct line *z)
{
	const char *a = x->text, *b = y->text, *c = z->text;
	long i, j, k;

	while (next_number(&a, &i) && next_number(&b, &j) && next_number(&c, &k))
		if (j - i != k - j)
			return false;
	return true;
}

/* How often the n lines from at on stand there, with numbers that go on evenly. */
static size_t repeats(const struct writer *w, size_t at, size_t n)
{
	const struct line *l = w->lines;
	size_t times = 1;

	for (; at + (times + 1) * n <= w->nlines; times++)
		for (size_t i = at; i < at + n; i++) {
			const struct line *last = &l[i + times * n];

			if (!same_shape(&l[i], last) ||
			    (times > 1 && !same_steps(last - 2 * n, last - n, last)))
				return times;
		}
	return times;
}

/* The body that saves most lines; 0: none is worth a loop. */
static size_t find_loop(const struct writer *w, size_t at, size_t *times)
{
	size_t best = 0, saved = 0;

	for (size_t n = 1; n <= LOOP_MAX && at + 2 * n <= w->nlines; n++) {
		size_t r = same_shape(&w->lines[at], &w->lines[at + n]) ?
			repeats(w, at, n) : 1;
		size_t gain = (r - 1) * n;

		if (gain > saved && gain >= 2) {
			best = n;
			saved = gain;
			*times = r;
		}
	}
	return best;
}

/* A number that is start in the first turn, and step more in each. */
static void add_index(struct buf *out, long start, long step)
{
	if (!step)
		buf_addf(out, "%ld", start);
	else if (step < 0 && step != -1)
		buf_addf(out, "%ld - %ld * i", start, -step);
	else if (step < 0)
		buf_addf(out, "%ld - i", start);
	else if (!start && step == 1)
		buf_adds(out, "i");
	else if (!start)
		buf_addf(out, "%ld * i", step);
	else if (step == 1)
		buf_addf(out, "i %c %ld", start < 0 ? '-' : '+', labs(start));
	else
		buf_addf(out, "%ld * i %c %ld", step, start < 0 ? '-' : '+', labs(start));
}

static void put_meaning(struct writer *w, const struct line *l, const char *indent)
{
	if (l->meaning && say(w, "step", l->meaning))
		buf_addf(w->out, "%s/* %s */\n", indent, l->meaning);
}

/* later: the same line one turn on, or NULL. */
static void put_line(struct writer *w, const struct line *l, const struct line *later)
{
	const char *indent = later ? "\t\t" : "\t", *at = l->text, *from;
	const char *next = later ? later->text : NULL;
	struct buf text = { 0 };
	long n = 0, m = 0;

	for (from = at; next_number(&at, &n); from = at) {
		buf_add(&text, from, strcspn(from, "\001"));
		if (next)
			next_number(&next, &m);
		add_index(&text, n, later ? m - n : 0);
	}
	buf_adds(&text, from);
	buf_addf(w->out, "%s%s\n", indent, buf_str(&text));
	buf_free(&text);
}

static void put_lines(struct writer *w)
{
	size_t at = 0;

	while (at < w->nlines) {
		size_t times = 1, n = find_loop(w, at, &times), body = n ? n : 1;
		bool braces = n > 1 || strchr(w->lines[at].text, '\n');

		if (!(n && braces))
			put_meaning(w, &w->lines[at], "\t");
		if (n)
			buf_addf(w->out, "	for (int i = 0; i < %zu; i++)%s\n", times,
				 braces ? " {" : "");
		for (size_t i = at; i < at + body; i++) {
			if (n && braces)
				put_meaning(w, &w->lines[i], "\t\t");
			put_line(w, &w->lines[i], n ? &w->lines[i + n] : NULL);
		}
		if (n && braces)
			buf_adds(w->out, "	}\n");
		at += n ? n * times : 1;
	}
}

/* The parts -------------------------------------------------------------------------- */

/* The members that stand in front of the first one that has no fixed size. */
static uint64_t fixed_part(uint64_t sample_type)
{
	uint64_t fixed = 0;

	for (const struct slot *s = sample_slots; s->bits; s++) {
		if (!(sample_type & s->bits))
			continue;
		if (!s->layout)
			break;
		fixed |= s->bits;
	}
	return fixed;
}

/* struct sample, and how to print it, where all that sample agree on it. */
static void describe_sample(struct writer *w, struct buf *members, struct buf *print)
{
	uint64_t fixed = 0;
	struct buf args = { 0 };
	int n = 0;

	for (size_t i = 0; i < w->p->nevents; i++) {
		const struct c_event *e = &w->p->events[i];

		if (!e->chosen || e->failed || !e->sample_period)
			continue;
		if (fixed && fixed != fixed_part(e->sample_type))
			return;
		fixed = fixed_part(e->sample_type);
	}
	if (!fixed)
		return;
	buf_adds(print, "\"sample");
	for (const struct slot *s = sample_slots; s->bits; s++) {
		if (!(fixed & s->bits))
			continue;
		for (size_t i = 0; i < s->layout->n; i++) {
			const struct field *f = &s->layout->fields[i];
			bool hex = f->kind == FIELD_ADDR || f->kind == FIELD_HEX;

			buf_addf(members, "	uint%d_t %s;\n", 8 * f->width, f->name);
			if (f->kind == FIELD_RESERVED)
				continue;
			if (++n % 4 == 0)
				buf_adds(print, "\"\n		       \"");
			buf_addf(print, " %s=%s%%\" PRI%c%d \"", f->name, hex ? "0x" : "",
				 hex ? 'x' : 'u', 8 * f->width);
			buf_addf(&args, ", s->%s", f->name);
		}
	}
	buf_addf(print, "\\n\",\n		       %s", buf_str(&args) + 2);
	w->parts.sample = buf_str(members);
	w->parts.sample_print = buf_str(print);
	buf_free(&args);
}

static void look_at_events(struct writer *w)
{
	const struct c_program *p = w->p;
	struct c_parts *parts = &w->parts;

	for (size_t i = 0; i < p->nevents; i++) {
		const struct c_event *e = &p->events[i];

		if (!e->chosen)
			continue;
		parts->fails |= e->failed;
		parts->handler |= e->sigtrap;
		w->nevents += !e->failed;
	}
	for (size_t i = 0; i < p->nrings; i++) {
		struct c_ring *r = &p->rings[i];

		if (!r->chosen)
			continue;
		w->nrings++;
		r->drain = r->aux ? DRAIN_AUX : !r->overwrite ? DRAIN_RING :
			p->events[r->event].backward ? DRAIN_BACKWARD : DRAIN_OVERWRITTEN;
		parts->rings = true;
		parts->records |= r->data;
	}
	for (size_t i = 0; i < p->nrings && parts->records; i++)
		if (p->rings[i].chosen)
			parts->drains[p->rings[i].drain] = true;
}

static void look_at_steps(struct writer *w)
{
	const struct c_program *p = w->p;
	struct c_parts *parts = &w->parts;

	for (size_t i = 0; i < p->nsteps; i++) {
		const struct c_step *s = &p->steps[i];

		if (!kept(p, s))
			continue;
		parts->fails |= s->text && strstr(s->text, "FAILS(");
		if (s->kind == STEP_READ) {
			uint64_t format = p->events[s->events[0]].read_format;

			parts->all_formats |= format;
			parts->common_format = parts->reads ? parts->common_format & format :
				format;
			parts->reads = true;
		}
	}
}

/* Children that are measured; where none is, the one that the program waits for. */
static void look_at_children(struct writer *w)
{
	const struct c_program *p = w->p;
	bool targets = false;

	w->children = xcalloc(p->nchildren + 1, sizeof(int));
	for (size_t i = 0; i < p->nchildren; i++)
		targets |= p->children[i].target;
	for (size_t i = 0; i < p->nchildren; i++) {
		bool in = targets ? p->children[i].target :
			p->children[i].execed && !w->nchildren && !p->self;

		w->children[i] = in ? w->nchildren++ : -1;
	}
}

static void look(struct writer *w)
{
	struct c_parts *parts = &w->parts;

	look_at_children(w);
	look_at_events(w);
	look_at_steps(w);
	parts->children = w->nchildren;
	parts->work = w->p->self && !w->nchildren;
	parts->watches = parts->records && !parts->work;
	parts->until_signal = !parts->work && !parts->children;
	parts->handler |= w->p->io_signal || w->p->signals;
	parts->must = parts->children || parts->reads || w->p->epoll;
}

/* Around main() ------------------------------------------------------------------------ */

static void name_attrs(struct c_program *p)
{
	struct buf name = { 0 };

	for (size_t i = 0; i < p->nattrs; i++) {
		unsigned int same = 1;

		buf_reset(&name);
		c_identifier(&name, p->attrs[i].about);
		buf_adds(&name, "_attr");
		for (size_t k = 0; k < i; k++)
			same += !strcmp(p->attrs[k].about, p->attrs[i].about);
		if (same > 1)
			buf_addf(&name, "_%u", same);
		p->attrs[i].name = xstrdup(buf_str(&name));
	}
	buf_free(&name);
}

static void put_command(struct buf *out, char *const *command)
{
	for (; command && *command; command++) {
		buf_addc(out, ' ');
		c_comment(out, *command, strlen(*command));
	}
}

static void put_title(struct writer *w)
{
	const struct c_program *p = w->p;
	struct buf *out = w->out;

	buf_adds(out, "/*\n * The perf calls of\n *\n *    ");
	put_command(out, p->command);
	buf_adds(out, "\n *\n * as pevtrace codegen read them from a trace");
	if (p->release && p->machine) {
		buf_adds(out, " (Linux ");
		c_comment(out, p->release, strlen(p->release));
		buf_adds(out, ", ");
		c_comment(out, p->machine, strlen(p->machine));
		buf_addc(out, ')');
	}
	buf_adds(out, ".\n");
	if (p->nprobes || p->nfailed)
		buf_addf(out, " * Left out: %zu probes, opened and closed unused, and %zu opens "
			 "that failed.\n", p->nprobes, p->nfailed);
	if (p->threads > 1)
		buf_addf(out, " * %zu threads made these calls; here it is one.\n", p->threads);
	buf_adds(out, " *\n * Build: cc -Wall -Wextra -o NAME THIS_FILE.c\n * Run:   ./NAME");
	for (size_t i = 0; i < p->nothers; i++)
		buf_addf(out, " PID%s", p->nothers > 1 && !i ? "..." : "");
	if (w->nchildren)
		buf_adds(out, " COMMAND [ARGUMENT]...");
	if (p->nothers)
		buf_addf(out, "\n *        the PIDs of what is to be measured: there %s",
			 p->nothers > 1 ? "they were" : "it was");
	for (size_t i = 0; i < p->nothers; i++)
		buf_addf(out, " %d", (int)p->others[i]);
	buf_adds(out, "\n */\n");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_includes(struct writer *w)
{
	struct c_needs *n = &w->p->needs;
	const struct c_parts *parts = &w->parts;
	static const char *const always[] = {
		"err.h", "inttypes.h", "linux/perf_event.h", "stdio.h", "sys/syscall.h",
		"unistd.h",
	};

	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		c_need_header(n, always[i]);
	if (parts->bits || parts->records)
		c_need_header(n, "string.h");
	if (parts->children) {
		c_need_header(n, "fcntl.h");
		c_need_header(n, "signal.h");
		c_need_header(n, "sys/wait.h");
	}
	if (parts->watches || parts->children > 1)
		c_need_header(n, "stdbool.h");
	if (parts->until_signal || parts->handler)
		c_need_header(n, "signal.h");
	if (parts->rings) {
		c_need_header(n, "poll.h");
		c_need_header(n, "sys/mman.h");
	}
	if (w->p->nothers || w->p->epoll)
		c_need_header(n, "stdlib.h");
	if (w->p->epoll)
		c_need_header(n, "sys/epoll.h");
	qsort(n->headers, n->nheaders, sizeof(*n->headers), by_text);
	buf_adds(w->out, "#define _GNU_SOURCE\n");
	for (size_t i = 0; i < n->nheaders; i++)
		buf_addf(w->out, "#include <%s>\n", n->headers[i]);
	buf_addc(w->out, '\n');
	for (size_t i = 0; i < n->ndefines; i++) {
		const struct xlat_entry *e = n->defines[i];

		buf_addf(w->out, "#ifndef %s /* since Linux %u.%u */\n#define %s 0x%llx\n"
			 "#endif\n", e->name, e->since >> 16, e->since >> 8 & 0xff, e->name,
			 (unsigned long long)e->value);
	}
	if (n->ndefines)
		buf_addc(w->out, '\n');
}

/* A member is explained once, but for the event itself. */
static void put_member(struct writer *w, const struct c_member *m)
{
	c_member_write(w->out, m, say(w, "member", m->comment));
}

static void put_attrs(struct writer *w)
{
	for (size_t i = 0; i < w->p->nattrs; i++) {
		const struct c_program_attr *a = &w->p->attrs[i];

		if (!a->used)
			continue;
		buf_adds(w->out, "/* ");
		c_comment(w->out, a->about, strlen(a->about));
		buf_adds(w->out, " */\n");
		if (is_larger(a)) /* the bytes that the kernel reads behind it must be there */
			buf_addf(w->out, "static union {\n	struct perf_event_attr attr;\n"
				 "	unsigned char bytes[%zu];\n} %s = { .attr = {\n",
				 a->source.size, a->name);
		else
			buf_addf(w->out, "static struct perf_event_attr %s = {\n", a->name);
		for (size_t k = 0; k < a->source.nmembers; k++)
			put_member(w, &a->source.members[k]);
		buf_adds(w->out, is_larger(a) ? "} };\n\n" : "};\n\n");
	}
}

static void put_tables(struct writer *w)
{
	const struct c_program *p = w->p;
	struct buf *out = w->out;

	buf_addf(out, "enum { EVENTS = %d", w->nevents);
	if (w->nrings)
		buf_addf(out, ", RINGS = %d", w->nrings);
	if (w->nchildren > 1)
		buf_addf(out, ", CHILDREN = %d", w->nchildren);
	buf_adds(out, " };\n");
	if (w->nevents)
		buf_adds(out, "static int fd[EVENTS];\n");
	if (w->parts.reads) {
		buf_adds(out, "static const char *const names[EVENTS] = {\n");
		for (size_t i = 0; i < p->nevents; i++) {
			if (!p->events[i].chosen || p->events[i].failed)
				continue;
			buf_adds(out, "	");
			c_string(out, p->events[i].name, strlen(p->events[i].name));
			buf_adds(out, ",\n");
		}
		buf_adds(out, "};\n");
	}
	buf_addc(out, '\n');
}

/* Which function takes the records of which ring, where that is not one for all. */
static void put_drain_table(const struct writer *w, struct buf *out)
{
	const char *before = "";

	if (!c_parts_mixed(&w->parts))
		return;
	buf_adds(out, "static void (*const drains[RINGS])(int) = { ");
	for (size_t i = 0; i < w->p->nrings; i++) {
		if (!w->p->rings[i].chosen)
			continue;
		buf_addf(out, "%s%s", before, c_drain_name(w->p->rings[i].drain));
		before = ", ";
	}
	buf_adds(out, " };\n\n");
}

/* What a program must set at run time: strings, and bits without a member. */
static void put_fixes(struct writer *w)
{
	for (size_t i = 0; i < w->p->nattrs; i++) {
		const struct c_program_attr *a = &w->p->attrs[i];
		const struct c_attr *s = &a->source;
		bool said = false;

		for (size_t k = 0; a->used && k < s->nstrings; k++)
			buf_addf(w->out, "	%s%s.%s = (uintptr_t)%s;\n", a->name,
				 is_larger(a) ? ".attr" : "", s->string_member[k],
				 buf_str(&s->string_value[k]));
		for (size_t at = 0; a->used && at < s->size; at += 8) {
			uint64_t word = load_uint(s->rest + at, 8);

			if (!word)
				continue;
			if (!said && s->unnamed.len)
				buf_addf(w->out, "	/* %s */\n", buf_str(&s->unnamed));
			said = true;
			buf_addf(w->out, "	add_bits(&%s, %zu, 0x%llxULL);\n", a->name, at,
				 (unsigned long long)word);
		}
	}
}

static bool needs_bits(const struct c_program *p)
{
	for (size_t i = 0; i < p->nattrs; i++)
		for (size_t k = 0; p->attrs[i].used && k < p->attrs[i].source.size; k++)
			if (p->attrs[i].source.rest[k])
				return true;
	return false;
}

static void put_arguments(struct writer *w)
{
	size_t others = w->p->nothers, least = others + (w->nchildren ? 1 : 0);
	struct buf *out = w->out;

	buf_addf(out, "int main(%s)\n{\n", least ? "int argc, char **argv" : "void");
	if (others)
		buf_addf(out, "	pid_t other[%zu];\n", others);
	if (w->nchildren == 1)
		buf_adds(out, "	pid_t child;\n	int go;\n");
	else if (w->nchildren)
		buf_adds(out, "	pid_t child[CHILDREN];\n	int go[CHILDREN];\n");
	if (w->p->epoll)
		buf_adds(out, "	int epoll = (int)MUST(epoll_create1(EPOLL_CLOEXEC));\n");
	if (others || w->nchildren || w->p->epoll)
		buf_addc(out, '\n');
	if (least)
		buf_addf(out, "	if (argc < %zu)\n		errx(2, \"usage: %%s%s%s\", argv[0]);\n",
			 least + 1, others ? others > 1 ? " PID..." : " PID" : "",
			 w->nchildren ? " COMMAND [ARGUMENT]..." : "");
	if (others)
		buf_addf(out, "	for (int i = 0; i < %zu; i++)\n"
			 "		other[i] = (pid_t)atoi(argv[i + 1]);\n", others);
}

static void put_signals(struct writer *w)
{
	struct buf *out = w->out;

	if (w->parts.handler)
		buf_adds(out, "	for (int i = SIGRTMIN; i <= SIGRTMAX; i++)\n"
			 "		signal(i, ignore);\n"
			 "	signal(SIGIO, ignore);\n	signal(SIGTRAP, ignore);\n"
			 "	signal(SIGUSR1, ignore);\n	signal(SIGUSR2, ignore);\n");
	if (w->parts.until_signal)
		buf_adds(out, "	signal(SIGINT, interrupt);\n	signal(SIGTERM, interrupt);\n");
	if (w->nchildren == 1)
		buf_addf(out, "	child = start_child(argv + %zu, &go);\n", w->p->nothers + 1);
	else if (w->nchildren)
		buf_addf(out, "	for (int i = 0; i < CHILDREN; i++)\n"
			 "		child[i] = start_child(argv + %zu, &go[i]);\n",
			 w->p->nothers + 1);
	if (w->nchildren)
		buf_adds(out, "	signal(SIGINT, SIG_IGN); /* ^C is for the command */\n");
}

static void put_main(struct writer *w)
{
	put_arguments(w);
	put_fixes(w);
	put_signals(w);
	put_lines(w);
	if (w->parts.records)
		buf_adds(w->out, "	fprintf(stderr, \"%18\" PRIu64 \" samples, %\" PRIu64 \" other "
			 "records, %\" PRIu64 \" lost\\n\",\n"
			 "		samples, others, lost);\n");
	if (w->parts.drains[DRAIN_OVERWRITTEN] || w->parts.drains[DRAIN_BACKWARD])
		buf_adds(w->out, "	fprintf(stderr, \"%18\" PRIu64 \" bytes overwritten "
			 "before they were read\\n\", overrun);\n");
	if (w->parts.drains[DRAIN_AUX])
		buf_adds(w->out, "	fprintf(stderr, \"%18\" PRIu64 \" bytes in AUX areas\\n\", "
			 "aux_bytes);\n");
	if (w->nchildren)
		buf_adds(w->out, "	return WIFEXITED(status) ? WEXITSTATUS(status) : "
			 "128 + WTERMSIG(status);\n}\n");
	else
		buf_adds(w->out, "	return 0;\n}\n");
}

void c_program_write(struct c_program *p, struct buf *out)
{
	struct writer w = { .p = p, .out = out };
	struct buf members = { 0 }, print = { 0 }, table = { 0 };

	name_attrs(p);
	look(&w);
	if (w.parts.records)
		describe_sample(&w, &members, &print);
	add_steps(&w);
	w.parts.bits = needs_bits(p);
	put_title(&w);
	put_includes(&w);
	put_attrs(&w);
	put_tables(&w);
	put_drain_table(&w, &table);
	c_parts_write(&w.parts, buf_str(&table), out);
	put_main(&w);
	for (size_t i = 0; i < w.nlines; i++)
		free(w.lines[i].text);
	free(w.lines);
	free(w.children);
	buf_free(&members);
	buf_free(&print);
	buf_free(&table);
	map_free(&w.said);
}

void c_program_free(struct c_program *p)
{
	for (size_t i = 0; i < p->nattrs; i++) {
		c_attr_free(&p->attrs[i].source);
		free(p->attrs[i].bytes);
		free(p->attrs[i].name);
		free(p->attrs[i].about);
	}
	for (size_t i = 0; i < p->nevents; i++)
		free(p->events[i].name);
	for (size_t i = 0; i < p->nsteps; i++)
		free(p->steps[i].text);
	free(p->attrs);
	free(p->events);
	free(p->rings);
	free(p->steps);
	free(p->children);
	free(p->others);
	c_needs_free(&p->needs);
}
