// SPDX-License-Identifier: LGPL-2.1-or-later
/* The subset of roff that man(7) pages use. */
#include "conform/roff.h"

#include <string.h>

#include "conform/api_desc.h"
#include "core/lib/buf.h"

enum { MACRO_ARGS = 64 };

struct reader {
	const char *at, *end;
	unsigned int line;	/* number of the next line */
	void (*hand)(void *ctx, const struct roff_line *l);
	void *ctx;
	struct buf source;	/* a line with its continuations */
	struct buf text, fonts;
	struct roff_line out;
	char font, before;	/* current font, and that of \fP */
	char next_font;		/* of a font macro without arguments; 0: none */
	bool code, tag;		/* inside .EX; the next line of text is a tag */
	bool also;		/* of .TQ */
};

/* Lines ----------------------------------------------------------------------------------- */

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

		/* an odd number of backslashes at the end continues the line */
		more = false;
		for (size_t i = len; i && r->at[i - 1] == '\\'; i--)
			more = !more;
		buf_add(&r->source, r->at, more ? len - 1 : len);
		r->at = nl ? nl + 1 : r->end;
		r->line++;
	}
	/* text is NUL-terminated */
	for (size_t i = 0; i < r->source.len; i++)
		if (!r->source.data[i])
			r->source.data[i] = ' ';
	return true;
}

static void hand_over(struct reader *r, enum roff_kind kind)
{
	r->out.kind = kind;
	r->out.also = kind == ROFF_TAG && r->also;
	r->out.text = buf_str(&r->text);
	r->out.fonts = buf_str(&r->fonts);
	r->out.len = r->text.len;
	r->hand(r->ctx, &r->out);
	buf_reset(&r->text);
	buf_reset(&r->fonts);
	r->out.macro = r->out.open = false;
	r->also = r->also && kind != ROFF_TAG;
}

/* Escapes --------------------------------------------------------------------------------- */

static void put_char(struct reader *r, char c)
{
	buf_addc(&r->text, c);
	buf_addc(&r->fonts, r->font);
}

static void put_special_char(struct reader *r, const char *name, size_t len)
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
			put_char(r, specials[i].text[0]);
			return;
		}
	put_char(r, '?');
}

/* Return the name after an escape, x, (xx or [xxx], and move *s after it. */
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

/* Read an escape after its backslash.  Return false at a comment. */
static bool add_roff_escape(struct reader *r, const char **s, const char *end)
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
		put_special_char(r, name, len);
		return true;
	case '*': case 'n': case 'm': case 'M': case 'F': case 'k': case 'g': case 'Y':
		escape_name(s, end, &len);
		return true;
	case 's':		/* a size: 0, +1, -2, (12, [12] */
		*s += *s < end && (**s == '+' || **s == '-');
		escape_name(s, end, &len);
		return true;
	case 'w': case 'h': case 'v': case 'o': case 'l': case 'L': case 'D': case 'X':
	case 'Z': case 'b': case 'x': case 'A': case 'B': case 'C': case 'H': case 'N':
	case 'R': case 'S':
		/* '...', with any quotes */
		name = *s < end ? memchr(*s + 1, **s, (size_t)(end - *s) - 1) : NULL;
		*s = name ? name + 1 : end;
		return true;
	case 'c':
		r->out.open = true;
		return true;
	case '&': case ')': case '/': case ',': case '|': case '^': case ':': case '%':
	case 'd': case 'u': case 'r': case '{': case '}': case 'z': case 'p': case 'a':
	case 't':
		return true;
	case ' ': case '~': case '0':
		put_char(r, ' ');
		return true;
	case 'e': case 'E': case '\\':
		put_char(r, '\\');
		return true;
	default:
		put_char(r, c);
		return true;
	}
}

static void add_roff_text(struct reader *r, const char *s, size_t len)
{
	const char *end = s + len;

	while (s < end)
		if (*s != '\\')
			put_char(r, *s++);
		else if (s++, !add_roff_escape(r, &s, end))
			return;
}

/* Macros ---------------------------------------------------------------------------------- */

/* Split a line at blanks outside of quotes. */
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
			/* an escaped blank is part of the word */
			if (*s == '\\' && s[1])
				buf_addc(&args[n], *s++);
			buf_addc(&args[n], *s);
		}
		n++;
	}
}

/* Read the arguments of a macro, in the two fonts by turns. */
static void read_macro(struct reader *r, const char *fonts, const char *line)
{
	struct buf args[MACRO_ARGS] = { { 0 } };
	size_t n = split_args(line, args, MACRO_ARGS);
	char outside = r->font;

	for (size_t i = 0; i < n; i++) {
		r->font = r->before = fonts[i % 2];
		if (i && fonts[0] == fonts[1])
			put_char(r, ' ');
		add_roff_text(r, buf_str(&args[i]), args[i].len);
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
		return;		/* the tag follows */
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

/* .SH and .SS without an argument: the next line is the heading. */
static void read_heading(struct reader *r, enum roff_kind kind, const char *args)
{
	break_text(r);
	r->code = false;
	read_macro(r, "RR", args);
	r->next_font = 0;
	if (!r->text.len && next_line(r))
		add_roff_text(r, buf_str(&r->source), r->source.len);
	hand_over(r, kind);
}

/* .IP: a tag of one character is a bullet. */
static void read_indented(struct reader *r, const char *line)
{
	struct buf args[2] = { { 0 }, { 0 } };
	size_t n = split_args(line, args, 2);

	break_text(r);
	if (n)
		add_roff_text(r, buf_str(&args[0]), args[0].len);
	if (n && (r->text.len > 1))
		hand_over(r, ROFF_TAG);
	buf_reset(&r->text);
	buf_reset(&r->fonts);
	buf_free(&args[0]);
	buf_free(&args[1]);
}

/* Skip a definition by .de or similar, up to the line "..", or .NAME. */
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

static void read_request(struct reader *r, const char *s)
{
	const char *fonts, *name;
	size_t len;

	name = s + 1 + strspn(s + 1, " \t");
	len = strcspn(name, " \t");
	s = name + len;
	fonts = text_has_item("B SB", ' ', name, len) ? "BB" :
		text_has_item("I", ' ', name, len) ? "II" :
		text_has_item("SM", ' ', name, len) ? "RR" :
		text_has_item("BR RB BI IB IR RI", ' ', name, len) ? name : NULL;
	if (!len || !strncmp(name, "\\\"", 2) || !strncmp(name, "\\#", 2))
		return;
	if (fonts) {
		r->out.macro = true;
		read_macro(r, fonts, s);
		if (r->text.len)
			end_text(r);
	} else if (text_has_item("TH", ' ', name, len)) {
		read_macro(r, "RR", s);
		hand_over(r, ROFF_TITLE);
	} else if (text_has_item("SH", ' ', name, len)) {
		read_heading(r, ROFF_SECTION, s);
	} else if (text_has_item("SS", ' ', name, len)) {
		read_heading(r, ROFF_SUBSECTION, s);
	} else if (text_has_item("TP TQ", ' ', name, len)) {
		break_text(r);
		r->tag = true;
		r->also = text_has_item("TQ", ' ', name, len);
	} else if (text_has_item("IP", ' ', name, len)) {
		read_indented(r, s);
	} else if (text_has_item("EX nf", ' ', name, len)) {
		break_text(r);
		r->code = true;
	} else if (text_has_item("EE fi", ' ', name, len)) {
		break_text(r);
		r->code = false;
	} else if (text_has_item("RS RE", ' ', name, len)) {
		break_text(r);
		r->out.depth += name[1] == 'S' ? 1 : -1;
	} else if (text_has_item("PP P LP HP br sp", ' ', name, len)) {
		break_text(r);
	} else if (text_has_item("de am de1 am1 ig dei ami", ' ', name, len)) {
		skip_definition(r, text_has_item("ig", ' ', name, len) ? " x" : s);
	}
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
		char outside = r.font;

		if (*s == '.' || *s == '\'') {
			read_request(&r, s);
			continue;
		}
		if (r.next_font)
			r.font = r.before = r.next_font;
		add_roff_text(&r, s, r.source.len);
		if (r.next_font)
			r.font = r.before = outside;
		r.next_font = 0;
		end_text(&r);
	}
	buf_free(&r.source);
	buf_free(&r.text);
	buf_free(&r.fonts);
}
