/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sources side by side. */
#ifndef PEVTRACE_CONFORM_COMPARE_H
#define PEVTRACE_CONFORM_COMPARE_H

#include "conform/api_desc.h"
#include "conform/finding.h"
#include "conform/page.h"

/* One thing that was compared; its findings begin with that one. */
struct conform_check {
	char *what;		/* owned: "page: PERF_SAMPLE_IP" */
	size_t first;
	char *untried;		/* owned: why it could not be; NULL: it was */
};

struct conform {
	struct api_desc tables;
	struct api_desc header, btf;	/* without a file: not read */
	struct page page;		/* without source: not read */
	/* what came out */
	struct findings found;
	struct findings excepted;	/* not reported; detail tells why */
	struct conform_check *checks;
	size_t nchecks;
};

/* The page against everything else. */
void compare_page(struct conform *c);

/* A header or BTF against our tables. */
void compare_source(struct conform *c, const struct api_desc *s);

void conform_free(struct conform *c);

/* For those who compare ------------------------------------------------------------------- */

/* What is found from now on belongs to that. */
void compare_begin(struct conform *c, const char *what, const char *name);

/*
 * A new finding "kind:subject"; one that is excepted goes where nobody looks.
 * Valid until the next one.
 */
struct finding *compare_find(struct conform *c, const char *kind, const char *subject,
			     enum finding_severity severity, const char *section,
			     const char *text, ...) __attribute__((format(printf, 6, 7)));

void compare_since(struct finding *f, uint32_t since);	/* 0: nothing */

/* Places: a line of the page; the commit named below it; what knows a name, or a member. */
void place_page(struct conform *c, struct finding *f, unsigned int line);
void place_commit(struct conform *c, struct finding *f, unsigned int line);
void place_words(struct conform *c, struct finding *f, const char *name);
void place_name(struct conform *c, struct finding *f, const char *name);
void place_member(struct conform *c, struct finding *f, const char *structure,
		  const char *member);

/* The name that is nearest to a wrong one, of those that are known; NULL: none is near. */
const char *compare_nearest(const struct conform *c, const char *word, bool member);

/* Whether a table, header or BTF has that constant; that member, in any struct. */
bool compare_knows(const struct conform *c, const char *name);
bool compare_knows_member(const struct conform *c, const char *name);

void compare_page_names(struct conform *c);
void compare_page_structs(struct conform *c);
void compare_page_records(struct conform *c);
void compare_page_errors(struct conform *c);

/* A structure of the page against what is right; section and what stand in findings. */
void compare_page_struct(struct conform *c, const struct api_struct *right,
			 const struct api_struct *said, size_t section, const char *what);

#endif
