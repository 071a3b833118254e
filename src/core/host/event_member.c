// SPDX-License-Identifier: LGPL-2.1-or-later
/* Members of the attr by name, and perf's modifiers, which set some of them. */
#include <stdio.h>

#include "core/abi/arch.h"
#include "core/abi/attr_fields.h"
#include "core/abi/attr_member.h"
#include "core/host/event_reading.h"
#include "core/lib/scan_text.h"

static const struct layout *const attr = &layout_perf_event_attr;

/* Values ----------------------------------------------------------------------- */

/* Return the names that a member's value can have in this event, or NULL. */
static const struct xlat *names_of(const struct event_spec *e, const struct field *f)
{
	return f->kind == FIELD_CONFIG ? attr_config_values(event_get(e, ATTR_TYPE)) : f->xlat;
}

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
	const struct xlat *x = names_of(e, f);
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

/* Set a path or function name, in quotes or not. */
static bool set_string(struct reading *r, struct event_spec *e, const struct field *f,
		       const char *from, const char *end)
{
	struct text_cursor c = { 0 };
	struct buf quoted = { 0 };
	bool ok;

	if (*from == '"') {
		buf_add(&quoted, from, (size_t)(end - from));
	} else {
		buf_addc(&quoted, '"');
		for (const char *p = from; p < end; p++)
			buf_addf(&quoted, *p == '\\' ? "\\\\" : "%c", *p);
		buf_addc(&quoted, '"');
	}
	ok = attr_member_set(&c, f->name, strlen(f->name), buf_str(&quoted), quoted.len,
			     NULL, &e->attr);
	buf_free(&quoted);
	return ok || FAIL_AT(r, from, "%s", c.why);
}

bool syntax_set_member(struct reading *r, const struct field *f, const char *from,
		       const char *end)
{
	unsigned int index = (unsigned int)(f - attr->fields);
	bool number = from && from < end && (scan_is_digit(*from) || *from == '-');

	if (!from && f->nbits != 1)
		return FAIL_AT(r, r->c.at, "%s requires a value: %s=...", f->name, f->name);
	for (size_t i = r->first; i < r->list->n; i++) {
		struct event_spec *e = &r->list->events[i];
		uint64_t v = 1;

		if (f->kind == FIELD_STRING && from && from < end && !number) {
			if (!set_string(r, e, f, from, end))
				return false;
		} else {
			if (from && !value_read_number(r, e, f, from, end, &v))
				return false;
			event_set(e, index, v);
		}
		e->given[index] = true;
	}
	return true;
}

static bool unknown_member(struct reading *r, const char *word, size_t len)
{
	struct nearest n;

	nearest_start(&n, word, len);
	if (prefixed(word, len))
		snprintf(n.best, sizeof(n.best), "%s", prefixed(word, len)->name);
	else
		attr_member_offer(&n);
	return syntax_unknown(r, word, "struct perf_event_attr has no member", &n,
		       "pevtrace(1) lists where to find them");
}

bool syntax_member(struct reading *r, size_t len)
{
	const char *word = r->c.at, *value = NULL;
	const char *end = syntax_skip_blanks(word + len, r->c.end);
	const struct field *f = attr_member(word, len);

	if (!f)
		return unknown_member(r, word, len);
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

enum { MODES = 3 };

static const struct {
	char letter;
	unsigned int member;
} modes[MODES] = {
	{ 'u', ATTR_EXCLUDE_USER }, { 'k', ATTR_EXCLUDE_KERNEL }, { 'h', ATTR_EXCLUDE_HV },
};

static void exclude_all_but(struct event_spec *e, const unsigned int *members, size_t n,
			    unsigned int wanted, bool *begun)
{
	for (size_t i = 0; i < n; i++) {
		if (!*begun)
			event_set(e, members[i], 1);
		e->given[members[i]] = true;
	}
	*begun = true;
	event_set(e, wanted, 0);
}

/* Apply one modifier; return false if no member of the attr corresponds to it. */
static bool modify(struct event_spec *e, char letter, bool *mode_begun, bool *host_begun)
{
	static const unsigned int mode_members[] = {
		ATTR_EXCLUDE_USER, ATTR_EXCLUDE_KERNEL, ATTR_EXCLUDE_HV,
	};
	static const unsigned int host_members[] = { ATTR_EXCLUDE_HOST, ATTR_EXCLUDE_GUEST };
	unsigned int bit = 0;
	uint64_t precise;

	for (size_t i = 0; i < MODES; i++) {
		if (letter != modes[i].letter)
			continue;
		exclude_all_but(e, mode_members, MODES, modes[i].member, mode_begun);
		return true;
	}
	switch (letter) {
	case 'G':
		exclude_all_but(e, host_members, 2, ATTR_EXCLUDE_GUEST, host_begun);
		return true;
	case 'H':
		exclude_all_but(e, host_members, 2, ATTR_EXCLUDE_HOST, host_begun);
		return true;
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
