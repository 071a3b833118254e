// SPDX-License-Identifier: LGPL-2.1-or-later
/* Steps that run workloads and other programs, and the step that catches signals. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conform/claim.h"
#include "experiment/work.h"
#include "core/lib/child.h"

/* Set *n to the NUMBER of "work NAME [NUMBER]", by default 1. */
static bool workload_size(struct claim_run *run, uint64_t *n)
{
	*n = 1;
	return run->nwords >= 2 && (run->nwords < 3 || claim_value(run, run->words[2], n));
}

/* work NAME [NUMBER] */
enum step_result claim_step_work(struct claim_run *run)
{
	struct buf note = { 0 };
	uint64_t n;

	if (!workload_size(run, &n))
		return claim_malformed(run);
	run->outcome->measured |= run->nevents;
	claim_workload_note(run->words[1], n, &note);
	claim_trace_note(run->trace, buf_str(&note));
	buf_free(&note);
	return claim_workload(run->words[1], n) ? STEP_OK : claim_malformed(run);
}

/* task NAME [NUMBER]: the same in the second process */
enum step_result claim_step_task(struct claim_run *run)
{
	uint64_t n;

	if (!workload_size(run, &n))
		return claim_malformed(run);
	run->outcome->measured |= run->nevents;
	return claim_task_work(run, run->words[1], n);
}

/* shell "COMMAND": its result is the exit status; the command inherits our descriptors */
enum step_result claim_step_shell(struct claim_run *run)
{
	int status, error;
	pid_t pid;

	if (run->nwords != 2)
		return claim_malformed(run);
	claim_trace_note(run->trace, run->words[1] + 1);
	pid = fork();
	if (!pid) {
		execl(CLAIM_PROGRAM, "sh", "-c", run->words[1] + 1, (char *)NULL);
		_exit(127);
	}
	error = errno;
	status = child_wait(pid);
	if (status < 0)
		return claim_untried(run, "cannot run a shell: %s", strerror(error));
	return claim_check_result(run, WIFEXITED(status) ? WEXITSTATUS(status) :
				  128 + WTERMSIG(status));
}

/* Count a signal.  libc's siginfo_t may lack si_perf_data and si_perf_type, after si_addr. */
static void count_signal(int sig, siginfo_t *info, void *context)
{
	const char *perf = (const char *)&info->si_addr + sizeof(void *);
	unsigned long data;
	uint32_t type;

	(void)context;
	memcpy(&data, perf, sizeof(data));
	memcpy(&type, perf + sizeof(data), sizeof(type));
	if (!claim_signals.count++)
		claim_signals.first_code = (uint64_t)(int64_t)info->si_code;
	claim_signals.code = (uint64_t)(int64_t)info->si_code;
	claim_signals.signo = (uint64_t)sig;
	if (sig == SIGTRAP) {
		claim_signals.addr = (uintptr_t)info->si_addr;
		claim_signals.data = data;
		claim_signals.type = type;
	} else {
		claim_signals.fd = (uint64_t)(int64_t)info->si_fd;
	}
	work_trapped();
}

/* catch SIGNAL: count it from here on */
enum step_result claim_step_catch(struct claim_run *run)
{
	static const struct {
		const char *name;
		int sig;
	} all[] = { { "SIGIO", SIGIO }, { "SIGTRAP", SIGTRAP }, { "SIGUSR1", SIGUSR1 } };
	struct sigaction sa = { .sa_sigaction = count_signal,
				.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER };

	for (size_t i = 0; run->nwords == 2 && i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i].name, run->words[1])) {
			sigaction(all[i].sig, &sa, NULL);
			return STEP_OK;
		}
	return claim_malformed(run);
}
