/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A line on a terminal that shows how far long work is. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what;	/* "features tried" */
	bool on;		/* standard error is a terminal */
	bool shown;
	uint64_t next_ns;	/* when to show it next */
};

/*
 * Begin; the line is shown after a second, on standard error if that is a terminal that can
 * erase it.  A program that reads standard output probably writes to the same terminal, so
 * there is no line if that is a pipe.
 */
void progress_start(struct progress *p, const char *what);

/* Show text in place of the line, cut to the terminal's width. */
void progress_show(struct progress *p, const char *text);

/* Return whether the next step will be shown. */
bool progress_is_due(const struct progress *p);

/* Show that `done` of `total` parts are done. */
void progress_step(struct progress *p, uint64_t done, uint64_t total);

/* Remove the line, before anything else is written. */
void progress_end(struct progress *p);
