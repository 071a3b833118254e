// SPDX-License-Identifier: LGPL-2.1-or-later
#include <fcntl.h>
#include <unistd.h>

#include "verbs/cmd.h"
#include "verbs/learn/learn.h"

/* In the order of their list in --help. */
static const struct verb *const verbs[] = {
	&trace_verb, &open_verb, &ps_verb, &list_verb, &why_verb,
	&explain_verb, &learn_verb, &decode_verb, &report_verb, &diff_verb, &replay_verb,
	&codegen_verb, &conform_verb, &help_verb, NULL,
};

/*
 * Let no file or event have the descriptor of a standard stream that is closed.  /dev/null is opened
 * the wrong way round, so that its use fails as before, and programs that are run see it closed.
 */
static void occupy_closed_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

int main(int argc, char **argv)
{
	const struct verb *v = argc > 1 ? verb_find(verbs, argv[1]) : NULL;

	occupy_closed_streams();
	if (v)
		return verb_run(v, verbs, argc - 1, argv + 1);
	/* everything but a verb is a trace */
	if (argc > 1)
		verb_check_spelling(verbs, argv[1]);
	return verb_run(verbs[0], verbs, argc, argv);
}
