/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perf_event_open(2) as its source in man(7) has it, in any language. */
#ifndef PEVTRACE_CONFORM_PAGE_H
#define PEVTRACE_CONFORM_PAGE_H

#include "conform/api_desc.h"
#include "lib/buf.h"

struct page_section {
	char *name;
	unsigned int line;
};

/* A name in the tag of a paragraph: what follows describes it. */
struct page_entry {
	char *name;
	uint32_t since;		/* "(since Linux X)" behind it; 0: not told */
	unsigned int line;
	size_t section;
	size_t text;		/* where what follows begins in the page's prose */
	size_t text_len;
	bool italic;		/* a member, not a constant */
	bool untagged;		/* it stands so without .TP */
};

/* A constant, or an italic word, wherever it stands. */
struct page_word {
	char *name;
	unsigned int line;
	size_t section;
	size_t entry;		/* which it is part of; SIZE_MAX: none */
	bool constant, code;
};

/* "NAME is 72, ... in Linux 2.6.33" */
struct page_claim {
	char *name;
	unsigned int line;
	size_t section;
	uint64_t value;
	uint32_t since;		/* 0: not told */
};

/* Where a structure stands, as many as in said. */
struct page_struct {
	size_t section;
	size_t entry, nentries;	/* the constants of the tag before it */
};

struct page {
	struct buf source;	/* as it is in the file, unpacked */
	struct buf prose;	/* the text of it, without code */
	char *title;		/* arguments of .TH */
	struct api_desc said;	/* its structures; said.file is the path */
	struct page_struct *structs;
	struct page_section *sections;
	struct page_entry *entries;
	struct page_word *words;
	struct page_claim *claims;
	size_t nsections, nentries, nwords, nclaims;
};

/*
 * Reads a page.  False after a warn(): the file cannot be read, or has nothing
 * of what the page of perf_event_open has.
 */
bool page_read(const char *path, struct page *p);

/* The same from memory, whatever it is: for tests. */
void page_parse(const char *bytes, size_t len, const char *path, struct page *p);

/* The source line, without blanks around it, into out. */
void page_quote(const struct page *p, unsigned int line, struct buf *out);

/* The first entry of that name, or NULL. */
const struct page_entry *page_entry(const struct page *p, const char *name);

/* The first place where it stands, entry or not, or NULL. */
const struct page_word *page_word(const struct page *p, const char *name);

/* The heading of a section; "" where there was none yet. */
const char *page_section(const struct page *p, size_t section);

/* Capitals, digits and "_", as in PERF_SAMPLE_IP; an errno's name, EINVAL. */
bool page_is_constant(const char *word);
bool page_is_errno(const char *word);

/* Room for one more element; it doubles at powers of two. */
void *page_grow(void *p, size_t n, size_t size);

void page_free(struct page *p);

#endif
