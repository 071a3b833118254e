/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BPF programs where tasks are created, exec and end, and where signals are sent, for calls.bpf.c,
 * which includes this after the functions for messages.
 *
 * Kernel: include/trace/events/{sched,signal}.h.
 */
#pragma once

/* of signal_struct.flags, the second to Linux 5.16 */
enum { SIGNAL_GROUP_EXIT = 4, SIGNAL_GROUP_COREDUMP = 8 };

/* of signals, and 32-bit words of struct siginfo */
enum { SIGKILL = 9, SI_KERNEL = 0x80, TRACE_SIGNAL_DELIVERED = 0, TRACE_SIGNAL_IGNORED = 1 };
enum { SIGINFO_CODE = 2, SIGINFO_PID = 4, SIGINFO_UID = 5 };

/* Return whether the reader knows the current task: it holds an event, or a call was reported. */
static __always_inline bool is_reported(const struct calls_running *r, __u32 pid)
{
	return (r && r->told) || holder(pid) != 0;
}

/* A task that the current one, from, creates. */
struct created {
	struct ids from, to;
	__u32 tgid;		/* in the initial namespace */
	__u64 own_files, own_memory; /* 0: shared; numbers, as the verifier follows each branch */
	bool silent;		/* followed only */
};

/* Return whether what a task creates is followed. */
static __always_inline bool is_creator(struct ids from)
{
	return followed(from.pid, from.tid) && (!calls_setup.every_task || holder(from.pid));
}

static __always_inline void task_created(const struct created *c)
{
	struct calls_message *m;
	struct note note = { 0 };
	__u8 one = 1;

	if (!calls_setup.every_task && bpf_map_update_elem(&calls_tasks, &c->to.tid, &one, BPF_ANY))
		__sync_fetch_and_add(&calls_state.lost.untracked, 1);
	if (holder(c->from.pid)) /* ring buffers are not copied */
		now_holds(c->tgid, c->to.pid, c->own_memory ? CALLS_KNOWN : CALLS_SHARED);
	if (c->silent)
		return;
	m = message_of_task(&note, CALLS_FORKED, c->to.pid, c->to.tid);
	m->other = c->from.tid;
	bpf_get_current_comm(m->comm, sizeof(m->comm));
	m->shares_files = !c->own_files;
	m->shares_memory = !c->own_memory;
	message_send_task(m);
}

SEC("raw_tp/sched_process_fork")
int BPF_PROG(calls_forked, struct task_struct *parent, struct task_struct *child)
{
	struct created c = { .from = task_ids(parent), .to = task_ids(child) };

	if (!is_creator(c.from))
		return 0;
	c.tgid = BPF_CORE_READ(child, tgid);
	c.own_files = (__u64)BPF_CORE_READ(parent, files) ^ (__u64)BPF_CORE_READ(child, files);
	c.own_memory = (__u64)BPF_CORE_READ(parent, mm) ^ (__u64)BPF_CORE_READ(child, mm);
	task_created(&c);
	return 0;
}

/*
 * The same through a perf event, which has the child's id in the initial namespace only.  Threads
 * of the kernel for io_uring, which never return to user space, come here as well: untraced ones.
 */
SEC("tp/task/task_newtask")
int calls_created(const struct calls_newtask *ctx)
{
	struct ids from = task_ids((struct task_struct *)bpf_get_current_task_btf());
	__u64 flags = ctx->clone_flags;
	__u32 tid = ctx->pid, pid = flags & CLONE_THREAD ? from.pid : tid;
	const struct created c = {
		.from = from, .to = { pid, tid }, .tgid = pid,
		.own_files = ~flags & CLONE_FILES, .own_memory = ~flags & CLONE_VM,
		.silent = flags & CLONE_THREAD && flags & CLONE_UNTRACED,
	};

	if (is_creator(from))
		task_created(&c);
	return 0;
}

SEC("raw_tp/sched_process_exec")
int BPF_PROG(calls_execed, struct task_struct *self, int former, struct linux_binprm *program)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	struct calls_running *r = running_now(task);
	struct ids ids = task_ids(task);
	/* the former id in a namespace is known from the call */
	__u32 old = !calls_setup.pid_ns ? former : r ? r->tid : ids.tid;
	struct exec_note note = { 0 };
	struct calls_message *m;
	__u8 one = 1;
	long n;

	if (!followed(ids.pid, old))
		return 0;
	if (r)
		r->tid = ids.tid;
	if (calls_setup.every_task && !is_reported(r, ids.pid))
		return 0;
	if (!calls_setup.every_task)
		bpf_map_update_elem(&calls_tasks, &ids.tid, &one, BPF_ANY);
	if (old != ids.tid)
		bpf_map_delete_elem(&calls_tasks, &old);
	m = message_of_task(&note, CALLS_EXECED, ids.pid, ids.tid);
	m->other = old;
	m->ret = BPF_CORE_READ(program, file, f_inode, i_ino);
	n = bpf_probe_read_kernel_str(m->bytes, PATH_BYTES, BPF_CORE_READ(program, interp));
	m->used = n > 0 && n < PATH_BYTES ? n : 0; /* a longer one is cut */
	bpf_get_current_comm(m->comm, sizeof(m->comm));
	message_output(m, sizeof(note));
	return 0;
}

/* Return the id of the thread whose exec ends a task, whose id that takes, or 0. */
static __always_inline __u32 superseded_by(struct task_struct *task, struct signal_struct *signal)
{
	struct task_struct *execs = 0;

	if (BPF_CORE_READ(signal, flags) & (SIGNAL_GROUP_EXIT | SIGNAL_GROUP_COREDUMP))
		return 0;
	if (bpf_core_field_exists(signal->group_exec_task))
		execs = BPF_CORE_READ(signal, group_exec_task);
	else if (bpf_core_field_exists(signal->group_exit_task))
		execs = BPF_CORE_READ(signal, group_exit_task);
	if (!execs || execs == task || BPF_CORE_READ(task, group_leader) != task)
		return 0;
	return task_ids(execs).tid;
}

SEC("raw_tp/sched_process_exit")
int BPF_PROG(calls_gone)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	struct calls_running *r = running_now(task);
	struct ids ids = task_ids(task);
	bool had = is_reported(r, ids.pid), was = followed(ids.pid, ids.tid);
	struct signal_struct *signal = BPF_CORE_READ(task, signal);
	struct calls_message *m;
	struct note note = { 0 };
	int live = 0;

	if (r && r->enter_ns)
		__sync_fetch_and_add(&calls_state.pending[r->hash & (CALLS_SLOTS - 1)], -1);
	running_end(task);
	bpf_map_delete_elem(&calls_tasks, &ids.tid);
	bpf_probe_read_kernel(&live, sizeof(live), __builtin_preserve_access_index(&signal->live));
	if (!live)
		bpf_map_delete_elem(&calls_holders, &ids.pid);
	if (!was || (calls_setup.every_task && !had))
		return 0;
	m = message_of_task(&note, CALLS_GONE, ids.pid, ids.tid);
	m->ret = BPF_CORE_READ(task, exit_code);
	m->other = superseded_by(task, signal);
	message_send_task(m);
	return 0;
}

/*
 * Report a signal.  Without information (SEND_SIG_NOINFO: 0, SEND_SIG_PRIV: 1), that is what the
 * kernel makes up: the current process or the kernel sends it.
 */
static __always_inline void signal_send(struct ids to, int sig, struct kernel_siginfo *info)
{
	struct calls_message *m;
	struct note note = { 0 };
	__u32 *words;

	m = message_of_task(&note, CALLS_SIGNALLED, to.pid, to.tid);
	words = (__u32 *)m->bytes;
	if ((__u64)info > 1) {
		if (bpf_probe_read_kernel(m->bytes, SIGINFO_BYTES, info))
			return;
	} else if (info) {
		words[SIGINFO_CODE] = SI_KERNEL;
	} else {
		words[SIGINFO_PID] = task_ids((struct task_struct *)bpf_get_current_task()).pid;
		words[SIGINFO_UID] = bpf_get_current_uid_gid();
	}
	m->nr = sig;
	m->used = SIGINFO_BYTES;
	message_send_task(m);
}

SEC("raw_tp/signal_deliver")
int BPF_PROG(calls_signalled, int sig, struct kernel_siginfo *info)
{
	struct ids ids = task_ids((struct task_struct *)bpf_get_current_task_btf());

	/* without information, it is the SIGKILL that carries out calls_generated()'s fatal one */
	if (info && followed(ids.pid, ids.tid) && holder(ids.pid))
		signal_send(ids, sig, info);
	return 0;
}

/*
 * Signals that are not delivered as such: ignored ones, and those that end a process without a
 * core dump, of which all threads get SIGKILL.  The current task may be the sender.
 */
SEC("raw_tp/signal_generate")
int BPF_PROG(calls_generated, int sig, struct kernel_siginfo *info, struct task_struct *task, int group,
	     int result)
{
	bool ends = BPF_CORE_READ(task, signal, flags) & (SIGNAL_GROUP_EXIT | SIGNAL_GROUP_COREDUMP);
	struct ids ids;

	if (sig == SIGKILL || result != (ends ? TRACE_SIGNAL_DELIVERED : TRACE_SIGNAL_IGNORED))
		return 0;
	ids = task_ids(task);
	if (holder(ids.pid) &&
	    (calls_setup.every_task || bpf_map_lookup_elem(&calls_tasks, &ids.tid)))
		signal_send(ids, sig, info);
	return 0;
}
