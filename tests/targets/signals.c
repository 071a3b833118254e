/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ends and signals of all kinds.
 *
 * usage: signals exit N | die SIG | storm N | stop | tstp | term | kids N
 * Exit status 0: all went as it would without a tracer.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdbool.h>

#include "mark.h"
#include "verbs.h"

static volatile sig_atomic_t seen;

static void count(int sig)
{
	(void)sig;
	seen++;
}

static void handle(int sig, int flags)
{
	struct sigaction action = { .sa_handler = count, .sa_flags = flags };

	sigaction(sig, &action, NULL);
}

/* A signal that we send ourselves arrives before kill() returns. */
static int do_storm(long n)
{
	handle(SIGUSR1, 0);
	for (long i = 0; i < n; i++) {
		kill(getpid(), SIGUSR1);
		if (seen != i + 1)
			return 1;
	}
	return 0;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static char state_of(pid_t pid)
{
	char path[64], state = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			state = '?';
		fclose(f);
	}
	return state;
}

/* 'T' is a stopped task, 't' one whose stop a tracer keeps. */
static bool is_stopped(pid_t pid)
{
	char state = state_of(pid);

	return state == 'T' || state == 't';
}

/* Waits, 10 s at most, until it is stopped; does it stay so? */
static bool stays_stopped(pid_t pid)
{
	for (int i = 0; i < 1000 && !is_stopped(pid); i++)
		pause_us(10000);
	pause_us(100000);
	return is_stopped(pid);
}

/* Stopped from outside in the middle of a wait: the wait goes on where it was. */
static int do_stop(void)
{
	double start = now();
	pid_t me = getpid(), pid = fork();
	int status;

	if (pid == 0) {
		bool stopped;

		await_sleep(me);
		kill(me, SIGSTOP);
		stopped = stays_stopped(me);
		kill(me, SIGCONT);
		_exit(stopped ? 0 : 1);
	}
	mark(1);
	if (poll(NULL, 0, 1000))
		return 1;
	mark(2);
	if (now() - start < 0.99)
		return 2;
	if (waitpid(pid, &status, 0) != pid || status)
		return 3;
	return 0;
}

/* A child that stops itself: its parent must hear of it. */
static int do_tstp(void)
{
	int status, p[2];
	pid_t pid;
	char byte;

	setpgid(0, 0);
	CHECK(!pipe(p));
	pid = fork();
	if (pid == 0) {
		signal(SIGTSTP, SIG_DFL);
		setpgid(0, 0);
		raise(SIGTSTP);
		/* its parent is to see that it goes on, not only that it has ended */
		CHECK(read(p[0], &byte, 1) == 1);
		mark(2);
		_exit(6);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGTSTP)
		return 1;
	if (!stays_stopped(pid) || waitpid(pid, &status, WNOHANG))
		return 2;
	kill(pid, SIGCONT);
	if (waitpid(pid, &status, WCONTINUED) != pid || !WIFCONTINUED(status))
		return 3;
	CHECK(write(p[1], "x", 1) == 1);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != 6)
		return 4;
	return 0;
}

/* A SIGTERM that reaches us from wherever. */
static int do_term(void)
{
	handle(SIGTERM, 0);
	mark(1);
	for (int i = 0; i < 500 && !seen; i++)
		usleep(10000);
	return seen ? 3 : 1;
}

/* SIGCHLD for each child, without losing one's end. */
static int do_kids(long n)
{
	handle(SIGCHLD, SA_RESTART);
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			raise(SIGKILL);
		if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) ||
		    WTERMSIG(status) != SIGKILL)
			return 1;
	}
	return seen != n;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

	if (!strcmp(what, "exit"))
		return (int)n;
	if (!strcmp(what, "die"))
		return raise((int)n), 1;
	if (!strcmp(what, "storm"))
		return do_storm(n);
	if (!strcmp(what, "stop"))
		return do_stop();
	if (!strcmp(what, "tstp"))
		return do_tstp();
	if (!strcmp(what, "term"))
		return do_term();
	if (!strcmp(what, "kids"))
		return do_kids(n);
	return 99;
}
