// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/lib/buf.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/lib/program.h"

/* Tells pevtrace, and whatever it starts, that a pager shows its output; holds the columns. */
static const char in_use[] = "PEVTRACE_PAGER_IN_USE";

bool terminal_is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || !strcmp(term, "dumb");
}

static const char *pager_command(void)
{
	const char *command = getenv("PEVTRACE_PAGER");
	bool exists;
	char *word;

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	if (!*command || !strcmp(command, "cat") || terminal_is_dumb())
		return NULL;
	/* one that the shell does not find could not be told from one that was left */
	word = xstrndup(command, strcspn(command, " \t"));
	exists = strpbrk(word, "=\"'\\$;&|(") || !program_find(word);
	free(word);
	return exists ? command : NULL;
}

static pid_t pager_pid;
static bool pager_has_stderr;

/* Let the pager see the end of its input, and wait until the user leaves it. */
static void pager_wait(void)
{
	close(STDOUT_FILENO);
	if (pager_has_stderr)
		close(STDERR_FILENO);
	child_wait(pager_pid);
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
	const struct sigaction last = {
		.sa_handler = pager_on_signal, .sa_flags = (int)SA_RESETHAND,
	};
	static const int ends[] = { SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action;
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
		for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
			if (!sigaction(ends[i], NULL, &action) && action.sa_handler == SIG_DFL)
				sigaction(ends[i], &last, NULL);
		/* ^C is for the pager; pevtrace ends when the user leaves that */
		signal(SIGINT, SIG_IGN);
	}
	close(in[0]);
	close(in[1]);
}

/* Return the columns of the terminal behind the pager; 0: there is no pager. */
static unsigned int pager_columns(void)
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

#define FIRST_NS 1000000000ULL
#define AGAIN_NS 200000000ULL

void progress_start(struct progress *p, const char *what)
{
	struct stat st;
	bool piped = !fstat(STDOUT_FILENO, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));

	*p = (struct progress){
		.what = what, .on = isatty(STDERR_FILENO) && !terminal_is_dumb() && !piped,
		.next_ns = clock_ns() + FIRST_NS,
	};
}

void progress_show(struct progress *p, const char *text)
{
	struct winsize size;
	int columns = 80;

	if (!p->on)
		return;
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		columns = size.ws_col;
	p->shown = true;
	fprintf(stderr, "\r%.*s\033[K", columns - 1, text);
	fflush(stderr);
}

bool progress_is_due(const struct progress *p)
{
	return p->on && clock_ns() >= p->next_ns;
}

void progress_step(struct progress *p, uint64_t done, uint64_t total)
{
	struct buf line = { 0 };

	if (!progress_is_due(p) || !total)
		return;
	p->next_ns = clock_ns() + AGAIN_NS;
	buf_addf(&line, "%llu of %llu %s (%llu%%)", (unsigned long long)done,
		 (unsigned long long)total, p->what, (unsigned long long)(100 * done / total));
	progress_show(p, buf_str(&line));
	buf_free(&line);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
