/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory of a tracee. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Copy len bytes from addr; return how many could be read before the first unmapped page. */
size_t remote_read(pid_t tid, uint64_t addr, void *dst, size_t len);
