// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/codegen/c_program.h"

#include <stdlib.h>

#include "core/abi/record_walk.h"
#include "core/lib/die.h"
#include "formats/codegen/c_writer.h"
#include "xlat/tables.h"

/* Choosing what the program contains --------------------------------------------------- */

/* Choose one event, its group, and the events whose rings take their records. */
static void choose_with(struct c_program *p, unsigned int number)
{
	bool more = true;

	for (size_t i = 0; i < p->nevents; i++)
		p->events[i].chosen = p->events[i].number == number;
	while (more) {
		more = false;
		for_each(e, p->events, p->nevents) {
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

bool c_program_choose(struct c_program *p, const struct c_choice *choice)
{
	int events = 0, rings = 0;
	bool any = false;

	if (choice->event)
		choose_with(p, choice->event);
	for_each(e, p->events, p->nevents) {
		bool unused = !e->failed && !e->used && e->closed;

		if (!choice->event) {
			e->chosen = choice->all || !(e->failed || unused);
			p->nfailed += !e->chosen && e->failed;
			p->nprobes += !e->chosen && !e->failed;
		}
		if (e->chosen && !e->failed)
			e->place = events++;
		any |= e->chosen;
	}
	for (size_t i = 0; i < p->nrings; i++) {
		p->rings[i].chosen = p->events[p->rings[i].event].chosen;
		if (p->rings[i].chosen)
			p->rings[i].place = rings++;
	}
	for (size_t i = 0; i < p->nsteps; i++)
		p->missing += p->steps[i].kind == STEP_NOTE && c_step_kept(p, &p->steps[i]);
	return any;
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

/* Which parts a program needs ------------------------------------------------------------ */

/* Return the sample_type bits of the members before the first of variable size. */
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

/* Write struct sample and how to print it, if all events that sample agree on it. */
static void describe_sample(struct writer *w, struct buf *members, struct buf *print)
{
	uint64_t fixed = 0;
	struct buf args = { 0 };
	int n = 0, width = 0;

	for_each(e, w->p->events, w->p->nevents) {
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
		for_each(f, s->layout->fields, s->layout->n) {
			bool hex = f->kind == FIELD_ADDR || f->kind == FIELD_HEX;

			if (width != f->width)
				buf_addf(members, "%s	%s", width ? ";\n" : "",
					 f->width == 8 ? "unsigned long long" : "unsigned int");
			buf_addf(members, "%s %s", width == f->width ? "," : "", f->name);
			width = f->width;
			if (f->kind == FIELD_RESERVED)
				continue;
			if (++n % 6 == 0)
				buf_adds(print, "\"\n		       \"");
			buf_addf(print, " %s=%s%%%s%c", f->name, hex ? "0x" : "",
				 f->width == 8 ? "ll" : "", hex ? 'x' : 'u');
			buf_addf(&args, ", s->%s", f->name);
		}
	}
	buf_adds(members, ";\n");
	buf_addf(print, "\\n\",\n		       %s", buf_str(&args) + 2);
	w->parts.sample = buf_str(members);
	w->parts.sample_print = buf_str(print);
	buf_free(&args);
}

static void find_event_parts(struct writer *w)
{
	const struct c_program *p = w->p;
	struct c_parts *parts = &w->parts;
	bool samples = false;

	for_each(e, p->events, p->nevents) {
		if (!e->chosen)
			continue;
		parts->fails |= e->failed;
		parts->handler |= e->sigtrap;
		parts->tasks |= e->watches && !e->failed;
		samples |= e->sample_period && !e->failed;
		w->nevents += !e->failed;
	}
	parts->tasks &= !samples;
	for_each(r, p->rings, p->nrings) {
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

static void find_parts(struct writer *w)
{
	const struct c_program *p = w->p;
	struct c_parts *parts = &w->parts;
	bool targets = false;

	/* number the measured children; if there are none, the one that the program waits for */
	w->children = xcalloc(p->nchildren + 1, sizeof(int));
	for (size_t i = 0; i < p->nchildren; i++)
		targets |= p->children[i].target;
	for (size_t i = 0; i < p->nchildren; i++) {
		bool in = targets ? p->children[i].target :
			p->children[i].execed && !w->nchildren && !p->self;

		w->children[i] = in ? w->nchildren++ : -1;
	}
	find_event_parts(w);
	for_each(s, p->steps, p->nsteps) {
		if (!c_step_kept(p, s))
			continue;
		parts->fails |= s->fails;
		if (s->kind == STEP_READ) {
			uint64_t format = p->events[s->events[0]].read_format;

			parts->all_formats |= format;
			parts->common_format = parts->reads ? parts->common_format & format :
				format;
			parts->reads = true;
		}
	}
	parts->children = w->nchildren;
	parts->work = p->self && !w->nchildren;
	parts->watches = parts->records && !parts->work;
	parts->until_signal = !parts->work && !parts->children;
	parts->handler |= p->io_signal || p->signals;
	parts->must = parts->children || parts->reads || p->epoll;
}

/* The text ----------------------------------------------------------------------------- */

void c_program_write(struct c_program *p, struct buf *out)
{
	struct writer w = { .p = p, .out = out };
	struct buf members = { 0 }, print = { 0 };

	c_text_name_attrs(p);
	find_parts(&w);
	if (w.parts.records)
		describe_sample(&w, &members, &print);
	c_steps_write(&w);
	for (size_t i = 0; i < p->nattrs; i++) {
		const struct c_attr *a = &p->attrs[i].source;

		w.parts.numbers |= p->attrs[i].used && a->numbers;
		for (size_t k = 0; p->attrs[i].used && k < a->size; k++)
			w.parts.bits |= a->rest[k] != 0;
	}
	c_text_top(&w);
	c_lines_write(&w);
	c_text_end(&w);
	for (size_t i = 0; i < w.nlines; i++)
		free(w.lines[i].text);
	free(w.lines);
	free(w.children);
	buf_free(&members);
	buf_free(&print);
	map_free(&w.written);
}
