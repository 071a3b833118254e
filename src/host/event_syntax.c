// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/event_syntax.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/arch.h"
#include "abi/attr_member.h"
#include "abi/attr_value.h"
#include "abi/layout.h"
#include "host/event_words.h"
#include "host/pmu.h"
#include "lib/die.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

static const struct layout *const attr = &layout_perf_event_attr;

struct reading {
	struct event_list *list;
	struct host *host;
	struct text_cursor c;
	size_t first;		/* members go to the events from here on */
	bool grouped;		/* within braces */
};

static const unsigned int configs[PMU_CONFIGS] = {
	ATTR_CONFIG, ATTR_CONFIG1, ATTR_CONFIG2, ATTR_CONFIG3, ATTR_CONFIG4,
};

/* Trouble at that place of the text. */
#define FAIL_AT(r, where, ...)							\
	((r)->c.at = (where), text_cursor_fail(&(r)->c, __VA_ARGS__))

/* For "%.*s" with a word of the text. */
static int some(size_t len)
{
	return len < 60 ? (int)len : 60;
}

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

/* The one bit that says which member is in this one's place; or NULL. */
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

/* NULL, with the reason, when there are too many. */
static struct event_spec *add_event(struct reading *r, const struct event_code *code)
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

static bool is_word(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       (ch >= '0' && ch <= '9') || ch == '_';
}

static const char *behind_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r')))
		at++;
	return at;
}

/* What comes next, behind blanks; NUL at the end. */
static char peek(struct reading *r)
{
	r->c.at = behind_blanks(r->c.at, r->c.end);
	return r->c.at < r->c.end ? *r->c.at : '\0';
}

/* How far it is to one of stop outside of quotes, or to the end. */
static size_t reach(const char *at, const char *end, const char *stop)
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

static size_t item_reach(const struct reading *r, const char *at)
{
	return reach(at, r->c.end, ",}");
}

static void set_label(struct event_spec *e, const char *text, size_t len)
{
	if (len >= sizeof(e->attr.label))
		len = sizeof(e->attr.label) - 1;
	memcpy(e->attr.label, text, len);
	e->attr.label[len] = '\0';
}

/* Says what is not known, and what is near to it. */
static bool unknown(struct reading *r, const char *at, const char *what,
		    const struct nearest *n, const char *otherwise)
{
	if (*n->best)
		return FAIL_AT(r, at, "%s '%s'; did you mean %s?", what, n->word, n->best);
	return FAIL_AT(r, at, "%s '%s'; %s", what, n->word, otherwise);
}

/* Values ----------------------------------------------------------------------- */

/* The names that a member's value can have in this event. */
static const struct xlat *names_of(const struct event_spec *e, const struct field *f)
{
	if (f->kind != FIELD_CONFIG)
		return f->xlat;
	switch (event_get(e, ATTR_TYPE)) {
	case PERF_TYPE_HARDWARE:
		return &xlat_perf_hw_id;
	case PERF_TYPE_SOFTWARE:
		return &xlat_perf_sw_ids;
	default:
		return NULL;
	}
}

/* Which constant of x was meant by the word that ends where v stopped. */
static bool bad_value(struct reading *r, const struct field *f, const struct xlat *x,
		      const struct text_cursor *v, const char *from)
{
	const char *word = v->at;
	struct nearest n;

	while (word > from && is_word(word[-1]))
		word--;
	nearest_start(&n, word, (size_t)(v->at - word));
	for (size_t i = 0; x && i < x->n; i++)
		if (!(x->entries[i].traits & XLAT_NONABI))
			nearest_try(&n, x->entries[i].name + strlen(x->prefix));
	if (*n.best)
		return FAIL_AT(r, word, "%s: %s; did you mean %s?", f->name, v->why, n.best);
	return FAIL_AT(r, word, "%s: %s", f->name, v->why);
}

/* AX|BX|0x100: registers by name, as bits. */
static bool read_regs(struct reading *r, const struct field *f, const char *from,
		      const char *end, uint64_t *v)
{
	const struct xlat *x = arch_native()->regs;

	for (*v = 0; from <= end;) {
		size_t len = reach(from, end, "|");
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
			return bad_value(r, f, x, &one, from);
		*v |= bits;
		from += len + 1;
	}
	return true;
}

static bool fits(const struct field *f, uint64_t v)
{
	unsigned int bits = f->nbits ? f->nbits : 8u * f->width;

	return bits == 64 || v >> bits == 0 ||
	       (!f->nbits && (int64_t)v < 0 && (int64_t)v >= -(1LL << (bits - 1)));
}

static bool read_number(struct reading *r, const struct event_spec *e,
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
		return bad_value(r, f, x, &c, from);
	return fits(f, *v) ||
	       FAIL_AT(r, from, "%s has %u bits, and 0x%llx needs more", f->name,
		       f->nbits ? f->nbits : 8u * f->width, (unsigned long long)*v);
}

/* A path or function name, in quotes or not. */
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

/* Gives the events from r->first on the member at f; without from: its bit is 1. */
static bool set_member(struct reading *r, const struct field *f, const char *from,
		       const char *end)
{
	unsigned int index = (unsigned int)(f - attr->fields);
	bool number = from && from < end && ((*from >= '0' && *from <= '9') || *from == '-');

	if (!from && f->nbits != 1)
		return FAIL_AT(r, r->c.at, "%s needs a value: %s=...", f->name, f->name);
	for (size_t i = r->first; i < r->list->n; i++) {
		struct event_spec *e = &r->list->events[i];
		uint64_t v = 1;

		if (f->kind == FIELD_STRING && from && from < end && !number) {
			if (!set_string(r, e, f, from, end))
				return false;
		} else {
			if (from && !read_number(r, e, f, from, end, &v))
				return false;
			event_set(e, index, v);
		}
		e->given[index] = true;
	}
	return true;
}

static void near_members(struct nearest *n)
{
	for (size_t i = 0; i < attr->n; i++)
		nearest_try(n, attr->fields[i].name);
}

static bool unknown_member(struct reading *r, const char *word, size_t len)
{
	struct nearest n;

	nearest_start(&n, word, len);
	near_members(&n);
	return unknown(r, word, "struct perf_event_attr has no member", &n,
		       "pevtrace(1) lists where to find them");
}

/* "name=value" or "name" at the cursor, a word of len bytes. */
static bool member(struct reading *r, size_t len)
{
	const char *word = r->c.at, *value = NULL;
	const char *end = behind_blanks(word + len, r->c.end);
	const struct field *f = attr_member(word, len);

	if (!f)
		return unknown_member(r, word, len);
	if (r->first == r->list->n) {
		if (end == r->c.end || *end != '=')
			return FAIL_AT(r, word, "%s is a member of an event, and there is "
				       "none before it", f->name);
		if (!add_event(r, NULL))
			return false;
		set_label(&r->list->events[r->first], word, item_reach(r, word));
	}
	if (end < r->c.end && *end == '=') {
		value = end + 1;
		end = value + item_reach(r, value);
	}
	if (!set_member(r, f, value, end))
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

/* One letter; false when it is none that means something in an attr. */
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
		return FAIL_AT(r, at, "modifier %c is a way of perf to open events, not a "
			       "member of attr; leave it out", *at);
	default:
		return FAIL_AT(r, at, "no modifier is called '%c'; there are u k h G H I p "
			       "S D e", *at);
	}
}

/*
 * Letters up to the item's end, for the events from first on.  Those of a group
 * add to what its members have of their own.
 */
static bool modifiers(struct reading *r, size_t first, bool of_group)
{
	const char *from = r->c.at, *end = from + item_reach(r, from);

	if (from == end)
		return FAIL_AT(r, from, "a modifier is missing behind the colon");
	for (size_t i = first; i < r->list->n; i++) {
		struct event_spec *e = &r->list->events[i];
		bool mode_begun = event_get(e, ATTR_EXCLUDE_USER) ||
				  event_get(e, ATTR_EXCLUDE_KERNEL) ||
				  event_get(e, ATTR_EXCLUDE_HV);
		bool host_begun = e->given[ATTR_EXCLUDE_HOST];

		for (const char *p = from; p < end; p++)
			if (!modify(e, *p, &mode_begun, &host_begun))
				return bad_modifier(r, p);
		/* perf leaves guests out where u or p stands, or nothing */
		if (memchr(from, 'u', (size_t)(end - from)) ||
		    memchr(from, 'p', (size_t)(end - from)))
			e->given[ATTR_EXCLUDE_GUEST] = e->given[ATTR_EXCLUDE_HOST];
		else if (!of_group)
			e->given[ATTR_EXCLUDE_GUEST] = true;
	}
	r->c.at = end;
	return true;
}

static bool may_have_modifiers(struct reading *r, size_t first, bool of_group)
{
	if (r->c.at == r->c.end || *r->c.at != ':')
		return true;
	r->c.at++;
	return modifiers(r, first, of_group);
}

/* Terms of a PMU ------------------------------------------------------------------ */

static bool unknown_term(struct reading *r, const struct pmu *p, const char *word, size_t len)
{
	struct nearest n;

	nearest_start(&n, word, len);
	for (size_t i = 0; p && i < p->nterms; i++)
		nearest_try(&n, p->terms[i].name);
	for (size_t i = 0; p && i < p->naliases; i++)
		nearest_try(&n, p->aliases[i].name);
	near_members(&n);
	return unknown(r, word, "no term, event or member is called", &n,
		       "a PMU's are in its directories format and events in "
		       "/sys/bus/event_source/devices");
}

static void set_configs(struct event_spec *e, const uint64_t *words)
{
	for (size_t i = 0; i < PMU_CONFIGS; i++)
		if (words[i] != event_get(e, configs[i]))
			event_set(e, configs[i], words[i]);
}

static void get_configs(const struct event_spec *e, uint64_t *words)
{
	for (size_t i = 0; i < PMU_CONFIGS; i++)
		words[i] = event_get(e, configs[i]);
}

static bool format_term(struct reading *r, struct event_spec *e, const struct pmu_term *t,
			const char *from, const char *end)
{
	struct text_cursor c = { .at = from, .end = end };
	uint64_t words[PMU_CONFIGS], v = 1;

	if (from && !value_read(&c, NULL, &v))
		return FAIL_AT(r, from, "%s: %s", t->name, c.why);
	if (v > pmu_term_max(t))
		return FAIL_AT(r, from ? from : r->c.at, "%s is at most 0x%llx", t->name,
			       (unsigned long long)pmu_term_max(t));
	get_configs(e, words);
	pmu_term_set(t, v, words);
	set_configs(e, words);
	return true;
}

static void alias_term(struct event_spec *e, const struct pmu_alias *a)
{
	uint64_t words[PMU_CONFIGS];

	get_configs(e, words);
	for (size_t i = 0; i < PMU_CONFIGS; i++)
		words[i] |= a->config[i];
	set_configs(e, words);
}

static bool is(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(word, name, len);
}

/* What perf calls sample_period and sample_freq in terms. */
static const struct field *term_member(const char *word, size_t len)
{
	if (is(word, len, "period"))
		return &attr->fields[ATTR_SAMPLE_PERIOD];
	if (is(word, len, "freq"))
		return &attr->fields[ATTR_SAMPLE_FREQ];
	return attr_member(word, len);
}

/* "event=0x3c", "tsc", "period=1000", "name=mine" of the last event. */
static bool term(struct reading *r, const struct pmu *p, const char *end)
{
	const char *word = r->c.at, *value = NULL;
	size_t len = reach(word, end, "=");
	struct event_spec *e = &r->list->events[r->list->n - 1];
	size_t first = r->first;
	const struct pmu_alias *a;
	const struct pmu_term *t;
	const struct field *f;
	bool ok;

	if (word + len < end)
		value = word + len + 1;
	t = p ? pmu_term(p, word, len) : NULL;
	if (t)
		return format_term(r, e, t, value, end);
	a = p && !value ? pmu_alias(p, word, len) : NULL;
	if (a) {
		alias_term(e, a);
		return true;
	}
	if (value && is(word, len, "name")) {
		set_label(e, value, (size_t)(end - value));
		return true;
	}
	f = term_member(word, len);
	if (!f)
		return unknown_term(r, p, word, len);
	r->first = r->list->n - 1;
	ok = set_member(r, f, value, end);
	r->first = first;
	return ok;
}

/* Terms from behind the first slash, and the second one. */
static bool terms(struct reading *r, const struct pmu *p)
{
	const char *slash = r->c.at - 1;
	const char *end = r->c.at + reach(r->c.at, r->c.end, "/");

	if (end == r->c.end || *end != '/')
		return FAIL_AT(r, slash, "there is no second / behind the terms");
	while (peek(r) && r->c.at < end) {
		const char *stop = r->c.at + reach(r->c.at, end, ",");

		if (!term(r, p, stop))
			return false;
		r->c.at = stop < end ? stop + 1 : end;
	}
	r->c.at = end + 1;
	return true;
}

static bool unknown_pmu(struct reading *r, const char *word, size_t len)
{
	struct nearest n;

	nearest_start(&n, word, len);
	for (const struct pmu *p = host_pmus(r->host); p; p = p->next)
		nearest_try(&n, p->name);
	event_words_near(&n);
	return unknown(r, word, "no PMU or event is called", &n,
		       "/sys/bus/event_source/devices has the PMUs of this machine");
}

/* "msr/tsc/u": the word before the slash is a PMU or a generic event. */
static bool with_terms(struct reading *r, size_t len)
{
	const char *word = r->c.at;
	const struct pmu *p = pmu_find(host_pmus(r->host), word, len);
	struct event_code code = { .type = p ? p->type : 0 };
	size_t first = r->list->n;
	struct event_spec *e;

	if (!p && !event_word_generic(word, len, &code) && !event_word_cache(word, len, &code))
		return unknown_pmu(r, word, len);
	e = add_event(r, &code);
	if (!e)
		return false;
	e->given[ATTR_CONFIG] = false; /* terms may still say */
	r->c.at += len + 1;
	if (!terms(r, p))
		return false;
	if (r->c.at < r->c.end && *r->c.at == ':')
		r->c.at++;
	return !item_reach(r, r->c.at) || modifiers(r, first, false);
}

/* Breakpoints ---------------------------------------------------------------------- */

static bool breakpoint_number(struct reading *r, unsigned int index, const char *stop)
{
	const char *from = r->c.at, *end = from + reach(from, r->c.end, stop);

	if (from == end)
		return FAIL_AT(r, from, "%s is missing", attr->fields[index].name);
	r->first = r->list->n - 1;
	if (!set_member(r, &attr->fields[index], from, end))
		return false;
	r->c.at = end;
	return true;
}

/* ":rw" behind the address; false where the letters are no accesses. */
static bool accesses(struct reading *r, uint64_t *type)
{
	const char *from = r->c.at + 1;
	size_t len = reach(from, r->c.end, ":,}");

	if (r->c.at == r->c.end || *r->c.at != ':' || !len)
		return false;
	for (size_t i = 0; i < len; i++) {
		uint64_t one = from[i] == 'r' ? HW_BREAKPOINT_R : from[i] == 'w' ?
			       HW_BREAKPOINT_W : from[i] == 'x' ? HW_BREAKPOINT_X : 0;

		if (!one || *type & one)
			return false;
		*type |= one;
	}
	r->c.at = from + len;
	return true;
}

/* "mem:ADDR[/LEN][:ACCESS]" */
static bool breakpoint(struct reading *r)
{
	const struct event_code code = { .type = PERF_TYPE_BREAKPOINT };
	size_t at = r->list->n, first = r->first;
	struct event_spec *e = add_event(r, &code);
	uint64_t type = 0;
	bool len_given;

	if (!e)
		return false;
	e->given[ATTR_CONFIG] = false;
	r->c.at += strlen("mem:");
	if (!breakpoint_number(r, ATTR_BP_ADDR, "/:,}"))
		return false;
	len_given = r->c.at < r->c.end && *r->c.at == '/';
	if (len_given) {
		r->c.at++;
		if (!breakpoint_number(r, ATTR_BP_LEN, ":,}"))
			return false;
	}
	r->first = first;
	e = &r->list->events[at];
	if (!accesses(r, &type))
		type = HW_BREAKPOINT_RW;
	event_set(e, ATTR_BP_TYPE, type);
	if (!len_given)
		event_set(e, ATTR_BP_LEN, type == HW_BREAKPOINT_X ? arch_native()->word :
			  HW_BREAKPOINT_LEN_4);
	e->given[ATTR_BP_TYPE] = e->given[ATTR_BP_LEN] = true;
	return may_have_modifiers(r, at, false);
}

/* Tracepoints ------------------------------------------------------------------------ */

struct glob {
	struct { uint64_t id; const char *name; } *found;
	size_t n;
	char pattern[256];
	struct nearest *near;
};

static void match_tracepoint(void *ctx, uint64_t id, const char *name)
{
	struct glob *g = ctx;

	if (g->near) {
		nearest_try(g->near, name);
		return;
	}
	if (fnmatch(g->pattern, name, 0))
		return;
	g->found = xrealloc(g->found, (g->n + 1) * sizeof(*g->found));
	g->found[g->n].id = id;
	g->found[g->n++].name = name;
}

static int by_id(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b; /* the first member */

	return *x < *y ? -1 : *x > *y;
}

static bool add_tracepoint(struct reading *r, uint64_t id, const char *name)
{
	struct event_code code = { PERF_TYPE_TRACEPOINT, id };
	struct event_spec *e = add_event(r, &code);

	if (e)
		set_label(e, name, strlen(name));
	return e;
}

static bool no_tracepoint(struct reading *r, const char *at, const char *name, int error)
{
	struct nearest n;
	struct glob g = { .near = &n };

	if (error == -EACCES || error == -EPERM)
		return FAIL_AT(r, at, "'%s' may be a tracepoint, but tracefs may not be read: "
			       "be root, or let root say 'mount -o remount,mode=755 "
			       "/sys/kernel/tracing'", name);
	if (error == -ENODEV)
		return FAIL_AT(r, at, "no event is called '%s', and tracepoints are not known: "
			       "tracefs is not mounted; as root, 'mount -t tracefs tracefs "
			       "/sys/kernel/tracing'", name);
	nearest_start(&n, name, strlen(name));
	host_each_tracepoint(r->host, match_tracepoint, &g);
	return unknown(r, at, "no event or tracepoint is called", &n,
		       "available_events in tracefs has the tracepoints");
}

static bool glob_tracepoints(struct reading *r, const char *at, struct glob *g)
{
	bool ok = true;

	host_each_tracepoint(r->host, match_tracepoint, g);
	if (!g->n)
		return no_tracepoint(r, at, g->pattern, -ENOENT);
	qsort(g->found, g->n, sizeof(*g->found), by_id);
	for (size_t i = 0; ok && i < g->n; i++)
		ok = add_tracepoint(r, g->found[i].id, g->found[i].name);
	free(g->found);
	return ok;
}

static bool pfm_event(struct reading *r, const char *name, size_t len)
{
	struct event_spec *e;
	char text[256];
	uint8_t bytes[sizeof(e->attr.bytes)] = { 0 };

	if (len >= sizeof(text))
		return false;
	memcpy(text, name, len);
	text[len] = '\0';
	if (!event_word_pfm(text, bytes, sizeof(bytes)))
		return false;
	e = add_event(r, NULL);
	if (!e)
		return false;
	memcpy(e->attr.bytes, bytes, sizeof(bytes));
	field_set(&attr->fields[ATTR_SIZE], attr->size, e->attr.bytes);
	e->given[ATTR_TYPE] = e->given[ATTR_CONFIG] = true;
	set_label(e, text, len);
	r->c.at = name + len;
	return true;
}

/* "sched:sched_switch", "sched:*": a word, a colon, a word. */
static bool tracepoint(struct reading *r, size_t len)
{
	const char *from = r->c.at;
	size_t whole = len + 1 + reach(from + len + 1, r->c.end, ":,}/"), first = r->list->n;
	struct glob g = { 0 };
	uint64_t id;
	int error;

	if (whole == len + 1) /* "pmu::event" is one of libpfm4 or nothing */
		whole = item_reach(r, from);
	if (whole >= sizeof(g.pattern))
		return FAIL_AT(r, from, "no tracepoint has so long a name");
	memcpy(g.pattern, from, whole);
	if (strpbrk(g.pattern, "*?[")) {
		if (!glob_tracepoints(r, from, &g))
			return false;
	} else {
		error = host_tracepoint_id(r->host, g.pattern, &id);
		if (error)
			return pfm_event(r, from, item_reach(r, from)) ||
			       no_tracepoint(r, from, g.pattern, error);
		if (!add_tracepoint(r, id, g.pattern))
			return false;
	}
	r->c.at = from + whole;
	if (r->c.at < r->c.end && *r->c.at == '/')
		return FAIL_AT(r, r->c.at, "a tracepoint has no terms; write members behind a "
			       "comma");
	return may_have_modifiers(r, first, false);
}

/* Names ------------------------------------------------------------------------------- */

/* "r1a8" */
static bool raw(const char *word, size_t len, struct event_code *out)
{
	static const char digits[] = "0123456789abcdef";

	*out = (struct event_code){ .type = PERF_TYPE_RAW };
	if (len < 2 || *word != 'r')
		return false;
	if (len > 3 && word[1] == '0' && (word[2] | ' ') == 'x') {
		word += 2;
		len -= 2;
	}
	if (len > 17)
		return false;
	for (size_t i = 1; i < len; i++) {
		const char *d = strchr(digits, word[i] >= 'A' ? word[i] | ' ' : word[i]);

		if (!d || !*d)
			return false;
		out->config = out->config << 4 | (uint64_t)(d - digits);
	}
	return true;
}

static void near_tracepoint_name(void *ctx, uint64_t id, const char *name)
{
	struct nearest *n = ctx;
	const char *colon = strchr(name, ':');

	(void)id;
	if (colon && !strcmp(colon + 1, n->word)) {
		n->distance = 0;
		snprintf(n->best, sizeof(n->best), "%s", name);
	}
}

static bool unknown_event(struct reading *r, const char *word, size_t len)
{
	struct nearest n;

	nearest_start(&n, word, len);
	event_words_near(&n);
	near_members(&n);
	for (const struct pmu *p = host_pmus(r->host); p; p = p->next)
		for (size_t i = 0; i < p->naliases; i++)
			nearest_try(&n, p->aliases[i].name);
	host_each_tracepoint(r->host, near_tracepoint_name, &n);
	return unknown(r, word, "no event is called", &n, "perf list has those of this machine");
}

/* An event that PMUs name in events/: "tsc". */
static bool alias_events(struct reading *r, const char *word, size_t len)
{
	size_t first = r->list->n;

	for (const struct pmu *p = host_pmus(r->host); p; p = p->next) {
		const struct pmu_alias *a = pmu_alias(p, word, len);
		struct event_code code = { .type = p->type };
		struct event_spec *e;

		if (!a)
			continue;
		e = add_event(r, &code);
		if (!e)
			return false;
		alias_term(e, a);
	}
	return r->list->n > first;
}

/* "1:3": type and config. */
static bool by_numbers(struct reading *r, size_t len)
{
	const char *word = r->c.at, *config = word + len + 1;
	size_t n = reach(config, r->c.end, ":,}");
	struct text_cursor type = { .at = word, .end = word + len };
	struct text_cursor c = { .at = config, .end = config + n };
	uint64_t t, v;
	struct event_code code;

	if (!value_read(&type, NULL, &t) || t > UINT32_MAX)
		return FAIL_AT(r, word, "a type is a number of 32 bits");
	if (!value_read(&c, NULL, &v))
		return FAIL_AT(r, config, "config: %s", c.why);
	code = (struct event_code){ (uint32_t)t, v };
	if (!add_event(r, &code))
		return false;
	r->c.at = config + n;
	return true;
}

static bool is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

/* "L1D:READ:MISS", as pevtrace writes it: how long it is, 0 when it is not that. */
static size_t cache_triple(const struct reading *r, size_t len, struct event_code *code)
{
	const char *word = r->c.at, *second = word + len + 1;
	size_t n;

	if (second >= r->c.end)
		return 0;
	n = reach(second, r->c.end, ":,}");
	if (second + n < r->c.end && second[n] == ':')
		n += 1 + reach(second + n + 1, r->c.end, ":,}");
	return event_word_cache(word, len + 1 + n, code) ? len + 1 + n : 0;
}

/* A name that stands alone or before a colon. */
static bool named(struct reading *r, size_t len)
{
	const char *word = r->c.at;
	bool colon = word + len < r->c.end && word[len] == ':';
	size_t first = r->list->n, triple;
	struct event_code code;

	if (colon && is_digit(*word)) {
		if (!by_numbers(r, len))
			return false;
		return may_have_modifiers(r, first, false);
	}
	triple = colon ? cache_triple(r, len, &code) : 0;
	if (triple || event_word_generic(word, len, &code) ||
	    event_word_cache(word, len, &code) || raw(word, len, &code)) {
		if (!add_event(r, &code))
			return false;
	} else if (!alias_events(r, word, len)) {
		if (*r->c.why)
			return false;
		if (colon)
			return tracepoint(r, len);
		return pfm_event(r, word, item_reach(r, word)) || unknown_event(r, word, len);
	}
	r->c.at = word + (triple ? triple : len);
	return may_have_modifiers(r, first, false);
}

static bool event(struct reading *r, size_t len)
{
	const char *from = r->c.at;
	char behind = from + len < r->c.end ? from[len] : '\0';
	size_t first = r->list->n;
	bool ok;

	r->first = first;
	if (is(from, len, "mem") && behind == ':')
		ok = breakpoint(r);
	else if (behind == '/')
		ok = with_terms(r, len);
	else
		ok = named(r, len);
	r->first = first;
	for (size_t i = first; ok && i < r->list->n; i++)
		if (!*r->list->events[i].attr.label)
			set_label(&r->list->events[i], from, (size_t)(r->c.at - from));
	return ok;
}

/* Lists ---------------------------------------------------------------------------------- */

static bool items(struct reading *r);

static bool group(struct reading *r)
{
	const char *brace = r->c.at++;
	size_t leader = r->list->n;

	if (r->grouped)
		return FAIL_AT(r, brace, "groups have no groups in them");
	r->grouped = true;
	r->first = leader;
	if (!items(r))
		return false;
	r->grouped = false;
	if (peek(r) != '}')
		return FAIL_AT(r, brace, "there is no } behind the group");
	r->c.at++;
	for (size_t i = leader; i < r->list->n; i++)
		r->list->events[i].leader = leader;
	r->first = leader;
	return may_have_modifiers(r, leader, true);
}

static bool item(struct reading *r)
{
	char ch = peek(r);
	const char *end;
	size_t len;

	if (ch == '{')
		return group(r);
	len = reach(r->c.at, r->c.end, ",:/={}\" \t\n");
	end = behind_blanks(r->c.at + len, r->c.end);
	if (!len)
		return ch && !strchr(",}", ch) ?
		       FAIL_AT(r, r->c.at, "an event cannot begin with '%c'", ch) :
		       FAIL_AT(r, r->c.at, "an event is missing");
	if (end < r->c.end && *end == '=')
		return member(r, len);
	if (attr_member(r->c.at, len) && (end == r->c.end || strchr(",}", *end)))
		return member(r, len);
	return event(r, len);
}

static bool items(struct reading *r)
{
	do {
		if (!item(r))
			return false;
	} while (peek(r) == ',' && r->c.at++);
	return true;
}

bool event_list_add(struct event_list *l, struct host *h, const char *text)
{
	size_t before = l->n;
	struct reading r = {
		.list = l, .host = h, .first = before,
		.c = { .at = text, .end = text + strlen(text) },
	};
	bool ok = items(&r);

	if (ok && r.c.at < r.c.end)
		ok = FAIL_AT(&r, r.c.at, "'%.*s' is left over; events are parted by commas",
			     some((size_t)(r.c.end - r.c.at)), r.c.at);
	for (size_t i = before; ok && i < l->n; i++)
		attr_member_done(&l->events[i].attr);
	if (ok)
		return true;
	l->n = before;
	l->at = (size_t)(r.c.at - text);
	snprintf(l->why, sizeof(l->why), "%s", r.c.why);
	return false;
}
