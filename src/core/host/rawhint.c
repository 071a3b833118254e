// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The bases of numbers in "print fmt" of an event's format.  It is printk's format string,
 * followed by C expressions.  Only expressions that consist of a field are evaluated, and the
 * arguments of __print_flags():
 *
 *	print fmt: "ip=%pS v=%lx", (void *)REC->ip, ((unsigned long)(REC->v))
 */
#include "core/host/rawformat.h"

#include <ctype.h>
#include <string.h>

#include "core/lib/scan_text.h"

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

/* Skip spaces, opening parentheses and casts before an operand. */
static const char *skip_casts(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '(')) {
		const char *q = p + 1;

		while (*p == '(' && q < end &&
		       (isalnum((unsigned char)*q) || strchr("_ *", *q)))
			q++;
		/* skip "(unsigned long)" as a whole, of "(REC->x)" the parenthesis */
		p = *p == '(' && q > p + 1 && q < end && *q == ')' ? q + 1 :
								    p + 1;
	}
	return p;
}

/* Set the base of the field at p: "REC->name", then the end or one of the bytes of tail. */
static void set_base(struct raw_format *f, const char *p, const char *end,
		     enum raw_base base, const char *tail)
{
	size_t len = 0;
	const char *q;

	p = skip_casts(p, end);
	if (end - p < 5 || strncmp(p, "REC->", 5))
		return;
	p += 5;
	while (p + len < end && (scan_is_word(p[len])))
		len++;
	for (q = p + len; q < end && (*q == ' ' || *q == ')'); q++)
		;
	if (q < end && (!*q || !strchr(tail, *q)))
		return;
	for (size_t i = 0; i < f->nfields; i++) {
		struct raw_field *field = &f->fields[i];

		if (strlen(field->name) == len && !memcmp(field->name, p, len) &&
		    field->kind == RAW_NUMBER && field->base == RAW_DECIMAL &&
		    !field->array && !field->dynamic)
			field->base = base;
	}
}

/* Set RAW_HEX for every __print_flags(REC->name, ...). */
static void flag_words(struct raw_format *f, const char *p, const char *end)
{
	static const char call[] = "__print_flags(";

	while ((p = strstr(p, call)) && p < end) {
		p += sizeof(call) - 1;
		set_base(f, p, end, RAW_HEX, ",&");
	}
}

void raw_format_hints(struct raw_format *f, const char *text)
{
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
	p = strstr(text, "\nprint fmt: \"");
	flag_words(f, p, p + strlen(p));
}
