/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole files of text, which may be packed. */
#ifndef PEVTRACE_CONFORM_TEXTFILE_H
#define PEVTRACE_CONFORM_TEXTFILE_H

#include <stdbool.h>

#include "lib/buf.h"

enum { TEXTFILE_MAX = 16 << 20 };	/* bytes worth reading, when unpacked */

/*
 * Adds the file's text to out: plain, or as gzip or xz packed it, which its
 * first bytes tell.  False after a warn(): it cannot be read or unpacked, is
 * too long, or needs a library that we were built without.
 */
bool textfile_read(const char *path, struct buf *out);

#endif
