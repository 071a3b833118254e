// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/text/text_fit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/lib/die.h"
#include "core/lib/scan_text.h"

/* Return the end of the character, colour or hyperlink (OSC 8) at p; *columns: its width. */
static const char *text_step(const char *p, const char *end, size_t *columns)
{
	bool link = !strncmp(p, "\033]", 2);

	*columns = *p++ != '\033';
	if (*columns)
		while (p < end && (*p & 0xc0) == 0x80) /* UTF-8 */
			p++;
	else
		while (p < end && !(link ? p[-1] == '\033' && *p == '\\' : *p == 'm'))
			p++;
	return p + (!*columns && p < end);
}

/*
 * Return where the line can be broken: before a blank, or in a mask, as A|B or A+B.  If nothing
 * before width columns can be, return the next such place; if the line fits, NULL.
 */
static const char *text_break(const char *line, const char *end, size_t column, size_t width)
{
	const char *p = line + strspn(line, " "), *second = p + 1, *at = NULL;
	size_t step;

	for (column += (size_t)(p - line); p < end && (column <= width || !at); column += step) {
		bool mask = p > second && strchr("|+", p[-1]) && isalnum((unsigned char)p[-2]) &&
			    isupper((unsigned char)*p);

		if (p > second && (*p == ' ' || mask))
			at = p;
		p = text_step(p, end, &step);
	}
	return column > width ? at : NULL;
}

void text_fill(struct buf *out, const char *text, size_t len, size_t column, size_t hang,
	       size_t width)
{
	const char *end = text + len, *at;

	while ((at = text_break(text, end, column, width)) && at + strspn(at, " ") < end) {
		len = (size_t)(at - text);
		while (len && text[len - 1] == ' ')
			len--;
		buf_add(out, text, len);
		buf_addf(out, "\n%*s", (int)hang, "");
		text = at + strspn(at, " ");
		column = hang;
	}
	buf_add(out, text, (size_t)(end - text));
}

void text_wrap(struct buf *text, size_t width)
{
	const char *line = buf_str(text);
	struct buf out = { 0 };

	while (*line) {
		const char *end = line + strcspn(line, "\n"), *p = line + strspn(line, " ");
		size_t column = (size_t)(p - line), hang = column + 2, step;

		/* hang: the start of the last column of a table, if it leaves room for its text */
		for (; p < end && column < width / 2; column += step) {
			size_t blanks = strspn(p, " ");

			if (blanks > 1 && column + blanks < width / 2)
				hang = column + blanks;
			p = text_step(p, end, &step);
		}
		text_fill(&out, line, (size_t)(end - line), 0, hang, width);
		line = end;
		if (*line)
			buf_addc(&out, *line++);
	}
	buf_free(text);
	*text = out;
}

enum {
	DEPTH = 16,
	PIECES = 512,
	PREFIXES = 64,	/* those of the constants of a mask, and what colours have beside columns */
	HANG = 4,	/* before what does not fit on a line even so */
	MAX_SLACK = 3,
	GLUE = 1,	/* stands for a blank at which a line is not broken; no line has it */
};

/* What a piece tells, from least to most. */
enum weight {
	TELLS_SIZE, TELLS_ERROR_TEXT, TELLS_USUAL, TELLS_ARGUMENT, TELLS_SET, TELLS_MEMBER,
	TELLS_OTHER,	/* the modes that are counted, what a call returned */
	TELLS_COMMENT,
	TELLS_KEPT,	/* never omitted */
};

/* A part of the line that may be omitted. */
struct piece {
	const char *from, *to;
	unsigned int list;	/* number of the list that it is in; 0: none */
	enum weight weight;
	bool keyed;		/* members: their places in the list mean nothing */
	bool omitted;
};

struct fit {
	const struct call_desc *desc;
	const struct rule_desc *rule;
	char *text;
	const char *result;	/* of the call, in text, or its end */
	struct piece pieces[PIECES];	/* by their beginning */
	size_t n;
	size_t slack;		/* columns for a second digit of the descriptors and the CPU */
	unsigned int lists;
	bool opens;		/* a line of perf_event_open */
};

size_t text_columns(const char *line)
{
	const char *end = line + strlen(line);
	size_t n = 0, step;

	for (; line < end; n += step)
		line = text_step(line, end, &step);
	return n;
}

/* Cutting a line into pieces --------------------------------------------------------- */

/* Return the end of the string, comment or colour that begins at p, or p + 1. */
static const char *skip_atom(const char *p)
{
	const char *end = p;

	if (*p == '"') {
		for (end++; *end && *end != '"'; end++)
			end += *end == '\\' && end[1];
	} else if (!strncmp(p, "/*", 2)) {
		end = strstr(p, "*/");
		end = end ? end + 1 : p;
	} else if (*p == '\033') {
		end += strcspn(p, "m");
	}
	return *end ? end + 1 : end;
}

/* Return what follows the attr of a line of perf_event_open, "PID, CPU, ...", or NULL. */
static const char *arguments_of(const char *line)
{
	const char *p = strstr(line, "}, "), *next;

	while (p && (next = strstr(p + 1, "}, ")))
		p = next;
	return p ? p + strlen("}, ") : NULL;
}

static bool is_member(const char *from, size_t key, const char *name)
{
	return strlen(name) == key && !memcmp(from, name, key);
}

/* Return whether a member or argument is among those to which the reason of a refusal applies. */
static bool is_guilty(const struct fit *f, const char *from, size_t len)
{
	char name[32];

	snprintf(name, sizeof(name), "%.*s", (int)len, from);
	return f->rule && rules_place(f->rule, name) >= 0;
}

/* Return whether the config of an attr tells its type: a name of the kernel's, a tracepoint. */
static bool type_is_told(const struct fit *f, const char *from, size_t len)
{
	const char *config = strstr(f->text, " config=");

	return f->opens && config &&
	       ((strstr(config, "config=PERF_COUNT_") && memmem(from, len, "PERF_TYPE_", 10)) ||
		memmem(from, len, "PERF_TYPE_TRACEPOINT", 20));
}

/* i: its place in a list without keys, from 1; a: the argument there, or NULL. */
static enum weight weigh_argument(const struct fit *f, const char *from, size_t len, size_t i,
				  const struct arg_desc *a)
{
	bool first = i == 1 || memchr(from, '{', len);

	if (a && is_guilty(f, a->name, strlen(a->name)))
		return TELLS_KEPT;
	switch (a ? a->kind : ARG_UINT) {
	case ARG_FD:
	case ARG_EVENT_PID:
	case ARG_CPU:
		return TELLS_KEPT;
	case ARG_GROUP_FD:
		return is_member(from, len, "-1") ? TELLS_ARGUMENT : TELLS_OTHER;
	case ARG_ADDR: /* that of mmap tells less than its descriptor */
		return i == 1 && f->desc->nargs < CALL_MAX_ARGS ? TELLS_KEPT : TELLS_SIZE;
	case ARG_FLAGS:
	case ARG_FLAGS32:
		return i == 1 ? TELLS_KEPT : TELLS_SIZE;
	default:
		return first || len <= strlen("...") ? TELLS_KEPT : TELLS_ARGUMENT;
	}
}

/* Return whether a member is kept: what an event counts, or what a record says and of whom. */
static bool member_is_kept(const struct fit *f, const char *from, size_t len, size_t key)
{
	const char *value = from + key + 1;

	if (*value == '"' || *value == '\033') /* the file of a mapping, the name of a task */
		return true;
	if (is_member(from, key, "type"))
		return f->opens || memmem(from, len, "PERF_RECORD_", 12);
	return is_member(from, key, "sample_period") || is_member(from, key, "sample_freq") ||
	       !strncmp(from, "config", 6) || !strncmp(from, "bp_", 3) ||
	       is_member(from, key, "bpf_type") || is_member(from, key, f->desc ? "fd" : "ip");
}

static enum weight weigh_member(const struct fit *f, const char *from, size_t len, bool first)
{
	size_t key = strcspn(from, "=");

	if (key >= len)
		return from > f->result ? TELLS_OTHER : TELLS_MEMBER;
	if (is_member(from, key, "type") && type_is_told(f, from, len))
		return TELLS_USUAL;
	if (is_guilty(f, from, key))
		return TELLS_KEPT;
	if (is_member(from, key, "size") || is_member(from, key, "misc") ||
	    (!first && !strncmp(from + key, "=0", len - key)))
		return TELLS_SIZE;
	if (member_is_kept(f, from, len, key))
		return TELLS_KEPT;
	if (is_member(from, key, "freq") || !strncmp(from, "events=POLL", 11))
		return TELLS_USUAL;
	if (f->opens && (is_member(from, key, "exclude_kernel") || is_member(from, key, "exclude_user")))
		return TELLS_OTHER;
	/* a bit of an attr, or a structure in one, such as sample_id */
	if ((f->opens && !strncmp(from + key, "=1", 2)) || from[key + 1] == '{')
		return TELLS_SET;
	return from > f->result ? TELLS_OTHER : TELLS_MEMBER;
}

static void fit_add(struct fit *f, const struct piece *p)
{
	if (f->n < PIECES && p->to > p->from)
		f->pieces[f->n++] = *p;
}

static int by_beginning(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? 1 : x->to > y->to ? -1 : 0;
}

/* Add a comment or text in parentheses, with the blank before it and what colours it. */
static void add_aside(struct fit *f, const char *p, const char *end, enum weight weight)
{
	static const char plain[] = "\033[0m";
	const char *from = p;

	if (from > f->text && from[-1] == 'm')
		while (from > f->text && *from != '\033')
			from--;
	if (*from == '\033' && !strncmp(end, plain, strlen(plain)))
		end += strlen(plain);
	if (from > f->text && from[-1] == ' ')
		p = from - 1;
	fit_add(f, &(struct piece){ .from = p, .to = end, .weight = weight });
}

/* Note where twins of a line may have a second digit: in a descriptor, or the CPU of an open. */
static void count_slack(struct fit *f, const char *number)
{
	f->slack += f->slack < MAX_SLACK && isdigit((unsigned char)*number) &&
		    !isdigit((unsigned char)number[1]);
}

/* Find the elements of all lists, and what follows a result in parentheses or comments. */
static void cut(struct fit *f)
{
	struct {
		const char *from;	/* of the current element */
		unsigned int list;
		size_t n;		/* its place, from 1 */
		bool keyed, call;	/* call: the arguments of the call */
	} open[DEPTH];
	size_t depth = 0;
	const char *p = f->text, *error = strstr(p, "-1 E"), *end;

	for (; *p; p = end) {
		end = skip_atom(p);
		if (!depth && !strncmp(p, "/*", 2) && p > f->text) {
			add_aside(f, p, end, f->opens ? TELLS_KEPT : TELLS_COMMENT);
		} else if (f->opens && depth == 1 && !strncmp(p, "/*", 2)) {
			add_aside(f, p, end, TELLS_ARGUMENT); /* what a number means: any CPU */
		} else if (depth && !strncmp(p, "/* ignored", 10)) {
			add_aside(f, p, end, TELLS_SIZE);
		} else if (!depth && *p == '(' && error && error < p && strchr(p, ')')) {
			end = strchr(p, ')') + 1;
			add_aside(f, p, end, TELLS_ERROR_TEXT);
		} else if (strchr("({[", *p) && depth < DEPTH) {
			open[depth].from = end;
			open[depth].list = ++f->lists;
			open[depth].keyed = *p == '{';
			open[depth].call = !depth && *p == '(' && f->desc &&
					   p > f->text && p < f->result && p[-1] != ' ';
			open[depth++].n = 1;
		} else if (depth && (strchr(")}]", *p) || !strncmp(p, ", ", 2))) {
			const char *from = open[depth - 1].from;
			size_t i = depth == 1 && !open[0].keyed ? open[0].n : 0;
			bool first = open[depth - 1].n == 1;
			const struct arg_desc *a = open[0].call && i && i <= f->desc->nargs ?
						   &f->desc->args[i - 1] : NULL;

			if (a && (a->kind == ARG_CPU || a->kind == ARG_FD))
				count_slack(f, from);
			fit_add(f, &(struct piece){
				.from = from, .to = p, .list = open[depth - 1].list,
				.weight = i ? weigh_argument(f, from, (size_t)(p - from), i, a) :
					  weigh_member(f, from, (size_t)(p - from), first),
				.keyed = open[depth - 1].keyed,
			});
			open[depth - 1].n++;
			open[depth - 1].from = p + 2;
			if (*p != ',')
				depth--;
			else
				end = p + 2;
		}
	}
	qsort(f->pieces, f->n, sizeof(*f->pieces), by_beginning);
}

/* Putting it together ------------------------------------------------------------------ */

/* Return the piece that follows in the same list, or NULL. */
static const struct piece *next_of_list(const struct fit *f, const struct piece *p)
{
	for (const struct piece *next = p + 1; p->list && next < f->pieces + f->n; next++)
		if (next->list == p->list)
			return next;
	return NULL;
}

/* Return whether at is the end of a list of members of which some are omitted. */
static bool ends_short(const struct fit *f, const char *at)
{
	bool ends = false, omitted = false;

	for (size_t i = 0; i < f->n && !ends; i++)
		ends = f->pieces[i].keyed && f->pieces[i].to == at && !next_of_list(f, &f->pieces[i]);
	for (const struct piece *p = f->pieces; ends && p < f->pieces + f->n; p++)
		if (p->keyed && p->to == at)
			for (const struct piece *q = f->pieces; q <= p; q++)
				omitted |= q->list == p->list && q->omitted;
	return omitted;
}

static void add_dots(struct buf *out)
{
	char last = out->len ? out->data[out->len - 1] : '\0';

	buf_adds(out, strchr(" ({[,", last) ? "..." : ", ...");
}

/* Skip the prefix of a constant: PERF_COUNT_HW_ or PERF_TYPE_. */
static const char *skip_prefix(const char *p)
{
	static const char first[] = "PERF_";
	const char *end;

	if (strncmp(p, first, strlen(first)))
		return p;
	end = strchr(p + strlen(first), '_');
	if (!end || strcspn(p, ",|}) ") < (size_t)(end - p))
		return p;
	end++;
	return !strncmp(end, "HW_", 3) || !strncmp(end, "SW_", 3) ? end + 3 : end;
}

/*
 * Append from text what lies before end, with constants without their prefixes, and dots where
 * members are omitted.
 */
static void append_part(const struct fit *f, const char *from, const char *end, struct buf *out)
{
	while (from < end) {
		const char *p = *from == '"' ? skip_atom(from) : from + 1;

		if (*from == '}' && ends_short(f, from))
			add_dots(out);
		if (*from == 'P' && (!out->len || !scan_is_word(out->data[out->len - 1]))) {
			from = skip_prefix(from);
			p = from + 1;
		}
		buf_add(out, from, (size_t)((p < end ? p : end) - from));
		from = p;
	}
}

static void render(const struct fit *f, struct buf *out)
{
	const char *at = f->text;

	buf_reset(out);
	for (size_t i = 0; i < f->n; i++) {
		const struct piece *p = &f->pieces[i], *next;

		if (!p->omitted || p->from < at)
			continue;
		append_part(f, at, p->from, out);
		next = next_of_list(f, p);
		at = p->keyed && next ? next->from : p->to;
		if (p->keyed || !p->list)
			continue;
		for (; next && next->omitted; next = next_of_list(f, next))
			at = next->to;
		add_dots(out);
	}
	append_part(f, at, at + strlen(at), out);
}

/* Append a line of that length, cut at width columns; colours end there. */
static void cut_at(const char *line, size_t len, size_t width, struct buf *out)
{
	char *text = xstrndup(line, len);
	const char *p = text;
	size_t step;

	if (text_columns(text) <= width) {
		buf_add(out, text, len);
	} else {
		for (size_t n = 3; n < width; n += step)
			p = text_step(p, text + len, &step);
		buf_add(out, text, (size_t)(p - text));
		buf_addf(out, "...%s", strchr(text, '\033') ? "\033[0m" : "");
	}
	free(text);
}

/* Replace the blanks of a text of up to that many columns, so that it is not broken. */
static void glue(char *from, const char *end, size_t columns)
{
	char *text = xstrndup(from, (size_t)(end - from));

	for (; text_columns(text) <= columns && from < end; from++)
		*from = *from == ' ' ? GLUE : *from;
	free(text);
}

/*
 * Break the line between members and arguments, but not in a result, in short comments, and where
 * possible in what follows an attr; cut only what has no place for a break.
 */
static void fold(const struct fit *f, struct buf *line, size_t width)
{
	const char *args = f->opens ? arguments_of(buf_str(line)) : NULL, *end;
	const char *result = strstr(buf_str(line), ") = ");
	struct buf folded = { 0 };

	for (char *p = line->data; p && *p; p = line->data + (end - line->data)) {
		end = skip_atom(p);
		if (!strncmp(p, "/*", 2) && end > p + strlen("/* */")) {
			glue(p + (end - p) - 3, end, 3); /* no line begins with the end of a comment */
			glue(p, end, width - HANG);
		} else if (p == args) {
			glue(p, p + strlen(p), width - HANG);
			glue(p, result > p ? result : end, width - HANG);
		} else if (p == result) {
			char *error = strchr(p + 4, ' '); /* "= -1 EINVAL" stays whole */

			glue(p + 2, p + strlen(p), width - HANG);
			p[3] = GLUE;
			if (error)
				*error = GLUE;
		}
	}
	text_fill(&folded, buf_str(line), line->len, 0, HANG, width);
	for (size_t i = 0; i < folded.len; i++)
		folded.data[i] = folded.data[i] == GLUE ? ' ' : folded.data[i];
	buf_reset(line);
	for (const char *p = buf_str(&folded); ; p = end + 1) {
		end = p + strcspn(p, "\n");
		cut_at(p, (size_t)(end - p), width, line);
		if (!*end)
			break;
		buf_addc(line, '\n');
	}
	buf_free(&folded);
}

/* Return the rows of a line as shortened so far, if its descriptor and CPU had two digits. */
static size_t rows(const struct fit *f, const struct buf *line, size_t width)
{
	size_t columns = text_columns(buf_str(line)), n = 1;
	struct buf copy = { 0 };
	const char *last;

	if (columns + f->slack <= width)
		return 1;
	buf_add(&copy, line->data, line->len);
	fold(f, &copy, width);
	last = buf_str(&copy);
	for (const char *p; (p = strchr(last, '\n')); last = p + 1)
		n++;
	n += text_columns(last) + f->slack > width;
	buf_free(&copy);
	return n;
}

/* Take back what has room in the rows that are needed anyway, what tells most first. */
static void fill(struct fit *f, size_t width, struct buf *out)
{
	enum weight least = f->opens ? TELLS_SET : TELLS_ERROR_TEXT;
	size_t most = rows(f, out, width);

	for (enum weight w = TELLS_COMMENT; w >= least; w--) {
		for (struct piece *p = f->pieces; p < f->pieces + f->n; p++) {
			size_t len = (size_t)(p->to - p->from);

			/* a structure without its members tells nothing, but that a list has it */
			if (!p->omitted || p->weight != w || (p->keyed && memchr(p->from, '{', len)) ||
			    len + text_columns(buf_str(out)) > most * width + PREFIXES)
				continue;
			p->omitted = false;
			render(f, out);
			p->omitted = rows(f, out, width) > most;
			if (p->omitted)
				render(f, out);
		}
	}
}

void text_fit(struct buf *line, const struct call_desc *desc, const struct rule_desc *rule,
	      size_t width)
{
	size_t columns = text_columns(buf_str(line));
	struct fit *f;

	if (columns + (desc ? MAX_SLACK : 0) <= width)
		return;
	f = xcalloc(1, sizeof(*f));
	f->desc = desc;
	f->rule = rule;
	f->text = xstrdup(buf_str(line));
	f->opens = desc && desc->id == CALL_PERF_EVENT_OPEN;
	f->result = strstr(f->text, ") = ");
	f->result = f->result ? f->result : f->text + strlen(f->text);
	if (f->opens && *f->result)
		count_slack(f, f->result + strlen(") = "));
	cut(f);
	if (columns + f->slack > width) {
		for (size_t i = 0; i < f->n; i++)
			f->pieces[i].omitted = f->pieces[i].weight < TELLS_KEPT;
		render(f, line);
		fill(f, width, line);
		if (text_columns(buf_str(line)) > width)
			fold(f, line, width);
	}
	free(f->text);
	free(f);
}
