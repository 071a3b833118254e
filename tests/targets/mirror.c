/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes what it was given by its parent, into the file named by its argument:
 * run with and without a tracer, the two must be the same.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_limits(FILE *out)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit;

		prlimit(0, i, NULL, &limit);
		fprintf(out, "limit %d %llx %llx\n", i,
			(unsigned long long)limit.rlim_cur,
			(unsigned long long)limit.rlim_max);
	}
}

static void print_signals(FILE *out)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int sig = 1; sig < 65; sig++) {
		struct sigaction action;

		if (sigaction(sig, NULL, &action))
			continue;
		fprintf(out, "signal %d blocked %d ignored %d\n", sig,
			sigismember(&mask, sig), action.sa_handler == SIG_IGN);
	}
}

/* Before any file of ours is open. */
static size_t list_files(int *fds, size_t max)
{
	size_t n = 0;

	for (int fd = 0; fd < 1024 && n < max; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			fds[n++] = fd;
	return n;
}

int main(int argc, char **argv)
{
	int fds[1024];
	size_t n = list_files(fds, 1024);
	mode_t mask = umask(0);
	FILE *out = argc > 1 ? fopen(argv[1], "w") : stdout;

	if (!out)
		return 1;
	for (size_t i = 0; i < n; i++)
		fprintf(out, "fd %d\n", fds[i]);
	fprintf(out, "pgrp %d session %d umask %o nice %d\n", (int)getpgrp(),
		(int)getsid(0), (unsigned int)mask,
		getpriority(PRIO_PROCESS, 0));
	fprintf(out, "nnp %d dumpable %d\n",
		prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
		prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
	print_limits(out);
	print_signals(out);
	for (char **e = environ; *e; e++)
		fprintf(out, "%s\n", *e);
	return fclose(out) != 0;
}
