/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/*
 * Wait until a child ends; return its wait status, or -1 if pid is no child, such as the
 * result of a fork(2) that failed.
 */
int child_wait(pid_t pid);

/*
 * Run body() in a child and wait until it ends.  out: size bytes, filled in with what body()
 * writes to its zeroed argument.  Return the wait status, or -1 if there could be no
 * child.
 */
int child_run(void (*body)(const void *ctx, void *out), const void *ctx, void *out, size_t size);
