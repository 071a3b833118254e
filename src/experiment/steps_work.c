// SPDX-License-Identifier: LGPL-2.1-or-later
/* Steps that run workloads and other programs, and the step that catches signals. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/lib/program.h"
#include "experiment/steps_internal.h"
#include "experiment/work.h"

/* Read "work NAME [NUMBER|"TEXT"]"; the number is 1 by default. */
static bool read_workload(struct steps *run, struct workload_request *q)
{
	*q = (struct workload_request){ .n = 1 };
	if (run->nwords < 2)
		return false;
	snprintf(q->name, sizeof(q->name), "%s", run->words[1]);
	if (run->nwords < 3)
		return true;
	if (*run->words[2] != '"')
		return steps_value(run, run->words[2], &q->n);
	snprintf(q->text, sizeof(q->text), "%s", run->words[2] + 1);
	return true;
}

/* work NAME [NUMBER|"TEXT"] */
enum step_result step_work(struct steps *run)
{
	struct workload_request q;
	struct buf note = { 0 };

	if (!read_workload(run, &q))
		return steps_malformed(run);
	run->outcome->measured |= run->nevents;
	work_note(q.name, q.n, &note);
	steps_note(run, buf_str(&note));
	buf_free(&note);
	return work_run(q.name, q.n, q.text) ? STEP_OK : steps_malformed(run);
}

/* shell "COMMAND": its result is the exit status; the command inherits our descriptors */
enum step_result step_shell(struct steps *run)
{
	int status, error;
	pid_t pid;

	if (run->nwords != 2)
		return steps_malformed(run);
	steps_note(run, run->words[1] + 1);
	pid = fork();
	if (!pid) {
		execl(WORK_PROGRAM, "sh", "-c", run->words[1] + 1, (char *)NULL);
		_exit(127);
	}
	error = errno;
	status = child_wait(pid);
	if (status < 0)
		return steps_untried(run, "cannot run a shell: %s", strerror(error));
	return steps_check_result(run, WIFEXITED(status) ? WEXITSTATUS(status) :
				  128 + WTERMSIG(status));
}

/* catch SIGNAL */
enum step_result step_catch(struct steps *run)
{
	if (!steps_map_signals())
		return steps_untried(run, "cannot allocate memory for signals");
	return run->nwords == 2 && steps_catch(run->words[1]) ? STEP_OK : steps_malformed(run);
}

/* task NAME [NUMBER|"TEXT"]: a workload in the second process; exec and exit end it */
enum step_result step_task(struct steps *run)
{
	struct workload_request q;
	struct buf note = { 0 };
	bool ends;
	char c;

	if (!read_workload(run, &q))
		return steps_malformed(run);
	ends = !strcmp(q.name, "exec") || !strcmp(q.name, "exit");
	run->outcome->measured |= run->nevents;
	if (!steps_task_pid(run))
		return steps_untried(run, "cannot start a second process");
	buf_adds(&note, "the second process: ");
	work_note(q.name, q.n, &note);
	if (ends)
		buf_adds(&note, q.name);
	steps_note(run, note.data);
	buf_free(&note);
	if (send(run->task_link, &q, sizeof(q), MSG_NOSIGNAL) != sizeof(q))
		return steps_untried(run, "the second process has ended");
	if (!ends)
		return recv(run->task_link, &c, 1, 0) == 1 ? STEP_OK : steps_malformed(run);
	steps_task_wait(run);
	return STEP_OK;
}
