// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parts of a page, as man(7) source, written from the tables. */
#include "conform/patch.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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
	if (compare_knows(p->c, word) || page_is_errno(word) || page_is_constant(word))
		font = 'B';
	else if (strchr(word, '_') && compare_knows_member(p->c, word))
		font = 'I';
	else
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
	struct buf rest = { 0 };

	while (*text) {
		size_t n = strcspn(text, " "), at = p.line.len;

		if (n && !marked_word(&p, text, n)) {
			/* end the line after its last clause, unless that is too short */
			if (at + n + 1 > COLUMNS) {
				while (at > SHORT && !(p.line.data[at - 1] == ' ' &&
						       strchr(",;:", p.line.data[at - 2])))
					at--;
				if (at > SHORT) {
					buf_adds(&rest, p.line.data + at);
					p.line.data[at - 1] = '\0';
				}
				end_line(&p);
				buf_adds(&p.line, buf_str(&rest));
				buf_reset(&rest);
			}
			if (p.line.len)
				buf_addc(&p.line, ' ');
			for (size_t i = 0; i < n; i++)
				if (text[i] == '\\')
					buf_adds(&p.line, "\\e");
				else if (text[i] == '-' && isdigit((unsigned char)text[i + 1]))
					buf_adds(&p.line, "\\-");
				else
					buf_addc(&p.line, text[i]);
			if (strchr(".?!", text[n - 1]) ||
			    (p.line.len > CLAUSE && strchr(",;:", text[n - 1])))
				end_line(&p);
		}
		text += n;
		text += strspn(text, " ");
	}
	end_line(&p);
	buf_free(&p.line);
	buf_free(&rest);
}

void patch_add_tag(char font, const char *name, uint32_t since, struct buf *out)
{

	if (since)
		buf_addf(out, ".%cR %s \" (since Linux %s)\"\n", font, name,
			 tables_release(since).text);
	else
		buf_addf(out, ".%c %s\n", font, name);
}

/* Constants ------------------------------------------------------------------------------ */

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

/* Members -------------------------------------------------------------------------------- */

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
		found = found ? found : layout_field(l, name);
		found = found ? found : layout_field(layout_by_name(flags), name);
	}
	return found;
}

static bool add_member_entry(const struct conform *c, const char *structure, const char *name,
		      struct buf *out)
{
	uint32_t first;
	const struct field *f = find_field(structure, name, &first);
	bool list = f && (f->kind == FIELD_ENUM || f->kind == FIELD_FLAGS) && f->xlat;
	const char *shift = NULL;	/* the constant that is the member's bit number */
	char meaning[80];
	struct buf text = { 0 };

	if (!f)
		return false;
	snprintf(meaning, sizeof(meaning), "First bit of %s", f->name);
	for (size_t i = 0; xlat_tables[i]; i++)
		for (size_t j = 0; j < xlat_tables[i]->n && !shift; j++)
			if (!strcmp(xlat_tables[i]->entries[j].meaning, meaning))
				shift = xlat_tables[i]->entries[j].name;
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
	buf_free(&text);
	if (!list)
		return true;
	/* all constants of the table, as a list without blank lines, as the page has them */
	buf_adds(out, ".IP\n.PD 0\n.RS\n.TP 24\n");
	for (size_t i = 0, n = 0; i < f->xlat->n; i++) {
		if (f->xlat->entries[i].traits)
			continue;
		entry_constant(c, &f->xlat->entries[i], f->since, "", &text);
		/* the first one's .TP has the width */
		buf_adds(out, text.data + (n++ ? 0 : strlen(".TP\n")));
		buf_reset(&text);
	}
	buf_adds(out, ".RE\n.PD\n");
	buf_free(&text);
	return true;
}

bool patch_add_entry(const struct conform *c, const char *structure, const char *name,
		     struct buf *out)
{
	struct buf text = { 0 };

	if (structure)
		return add_member_entry(c, structure, name, out);
	for (size_t i = 0; xlat_tables[i]; i++) {
		const struct xlat_entry *e = xlat_by_name(xlat_tables[i], name);
		uint32_t first = UINT32_MAX;	/* release of the table's names */

		if (!e || strcmp(e->name, name))
			continue;
		for (size_t j = 0; j < xlat_tables[i]->n; j++)
			if (xlat_tables[i]->entries[j].since < first)
				first = xlat_tables[i]->entries[j].since;
		entry_constant(c, e, first, ".", out);
		return true;
	}
	for (size_t i = 0; i < ioctl_ndescs; i++) {
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
