/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether this process may open as many files as it is going to. */
#ifndef PEVTRACE_HOST_DESCRIPTORS_H
#define PEVTRACE_HOST_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether n more descriptors can be open at once: found by opening so many, up to
 * 256.  Where they cannot, the soft limit (RLIMIT_NOFILE) becomes the hard one, for
 * our children, too.
 */
bool descriptors_want(size_t n);

#endif
