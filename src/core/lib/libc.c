// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/libc.h"

#include <errno.h>
#include <stddef.h>

#include "xlat/libc_names.inc"

#ifndef HAVE_STRERRORNAME_NP
const char *strerrorname_np(int error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].number == error)
			return errors[i].name;
	return NULL;
}
#endif

#ifndef HAVE_SIGABBREV_NP
const char *sigabbrev_np(int sig)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (signals[i].number == sig)
			return signals[i].name;
	return NULL;
}
#endif

#if !defined HAVE_ON_EXIT && !defined LIBPEVTRACE
/* atexit() passes no argument: keep them here. */
static struct {
	void (*f)(int status, void *arg);
	void *arg;
} at_exit[8];
static unsigned int nat_exit;

static void run_at_exit(void)
{
	while (nat_exit) {
		nat_exit--;
		at_exit[nat_exit].f(0, at_exit[nat_exit].arg);
	}
}

int on_exit(void (*f)(int status, void *arg), void *arg)
{
	if (nat_exit == sizeof(at_exit) / sizeof(*at_exit) ||
	    (!nat_exit && atexit(run_at_exit)))
		return -1;
	at_exit[nat_exit].f = f;
	at_exit[nat_exit++].arg = arg;
	return 0;
}
#endif

#ifndef HAVE_SEM_CLOCKWAIT
int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *end)
{
	struct timespec now, real;
	long long ns;

	clock_gettime(clock, &now);
	clock_gettime(CLOCK_REALTIME, &real);
	ns = (end->tv_sec - now.tv_sec) * 1000000000LL + end->tv_nsec - now.tv_nsec;
	ns += real.tv_sec * 1000000000LL + real.tv_nsec;
	return sem_timedwait(sem, &(struct timespec){
		.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000),
	});
}
#endif
