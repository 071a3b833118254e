/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What calls.bpf.c reads of the kernel: structures, declared with the members that are read,
 * whose offsets libbpf finds (CO-RE), and registers of system calls.
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
