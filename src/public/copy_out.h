/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Handing text to a caller of the library. */
#pragma once

#include <errno.h>
#include <string.h>
#include <sys/types.h>

#include "core/lib/buf.h"

/*
 * Copy the text to buf, of n bytes, truncated if it does not fit, and free it; return its length,
 * or -ENOMEM if it is not complete.
 */
static inline ssize_t copy_out(struct buf *text, char *buf, size_t n)
{
	ssize_t len = text->failed ? -ENOMEM : (ssize_t)text->len;
	size_t some = text->failed ? 0 : text->len;

	if (n) {
		some = some < n ? some : n - 1;
		memcpy(buf, buf_str(text), some);
		buf[some] = '\0';
	}
	buf_free(text);
	return len;
}
