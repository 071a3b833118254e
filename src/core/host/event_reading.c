// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/event_reading.h"

#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "core/lib/scan_text.h"

static const struct layout *const attr = &layout_perf_event_attr;

/* Events and members --------------------------------------------------------- */

uint64_t event_get(const struct event_spec *e, unsigned int member)
{
	return layout_get(attr, member, e->attr.bytes, sizeof(e->attr.bytes));
}

static bool share_place(const struct field *a, const struct field *b)
{
	return a != b && a->offset == b->offset && a->width == b->width &&
	       a->bit == b->bit && a->nbits == b->nbits;
}

/* Return the bit that selects this member of a union, or NULL. */
static const struct field *choosing_bit(const struct field *f)
{
	const struct field *bit = f->when.op == COND_EQ ? &attr->fields[f->when.field] : NULL;

	return bit && bit->nbits == 1 ? bit : NULL;
}

void event_set(struct event_spec *e, unsigned int member, uint64_t v)
{
	const struct field *f = &attr->fields[member], *bit;

	for (size_t i = 0; i < attr->n; i++) {
		const struct field *o = &attr->fields[i];

		bit = choosing_bit(o);
		if (bit && share_place(o, f) && !e->given[o->when.field])
			field_set(bit, !o->when.value, e->attr.bytes);
	}
	bit = choosing_bit(f);
	if (bit && !e->given[f->when.field])
		field_set(bit, f->when.value, e->attr.bytes);
	field_set(f, v, e->attr.bytes);
}

void event_default(struct event_spec *e, unsigned int member, uint64_t v)
{
	const struct field *f = &attr->fields[member];

	for (size_t i = 0; i < attr->n; i++)
		if (e->given[i] && (i == member || share_place(f, &attr->fields[i])))
			return;
	event_set(e, member, v);
}

void event_list_free(struct event_list *l)
{
	free(l->events);
	*l = (struct event_list){ 0 };
}

struct event_spec *syntax_add(struct reading *r, const struct event_code *code)
{
	struct event_list *l = r->list;
	struct event_spec *e;

	if (l->n == EVENT_LIST_MAX) {
		text_cursor_fail(&r->c, "more than %d events; open them in several runs",
				 EVENT_LIST_MAX);
		return NULL;
	}
	if (!(l->n & (l->n - 1))) /* doubles at powers of two */
		l->events = xrealloc(l->events, (l->n ? 2 * l->n : 1) * sizeof(*l->events));
	e = &l->events[l->n];
	memset(e, 0, sizeof(*e));
	e->leader = l->n++;
	field_set(&attr->fields[ATTR_SIZE], attr->size, e->attr.bytes);
	if (code) {
		event_set(e, ATTR_TYPE, code->type);
		event_set(e, ATTR_CONFIG, code->config);
		e->given[ATTR_TYPE] = e->given[ATTR_CONFIG] = true;
	}
	return e;
}

/* Text ------------------------------------------------------------------------- */

const char *syntax_skip_blanks(const char *at, const char *end)
{
	return scan_blanks(at, end);
}

char syntax_peek(struct reading *r)
{
	r->c.at = syntax_skip_blanks(r->c.at, r->c.end);
	return r->c.at < r->c.end ? *r->c.at : '\0';
}

size_t syntax_reach(const char *at, const char *end, const char *stop)
{
	const char *p = at;
	bool quoted = false;

	for (; p < end && *p; p++) {
		if (*p == '\\' && quoted && p + 1 < end)
			p++;
		else if (*p == '"')
			quoted = !quoted;
		else if (!quoted && strchr(stop, *p))
			break;
	}
	return (size_t)(p - at);
}

size_t syntax_item_reach(const struct reading *r, const char *at)
{
	return syntax_reach(at, r->c.end, ",}");
}

void syntax_label(struct event_spec *e, const char *text, size_t len)
{
	if (len >= sizeof(e->attr.label))
		len = sizeof(e->attr.label) - 1;
	memcpy(e->attr.label, text, len);
	e->attr.label[len] = '\0';
}

bool syntax_unknown(struct reading *r, const char *at, const char *what,
		    const struct nearest *n, const char *otherwise)
{
	if (*n->best)
		return FAIL_AT(r, at, "%s '%s'; did you mean %s?", what, n->word, n->best);
	return FAIL_AT(r, at, "%s '%s'; %s", what, n->word, otherwise);
}
