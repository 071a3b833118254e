/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The limit of open files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Return whether n more descriptors can be open at once, by opening as many, up to 256.
 * If not, raise the soft limit (RLIMIT_NOFILE) to the hard one, which children inherit.
 */
bool descriptors_want(size_t n);
