/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoding a dump through a session, as a traced program. */
#pragma once

#include "verbs/cli/options.h"

/* Show what the options select of a dump; return the exit status.  path is for messages. */
int decode_dump(FILE *f, const char *path, struct options *options);
