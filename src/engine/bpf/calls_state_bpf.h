/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What calls.bpf.c reads of the kernel: structures, declared with the members that are read,
 * whose offsets libbpf finds (CO-RE), and registers of system calls; and what its programs know:
 * their maps, which tasks are followed, and which hold events.
 *
 * Kernel: include/linux/{fdtable,sched,perf_event}.h, arch/ARCH/include/asm/ptrace.h.
 */
#pragma once

/* Keep the compiler from leaving out a bound that the verifier requires. */
#define KNOWN(x) asm volatile("" : "+r"(x))

/* RISC-V's JIT compiles no program that both calls functions and continues in another one. */
#if defined(TARGET_riscv64)
#define SHARED static __always_inline
#else
#define SHARED __noinline
#endif

#include "core/lib/types_bpf.h"

typedef _Bool bool;

/* of linux/bpf.h, which is not included: its types would clash */
enum {
	BPF_MAP_TYPE_HASH = 1, BPF_MAP_TYPE_ARRAY = 2, BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_CGROUP_ARRAY = 8,
	BPF_MAP_TYPE_RINGBUF = 27, BPF_MAP_TYPE_TASK_STORAGE = 29,
	BPF_F_NO_PREALLOC = 1, BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0, BPF_RB_RING_SIZE = 1, BPF_LOCAL_STORAGE_GET_F_CREATE = 1, BPF_ANY = 0,
};

enum { RING_HEAD = 8 };	/* BPF_RINGBUF_HDR_SZ */

/* of linux/sched.h */
enum {
	CLONE_VM = 0x100, CLONE_FILES = 0x400, CLONE_THREAD = 0x10000, CLONE_UNTRACED = 0x800000,
};

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "calls_bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(TARGET_x86_64)
struct pt_regs {
	unsigned long bp, bx, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
};
struct thread_info {
	__u32 status;
};
#elif defined(TARGET_aarch64)
struct user_pt_regs;
struct pt_regs {
	__u64 regs[31];
	__u64 orig_x0;
	__s32 syscallno;
};
struct thread_info {
	unsigned long flags;
};
#elif defined(TARGET_riscv64)
struct pt_regs {
	unsigned long a0, a1, a2, a3, a4, a5, a7, orig_a0;
};
struct thread_info {
	unsigned long flags;
};
#endif

#include "core/lib/pid_bpf.h"

struct file_operations;

struct perf_event {
	__u64 id;
};

struct perf_event_attr {
	__u32 size;
};

struct inode {
	unsigned long i_ino;
};

struct file {
	const struct file_operations *f_op;
	void *private_data;
	struct inode *f_inode;
};

struct linux_binprm {
	struct file *file;
	const char *interp;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct;

struct signal_struct {
	struct {
		int counter;
	} live; /* atomic_t */
	unsigned int flags;
	struct task_struct *group_exec_task, *group_exit_task; /* the latter to Linux 5.16 */
};

struct mm_struct;

struct task_struct {
	struct thread_info thread_info;
	int pid, tgid, exit_code;
	struct pid *thread_pid;
	struct task_struct *group_leader;
	struct mm_struct *mm;
	struct files_struct *files;
	struct signal_struct *signal;
};

struct kernel_siginfo;

#pragma clang attribute pop

/* The record that the handler of task:task_newtask passes to a program, as in its format. */
struct calls_newtask {
	__u64 common;
	int pid;
	char comm[16];
	__u64 clone_flags;
};

/* Registers ------------------------------------------------------------------------------- */

#if defined(TARGET_x86_64)
enum { TS_COMPAT = 2 };

static __always_inline bool is_compat(struct task_struct *task)
{
	return task->thread_info.status & TS_COMPAT;
}

static __always_inline __u64 syscall_nr(struct pt_regs *regs)
{
	return regs->orig_ax;
}

static __always_inline __s64 syscall_ret(struct pt_regs *regs)
{
	return regs->ax;
}

static __always_inline void get_args(struct pt_regs *regs, bool compat, __u64 *args)
{
	args[0] = compat ? (__u32)regs->bx : regs->di;
	args[1] = compat ? (__u32)regs->cx : regs->si;
	args[2] = regs->dx;
	args[3] = compat ? (__u32)regs->si : regs->r10;
	args[4] = compat ? (__u32)regs->di : regs->r8;
	args[5] = compat ? (__u32)regs->bp : regs->r9;
}
#elif defined(TARGET_aarch64)
enum { TIF_32BIT = 22 };

static __always_inline bool is_compat(struct task_struct *task)
{
	return task->thread_info.flags >> TIF_32BIT & 1;
}

static __always_inline __u64 syscall_nr(struct pt_regs *regs)
{
	return regs->syscallno;
}

static __always_inline __s64 syscall_ret(struct pt_regs *regs)
{
	return regs->regs[0];
}

static __always_inline void get_args(struct pt_regs *regs, bool compat, __u64 *args)
{
	args[0] = regs->orig_x0;
	args[1] = regs->regs[1];
	args[2] = regs->regs[2];
	args[3] = regs->regs[3];
	args[4] = regs->regs[4];
	args[5] = regs->regs[5];
}
#elif defined(TARGET_riscv64)
static __always_inline bool is_compat(struct task_struct *task)
{
	return 0;
}

static __always_inline __u64 syscall_nr(struct pt_regs *regs)
{
	return regs->a7;
}

static __always_inline __s64 syscall_ret(struct pt_regs *regs)
{
	return regs->a0;
}

static __always_inline void get_args(struct pt_regs *regs, bool compat, __u64 *args)
{
	args[0] = regs->orig_a0;
	args[1] = regs->a1;
	args[2] = regs->a2;
	args[3] = regs->a3;
	args[4] = regs->a4;
	args[5] = regs->a5;
}
#endif

/* State ---------------------------------------------------------------------------------- */

const volatile struct calls_setup calls_setup = { 0 };
struct calls_state calls_state;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} calls_ring SEC(".maps");

/* Messages in preparation: for each CPU one, or one for each enum calls_place. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct calls_message);
} calls_scratch SEC(".maps");

/* The type of a map of tasks or processes. */
#define HASH(key_type, value_type) \
	struct { \
		__uint(type, BPF_MAP_TYPE_HASH); \
		__uint(map_flags, BPF_F_NO_PREALLOC); \
		__uint(max_entries, 1 << 15); \
		__type(key, key_type); \
		__type(value, value_type); \
	}

/* Followed tasks, by tid. */
HASH(__u32, __u8) calls_tasks SEC(".maps");

/* Processes that hold an event, by pid. */
HASH(__u32, struct calls_holder) calls_holders SEC(".maps");

/*
 * Where programs continue at the entry and at the return of a call, so that the verifier looks
 * at that once.  Programs of one kind only may continue in one map.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} calls_enter_report SEC(".maps"), calls_exit_report SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} calls_cgroup SEC(".maps");

/* A followed task, and the call that it is in. */
struct calls_running {
	__u32 pid, tid;		/* before an exec, if it was not the leader */
	__u64 enter_ns;		/* 0: in none that is reported */
	__u64 event;
	__s64 ret;
	__u32 nr;
	__u32 kind;		/* of the message that is to be sent, enum calls_kind */
	__u32 place;		/* of the program that sends it, enum calls_place */
	__u32 hash;		/* as in calls_state.pending[] */
	bool compat;
	__u8 reported;		/* how its return is, enum calls_kind */
	bool holds;		/* its process holds an event */
	bool told;		/* a call of it was reported */
};

#if defined(TARGET_riscv64)
/*
 * By the task's address: Linux 7.x gives programs no memory for a task's storage on processors
 * that cannot exchange 16 bytes at once (kmalloc_nolock() of mm/slub.c).
 */
HASH(__u64, struct calls_running) calls_running SEC(".maps");

static __always_inline struct calls_running *running_now(struct task_struct *task)
{
	__u64 key = (__u64)task;

	return bpf_map_lookup_elem(&calls_running, &key);
}

static __always_inline struct calls_running *running_new(struct task_struct *task)
{
	struct calls_running none = { 0 };
	__u64 key = (__u64)task;

	bpf_map_update_elem(&calls_running, &key, &none, BPF_ANY);
	return bpf_map_lookup_elem(&calls_running, &key);
}

static __always_inline void running_end(struct task_struct *task)
{
	__u64 key = (__u64)task;

	bpf_map_delete_elem(&calls_running, &key);
}
#else
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct calls_running);
} calls_running SEC(".maps");

static __always_inline struct calls_running *running_now(struct task_struct *task)
{
	return bpf_task_storage_get(&calls_running, task, 0, 0);
}

static __always_inline struct calls_running *running_new(struct task_struct *task)
{
	return bpf_task_storage_get(&calls_running, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* The kernel frees it with the task. */
static __always_inline void running_end(struct task_struct *task)
{
}
#endif

/* Tasks ---------------------------------------------------------------------------------- */

/* Ids in the PID namespace of pevtrace; 0: not visible there. */
struct ids {
	__u32 pid, tid;
};

static __always_inline __u32 own_number(struct task_struct *task)
{
	return pid_in(BPF_CORE_READ(task, thread_pid), calls_state.pid_level,
		      (struct pid_namespace *)calls_state.pid_ns);
}

static __always_inline struct ids task_ids(struct task_struct *task)
{
	if (!calls_setup.pid_ns)
		return (struct ids){ BPF_CORE_READ(task, tgid), BPF_CORE_READ(task, pid) };
	if (!calls_state.pid_level)
		return (struct ids){ 0, 0 };
	return (struct ids){ own_number(BPF_CORE_READ(task, group_leader)), own_number(task) };
}

static __always_inline bool followed(__u32 pid, __u32 tid)
{
	if (!pid || pid == calls_setup.own_pid)
		return 0;
	if (calls_setup.every_task)
		return !calls_setup.in_cgroup || bpf_current_task_under_cgroup(&calls_cgroup, 0) == 1;
	return bpf_map_lookup_elem(&calls_tasks, &tid) != 0;
}

static __always_inline struct calls_holder *holder(__u32 pid)
{
	return bpf_map_lookup_elem(&calls_holders, &pid);
}

/* Note that a process holds an event; tgid: its pid in the initial namespace. */
static __always_inline void now_holds(__u32 tgid, __u32 pid, __u32 rings)
{
	struct calls_holder h = { .rings = rings };

	calls_state.may_hold[tgid & (CALLS_SLOTS - 1)] = 1;
	if (!holder(pid) && bpf_map_update_elem(&calls_holders, &pid, &h, BPF_ANY))
		__sync_fetch_and_add(&calls_state.lost.untracked, 1); /* there is no room for so many */
}

/* Return whether the current task's process holds an event, which it does until its end. */
SHARED int calls_find_holder(struct calls_running *r)
{
	if (r)
		r->holds = holder(r->pid) != 0;
	return r && r->holds;
}

static __always_inline bool self_holds(struct calls_running *r)
{
	return r->holds || calls_find_holder(r);
}

SHARED int calls_self_now_holds(struct calls_running *r, __u32 rings)
{
	if (!r || self_holds(r))
		return 0;
	now_holds(bpf_get_current_pid_tgid() >> 32, r->pid, rings);
	r->holds = 1;
	return 0;
}

/*
 * Return a hash of the current task, to count those that are in a call that is reported.  Raw
 * tracepoints of calls have the address of its registers, which a stack of 16 KiB ends with.
 */
static __always_inline __u32 hash_of_self(const __u64 *ctx)
{
	if (calls_setup.hooks == CALLS_TRACEPOINTS)
		return (ctx[0] >> 14) & (CALLS_SLOTS - 1);
	return (bpf_get_current_task() >> 6) & (CALLS_SLOTS - 1);
}

/* Return the state of the current task if it is followed; without memory for it, that is lost. */
static __always_inline struct calls_running *running(struct task_struct *task)
{
	struct calls_running *r = running_now(task);
	struct ids ids;

	if (r && !calls_setup.in_cgroup)
		return r;
	ids = task_ids(task);
	if (!followed(ids.pid, ids.tid))
		return 0;
	if (!r)
		r = running_new(task);
	if (!r) {
		__sync_fetch_and_add(&calls_state.lost.untracked, 1);
		return 0;
	}
	r->pid = ids.pid;
	r->tid = ids.tid;
	return r;
}

/* Return the id of the event behind a descriptor, of which there are n; 0: of none. */
static __always_inline __u64 event_behind(struct file **files, __u32 n, int fd)
{
	struct file *file = 0;
	struct perf_event *e;

	if (fd < 0 || (__u32)fd >= n)
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	if (!file || (__u64)BPF_CORE_READ(file, f_op) != calls_state.event_fops)
		return 0;
	e = BPF_CORE_READ(file, private_data);
	return BPF_CORE_READ(e, id);
}

/* The same of a descriptor of the current task. */
SHARED __u64 calls_event_at(int fd)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);

	return table ? event_behind(BPF_CORE_READ(table, fd), BPF_CORE_READ(table, max_fds), fd) : 0;
}
