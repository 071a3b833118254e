/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pevtrace decode perf.data: its events and records. */
#ifndef PEVTRACE_CMD_DECODE_DECODE_PERFDATA_H
#define PEVTRACE_CMD_DECODE_DECODE_PERFDATA_H

#include <stdio.h>

#include "cli/options.h"

/*
 * Decodes a file that perfdata_is() of: its events, and with --records its
 * records.  path is its name in messages.  Returns the exit status.
 */
int perfdata_decode(FILE *f, const char *path, const struct options *o);

#endif
