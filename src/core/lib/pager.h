/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Long output through a pager, as git shows it, and a line that shows how far work is. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * If standard output is a terminal, let PEVTRACE_PAGER, PAGER or less show what is written to
 * it from now on, and to standard error if that is one.  Wait for its end at exit, even that by
 * SIGTERM, SIGHUP or SIGQUIT; SIGPIPE ends pevtrace when the user leaves it before.  "" and "cat"
 * mean none, as does one that is not there.  Without LESS in the environment, less ends by itself
 * if all fits the screen.
 */
void pager_start(void);

/* Return the columns of a terminal, or of that behind the pager; 80 if fd is no terminal. */
unsigned int terminal_columns(int fd);

/* Return whether errno says that the user has left the pager, which is no failure. */
bool pager_was_left(void);

/* Return whether what is written to a descriptor is shown by a terminal. */
bool pager_is_terminal(int fd);

/* Return whether TERM names no terminal, or one that shows escape sequences as text. */
bool terminal_is_dumb(void);

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
