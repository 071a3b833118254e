/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For page.c: what stands in the prose of a page. */
#ifndef PEVTRACE_CONFORM_PAGE_TEXT_H
#define PEVTRACE_CONFORM_PAGE_TEXT_H

#include "conform/page.h"
#include "conform/roff.h"

/* A constant whose value and release may follow in the same sentence. */
struct page_pending {
	char *name;
	unsigned int line, steps;
	bool valued, linux_said;
	uint64_t value;
};

struct page_reader {
	struct page *page;
	struct buf code;
	unsigned int code_line, code_next;
	size_t nstructs;	/* that have their place */
	size_t entry;		/* whose text this is; SIZE_MAX: nobody's */
	size_t owner, nowners;	/* entries of the last tag with constants */
	struct page_pending pending;
};

/* Index of the section that is open; SIZE_MAX: none yet. */
size_t page_text_section(const struct page *p);

/* A tag becomes entries; running text, words and claims. */
void page_text_tag(struct page_reader *r, const struct roff_line *l);
void page_text_line(struct page_reader *r, const struct roff_line *l);
void page_text_words(struct page_reader *r, const struct roff_line *l, bool code);

/* The end of a paragraph. */
void page_text_end(struct page_reader *r);
void page_text_free(struct page_reader *r);

#endif
