/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a dump: its lines feed a session, as the traced program did when it was recorded. */
#pragma once

#include <stdio.h>

#include "core/session/session.h"

struct reader;

/*
 * Read the header; return NULL after a warn() that names the file and line where it
 * is no dump that this version can read.  path is for messages.  keep_going:
 * report bad lines and skip them.
 */
struct reader *reader_open(FILE *f, const char *path, bool keep_going);
void reader_close(struct reader *r);

/* Return the facts in the first line; strings and arrays are owned by the reader. */
const struct session_facts *reader_facts(const struct reader *r);

/* Return the names in the lines read so far, without the hooks read_format and event. */
const struct names *reader_names(const struct reader *r);

/* Return the number of the current line, counted from 1. */
unsigned long reader_line(const struct reader *r);

/* Return whether the lines read so far were good, and, after reader_run(), none is missing. */
bool reader_whole(const struct reader *r);

/* Return whether a bad line ended reader_run(). */
bool reader_stopped(const struct reader *r);

/* Show on a terminal how much was read; for callers that write nothing to one meanwhile. */
void reader_progress(struct reader *r);

/*
 * Feed everything to a session, which was started with reader_names() and
 * reader_facts().  Calls that were not shown when they were recorded, or that its
 * selection leaves out, are not shown.  Return true when the dump was whole: no bad
 * line, and a last line that says it is the last; else after a warn().
 */
bool reader_run(struct reader *r, struct session *s);
