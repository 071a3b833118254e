// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/rawdata.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/abi/swap.h"
#include "core/lib/die.h"
#include "core/lib/map.h"
#include "core/lib/scan_text.h"

/* More than any event has: a format with more is rejected. */
enum { MAX_FIELDS = 4096 };

/*
 * The sizes of C types of array elements: the length of a __data_loc array is in bytes, and
 * the format names only the type of its elements.
 */
static const struct {
	const char *name;
	uint32_t size;
} types[] = {
	{ "char", 1 }, { "bool", 1 }, { "u8", 1 }, { "s8", 1 }, { "__u8", 1 },
	{ "__s8", 1 }, { "uint8_t", 1 }, { "int8_t", 1 },
	{ "short", 2 }, { "u16", 2 }, { "s16", 2 }, { "__u16", 2 },
	{ "__s16", 2 }, { "uint16_t", 2 }, { "int16_t", 2 },
	{ "long long", 8 }, { "long", sizeof(long) }, { "size_t", sizeof(long) },
	{ "cpumask_t", sizeof(long) },
	{ "u64", 8 }, { "s64", 8 }, { "__u64", 8 }, { "__s64", 8 },
	{ "uint64_t", 8 }, { "int64_t", 8 },
	{ "u32", 4 }, { "s32", 4 }, { "__u32", 4 }, { "__s32", 4 },
	{ "uint32_t", 4 }, { "int32_t", 4 },
	/* last: "int" may follow short and long */
	{ "int", 4 }, { "unsigned", 4 }, { "signed", 4 },
};

/* Return whether type contains word as a whole word. */
static bool format_has_word(const char *type, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = type; (p = strstr(p, word)); p += len)
		if ((p == type || !scan_is_word(p[-1])) && !scan_is_word(p[len]))
			return true;
	return false;
}

static uint32_t size_of_type(const char *type)
{
	if (strchr(type, '*'))
		return sizeof(void *);
	if (format_has_word(type, "struct") || format_has_word(type, "union"))
		return 0;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (format_has_word(type, types[i].name))
			return types[i].size;
	return 0;
}

static bool is_number_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/*
 * Return how many bytes of a field have a meaning, or 0 for all: the arguments of a system
 * call are recorded as registers, of which the call reads only the width of their type.
 */
static uint32_t narrow_to(const struct raw_field *f, const char *type,
			  bool *is_signed)
{
	static const char *const ints[] = {
		"int", "pid_t", "key_t", "clockid_t", "const clockid_t",
		"timer_t", "mqd_t", "qid_t", "rwf_t",
	};
	static const char *const unsigneds[] = {
		"unsigned int", "unsigned", "uid_t", "gid_t", "u32", "uint32_t",
		"__u32",
	};

	if (f->size != 8 || f->array || f->dynamic)
		return 0;
	for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++)
		if (!strcmp(type, ints[i])) {
			*is_signed = true;
			return 4;
		}
	for (size_t i = 0; i < sizeof(unsigneds) / sizeof(unsigneds[0]); i++)
		if (!strcmp(type, unsigneds[i]))
			return 4;
	return 0;
}

void raw_format_add(struct raw_format *f, struct raw_field field,
		    const char *type, unsigned long count)
{
	bool pointer = strchr(type, '*');
	bool is_char = format_has_word(type, "char") && !format_has_word(type, "unsigned") &&
		       !format_has_word(type, "signed") && !pointer;

	field.relative = format_has_word(type, "__rel_loc");
	field.dynamic = field.relative || format_has_word(type, "__data_loc");
	field.common = !strncmp(field.name, "common_", 7);
	if (pointer)
		field.base = RAW_ADDR;
	if (field.dynamic || field.array) {
		field.elem = !field.dynamic && count && field.size % count == 0 ?
			     field.size / count : size_of_type(type);
		/* cpumask_t *[] is the mask itself, not pointers to it */
		if (format_has_word(type, "cpumask_t"))
			field.base = RAW_HEX;
		field.kind = is_char ? RAW_STRING :
			     field.elem > 1 && is_number_size(field.elem) ? RAW_NUMBER : RAW_BYTES;
	} else {
		field.elem = field.size;
		field.narrow = narrow_to(&field, type, &field.is_signed);
		field.kind = is_number_size(field.size) ? RAW_NUMBER : RAW_BYTES;
	}
	APPEND(f->fields, f->nfields) = field;
}

void raw_format_free(struct raw_format *f)
{
	for (size_t i = 0; i < f->nfields; i++)
		free(f->fields[i].name);
	free(f->fields);
	*f = (struct raw_format){ 0 };
}

static char *cut_spaces(char *s)
{
	size_t len;

	s += strspn(s, " \t");
	for (len = strlen(s); len && strchr(" \t", s[len - 1]); len--)
		;
	s[len] = '\0';
	return s;
}

/* Read the number after word in "offset:8;	size:16;	signed:0;". */
static bool number_of(const char *line, const char *word, uint32_t *v)
{
	const char *p = strstr(line, word);
	uint64_t n;

	if (!p)
		return false;
	p += strlen(word);
	if (!scan_number(&p, NULL, SCAN_DECIMAL, &n))
		return false;
	*v = (uint32_t)n;
	return *p == ';' && n == *v;
}

/* Split "type name[count]"; return false if there is no name. */
static bool format_split(char *decl, char **type, char **name, unsigned long *count,
			 bool *array)
{
	char *end, *p;

	decl = cut_spaces(decl);
	*count = 0;
	*array = false;
	end = decl + strlen(decl);
	while (end > decl && end[-1] == ']') {
		while (end > decl && *--end != '[')
			;
		*array = true;
		*count = strtoul(end + 1, &p, 0);
		if (*p != ']')
			*count = 0;
		*end = '\0';
		decl = cut_spaces(decl);
		end = decl + strlen(decl);
	}
	for (p = end; p > decl && scan_is_word(p[-1]); p--)
		;
	if (p == end || p == decl)
		return false;
	*name = xstrdup(p);
	*p = '\0';
	*type = cut_spaces(decl);
	return true;
}

/* Parse the rest of a line after "field:". */
static bool format_add_line(struct raw_format *f, char *line)
{
	struct raw_field field = { 0 };
	char *semicolon = strchr(line, ';');
	unsigned long count;
	uint32_t is_signed;
	char *type;

	if (!semicolon || f->nfields >= MAX_FIELDS)
		return false;
	if (!number_of(semicolon, "offset:", &field.offset) ||
	    !number_of(semicolon, "size:", &field.size))
		return false;
	/* missing before Linux 2.6.32 */
	if (number_of(semicolon, "signed:", &is_signed))
		field.is_signed = is_signed;
	*semicolon = '\0';
	if (!format_split(line, &type, &field.name, &count, &field.array))
		return false;
	for (size_t i = 0; i < f->nfields; i++)
		if (!strcmp(f->fields[i].name, field.name)) { /* the kernel refuses such an event */
			free(field.name);
			return false;
		}
	raw_format_add(f, field, type, count);
	return true;
}

bool raw_format_parse(struct raw_format *f, const char *text, size_t len)
{
	char *copy = xstrndup(text, len), *save, *line;
	bool good = true;

	*f = (struct raw_format){ 0 };
	for (line = strtok_r(copy, "\n", &save); line && good;
	     line = strtok_r(NULL, "\n", &save)) {
		line += strspn(line, " \t");
		if (!strncmp(line, "print fmt:", 10))
			break;
		if (!strncmp(line, "field:", 6))
			good = format_add_line(f, line + 6);
	}
	free(copy);
	if (!good)
		raw_format_free(f);
	return f->nfields;
}

/*
 * The bases of numbers in "print fmt" of an event's format.  It is printk's format string,
 * followed by C expressions.  Only expressions that consist of a field are evaluated, and the
 * arguments of __print_flags():
 *
 *	print fmt: "ip=%pS v=%lx", (void *)REC->ip, ((unsigned long)(REC->v))
 */

enum { MAX_ARGS = 64 };

/* The base of each argument. */
struct conversions {
	enum raw_base base[MAX_ARGS];
	size_t n;
};

static void note_conversion(struct conversions *c, enum raw_base base)
{
	if (c->n < MAX_ARGS)
		c->base[c->n++] = base;
}

/* Read a conversion after its '%'; return its end. */
static const char *read_conversion(struct conversions *c, const char *p)
{
	/* the kernel writes this for all arguments of system calls */
	bool generated = !strncmp(p, "08lx", 4);

	for (; *p && strchr("-+ #0123456789.*hlLqjzt", *p); p++)
		if (*p == '*')
			note_conversion(c, RAW_DECIMAL);
	if (!*p || *p == '%' || *p == '"')
		return *p == '%' ? p + 1 : p;
	note_conversion(c, *p == 'p' ? RAW_ADDR :
			   (*p == 'x' || *p == 'X') && !generated ? RAW_HEX :
								    RAW_DECIMAL);
	return p + 1;
}

/* Read the string whose opening quote is at p; return what follows it. */
static const char *skip_string(const char *p, struct conversions *c)
{
	for (p++; *p && *p != '"';) {
		if (*p == '\\' && p[1])
			p += 2;
		else if (*p == '%' && c)
			p = read_conversion(c, p + 1);
		else
			p++;
	}
	return *p ? p + 1 : p;
}

/* Return the end of the argument at p: a comma outside of parentheses, or NUL. */
static const char *skip_argument(const char *p)
{
	int depth = 0;

	while (*p && *p != '\n' && (depth || *p != ',')) {
		if (*p == '"') {
			p = skip_string(p, NULL);
			continue;
		}
		if (strchr("([{", *p))
			depth++;
		else if (strchr(")]}", *p) && depth)
			depth--;
		p++;
	}
	return p;
}

/* Set the base of the field at p: "REC->name", then the end or one of the bytes of tail. */
static void set_base(struct raw_format *f, const char *p, const char *end,
		     enum raw_base base, const char *tail)
{
	size_t len = 0;
	const char *q;

	/* spaces, opening parentheses and casts */
	while (p < end && (*p == ' ' || *p == '(')) {
		for (q = p + 1; *p == '(' && q < end &&
		     (isalnum((unsigned char)*q) || strchr("_ *", *q)); q++)
			;
		/* skip "(unsigned long)" as a whole, of "(REC->x)" the parenthesis */
		p = *p == '(' && q > p + 1 && q < end && *q == ')' ? q + 1 : p + 1;
	}
	if (end - p < 5 || strncmp(p, "REC->", 5))
		return;
	p += 5;
	while (p + len < end && (scan_is_word(p[len])))
		len++;
	for (q = p + len; q < end && (*q == ' ' || *q == ')'); q++)
		;
	if (q < end && (!*q || !strchr(tail, *q)))
		return;
	for_each(field, f->fields, f->nfields)
		if (strlen(field->name) == len && !memcmp(field->name, p, len) &&
		    field->kind == RAW_NUMBER && field->base == RAW_DECIMAL &&
		    !field->array && !field->dynamic)
			field->base = base;
}

void raw_format_hints(struct raw_format *f, const char *text)
{
	static const char flags[] = "__print_flags(";
	const char *p = strstr(text, "\nprint fmt: \"");
	struct conversions c = { .n = 0 };

	if (!p)
		return;
	p = strchr(p, '"');
	while (*p == '"') {
		p = skip_string(p, &c);
		p += strspn(p, " ");
	}
	for (size_t i = 0; *p == ','; i++) {
		const char *end = skip_argument(++p);

		if (i < c.n && c.base[i] != RAW_DECIMAL)
			set_base(f, p, end, c.base[i], "");
		p = end;
	}
	/* RAW_HEX for every __print_flags(REC->name, ...) */
	p = strstr(text, "\nprint fmt: \"");
	while ((p = strstr(p, flags))) {
		p += sizeof(flags) - 1;
		set_base(f, p, p + strlen(p), RAW_HEX, ",&");
	}
}

struct rawdata {
	const char *(*format)(void *ctx, uint64_t id);
	void *ctx;
	struct map formats;	/* id -> struct raw_format, empty if its text is malformed */
};

struct rawdata *rawdata_new(const char *(*format)(void *ctx, uint64_t id), void *ctx)
{
	struct rawdata *r = xcalloc(1, sizeof(*r));

	r->format = format;
	r->ctx = ctx;
	return r;
}

void rawdata_free(struct rawdata *r)
{
	if (!r)
		return;
	map_each(slot, &r->formats) {
		raw_format_free(slot->value);
		free(slot->value);
	}
	map_free(&r->formats);
	free(r);
}

static const struct raw_format *find_format(struct rawdata *r, uint64_t id)
{
	struct raw_format *f = map_get(&r->formats, id);
	const char *text;

	if (f)
		return f;
	/* do not cache a failure: the format may be available later */
	text = r->format(r->ctx, id);
	if (!text)
		return NULL;
	f = xcalloc(1, sizeof(*f));
	if (raw_format_parse(f, text, strlen(text)))
		raw_format_hints(f, text);
	map_set(&r->formats, id, f);
	return f;
}

static void emit_number(const struct raw_field *f, const char *key,
			const uint8_t *p, struct sink *s)
{
	uint64_t v = load_uint(p, f->elem);
	unsigned int unused = 64 - 8 * (unsigned int)(f->narrow ? f->narrow : f->elem);

	if (f->narrow)
		v = (uint32_t)v;
	if (f->base == RAW_ADDR)
		sink_addr(s, key, v);
	else if (f->base == RAW_HEX)
		sink_hex(s, key, v);
	else if (f->is_signed)
		sink_sint(s, key, (int64_t)(v << unused) >> unused); /* extends the sign */
	else
		sink_uint(s, key, v);
}

static void emit_value(const struct raw_field *f, const uint8_t *p, size_t n,
		       struct sink *s)
{
	bool cut;

	if (f->kind != RAW_NUMBER) {
		if (f->kind == RAW_STRING)
			n = strnlen((const char *)p, n);
		cut = n > s->max_string;
		n = cut ? s->max_string : n;
		if (f->kind == RAW_STRING)
			sink_string(s, f->name, (const char *)p, n, cut);
		else
			sink_bytes(s, f->name, p, n, cut);
	} else if (f->array || f->dynamic) {
		sink_begin(s, f->name, SINK_ARRAY);
		/* bytes that are less than a number are padding */
		for (; n >= f->elem; p += f->elem, n -= f->elem)
			emit_number(f, NULL, p, s);
		sink_end(s);
	} else {
		emit_number(f, f->name, p, s);
	}
}

static bool is_there(const struct raw_field *f, size_t len)
{
	if (f->dynamic && f->size != 4)
		return false;
	return f->offset <= len && f->size <= len - f->offset;
}

static bool wanted(const struct raw_field *f, const struct sink *s)
{
	return s->full || !f->common;
}

bool rawdata_emit(struct rawdata *r, uint64_t tracepoint_id,
		  const uint8_t *data, size_t len, struct sink *s)
{
	const struct raw_format *f;
	size_t there = 0, missing = 0;

	if (len < 2 || (tracepoint_id && load_uint(data, 2) != tracepoint_id))
		return false;
	f = find_format(r, load_uint(data, 2));
	if (!f || !f->nfields)
		return false;
	for (size_t i = 0; i < f->nfields; i++)
		if (wanted(&f->fields[i], s))
			*(is_there(&f->fields[i], len) ? &there : &missing) += 1;
	if (!there && missing)
		return false;
	for_each(d, f->fields, f->nfields) {
		/* "char buf[]" at the end extends to the end of the data */
		size_t at = d->offset, n = d->array && !d->size ? len - at : d->size;
		uint64_t word = 0;

		if (!wanted(d, s) || !is_there(d, len))
			continue;
		if (d->dynamic) { /* include/trace/stages/stage5_get_offsets.h */
			word = load_uint(data + at, 4);
			at = (word & 0xffff) + (d->relative ? at + d->size : 0);
			n = word >> 16;
		}
		if (at <= len && n <= len - at) {
			emit_value(d, data + at, n, s);
		} else {
			sink_hex(s, d->name, word);
			sink_notef(s, "unreadable", "%zu bytes at %zu of %zu", n, at, len);
		}
	}
	if (missing)
		sink_notef(s, "bounds", "too short for %zu fields", missing);
	return true;
}

void rawdata_swap(struct rawdata *r, uint64_t tracepoint_id, uint8_t *data, size_t len)
{
	const struct raw_format *format;

	if (len < 2 || (tracepoint_id && swap_load(data, 2) != tracepoint_id))
		return;
	format = find_format(r, swap_load(data, 2));
	for (size_t i = 0; format && i < format->nfields; i++) {
		const struct raw_field *f = &format->fields[i];
		size_t at = f->offset, n = f->array && !f->size ? len - at : f->size;
		uint64_t word;

		if (!is_there(f, len))
			continue;
		if (f->dynamic) {
			swap_words(data + at, 4, 4);
			word = load_uint(data + at, 4);
			at = (word & 0xffff) + (f->relative ? at + f->size : 0);
			n = word >> 16;
		}
		if (f->kind == RAW_NUMBER && at <= len && n <= len - at)
			swap_words(data + at, n, f->elem);
	}
}
