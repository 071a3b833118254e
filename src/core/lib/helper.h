/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Child processes that read files whose authors are not trusted, with libraries
 * that crash or loop over malformed ones.  Their client survives that.
 */
#pragma once

#include <time.h>

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
