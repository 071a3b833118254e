/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The example programs of a page, compiled and run. */
#pragma once

#include "conform/compare.h"

/*
 * Compile each example, without warnings, and run it in a temporary directory, for a few
 * seconds at most: it must exit with 0, write nothing to standard error, and print what
 * %example_output says.  Where its event cannot be opened, the one of %example_events takes
 * its place, and the example counts as untried if that succeeds.  kernel is the running
 * release, for the places of findings.
 */
void examples_try(struct conform *c, const char *kernel);

/* Begin the check of each example, untried for that reason. */
void examples_skip(struct conform *c, const char *reason);
