/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Comparison of the page, headers, BTF and the tables; each difference is a finding. */
#pragma once

#include "conform/api_desc.h"
#include "conform/page.h"
#include "core/lib/buf.h"

enum finding_severity {
	FINDING_ERROR,		/* the description is false */
	FINDING_MISSING,	/* the description omits something */
	FINDING_NOTE,		/* true, but incomplete or badly marked up */
};

/* Kinds of findings: X(kind, its word in ids, severity). */
#define FINDING_KINDS(X) \
	X(UNKNOWN, "unknown", ERROR) /* a name that nothing else has */ \
	X(LACKING, "missing", MISSING) /* a name that the source lacks */ \
	X(VALUE, "value", ERROR) \
	X(SINCE, "since", ERROR) /* another release */ \
	X(UNDATED, "undated", NOTE) /* no release */ \
	X(UNDESCRIBED, "undescribed", MISSING) /* a name without an entry */ \
	X(MARKUP, "markup", NOTE) \
	X(OLDER, "older", NOTE) /* the source is of an older release */ \
	X(LAYOUT, "layout", MISSING) /* a record without its layout */ \
	X(BITS, "bits", ERROR) /* bits that no bit-field has */ \
	X(BITS_SAID, "bits-said", ERROR) /* another width in the text */ \
	X(MEMBER_MISSING, "member-missing", MISSING) \
	X(MEMBER_EXTRA, "member-extra", ERROR) \
	X(MEMBER_UNKNOWN, "member-unknown", MISSING) /* that the tables lack */ \
	X(MEMBER_OLD, "member-old", ERROR) /* a former name */ \
	X(MEMBER_WIDTH, "member-width", ERROR) \
	X(MEMBER_SIGN, "member-sign", ERROR) \
	X(MEMBER_NAME, "member-name", ERROR) \
	X(MEMBER_WHEN, "member-when", ERROR) \
	X(MEMBER_ORDER, "member-order", ERROR) \
	X(MEMBER_PLACE, "member-place", ERROR) \
	X(ERRNO_MISSING, "errno-missing", MISSING) \
	X(ERRNO_CASES, "errno-cases", MISSING) /* causes that the entry omits */ \
	X(ERRNO_WRONG, "errno-wrong", ERROR) /* a member that never causes it */ \
	X(ERRNO_UNKNOWN, "errno-unknown", ERROR) \
	X(CALL_ERRORS, "call-errors", MISSING) /* errors of another call */ \
	X(SAID, "said", ERROR) /* a sentence of %misstatements */ \
	X(EXAMPLE, "example", ERROR) /* a program that fails */ \
	X(EXAMPLE_MESSAGE, "example-message", ERROR) \
	X(CLAIM, "claim", ERROR) /* a false claim */ \
	X(UNSAID, "unsaid", MISSING) /* undocumented behaviour */

enum finding_kind {
#define FINDING_KIND(kind, word, severity) FINDING_##kind,
	FINDING_KINDS(FINDING_KIND)
#undef FINDING_KIND
};

/* A place in a source that shows the difference. */
struct finding_place {
	enum finding_source source;
	char *file;		/* owned; "" if the source needs none */
	unsigned int line;	/* of file, or BTF type id; 0: none */
	char *quote;		/* owned, one line; or NULL */
};

/* All strings are owned. */
struct finding {
	enum finding_source source; /* whose description is wrong; FINDING_KERNEL: tried */
	enum finding_kind kind;
	char *owner;		/* structure, record or errno that has the subject; or NULL */
	char *name;		/* of the subject: a constant, a member, a claim ... */
	char *instead;		/* the name that is meant by an unknown one; or NULL */
	char *id;		/* stable: "page-missing:PERF_SAMPLE_AUX", "claim:NAME" */
	const char *subject;	/* in id: "NAME", or "OWNER.NAME" */
	char *section;		/* heading of the page's section; "" if none */
	enum finding_severity severity;
	char *since;		/* kernel release that it concerns, or NULL */
	char *text;		/* a sentence without full stop */
	char *detail;		/* more lines, such as the text of calls; or NULL */
	struct finding_place *places;
	size_t nplaces;
};

/* Zero-initialised is empty. */
struct findings {
	struct finding *all;
	size_t n;
};

/* Names, by enum finding_severity and finding_source. */
extern const char *const finding_severities[];
extern const char *const finding_sources[];

/* Add a place with copies of file and quote; quote may be NULL. */
void finding_place(struct finding *f, enum finding_source source, const char *file,
		   unsigned int line, const char *quote);

/* Set the release that a finding concerns, KVER(); 0: none. */
void finding_since(struct finding *f, uint32_t since);

/* Move a text to a finding as its detail, unless that is the reason of an exception. */
void finding_detail(struct finding *f, struct buf *text);

/* Return the first line of the page in the places, or 0. */
unsigned int finding_page_line(const struct finding *f);

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
 * Add a finding with copies of owner and name, and the severity of its kind: to found, or to
 * excepted if src/conform/conform.in has an exception for its id.  The pointer is valid until
 * the next call.
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

/* Parts of compare_page(). */
void compare_page_names(struct conform *c);
void compare_page_structs(struct conform *c);
void compare_page_records(struct conform *c);
void compare_page_examples(struct conform *c);

/*
 * Handle a difference; known or stated is NULL if it has no such member, and both are for
 * FINDING_BITS.
 */
typedef void member_diff_fn(void *ctx, enum finding_kind kind, const struct api_member *known,
			    const struct api_member *stated);

/*
 * Call hook for each difference, FINDING_MEMBER_...: _PLACE for the first member with another
 * offset, if nothing before explains it.  Members that share a place may be in any order.
 * Reserved members may have any width, as new members replace them.
 */
void member_diff(const struct api_struct *known, const struct api_struct *stated,
		 member_diff_fn *hook, void *ctx);
