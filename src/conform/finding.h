/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one description of the interface says and another one does not. */
#ifndef PEVTRACE_CONFORM_FINDING_H
#define PEVTRACE_CONFORM_FINDING_H

#include <stddef.h>

enum finding_severity {
	FINDING_ERROR,		/* what is written is not true */
	FINDING_MISSING,	/* what is there is not written */
	FINDING_NOTE,		/* true, but a reader may stumble over it */
};

enum finding_source {
	FINDING_PAGE,		/* perf_event_open(2) */
	FINDING_HEADER,		/* a C header */
	FINDING_BTF,		/* the types of a kernel */
	FINDING_XLAT,		/* our own tables */
	FINDING_KERNEL,		/* what the kernel does when it is tried */
};

/* Where a source says it, or is silent. */
struct finding_place {
	enum finding_source source;
	char *file;		/* owned; "" where source needs none */
	unsigned int line;	/* of file, or BTF type id; 0: none */
	char *quote;		/* owned, one line; NULL */
};

/* All strings are owned. */
struct finding {
	char *id;		/* stable: "page-missing:PERF_SAMPLE_AUX", a claim's name */
	char *section;		/* of the page, as its heading reads; "" if none */
	enum finding_severity severity;
	char *since;		/* release of the kernel that it concerns, or NULL */
	char *text;		/* one sentence */
	char *detail;		/* some lines, say calls as a trace shows them; NULL */
	struct finding_place *places;
	size_t nplaces;
};

/* Zero-initialised is empty. */
struct findings {
	struct finding *all;
	size_t n;
	size_t cap;
};

/*
 * Adds a finding with a copy of id, section and text, without places.  The
 * pointer is valid until the next finding is added.
 */
struct finding *finding_add(struct findings *fs, const char *id, enum finding_severity severity,
			    const char *section, const char *text, ...)
	__attribute__((format(printf, 5, 6)));

/* Adds a place to a finding; file and quote are copied, quote may be NULL. */
void finding_place(struct finding *f, enum finding_source source, const char *file,
		   unsigned int line, const char *quote);

/* "error", "missing", "note" and "page", "header", "btf", "xlat", "kernel". */
extern const char *const finding_severities[];
extern const char *const finding_sources[];

void findings_free(struct findings *fs);

#endif
