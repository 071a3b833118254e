// SPDX-License-Identifier: LGPL-2.1-or-later
/* As much of roff as man(7) pages are written in. */
#include "conform/roff.h"

#include <string.h>

#include "lib/buf.h"

enum { MACRO_ARGS = 64 };

struct reader {
	const char *at, *end;
	unsigned int line;	/* of what is read next */
	void (*hand)(void *ctx, const struct roff_line *l);
	void *ctx;
	struct buf source;	/* one line with those that continue it */
	struct buf text, fonts;
	struct roff_line out;
	char font, before;	/* of \f: now, and for \fP */
	char next_font;		/* a font macro without arguments waits, 0: none */
	bool code, tag;		/* inside .EX; the next line of text is a tag */
};

/* Lines ----------------------------------------------------------------------------------- */

/* An odd number of backslashes at its end joins a line with the next one. */
static bool joins(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[len - 1 - n] == '\\')
		n++;
	return n % 2;
}

static bool next_line(struct reader *r)
{
	bool more = true;

	buf_reset(&r->source);
	r->out.line = r->line;
	if (r->at == r->end)
		return false;
	while (more && r->at < r->end) {
		const char *nl = memchr(r->at, '\n', (size_t)(r->end - r->at));
		const char *stop = nl ? nl : r->end;
		size_t len = (size_t)(stop - r->at);

		more = joins(r->at, len);
		buf_add(&r->source, r->at, more ? len - 1 : len);
		r->at = nl ? nl + 1 : r->end;
		r->line++;
	}
	/* a NUL byte is nothing that a page can hold */
	for (size_t i = 0; i < r->source.len; i++)
		if (!r->source.data[i])
			r->source.data[i] = ' ';
	return true;
}

static void hand_over(struct reader *r, enum roff_kind kind)
{
	r->out.kind = kind;
	r->out.text = buf_str(&r->text);
	r->out.fonts = buf_str(&r->fonts);
	r->out.len = r->text.len;
	r->hand(r->ctx, &r->out);
	buf_reset(&r->text);
	buf_reset(&r->fonts);
	r->out.macro = r->out.open = false;
}

/* Escapes --------------------------------------------------------------------------------- */

static void put(struct reader *r, char c)
{
	buf_addc(&r->text, c);
	buf_addc(&r->fonts, r->font);
}

static void put_special(struct reader *r, const char *name, size_t len)
{
	static const struct {
		const char *name, *text;
	} specials[] = {
		{ "aq", "'" }, { "dq", "\"" }, { "ha", "^" }, { "ti", "~" }, { "rs", "\\" },
		{ "mi", "-" }, { "hy", "-" }, { "en", "-" }, { "em", "-" }, { "ga", "`" },
		{ "lq", "\"" }, { "rq", "\"" }, { "oq", "'" }, { "cq", "'" }, { "bu", "*" },
		{ "at", "@" }, { "sh", "#" }, { "Do", "$" }, { "or", "|" }, { "ba", "|" },
		{ "lB", "[" }, { "rB", "]" }, { "lC", "{" }, { "rC", "}" }, { "sl", "/" },
	};

	for (size_t i = 0; i < sizeof(specials) / sizeof(*specials); i++)
		if (strlen(specials[i].name) == len && !memcmp(specials[i].name, name, len)) {
			put(r, specials[i].text[0]);
			return;
		}
	put(r, '?');
}

/* A name behind an escape: x, (xx or [xxx]; moves *s behind it. */
static const char *escape_name(const char **s, const char *end, size_t *len)
{
	const char *name = *s, *close;

	*len = 0;
	if (name == end)
		return name;
	if (*name == '[') {
		close = memchr(name, ']', (size_t)(end - name));
		*len = (size_t)((close ? close : end) - name) - 1;
		*s = close ? close + 1 : end;
		return name + 1;
	}
	if (*name == '(') {
		name++;
		*len = end - name < 2 ? (size_t)(end - name) : 2;
	} else {
		*len = 1;
	}
	*s = name + *len;
	return name;
}

static void set_font(struct reader *r, const char *name, size_t len)
{
	char last = r->font;

	if (!len || (len == 1 && *name == 'P'))
		r->font = r->before;
	else if (len == 1 && (*name == 'B' || *name == '3'))
		r->font = 'B';
	else if (len == 1 && (*name == 'I' || *name == '2'))
		r->font = 'I';
	else if (len == 2 && !memcmp(name, "BI", 2))
		r->font = 'B';
	else
		r->font = 'R';
	r->before = last;
}

/* Skips the '...' of \w'...' and its like. */
static void skip_quoted(const char **s, const char *end)
{
	const char *close;

	if (*s == end)
		return;
	close = memchr(*s + 1, **s, (size_t)(end - *s) - 1);
	*s = close ? close + 1 : end;
}

/* \s takes a size: 0, +1, -2, (12, [12] */
static void skip_size(const char **s, const char *end)
{
	size_t len;

	if (*s < end && (**s == '+' || **s == '-'))
		++*s;
	escape_name(s, end, &len);
}

/* What stands behind a backslash; *s moves behind it.  False: a comment begins. */
static bool escape(struct reader *r, const char **s, const char *end)
{
	const char *name;
	size_t len;
	char c;

	if (*s == end)
		return true;
	c = *(*s)++;
	switch (c) {
	case '"':
	case '#':
		return false;
	case 'f':
		name = escape_name(s, end, &len);
		set_font(r, name, len);
		return true;
	case '[':
	case '(':
		--*s;
		name = escape_name(s, end, &len);
		put_special(r, name, len);
		return true;
	case '*': case 'n': case 'm': case 'M': case 'F': case 'k': case 'g': case 'Y':
		escape_name(s, end, &len);
		return true;
	case 's':
		skip_size(s, end);
		return true;
	case 'w': case 'h': case 'v': case 'o': case 'l': case 'L': case 'D': case 'X':
	case 'Z': case 'b': case 'x': case 'A': case 'B': case 'C': case 'H': case 'N':
	case 'R': case 'S':
		skip_quoted(s, end);
		return true;
	case 'c':
		r->out.open = true;
		return true;
	case '&': case ')': case '/': case ',': case '|': case '^': case ':': case '%':
	case 'd': case 'u': case 'r': case '{': case '}': case 'z': case 'p': case 'a':
	case 't':
		return true;
	case ' ': case '~': case '0':
		put(r, ' ');
		return true;
	case 'e': case 'E': case '\\':
		put(r, '\\');
		return true;
	default:
		put(r, c);
		return true;
	}
}

static void add_text(struct reader *r, const char *s, size_t len)
{
	const char *end = s + len;

	while (s < end)
		if (*s != '\\')
			put(r, *s++);
		else if (s++, !escape(r, &s, end))
			return;
}

/* Macros ---------------------------------------------------------------------------------- */


/* Splits at blanks outside of quotes. */
static size_t split_args(const char *s, struct buf *args, size_t max)
{
	size_t n = 0;

	for (;;) {
		bool quoted;

		s += strspn(s, " \t");
		if (!*s || n == max || !strncmp(s, "\\\"", 2))
			return n;
		quoted = *s == '"';
		s += quoted;
		for (; *s && (quoted || !strchr(" \t", *s)); s++) {
			if (quoted && *s == '"' && *++s != '"')
				break;
			/* an escaped blank parts nothing */
			if (*s == '\\' && s[1])
				buf_addc(&args[n], *s++);
			buf_addc(&args[n], *s);
		}
		n++;
	}
}

static void macro_text(struct reader *r, const char *fonts, const char *line)
{
	struct buf args[MACRO_ARGS] = { { 0 } };
	size_t n = split_args(line, args, MACRO_ARGS);
	char outside = r->font;

	for (size_t i = 0; i < n; i++) {
		r->font = r->before = fonts[i % 2];
		if (i && fonts[0] == fonts[1])
			put(r, ' ');
		add_text(r, buf_str(&args[i]), args[i].len);
		buf_free(&args[i]);
	}
	r->font = r->before = outside;
	if (!n && fonts[0] == fonts[1])
		r->next_font = fonts[0];
}

static void end_text(struct reader *r)
{
	enum roff_kind kind = r->tag ? ROFF_TAG : r->code ? ROFF_CODE : ROFF_TEXT;

	if (r->tag && !r->text.len)
		return;		/* the tag is still to come */
	r->tag = false;
	hand_over(r, kind);
}

static void break_text(struct reader *r)
{
	r->tag = false;
	r->next_font = 0;
	r->font = r->before = 'R';
	buf_reset(&r->text);
	buf_reset(&r->fonts);
	hand_over(r, ROFF_BREAK);
}

/* .SH and .SS take their heading from the next line if they have no argument. */
static void heading(struct reader *r, enum roff_kind kind, const char *args)
{
	break_text(r);
	r->code = false;
	macro_text(r, "RR", args);
	r->next_font = 0;
	if (!r->text.len && next_line(r))
		add_text(r, buf_str(&r->source), r->source.len);
	hand_over(r, kind);
}

/* .IP with a tag; those of bullets and dashes are none. */
static void indented(struct reader *r, const char *line)
{
	struct buf args[2] = { { 0 }, { 0 } };
	size_t n = split_args(line, args, 2);

	break_text(r);
	if (n)
		add_text(r, buf_str(&args[0]), args[0].len);
	if (n && (r->text.len > 1))
		hand_over(r, ROFF_TAG);
	buf_reset(&r->text);
	buf_reset(&r->fonts);
	buf_free(&args[0]);
	buf_free(&args[1]);
}

/* Skips what .de and its like define, to the line "..", or .NAME. */
static void skip_definition(struct reader *r, const char *line)
{
	struct buf args[2] = { { 0 }, { 0 } }, end = { 0 };
	size_t n = split_args(line, args, 2);

	buf_addf(&end, ".%s", n > 1 ? buf_str(&args[1]) : ".");
	while (next_line(r))
		if (!strcmp(buf_str(&r->source), buf_str(&end)))
			break;
	buf_free(&args[0]);
	buf_free(&args[1]);
	buf_free(&end);
}

static bool is(const char *name, size_t len, const char *list)
{
	const char *p = list;

	for (size_t n; *p; p += n + (p[n] == ' ')) {
		n = strcspn(p, " ");
		if (n == len && !memcmp(p, name, len))
			return true;
	}
	return false;
}

static const char *fonts_of(const char *name, size_t len)
{
	static const char *const macros[][2] = {
		{ "B", "BB" }, { "I", "II" }, { "SB", "BB" }, { "SM", "RR" }, { "BR", "BR" },
		{ "RB", "RB" }, { "BI", "BI" }, { "IB", "IB" }, { "IR", "IR" }, { "RI", "RI" },
	};

	for (size_t i = 0; i < sizeof(macros) / sizeof(*macros); i++)
		if (strlen(macros[i][0]) == len && !memcmp(macros[i][0], name, len))
			return macros[i][1];
	return NULL;
}

static void control(struct reader *r, const char *s)
{
	const char *fonts, *name;
	size_t len;

	name = s + 1 + strspn(s + 1, " \t");
	len = strcspn(name, " \t");
	s = name + len;
	fonts = fonts_of(name, len);
	if (!len || !strncmp(name, "\\\"", 2) || !strncmp(name, "\\#", 2))
		return;
	if (fonts) {
		r->out.macro = true;
		macro_text(r, fonts, s);
		if (r->text.len)
			end_text(r);
	} else if (is(name, len, "TH")) {
		macro_text(r, "RR", s);
		hand_over(r, ROFF_TITLE);
	} else if (is(name, len, "SH")) {
		heading(r, ROFF_SECTION, s);
	} else if (is(name, len, "SS")) {
		heading(r, ROFF_SUBSECTION, s);
	} else if (is(name, len, "TP TQ")) {
		break_text(r);
		r->tag = true;
	} else if (is(name, len, "IP")) {
		indented(r, s);
	} else if (is(name, len, "EX nf")) {
		break_text(r);
		r->code = true;
	} else if (is(name, len, "EE fi")) {
		break_text(r);
		r->code = false;
	} else if (is(name, len, "PP P LP RS RE HP br sp")) {
		break_text(r);
	} else if (is(name, len, "de am de1 am1 ig dei ami")) {
		skip_definition(r, is(name, len, "ig") ? " x" : s);
	}
}

static void text_line(struct reader *r)
{
	char outside = r->font;

	if (r->next_font)
		r->font = r->before = r->next_font;
	add_text(r, buf_str(&r->source), r->source.len);
	if (r->next_font)
		r->font = r->before = outside;
	r->next_font = 0;
	end_text(r);
}

void roff_read(const char *bytes, size_t len,
	       void (*line)(void *ctx, const struct roff_line *l), void *ctx)
{
	struct reader r = {
		.at = bytes, .end = bytes + len, .line = 1, .hand = line, .ctx = ctx,
		.font = 'R', .before = 'R',
	};

	while (next_line(&r)) {
		const char *s = buf_str(&r.source);

		if (*s == '.' || *s == '\'')
			control(&r, s);
		else
			text_line(&r);
	}
	buf_free(&r.source);
	buf_free(&r.text);
	buf_free(&r.fonts);
}
