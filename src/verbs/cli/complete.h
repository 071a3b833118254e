/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Completion of command lines, from the same tables as --help.  The scripts in completion/
 * only pass the words to pevtrace help --complete and its answer to the shell.
 */
#pragma once

#include "verbs/cli/verb.h"

/*
 * Print how the last of n words after "pevtrace", which may be empty, can go on; one line each:
 *	WORD TAB HELP	the whole word; HELP may be missing
 *	:file TAB HEAD	HEAD and the name of a file; likewise :directory
 *	:command N	the words from the Nth on, counted from 0, are a command line
 */
void complete_words(const struct verb *const *all, char *const *words, size_t n);
