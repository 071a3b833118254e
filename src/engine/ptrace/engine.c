// SPDX-License-Identifier: LGPL-2.1-or-later
/* Creating a tracer, and the loop that waits for its tasks. */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/wait.h>

#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "engine/ptrace/birth.h"
#include "engine/ptrace/delay.h"
#include "engine/ptrace/leave.h"
#include "engine/ptrace/own_signals.h"
#include "engine/ptrace/pulse.h"
#include "engine/ptrace/stack.h"
#include "engine/ptrace/task.h"
#include "engine/ptrace/wait_rounds.h"

enum { BURST = 256 };	/* stops between two checks for signals, delays and ticks */

struct tracer *trace_new(const struct trace_options *opts,
			 const struct trace_ops *ops, void *ctx)
{
	struct tracer *t = xcalloc(1, sizeof(*t));

	t->opts = opts;
	t->ops = ops;
	t->ctx = ctx;
	nr_build(&t->nrs, arch_native());
	/* random numbers may be unavailable early after boot */
	if (getrandom(&t->mark, sizeof(t->mark), GRND_NONBLOCK) != sizeof(t->mark))
		t->mark = FILTER_DATA;
	t->mark |= 0x8000; /* other tracers use small numbers */
	getrlimit(RLIMIT_NOFILE, &t->inherited.nofile);
	own_signals_block(t);
	pulse_start(t);
	return t;
}

static void tick(struct tracer *t)
{
	uint64_t now = clock_ns();
	unsigned int ms;

	if (!t->ops->tick || t->leaving || now < t->tick_ns)
		return;
	ms = t->ops->tick(t->ctx);
	t->tick_ns = now + ms * 1000000ULL;
	if (ms == t->tick_ms)
		return;
	t->tick_ms = ms;
	pulse_set(t);
}

static void wait_for_all(struct tracer *t)
{
	unsigned int stops = 0;

	while (t->tasks.len) {
		int status = 0;
		pid_t tid = wait4(-1, &status, __WALL, NULL);

		if (tid > 0)
			wait_rounds_handle(t, tid, status);
		else if (errno == ECHILD)
			break;
		if (tid > 0 && ++stops % BURST)
			continue;
		own_signals_handle(t);
		delay_resume(t);
		if (t->early_tasks)
			birth_adopt(t);
		stack_rest(t);
		tick(t);
	}
	/* The tasks left are no longer children: another thread waited for them. */
	leave_forget(t);
}

int trace_run(struct tracer *t)
{
	tick(t);
	wait_for_all(t);
	return t->launched_status;
}

void trace_free(struct tracer *t)
{
	if (t->tasks.len) {
		leave_start(t);
		wait_for_all(t);
	}
	stack_end(t);
	pulse_stop(t);
	own_signals_restore(t);
	map_free(&t->tasks);
	nr_free(&t->nrs);
	filter_free(&t->filter);
	free(t->rounds.late);
	free(t->ranges);
	free(t);
}
