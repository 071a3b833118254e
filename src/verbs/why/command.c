// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace why -- COMMAND: trace it into a dump in memory. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/host/proc.h"
#include "core/lib/child.h"
#include "core/lib/die.h"
#include "verbs/cmd.h"
#include "verbs/measure/refusal.h"
#include "verbs/why/why.h"

/* Words of the trace verb before the command. */
enum { TRACE_WORDS = 5 };

static _Noreturn void why_trace(char **command, int fd)
{
	char path[64];
	size_t n = 0;
	char **argv;
	int status;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	while (command[n])
		n++;
	argv = xcalloc(n + TRACE_WORDS + 1, sizeof(*argv));
	argv[0] = (char *)"trace";
	argv[1] = (char *)"--json";
	argv[2] = (char *)"-o";
	argv[3] = path;
	argv[4] = (char *)"--";
	memcpy(argv + TRACE_WORDS, command, n * sizeof(*argv));
	status = verb_run(&trace_verb, NULL, (int)n + TRACE_WORDS, argv);
	free(argv);
	exit(status);
}

/* Wait for pid and ignore ^C meanwhile: it ends the command, not the examination. */
static void wait_for(pid_t pid)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction was_int, was_quit;

	sigaction(SIGINT, &ignore, &was_int);
	sigaction(SIGQUIT, &ignore, &was_quit);
	child_wait(pid);
	sigaction(SIGINT, &was_int, NULL);
	sigaction(SIGQUIT, &was_quit, NULL);
}

/* Return the pid to use for a call: tasks of the command have ended, though zombies may be left. */
static int32_t why_pid(const struct why_failed *f)
{
	int32_t pid = call_int(&f->call.call, 1);

	return !f->own_task && pid > 0 && (!kill(pid, 0) || errno == EPERM) ?
	       pid : why_pid_here(&f->call);
}

static int why_failed_call(struct why *k, struct why_failed *f, struct map *told)
{
	const struct why_seen seen = {
		.times = f->times, .instead = f->instead, .differs = f->differs, .told = told,
	};
	struct call *c = &f->call.call;

	why_call_args(&f->call, why_pid(f), call_int(c, 2), call_int(c, 3), c->args[4]);
	return why_examine(k, &f->call, &seen);
}

/* Probes count only if nothing else failed. */
static int explain_all(struct why *k, const struct why_failures *l)
{
	int meant = -1, probes = -1;
	struct map told = { 0 };

	for (size_t i = 0; i < l->n; i++) {
		int status = why_failed_call(k, l->list[i], &told);
		int *of = l->list[i]->instead ? &probes : &meant;

		*of = why_worse(*of, status);
	}
	map_free(&told);
	if (meant >= 0)
		return meant;
	if (probes < 0)
		warn("no perf_event_open failed in '%s'", k->command[0]);
	return probes < 0 ? EXIT_NO : probes;
}

int why_command(struct why *k)
{
	struct why_failures failures = { .n = 0 };
	int fd = memfd_create("pevtrace-why", MFD_CLOEXEC), status = EXIT_TROUBLE;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	struct stat trace;
	pid_t pid;

	if (!f) {
		warn("cannot create a memory file for the trace of '%s': %s", k->command[0],
		     strerror(errno));
		return EXIT_TROUBLE;
	}
	pid = fork();
	if (!pid)
		why_trace(k->command, fd);
	if (pid < 0)
		warn("cannot create a process to trace '%s': %s%s", k->command[0],
		     strerror(errno), error_advice(errno));
	else
		wait_for(pid);
	if (!descriptors_want(WHY_DESCRIPTORS))
		refusal_descriptors("why", WHY_DESCRIPTORS);
	else if (pid > 0 && !fstat(fd, &trace) && trace.st_size && /* else why was reported */
		 why_failures_of_dump(f, "the trace", &failures))
		status = explain_all(k, &failures);
	why_failures_free(&failures);
	fclose(f);
	return status;
}
