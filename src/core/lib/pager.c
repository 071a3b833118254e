// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/lib/libc.h"
#include "core/lib/program.h"

/* Tells pevtrace, and whatever it starts, that a pager shows its output; holds the columns. */
static const char in_use[] = "PEVTRACE_PAGER_IN_USE";

/* Return whether the shell would find the pager: it could not be told from one that was left. */
static bool pager_exists(const char *command)
{
	size_t len = strcspn(command, " \t");
	char *word = xstrndup(command, len);
	bool exists = strpbrk(word, "=\"'\\$;&|(") || !program_find(word);

	free(word);
	return exists;
}

bool terminal_is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || !strcmp(term, "dumb");
}

static const char *pager_command(void)
{
	const char *command = getenv("PEVTRACE_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	if (!*command || !strcmp(command, "cat") || terminal_is_dumb() || !pager_exists(command))
		return NULL;
	return command;
}

static pid_t pager_pid;
static bool pager_has_stderr;

/* Let the pager see the end of its input, and wait until the user leaves it. */
static void pager_wait(void)
{
	close(STDOUT_FILENO);
	if (pager_has_stderr)
		close(STDERR_FILENO);
	while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void pager_on_exit(void)
{
	fflush(stdout);
	signal(SIGPIPE, SIG_IGN);
	pager_wait();
}

/* The shell would read the same terminal as the pager if pevtrace ended before it. */
static void pager_on_signal(int sig)
{
	signal(SIGPIPE, SIG_IGN);
	pager_wait();
	raise(sig); /* blocked, and no longer handled: ends pevtrace when this returns */
}

static void pager_outlive_signals(void)
{
	const struct sigaction last = {
		.sa_handler = pager_on_signal, .sa_flags = (int)SA_RESETHAND,
	};
	static const int ends[] = { SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!sigaction(ends[i], NULL, &action) && action.sa_handler == SIG_DFL)
			sigaction(ends[i], &last, NULL);
	/* ^C is for the pager; pevtrace ends when the user leaves that */
	signal(SIGINT, SIG_IGN);
}

/*
 * Run the pager in a child.  Tell pevtrace when the user leaves it: pevtrace may be busy for long
 * before it writes again, and ignores ^C.
 */
static _Noreturn void pager_run(const char *command, const int *in, pid_t pevtrace)
{
	signal(SIGQUIT, SIG_IGN); /* as less does, but not its shell */
	pager_pid = fork();
	if (!pager_pid) {
		dup2(in[0], STDIN_FILENO);
		setenv("LESS", "FRX", 0);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	close(in[0]);
	close(in[1]);
	signal(SIGINT, SIG_IGN);
	pager_wait();
	if (getppid() == pevtrace)
		kill(pevtrace, SIGPIPE);
	_exit(0);
}

void pager_start(void)
{
	const char *command = isatty(STDOUT_FILENO) && !getenv(in_use) ? pager_command() : NULL;
	struct winsize size = { 0 };
	char columns[16];
	pid_t pid, self = getpid();
	int in[2];

	if (!command || pipe2(in, O_CLOEXEC))
		return;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	fflush(stdout);
	pid = fork();
	if (!pid)
		pager_run(command, in, self);
	if (pid > 0) {
		pager_has_stderr = isatty(STDERR_FILENO);
		dup2(in[1], STDOUT_FILENO);
		if (pager_has_stderr)
			dup2(in[1], STDERR_FILENO);
		pager_pid = pid;
		atexit(pager_on_exit);
		snprintf(columns, sizeof(columns), "%u", size.ws_col ? size.ws_col : 80);
		setenv(in_use, columns, 1);
		pager_outlive_signals();
	}
	close(in[0]);
	close(in[1]);
}

unsigned int pager_columns(void)
{
	const char *columns = getenv(in_use);

	return columns ? (unsigned int)strtoul(columns, NULL, 10) : 0;
}

unsigned int terminal_columns(int fd)
{
	enum { USUAL = 80, LEAST = 20 };
	unsigned int columns = pager_columns();
	struct winsize size;

	if (!columns && !ioctl(fd, TIOCGWINSZ, &size))
		columns = size.ws_col;
	return !columns ? USUAL : columns < LEAST ? LEAST : columns;
}

bool pager_was_left(void)
{
	return errno == EPIPE && pager_columns();
}

bool pager_is_terminal(int fd)
{
	return isatty(fd) || (fd == STDOUT_FILENO && pager_columns());
}
