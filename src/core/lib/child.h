/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

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

/* The descriptors that helper_seclude() leaves open. */
enum { HELPER_SOCKET, HELPER_FILE, HELPER_DESCRIPTORS };

/*
 * Seclude the calling process: a session and a name of its own, no signals but those
 * of helper_limit(), no core dump, bounded memory, and no descriptors but socket as
 * HELPER_SOCKET and HELPER_FILE, which is for the helper's use.  Exit on failure.
 */
void helper_seclude(const char *name, int socket);

/*
 * Let SIGPROF end the process after cpu seconds of processor time, SIGALRM after
 * all seconds.  0 lifts a limit.
 */
void helper_limit(time_t cpu, time_t all);
