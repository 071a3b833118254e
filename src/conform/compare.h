/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Comparison of the page, headers, BTF and the tables; each difference is a finding. */
#pragma once

#include "conform/api_desc.h"
#include "conform/finding.h"
#include "conform/page.h"

/* One item that was compared.  Its findings extend to those of the next check. */
struct conform_check {
	char *what;		/* owned: "page: PERF_SAMPLE_IP" */
	size_t first;		/* index of its first finding */
	char *untried;		/* owned: why it could not be compared; NULL: it was */
};

struct conform {
	struct api_desc tables;
	struct api_desc header, btf;	/* file is NULL: not read */
	struct page page;		/* source is empty: not read */
	/* results */
	struct findings found;
	struct findings excepted;	/* by src/conform/conform.in; detail is the reason */
	struct conform_check *checks;
	size_t nchecks;
};

/* Compare the page with all other sources. */
void compare_page(struct conform *c);

/* Compare a header or BTF with the tables. */
void compare_source(struct conform *c, const struct api_desc *s);

void conform_free(struct conform *c);

/* Begin a check, named "SOURCE: NAME"; later findings belong to it. */
void compare_begin(struct conform *c, const char *what, ...)
	__attribute__((format(printf, 2, 3)));

/* Record why the present check could not be made; reason is owned by it. */
void compare_untried(struct conform *c, char *reason);

/*
 * Add a finding (see finding_add()) to found, or to excepted if src/conform/conform.in has an
 * exception for its id.  The pointer is valid until the next call.
 */
struct finding *compare_add(struct conform *c, enum finding_source source,
			    enum finding_kind kind, const char *owner, const char *name,
			    const char *section, const char *text, ...)
	__attribute__((format(printf, 7, 8)));

/* Add one about the page: in a section, by index, and with a line of it; 0: none. */
struct finding *compare_add_page(struct conform *c, enum finding_kind kind, const char *owner,
				 const char *name, size_t section, unsigned int line,
				 const char *text, ...) __attribute__((format(printf, 7, 8)));

/*
 * Add places to a finding: a line of the page; the comment after it, if that names a commit;
 * the first lines of the page with a word; the header, BTF and table that have a name, or a
 * member of a structure.
 */
void place_page(struct conform *c, struct finding *f, unsigned int line);
void place_commit(struct conform *c, struct finding *f, unsigned int line);
void place_words(struct conform *c, struct finding *f, const char *name);
void place_name(struct conform *c, struct finding *f, const char *name);
void place_member(struct conform *c, struct finding *f, const char *structure,
		  const char *member);

/* Return the known constant, or member, most similar to an unknown word, or NULL. */
const char *compare_nearest(const struct conform *c, const char *word, bool member);

/* Return true if a table, header or BTF has the constant, or a member of any structure. */
bool compare_knows(const struct conform *c, const char *name);
bool compare_knows_member(const struct conform *c, const char *name);

/*
 * Compile each example, without warnings, and run it in a temporary directory, for a few
 * seconds at most: it must exit with 0, write nothing to standard error, and print what
 * %example_output says.  Where its event cannot be opened, the one of %example_events takes
 * its place, and the example counts as untried if that succeeds.  kernel is the running
 * release, for the places of findings.
 */
void examples_try(struct conform *c, const char *kernel);

/* Begin the check of each example, untried for that reason. */
void examples_skip(struct conform *c, const char *reason);

/* The parts of compare_page(). */
void compare_page_names(struct conform *c);
void compare_page_structs(struct conform *c);
void compare_page_records(struct conform *c);
void compare_page_errors(struct conform *c);
void compare_page_examples(struct conform *c);
