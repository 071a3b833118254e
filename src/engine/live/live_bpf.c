// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tracing with the BPF engine. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/host/cgroup.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "engine/live/live.h"
#include "engine/rings/earlier.h"
#include "experiment/workload.h"

enum { READ_MS = 20 };	/* messages are read at least that often */

/* The run --------------------------------------------------------------------------------- */

struct run {
	struct live *live;
	struct workload work;	/* its pid is 0 without a command */
	int cgroup;		/* as in struct bpf_engine_setup */
	int signals;
	sigset_t mask;		/* from before */
	bool ended;		/* by a signal */
	struct bpf_lost lost;	/* as reported so far */
};

static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* Discard signals that came at the end; the next ones must not keep output from being written. */
static void run_unblock(struct run *r)
{
	const struct sigaction once = {
		.sa_handler = signal_interrupts, .sa_flags = (int)SA_RESETHAND
	};
	struct signalfd_siginfo info;
	struct sigaction action;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!sigaction(ends[i], NULL, &action) && action.sa_handler == SIG_DFL)
			sigaction(ends[i], &once, NULL);
	while (read(r->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
	close(r->signals);
	sigprocmask(SIG_SETMASK, &r->mask, NULL);
}

static void run_tell_lost(struct run *r)
{
	struct bpf_lost lost = bpf_engine_lost(r->live->bpf);
	uint64_t n = bpf_lost_sum(&lost) - bpf_lost_sum(&r->lost);

	if (n)
		session_feed(&r->live->session, &(struct activity){
			ACTIVITY_LOST, .lost = { clock_ns(), n },
		});
	r->lost = lost;
}

static void run_warn_lost(const struct bpf_lost *l, size_t buffer)
{
	uint64_t enough = buffer;
	char full[96] = "the buffer was full; use a larger --buffer";
	const struct {
		uint64_t n;
		const char *why;
	} losses[] = {
		{ l->full, full },
		{ l->refused, "the kernel did not get the lock of the buffer" },
		{ l->untracked, "there was no room for so many tasks" },
		{ l->skipped, "the kernel skipped programs in which a task was interrupted" },
	};

	/* at most: as if what found no room had not been read before the end */
	while (enough < buffer + l->bytes)
		enough *= 2;
	if (enough <= BPF_BUFFER_MOST)
		snprintf(full + strlen(full), sizeof(full) - strlen(full),
			 ": %llu would have sufficed", (unsigned long long)(enough >> 20));
	for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++)
		if (losses[i].n)
			warn("%llu messages of the kernel were lost, so calls are missing: %s",
			     (unsigned long long)losses[i].n, losses[i].why);
}

static void run_loop(struct run *r)
{
	struct live *l = r->live;
	/* the end of the command is seen at once if the kernel has pidfds */
	int ended = r->work.pid ? (int)syscall(SYS_pidfd_open, r->work.pid, 0) : -1;
	struct pollfd fds[3] = {
		{ .fd = bpf_engine_fd(l->bpf), .events = POLLIN },
		{ .fd = r->signals, .events = POLLIN },
		{ .fd = ended, .events = POLLIN },
	};
	unsigned int tick_ms = READ_MS;
	struct signalfd_siginfo info;
	uint64_t tick_ns = 0;
	bool goes_on;

	do {
		poll(fds, r->work.ended ? 2 : 3, (int)(tick_ms < READ_MS ? tick_ms : READ_MS));
		/* signals go to the command, unless a terminal sent them, or else end the trace */
		while (read(r->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
			if (!r->work.pid || r->work.ended)
				r->ended = true;
			else if (info.ssi_code <= 0)
				kill(r->work.pid, (int)info.ssi_signo);
		}
		/* what happened before its end is in the buffer */
		workload_reap(&r->work);
		goes_on = bpf_engine_read(l->bpf) && !l->options.all;
		workload_reap(&r->work);
		/* the command keeps it going, and tasks do without -a; -a alone ends by a signal */
		goes_on |= r->work.pid ? !r->work.ended : l->options.all;
		goes_on &= !r->ended;
		run_tell_lost(r);
		if (clock_ns() < tick_ns)
			continue;
		tick_ms = live_ops.tick(l);
		tick_ns = clock_ns() + tick_ms * 1000000ULL;
	} while (goes_on);
	bpf_engine_read(l->bpf);
	run_tell_lost(r);
	if (ended >= 0)
		close(ended);
}

/* A process that held events before. */
static void run_attach(void *ctx, pid_t pid)
{
	const struct run *r = ctx;

	if (pid != getpid() && pid != r->work.pid && !kill(pid, 0) &&
	    (r->cgroup < 0 || cgroup_has(r->cgroup, pid)))
		bpf_engine_attach(r->live->bpf, pid);
}

static int live_attach_bpf(struct live *l, pid_t pid)
{
	return bpf_engine_attach(l->bpf, pid);
}

/* Let the programs run, attach to what runs already, and start the command. */
static bool run_begin(struct run *r, const struct bpf_engine_setup *setup)
{
	static const char *const chosen[] = {
		[BPF_HOOKS_ANY] = "", [BPF_HOOKS_FUNCTIONS] = "-functions",
		[BPF_HOOKS_TRACEPOINTS] = "-tracepoints",
	};
	struct live *l = r->live;
	struct buf why = { 0 };

	l->bpf = bpf_engine_new(setup, &why);
	if (!l->bpf)
		warn("--engine=bpf%s: %s", chosen[setup->hooks], buf_str(&why));
	buf_free(&why);
	if (!l->bpf)
		return false;
	if (l->options.all)
		earlier_each_holder(l->earlier, run_attach, r);
	if (!live_attach(l, live_attach_bpf))
		return false;
	if (!l->options.argv)
		return true;
	bpf_engine_follow_child(l->bpf, r->work.pid, l->options.argv[0]);
	return workload_go(&r->work);
}

bool live_bpf_works(struct live *l, const struct trace_options *t)
{
	const struct bpf_engine_setup setup = {
		.opts = t, .ops = &live_ops, .ctx = l, .cgroup = -1, .buffer = BPF_BUFFER_DEFAULT,
	};
	struct buf why = { 0 };
	struct bpf_engine *e = bpf_engine_new(&setup, &why);
	bool works = e;

	bpf_engine_free(e);
	buf_free(&why);
	return works;
}

bool live_trace_bpf(struct live *l, const struct trace_options *t, int *status)
{
	const char *cgroup = l->options.cgroup;
	struct buf why = { 0 };
	struct run r = { .live = l, .cgroup = cgroup ? cgroup2_open(cgroup, &why) : -1 };
	struct bpf_engine_setup setup = {
		.opts = t, .ops = &live_ops, .ctx = l, .everything = l->options.all,
		.cgroup = r.cgroup, .hooks = l->options.bpf_hooks, .buffer = l->options.buffer,
		.wakes_for_tasks = l->measured,
	};
	sigset_t wanted;
	bool begun = false;

	if (cgroup && r.cgroup < 0)
		warn("--cgroup=%s: %s", cgroup, buf_str(&why));
	buf_free(&why);
	if (cgroup && r.cgroup < 0)
		return false;
	sigemptyset(&wanted);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!signal_is_ignored(ends[i]))
			sigaddset(&wanted, ends[i]);
	sigprocmask(SIG_BLOCK, &wanted, &r.mask);
	r.signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	/* forked first, the command gets none of the engine's mappings and descriptors */
	if (!l->options.argv ||
	    workload_fork(&r.work, l->options.program, l->options.argv, &r.mask))
		begun = run_begin(&r, &setup);
	if (begun) {
		run_loop(&r);
		run_warn_lost(&r.lost, setup.buffer);
	}
	workload_end(&r.work);
	*status = r.work.status;
	bpf_engine_free(l->bpf);
	l->bpf = NULL;
	if (r.cgroup >= 0)
		close(r.cgroup);
	run_unblock(&r);
	return begun;
}
