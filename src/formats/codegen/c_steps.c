// SPDX-License-Identifier: LGPL-2.1-or-later
/* Turn the steps of a program into the lines of its main(). */
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "formats/codegen/c_writer.h"
#include "xlat/constants.h"

/* Append a line to main(). */
static void add_main_line(struct writer *w, const char *text, const char *meaning)
{
	APPEND(w->lines, w->nlines) = (struct line){ xstrdup(text), meaning };
}

/* Append a number that c_lines_write() may turn into an expression, between two texts. */
static void add_number(struct buf *out, const char *before, long n, const char *after)
{
	buf_addf(out, "%s%c%ld%c%s", before, MARK_START, n, MARK_STOP, after);
}

/* Return a step's text with all marks replaced but those of numbers. */
static char *step_resolve(struct writer *w, const char *text)
{
	struct c_program *p = w->p;
	struct buf out = { 0 };

	for (; *text; text++) {
		enum c_mark what = text[0] == MARK_START ? (unsigned char)text[1] : 0;
		char *end = NULL;
		long n;

		if (!what) {
			buf_addc(&out, *text);
			continue;
		}
		n = strtol(text + 2, &end, 10);
		text = end;
		switch (what) {
		case MARK_ATTR:
		case MARK_MEMBERS:
			p->attrs[n].used = true;
			buf_adds(&out, p->attrs[n].name);
			if (what == MARK_MEMBERS && c_attr_larger(&p->attrs[n]))
				buf_adds(&out, ".attr");
			break;
		case MARK_CHILD:
			if (w->nchildren == 1)
				buf_adds(&out, "child");
			else
				add_number(&out, "child[", w->children[n], "]");
			break;
		case MARK_EVENT:
			add_number(&out, "", p->events[n].place, "");
			break;
		case MARK_RING:
			add_number(&out, "", p->rings[n].place, "");
			break;
		case MARK_NUMBER:
			add_number(&out, "", n, "");
			break;
		}
	}
	return out.data ? out.data : xstrdup("");
}

static char *step_read_text(const struct writer *w, int event)
{
	const struct c_program *p = w->p;
	const struct c_event *e = &p->events[event];
	bool plain = c_parts_plain_counts(&w->parts);
	struct buf out = { 0 };
	size_t n = 1;

	c_mark(&out, plain ? "print_count(fd[" : "print_counts(fd[", MARK_EVENT, event, "], ");
	if (!plain && e->attr >= 0)
		c_mark(&out, "", MARK_MEMBERS, e->attr, ".read_format, ");
	else if (!plain)
		buf_adds(&out, "0, ");
	if (!(e->read_format & PERF_FORMAT_GROUP)) {
		c_mark(&out, plain ? "names[" : "&names[", MARK_EVENT, event,
		       plain ? "]);" : "], 1);");
		return out.data;
	}
	/* the group, in the order of opening */
	c_mark(&out, "(const char *[]){ names[", MARK_EVENT, event, "]");
	for (size_t i = 0; i < p->nevents; i++) {
		if (!p->events[i].chosen || p->events[i].failed || p->events[i].leader != event)
			continue;
		c_mark(&out, ", names[", MARK_EVENT, (long)i, "]");
		n++;
	}
	buf_addf(&out, " }, %zu);", n);
	return out.data;
}

/* Where the program waits ------------------------------------------------------------- */

/* Indexes of the steps that decide where to wait; nsteps: none. */
struct places {
	size_t opened, execed, gone, closed, polled, wait;
};

/* A program that continues within this time has not waited. */
#define AT_ONCE_NS 20000000

/* Return whether the step opens an event. */
static bool step_opens(const struct c_program *p, const struct c_step *s)
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

		if (step_opens(p, s) && c_step_kept(p, s))
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
		if (at.closed == none && c_step_kept(p, s) &&
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

static void add_go(struct writer *w)
{
	struct buf text = { 0 };

	for (int i = 0; i < w->nchildren; i++) {
		buf_reset(&text);
		if (w->nchildren == 1)
			buf_adds(&text, "MUST(write(go, \"\", 1));");
		else
			add_number(&text, "MUST(write(go[", i, "], \"\", 1));");
		add_main_line(w, buf_str(&text), "Let the child exec the command");
	}
	buf_free(&text);
}

static void add_wait(struct writer *w)
{
	const char *why = w->nchildren ? "Read records until the command ends" :
		"Read records until all measured tasks have exited, or ^C";

	if (w->parts.watches)
		add_main_line(w, w->nchildren == 1 ? "watch(child);" : "watch();", why);
	else if (w->nchildren)
		add_main_line(w, w->nchildren == 1 ? "MUST(waitpid(child, &status, 0));" :
			 "children_ended(0);", "Wait for the command");
	else if (!w->p->self)
		add_main_line(w, "while (!interrupted)\n\t\tpause();", "Count until ^C");
}

static void add_work(struct writer *w)
{
	add_main_line(w, "work();", "The code to measure");
	w->parts.works = true;
}

static void add_step(struct writer *w, const struct c_step *s)
{
	char *marked = s->kind == STEP_READ ? step_read_text(w, s->events[0]) : NULL;
	char *text = step_resolve(w, marked ? marked : s->text);

	add_main_line(w, text, s->meaning);
	w->parts.must |= s->must;
	free(marked);
	free(text);
}

static void add_drain(struct writer *w, const struct c_ring *r, const char *why)
{
	struct buf text = { 0 };

	if (c_parts_mixed(&w->parts))
		add_number(&text, "drains[", r->place, "]");
	else
		buf_adds(&text, c_drain_name(r->drain));
	add_number(&text, "(", r->place, ");");
	add_main_line(w, buf_str(&text), why);
	buf_free(&text);
}

/* Drain a ring before it is unmapped, unless watch() has done so. */
static void add_unmap(struct writer *w, const struct c_step *s, bool waited)
{
	struct c_ring *r = &w->p->rings[s->ring];
	struct buf text = { 0 };

	if (r->data && !(waited && w->parts.watches))
		add_drain(w, r, "Read the records left in the ring");
	add_step(w, s);
	r->unmapped = true;
	if (w->parts.watches && !waited) {
		add_number(&text, "ring[", r->place, "] = NULL;");
		add_main_line(w, buf_str(&text), NULL);
		w->parts.gaps = true;
		buf_free(&text);
	}
}

/*
 * Add a step that the program contains, after work() if that belongs between the step that
 * enables and the one that disables, reads or closes.
 */
static void add_one(struct writer *w, const struct c_step *s, bool waited, bool *armed)
{
	if (!c_step_kept(w->p, s) || !(s->text || s->kind == STEP_READ))
		return;
	if (w->parts.work && *armed &&
	    (s->kind == STEP_STOP || s->kind == STEP_READ || s->kind == STEP_CLOSE)) {
		add_work(w);
		*armed = false;
	}
	*armed |= step_opens(w->p, s) || s->kind == STEP_START;
	if (s->ring >= 0)
		add_unmap(w, s, waited);
	else
		add_step(w, s);
	for (size_t i = 0; s->pauses && i < w->p->nrings; i++) {
		const struct c_ring *r = &w->p->rings[i];

		if (r->chosen && r->event == s->events[0] && r->data)
			add_drain(w, r, "Read records while the kernel writes none");
	}
}

static int compare_rings(const void *a, const void *b)
{
	const struct c_step *x = a, *y = b;

	return x->ring - y->ring;
}

/*
 * Sort the steps that unmap rings at the end, if no event is opened and no ring mapped after
 * them.  The order in the traced program depends on when it saw which POLLHUP.
 */
static void sort_unmaps(struct c_program *p, size_t from)
{
	size_t first = from, n = 0;
	struct c_step *sorted;

	for (size_t i = from; i < p->nsteps; i++)
		if (p->steps[i].kind == STEP_OPEN || p->steps[i].maps)
			return;
	while (first < p->nsteps && p->steps[first].ring < 0)
		first++;
	sorted = xcalloc(p->nsteps - first + 1, sizeof(*sorted));
	for (size_t i = first; i < p->nsteps; i++)
		if (p->steps[i].ring >= 0)
			sorted[n++] = p->steps[i];
	qsort(sorted, n, sizeof(*sorted), compare_rings);
	for (size_t i = first; i < p->nsteps; i++)
		if (p->steps[i].ring < 0)
			sorted[n++] = p->steps[i];
	if (n)
		memcpy(&p->steps[first], sorted, n * sizeof(*sorted));
	free(sorted);
}

void c_steps_write(struct writer *w)
{
	struct c_program *p = w->p;
	const struct places at = find_places(w);
	bool gone = !w->nchildren, waited = false, armed = false;
	/* whether the traced program waited where this one would wait for ^C */
	bool lingers = w->nevents &&
		(at.polled != p->nsteps || at.wait == p->nsteps || !at.wait ||
		 p->steps[at.wait].ns > p->steps[at.wait - 1].ns + AT_ONCE_NS);

	if (w->parts.until_signal && !lingers) {
		w->parts.until_signal = w->parts.watches = false;
		waited = true;
	}
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
		add_work(w);
	for (size_t i = 0; i < p->nrings && !w->parts.watches; i++)
		if (p->rings[i].chosen && p->rings[i].data && !p->rings[i].unmapped)
			add_drain(w, &p->rings[i], "Read the records left in the ring");
}

/* Lines, and loops for those that repeat ---------------------------------------------- */

/* The most lines in the body of a loop. */
enum { LOOP_MAX = 24 };

/* Get the next number of the text and move *at past it; return false at the end. */
static bool line_number(const char **at, long *n)
{
	const char *mark = strchr(*at, MARK_START);
	char *end;

	if (!mark)
		return false;
	*n = strtol(mark + 1, &end, 10);
	*at = end + 1;
	return true;
}

/* Return whether two lines differ in their numbers only. */
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

/* Return whether numbers grow from x to y as they do from y to z. */
static bool same_steps(const struct line *x, const struct line *y, const struct line *z)
{
	const char *a = x->text, *b = y->text, *c = z->text;
	long i, j, k;

	while (line_number(&a, &i) && line_number(&b, &j) && line_number(&c, &k))
		if (j - i != k - j)
			return false;
	return true;
}

/* Count how often n lines repeat from at on, with numbers that grow evenly. */
static size_t loop_turns(const struct writer *w, size_t at, size_t n)
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

/* Return how many lines the body of the loop has that shortens the program most; 0: none. */
static size_t find_loop(const struct writer *w, size_t at, size_t *times)
{
	size_t best = 0, saved = 0;

	for (size_t n = 1; n <= LOOP_MAX && at + 2 * n <= w->nlines; n++) {
		size_t r = same_shape(&w->lines[at], &w->lines[at + n]) ?
			loop_turns(w, at, n) : 1;
		size_t gain = (r - 1) * n;

		if (gain > saved && gain >= 2) {
			best = n;
			saved = gain;
			*times = r;
		}
	}
	return best;
}

/* Append a number as an expression of the turn i: start + step * i. */
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

static void line_meaning(struct writer *w, const struct line *l, const char *indent)
{
	if (l->meaning && c_say(w, "step", l->meaning))
		buf_addf(w->out, "%s/* %s */\n", indent, l->meaning);
}

/* Write a line; later is the same line in the next turn of a loop, or NULL. */
static void line_write(struct writer *w, const struct line *l, const struct line *later)
{
	const char *indent = later ? "\t\t" : "\t", *at = l->text, *from;
	const char *next = later ? later->text : NULL;
	struct buf text = { 0 };
	long n = 0, m = 0;

	for (from = at; line_number(&at, &n); from = at) {
		buf_add(&text, from, strcspn(from, "\001"));
		if (next)
			line_number(&next, &m);
		add_index(&text, n, later ? m - n : 0);
	}
	buf_adds(&text, from);
	buf_addf(w->out, "%s%s\n", indent, buf_str(&text));
	buf_free(&text);
}

void c_lines_write(struct writer *w)
{
	size_t at = 0;

	while (at < w->nlines) {
		size_t times = 1, n = find_loop(w, at, &times), body = n ? n : 1;
		bool braces = n > 1 || strchr(w->lines[at].text, '\n');

		if (!(n && braces))
			line_meaning(w, &w->lines[at], "\t");
		if (n)
			buf_addf(w->out, "	for (int i = 0; i < %zu; i++)%s\n", times,
				 braces ? " {" : "");
		for (size_t i = at; i < at + body; i++) {
			if (n && braces)
				line_meaning(w, &w->lines[i], "\t\t");
			line_write(w, &w->lines[i], n ? &w->lines[i + n] : NULL);
		}
		if (n && braces)
			buf_adds(w->out, "	}\n");
		at += n ? n * times : 1;
	}
}
