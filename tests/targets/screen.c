// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Takes keys from a terminal without echo, as an editor does, until q.  Puts the
 * terminal right before it stops, and takes it back when it goes on.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static struct termios before;

static void say(const char *what)
{
	if (write(STDOUT_FILENO, what, strlen(what)) < 0)
		_exit(1);
}

static void take_screen(void)
{
	struct termios raw;

	tcgetattr(STDIN_FILENO, &before);
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

static void on_stop(int sig)
{
	sigset_t set;

	usleep(300000); /* a screen takes its time */
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	say("<suspended>\n");
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	signal(sig, on_stop);
	take_screen();
	say("<resumed>\n");
}

int main(void)
{
	char key[16] = "<key ?>\n";

	signal(SIGTSTP, on_stop);
	take_screen();
	say("<ready>\n");
	while (read(STDIN_FILENO, &key[5], 1) == 1 && key[5] != 'q')
		say(key);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	say("<bye>\n");
	return 4;
}
