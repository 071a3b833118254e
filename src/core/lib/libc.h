/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of the GNU C library, for C libraries that have not all of them, such as musl. */
#pragma once

#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef HAVE_STRERRORNAME_NP
/* Return "EPERM" for EPERM; NULL: no such error. */
const char *strerrorname_np(int error);
#endif

#ifndef HAVE_SIGABBREV_NP
/* Return "HUP" for SIGHUP; NULL: no such signal, or a real-time one. */
const char *sigabbrev_np(int sig);
#endif

#ifndef HAVE_ON_EXIT
/* Have exit() call f(0, arg), the last one first; return 0, or -1 if there are too many. */
int on_exit(void (*f)(int status, void *arg), void *arg);
#endif

#ifndef HAVE_SEM_CLOCKWAIT
/* As sem_timedwait(), by the time of a clock. */
int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *end);
#endif
