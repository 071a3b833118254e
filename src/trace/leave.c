// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The end of tracing: signals to the tracer, and letting tasks go.
 *
 * A launched program carries a filter, and without a tracer every call in it
 * would fail (ENOSYS).  So such a program is traced to its end or killed;
 * only tasks without a filter are ever let go.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "lib/die.h"
#include "trace/signal_forward.h"
#include "trace/task.h"

static size_t count_filtered(const struct tracer *t)
{
	struct map_slot *slot;
	size_t at = 0, n = 0;

	while ((slot = map_next(&t->tasks, &at)))
		n += ((struct task *)slot->value)->filtered;
	return n;
}

static void kill_filtered(struct tracer *t)
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&t->tasks, &at))) {
		struct task *task = slot->value;

		if (task->filtered)
			kill(task->pid, SIGKILL);
	}
}

void leave_task(struct tracer *t, struct task *task, int sig)
{
	if (task->filtered) {
		kill(task->pid, SIGKILL);
		return;
	}
	/*
	 * A stopped process stays stopped: the kernel sees to that.  If this
	 * fails, the task was killed and its end will be reported.
	 */
	if (ptrace_must(PTRACE_DETACH, task->tid, 0, (uintptr_t)sig))
		task_gone(t, task, TRACE_DETACHED);
}

void leave_start(struct tracer *t)
{
	struct map_slot *slot;
	size_t at = 0;

	t->leaving = true;
	kill_filtered(t);
	while ((slot = map_next(&t->tasks, &at)))
		task_ask(slot->value);
}

void leave_forget(struct tracer *t)
{
	struct map_slot *slot;
	size_t at;

	while (at = 0, (slot = map_next(&t->tasks, &at))) {
		struct task *task = slot->value;

		if (task->early)
			task_drop(t, task);
		else
			task_gone(t, task, TRACE_DETACHED);
	}
}

/* Only what the launched program left behind is still there. */
static void leave_remains(struct tracer *t, size_t n)
{
	if (t->urges++) {
		leave_start(t);
		return;
	}
	warn("the program has ended, but left %zu task%s behind that cannot "
	     "run without the tracer; send the signal again to kill %s",
	     n, n == 1 ? "" : "s", n == 1 ? "it" : "them");
}

void leave_signal(struct tracer *t, const siginfo_t *info)
{
	size_t filtered;

	if (t->launched && !t->launched_ended && !t->leaving) {
		signal_forward_signal(t, info);
		return;
	}
	if (sigismember(&t->stops, info->si_signo) == 1)
		signal_forward_stop(t, info->si_signo);
	if (!signal_forward_is_end(info->si_signo))
		return; /* whom it was meant for is gone */
	if (t->leaving) {
		/* Some task does not stop; our own end will free it. */
		kill_filtered(t);
		leave_forget(t);
		return;
	}
	filtered = count_filtered(t);
	if (filtered)
		leave_remains(t, filtered);
	else
		leave_start(t);
}
