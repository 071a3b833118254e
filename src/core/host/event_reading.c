// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/event_reading.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/abi/arch.h"
#include "core/abi/attr_member.h"
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

	for_each(o, attr->fields, attr->n) {
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

char syntax_peek(struct reading *r)
{
	r->c.at = scan_blanks(r->c.at, r->c.end);
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

/* Values ----------------------------------------------------------------------- */

/* Store the error of v at the word where it occurred. */
static bool bad_value(struct reading *r, const struct field *f, const struct text_cursor *v,
		      const char *from)
{
	const char *word = v->at;

	while (word > from && scan_is_word(word[-1]))
		word--;
	return FAIL_AT(r, word, "%s: %s", f->name, v->why);
}

/* Parse a mask of registers: AX|BX|0x100. */
static bool read_regs(struct reading *r, const struct field *f, const char *from,
		      const char *end, uint64_t *v)
{
	const struct xlat *x = arch_native()->regs;

	for (*v = 0; from <= end;) {
		size_t len = syntax_reach(from, end, "|");
		struct text_cursor one = { .at = from, .end = from + len };
		const struct xlat_entry *e = NULL;
		char name[64];
		uint64_t bits;

		if (len < sizeof(name)) {
			memcpy(name, from, len);
			name[len] = '\0';
			e = xlat_by_name(x, name);
		}
		if (e && e->value < 64 && !(e->traits & XLAT_NONABI))
			bits = 1ULL << e->value;
		else if (!value_read(&one, x, &bits))
			return bad_value(r, f, &one, from);
		*v |= bits;
		from += len + 1;
	}
	return true;
}

/* Return the member sample_WORD, or NULL: perf's terms are period and freq. */
static const struct field *prefixed(const char *word, size_t len)
{
	char name[64];

	snprintf(name, sizeof(name), "sample_%.*s", (int)len, word);
	return attr_member(name, strlen(name));
}

static bool value_fits(const struct field *f, uint64_t v)
{
	unsigned int bits = f->nbits ? f->nbits : 8u * f->width;

	return bits == 64 || v >> bits == 0 ||
	       (!f->nbits && (int64_t)v < 0 && (int64_t)v >= -(1LL << (bits - 1)));
}

static bool value_read_number(struct reading *r, const struct event_spec *e,
			      const struct field *f, const char *from, const char *end,
			      uint64_t *v)
{
	struct text_cursor c = { .at = from, .end = end };
	/* the names that the value can have */
	const struct xlat *x = f->kind == FIELD_CONFIG ?
			       attr_config_values(event_get(e, ATTR_TYPE)) : f->xlat;
	const struct pmu *p;

	if (f->kind == FIELD_REGS)
		return read_regs(r, f, from, end, v);
	p = f->kind == FIELD_PMU ? pmu_find(host_pmus(r->host), from, (size_t)(end - from)) :
	    NULL;
	if (p)
		*v = p->type;
	else if (!value_read(&c, x, v))
		return bad_value(r, f, &c, from);
	if (!value_fits(f, *v) && prefixed(f->name, strlen(f->name)))
		return FAIL_AT(r, from, "%s is a bit; did you mean sample_%s=%llu?", f->name,
			       f->name, (unsigned long long)*v);
	return value_fits(f, *v) ||
	       FAIL_AT(r, from, "%s has %u bit%s; 0x%llx requires more", f->name,
		       f->nbits ? f->nbits : 8u * f->width, f->nbits == 1 ? "" : "s",
		       (unsigned long long)*v);
}

bool syntax_set_member(struct reading *r, const struct field *f, const char *from,
		       const char *end)
{
	unsigned int index = (unsigned int)(f - attr->fields);
	bool number = from && from < end && (scan_is_digit(*from) || *from == '-');
	bool string = f->kind == FIELD_STRING && from && from < end && !number, ok = true;
	struct buf quoted = { 0 };

	if (!from && f->nbits != 1)
		return FAIL_AT(r, r->c.at, "%s requires a value: %s=...", f->name, f->name);
	if (string && *from == '"') {
		buf_add(&quoted, from, (size_t)(end - from));
	} else if (string) {
		buf_addc(&quoted, '"');
		for (const char *p = from; p < end; p++)
			buf_addf(&quoted, *p == '\\' ? "\\\\" : "%c", *p);
		buf_addc(&quoted, '"');
	}
	for (size_t i = r->first; ok && i < r->list->n; i++) {
		struct event_spec *e = &r->list->events[i];
		struct text_cursor c = { 0 };
		uint64_t v = 1;

		if (string) {
			ok = attr_member_set(&c, f->name, strlen(f->name), buf_str(&quoted),
					     quoted.len, NULL, &e->attr) ||
			     FAIL_AT(r, from, "%s", c.why);
		} else {
			ok = !from || value_read_number(r, e, f, from, end, &v);
			if (ok)
				event_set(e, index, v);
		}
		e->given[index] |= ok;
	}
	buf_free(&quoted);
	return ok;
}

bool syntax_member(struct reading *r, size_t len)
{
	const char *word = r->c.at, *value = NULL;
	const char *end = scan_blanks(word + len, r->c.end);
	const struct field *f = attr_member(word, len);
	struct nearest n;

	if (!f) {
		nearest_start(&n, word, len);
		if (prefixed(word, len))
			snprintf(n.best, sizeof(n.best), "%s", prefixed(word, len)->name);
		else
			attr_member_offer(&n);
		return syntax_unknown(r, word, "struct perf_event_attr has no member", &n,
				      "pevtrace(1) lists where to find them");
	}
	if (r->first == r->list->n) {
		if (end == r->c.end || *end != '=')
			return FAIL_AT(r, word, "%s is a member of an event: expected an "
				       "event before it", f->name);
		if (!syntax_add(r, NULL))
			return false;
		syntax_label(&r->list->events[r->first], word, syntax_item_reach(r, word));
	}
	if (end < r->c.end && *end == '=') {
		value = end + 1;
		end = value + syntax_item_reach(r, value);
	}
	if (!syntax_set_member(r, f, value, end))
		return false;
	r->c.at = end;
	return true;
}

/* Modifiers --------------------------------------------------------------------- */

/* Modifiers that exclude what others of their kind, modes or sides, stand for. */
static const struct {
	char letter;
	unsigned int member;
	bool side;
} modes[] = {
	{ 'u', ATTR_EXCLUDE_USER, false }, { 'k', ATTR_EXCLUDE_KERNEL, false },
	{ 'h', ATTR_EXCLUDE_HV, false }, { 'H', ATTR_EXCLUDE_HOST, true },
	{ 'G', ATTR_EXCLUDE_GUEST, true },
};

enum { MODES = sizeof(modes) / sizeof(*modes) };

/* Apply one modifier; return false if no member of the attr corresponds to it. */
static bool modify(struct event_spec *e, char letter, bool *mode_begun, bool *host_begun)
{
	unsigned int bit = 0;
	uint64_t precise;

	for (size_t i = 0; i < MODES; i++) {
		bool *begun = modes[i].side ? host_begun : mode_begun;

		if (letter != modes[i].letter)
			continue;
		for (size_t k = 0; k < MODES; k++) {
			if (modes[k].side != modes[i].side)
				continue;
			if (!*begun)
				event_set(e, modes[k].member, 1);
			e->given[modes[k].member] = true;
		}
		*begun = true;
		event_set(e, modes[i].member, 0);
		return true;
	}
	switch (letter) {
	case 'p':
		bit = ATTR_PRECISE_IP;
		precise = event_get(e, bit) + 1;
		if (precise > PRECISE_IP_ZERO_SKID)
			return false;
		event_set(e, bit, precise);
		break;
	case 'S':
		event_set(e, ATTR_SAMPLE_TYPE, event_get(e, ATTR_SAMPLE_TYPE) | PERF_SAMPLE_READ);
		e->reads = true;
		return true;
	case 'I':
	case 'D':
	case 'e':
		bit = letter == 'I' ? ATTR_EXCLUDE_IDLE : letter == 'D' ? ATTR_PINNED :
		      ATTR_EXCLUSIVE;
		event_set(e, bit, 1);
		break;
	default:
		return false;
	}
	e->given[bit] = true;
	return true;
}

static bool bad_modifier(struct reading *r, const char *at)
{
	switch (*at) {
	case 'p':
		return FAIL_AT(r, at, "more than three p: precise_ip is at most 3");
	case 'P':
		return FAIL_AT(r, at, "modifier P makes perf try which precise_ip works; "
			       "write p, pp or ppp");
	case 'W':
	case 'b':
		return FAIL_AT(r, at, "modifier %c is an option of perf, not a "
			       "member of attr; leave it out", *at);
	case 'r':
	case 'w':
	case 'x':
		return FAIL_AT(r, at, "'%c' is not a modifier but an access of a breakpoint, which "
			       "precedes modifiers: mem:ADDR[/LENGTH][:ACCESS][:MODIFIERS], as in "
			       "mem:0x1000/8:rw:u", *at);
	default:
		return FAIL_AT(r, at, "unknown modifier '%c'; known are u k h G H I p "
			       "S D e", *at);
	}
}

bool syntax_modifiers(struct reading *r, size_t first, bool of_group)
{
	const char *from = r->c.at, *end = from + syntax_item_reach(r, from);

	if (from == end)
		return FAIL_AT(r, from, "expected a modifier after the colon");
	for (size_t i = first; i < r->list->n; i++) {
		struct event_spec *e = &r->list->events[i];
		bool mode_begun = event_get(e, ATTR_EXCLUDE_USER) ||
				  event_get(e, ATTR_EXCLUDE_KERNEL) ||
				  event_get(e, ATTR_EXCLUDE_HV);
		bool host_begun = e->given[ATTR_EXCLUDE_HOST];

		for (const char *p = from; p < end; p++)
			if (!modify(e, *p, &mode_begun, &host_begun))
				return bad_modifier(r, p);
		/* perf excludes guests with u or p, or without modifiers */
		if (memchr(from, 'u', (size_t)(end - from)) ||
		    memchr(from, 'p', (size_t)(end - from)))
			e->given[ATTR_EXCLUDE_GUEST] = e->given[ATTR_EXCLUDE_HOST];
		else if (!of_group)
			e->given[ATTR_EXCLUDE_GUEST] = true;
	}
	r->c.at = end;
	return true;
}

bool syntax_may_modify(struct reading *r, size_t first, bool of_group)
{
	if (r->c.at == r->c.end || *r->c.at != ':')
		return true;
	r->c.at++;
	return syntax_modifiers(r, first, of_group);
}
