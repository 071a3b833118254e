/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A difference between descriptions of the interface. */
#pragma once

#include <stddef.h>

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

/* A place in a source that shows the difference. */
struct finding_place {
	enum finding_source source;
	char *file;		/* owned; "" if the source needs none */
	unsigned int line;	/* of file, or BTF type id; 0: none */
	char *quote;		/* owned, one line; or NULL */
};

/* All strings are owned. */
struct finding {
	char *id;		/* stable: "page-missing:PERF_SAMPLE_AUX", a claim's name */
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
	size_t cap;
};

/*
 * Add a finding with a copy of id, section and text, without places.  The pointer is valid
 * until the next finding is added.
 */
struct finding *finding_add(struct findings *fs, const char *id, enum finding_severity severity,
			    const char *section, const char *text, ...)
	__attribute__((format(printf, 5, 6)));

/* Add a place with copies of file and quote; quote may be NULL. */
void finding_place(struct finding *f, enum finding_source source, const char *file,
		   unsigned int line, const char *quote);

/* Names, by enum finding_severity and finding_source. */
extern const char *const finding_severities[];
extern const char *const finding_sources[];

void findings_free(struct findings *fs);
