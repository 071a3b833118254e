// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading a page line by line: prose to page_text.c, code to pseudo.c. */
#include "conform/page.h"

#include <stdlib.h>
#include <string.h>

#include "conform/page_text.h"
#include "conform/pseudo.h"
#include "conform/roff.h"
#include "conform/textfile.h"
#include "core/lib/die.h"

static void add_code(struct page_reader *r, const struct roff_line *l)
{
	if (!r->code_line)
		r->code_line = r->code_next = l->line;
	/* keep line numbers: comments and macros between the lines become empty lines */
	for (; r->code_next < l->line; r->code_next++)
		buf_addc(&r->code, '\n');
	buf_adds(&r->code, l->text);
}

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

static void add_example(struct page_reader *r)
{
	struct page *p = r->page;

	p->examples = page_grow(p->examples, p->nexamples, sizeof(*p->examples));
	p->examples[p->nexamples++] = (struct page_example){
		.name = example_name(p, r->code_line), .text = xstrdup(buf_str(&r->code)),
		.line = r->code_line, .section = page_text_section(p),
	};
}

static void end_code(struct page_reader *r)
{
	struct page *p = r->page;

	if (r->code_line) {
		pseudo_structs(buf_str(&r->code), r->code_line, &p->desc);
		if (api_desc_phrase(buf_str(&r->code), r->code.len, "main", 4))
			add_example(r);
	}
	for (; r->nstructs < p->desc.nstructs; r->nstructs++) {
		p->structs = xrealloc(p->structs, (r->nstructs + 1) * sizeof(*p->structs));
		p->structs[r->nstructs] = (struct page_struct){
			.section = page_text_section(p), .entry = r->owner,
			.nentries = r->nowners,
		};
	}
	r->code_line = 0;
	buf_reset(&r->code);
}

static void add_section(struct page *p, const struct roff_line *l)
{
	p->sections = page_grow(p->sections, p->nsections, sizeof(*p->sections));
	p->sections[p->nsections++] = (struct page_section){
		.name = xstrdup(l->text), .line = l->line,
	};
}

static void read_line(void *ctx, const struct roff_line *l)
{
	struct page_reader *r = ctx;
	struct page *p = r->page;

	if (l->kind != ROFF_CODE)
		end_code(r);
	switch (l->kind) {
	case ROFF_TITLE:
		if (!p->title)
			p->title = xstrdup(l->text);
		break;
	case ROFF_SECTION:
	case ROFF_SUBSECTION:
		page_text_end(r);
		r->entry = SIZE_MAX;
		r->nowners = 0;
		add_section(p, l);
		break;
	case ROFF_TAG:
		page_text_end(r);
		page_text_tag(r, l);
		break;
	case ROFF_TEXT:
		page_text_line(r, l);
		break;
	case ROFF_CODE:
		add_code(r, l);
		page_text_words(r, l, true);
		break;
	case ROFF_BREAK:
		page_text_end(r);
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
	page_text_end(&r);
	page_index_words(p);
	page_text_free(&r);
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
