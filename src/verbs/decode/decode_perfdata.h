/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pevtrace decode perf.data: its events and records. */
#pragma once

#include <stdio.h>

#include "verbs/cli/options.h"

/*
 * Decode the events of a perf.data file and, with --records, its records.  path is its name
 * in messages.  Return the exit status.
 */
int perfdata_decode(FILE *f, const char *path, const struct options *o);
