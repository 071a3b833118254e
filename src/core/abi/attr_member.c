// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/attr_member.h"

#include <stdio.h>
#include <string.h>

#include "core/abi/attr.h"
#include "core/abi/swap.h"
#include "core/abi/tables.h"
#include "core/lib/nearest.h"
#include "core/lib/scan_text.h"

/* The first synthetic address of strings, below what programs can map. */
#define STRINGS_AT 0x1000

static const struct layout *const attr = &layout_perf_event_attr;

void attr_member_offer(struct nearest *n)
{
	for (size_t i = 0; i < attr->n; i++)
		nearest_try(n, attr->fields[i].name);
}

bool attr_member_unknown(struct text_cursor *c, const char *name, size_t len)
{
	struct nearest n;

	nearest_start(&n, name, len);
	attr_member_offer(&n);
	text_cursor_note(c, "struct perf_event_attr has no member '%.*s'%s",
			 len < 60 ? (int)len : 60, name, nearest_hint(&n));
	return *n.best;
}

/* Names of members and of the word of all flags, where they differ by more than case and _. */
static const struct {
	const char *name;
	unsigned int member;	/* ATTR_DISABLED: the word of flags */
} other_names[] = {
	/* strace before 5.15 */
	{ "exclusive_user", ATTR_EXCLUDE_USER },
	/* golang.org/x/sys/unix */
	{ "Sample", ATTR_SAMPLE_PERIOD }, { "Bits", ATTR_DISABLED },
	{ "Wakeup", ATTR_WAKEUP_EVENTS }, { "Ext1", ATTR_CONFIG1 }, { "Ext2", ATTR_CONFIG2 },
	/* Rust's bindgen */
	{ "storage", ATTR_DISABLED },
	{ "aux_action", ATTR_AUX_START_PAUSED },
};

/* Return whether two names differ in nothing but case and underscores. */
static bool names_alike(const char *a, const char *b, size_t len)
{
	const char *end = b + len;

	for (;; a++, b++) {
		while (*a == '_')
			a++;
		while (b < end && *b == '_')
			b++;
		if (!*a || b == end)
			return !*a && b == end;
		if ((*a | ' ') != (*b | ' '))
			return false;
	}
}

/* Find the member of that name; *word: the name is that of all the flags beside it. */
static const struct field *find_member(const char *name, size_t len, bool *word)
{
	const struct field *f = attr_member(name, len);

	*word = false;
	for (size_t i = 0; !f && i < sizeof(other_names) / sizeof(*other_names); i++) {
		if (strlen(other_names[i].name) != len || memcmp(other_names[i].name, name, len))
			continue;
		f = &attr->fields[other_names[i].member];
		*word = f->nbits && other_names[i].member != ATTR_EXCLUDE_USER;
	}
	for (size_t i = 0; !f && len && i < attr->n; i++)
		if (names_alike(attr->fields[i].name, name, len))
			f = &attr->fields[i];
	return f;
}

bool attr_member_like(const char *name, size_t len)
{
	bool word;

	return find_member(name, len, &word);
}

/* Note a member that is left out: the text has no value of it, or no member has the name. */
static void leave_out(struct attr_text *out, const char *name, size_t len, bool member)
{
	size_t at = strlen(out->left_out);
	struct nearest n;

	nearest_start(&n, name, len);
	attr_member_offer(&n);
	if (at + 1 < sizeof(out->left_out))
		snprintf(out->left_out + at, sizeof(out->left_out) - at, "%s%.*s%s%s%s",
			 at ? ", " : "", len < 60 ? (int)len : 60, name,
			 member ? " (a variable" : *n.best ? " (did you mean " : "",
			 member ? "" : n.best, member ? ")" : *n.best ? "?)" : "");
}

/* Set all flags of a word: a number, or the list of its bytes. */
static bool member_set_word(struct text_cursor *c, const struct field *f, const char *value,
			    size_t len, struct attr_text *out)
{
	struct text_cursor v = { .at = value, .end = value + len };
	uint8_t bytes[8] = { 0 };
	uint64_t n = 0;
	bool ok = text_take(&v, "[");
	size_t got;

	v.end -= ok && v.end > v.at;
	ok = ok ? bytes_read(&v, bytes, f->width, &got) : value_read(&v, NULL, &n);
	n |= load_uint(bytes, 8);
	if (!ok || (f->width < 8 && n >> (8u * f->width)))
		return text_cursor_fail(c, "%s: no word of flags: %.60s", f->name, v.why);
	store_uint(out->bytes + f->offset, f->width, n);
	return true;
}

/*
 * Set a number.  Of the members of a union at most one may be nonzero; zeros for the
 * others have no effect.
 */
static bool member_set_number(struct text_cursor *c, const struct field *f, uint64_t v,
			      struct attr_text *out)
{
	uint64_t before = field_get(f, out->bytes, ATTR_TEXT_MAX);
	unsigned int bits = f->nbits ? f->nbits : 8u * f->width;
	int64_t sign = bits == 64 ? 0 : (int64_t)v >> (bits - 1);

	/* a negative number fits if its sign bit does */
	if (bits < 64 && v > (1ULL << bits) - 1 && (f->nbits || sign != -1))
		return text_cursor_fail(c, "%s has %u bit%s; 0x%llx requires more",
					f->name, bits, bits == 1 ? "" : "s", (unsigned long long)v);
	if (bits < 64)
		v &= (1ULL << bits) - 1;
	if (before && v && before != v)
		return text_cursor_fail(c, "two values for %s or a member of its union: "
					"0x%llx and 0x%llx", f->name,
					(unsigned long long)before, (unsigned long long)v);
	if (v)
		field_set_bits(f, f->bit, bits, v, out->bytes);
	return true;
}

/* Set the bits in strace's comment, which names the range of bits it does not know. */
static bool member_set_range(struct text_cursor *c, const struct field *f,
			     const struct text_cursor *bits, uint64_t v, struct attr_text *out)
{
	const char *at = bits->at;
	uint64_t last, first;

	if (!scan_number(&at, bits->end, SCAN_DECIMAL, &last) || bits->end - at < 2 ||
	    memcmp(at, "..", 2) || (at += 2, !scan_number(&at, bits->end, SCAN_DECIMAL, &first)) ||
	    last < first || last >= 8u * f->width)
		return text_cursor_fail(c, "unknown range of bits of %s", f->name);
	if (first && last - first < 63 && v >> (last - first + 1))
		return text_cursor_fail(c, "%s has %u bit%s; 0x%llx requires more", f->name,
					(unsigned int)(last - first + 1), last == first ? "" : "s",
					(unsigned long long)v);
	field_set_bits(f, (unsigned int)first, (unsigned int)(last - first + 1), v, out->bytes);
	return true;
}

static bool member_add_string(struct text_cursor *c, const struct field *f,
			      struct text_cursor *value, struct attr_text *out)
{
	size_t room = sizeof(out->pool) - out->pooled, n;
	uint64_t addr = STRINGS_AT + out->pooled;

	if (out->nstrings == ATTR_TEXT_STRINGS || room < 2)
		return text_cursor_fail(c, "more strings than an attr can have");
	if (!bytes_read_literal(value, out->pool + out->pooled, room - 1, &n))
		return text_cursor_fail(c, "%s: %s", f->name, value->why);
	out->pool[out->pooled + n] = 0;
	out->strings[out->nstrings].addr = addr;
	out->strings[out->nstrings].at = out->pooled;
	out->strings[out->nstrings++].len = n + 1;
	out->pooled += n + 1;
	return member_set_number(c, f, addr, out);
}

bool attr_member_tail(struct text_cursor *c, struct attr_text *out)
{
	struct text_cursor hex = { .at = NULL };
	uint64_t offset;
	size_t n;

	if (!text_take(c, "["))
		return text_cursor_fail(c, "unknown: expected a list in brackets");
	do {
		/* such as {offset=144, bytes=0x0102} */
		if (!text_take(c, "{offset=") ||
		    !scan_number(&c->at, c->end, SCAN_DECIMAL, &offset) ||
		    !text_take(c, ", bytes="))
			return text_cursor_fail(c, "expected {offset=..., bytes=...} at '%.*s'",
						text_cursor_some(c), c->at);
		if (offset < attr->size || offset >= ATTR_TEXT_MAX)
			return text_cursor_fail(c, "unknown bytes are behind %u and before %d",
						attr->size, ATTR_TEXT_MAX);
		hex.at = c->at;
		while (c->at < c->end && *c->at != '}')
			c->at++;
		hex.end = c->at;
		if (!bytes_read(&hex, out->bytes + offset, ATTR_TEXT_MAX - offset, &n))
			return text_cursor_fail(c, "unknown: %s", hex.why);
		if (!text_take(c, "}"))
			return text_cursor_fail(c, "unknown: expected a closing brace");
	} while (text_take(c, ","));
	return text_take(c, "]") || text_cursor_fail(c, "unknown: expected a closing bracket");
}

/* Return whether a value is the size of the struct, in C, Go, Rust or Python. */
static bool is_sizeof(const char *value, size_t len)
{
	return len > 6 && (memmem(value, len, "izeof(", 6) || memmem(value, len, "ize_of", 6));
}

/* Return whether a value has a name in lower case, which constants of the kernel have not. */
static bool is_variable(const char *value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (value[i] >= 'a' && value[i] <= 'z' &&
		    (!i || !(scan_is_word(value[i - 1]) || value[i - 1] == '\\')))
			return true;
	return false;
}

bool attr_member_set(struct text_cursor *c, const char *name, size_t len,
		     const char *value, size_t value_len,
		     const struct text_cursor *bits,
		     struct attr_text *out)
{
	struct text_cursor v = { .at = value, .end = value + value_len };
	bool word;
	const struct field *f = find_member(name, len, &word);
	uint64_t n;

	if (!f) {
		/* padding has names of "_" and bindgen's */
		if (*name != '_' && !(len == 5 && !memcmp(name, "align", 5)))
			leave_out(out, name, len, false);
		return true;
	}
	if (word)
		return member_set_word(c, f, value, value_len, out);
	if (f->kind == FIELD_STRING && value_len && *value == '"') {
		if (!member_add_string(c, f, &v, out))
			return false;
		out->elided |= v.at < v.end; /* "..." follows an abbreviated string */
		return true;
	}
	if (is_sizeof(value, value_len)) {
		n = attr->size;
	} else if (!value_read(&v, f->xlat, &n)) {
		if (!is_variable(value, value_len))
			return text_cursor_fail(c, "%s: %s", f->name, v.why);
		leave_out(out, f->name, strlen(f->name), true);
		out->elided = true;
		return true;
	}
	if (out->packed && f->nbits) {
		if (f->offset == attr->fields[ATTR_DISABLED].offset)
			return true;
		n = n >> f->bit % 8 & ((1ULL << f->nbits) - 1);
	}
	/* bpftrace before 0.24 prints the whole word for each of its bits */
	if (f == &attr->fields[ATTR_DISABLED] && n > 1) {
		store_uint(out->bytes + f->offset, f->width, n);
		out->packed = true;
		return true;
	}
	if (bits && f->kind == FIELD_RESERVED && f->nbits)
		return member_set_range(c, f, bits, n, out);
	return member_set_number(c, f, n, out);
}

void attr_member_done(struct attr_text *out)
{
	uint64_t size = layout_get(attr, ATTR_SIZE, out->bytes, ATTR_TEXT_MAX);

	size_t max = out->given && out->given < ATTR_TEXT_MAX ? out->given : ATTR_TEXT_MAX;

	out->len = attr_wanted((uint32_t)size);
	if (out->len > max)
		out->len = max;
}

bool attr_text_bytes(struct text_cursor *c, const uint8_t *bytes, size_t len,
		     struct attr_text *out)
{
	memset(out, 0, sizeof(*out));
	if (len < 8)
		return text_cursor_fail(c, "%zu byte%s too few for an attr, which begins with "
					"4 of type and 4 of size", len,
					len == 1 ? " is" : "s are");
	memcpy(out->bytes, bytes, len < ATTR_TEXT_MAX ? len : ATTR_TEXT_MAX);
	out->given = len;
	attr_member_done(out);
	return true;
}

void attr_text_swap(struct attr_text *a)
{
	if (!a->given)
		return;
	swap_layout(attr, a->bytes, 0, a->given < ATTR_TEXT_MAX ? a->given : ATTR_TEXT_MAX);
	attr_member_done(a);
}

bool attr_text_doubts(const struct attr_text *a, struct buf *out)
{
	size_t have = a->given && a->given < attr->size ? a->given : attr->size;

	if (*a->left_out)
		buf_addf(out, "left out, as no member or value is known: %s", a->left_out);
	if (have > a->len) {
		buf_adds(out, out->len ? "; " : "");
		if (!attr_beyond(a->bytes, a->len, have, true, out) && out->len)
			out->len -= *a->left_out ? 2 : 0;
	}
	return out->len;
}

void attr_text_capture(const struct attr_text *a, struct call *c, uint64_t addr)
{
	uint32_t have = a->given && a->given < attr->size ? (uint32_t)a->given : attr->size;
	uint32_t more = have > a->len ? have - (uint32_t)a->len : 0;
	static const uint8_t zeros[ATTR_TEXT_MAX];

	call_add_capture(c, AT_SYSCALL_ENTER, addr, (uint32_t)a->len, a->bytes, (uint32_t)a->len);
	/* what lies beyond its size is named */
	if (more && memcmp(a->bytes + a->len, zeros, more))
		call_add_capture(c, AT_SYSCALL_ENTER, addr + a->len, more, a->bytes + a->len, more);
	for (size_t i = 0; i < a->nstrings; i++)
		call_add_capture(c, AT_SYSCALL_ENTER, a->strings[i].addr,
				 (uint32_t)a->strings[i].len, a->pool + a->strings[i].at,
				 (uint32_t)a->strings[i].len);
}

enum { DEPTH = 16 };	/* of brackets and signs */

struct expression {
	struct text_cursor *c;
	const struct xlat *xlat;
	unsigned int depth;
};

/* Skip blanks and return the next character, NUL at the end. */
static char value_next(struct text_cursor *c)
{
	text_skip_blanks(c);
	return c->at < c->end ? *c->at : 0;
}

/* Find a constant by its full name in any table, or without its prefix in x. */
static const struct xlat_entry *find_constant(const struct xlat *x, const char *name)
{
	const struct xlat_entry *e = xlat_by_name(x, name);

	for (size_t i = 0; !e && xlat_tables[i]; i++) {
		e = xlat_by_name(xlat_tables[i], name);
		if (e && strcmp(e->name, name))
			e = NULL;
	}
	return e;
}

/* Read the name of a constant, true, false or NULL, or one that a binding has in its place. */
static bool known_name(const struct expression *x, const char *name, uint64_t *v)
{
	const char *inside = strstr(name, "_PERF_");
	const struct xlat_entry *e;
	const struct field *f;
	char longer[90];
	bool word;

	*v = !strcmp(name, "true") || !strcmp(name, "True");
	if (*v || !strcmp(name, "NULL") || !strcmp(name, "false") || !strcmp(name, "False"))
		return true;
	/* perf's Python has perf.SAMPLE_IP, bindgen perf_type_id_PERF_TYPE_RAW */
	snprintf(longer, sizeof(longer), "PERF_%s", name);
	e = find_constant(x->xlat, name) ?: find_constant(x->xlat, longer);
	e = e || !inside ? e : find_constant(x->xlat, inside + 1);
	if (e) {
		*v = e->value;
		return true;
	}
	/* golang.org/x/sys/unix has PerfBitDisabled */
	f = strncmp(name, "PerfBit", 7) ? NULL : find_member(name + 7, strlen(name) - 7, &word);
	*v = f ? 1ULL << f->bit : 0;
	return f;
}

/* Read the name of a constant; names without prefix must be of the own table. */
static bool value_of_name(struct expression *x, const char *word, size_t len, uint64_t *v)
{
	struct nearest n;
	char name[80];

	if (len < sizeof(name)) {
		memcpy(name, word, len);
		name[len] = 0;
		if (known_name(x, name, v))
			return true;
	}
	/* the nearest constant: of the own table if one is */
	nearest_start(&n, word, len);
	xlat_offer(x->xlat, true, &n);
	for (size_t i = 0, own = *n.best; !own && xlat_tables[i]; i++)
		xlat_offer(xlat_tables[i], false, &n);
	return text_cursor_fail(x->c, x->xlat ? "unknown constant '%.*s'%s" :
				"'%.*s' is neither a number nor a constant%s",
				len < 60 ? (int)len : 60, word, nearest_hint(&n));
}

static bool value_any_of(struct expression *x, uint64_t *v);

/* Move behind "(__u32)" before a value. */
static bool skip_cast(struct text_cursor *c)
{
	struct text_cursor t = { .at = c->at, .end = c->end };

	if (!text_take(&t, "(") || t.at == t.end || scan_is_digit(*t.at))
		return false;
	while (t.at < t.end && (scan_is_word(*t.at) || scan_is_blank(*t.at) || *t.at == '*'))
		t.at++;
	if (!text_take(&t, ")") || t.at == t.end || !(scan_is_word(*t.at) || strchr("(-~", *t.at)))
		return false;
	c->at = t.at;
	return true;
}

/* Move behind "perf.", "unix." or "bindings::" before a name of C. */
static void skip_scope(struct text_cursor *c)
{
	struct text_cursor t = { .at = c->at, .end = c->end };
	size_t n;

	while ((n = text_word_at(&t)) && !scan_is_digit(*t.at)) {
		t.at += n;
		if (!text_take(&t, "::") && !text_take(&t, "."))
			break;
		c->at = t.at;
	}
}

static bool value_primary(struct expression *x, uint64_t *v)
{
	struct text_cursor *c = x->c;
	char ch = value_next(c);
	const char *word, *at, *end;
	bool ok;

	if (skip_cast(c))
		ch = value_next(c);
	at = word = c->at;

	if (ch == '-' || ch == '~' || ch == '(') {
		if (++x->depth > DEPTH)
			return text_cursor_fail(c, "brackets are nested too deep");
		c->at++;
		ok = ch == '(' ? value_any_of(x, v) : value_primary(x, v);
		x->depth--;
		if (!ok)
			return false;
		if (ch == '(') {
			if (value_next(c) != ')')
				return text_cursor_fail(c, "expected ')'");
			c->at++;
		}
		*v = ch == '-' ? -*v : ch == '~' ? ~*v : *v;
		return true;
	}
	skip_scope(c);
	at = word = c->at;
	c->at += scan_word(c->at, c->end);
	if (c->at == word)
		return ch ? text_cursor_fail(c, "expected a number or a name at '%c'", ch) :
			    text_cursor_fail(c, "expected a number or a name");
	if (scan_is_digit(*word)) {
		/* by C's rules, with a suffix of U and L */
		for (end = c->at; end - word > 1 && strchr("uUlL", end[-1]);)
			end--;
		if (scan_number(&at, end, SCAN_C, v) && at == end)
			return true;
		return text_cursor_fail(c, at == end ? "%.*s is more than 64 bits" :
					"'%.*s' is not a number", (int)(end - word), word);
	}
	return value_of_name(x, word, (size_t)(c->at - word), v);
}

static bool value_shifted(struct expression *x, uint64_t *v)
{
	struct text_cursor *c = x->c;
	uint64_t by;

	if (!value_primary(x, v))
		return false;
	while (value_next(c) == '<' && c->end - c->at >= 2 && c->at[1] == '<') {
		c->at += 2;
		if (!value_primary(x, &by))
			return false;
		if (by > 63)
			return text_cursor_fail(c, "a shift by %llu bits",
						(unsigned long long)by);
		*v <<= by;
	}
	return true;
}

static bool value_any_of(struct expression *x, uint64_t *v)
{
	uint64_t more;

	if (!value_shifted(x, v))
		return false;
	while (value_next(x->c) == '|') {
		x->c->at++;
		if (!value_shifted(x, &more))
			return false;
		*v |= more;
	}
	return true;
}

bool value_read(struct text_cursor *c, const struct xlat *x, uint64_t *v)
{
	struct expression e = { .c = c, .xlat = x };

	if (!value_any_of(&e, v))
		return false;
	return !value_next(c) || text_cursor_fail(c, "'%.*s' is left over; values are joined by |",
					     text_cursor_some(c), c->at);
}
