// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/pseudo.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/scan_text.h"

enum { DEPTH_MAX = 16, MEMBERS_MAX = 4096 };

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_COMMENT, TOKEN_PUNCTUATION };

struct token {
	enum token_kind kind;
	const char *text;
	size_t len;
	unsigned int line;
};

struct reader {
	const char *at;
	unsigned int line;
	struct token now;
	struct api_struct *out;
	const struct api_desc *known; /* structures that were read before; or NULL */
	size_t begun;		/* first member that a comment here is about */
};

/* A structure or union whose layout is computed; all in bits. */
struct frame {
	bool is_union;
	uint32_t base, at, end;	/* its start; the next member's; the end of all members */
	uint32_t align;
	bool lost;		/* a member before has an unknown size */
	uint32_t unit;		/* width of the last bit-field's type; 0: no bit-field */
};

/* Tokens ---------------------------------------------------------------------------------- */

static void take_token(struct reader *r, enum token_kind kind, size_t len)
{
	r->now = (struct token){ kind, r->at, len, r->line };
	for (size_t i = 0; i < len; i++)
		r->line += r->at[i] == '\n';
	r->at += len;
}

static void next_token(struct reader *r)
{
	const char *close;
	size_t n = 0;

	for (; *r->at && isspace((unsigned char)*r->at); r->at++)
		r->line += *r->at == '\n';
	if (!*r->at) {
		take_token(r, TOKEN_END, 0);
	} else if (!strncmp(r->at, "/*", 2)) {
		close = strstr(r->at + 2, "*/");
		take_token(r, TOKEN_COMMENT, close ? (size_t)(close - r->at) + 2 : strlen(r->at));
	} else if (!strncmp(r->at, "//", 2)) {
		take_token(r, TOKEN_COMMENT, strcspn(r->at, "\n"));
	} else if (scan_is_word(*r->at)) {
		while (scan_is_word(r->at[n]))
			n++;
		take_token(r, TOKEN_WORD, n);
	} else {
		take_token(r, TOKEN_PUNCTUATION, 1);
	}
}

static bool token_is(const struct reader *r, const char *text)
{
	return r->now.len == strlen(text) && r->now.kind != TOKEN_COMMENT &&
	       !memcmp(r->now.text, text, r->now.len);
}

/* Conditions ------------------------------------------------------------------------------ */

/* Add the constants of a comment to the conditions of members; these may have several. */
static void add_when(struct reader *r, size_t from)
{
	const char *s = r->now.text, *end = s + r->now.len;

	while (s < end) {
		size_t n = 0;
		bool capitals = true;	/* translations keep these words */

		for (; s + n < end && scan_is_word(s[n]); n++)
			capitals &= !islower((unsigned char)s[n]);
		if (n && capitals && !strncmp(s, "PERF_", 5))
			for (size_t i = from; i < r->out->n; i++) {
				struct api_member *m = &r->out->members[i];
				struct buf b = { 0 };

				if (m->when)
					buf_addf(&b, "%s ", m->when);
				buf_addf(&b, "%.*s", (int)n, s);
				free(m->when);
				m->when = b.data;
			}
		s += n ? n : 1;
	}
}

/* A comment is about the members since the last comma or semicolon before it. */
static void skip_comments(struct reader *r)
{
	while (r->now.kind == TOKEN_COMMENT) {
		add_when(r, r->begun);
		next_token(r);
	}
}

/* Places ---------------------------------------------------------------------------------- */

/* Return the width of a type of C or of the kernel, or 0. */
static uint32_t type_bits(const char *type)
{
	static const struct {
		const char *name;
		uint32_t bits;
	} types[] = {
		{ "char", 8 }, { "u8", 8 }, { "s8", 8 }, { "u16", 16 }, { "s16", 16 },
		{ "short", 16 }, { "u32", 32 }, { "s32", 32 }, { "int", 32 }, { "unsigned", 32 },
		{ "pid_t", 32 }, { "u64", 64 }, { "s64", 64 }, { "long", 64 }, { "uint8_t", 8 },
		{ "uint16_t", 16 }, { "uint32_t", 32 }, { "uint64_t", 64 }, { "int64_t", 64 },
		{ "int32_t", 32 },
	};

	type += strncmp(type, "__", 2) ? 0 : 2;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(types[i].name, type))
			return types[i].bits;
	return 0;
}

/* Return the sign of a type; that of char depends on the processor. */
static enum api_sign type_sign(const char *type)
{
	const char *name = strrchr(type, ' ');

	if (strstr(type, "unsigned"))
		return SIGN_UNSIGNED;
	name = name ? name + 1 : type;
	if (!type_bits(name) || !strcmp(name, "char"))
		return SIGN_UNKNOWN;
	return name[strspn(name, "_")] == 'u' ? SIGN_UNSIGNED : SIGN_SIGNED;
}

/* The same for "struct X", too, if X was read before. */
static uint32_t known_bits(const struct reader *r, const char *type)
{
	const char *name = strrchr(type, ' ');
	const struct api_struct *st = NULL;
	uint32_t bits = type_bits(name ? name + 1 : type);

	if (name && !bits && r->known)
		st = api_struct(r->known, name + 1);
	return st ? 8 * st->bytes : bits;
}

static uint32_t round_up(uint32_t at, uint32_t to)
{
	return to ? (at + to - 1) / to * to : at;
}

/* Move after a member of that width.  Return its start. */
static uint32_t place_bits_at(struct frame *f, uint32_t bits, uint32_t align)
{
	uint32_t at;

	if (f->is_union)
		f->at = f->base;
	at = round_up(f->at, align);
	/* a size that no manual page means */
	if (bits > UINT32_MAX / 2 - at)
		f->lost = true;
	else
		f->at = at + bits;
	if (align > f->align)
		f->align = align;
	if (f->at > f->end)
		f->end = f->at;
	return at;
}

/* End a word of bit-fields, and record its unused bits. */
static void end_bitfields(struct reader *r, struct frame *f)
{
	uint32_t used = f->unit ? f->at % f->unit : 0;

	if (used && !r->out->left_over) {
		r->out->left_over = f->unit - used;
		r->out->left_line = r->now.line;
	}
	f->unit = 0;
}

static void place_bitfield(struct frame *f, struct api_member *m, uint32_t unit, uint32_t bits)
{
	m->bitfield = true;
	m->bits = bits;
	f->unit = unit;
	if (!unit) {
		f->lost = true;
		return;
	}
	if (f->is_union)
		f->at = f->base;
	/* a bit-field does not cross the end of its word */
	if (f->at / unit != (f->at + (bits ? bits - 1 : 0)) / unit)
		f->at = round_up(f->at, unit);
	m->start = place_bits_at(f, bits, 1);
	if (unit > f->align)
		f->align = unit;
}

/* Members --------------------------------------------------------------------------------- */

/* Return the text between brackets, owned. */
static char *read_brackets(struct reader *r)
{
	struct buf b = { 0 };
	unsigned int depth = 0;

	buf_adds(&b, "");
	while (r->now.kind != TOKEN_END) {
		if (token_is(r, "]") && !--depth) {
			next_token(r);
			break;
		}
		if (depth && r->now.kind != TOKEN_COMMENT)
			buf_add(&b, r->now.text, r->now.len);
		depth += token_is(r, "[");
		if (depth > DEPTH_MAX)
			break;
		next_token(r);
	}
	return b.data ? b.data : xstrdup("");
}

static void place_plain_member(struct reader *r, struct frame *f, struct api_member *m)
{
	uint32_t bits = known_bits(r, m->type), all = bits;
	bool numbered = m->array && isdigit((unsigned char)*m->array);

	end_bitfields(r, f);
	if (m->array) {
		unsigned long n = strtoul(m->array, NULL, 10);

		all = numbered && n <= 65536 ? bits * (uint32_t)n : 0;
	}
	m->placed = !f->lost;
	m->bits = all;
	m->start = place_bits_at(f, all, bits < 64 ? bits : 64);
	/* an array of length 0 has no size; another one here has an unknown size */
	if (!all && !numbered)
		f->lost = true;
}

/* Read a member after its name, up to , ; : [ / or the closing brace. */
static void read_declarator(struct reader *r, struct frame *f, const char *type,
			    const struct token *name, size_t first)
{
	char *text = xstrndup(name->text, name->len);
	struct api_member *m;
	size_t i;

	if (r->out->n >= MEMBERS_MAX) {
		free(text);
		return;
	}
	m = api_desc_add_member(r->out, text);
	free(text);
	m->line = name->line;
	m->type = xstrdup(type);
	m->sign = type_sign(type);
	if (token_is(r, "/"))
		return;		/* another name for it follows */
	if (token_is(r, "[")) {
		m->array = read_brackets(r);
		place_plain_member(r, f, m);
	} else if (token_is(r, ":")) {
		next_token(r);
		m->placed = !f->lost;
		place_bitfield(f, m, known_bits(r, type),
			       (uint32_t)strtoul(r->now.text, NULL, 10) & 127);
		if (r->now.kind == TOKEN_WORD)
			next_token(r);
	} else {
		place_plain_member(r, f, m);
	}
	/* its other names */
	for (i = first; i + 1 < r->out->n; i++) {
		struct api_member *other = &r->out->members[i];

		other->start = m->start;
		other->bits = m->bits;
		other->placed = m->placed;
		other->bitfield = m->bitfield;
	}
}

/* Read all words but the last as type ("unsigned int"), and the last as name. */
static bool read_type(struct reader *r, struct buf *type, struct token *name)
{
	unsigned int n = 0;

	while (r->now.kind == TOKEN_WORD || token_is(r, "*")) {
		if (n)
			buf_addf(type, "%s%.*s", type->len ? " " : "", (int)name->len, name->text);
		*name = r->now;
		n++;
		next_token(r);
		if (token_is(r, "{"))
			return false;	/* a structure or union */
	}
	return n;
}

static void read_block(struct reader *r, struct frame *outer, bool is_union, unsigned int depth);

/* Read the names after a type. */
static void read_declarators(struct reader *r, struct frame *f, const char *type, struct token name)
{
	size_t first = r->out->n, all = first;
	bool more = true;

	r->begun = first;
	while (more) {
		read_declarator(r, f, type, &name, first);
		if (!token_is(r, "/"))
			first = r->out->n;
		skip_comments(r);
		more = token_is(r, ",") || token_is(r, "/");
		if (!more)
			break;
		next_token(r);
		/* a comment after the comma is about the member before it */
		skip_comments(r);
		if (r->now.kind != TOKEN_WORD)
			break;
		name = r->now;
		if (first == r->out->n)
			r->begun = first;
		next_token(r);
	}
	if (token_is(r, ";"))
		next_token(r);
	/* a comment is about both of "u32 pid, tid;", but about one bit-field only */
	if (all < r->out->n && !r->out->members[all].bitfield)
		r->begun = all;
	skip_comments(r);
}

static void read_member(struct reader *r, struct frame *f, unsigned int depth)
{
	struct token name = { .kind = TOKEN_END };
	struct buf type = { 0 };

	if (r->now.kind == TOKEN_COMMENT) {
		next_token(r);
	} else if (token_is(r, "{")) {
		read_block(r, f, false, depth + 1);
	} else if (read_type(r, &type, &name)) {
		read_declarators(r, f, buf_str(&type), name);
	} else if (token_is(r, "{") && name.len) {
		bool is_union = type.len ? !strncmp(type.data, "union", 5) :
					   name.len == 5 && !memcmp(name.text, "union", 5);

		read_block(r, f, is_union, depth + 1);
	} else {
		next_token(r);
	}
	buf_free(&type);
}

/* Read a block from { to its names and comment after }. */
static void read_block(struct reader *r, struct frame *outer, bool is_union, unsigned int depth)
{
	struct frame f = {
		.is_union = is_union, .lost = outer->lost, .align = 8,
	};
	size_t first = r->out->n;
	struct token about;
	uint32_t by;

	end_bitfields(r, outer);
	if (outer->is_union)
		outer->at = outer->base;
	f.base = f.at = f.end = outer->is_union ? outer->base : outer->at;
	next_token(r);
	about = r->now;
	if (about.kind == TOKEN_COMMENT)
		next_token(r);
	while (r->now.kind != TOKEN_END && !token_is(r, "}") && depth < DEPTH_MAX)
		read_member(r, &f, depth);
	end_bitfields(r, &f);
	if (about.kind == TOKEN_COMMENT) {
		struct token now = r->now;

		r->now = about;
		add_when(r, first);
		r->now = now;
	}
	next_token(r);
	while (r->now.kind == TOKEN_WORD || token_is(r, "[")) {
		/* an array of blocks */
		if (token_is(r, "["))
			free(read_brackets(r)), f.lost = true;
		else
			next_token(r);
	}
	if (token_is(r, ";") || token_is(r, ","))
		next_token(r);
	r->begun = first;
	skip_comments(r);
	outer->lost = f.lost;
	/* the alignment of the block is known at its end only */
	by = round_up(f.base, f.align) - f.base;
	for (size_t i = first; i < r->out->n; i++)
		r->out->members[i].start += by;
	f.base += by;
	f.end += by;
	outer->at = outer->is_union ? outer->at : f.base;
	place_bits_at(outer, round_up(f.end - f.base, f.align), 1);
}

void pseudo_structs(const char *text, unsigned int line, struct api_desc *out)
{
	struct reader r = { .at = text, .line = line, .known = out };
	struct token before = { .kind = TOKEN_END }, last = before;

	for (next_token(&r); r.now.kind != TOKEN_END;) {
		bool named = before.kind == TOKEN_WORD;
		const struct token *kind = named ? &before : &last;
		bool is_union = kind->len == 5 && !memcmp(kind->text, "union", 5);
		bool is_struct = kind->len == 6 && !memcmp(kind->text, "struct", 6);
		struct frame f = { .is_union = false, .align = 8 };
		char *name;

		if (token_is(&r, "{") && (is_union || is_struct)) {
			name = named ? xstrndup(last.text, last.len) : xstrdup("");
			r.out = api_desc_add_struct(out, name);
			r.out->line = kind->line;
			free(name);
			read_block(&r, &f, is_union, 0);
			r.out->bytes = f.lost ? 0 : f.end / 8;
			before = last = (struct token){ .kind = TOKEN_END };
			continue;
		}
		before = last;
		last = r.now;
		next_token(&r);
	}
}

void pseudo_members(const char *text, unsigned int line, struct api_struct *out)
{
	struct reader r = { .at = text, .line = line, .out = out };
	struct frame f = { .align = 8 };

	next_token(&r);
	while (r.now.kind != TOKEN_END)
		read_member(&r, &f, 0);
}
