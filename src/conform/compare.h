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

/* Begin a check named "what: name"; later findings belong to it. */
void compare_begin(struct conform *c, const char *what, const char *name);

/*
 * Add a finding with the id "kind:subject" to found, or to excepted if src/conform/conform.in has
 * an exception for it.  The pointer is valid until the next call.
 */
struct finding *compare_add(struct conform *c, const char *kind, const char *subject,
			    enum finding_severity severity, const char *section,
			    const char *text, ...) __attribute__((format(printf, 6, 7)));

/* Set the release that a finding concerns, KVER(); 0: none. */
void compare_since(struct finding *f, uint32_t since);

/* Add a line of the page to a finding's places. */
void place_page(struct conform *c, struct finding *f, unsigned int line);
