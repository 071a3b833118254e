/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the page, and what they share.  For src/formats/report only. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "formats/report/html.h"
#include "formats/report/report.h"
#include "formats/text/summary.h"

/* Limits of the tables without scripts; a sentence says how to get the rest. */
enum { PAGE_CALLS = 500, PAGE_EVENTS = 1000, PAGE_ATTRS = 200, PAGE_GRAPH = 48 };

/* The files of this directory, with SHA-256 hashes in base64 (made by embed.sh). */
extern const char page_template[], page_style[], page_script[];
extern const char page_style_sha256[], page_script_sha256[];

/* Append a part of the page to out; long parts call page_flush(). */
void part_graph(const struct report *r, struct buf *out);
void part_events(const struct report *r, struct buf *out);
void part_attrs(const struct report *r, struct buf *out);
void part_failures(const struct report *r, struct buf *out);
void part_rings(const struct report *r, struct buf *out);
void part_tasks(const struct report *r, struct buf *out);
void part_counts(const struct report *r, struct buf *out);
void part_calls(const struct report *r, struct buf *out);
void part_data(const struct report *r, struct buf *out);

/* Write and empty out if it holds more than a megabyte. */
void page_flush(const struct report *r, struct buf *out);

/* Append a link to an event in the table of events. */
void page_link_event(struct buf *out, unsigned int number);

/* Begin and end a table; columns end with NULL, and those of numbers begin with '>'. */
void page_table_begin(struct buf *out, const char *label, const char *caption,
		      const char *const *columns);
void page_table_end(struct buf *out);
