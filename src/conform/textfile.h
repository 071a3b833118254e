/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text files, which may be compressed. */
#pragma once

#include <stdbool.h>

#include "core/lib/buf.h"

enum { TEXTFILE_MAX = 16 << 20 };	/* bytes, uncompressed */

/*
 * Append a file's text to out: plain, or uncompressed from gzip or xz.  Return false after a
 * warn(): it cannot be read or uncompressed, is too long, or this build lacks the library.
 */
bool textfile_read(const char *path, struct buf *out);
