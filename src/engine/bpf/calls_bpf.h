/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the BPF programs of calls.bpf.c and the engine that loads them share; both include
 * this, after types of Linux (__u32).
 */
#pragma once

#include "core/abi/memory_bpf.h"

enum {
	CALLS_NUMBERS = 1024,	/* call numbers of one ABI; the compat ABI's follow */
	CALLS_ARGS = 6,
	CALLS_PAGE = 4096,	/* what is copied at once, at most */
	CALLS_BYTES = MEMORY_RUN + 4096, /* of one call's memory; a page more fits */
	CALLS_PASSED = 8,	/* descriptors of a message that are looked at */
	CALLS_POLLED = 4,	/* of a poll; with more, it is reported */
	CALLS_SLOTS = 4096,	/* of tables by hashes; a power of two */
};

/* When a call is reported: as enum call_watch, but in order of the work that it takes. */
enum calls_watch {
	CALLS_NEVER,
	CALLS_ALWAYS,
	CALLS_HELD,		/* in processes that hold an event */
	CALLS_POLL,		/* the same, if an event is among the descriptors */
	CALLS_UNMAP,		/* the same, if the range may touch a ring buffer */
	CALLS_REMAP,		/* the same, or if it replaces what is at an address */
	CALLS_RECEIVE,		/* in processes that hold an event, or if it receives an event */
	CALLS_FD,		/* if the first argument is a descriptor of an event */
	CALLS_IOCTLS,		/* the same, or if the request's type is '$' */
	CALLS_MAP_FD,		/* if the fifth is, or if it replaces memory of a holder */
	CALLS_ATTACH,		/* bpf(2) with BPF_LINK_CREATE, or if it holds an event */
	CALLS_PRCTL,		/* PR_TASK_PERF_EVENTS_* */
	CALLS_FILES,		/* flags have CLONE_FILES, or it holds an event */
};

struct calls_plan {
	__u8 watch;		/* enum calls_watch */
	__u8 early;		/* reported when it begins, too */
	__u8 memory[CALLS_ARGS]; /* enum arg_memory */
};

/* Attach points of the programs that see calls. */
enum calls_hooks {
	CALLS_TRACEPOINTS,	/* raw ones: sys_enter, sys_exit */
	CALLS_EVENTS,		/* these through perf events, which disable preemption */
	CALLS_FUNCTIONS,	/* functions of the kernel */
};

/* Constants of the programs. */
struct calls_setup {
	struct calls_plan plans[2 * CALLS_NUMBERS]; /* by call number */
	__u32 own_pid;		/* pevtrace, which is not reported */
	__u32 pid_ns;		/* inode of pevtrace's PID namespace; 0: the initial one */
	__u32 wake;		/* bytes in the buffer that wake its reader */
	__u8 every_task;	/* not only those in calls_tasks */
	__u8 in_cgroup;		/* of every task, those in calls_cgroup */
	__u8 hooks;		/* enum calls_hooks */
	__u8 refusal_is_false;	/* the result of __seccomp_filter(), which is -1 else */
	__u8 wakes_for_tasks;	/* births and execs wake the reader */
	__u32 places;		/* messages in preparation on each CPU: 1 or CALLS_PLACES */
};

/*
 * The programs that report calls.  Where they may be preempted (Linux 7.x), each has a message in
 * preparation; one that is does not run on that CPU a second time, which the kernel counts.
 */
enum calls_place { CALLS_AT_ENTER, CALLS_AT_EXIT, CALLS_AT_REFUSAL, CALLS_PLACES };

/* Which mappings of a process may be ring buffers. */
enum calls_rings {
	CALLS_KNOWN,		/* those between from and to */
	CALLS_UNKNOWN,		/* some may be from before */
	CALLS_SHARED,		/* another process has its memory, and may have mapped some */
};

/* A process that holds an event. */
struct calls_holder {
	__u64 from, to;		/* addresses around all ring buffers; to is 0: there are none */
	__u32 writers;		/* threads that change them at this moment */
	__u32 rings;		/* enum calls_rings */
};

/* Messages that were lost, by the reason. */
struct calls_lost {
	__u64 full;		/* the ring buffer had no room */
	__u64 bytes;		/* of these in the ring buffer */
	__u64 refused;		/* the kernel did not get the ring buffer's lock (Linux 6.15) */
	__u64 untracked;	/* a table had no room, or the state of a task no memory */
};

/* What the programs count and remember. */
struct calls_state {
	struct calls_lost lost;
	__u64 event_fops;	/* file operations of events; known once pevtrace opened one */
	__u64 pid_ns, pid_level; /* PID namespace of pevtrace and its level, likewise; 0: initial */
	__u32 rings_unknown;	/* no range of a holder is right */
	__u32 pending[CALLS_SLOTS]; /* tasks in a call that is reported, by a hash of them */
	__u8 may_hold[CALLS_SLOTS]; /* a process may hold an event, by the pid in the initial namespace */
};

enum calls_kind {
	CALLS_ENTER,		/* a call begins */
	CALLS_EXIT,		/* it returned */
	CALLS_WHOLE,		/* a call began and returned: its memory is as at the return */
	CALLS_ANSWERED,		/* the same of a call whose entry was not seen: a filter answered it */
	CALLS_FORKED, CALLS_EXECED, CALLS_GONE, CALLS_SIGNALLED,
};

/* Copied memory: the header, then len bytes, then what aligns the next one to 8. */
struct calls_block {
	__u64 addr;		/* 0: ids of the events behind descriptors of a message */
	__u64 len;
};

/* Ids of tasks are those of pevtrace's PID namespace. */
struct calls_message {
	__u32 kind, tid, pid;
	__u32 compat;		/* the call is of the 32-bit ABI */
	__u64 ns, enter_ns;	/* CLOCK_MONOTONIC */
	__u64 nr;
	__u64 args[CALLS_ARGS];
	__s64 ret;		/* a negative errno for a failure; GONE: the wait status; EXECED: inode number */
	__u64 event;		/* id of the event behind the call's descriptor, or that it opened; 0: none */
	__u32 other;		/* FORKED: the parent's tid; EXECED: the former tid; GONE: whose
				   exec took its tid, or 0 */
	__u8 incomplete;	/* memory was not resident */
	__u8 shares_files, shares_memory;
	__u8 passes;		/* an event is among the descriptors of the message */
	__u32 used;		/* of bytes[] */
	char comm[16];		/* of the task, in FORKED, EXECED and of the first call; else "" */
	__u32 last;		/* where data of the last block begin in bytes[] */
	__u8 bytes[CALLS_BYTES + 2 * CALLS_PAGE]; /* blocks; struct siginfo; path of the program */
};
