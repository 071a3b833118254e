/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoding a dump through a session, as a traced program. */
#ifndef PEVTRACE_CMD_DECODE_DECODE_H
#define PEVTRACE_CMD_DECODE_DECODE_H

#include <stdio.h>

#include "cli/options.h"

/* Show what the options select; return the exit status.  path is for messages. */
int decode_dump(FILE *f, const char *path, struct options *options);

#endif
