/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Output of one item per line, as text or JSON, through one sink. */
#pragma once

#include "core/lib/pager.h"
#include "formats/json/json_text.h"
#include "verbs/cli/options.h"

struct showing {
	FILE *out;
	const char *path;	/* NULL: standard output */
	bool json, failed;
	bool page;		/* start a pager before the first line: input from a terminal is read */
	unsigned int width;	/* of the terminal that the lines go to, or 0 */
	struct sink *sink;	/* of the current line */
	struct buf line;
	struct text_sink text;
	struct json_text object;
};

/* Open the output; die if that fails.  Its pager starts at the first line. */
void showing_open(struct showing *s, const struct options *o);

/* Begin a line.  Values at the top have their keys before them unless plain is set. */
void showing_begin(struct showing *s, bool plain);
void showing_end(struct showing *s);

/* Add a text, a release (KVER()) to the current line, unless it is NULL or 0. */
void showing_add(struct showing *s, const char *key, const char *text);
void showing_add_release(struct showing *s, const char *key, uint32_t release);

/* Write text as it is, not between showing_begin() and showing_end(). */
void showing_write(struct showing *s, const struct buf *text);

/* Write what was shown: the next line may take its time. */
void showing_flush(struct showing *s);

/* Begin to show progress, unless the lines themselves show it on a terminal. */
void showing_progress(const struct showing *s, struct progress *p, const char *what);

/* Return false, after a warn(), if something could not be written. */
bool showing_close(struct showing *s);
