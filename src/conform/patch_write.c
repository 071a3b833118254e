// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parts of a page, as man(7) source, written from the tables. */
#include "conform/patch.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "conform/tables.h"
#include "xlat/tables.h"

enum { COLUMNS = 72, CLAUSE = 40, SHORT = 12 };

/* Prose ---------------------------------------------------------------------------------- */

/* A line that is being written. */
struct prose {
	const struct conform *c;
	struct buf line;
	struct buf *out;
};

static void end_line(struct prose *p)
{
	if (p->line.len)
		buf_addf(p->out, "%s%s\n", strchr(".'", *p->line.data) ? "\\&" : "",
			 p->line.data);
	buf_reset(&p->line);
}

/* End the line after its last clause, if that is not too short, or after its last word. */
static void break_line(struct prose *p)
{
	size_t at = p->line.len;
	struct buf rest = { 0 };

	while (at > SHORT && !(p->line.data[at - 1] == ' ' && strchr(",;:", p->line.data[at - 2])))
		at--;
	if (at > SHORT) {
		buf_adds(&rest, p->line.data + at);
		p->line.data[at - 1] = '\0';
	}
	end_line(p);
	buf_adds(&p->line, buf_str(&rest));
	buf_free(&rest);
}

/* Return the font of a word, or '\0' for that of the text. */
static char font_of(const struct conform *c, const char *word)
{
	if (compare_knows(c, word) || page_is_errno(word) || page_is_constant(word))
		return 'B';
	return strchr(word, '_') && compare_knows_member(c, word) ? 'I' : '\0';
}

static void add_escaped(const char *s, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] == '\\')
			buf_adds(out, "\\e");
		else if (s[i] == '-' && isdigit((unsigned char)s[i + 1]))
			buf_adds(out, "\\-");
		else
			buf_addc(out, s[i]);
}

/* Add a word with punctuation around it as a line of a font macro; false: it has no font. */
static bool marked_word(struct prose *p, const char *s, size_t n)
{
	size_t head = strspn(s, "("), tail = n;
	char word[128], font;

	if (head >= n)
		return false;
	while (tail > head && strchr(",.;:)", s[tail - 1]))
		tail--;
	if (tail - head >= sizeof(word) || tail <= head)
		return false;
	memcpy(word, s + head, tail - head);
	word[tail - head] = '\0';
	font = font_of(p->c, word);
	if (!font)
		return false;
	end_line(p);
	if (head)
		buf_addf(p->out, ".R%c %.*s %s%s", font, (int)head, s, word,
			 tail < n ? " " : "");
	else
		buf_addf(p->out, ".%c%s %s%s", font, tail < n ? "R" : "", word,
			 tail < n ? " " : "");
	buf_addf(p->out, "%.*s\n", (int)(n - tail), s + tail);
	return true;
}

static void add_prose(const struct conform *c, const char *text, struct buf *out)
{
	struct prose p = { .c = c, .out = out };

	while (*text) {
		size_t n = strcspn(text, " ");

		if (n && !marked_word(&p, text, n)) {
			if (p.line.len + n + 1 > COLUMNS)
				break_line(&p);
			if (p.line.len)
				buf_addc(&p.line, ' ');
			add_escaped(text, n, &p.line);
			if (strchr(".?!", text[n - 1]) ||
			    (p.line.len > CLAUSE && strchr(",;:", text[n - 1])))
				end_line(&p);
		}
		text += n;
		text += strspn(text, " ");
	}
	end_line(&p);
	buf_free(&p.line);
}

void patch_add_tag(char font, const char *name, uint32_t since, struct buf *out)
{
	char release[16];

	if (since)
		buf_addf(out, ".%cR %s \" (since Linux %s)\"\n", font, name,
			 tables_release(since, release));
	else
		buf_addf(out, ".%c %s\n", font, name);
}

/* Constants ------------------------------------------------------------------------------ */

/* Return the first release of a table's names. */
static uint32_t first_release(const struct xlat *x)
{
	uint32_t first = UINT32_MAX;

	for (size_t i = 0; i < x->n; i++)
		first = x->entries[i].since < first ? x->entries[i].since : first;
	return first;
}

static void entry_constant(const struct conform *c, const struct xlat_entry *e, uint32_t known,
			   const char *stop, struct buf *out)
{
	struct buf text = { 0 };

	buf_adds(out, ".TP\n");
	patch_add_tag('B', e->name, e->since > known ? e->since : 0, out);
	buf_addf(&text, "%s%s", e->meaning, stop);
	add_prose(c, text.data, out);
	buf_free(&text);
}

/* Append all constants of a table as a list without blank lines, as the page has them. */
static void entry_constants(const struct conform *c, const struct xlat *x, uint32_t known,
			    struct buf *out)
{
	buf_adds(out, ".IP\n.PD 0\n.RS\n.TP 24\n");
	for (size_t i = 0, n = 0; i < x->n; i++) {
		struct buf one = { 0 };

		if (x->entries[i].traits)
			continue;
		entry_constant(c, &x->entries[i], known, "", &one);
		/* the first one's .TP has the width */
		buf_adds(out, one.data + (n++ ? 0 : strlen(".TP\n")));
		buf_free(&one);
	}
	buf_adds(out, ".RE\n.PD\n");
}

static bool entry_name(const struct conform *c, const char *name, struct buf *out)
{
	for (size_t i = 0; xlat_tables[i]; i++) {
		const struct xlat_entry *e = xlat_by_name(xlat_tables[i], name);

		if (!e || strcmp(e->name, name))
			continue;
		entry_constant(c, e, first_release(xlat_tables[i]), ".", out);
		return true;
	}
	for (size_t i = 0; i < ioctl_ndescs; i++) {
		struct buf text = { 0 };

		if (strcmp(ioctl_descs[i].name, name))
			continue;
		buf_adds(out, ".TP\n");
		patch_add_tag('B', name, ioctl_descs[i].since, out);
		buf_addf(&text, "%s.", ioctl_descs[i].meaning);
		add_prose(c, text.data, out);
		buf_free(&text);
		return true;
	}
	return false;
}

/* Members -------------------------------------------------------------------------------- */

static const struct field *field_in(const struct layout *l, const char *name)
{
	for (size_t i = 0; l && i < l->n; i++)
		if (!strcmp(l->fields[i].name, name))
			return &l->fields[i];
	return NULL;
}

/*
 * Find a member, also in the word of bits at the structure's end.  Set first to the release
 * of the structure's oldest member.
 */
static const struct field *find_field(const char *structure, const char *name, uint32_t *first)
{
	const struct field *found = NULL;

	*first = UINT32_MAX;
	for (size_t i = 0; layouts[i]; i++) {
		const struct layout *l = layouts[i];
		char flags[80];

		if (strcmp(l->btf ? l->btf : l->name, structure))
			continue;
		for (size_t j = 0; j < l->n; j++)
			*first = l->fields[j].since < *first ? l->fields[j].since : *first;
		snprintf(flags, sizeof(flags), "%s_flags", l->name);
		found = found ? found : field_in(l, name);
		found = found ? found : field_in(layout_by_name(flags), name);
	}
	return found;
}

/* Return the constant that is the bit number of a member, or NULL. */
static const char *shift_of(const char *name)
{
	char meaning[80];

	snprintf(meaning, sizeof(meaning), "First bit of %s", name);
	for (size_t i = 0; xlat_tables[i]; i++)
		for (size_t j = 0; j < xlat_tables[i]->n; j++)
			if (!strcmp(xlat_tables[i]->entries[j].meaning, meaning))
				return xlat_tables[i]->entries[j].name;
	return NULL;
}

static bool add_member_entry(const struct conform *c, const char *structure, const char *name,
		      struct buf *out)
{
	uint32_t first;
	const struct field *f = find_field(structure, name, &first);
	bool list = f && (f->kind == FIELD_ENUM || f->kind == FIELD_FLAGS) && f->xlat;
	const char *shift = f ? shift_of(f->name) : NULL;
	struct buf text = { 0 };

	if (!f)
		return false;
	buf_adds(out, ".TP\n");
	patch_add_tag('I', f->name, f->since > first ? f->since : 0, out);
	buf_adds(&text, f->meaning);
	if (list)
		buf_addf(&text, ", %s the following%s%s:",
			 f->kind == FIELD_ENUM ? "one of" : "a bitwise combination of",
			 shift ? ", shifted left by " : "", shift ? shift : "");
	else
		buf_addc(&text, '.');
	add_prose(c, text.data, out);
	if (list)
		entry_constants(c, f->xlat, f->since, out);
	buf_free(&text);
	return true;
}

bool patch_add_entry(const struct conform *c, const char *structure, const char *name,
		     struct buf *out)
{
	return structure ? add_member_entry(c, structure, name, out) : entry_name(c, name, out);
}

/* Append "/" "* meaning *" "/" from that column on, in as many lines as needed. */
static void write_comment(const char *meaning, size_t column, struct buf *line, struct buf *out)
{
	size_t start;

	while (line->len < column)
		buf_addc(line, ' ');
	buf_adds(line, "/* ");
	start = line->len;
	while (*meaning) {
		size_t n = strcspn(meaning, " ");

		if (line->len + n + 3 > COLUMNS && line->len > start) {
			buf_addf(out, "%s\n", line->data);
			buf_reset(line);
			while (line->len < start)
				buf_addc(line, ' ');
		} else if (line->len > start) {
			buf_addc(line, ' ');
		}
		buf_add(line, meaning, n);
		meaning += n;
		meaning += *meaning == ' ';
	}
	buf_addf(out, "%s */\n", line->data);
}

void patch_add_member(const char *structure, const struct api_member *m, const char *like,
		      struct buf *out)
{
	uint32_t first;
	const struct field *f = find_field(structure, m->name, &first);
	struct buf line = { 0 };
	const char *colon = strchr(like, ':'), *comment = strstr(like, "/*");
	size_t indent = strspn(like, " "), column = comment ? (size_t)(comment - like) : 32;

	if (m->bitfield && colon) {
		/* the first one has the type, which the others line up with */
		if (!strncmp(like + indent, "__u", 3))
			indent += strcspn(like + indent, " ") + 1;
		buf_addf(&line, "%*s%-*s:%*s%u,", (int)indent, "", (int)(colon - like) - (int)indent,
			 m->name, (int)strspn(colon + 1, " "), "", m->bits);
	} else {
		buf_addf(&line, "%*s__u%u %s;", (int)indent, "", m->bits, m->name);
	}
	if (f && comment)
		write_comment(f->meaning, column > line.len ? column : line.len + 1, &line, out);
	else
		buf_addf(out, "%s\n", line.data);
	buf_free(&line);
}

/* Errors --------------------------------------------------------------------------------- */

/* Append a list of sentences, without the names of rules before them. */
static void write_causes(const struct conform *c, const char *detail, struct buf *out)
{
	while (*detail) {
		size_t n = strcspn(detail, "\n");
		const char *colon = memchr(detail, ':', n);
		struct buf text = { 0 };

		if (colon && islower((unsigned char)*detail)) {
			n -= (size_t)(colon + 2 - detail);
			detail = colon + 2;
		}
		buf_addf(&text, "%.*s.", (int)n, detail);
		buf_adds(out, ".IP \\[bu] 3\n");
		add_prose(c, text.data, out);
		buf_free(&text);
		detail += n + (detail[n] == '\n');
	}
}

void patch_add_errors(const struct conform *c, const char *detail, struct buf *out)
{
	buf_adds(out, ".IP\nIt fails in these cases, too:\n.RS\n");
	write_causes(c, detail, out);
	buf_adds(out, ".RE\n");
}

void patch_add_errno(const struct conform *c, const char *name, const char *detail,
		     struct buf *out)
{
	struct buf text = { 0 };

	buf_adds(out, ".TP\n");
	patch_add_tag('B', name, 0, out);
	if (strchr(detail, '\n')) {
		buf_adds(out, "Returned in one of these cases:\n.RS\n");
		write_causes(c, detail, out);
		buf_adds(out, ".RE\n");
	} else {
		const char *colon = strstr(detail, "): ");

		buf_addf(&text, "%s.", colon ? colon + 3 : detail);
		add_prose(c, text.data, out);
	}
	buf_free(&text);
}
