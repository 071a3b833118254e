/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ptrace engine: launch or attach to programs, follow their children, stop them at
 * the system calls of interest, and conceal the tracer.  Of perf it knows
 * only which calls to stop at.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/abi/call.h"
#include "core/lib/program.h"

struct tracer;

/* Result of the enter hook. */
enum trace_next {
	TRACE_SKIP, /* no exit hook for this call */
	TRACE_EXIT, /* call the exit hook when it returns */
};

/* Result of close_watch: the calls at which the task must stop. */
enum trace_closeness {
	TRACE_DISTANT,	/* those of the first filter */
	TRACE_NEAR,	/* all that are not unwanted, for a short time */
	TRACE_CLOSE,	/* also WATCH_HELD calls and calls on trace_watch_fd() descriptors */
};

/*
 * Status arguments of gone() that are no wait status (those are never negative): below
 * TRACE_DETACHED, the exec of a thread, TRACE_DETACHED - its tid, ended the task.
 */
enum { TRACE_DETACHED = -1 };

static inline int trace_superseded(pid_t by)
{
	return TRACE_DETACHED - by;
}

/* A new tracee. */
struct trace_birth {
	pid_t tid, pid; /* pid: its thread group */
	pid_t parent; /* tid of the task that created it; 0: launched or attached */
	bool attached; /* it ran before the tracer attached */
	char comm[16]; /* its name, or "" if only /proc tells it */
	bool late; /* it has gone on since: /proc does not show what it had */
	bool shares_files; /* has the parent's descriptor table, not a copy */
	bool shares_memory; /* a thread or vfork child */
};

/* An exec: what /proc tells may be of a later one, or gone, unless the task is in a stop. */
struct trace_exec {
	pid_t tid;		/* of the thread group leader */
	pid_t former;		/* that the calling thread had before */
	const char *comm;	/* its new name; "": only /proc tells it */
	const char *path;	/* of the program, as the kernel was told; "": only /proc tells it */
	uint64_t inode;		/* number of its inode */
};

/*
 * Hooks, called by trace_run(), trace_launch() and trace_attach() in the order of the
 * events; only tick may be NULL.  born is the first call for every task, gone the last,
 * once each.  The task is in a ptrace stop during enter, exit, execed and signalled,
 * and during born unless it is attached.
 */
struct trace_ops {
	void (*born)(void *ctx, const struct trace_birth *b);
	/*
	 * A watched call begins: one that watch[] names, or any that is not unwanted
	 * while close_watch() asks for it.  call has desc, arch, nr, args, tid, pid and
	 * enter_ns; the hook captures memory through mem.  call is the same object
	 * until exit or gone.
	 */
	enum trace_next (*enter)(void *ctx, struct call *call,
				 const struct mem *mem);
	/* The call returned: ret, failed, exit_ns and returned are set. */
	void (*exit)(void *ctx, struct call *call, const struct mem *mem);
	/*
	 * A task ran a program by exec.  If x->tid differs from x->former, the task former is tid
	 * from now on: gone is not called for former, and was called with trace_superseded()
	 * for the former leader.  gone was called for all other threads as well.  Precedes the exit
	 * hook of the execve.
	 */
	void (*execed)(void *ctx, const struct trace_exec *x);
	/* A signal is about to be delivered. */
	void (*signalled)(void *ctx, pid_t tid, const siginfo_t *info);
	/*
	 * The task ended (status as from wait4(2)), was detached (TRACE_DETACHED), or
	 * another thread's exec took its tid (trace_superseded()).  call: the one
	 * that it was in, or NULL.
	 */
	void (*gone)(void *ctx, pid_t tid, int status, struct call *call);
	/*
	 * Called before a task is resumed.  When the result is no longer TRACE_DISTANT,
	 * it is called for all others as well, and those that need it are
	 * interrupted once to come under watch.
	 */
	enum trace_closeness (*close_watch)(void *ctx, pid_t tid);
	/*
	 * Called now and then while tasks run; no task is stopped for it.  Return the
	 * milliseconds until the next call.
	 */
	unsigned int (*tick)(void *ctx);
};

/* How a tracer is related to the program that it starts: its parent, or with -D its grandchild. */
enum trace_daemon { TRACE_PARENT, TRACE_GRANDCHILD, TRACE_OWN_GROUP, TRACE_OWN_SESSION };

struct trace_options {
	/*
	 * For every enum call_id: WATCH_HELD and WATCH_FD calls stop only under
	 * close_watch, the others from the start (enum call_watch).  Calls with
	 * unwanted[id] never stop.
	 */
	enum call_watch watch[CALL_COUNT];
	bool unwanted[CALL_COUNT];
	bool no_seccomp; /* use PTRACE_SYSCALL only */
	bool detach_on_exec; /* detach from children that exec; implies no filter */
	bool may_leave; /* trace_leave() may be called; implies no filter */
	bool kill_on_exit; /* kill attached tasks, too, where others are detached */
	struct program program; /* how a program is launched */
	enum trace_daemon daemon;
};

/*
 * Create a tracer.  opts and ops must outlive it.  Until trace_free() it blocks SIGINT,
 * SIGTERM, SIGHUP and SIGQUIT unless they are ignored, sets SIGCHLD to its default
 * action, and waits for every child of the process.  Programs are launched with
 * the signal mask, ignored signals and RLIMIT_NOFILE found here: change them
 * afterwards.
 */
struct tracer *trace_new(const struct trace_options *opts,
			 const struct trace_ops *ops, void *ctx);

/*
 * Launch argv[0], looked up in PATH, and wait until it runs.  With opts->daemon, the calling
 * process becomes the program, and the function returns in a grandchild.  Return 0, or a positive
 * errno after a warn(); then no hook was called.  The initial execve is not
 * reported.
 */
int trace_launch(struct tracer *t, char *const argv[]);

/*
 * Attach to all threads of a process; return 0, or a positive errno after a warn().
 * born is called for each thread, the leader first.
 */
int trace_attach(struct tracer *t, pid_t pid);

/*
 * Trace until no task is left or a signal ends it.
 *
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT sent by kill(2) are forwarded to the launched
 * program, which is traced to its end; the third within two seconds kills it.  Those
 * of a terminal reach the program directly.  After its end, the second such signal
 * kills the tasks that it left behind, as their filter requires a tracer.
 * Attached tasks are detached at the first signal.  A launched program is killed when
 * the tracer dies (PTRACE_O_EXITKILL).
 *
 * Return the wait status of the launched program, or 0.
 */
int trace_run(struct tracer *t);

/* Detach from every task, or kill those that have a filter, so that trace_run() ends. */
void trace_leave(struct tracer *t);

/* Call close_watch() for all tasks: its result may have changed for others than the current. */
void trace_recheck(struct tracer *t);

/*
 * Stop at calls on this descriptor (WATCH_FD, ioctl, mmap) in every process under
 * TRACE_CLOSE.  Call it in the exit hook of the call that created it, or in born.
 */
void trace_watch_fd(struct tracer *t, int fd);

/* Do nothing: a handler of signals that only interrupt a system call. */
void signal_interrupts(int sig);

/* One frame of a stack; module and symbol may be NULL. */
struct trace_frame {
	const char *module, *symbol;
	uint64_t ip, offset;		/* offset: into the symbol, or else the module */
	uint64_t start, end, pgoff;	/* where the module is mapped, and from which byte on */
	bool after_call;		/* the frame's instruction is the one before ip */
};

/*
 * Walk the user stack of a task in a ptrace stop, innermost frame first.  named: with the
 * nearest symbols before the addresses, by libunwind, which is slow.  Return NULL, or a
 * text that says why the stack is missing or incomplete.
 */
const char *trace_stack(struct tracer *t, pid_t tid, bool named,
			void (*frame)(void *ctx, const struct trace_frame *f),
			void *ctx);

/*
 * Detach from all tasks (kill those that have a filter), restore signal mask and
 * actions, and free the tracer.  Only the next SIGINT, SIGTERM, SIGHUP and SIGQUIT,
 * once each, do nothing but interrupt a system call, so that output can be completed.
 */
void trace_free(struct tracer *t);
