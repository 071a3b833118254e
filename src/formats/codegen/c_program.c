// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/codegen/c_program.h"

#include <stdlib.h>
#include <string.h>

#include "xlat/constants.h"

void c_mark(struct buf *out, enum c_mark what, long number)
{
	buf_addf(out, "%c%c%ld%c", MARK_START, (char)what, number, MARK_STOP);
}

bool c_attr_larger(const struct c_program_attr *a)
{
	return a->len > PERF_ATTR_SIZE_VER7; /* in C_HEADERS */
}

bool c_step_kept(const struct c_program *p, const struct c_step *s)
{
	return (s->events[0] < 0 || p->events[s->events[0]].chosen) &&
	       (s->events[1] < 0 || p->events[s->events[1]].chosen);
}

/* Choosing what the program contains --------------------------------------------------- */

static bool event_is_unused(const struct c_event *e)
{
	return !e->failed && !e->used && e->closed;
}

/* Choose one event, its group, and the events whose rings take their records. */
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
			e->chosen = choice->all || !(e->failed || event_is_unused(e));
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
		p->missing += p->steps[i].kind == STEP_NOTE && c_step_kept(p, &p->steps[i]);
	for (size_t i = 0; i < p->nevents; i++)
		if (p->events[i].chosen)
			return true;
	return false;
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
