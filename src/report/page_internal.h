/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the page, each written by one function; for src/report only. */
#ifndef PEVTRACE_REPORT_PAGE_INTERNAL_H
#define PEVTRACE_REPORT_PAGE_INTERNAL_H

#include "report/report.h"

/*
 * What the page holds without scripts: beyond it, a sentence says how to get
 * the rest.
 */
enum { PAGE_CALLS = 500, PAGE_EVENTS = 1000, PAGE_ATTRS = 200, PAGE_GRAPH = 48 };

/* The files of this directory, and the SHA-256 of two in base64 (embed.sh). */
extern const char page_template[], page_style[], page_script[];
extern const char page_style_sha256[], page_script_sha256[];

/* Each appends to out, and may write out and empty it. */
void part_graph(const struct report *r, struct buf *out);
void part_events(const struct report *r, struct buf *out);
void part_attrs(const struct report *r, struct buf *out);
void part_failures(const struct report *r, struct buf *out);
void part_rings(const struct report *r, struct buf *out);
void part_tasks(const struct report *r, struct buf *out);
void part_counts(const struct report *r, struct buf *out);
void part_calls(const struct report *r, struct buf *out);
void part_data(const struct report *r, struct buf *out);

/* Writes what is in out, if it is much, and empties it. */
void page_flush(const struct report *r, struct buf *out);

/* The name of a kind of row, "poll" or "exec". */
const char *page_kind(uint32_t kind);

/* A time since the start, with a unit: "12.345 ms". */
void page_time(struct buf *out, uint64_t ns);

/* Appends what add() appends, escaped. */
#define PAGE_ESCAPED(out, add, ...)						\
	do {									\
		struct buf escaped = { 0 };					\
										\
		add(__VA_ARGS__, &escaped);					\
		html_add(out, buf_str(&escaped));				\
		buf_free(&escaped);						\
	} while (0)

#endif
