// SPDX-License-Identifier: LGPL-2.1-or-later
/* The child that a lesson measures, and processes that run one experiment. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiment/turns.h"
#include "verbs/learn/learn.h"
#include "core/lib/child.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"

enum { TIMEOUT = 60, WARM_UPS = 2 };	/* seconds of a workload; runs before the first */

static _Noreturn void child_main(int link, void (*work)(struct lesson_child *),
				 struct lesson_child *c)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1); /* lets our parent measure us */
	while (turn_wait(link)) {
		alarm(TIMEOUT);
		work(c);
		alarm(0);
		if (!turn_pass(link))
			break;
	}
	_exit(0);
}

struct lesson_child *learn_start_child(struct learn *l, void (*work)(struct lesson_child *c),
				       unsigned int times)
{
	int ends[2];

	learn_end_child(l);
	l->child = mmap(NULL, sizeof(*l->child), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l->child == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		learn_fail(l, "cannot allocate memory for a child");
		return NULL;
	}
	l->child->times = times;
	fflush(l->text.out);
	learn_lines(l);
	l->child_pid = fork();
	if (!l->child_pid) {
		close(ends[0]);
		child_main(ends[1], work, l->child);
	}
	close(ends[1]);
	l->child_link = ends[0];
	for (int i = 0; i < WARM_UPS; i++) {
		if (l->child_pid < 0 || !learn_run_child(l)) {
			learn_fail(l, "cannot start a child");
			return NULL;
		}
	}
	return l->child;
}

bool learn_run_child(struct learn *l)
{
	return (turn_pass(l->child_link) && turn_wait(l->child_link)) ||
	       learn_fail(l, "the measured child has ended");
}

bool learn_run_counted(struct learn *l, int fd, uint64_t flags)
{
	bool worked;

	learn_ioctl(l, fd, PERF_EVENT_IOC_ENABLE, flags);
	worked = learn_run_child(l);
	learn_ioctl(l, fd, PERF_EVENT_IOC_DISABLE, flags);
	return worked;
}

void learn_end_child(struct learn *l)
{
	if (l->child_pid <= 0)
		return;
	close(l->child_link);
	child_wait(l->child_pid);
	munmap(l->child, sizeof(*l->child));
	l->child_pid = 0;
}

/* Write the values as "NAME\0TEXT\0", and the reason of a failure. */
static void send_values(const struct learn *l, FILE *to)
{
	for (size_t i = 0; i < l->nvalues; i++)
		fprintf(to, "%s%c%s%c", l->values[i].name, '\0', l->values[i].text, '\0');
	fputs(buf_str(&l->why), to);
	fputc('\0', to);
	fflush(to);
}

static void receive_values(struct learn *l, FILE *from)
{
	char *name = NULL, *text = NULL;
	size_t n = 0, t = 0;

	while (getdelim(&name, &n, '\0', from) > 0 && getdelim(&text, &t, '\0', from) > 0)
		learn_set(l, name, "%s", text);
	if (name && *name && feof(from))
		learn_fail(l, "%s", name);
	free(name);
	free(text);
}

bool learn_in_process(struct learn *l, bool (*fn)(struct learn *l))
{
	FILE *values = tmpfile();
	int status;
	bool ok;
	pid_t pid;

	fflush(l->text.out);
	learn_lines(l);
	pid = values ? fork() : -1;
	if (!pid) {
		alarm(TIMEOUT);
		l->own_session.options.text.pid_never = false;
		session_born(&l->own_session.session, &(const struct birth){
			.tid = getpid(), .pid = getpid(), .parent = getppid(),
		}, clock_ns());
		ok = fn(l);
		output_flush(l->own_session.views.text);
		send_values(l, values);
		_exit(!ok);
	}
	status = child_wait(pid);
	if (values) {
		rewind(values);
		receive_values(l, values);
		fclose(values);
	}
	if (status < 0 || !WIFEXITED(status))
		return learn_fail(l, "the child process failed");
	return !WEXITSTATUS(status);
}
