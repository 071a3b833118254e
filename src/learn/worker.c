// SPDX-License-Identifier: LGPL-2.1-or-later
/* Children of a lesson: one to be measured, and one to do things apart. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drive/turns.h"
#include "learn/learn.h"
#include "lib/die.h"

/* Seconds that work may take; a reader may take longer. */
enum { PATIENCE = 60, WARMING = 2 };

static _Noreturn void be_worker(int link, void (*work)(struct child_task *), struct child_task *chore)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1); /* so that our parent may measure us */
	while (turn_wait(link)) {
		alarm(PATIENCE);
		work(chore);
		alarm(0);
		if (!turn_pass(link))
			break;
	}
	_exit(0);
}

struct child_task *learn_worker(struct learn *l, void (*work)(struct child_task *c),
			   unsigned int times)
{
	int ends[2];

	learn_end_worker(l);
	l->chore = mmap(NULL, sizeof(*l->chore), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l->chore == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		learn_fail(l, "there is no memory for a child");
		return NULL;
	}
	l->chore->times = times;
	fflush(l->tell.out);
	learn_lines(l);
	l->task = fork();
	if (!l->task) {
		close(ends[0]);
		be_worker(ends[1], work, l->chore);
	}
	close(ends[1]);
	l->link = ends[0];
	/* what it touches for the first time is not to be counted */
	for (int i = 0; i < WARMING; i++) {
		if (l->task < 0 || !learn_work(l)) {
			learn_fail(l, "there could be no child to be measured");
			return NULL;
		}
	}
	return l->chore;
}

bool learn_work(struct learn *l)
{
	return (turn_pass(l->link) && turn_wait(l->link)) ||
	       learn_fail(l, "the child that is measured has ended");
}

bool learn_work_counted(struct learn *l, int fd, uint64_t flags)
{
	bool worked;

	learn_ioctl(l, fd, PERF_EVENT_IOC_ENABLE, flags);
	worked = learn_work(l);
	learn_ioctl(l, fd, PERF_EVENT_IOC_DISABLE, flags);
	return worked;
}

void learn_end_worker(struct learn *l)
{
	if (l->task <= 0)
		return;
	close(l->link);
	while (waitpid(l->task, NULL, 0) < 0 && errno == EINTR)
		;
	munmap(l->chore, sizeof(*l->chore));
	l->task = 0;
}

/* Values come back as "NAME\0TEXT\0". */
static void send_values(const struct learn *l, FILE *to)
{
	for (size_t i = 0; i < l->nvalues; i++)
		fprintf(to, "%s%c%s%c", l->values[i].name, '\0', l->values[i].text, '\0');
	fputs(buf_str(&l->why), to);
	fputc('\0', to);
	fflush(to);
}

static void take_values(struct learn *l, FILE *from)
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

bool learn_apart(struct learn *l, bool (*fn)(struct learn *l))
{
	FILE *told = tmpfile();
	int status = 0;
	bool ok;
	pid_t pid;

	fflush(l->tell.out);
	learn_lines(l);
	pid = told ? fork() : -1;
	if (!pid) {
		alarm(PATIENCE);
		l->own_session.options.text.pid_never = false;
		session_born(&l->own_session.session, &(const struct birth){
			.tid = getpid(), .pid = getpid(), .parent = getppid(),
		}, session_now());
		ok = fn(l);
		output_flush(l->own_session.session.text);
		send_values(l, told);
		_exit(!ok);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (told) {
		rewind(told);
		take_values(l, told);
		fclose(told);
	}
	if (pid < 0 || !WIFEXITED(status))
		return learn_fail(l, "there could be no child of ours");
	return !WEXITSTATUS(status);
}
