// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/text/text_fit.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
	PIECE = 32,	/* columns of a long piece; of a line far too long, several are omitted */
	PREFIXES = 64,	/* those of the constants of a mask, and what colours have beside columns */
	HANG = 4,	/* before what does not fit on a line even so */
};

/*
 * What a piece tells, from least to most.  The first argument has the members of an attr: it
 * goes last, and before it its config, and the names in records.
 */
enum weight {
	TELLS_SIZE, TELLS_ERROR_TEXT, TELLS_USUAL, TELLS_ARGUMENT, TELLS_SET, TELLS_MEMBER,
	TELLS_OTHER,	/* what differs: a pid or CPU from the open before, what a call returned */
	TELLS_COMMENT, TELLS_CONFIG, TELLS_FIRST,
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
	char *text;
	const char *usual;
	const char *result;	/* of the call, in text, or its end */
	size_t other;		/* arguments of an open up to the last one that is not usual */
	struct piece pieces[PIECES];	/* by their beginning */
	size_t n;
	unsigned int lists;
	bool opens;		/* a line of perf_event_open */
	bool compact;		/* no dots for arguments behind a list that ends with dots */
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

/* Return whether the line from before has the same member. */
static bool is_usual(const struct fit *f, const char *from, size_t len)
{
	for (const char *p = f->usual; (p = memmem(p, strlen(p), from, len)); p++)
		if (p > f->usual && strchr("{ ", p[-1]) && strchr(",}", p[len]))
			return true;
	return false;
}

/* Return what follows the attr of a line of perf_event_open, "PID, CPU, ...", or NULL. */
static const char *arguments_of(const char *line)
{
	const char *p = strstr(line, "}, "), *next;

	while (p && (next = strstr(p + 1, "}, ")))
		p = next;
	return p ? p + strlen("}, ") : NULL;
}

static size_t argument_len(const char *p)
{
	size_t n = 0;

	while (p[n] && !strchr(",)", p[n]))
		n += (size_t)(skip_atom(p + n) - (p + n));
	return n;
}

/* Return how many of pid, cpu and group_fd are shown up to the last that is not usual. */
static size_t count_other(const struct fit *f)
{
	const char *p = arguments_of(f->text), *usual = arguments_of(f->usual);
	size_t other = usual ? 0 : 2;

	for (size_t i = 1; p && usual && i <= 3; i++) {
		size_t len = argument_len(p), known = argument_len(usual);

		if (len != known || memcmp(p, usual, len))
			other = i;
		p += len + strspn(p + len, ", ");
		usual += known + strspn(usual + known, ", ");
	}
	return other;
}

static bool is_member(const char *from, size_t key, const char *name)
{
	return strlen(name) == key && !memcmp(from, name, key);
}

/* Return whether the config of an attr tells its type: a name of the kernel's, a tracepoint. */
static bool type_is_told(const struct fit *f, const char *from, size_t len)
{
	const char *config = strstr(f->text, " config=");

	return f->opens && config &&
	       ((strstr(config, "config=PERF_COUNT_") && memmem(from, len, "PERF_TYPE_", 10)) ||
		memmem(from, len, "PERF_TYPE_TRACEPOINT", 20));
}

/* argument: its place among the arguments of a call, from 1; 0: it is a member. */
static enum weight weight_of(const struct fit *f, const char *from, const char *to,
			     size_t argument, bool first)
{
	size_t len = (size_t)(to - from), key = strcspn(from, "=");

	if (argument && (first || memchr(from, '{', len)))
		return TELLS_FIRST;
	if (argument)
		return f->opens && argument - 1 <= f->other ? TELLS_OTHER : TELLS_ARGUMENT;
	if (key >= len)
		return from > f->result ? TELLS_OTHER : TELLS_MEMBER;
	if (is_member(from, key, "config") || is_member(from, key, "bpf_type"))
		return TELLS_CONFIG;
	if (is_member(from, key, "type") && memmem(from, len, "PERF_RECORD_", 12))
		return TELLS_CONFIG;
	if (is_member(from, key, "size") || is_member(from, key, "misc") ||
	    (!first && !strncmp(from + key, "=0", len - key)))
		return TELLS_SIZE;
	if (is_usual(f, from, len) || !strncmp(from, "events=POLL", 11) ||
	    (is_member(from, key, "type") && type_is_told(f, from, len)))
		return TELLS_USUAL;
	if (from[key + 1] == '"') /* the file of a mapping, the name of a task */
		return TELLS_CONFIG;
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
	const char *from = p;

	if (from > f->text && from[-1] == 'm')
		while (from > f->text && *from != '\033')
			from--;
	if (from > f->text && from[-1] == ' ')
		p = from - 1;
	fit_add(f, &(struct piece){ .from = p, .to = end, .weight = weight });
}

/* Find the elements of all lists, and what follows a result in parentheses or comments. */
static void cut(struct fit *f)
{
	struct {
		const char *from;	/* of the current element */
		unsigned int list;
		size_t n;		/* its place, from 1 */
		bool keyed;
	} open[DEPTH];
	size_t depth = 0;
	const char *p = f->text, *error = strstr(p, "-1 E"), *end;

	for (; *p; p = end) {
		end = skip_atom(p);
		if (!depth && !strncmp(p, "/*", 2) && p > f->text) {
			add_aside(f, p, end, TELLS_COMMENT);
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
			open[depth++].n = 1;
		} else if (depth && (strchr(")}]", *p) || !strncmp(p, ", ", 2))) {
			const char *from = open[depth - 1].from;

			fit_add(f, &(struct piece){
				.from = from, .to = p, .list = open[depth - 1].list,
				.weight = weight_of(f, from, p, depth == 1 && !open[0].keyed ?
						    open[0].n : 0, open[depth - 1].n == 1),
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
	static const char marked[] = "...}, ";
	size_t len = strlen(marked);
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
		/* dots at the end of a list before an omitted argument may speak for it */
		if (f->compact && out->len > len && *at == ')' &&
		    !memcmp(out->data + out->len - len, marked, len)) {
			out->len -= strlen(", ");
			out->data[out->len] = '\0';
		} else {
			add_dots(out);
		}
	}
	append_part(f, at, at + strlen(at), out);
}

/* Omit up to n pieces, least telling first, the last of several; return false if none is left. */
static bool omit_some(struct fit *f, size_t n)
{
	struct piece *least = NULL;
	bool some = false;

	for (; n; n--, least = NULL) {
		for (size_t i = 0; i < f->n; i++) {
			struct piece *p = &f->pieces[i];

			if (!p->omitted && p->weight < TELLS_CONFIG &&
			    (!least || p->weight <= least->weight))
				least = p;
		}
		if (!least)
			break;
		least->omitted = some = true;
	}
	return some;
}

/* Return whether it is an argument behind an omitted one: alone it would tell little. */
static bool is_behind_dots(const struct fit *f, const struct piece *p)
{
	for (const struct piece *q = p; !p->keyed && p->list && q-- > f->pieces;)
		if (q->list == p->list)
			return q->omitted;
	return false;
}

/* Take back what still has room, what tells most first. */
static void fill(struct fit *f, size_t width, struct buf *out)
{
	size_t room = width - text_columns(buf_str(out));

	for (enum weight w = TELLS_FIRST; w > TELLS_SIZE; w--) {
		for (size_t i = 0; i < f->n; i++) {
			struct piece *p = &f->pieces[i];

			/* a structure without its members tells nothing */
			if (!p->omitted || p->weight != w || is_behind_dots(f, p) ||
			    (size_t)(p->to - p->from) > room + PREFIXES ||
			    memchr(p->from, '{', (size_t)(p->to - p->from)))
				continue;
			p->omitted = false;
			render(f, out);
			p->omitted = text_columns(buf_str(out)) > width;
			if (!p->omitted)
				room = width - text_columns(buf_str(out));
		}
	}
	render(f, out);
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

/*
 * Break the line between members and arguments, but not in a result or in short comments, whose
 * blanks are replaced meanwhile; cut only what has no place for a break.
 */
static void fold(struct buf *line, size_t width)
{
	static const char kept = '\001';	/* which no line has */
	struct buf folded = { 0 };
	const char *end;

	for (char *p = line->data; p && *p; p = line->data + (end - line->data)) {
		bool result = !strncmp(p, ") = ", 4);

		end = result ? p + strlen(p) : skip_atom(p);
		if ((!result && strncmp(p, "/*", 2)) || (size_t)(end - p) > width - HANG)
			continue;
		for (p += result ? 2 : 0; p < end; p++)
			*p = *p == ' ' ? kept : *p;
	}
	text_fill(&folded, buf_str(line), line->len, 0, HANG, width);
	for (size_t i = 0; i < folded.len; i++)
		folded.data[i] = folded.data[i] == kept ? ' ' : folded.data[i];
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

void text_fit(struct buf *line, const char *usual, size_t width)
{
	struct buf out = { 0 };
	size_t columns;
	struct fit *f;

	if (text_columns(buf_str(line)) <= width)
		return;
	f = xcalloc(1, sizeof(*f));
	f->text = xstrdup(buf_str(line));
	f->usual = usual;
	f->opens = strstr(f->text, "perf_event_open"); /* a colour may follow it */
	f->other = f->opens ? count_other(f) : 0;
	f->result = strstr(f->text, ") = ");
	f->result = f->result ? f->result : f->text + strlen(f->text);
	cut(f);
	do {
		render(f, &out);
		columns = text_columns(buf_str(&out));
	} while (columns > width && omit_some(f, 1 + (columns - width) / PIECE));
	if (text_columns(buf_str(&out)) > width) {
		f->compact = true;
		render(f, &out);
	}
	if (text_columns(buf_str(&out)) > width)
		fold(&out, width);
	else
		fill(f, width, &out);
	buf_reset(line);
	buf_add(line, buf_str(&out), out.len);
	buf_free(&out);
	free(f->text);
	free(f);
}
