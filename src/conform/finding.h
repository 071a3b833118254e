/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A difference between descriptions of the interface. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/lib/buf.h"

enum finding_severity {
	FINDING_ERROR,		/* the description is false */
	FINDING_MISSING,	/* the description omits something */
	FINDING_NOTE,		/* true, but incomplete or badly marked up */
};

enum finding_source {
	FINDING_PAGE,		/* perf_event_open(2) */
	FINDING_HEADER,		/* a C header */
	FINDING_BTF,		/* types of a kernel */
	FINDING_XLAT,		/* the tables of pevtrace */
	FINDING_KERNEL,		/* observed behaviour of the running kernel */
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

/* Append "page-member-missing:OWNER.NAME"; owner may be NULL. */
void finding_id(enum finding_source source, enum finding_kind kind, const char *owner,
		const char *name, struct buf *out);

/*
 * Add a finding without section, text and places, with copies of owner and name, and the
 * severity of its kind.  The pointer is valid until the next finding is added.
 */
struct finding *finding_add(struct findings *fs, enum finding_source source,
			    enum finding_kind kind, const char *owner, const char *name);

/* Add a place with copies of file and quote; quote may be NULL. */
void finding_place(struct finding *f, enum finding_source source, const char *file,
		   unsigned int line, const char *quote);

/* Set the release that a finding concerns, KVER(); 0: none. */
void finding_since(struct finding *f, uint32_t since);

/* Move a text to a finding as its detail, unless that is the reason of an exception. */
void finding_detail(struct finding *f, struct buf *text);

/* Return the first line of the page in the places, or 0. */
unsigned int finding_page_line(const struct finding *f);

void findings_free(struct findings *fs);
