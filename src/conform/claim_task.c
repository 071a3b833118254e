// SPDX-License-Identifier: LGPL-2.1-or-later
/* The second process of an experiment, which runs a workload at each request. */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conform/claim.h"
#include "core/lib/child.h"

struct task_request {
	char name[24];
	uint64_t n;
};

static _Noreturn void run_requests(int link, enum claim_exact exact)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)":", NULL };
	struct task_request q;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1);
	if (exact == EXACT_FAULTS)
		claim_memory_ready();
	if (send(link, "", 1, MSG_NOSIGNAL) != 1)
		_exit(0);
	while (recv(link, &q, sizeof(q), 0) == sizeof(q)) {
		if (!strcmp(q.name, "exec"))
			execve(CLAIM_PROGRAM, argv, (char *[]){ NULL });
		if (!strcmp(q.name, "exit"))
			break;
		/* an empty answer reports an unknown workload */
		if (send(link, "", claim_workload(q.name, q.n) ? 1 : 0, MSG_NOSIGNAL) != 1)
			break;
	}
	_exit(0);
}

/* Wait until the process is ready.  The fork made our own pages shared. */
static void await_task(struct claim_run *run)
{
	char c;

	if (recv(run->task_link, &c, 1, 0) == 1 && run->exact == EXACT_FAULTS)
		claim_memory_ready();
}

pid_t claim_task_pid(struct claim_run *run)
{
	int ends[2];

	if (run->task)
		return run->task > 0 ? run->task : 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return 0;
	run->task = fork();
	if (!run->task) {
		close(ends[0]);
		run_requests(ends[1], run->exact);
	}
	close(ends[1]);
	run->task_link = ends[0];
	await_task(run);
	return run->task > 0 ? run->task : 0;
}

static void wait_for_task(struct claim_run *run)
{
	child_wait(run->task);
	run->task = -1;
}

enum step_result claim_task_work(struct claim_run *run, const char *name, uint64_t n)
{
	struct task_request q = { .n = n };
	struct buf note = { 0 };
	char c;

	snprintf(q.name, sizeof(q.name), "%s", name);
	if (!claim_task_pid(run))
		return claim_untried(run, "cannot start a second process");
	buf_adds(&note, "the second process: ");
	claim_workload_note(name, n, &note);
	if (!strcmp(name, "exec") || !strcmp(name, "exit"))
		buf_adds(&note, name);
	claim_trace_note(run->trace, note.data);
	buf_free(&note);
	if (send(run->task_link, &q, sizeof(q), MSG_NOSIGNAL) != sizeof(q))
		return claim_untried(run, "the second process has ended");
	if (strcmp(name, "exec") && strcmp(name, "exit"))
		return recv(run->task_link, &c, 1, 0) == 1 ? STEP_OK : claim_malformed(run);
	wait_for_task(run);
	return STEP_OK;
}

void claim_task_end(struct claim_run *run)
{
	if (run->task <= 0)
		return;
	kill(run->task, SIGKILL);
	wait_for_task(run);
}
