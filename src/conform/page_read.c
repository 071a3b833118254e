// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading a page line by line: entries, words and claims of prose; structures of code. */
#include "conform/page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "conform/pseudo.h"
#include "conform/roff.h"
#include "core/lib/die.h"

enum { VALUE_STEPS = 4 };	/* words between a name and its value: "is set to" */

/* A constant whose value and release may follow in the same sentence. */
struct page_pending {
	char *name;
	unsigned int line, steps;
	bool valued, after_linux;
	uint64_t value;
};

struct page_reader {
	struct page *page;
	struct buf code;
	unsigned int code_line, code_next;
	size_t nstructs;	/* with a struct page_struct */
	size_t entry;		/* first entry of the paragraph; SIZE_MAX: none */
	size_t owner, nowners;	/* constants of the last tag with constants */
	struct page_pending pending;
};

static bool is_letter(char c)
{
	/* in UTF-8, bytes of letters outside ASCII */
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Entries --------------------------------------------------------------------------------- */

static void add_entry(struct page_reader *r, const char *name, size_t len,
		      const struct roff_line *l, bool italic, uint32_t since)
{
	struct page *p = r->page;

	p->entries = xgrow(p->entries, p->nentries, sizeof(*p->entries));
	p->entries[p->nentries++] = (struct page_entry){
		.name = xstrndup(name, len), .since = since, .line = l->line,
		.section = p->nsections - 1, .text = p->prose.len, .italic = italic,
		.untagged = l->kind != ROFF_TAG,
	};
}

/*
 * Return the release of "(since Linux 4.1)", in any language: one word, Linux, a release.
 * More words, as in "broken since", mean something else, except "both".
 */
static uint32_t since_in(const char *text)
{
	const char *open = strchr(text, '(');

	for (; open; open = strchr(open + 1, '(')) {
		const char *s = open + 1;
		size_t n;

		if (!strncmp(s, "both ", 5))
			s += 5;
		n = strcspn(s, " ()");
		if (n && !strncmp(s + n, " Linux", 6)) {
			s += n + 6;
			while (*s == ' ' || !strncmp(s, "\xc2\xa0", 2))
				s += *s == ' ' ? 1 : 2;
			return release_read(&s);
		}
	}
	return 0;
}

/* Add an entry for each name in a tag; return how many of them are constants. */
static size_t add_entries(struct page_reader *r, const struct roff_line *l)
{
	uint32_t since = since_in(l->text);
	size_t n = 0, constants = 0;

	for (size_t i = 0; i < l->len; i += n + !n) {
		char *word;

		for (n = 0; i + n < l->len && is_letter(l->text[i + n]);)
			n++;
		if (!n || l->fonts[i] == 'R')
			continue;
		/* between brackets: the length of an array */
		if (i && l->text[i - 1] == '[' && l->fonts[i] == 'I')
			continue;
		word = xstrndup(l->text + i, n);
		if (page_is_constant(word) || page_is_errno(word)) {
			add_entry(r, word, n, l, false, since);
			constants++;
		} else if (l->fonts[i] == 'I' && !isdigit((unsigned char)*word)) {
			add_entry(r, word, n, l, true, since);
		}
		free(word);
	}
	return constants;
}

/* Claims ---------------------------------------------------------------------------------- */

static void finish_claim(struct page_reader *r)
{
	struct page_pending *c = &r->pending;
	struct page *p = r->page;

	if (c->name && c->valued) {
		p->claims = xgrow(p->claims, p->nclaims, sizeof(*p->claims));
		p->claims[p->nclaims++] = (struct page_claim){
			.name = c->name, .line = c->line, .value = c->value,
			.section = p->nsections - 1,
		};
	} else {
		free(c->name);
	}
	*c = (struct page_pending){ .name = NULL };
}

static void claim_word(struct page_reader *r, const char *word, unsigned int line)
{
	struct page_pending *c = &r->pending;

	if (page_is_constant(word)) {
		finish_claim(r);
		c->name = xstrdup(word);
		c->line = line;
		return;
	}
	c->after_linux = !strcmp(word, "Linux");
	/* "must have 0 skid" states no value */
	if ((++c->steps > VALUE_STEPS || !strcmp(word, "have")) && !c->valued)
		finish_claim(r);
}

/* Handle a word that begins with a digit: "72", "3.4", "64-bit". */
static void claim_number(struct page_reader *r, const char *s)
{
	struct page_pending *c = &r->pending;
	char *end;
	uint64_t v = strtoull(s, &end, 10);

	if (!c->name)
		return;
	if (c->valued && c->after_linux) {
		uint32_t since = release_read(&s);

		finish_claim(r);
		r->page->claims[r->page->nclaims - 1].since = since;
	} else if (!c->valued && *end != '-' && !is_letter(*end) &&
		   !(*end == '.' && isdigit((unsigned char)end[1]))) {
		c->valued = true;
		c->value = v;
	}
	c->after_linux = false;
}

/* Words ----------------------------------------------------------------------------------- */

static void add_page_word(struct page_reader *r, char *word, const struct roff_line *l, bool code)
{
	struct page *p = r->page;

	p->words = xgrow(p->words, p->nwords, sizeof(*p->words));
	p->words[p->nwords++] = (struct page_word){
		.name = word, .line = l->line, .section = p->nsections - 1,
		.entry = r->entry, .constant = page_is_constant(word), .code = code,
	};
}

/*
 * Return true if a whole line is italic words without "_": it may be the name of a member
 * that lost its "_".
 */
static bool is_phrase(const struct roff_line *l)
{
	bool blank = false;

	for (size_t i = 0; i < l->len; i++) {
		if (l->fonts[i] != 'I' || (!islower((unsigned char)l->text[i]) &&
					   l->text[i] != ' '))
			return false;
		blank |= l->text[i] == ' ';
	}
	return blank && l->macro;
}

/* Return true for a word that may name something of the interface. */
static bool is_name_word(const struct roff_line *l, const char *word, size_t at, size_t n,
			 bool code)
{
	/* the text ends with a NUL */
	char before = at ? l->text[at - 1] : '\0', after = l->text[at + n];

	/* not a pattern as PERF_* */
	if (page_is_constant(word) && after != '*')
		return true;
	if (code || !strchr(word, '_'))
		return code && strchr(word, '_');
	/* not in a path, no function (bold, or with arguments), and not in <> */
	return before != '/' && after != '/' &&
	       (l->fonts[at] == 'I' ||
		(l->fonts[at] == 'R' && after != '(' && after != '.' && before != '<'));
}

static void read_words(struct page_reader *r, const struct roff_line *l, bool code)
{
	const char *s = l->text;

	if (!code && is_phrase(l))
		add_page_word(r, xstrdup(s), l, false);
	for (size_t i = 0, n; i < l->len; i += n) {
		char *word;

		n = 1;
		if (isspace((unsigned char)s[i]))
			continue;
		if (!is_letter(s[i])) {
			if (!code && ((!r->pending.valued && strchr(",;:.()", s[i])) ||
				      (s[i] == '.' && (!s[i + 1] ||
						       isspace((unsigned char)s[i + 1])))))
				finish_claim(r);
			continue;
		}
		while (i + n < l->len && is_letter(s[i + n]))
			n++;
		if (isdigit((unsigned char)s[i])) {
			if (!code)
				claim_number(r, s + i);
			/* skip the rest of a release */
			while (i + n < l->len && s[i + n] == '.' &&
			       isdigit((unsigned char)s[i + n + 1]))
				for (n++; i + n < l->len && is_letter(s[i + n]);)
					n++;
			continue;
		}
		word = xstrndup(s + i, n);
		if (!code)
			claim_word(r, word, l->line);
		if (is_name_word(l, word, i, n, code))
			add_page_word(r, word, l, code);
		else
			free(word);
	}
}

/* Lines ----------------------------------------------------------------------------------- */

static void end_entry(struct page_reader *r)
{
	struct page *p = r->page;

	for (size_t i = r->entry; i < p->nentries && r->entry != SIZE_MAX; i++)
		p->entries[i].text_len = p->prose.len - p->entries[i].text;
}

static void end_paragraph(struct page_reader *r)
{
	finish_claim(r);
	end_entry(r);
}

static void begin_entries(struct page_reader *r, const struct roff_line *l)
{
	size_t first = r->page->nentries, constants;

	if (!l->also || r->entry == SIZE_MAX)
		end_entry(r);
	constants = add_entries(r, l);
	/* tags of .TQ share the paragraph */
	if (l->also && r->entry != SIZE_MAX)
		first = r->entry;
	r->entry = first < r->page->nentries ? first : SIZE_MAX;
	if (constants) {
		r->owner = first;
		r->nowners = r->page->nentries - first;
	}
	read_words(r, l, false);
}

static void read_prose(struct page_reader *r, const struct roff_line *l)
{
	const char *open = strchr(l->text, '('), *bar = strchr(l->text, '_');

	/* "NAME (since Linux X)" alone on a line is a tag without .TP */
	if (l->macro && open && since_in(l->text) && l->text[l->len - 1] == ')' &&
	    strcspn(l->text, " ") + 1 >= (size_t)(open - l->text) &&
	    isupper((unsigned char)*l->text) && bar && bar < open) {
		end_paragraph(r);
		begin_entries(r, l);
		return;
	}
	buf_addf(&r->page->prose, "%s\n", l->text);
	read_words(r, l, false);
}

/* Code ------------------------------------------------------------------------------------ */

/* Man-pages names the file of an example in a comment before .EX. */
static char *example_name(const struct page *p, unsigned int line)
{
	static const char mark[] = "SRC BEGIN (";
	struct buf name = { 0 };

	for (unsigned int at = line > 3 ? line - 3 : 1; at < line && !name.len; at++) {
		struct buf quote = { 0 };
		const char *from;

		page_quote(p, at, &quote);
		from = strstr(buf_str(&quote), mark);
		if (from)
			buf_addf(&name, "%.*s", (int)strcspn(from + strlen(mark), ")"),
				 from + strlen(mark));
		buf_free(&quote);
	}
	if (!name.len)
		buf_addf(&name, "example on line %u", line);
	return name.data;
}

static void end_code(struct page_reader *r)
{
	struct page *p = r->page;

	if (r->code_line) {
		pseudo_structs(buf_str(&r->code), r->code_line, &p->desc);
		if (api_desc_phrase(buf_str(&r->code), r->code.len, "main", 4)) {
			p->examples = xgrow(p->examples, p->nexamples, sizeof(*p->examples));
			p->examples[p->nexamples++] = (struct page_example){
				.name = example_name(p, r->code_line),
				.text = xstrdup(buf_str(&r->code)),
				.line = r->code_line, .section = p->nsections - 1,
			};
		}
	}
	for (; r->nstructs < p->desc.nstructs; r->nstructs++) {
		p->structs = xrealloc(p->structs, (r->nstructs + 1) * sizeof(*p->structs));
		p->structs[r->nstructs] = (struct page_struct){
			.section = p->nsections - 1, .entry = r->owner,
			.nentries = r->nowners,
		};
	}
	r->code_line = 0;
	buf_reset(&r->code);
}

/* Add a line to the text of the page, in which page_find() looks. */
static void add_line(struct page *p, const struct roff_line *l)
{
	p->lines = xgrow(p->lines, p->nlines, sizeof(*p->lines));
	p->lines[p->nlines++] = (struct page_line){
		.line = l->line, .section = p->nsections - 1, .at = p->text.len,
		.depth = l->depth, .tag = l->kind == ROFF_TAG && !l->also,
	};
	for (size_t i = 0; i <= l->len; i++) {
		char c = i == l->len || isspace((unsigned char)l->text[i]) ? ' ' : l->text[i];

		if (c != ' ' || (p->text.len && p->text.data[p->text.len - 1] != ' '))
			buf_addc(&p->text, c);
	}
}

static void read_line(void *ctx, const struct roff_line *l)
{
	struct page_reader *r = ctx;
	struct page *p = r->page;

	if (l->kind != ROFF_CODE)
		end_code(r);
	if (l->kind == ROFF_TAG || l->kind == ROFF_TEXT || l->kind == ROFF_CODE)
		add_line(p, l);
	switch (l->kind) {
	case ROFF_TITLE:
		if (!p->title)
			p->title = xstrdup(l->text);
		break;
	case ROFF_SECTION:
	case ROFF_SUBSECTION:
		end_paragraph(r);
		r->entry = SIZE_MAX;
		r->nowners = 0;
		p->sections = xgrow(p->sections, p->nsections, sizeof(*p->sections));
		p->sections[p->nsections++] = xstrdup(l->text);
		break;
	case ROFF_TAG:
		end_paragraph(r);
		begin_entries(r, l);
		finish_claim(r);
		break;
	case ROFF_TEXT:
		read_prose(r, l);
		break;
	case ROFF_CODE:
		if (!r->code_line)
			r->code_line = r->code_next = l->line;
		/* keep line numbers: comments and macros between become empty lines */
		for (; r->code_next < l->line; r->code_next++)
			buf_addc(&r->code, '\n');
		buf_adds(&r->code, l->text);
		read_words(r, l, true);
		break;
	case ROFF_BREAK:
		end_paragraph(r);
		break;
	}
}

void page_parse(const char *bytes, size_t len, const char *path, struct page *p)
{
	struct page_reader r = { .page = p, .entry = SIZE_MAX };

	*p = (struct page){ .desc = { .source = FINDING_PAGE, .file = xstrdup(path) } };
	buf_add(&p->source, bytes, len);
	roff_read(bytes, len, read_line, &r);
	end_code(&r);
	end_paragraph(&r);
	page_index_words(p);
	free(r.pending.name);
	buf_free(&r.code);
}

bool page_read(const char *path, struct page *p)
{
	struct buf text = { 0 };
	bool ok = textfile_read(path, &text);

	if (ok && strstr(buf_str(&text), "\r\n")) {
		warn("'%s' has lines that end with CR LF: convert them first, as dos2unix(1) does",
		     path);
		ok = false;
	} else if (ok) {
		page_parse(buf_str(&text), text.len, path, p);
		ok = p->nentries && api_struct(&p->desc, "perf_event_attr");
		if (!ok) {
			warn("'%s' is not the man(7) source of perf_event_open(2): it has no "
			     "struct perf_event_attr", path);
			page_free(p);
		}
	}
	buf_free(&text);
	return ok;
}
