/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ptrace engine: runs or attaches to programs, follows everything they
 * start, stops them at the calls of interest, and hides itself.  It knows
 * nothing of perf but which calls to stop at.
 */
#ifndef PEVTRACE_TRACE_TRACE_H
#define PEVTRACE_TRACE_TRACE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/call.h"

struct tracer;

/* Answer of the enter hook. */
enum trace_next {
	TRACE_SKIP, /* not interested: no stop at the exit, no exit hook */
	TRACE_EXIT, /* stop again when it returns */
};

/* Answer of close_watch: at which calls must the task stop? */
enum trace_closeness {
	TRACE_DISTANT,	/* only at those that the filter names */
	TRACE_NEAR,	/* for a while at every wanted call */
	/*
	 * From now on at WATCH_HELD calls, and at calls on one of the
	 * descriptors of trace_watch_fd().  May stop at others, too.
	 */
	TRACE_CLOSE,
};

/* What gone() is told in place of a wait status; no wait status is negative. */
enum { TRACE_DETACHED = -1, TRACE_SUPERSEDED = -2 };

/* A task that the engine has begun to follow. */
struct trace_birth {
	pid_t tid, pid; /* pid: its thread group */
	pid_t parent; /* tid of the task that made it; 0: launched or attached */
	bool attached; /* was running before us */
	bool shares_files; /* has the parent's fd table, not a copy */
	bool shares_memory; /* a thread or vfork child */
};

/*
 * Called by trace_run(), trace_launch() and trace_attach(), in the order in
 * which things happen; all but tick must be set.  born comes first for every task, gone
 * last, once each.  The task is held in a ptrace stop during enter, exit,
 * execed and signalled, and during born unless it is attached.
 */
struct trace_ops {
	void (*born)(void *ctx, const struct trace_birth *b);
	/*
	 * A watched call begins: one that watch[] names from the start, or
	 * any other wanted one while close_watch() asks for it.  call has desc,
	 * arch, nr, args, tid, pid and enter_ns; the hook captures what it
	 * wants through mem.  The call stays the same object until exit or
	 * gone.
	 */
	enum trace_next (*enter)(void *ctx, struct call *call,
				 const struct mem *mem);
	/* It returned: ret, failed, exit_ns and returned are set. */
	void (*exit)(void *ctx, struct call *call, const struct mem *mem);
	/*
	 * The program in tid's process is a new one; tid is its leader.
	 * former is the tid that the calling thread had until now: if it is
	 * another one, the task of that number goes on as tid, with no gone
	 * for former, and gone was called (TRACE_SUPERSEDED) for the leader that was.
	 * It was called for all other threads, too.  Comes before the exit hook
	 * of the execve.
	 */
	void (*execed)(void *ctx, pid_t tid, pid_t former);
	/* A signal is about to be delivered. */
	void (*signalled)(void *ctx, pid_t tid, const siginfo_t *info);
	/*
	 * The task ended (status as from wait), was detached, or another
	 * thread's exec took its place (TRACE_DETACHED, TRACE_SUPERSEDED).
	 * call: the one it was in, or NULL.
	 */
	void (*gone)(void *ctx, pid_t tid, int status, struct call *call);
	/*
	 * Asked whenever a task is to run on.  When the answer is no longer
	 * TRACE_FAR, all others are asked for as well, and those that must be
	 * watched, too, are stopped once to come under watch.
	 */
	enum trace_closeness (*close_watch)(void *ctx, pid_t tid);
	/*
	 * Comes every tick_ms or a little later while tasks run; no task is held for it.
	 * May be NULL.
	 */
	void (*tick)(void *ctx);
};

struct trace_options {
	/*
	 * For every enum call_id: WATCH_HELD and WATCH_FD calls stop only under
	 * close_watch; the others from the start, see enum call_watch.
	 * Calls with unwanted[id] never stop.
	 */
	enum call_watch watch[CALL_COUNT];
	bool unwanted[CALL_COUNT];
	bool no_seccomp; /* stop by PTRACE_SYSCALL only */
	bool detach_on_exec; /* let go of children that exec; no filter then */
	unsigned int tick_ms; /* 0: no ticks */
};

/*
 * A tracer.  opts and ops must outlive it.  Takes over SIGINT, SIGTERM, SIGHUP,
 * SIGQUIT (those that are not ignored) and SIGCHLD until trace_free(), and
 * every child of the process that ends meanwhile is waited for.  Programs are
 * launched with the signal mask, ignored signals and file limit that are found
 * here: change yours afterwards.
 */
struct tracer *trace_new(const struct trace_options *opts,
			 const struct trace_ops *ops, void *ctx);

/*
 * Starts argv[0] (looked up in PATH) under trace and waits until it runs.  0,
 * or a positive errno after a warn() that says what is wrong and what to do;
 * then no hook was called.  The execve that starts it is not reported.
 */
int trace_launch(struct tracer *t, char *const argv[]);

/*
 * Attaches to a process with all its threads; 0 or a positive errno, as above.
 * born is called for each, the leader first.
 */
int trace_attach(struct tracer *t, pid_t pid);

/*
 * Runs until no task is left or a signal ended it.
 *
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT sent by kill(2) are passed on to the
 * launched program, which is traced to its end; the third within two seconds
 * kills it.  Those of a terminal have reached it already.  Once it has ended,
 * what it left behind is killed at the second signal, as it cannot run without
 * a tracer.  Attached tasks are let go at the first signal, unharmed.  A
 * launched program dies with the tracer.
 *
 * Returns the wait status of the launched program, 0 if only attached.
 */
int trace_run(struct tracer *t);

/*
 * The answers of close_watch may have changed for other tasks than the one in
 * a hook: asks for all of them again.
 */
void trace_recheck(struct tracer *t);

/*
 * From now on, calls on that descriptor matter (mmap, ioctl, and those of
 * WATCH_FD), in whatever process is under close watch.  To be called in the exit hook of the call that made it,
 * or in born.
 */
void trace_watch_fd(struct tracer *t, int fd);

/* One frame of a stack; module and symbol may be NULL. */
struct trace_frame {
	const char *module, *symbol;
	uint64_t ip, offset; /* offset: into the symbol, or else the module */
};

/*
 * Walks the user stack of a task in a stop, innermost first.  Returns NULL,
 * or a reason in words why there is no (or no complete) stack.
 */
const char *trace_stack(struct tracer *t, pid_t tid,
			void (*frame)(void *ctx, const struct trace_frame *f),
			void *ctx);

/*
 * Lets go of everything (kills what cannot run without a tracer), gives signals
 * back as trace_new() found them, and frees.  But the next SIGINT, SIGTERM, SIGHUP
 * and SIGQUIT, once each, interrupt a call and do nothing more: what was traced can
 * be written to its end.
 */
void trace_free(struct tracer *t);

#endif
