/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Entries, words and claims in the prose of a page.  For page_read.c only. */
#pragma once

#include "conform/page.h"
#include "conform/roff.h"

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

/* Return the index of the current section; SIZE_MAX: none yet. */
size_t page_text_section(const struct page *p);

/* Add the entries of a tag; the words and claims of a line of text; words alone. */
void page_text_tag(struct page_reader *r, const struct roff_line *l);
void page_text_line(struct page_reader *r, const struct roff_line *l);
void page_text_words(struct page_reader *r, const struct roff_line *l, bool code);

/* End a paragraph. */
void page_text_end(struct page_reader *r);
void page_text_free(struct page_reader *r);
