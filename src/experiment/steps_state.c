// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the steps of an experiment share: outcome, events, variables, and a second process. */
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "core/abi/strings.h"
#include "core/lib/program.h"
#include "experiment/steps_internal.h"

enum { TASK_TIMEOUT = 60 };	/* seconds of a workload in the second process */

/* State ------------------------------------------------------------------------------- */

void steps_note(struct steps *run, const char *text)
{
	if (run->note)
		run->note(run, text);
}

enum step_result steps_untried(struct steps *run, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(run->outcome->reason, sizeof(run->outcome->reason), fmt, ap);
	va_end(ap);
	return STEP_UNTRIED;
}

enum step_result steps_malformed(struct steps *run)
{
	if (*run->outcome->reason)
		return STEP_UNTRIED;
	return steps_untried(run, "malformed step: %s", run->step);
}

enum step_result steps_false(struct steps *run, const char *expected, const char *fmt, ...)
{
	va_list ap;

	snprintf(run->outcome->expected, sizeof(run->outcome->expected), "%s", expected);
	va_start(ap, fmt);
	vsnprintf(run->outcome->seen, sizeof(run->outcome->seen), fmt, ap);
	va_end(ap);
	return STEP_FALSE;
}

struct step_event *steps_event(struct steps *run, const char *name)
{
	for (size_t i = 0; i < run->nevents; i++)
		if (!strcmp(run->events[i].name, name))
			return &run->events[i];
	return NULL;
}

void steps_set_var(struct steps *run, const char *name, uint64_t v)
{
	size_t i = 0;

	while (i < run->nvars && strcmp(run->vars[i].name, name))
		i++;
	if (i == STEPS_VARS)
		return;
	if (i == run->nvars)
		run->nvars++;
	snprintf(run->vars[i].name, STEPS_NAME, "%s", name);
	run->vars[i].value = v;
}

const struct record_value *record_values_find(const struct record_values *f, const char *path)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->list[i].path, path))
			return &f->list[i];
	return NULL;
}

void record_values_free(struct record_values *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->list[i].path);
		free(f->list[i].text);
	}
	free(f->list);
	*f = (struct record_values){ 0 };
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

bool steps_catch(const char *name)
{
	int sig = signal_by_name(name);
	struct sigaction sa = { .sa_sigaction = count_signal,
				.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER };

	if (sig != SIGIO && sig != SIGTRAP && sig != SIGUSR1)
		return false;
	signals->count = 0; /* no page fault in the handler */
	sigaction(sig, &sa, NULL);
	return true;
}

bool steps_map_signals(void)
{
	void *at = signals ? (void *)signals :
		   mmap(NULL, sizeof(*signals), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (at == MAP_FAILED)
		return false;
	signals = at;
	return true;
}

/* The second process ------------------------------------------------------------------ */

static _Noreturn void run_requests(int link, enum steps_exact exact)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)":", NULL };
	struct workload_request q;
	bool known;

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
		alarm(TASK_TIMEOUT);
		known = !strcmp(q.name, "catch") ? steps_catch(q.text) :
			work_run(q.name, q.n, q.text);
		alarm(0);
		/* an empty answer reports an unknown workload */
		if (send(link, "", known ? 1 : 0, MSG_NOSIGNAL) != 1)
			break;
	}
	_exit(0);
}

pid_t steps_task_pid(struct steps *run)
{
	int ends[2];
	char c;

	if (run->task)
		return run->task > 0 ? run->task : 0;
	if (!steps_map_signals() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return 0;
	run->task = fork();
	if (!run->task) {
		close(ends[0]);
		run_requests(ends[1], run->exact);
	}
	close(ends[1]);
	run->task_link = ends[0];
	/* when it is ready; the fork made our own pages shared */
	if (recv(run->task_link, &c, 1, 0) == 1 && run->exact == EXACT_FAULTS)
		work_memory_ready();
	return run->task > 0 ? run->task : 0;
}

void steps_task_wait(struct steps *run)
{
	child_wait(run->task);
	run->task = -1;
}

void steps_task_end(struct steps *run)
{
	if (run->task <= 0)
		return;
	kill(run->task, SIGKILL);
	steps_task_wait(run);
	close(run->task_link);
	run->task = 0;
}
