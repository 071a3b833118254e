// SPDX-License-Identifier: LGPL-2.1-or-later
/* Turn the steps of a program into the lines of its main(). */
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "formats/codegen/c_writer.h"
#include "xlat/constants.h"

/* Return a step's text with all marks replaced but those of numbers. */
static char *step_resolve(struct writer *w, const char *text)
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
			if (what == MARK_MEMBERS && c_attr_larger(&p->attrs[n]))
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

/* Append the names of a group, in the order of opening. */
static void group_names(const struct c_program *p, int event, struct buf *out)
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

static char *step_read_text(const struct writer *w, int event)
{
	const struct c_program *p = w->p;
	const struct c_event *e = &p->events[event];
	bool plain = c_parts_plain_counts(&w->parts);
	struct buf out = { 0 };

	buf_adds(&out, plain ? "print_count(fd[" : "print_counts(fd[");
	c_mark(&out, MARK_EVENT, event);
	buf_adds(&out, "], ");
	if (!plain && e->attr >= 0) {
		c_mark(&out, MARK_MEMBERS, e->attr);
		buf_adds(&out, ".read_format, ");
	} else if (!plain) {
		buf_adds(&out, "0, ");
	}
	if (e->read_format & PERF_FORMAT_GROUP) {
		group_names(p, event, &out);
		return out.data;
	}
	buf_adds(&out, plain ? "names[" : "&names[");
	c_mark(&out, MARK_EVENT, event);
	buf_adds(&out, plain ? "]);" : "], 1);");
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

/* Return whether the traced program waited where this one would wait for ^C. */
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
		c_writer_line(w, buf_str(&text), "Let the child exec the command");
	}
	buf_free(&text);
}

static void add_wait(struct writer *w)
{
	const char *why = w->nchildren ? "Read records until the command ends" :
		"Read records until all measured tasks have exited, or ^C";

	if (w->parts.watches)
		c_writer_line(w, w->nchildren == 1 ? "watch(child);" : "watch();", why);
	else if (w->nchildren)
		c_writer_line(w, w->nchildren == 1 ? "MUST(waitpid(child, &status, 0));" :
			 "children_ended(0);", "Wait for the command");
	else if (!w->p->self)
		c_writer_line(w, "while (!interrupted)\n\t\tpause();", "Count until ^C");
}

static void add_work(struct writer *w)
{
	c_writer_line(w, "work();", "The code to measure");
	w->parts.works = true;
}

/* Put work() between the step that enables and the one that disables, reads or closes. */
static void add_work_before(struct writer *w, const struct c_step *s, bool *armed)
{
	if (!w->parts.work)
		return;
	if (*armed && (s->kind == STEP_STOP || s->kind == STEP_READ || s->kind == STEP_CLOSE)) {
		add_work(w);
		*armed = false;
	}
	*armed |= step_opens(w->p, s) || s->kind == STEP_START;
}

static void add_step(struct writer *w, const struct c_step *s)
{
	bool reads = s->kind == STEP_READ;
	char *marked = reads ? step_read_text(w, s->events[0]) : NULL;
	char *text = step_resolve(w, reads ? marked : s->text);

	c_writer_line(w, text, s->meaning);
	w->parts.must |= s->must;
	free(marked);
	free(text);
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
	c_writer_line(w, buf_str(&text), why);
	buf_free(&text);
}

/* Read the rings of an event while its output is paused. */
static void add_paused(struct writer *w, const struct c_step *s)
{
	for (size_t i = 0; i < w->p->nrings; i++) {
		const struct c_ring *r = &w->p->rings[i];

		if (r->chosen && r->event == s->events[0] && r->data)
			add_drain(w, r, "Read records while the kernel writes none");
	}
}

/* Drain a ring before it is unmapped, unless watch() has done so. */
static void add_unmap(struct writer *w, const struct c_step *s, bool waited)
{
	struct c_ring *r = &w->p->rings[s->ring];

	if (r->data && !(waited && w->parts.watches))
		add_drain(w, r, "Read the records left in the ring");
	add_step(w, s);
	r->unmapped = true;
	if (w->parts.watches && !waited) {
		struct buf text = { 0 };

		buf_addf(&text, "ring[%c%d%c] = NULL;", MARK_START, r->place, MARK_STOP);
		c_writer_line(w, buf_str(&text), NULL);
		w->parts.gaps = true;
		buf_free(&text);
	}
}

static void add_one(struct writer *w, const struct c_step *s, bool waited, bool *armed)
{
	if (!c_step_kept(w->p, s) || !(s->text || s->kind == STEP_READ))
		return;
	add_work_before(w, s, armed);
	if (s->ring >= 0)
		add_unmap(w, s, waited);
	else
		add_step(w, s);
	if (s->pauses)
		add_paused(w, s);
}

static int compare_rings(const void *a, const void *b)
{
	const struct c_step *const *x = a, *const *y = b;

	return (*x)->ring - (*y)->ring;
}

/*
 * Sort the steps that unmap rings at the end.  The order in the traced program depends
 * on when it saw which POLLHUP.
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
	qsort(unmaps, n, sizeof(*unmaps), compare_rings);
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

void c_steps_write(struct writer *w)
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
		add_work(w);
	for (size_t i = 0; i < p->nrings && !w->parts.watches; i++)
		if (p->rings[i].chosen && p->rings[i].data && !p->rings[i].unmapped)
			add_drain(w, &p->rings[i], "Read the records left in the ring");
}
