/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Long output through a pager, as git shows it. */
#pragma once

#include <stdbool.h>

/*
 * If standard output is a terminal, let PEVTRACE_PAGER, PAGER or less show what is written to
 * it from now on, and to standard error if that is one.  Wait for its end at exit, even that by
 * SIGTERM, SIGHUP or SIGQUIT; SIGPIPE ends pevtrace when the user leaves it before.  "" and "cat"
 * mean none, as does one that is not there.  Without LESS in the environment, less ends by itself
 * if all fits the screen.
 */
void pager_start(void);

/* Return the columns of the terminal behind the pager; 0: there is no pager. */
unsigned int pager_columns(void);

/* Return the columns of a terminal, or of that behind the pager; 80 if fd is no terminal. */
unsigned int terminal_columns(int fd);

/* Return whether errno says that the user has left the pager, which is no failure. */
bool pager_was_left(void);

/* Return whether what is written to a descriptor is shown by a terminal. */
bool pager_is_terminal(int fd);

/* Return whether TERM names no terminal, or one that shows escape sequences as text. */
bool terminal_is_dumb(void);
