// SPDX-License-Identifier: LGPL-2.1-or-later
/* Steps that run workloads and other programs, the second process, and the signals of both. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiment/steps_internal.h"
#include "experiment/work.h"
#include "core/lib/child.h"

enum { TASK_TIMEOUT = 60 };	/* seconds of a workload in the second process */

/* A workload with its argument, a number or a text. */
struct workload_request {
	char name[24], text[24];
	uint64_t n;
};

/* Read "work NAME [NUMBER|"TEXT"]"; the number is 1 by default. */
static bool read_request(struct steps *run, struct workload_request *q)
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

	if (!read_request(run, &q))
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

/* Signals ---------------------------------------------------------------------------- */

/* For the handler; both processes have it. */
static volatile struct step_signals *signals;

const volatile struct step_signals *steps_signals(void)
{
	return signals;
}

/* Count a signal.  libc's siginfo_t may lack si_perf_data and si_perf_type, after si_addr. */
static void count_signal(int sig, siginfo_t *info, void *context)
{
	const char *perf = (const char *)&info->si_addr + sizeof(void *);
	unsigned long data;
	uint32_t type;

	(void)context;
	if (info->si_code <= 0) /* sent by a process */
		return;
	memcpy(&data, perf, sizeof(data));
	memcpy(&type, perf + sizeof(data), sizeof(type));
	if (!signals->count++)
		signals->first_code = (uint64_t)(int64_t)info->si_code;
	signals->code = (uint64_t)(int64_t)info->si_code;
	signals->signo = (uint64_t)sig;
	if (sig == SIGTRAP) {
		signals->addr = (uintptr_t)info->si_addr;
		signals->data = data;
		signals->type = type;
	} else {
		signals->fd = (uint64_t)(int64_t)info->si_fd;
	}
	work_trapped();
}

/* Count a signal from here on.  Return false if it is none that experiments use. */
static bool catch_signal(const char *name)
{
	static const struct {
		const char *name;
		int sig;
	} all[] = { { "SIGIO", SIGIO }, { "SIGTRAP", SIGTRAP }, { "SIGUSR1", SIGUSR1 } };
	struct sigaction sa = { .sa_sigaction = count_signal,
				.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i].name, name)) {
			signals->count = 0; /* no page fault in the handler */
			sigaction(all[i].sig, &sa, NULL);
			return true;
		}
	return false;
}

/*
 * Map the memory for the counts of signals, before the second process is started, and without page
 * faults in the handler.
 */
static bool map_signals(void)
{
	void *at = signals ? (void *)signals :
		   mmap(NULL, sizeof(*signals), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (at == MAP_FAILED)
		return false;
	signals = at;
	return true;
}

/* catch SIGNAL */
enum step_result step_catch(struct steps *run)
{
	if (!map_signals())
		return steps_untried(run, "cannot allocate memory for signals");
	return run->nwords == 2 && catch_signal(run->words[1]) ? STEP_OK : steps_malformed(run);
}

/* The second process ------------------------------------------------------------------ */

/* Run a workload, or catch a signal.  Return false if it is unknown. */
static bool run_request(const struct workload_request *q)
{
	bool known;

	if (!strcmp(q->name, "catch"))
		return catch_signal(q->text);
	alarm(TASK_TIMEOUT);
	known = work_run(q->name, q->n, q->text);
	alarm(0);
	return known;
}

static _Noreturn void run_requests(int link, enum steps_exact exact)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)":", NULL };
	struct workload_request q;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1);
	if (exact == EXACT_FAULTS)
		work_memory_ready();
	if (send(link, "", 1, MSG_NOSIGNAL) != 1)
		_exit(0);
	while (recv(link, &q, sizeof(q), 0) == sizeof(q)) {
		if (!strcmp(q.name, "exec"))
			execve(WORK_PROGRAM, argv, (char *[]){ NULL });
		if (!strcmp(q.name, "exit"))
			break;
		/* an empty answer reports an unknown workload */
		if (send(link, "", run_request(&q) ? 1 : 0, MSG_NOSIGNAL) != 1)
			break;
	}
	_exit(0);
}

/* Wait until the process is ready.  The fork made our own pages shared. */
static void await_task(struct steps *run)
{
	char c;

	if (recv(run->task_link, &c, 1, 0) == 1 && run->exact == EXACT_FAULTS)
		work_memory_ready();
}

pid_t steps_task_pid(struct steps *run)
{
	int ends[2];

	if (run->task)
		return run->task > 0 ? run->task : 0;
	if (!map_signals() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
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

static void wait_for_task(struct steps *run)
{
	child_wait(run->task);
	run->task = -1;
}

/* task NAME [NUMBER|"TEXT"]: a workload in the second process; exec and exit end it */
enum step_result step_task(struct steps *run)
{
	struct workload_request q;
	struct buf note = { 0 };
	bool ends;
	char c;

	if (!read_request(run, &q))
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
	wait_for_task(run);
	return STEP_OK;
}

void steps_task_end(struct steps *run)
{
	if (run->task <= 0)
		return;
	kill(run->task, SIGKILL);
	wait_for_task(run);
	close(run->task_link);
	run->task = 0;
}
