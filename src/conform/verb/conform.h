/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pevtrace conform: its options and results. */
#pragma once

#include "conform/claims.h"
#include "conform/compare.h"
#include "core/lib/pager.h"
#include "verbs/cli/showing.h"

enum { CONFORM_HEADERS = 16 };

enum conform_format { CONFORM_TEXT, CONFORM_JSON, CONFORM_TAP, CONFORM_MARKDOWN };

struct conform_cmd {
	struct progress progress;
	/* options */
	const char *man;		/* NULL: the installed page */
	const char *headers[CONFORM_HEADERS];
	size_t nheaders;		/* 0: the system's */
	const char *btf;		/* NULL: the running kernel's */
	bool no_headers, no_btf, no_behaviour, self, nobody, examples;
	const char *claim;		/* fnmatch(3) of the claims to try; NULL: all */
	bool verbose, show_excepted, patch, accounting;
	const char *section;		/* show only sections whose heading contains it; or NULL */
	uint32_t since;			/* show only findings of that release or later, KVER() */
	enum conform_format format;
	struct options options;
	/* results */
	struct conform c;
	size_t claims[CLAIM_FALSE + 1];	/* by verdict */
	struct buf uncorrected;		/* claims that a patch leaves, as they could not be tried */
	char kernel[65];		/* release of the running kernel */
	size_t shown;			/* findings that were written as JSON */
	const char **sections;		/* headings whose findings were written as text */
	size_t nsections;
	struct showing out;
};

/* Return whether --section and --since select the finding. */
bool conform_wanted(const struct conform_cmd *cmd, const struct finding *f);

/* Return how many findings of a severity are selected. */
size_t conform_count(const struct conform_cmd *cmd, enum finding_severity severity);

/* Write what of tables and page was compared, and what was not. */
void conform_accounting(struct conform_cmd *cmd);

/* Return whether results are written before the last is known: as text and JSON. */
bool conform_streams(const struct conform_cmd *cmd);

/*
 * Write what of text or JSON is complete: first the sources, then findings, in text those of
 * sections before this one of the page.
 */
void conform_show_sources(struct conform_cmd *cmd);
void conform_show_before(struct conform_cmd *cmd, const char *section);

/* Write the findings, or the rest of them, as text, JSON or TAP; as a report. */
void conform_show(struct conform_cmd *cmd);
void conform_markdown(struct conform_cmd *cmd);

/* Write a line of such text. */
void conform_line(struct conform_cmd *cmd, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
