// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/when.h"

#include <stdlib.h>
#include <string.h>

#include "core/abi/attr_member.h"
#include "core/abi/layout.h"
#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "core/lib/scan_text.h"

enum { WHEN_DEPTH = 64 };	/* nested brackets and ! */

enum when_op {
	WHEN_AND, WHEN_OR, WHEN_NOT,
	WHEN_TRUE,	/* not zero */
	WHEN_EQ, WHEN_NE, WHEN_LT, WHEN_LE, WHEN_GT, WHEN_GE, WHEN_BITS,
};

struct when {
	enum when_op op;
	struct when *a, *b;		/* of AND and OR; NOT has a only */
	const struct field *field;	/* or: */
	const struct when_value *own;	/* both NULL: an argument */
	char name[32];			/* of it */
	uint64_t value;
};

struct reader {
	struct text_cursor *c;
	const struct call_desc *const *calls;
	size_t ncalls;
	const struct when_value *more;	/* or NULL */
	unsigned int depth;
};

void when_free(struct when *w)
{
	if (!w)
		return;
	when_free(w->a);
	when_free(w->b);
	free(w);
}

static struct when *when_node(enum when_op op, struct when *a, struct when *b)
{
	struct when *w = xcalloc(1, sizeof(*w));

	w->op = op;
	w->a = a;
	w->b = b;
	return w;
}

/* Reading ---------------------------------------------------------------------- */

/* Return the text up to && or || or an unmatched bracket, without trailing blanks. */
static struct text_cursor slice_value(struct text_cursor *c)
{
	struct text_cursor part = { .at = c->at };
	int open = 0;

	for (; c->at < c->end; c->at++) {
		bool pair = c->end - c->at > 1 && c->at[1] == c->at[0];

		open += *c->at == '(';
		if ((*c->at == ')' && open-- == 0) || (pair && strchr("&|", *c->at)))
			break;
	}
	part.end = c->at;
	while (part.end > part.at && scan_is_blank(part.end[-1]))
		part.end--;
	return part;
}

static bool read_value(struct reader *r, struct when *w, const struct arg_desc *arg)
{
	const struct ioctl_desc *d;
	struct text_cursor part;
	struct nearest n;
	size_t len;

	text_skip_blanks(r->c);
	part = slice_value(r->c);
	len = (size_t)(part.end - part.at);
	if (!len)
		return text_cursor_fail(r->c, "expected a value behind '%s'", w->name);
	if (arg && arg->kind == ARG_IOCTL_REQUEST) {
		/* names of ioctls are in no table of constants */
		d = ioctl_by_name(part.at, len);
		if (d) {
			w->value = d->request;
			return true;
		}
		nearest_start(&n, part.at, len);
		ioctl_offer(&n);
		if (*n.best)
			return text_cursor_fail(r->c, "unknown ioctl '%.*s'%s",
						len < 60 ? (int)len : 60, part.at,
						nearest_hint(&n));
	}
	if (!value_read(&part, arg ? arg->xlat : w->field ? w->field->xlat : NULL, &w->value))
		return text_cursor_fail(r->c, "%s", part.why);
	return true;
}

static enum when_op take_op(struct text_cursor *c)
{
	static const struct {
		const char *text;
		enum when_op op;
	} ops[] = {
		{ "==", WHEN_EQ }, { "!=", WHEN_NE }, { "<=", WHEN_LE }, { ">=", WHEN_GE },
		{ "=", WHEN_EQ }, { "<", WHEN_LT }, { ">", WHEN_GT },
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (text_take(c, ops[i].text))
			return ops[i].op;
	/* a single &: && joins comparisons */
	if (text_take(c, "&")) {
		if (c->at == c->end || *c->at != '&')
			return WHEN_BITS;
		c->at--;
	}
	return WHEN_TRUE;
}

/* Store the error of a word that is no name, with the nearest. */
static void unknown_name(struct reader *r, const char *word, size_t len)
{
	struct nearest n;

	nearest_start(&n, word, len);
	attr_member_offer(&n);
	for (size_t i = 0; i < r->ncalls; i++)
		for (size_t k = 0; k < r->calls[i]->nargs; k++)
			nearest_try(&n, r->calls[i]->args[k].name);
	text_cursor_fail(r->c, len ? "'%.*s' is neither a member of struct perf_event_attr nor "
			 "an argument of the call%s" :
			 "expected a member of struct perf_event_attr or an argument",
			 (int)(len < 64 ? len : 64), word, nearest_hint(&n));
}

/* Parse NAME, or NAME OP VALUE. */
static struct when *comparison(struct reader *r)
{
	struct when *w = when_node(WHEN_TRUE, NULL, NULL);
	const struct arg_desc *arg = NULL;
	const char *start;
	size_t len;

	text_skip_blanks(r->c);
	start = r->c->at;
	len = scan_word(start, r->c->end);
	r->c->at += len;
	if (len && len < sizeof(w->name)) {
		memcpy(w->name, start, len);
		w->field = attr_member(start, len);
		for (size_t i = 0; !w->field && !arg && i < r->ncalls; i++)
			arg = call_arg(r->calls[i], start, len);
		for (const struct when_value *v = r->more; v && v->name; v++)
			if (!w->field && !arg && !strcmp(v->name, w->name))
				w->own = v;
	}
	if (!w->field && !arg && !w->own) {
		unknown_name(r, start, len);
	} else {
		w->op = take_op(r->c);
		if (w->op == WHEN_TRUE || read_value(r, w, arg))
			return w;
	}
	when_free(w);
	return NULL;
}

static struct when *any_of(struct reader *r);

static struct when *one(struct reader *r)
{
	struct when *w;

	if (r->depth == WHEN_DEPTH) {
		text_cursor_fail(r->c, "too many brackets");
		return NULL;
	}
	r->depth++;
	if (text_take(r->c, "!")) {
		w = one(r);
		w = w ? when_node(WHEN_NOT, w, NULL) : NULL;
	} else if (text_take(r->c, "(")) {
		w = any_of(r);
		if (w && !text_take(r->c, ")")) {
			text_cursor_fail(r->c, "expected ')'");
			when_free(w);
			w = NULL;
		}
	} else {
		w = comparison(r);
	}
	r->depth--;
	return w;
}

/* Parse operands with next(), joined by word. */
static struct when *chain(struct reader *r, const char *word, enum when_op op,
			  struct when *(*next)(struct reader *r))
{
	struct when *w = next(r), *more;

	while (w && text_take(r->c, word)) {
		more = next(r);
		if (!more) {
			when_free(w);
			return NULL;
		}
		w = when_node(op, w, more);
	}
	return w;
}

static struct when *all_of(struct reader *r)
{
	return chain(r, "&&", WHEN_AND, one);
}

static struct when *any_of(struct reader *r)
{
	return chain(r, "||", WHEN_OR, all_of);
}

struct when *when_read(struct text_cursor *c, const struct call_desc *const *calls,
		       size_t n, const struct when_value *more)
{
	struct reader r = { .c = c, .calls = calls, .ncalls = n, .more = more };
	struct when *w = any_of(&r);

	text_skip_blanks(c);
	if (w && c->at != c->end) {
		text_cursor_fail(c, "'%.*s' is neither a comparison nor && or ||",
				 text_cursor_some(c), c->at);
		when_free(w);
		return NULL;
	}
	/* cppcheck-suppress returnDanglingLifetime ; w is allocated, and holds nothing of r */
	return w;
}

/* Asking ----------------------------------------------------------------------- */

/* Compare a member or an argument; return false if the call does not have it. */
static bool compares(const struct when *w, const struct call *c, const uint8_t *attr, size_t len)
{
	const struct arg_desc *arg = w->field || w->own ? NULL :
				     call_arg(c->desc, w->name, strlen(w->name));
	unsigned int i = arg ? (unsigned int)(arg - c->desc->args) : 0;
	bool is_signed = false, less;
	uint64_t v;

	if (w->field ? !attr : !arg && !w->own)
		return false;
	if (w->own) {
		v = w->own->value;
	} else if (w->field) {
		/* members beyond a shorter struct are zero, as in the kernel */
		v = field_get(w->field, attr, len);
		is_signed = w->field->kind == FIELD_SINT;
	} else {
		is_signed = arg->kind == ARG_SINT || arg->kind == ARG_FD || arg->kind == ARG_PID ||
			    arg->kind == ARG_CPU || arg->kind == ARG_EVENT_PID ||
			    arg->kind == ARG_GROUP_FD || arg->kind == ARG_MSEC ||
			    arg->kind == ARG_DIRFD || arg->kind == ARG_LOFF;
		v = is_signed ? (uint64_t)(int64_t)call_int(c, i) :
		    arg->kind == ARG_IOCTL_REQUEST ? (uint32_t)c->args[i] : c->args[i];
	}
	less = is_signed ? (int64_t)v < (int64_t)w->value : v < w->value;
	switch (w->op) {
	case WHEN_EQ: return v == w->value;
	case WHEN_NE: return v != w->value;
	case WHEN_LT: return less;
	case WHEN_LE: return less || v == w->value;
	case WHEN_GT: return !less && v != w->value;
	case WHEN_GE: return !less;
	case WHEN_BITS: return v & w->value;
	default: return v;
	}
}

bool when_holds(const struct when *w, const struct call *c, const uint8_t *attr,
		size_t len)
{
	switch (w->op) {
	case WHEN_AND:
		return when_holds(w->a, c, attr, len) && when_holds(w->b, c, attr, len);
	case WHEN_OR:
		return when_holds(w->a, c, attr, len) || when_holds(w->b, c, attr, len);
	case WHEN_NOT:
		return !when_holds(w->a, c, attr, len);
	default:
		return compares(w, c, attr, len);
	}
}
