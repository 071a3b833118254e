/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a trace shows to be wrong with its events, in words. */
#pragma once

#include "core/judge/flaws_seen.h"

/*
 * Append what was seen, with its numbers, and what to do: "lost 1148 of 1152 records (99.7 %): ring
 * of 4 KiB; try 128 pages (-m 128)".
 */
void flaw_text(enum flaw_id id, const struct flaw *f, struct buf *out);

/* Append the events in which it was seen, and flaw_text(). */
void flaw_line(enum flaw_id id, const struct flaw *f, struct buf *out);

/* Append the number that matters: "99.7 %" that were lost, "4 KiB" unread, "8" events. */
void flaw_amount(enum flaw_id id, const struct flaw *f, struct buf *out);

/*
 * Append a line for each flaw that was seen, errors first: the events, and flaw_text(), between
 * before and after ("+++ ", " +++").  color: in the colour of its severity.
 */
void flaws_print(const struct flaws *f, const char *before, const char *after, bool color,
		 struct buf *out);
