// SPDX-License-Identifier: LGPL-2.1-or-later
/* The text of a program, from its parts. */
#include <stdlib.h>

#include "core/abi/record_walk.h"
#include "core/lib/die.h"
#include "formats/codegen/c_writer.h"
#include "xlat/tables.h"

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

	for (size_t i = 0; i < p->nevents; i++) {
		const struct c_event *e = &p->events[i];

		if (!e->chosen)
			continue;
		parts->fails |= e->failed;
		parts->handler |= e->sigtrap;
		parts->tasks |= e->watches && !e->failed;
		samples |= e->sample_period && !e->failed;
		w->nevents += !e->failed;
	}
	parts->tasks &= !samples;
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

static void find_step_parts(struct writer *w)
{
	const struct c_program *p = w->p;
	struct c_parts *parts = &w->parts;

	for (size_t i = 0; i < p->nsteps; i++) {
		const struct c_step *s = &p->steps[i];

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
}

/* Number the measured children; if there are none, the one that the program waits for. */
static void find_children(struct writer *w)
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

static void find_parts(struct writer *w)
{
	struct c_parts *parts = &w->parts;

	find_children(w);
	find_event_parts(w);
	find_step_parts(w);
	parts->children = w->nchildren;
	parts->work = w->p->self && !w->nchildren;
	parts->watches = parts->records && !parts->work;
	parts->until_signal = !parts->work && !parts->children;
	parts->handler |= w->p->io_signal || w->p->signals;
	parts->must = parts->children || parts->reads || w->p->epoll;
}

/* The text ----------------------------------------------------------------------------- */

void c_program_write(struct c_program *p, struct buf *out)
{
	struct writer w = { .p = p, .out = out };
	struct buf members = { 0 }, print = { 0 }, table = { 0 };

	c_text_name_attrs(p);
	find_parts(&w);
	if (w.parts.records)
		describe_sample(&w, &members, &print);
	c_steps_write(&w);
	w.parts.bits = c_text_needs_bits(p);
	for (size_t i = 0; i < p->nattrs; i++)
		w.parts.numbers |= p->attrs[i].used && p->attrs[i].source.numbers;
	c_text_top(&w);
	c_text_drain_table(&w, &table);
	c_parts_write(&w.parts, buf_str(&table), out);
	c_text_main(&w);
	for (size_t i = 0; i < w.nlines; i++)
		free(w.lines[i].text);
	free(w.lines);
	free(w.children);
	buf_free(&members);
	buf_free(&print);
	buf_free(&table);
	map_free(&w.written);
}
