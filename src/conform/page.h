/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The man(7) source of perf_event_open(2), in any language. */
#pragma once

#include "conform/api_desc.h"
#include "core/lib/buf.h"
#include "core/lib/map.h"

/*
 * Append a file's text to out: plain, or uncompressed from gzip or xz.  Return false after a
 * warn(): it cannot be read or uncompressed, is too long, or this build lacks the library.
 */
bool textfile_read(const char *path, struct buf *out);

/* A line of text or code. */
struct page_line {
	unsigned int line;
	size_t section;
	size_t at;		/* of the first byte in the page's text */
	int depth;		/* of .RS */
	bool tag;		/* of .TP: it begins a paragraph */
};

/* A name in the tag of a paragraph, which describes it. */
struct page_entry {
	char *name;
	uint32_t since;		/* "(since Linux X)" after it, KVER(); 0: not stated */
	unsigned int line;
	size_t section;
	size_t text, text_len;	/* its paragraph in the page's prose */
	bool italic;		/* a member, not a constant */
	bool untagged;		/* its .TP is missing */
};

/* A constant, or an italic word, at any place. */
struct page_word {
	char *name;
	unsigned int line;
	size_t section;
	size_t entry;		/* that it is part of; SIZE_MAX: none */
	bool constant, code;
};

/* "NAME is 72, ... in Linux 2.6.33" */
struct page_claim {
	char *name;
	unsigned int line;
	size_t section;
	uint64_t value;
	uint32_t since;		/* 0: not stated */
};

/* The place of a structure of desc, by the same index. */
struct page_struct {
	size_t section;
	size_t entry, nentries;	/* constants of the last tag with constants before it */
};

/* A program that the page shows. */
struct page_example {
	char *name;		/* "perf_event_open.c"; without one, "example on line 123" */
	char *text;
	unsigned int line;
	size_t section;
};

struct page {
	struct buf source;	/* uncompressed */
	struct buf prose;	/* text without markup and code */
	struct buf text;	/* of lines, without markup, with single blanks */
	char *title;		/* arguments of .TH */
	struct api_desc desc;	/* its structures; desc.file is the path */
	struct page_struct *structs;
	char **sections;	/* headings */
	struct page_line *lines;
	struct page_entry *entries;
	struct page_word *words;
	struct page_claim *claims;
	struct page_example *examples;
	size_t nsections, nlines, nentries, nwords, nclaims, nexamples;
	struct map words_by_hash; /* the first word of each name */
};

/*
 * Read a page.  Return false after a warn(): the file cannot be read, or is not the page of
 * perf_event_open.
 */
bool page_read(const char *path, struct page *p);

/* Parse any bytes as a page. */
void page_parse(const char *bytes, size_t len, const char *path, struct page *p);

/* Append a line of the source, without blanks around it, to out. */
void page_quote(const struct page *p, unsigned int line, struct buf *out);

/* Let page_word() find the words, after the last one was added. */
void page_index_words(struct page *p);

/* Return the first entry of that name, or NULL. */
const struct page_entry *page_entry(const struct page *p, const char *name);

/* Return the first place of that word, or NULL. */
const struct page_word *page_word(const struct page *p, const char *name);

/*
 * Return the line on which words begin, outside of names, in the first sections whose heading
 * begins with a text; 0: nowhere.  words: as in the page without markup, and "A ... B" for the
 * first B after A.
 */
unsigned int page_find(const struct page *p, const char *section, const char *words);

/*
 * Return true if the paragraph of such words has none of several others (separated by commas).
 * The paragraph extends from its tag to the next, or is the section if it has no tag.  Return
 * false if the page lacks the words, as translations do.
 */
bool page_omits(const struct page *p, const char *section, const char *words,
		const char *others);

/* Return true for a page in English, in which the sentences of claims can be found. */
bool page_is_english(const struct page *p);

/* Return the heading of a section; "" before the first one. */
const char *page_section(const struct page *p, size_t section);

/* Return true for the form of a constant (PERF_SAMPLE_IP), or of an errno (EINVAL). */
bool page_is_constant(const char *word);
bool page_is_errno(const char *word);

void page_free(struct page *p);
