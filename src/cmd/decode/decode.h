/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A dump, told to a session as a traced program would be. */
#ifndef PEVTRACE_CMD_DECODE_DECODE_H
#define PEVTRACE_CMD_DECODE_DECODE_H

#include <stdio.h>

#include "cli/options.h"

/* Shows what the options ask for; the exit status.  path is for messages. */
int decode_dump(FILE *f, const char *path, struct options *options);

#endif
