// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * BPF programs at the entry and exit of system calls: they report calls that concern perf
 * events, with the memory that those point to.
 *
 * Kernel: include/trace/events/syscalls.h.
 */
#include "calls_state_bpf.h"

char calls_license[] SEC("license") = "GPL";

/* Messages -------------------------------------------------------------------------------- */

enum { SIGINFO_BYTES = 48, PATH_BYTES = 240 };

/* Messages about tasks, which fit the stack: the head of struct calls_message, and bytes. */
#define NOTE_WORDS(n) ((__builtin_offsetof(struct calls_message, bytes) + (n)) / 8 + 1)

struct note {
	__u64 words[NOTE_WORDS(SIGINFO_BYTES)];
};

struct exec_note {
	__u64 words[NOTE_WORDS(PATH_BYTES)];
};

static __always_inline void message_begin(struct calls_message *m, __u32 kind, __u32 pid, __u32 tid,
					  __u64 ns)
{
	m->kind = kind;
	m->tid = tid;
	m->pid = pid;
	m->ns = m->enter_ns = ns;
	m->ret = 0;
	m->event = 0;
	m->compat = 0;
	m->other = 0;
	m->incomplete = m->shares_files = m->shares_memory = m->passes = 0;
	m->used = m->last = 0;
	m->comm[0] = 0;
}

/* Begin a message about a task that happens now. */
static __always_inline struct calls_message *message_of_task(void *note, __u32 kind, __u32 pid,
							     __u32 tid)
{
	struct calls_message *m = note;

	message_begin(m, kind, pid, tid, bpf_ktime_get_ns());
	return m;
}

enum { LOCK_TRIES = 2 };

/*
 * Send a message of len bytes; return whether that was possible.  Since Linux 6.15 the lock of
 * the buffer is refused if it is not free in time, or if waiting for it would be a deadlock
 * (kernel/bpf/rqspinlock.c); bpf_ringbuf_output() has one error for that and for a full buffer.
 */
static __always_inline bool message_output(struct calls_message *m, __u64 len)
{
	/*
	 * The reader looks by itself, and is woken up if that would be too late.  From twice
	 * that level on, each message wakes it up, which slows down whoever writes too fast.
	 */
	__u64 before = bpf_ringbuf_query(&calls_ring, BPF_RB_AVAIL_DATA), wake = calls_setup.wake;
	bool late = (before <= wake && before + len > wake) || before > 2 * wake ||
		    (calls_setup.wakes_for_tasks &&
		     (m->kind == CALLS_FORKED || m->kind == CALLS_EXECED));
	__u64 flags = late ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!bpf_ringbuf_output(&calls_ring, m, len, flags))
			return 1;
		/* if there is room for the message, its lock was refused */
		if (bpf_ringbuf_query(&calls_ring, BPF_RB_AVAIL_DATA) + RING_HEAD + len >=
		    bpf_ringbuf_query(&calls_ring, BPF_RB_RING_SIZE)) {
			__sync_fetch_and_add(&calls_state.lost.full, 1);
			__sync_fetch_and_add(&calls_state.lost.bytes,
					     RING_HEAD + ((len + 7) & ~7ULL));
			return 0;
		}
	}
	__sync_fetch_and_add(&calls_state.lost.refused, 1);
	return 0;
}

static __always_inline void message_send_task(struct calls_message *m)
{
	message_output(m, sizeof(struct note));
}

/* Members of perf_event_attr, by their offset. */
enum { ATTR_AT_SIZE = 4, ATTR_AT_CONFIG1 = 56, ATTR_DYNAMIC = 6 };
enum { ATTR_SIZE_VER0 = 64, ATTR_SIZE_VER3 = 96, ATTR_SIZE_VER5 = 112 };

/* Requests of type '$' by their number. */
enum {
	IOCTL_TYPE = '$', IOCTL_PERIOD = 4, IOCTL_SET_FILTER = 6, IOCTL_ID = 7,
	IOCTL_QUERY_BPF = 10, IOCTL_MODIFY_ATTRIBUTES = 11,
};

#include "calls_copy_bpf.h"

/* Calls ----------------------------------------------------------------------------------- */

enum {
	LINK_CREATE = 28, PERF_DISABLE = 31, PERF_ENABLE = 32, MAP_SHARED = 1, MAP_FIXED = 0x10,
	MREMAP_FIXED = 2, RANGE_UNSHARE = 2, ATTACH_SIZE_MIN = 16,
};

enum relevance { RELEVANT_NOT, RELEVANT_HELD, RELEVANT };

/* Return whether a call is reported: not, in processes that hold an event, or in all. */
static __always_inline enum relevance relevance(const struct calls_plan *plan, const __u64 *args,
						__u64 event)
{
	switch (plan->watch) {
	case CALLS_ALWAYS:
	case CALLS_RECEIVE:
		return RELEVANT;
	case CALLS_FD:
		return event ? RELEVANT : RELEVANT_NOT;
	case CALLS_IOCTLS:
		return event || ((__u32)args[1] >> 8 & 0xff) == IOCTL_TYPE ? RELEVANT :
		       RELEVANT_NOT;
	case CALLS_MAP_FD:
		if (event)
			return RELEVANT;
		return args[3] & MAP_FIXED ? RELEVANT_HELD : RELEVANT_NOT;
	case CALLS_ATTACH:
		return (__u32)args[0] == LINK_CREATE ? RELEVANT : RELEVANT_HELD;
	case CALLS_PRCTL:
		return (__u32)args[0] == PERF_DISABLE || (__u32)args[0] == PERF_ENABLE ?
		       RELEVANT : RELEVANT_NOT;
	case CALLS_FILES:
		return args[0] & CLONE_FILES ? RELEVANT : RELEVANT_HELD;
	default:
		return RELEVANT_HELD;
	}
}

/* Return event_behind() of the n files at an address. */
SHARED __u64 calls_event_in(__u64 files, __u32 n, int fd)
{
	return event_behind((struct file **)files, n, fd);
}

/*
 * Return whether an event may be among the n descriptors of a poll; files: the address of the
 * nfiles pointers of the task's table.
 */
SHARED int calls_poll_has_event(__u64 addr, __u32 n, __u64 files, __u32 nfiles)
{
	for (__u32 i = 0; i < CALLS_POLLED && i < n; i++) {
		int fd;

		if (bpf_probe_read_user(&fd, sizeof(fd), (void *)(addr + i * 8)) ||
		    calls_event_in(files, nfiles, fd))
			return 1;
	}
	return n > CALLS_POLLED;
}

/* Return whether munmap or mremap in a holder may concern a ring buffer; flags: of mremap. */
SHARED int calls_unmaps_ring(__u32 pid, __u32 watch, __u64 addr, __u64 len, __u64 flags)
{
	struct calls_holder *h = holder(pid);

	if (!h)
		return 1;
	if (!calls_state.rings_unknown && !h->rings &&
	    (addr >= h->to || (addr + len <= h->from && addr + len >= addr)))
		return watch == CALLS_REMAP && flags & MREMAP_FIXED;
	if (watch == CALLS_REMAP)
		h->rings |= CALLS_UNKNOWN; /* one may be elsewhere now */
	return 1;
}

/* Return whether the kernel may write its size into an attr: if it does not know the one there. */
static __always_inline bool attr_may_change(__u64 addr)
{
	__u32 size = 0;

	return bpf_probe_read_user(&size, sizeof(size), (void *)(addr + ATTR_AT_SIZE)) ||
	       size > bpf_core_type_size(struct perf_event_attr) || (size && size < ATTR_SIZE_VER0);
}

/* Return whether the call has to be reported when it begins. */
static __always_inline bool reported_early(const struct calls_plan *plan, const __u64 *args,
				     struct calls_running *r)
{
	if (plan->watch == CALLS_IOCTLS)
		return ((__u32)args[1] & 0xffff) == (IOCTL_TYPE << 8 | IOCTL_MODIFY_ATTRIBUTES) &&
		       attr_may_change(args[2]);
	if (!plan->early)
		return 0;
	switch (plan->watch) {
	case CALLS_RECEIVE:
		return self_holds(r);
	case CALLS_POLL: /* the third argument of poll is the time */
		return plan->memory[2] != MEMORY_NONE || (__u32)args[2];
	case CALLS_ALWAYS:
		return plan->memory[0] != MEMORY_ATTR || attr_may_change(args[0]);
	default:
		return 1;
	}
}

static __always_inline const struct calls_plan *plan_of(__u64 nr, bool compat)
{
	__u64 at = nr + (compat ? CALLS_NUMBERS : 0);
	const struct calls_plan *plan;

	KNOWN(at);
	if (nr >= CALLS_NUMBERS || at >= 2 * CALLS_NUMBERS)
		return 0;
	plan = (const struct calls_plan *)&calls_setup.plans[at];
	KNOWN(plan); /* not by its initial value, of which clang 19 makes constants */
	return plan->watch ? plan : 0;
}

/* Continue with calls_report(). */
static __always_inline void report(void *ctx, void *map, struct calls_running *r, __u32 place, __u32 kind)
{
	r->place = place;
	r->kind = kind;
	bpf_tail_call(ctx, map, 0);
	r->enter_ns = 0;
	__sync_fetch_and_add(&calls_state.lost.untracked, 1);
}

/* Return a pointer as the number that the verifier sees in what was in a map, for SHARED functions. */
static __always_inline __u64 files_number(struct calls_running *r, struct file **files)
{
	*(volatile __u64 *)&r->event = (__u64)files;
	return *(volatile __u64 *)&r->event;
}

/*
 * This and calls_exit() run at each system call of the machine, or at the functions of those
 * that may be reported.  They look up the state of a task only where that is likely.
 */
SEC("raw_tp/sys_enter")
int calls_enter(__u64 *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	struct files_struct *files = task->files;
	/* held: the process may hold an event */
	bool early, compat = is_compat(task), held = calls_setup.pid_ns ||
					      calls_state.may_hold[task->tgid & (CALLS_SLOTS - 1)];
	__u64 nr, args[CALLS_ARGS], event;
	const struct calls_plan *plan;
	enum relevance relevant;
	struct pt_regs *regs;
	struct fdtable *table;
	struct calls_running *r;
	int fd;

	if (calls_setup.hooks == CALLS_FUNCTIONS) {
		nr = syscall_nr((struct pt_regs *)bpf_task_pt_regs(task));
	} else {
		nr = ctx[1]; /* at raw tracepoints and in perf's handler alike */
		KNOWN(nr);
	}
	plan = plan_of(nr, compat);
	/* of these it is known that they are reported in processes that hold an event only */
	if (!plan || (!held && plan->watch >= CALLS_HELD && plan->watch <= CALLS_REMAP))
		return 0;
	KNOWN(files);
	table = files ? files->fdt : 0;
	if (!table)
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	get_args(regs, compat, args);
	/* the descriptor that it may be about */
	fd = plan->watch != CALLS_MAP_FD ? args[0] : held || args[3] & MAP_SHARED ? args[4] : -1;
	event = event_behind(table->fd, table->max_fds, fd);
	relevant = relevance(plan, args, event);
	if (!relevant || (relevant == RELEVANT_HELD && !held))
		return 0;
	r = running(task);
	if (!r || (relevant == RELEVANT_HELD && !self_holds(r)) ||
	    (plan->watch == CALLS_POLL &&
	     !calls_poll_has_event(args[0], args[1], files_number(r, table->fd), table->max_fds)) ||
	    ((plan->watch == CALLS_UNMAP || plan->watch == CALLS_REMAP) &&
	     !calls_unmaps_ring(r->pid, plan->watch, args[0], args[1], args[3])))
		return 0;
	if (event && plan->watch >= CALLS_FD)
		calls_self_now_holds(r, CALLS_UNKNOWN); /* it had the event before */
	if (!r->enter_ns) {
		r->hash = hash_of_self(ctx);
		__sync_fetch_and_add(&calls_state.pending[r->hash & (CALLS_SLOTS - 1)], 1);
	}
	r->enter_ns = bpf_ktime_get_ns();
	r->event = event;
	r->nr = nr;
	r->compat = compat;
	early = reported_early(plan, args, r);
	r->reported = early ? CALLS_EXIT : CALLS_WHOLE;
	if (early)
		report(ctx, &calls_enter_report, r, CALLS_AT_ENTER, CALLS_ENTER);
	return 0;
}

/* Return whether the current task is pevtrace, and learn which PID namespace that is in. */
static __always_inline bool is_pevtrace(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid *at = pid_at(pid, level);
	struct pid_namespace *ns;

	if (!calls_setup.pid_ns)
		return task->tgid == calls_setup.own_pid;
	if (!at || BPF_CORE_READ(at, nr) != calls_setup.own_pid)
		return 0;
	ns = BPF_CORE_READ(at, ns);
	if (BPF_CORE_READ(ns, ns.inum) != calls_setup.pid_ns)
		return 0;
	calls_state.pid_ns = (__u64)ns;
	calls_state.pid_level = level;
	return 1;
}

/* Learn what files of events look like from the one that pevtrace opens. */
static __always_inline void learn_fops(struct task_struct *task, long fd)
{
	struct file **files = BPF_CORE_READ(task, files, fdt, fd), *file = 0;

	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	if (file)
		calls_state.event_fops = (__u64)BPF_CORE_READ(file, f_op);
}

/*
 * Return whether a call that returned without an entry may be reported, as a seccomp filter
 * answered it.  calls_report() looks at its descriptor: here the verifier would take longer.
 */
static __always_inline bool is_answered(const struct calls_plan *plan, __s64 ret, bool fails_only)
{
	if (!plan || ret > 0 || ret < -4095)
		return 0;
	return plan->watch == CALLS_ALWAYS ? ret < 0 :
	       !fails_only && plan->watch >= CALLS_FD && plan->watch <= CALLS_PRCTL &&
	       plan->watch != CALLS_ATTACH;
}

/* A seccomp filter answers a call before its entry is reported. */
static __always_inline void set_answered(struct calls_running *r, __u32 nr, bool compat)
{
	r->nr = nr;
	r->compat = compat;
	r->event = 0;
	r->reported = CALLS_ANSWERED;
}

static __always_inline __s64 returned(__u64 *ctx)
{
	__u64 ret = 0;

	/* loads at constant offsets, which the compiler does not make one of */
	if (calls_setup.hooks == CALLS_FUNCTIONS)
		bpf_get_func_ret(ctx, &ret);
	else if (calls_setup.hooks == CALLS_EVENTS)
		asm volatile("%0 = *(u64 *)(%1 + 16)" : "=r"(ret) : "r"(ctx));
	else
		asm volatile("%0 = *(u64 *)(%1 + 8)" : "=r"(ret) : "r"(ctx));
	return ret;
}

SEC("raw_tp/sys_exit")
int calls_exit(__u64 *ctx)
{
	__u32 *in_calls = &calls_state.pending[hash_of_self(ctx)], nr;
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	bool held = calls_state.may_hold[pid & (CALLS_SLOTS - 1)], answered;
	__s64 ret = returned(ctx);
	const struct calls_plan *plan;
	struct task_struct *task;
	struct calls_running *r;

	if (!*in_calls && calls_state.event_fops && (ret > 0 || (!ret && !held)))
		return 0;
	task = (struct task_struct *)bpf_get_current_task_btf();
	nr = syscall_nr((struct pt_regs *)bpf_task_pt_regs(task));
	plan = plan_of(nr, is_compat(task));
	if (!calls_state.event_fops && plan && plan->memory[0] == MEMORY_ATTR && ret >= 0 &&
	    is_pevtrace(task))
		learn_fops(task, ret);
	answered = is_answered(plan, ret, !held || calls_setup.hooks == CALLS_FUNCTIONS);
	r = *in_calls || answered ? running(task) : 0;
	if (!r)
		return 0;
	if (r->enter_ns)
		__sync_fetch_and_add(in_calls, -1);
	if (!r->enter_ns || r->nr != nr) {
		r->enter_ns = 0;
		if (!answered)
			return 0;
		set_answered(r, nr, is_compat(task));
	}
	r->ret = ret;
	report(ctx, &calls_exit_report, r, CALLS_AT_EXIT, r->reported);
	return 0;
}

/* At the return of __seccomp_filter(): functions of calls that a filter answers do not run. */
SEC("raw_tp")
int calls_refused(__u64 *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u32 nr = syscall_nr(regs);
	__u64 result = returned(ctx);
	struct calls_running *r;

	if (calls_setup.refusal_is_false ? (__u8)result : (__s32)result != -1)
		return 0;
	r = is_answered(plan_of(nr, is_compat(task)), syscall_ret(regs), 0) ? running(task) : 0;
	if (!r)
		return 0;
	r->enter_ns = 0;
	set_answered(r, nr, is_compat(task));
	r->ret = syscall_ret(regs);
	report(ctx, &calls_exit_report, r, CALLS_AT_REFUSAL, CALLS_ANSWERED);
	return 0;
}

/* Complete the report of a return; return whether it is to be sent. */
static __always_inline bool report_return(struct calls_message *m, const struct calls_plan *plan,
					  struct calls_running *r)
{
	bool receives = plan->watch == CALLS_RECEIVE;
	struct calls_holder *h;
	__u64 control = 0;

	m->ret = r->ret;
	if (plan->memory[0] == MEMORY_ATTR && r->ret >= 0) {
		m->event = calls_event_at(r->ret);
		calls_self_now_holds(r, CALLS_KNOWN);
	}
	h = plan->watch == CALLS_MAP_FD && r->event && (r->ret > 0 || r->ret < -4095) ?
	    holder(r->pid) : 0;
	if (h) { /* learn where its ring buffers are */
		__u64 start = r->ret, end = start + m->args[1];

		if (h->rings & CALLS_SHARED)
			calls_state.rings_unknown = 1;
		__sync_fetch_and_add(&h->writers, 1);
		if (h->writers > 1)
			h->rings |= CALLS_UNKNOWN;
		if (!h->to || start < h->from)
			h->from = start;
		if (end > h->to)
			h->to = end;
		__sync_fetch_and_add(&h->writers, -1);
	}
	/* a message whose control data have a length of 0 brings no event */
	if (receives && !self_holds(r) &&
	    !bpf_probe_read_user(&control, word_size(m), (void *)(m->args[1] + 5 * word_size(m))) &&
	    !control)
		return 0;
	copy_arguments(m, plan);
	if (receives && m->passes)
		calls_self_now_holds(r, CALLS_KNOWN);
	return !receives || self_holds(r);
}

/* Return whether a call that a filter answered concerns perf, and learn its event. */
static __always_inline bool answer_concerns(struct calls_message *m, const struct calls_plan *plan)
{
	if (plan->watch == CALLS_ALWAYS)
		return 1;
	m->event = calls_event_at(plan->watch == CALLS_MAP_FD ? m->args[4] : m->args[0]);
	return relevance(plan, m->args, m->event) == RELEVANT;
}

/* Report what the current task's state says. */
static __always_inline int report_now(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	struct calls_running *r = running_now(task);
	const struct calls_plan *plan;
	struct calls_message *m;
	__u32 at = bpf_get_smp_processor_id();
	__u64 len;

	if (!r)
		return 0;
	if (calls_setup.places > 1)
		at = at * CALLS_PLACES + r->place;
	m = bpf_map_lookup_elem(&calls_scratch, &at);
	plan = plan_of(r->nr, r->compat);
	if (m && plan) {
		message_begin(m, r->kind, r->pid, r->tid,
			      r->kind == CALLS_ENTER ? r->enter_ns : bpf_ktime_get_ns());
		get_args((struct pt_regs *)bpf_task_pt_regs(task), r->compat, m->args);
		m->nr = r->nr;
		m->compat = r->compat;
		m->event = r->event;
		if (r->enter_ns)
			m->enter_ns = r->enter_ns;
		if (!r->told)
			bpf_get_current_comm(m->comm, sizeof(m->comm));
		if (r->kind == CALLS_ENTER)
			copy_arguments(m, plan);
		if (r->kind == CALLS_ENTER ||
		    ((r->kind != CALLS_ANSWERED || answer_concerns(m, plan)) &&
		     report_return(m, plan, r))) {
			len = __builtin_offsetof(struct calls_message, bytes) + (__u64)m->used;
			KNOWN(len);
			if (len <= sizeof(*m) && message_output(m, len))
				r->told = 1;
		}
	}
	if (r->kind != CALLS_ENTER)
		r->enter_ns = 0;
	return 0;
}

SEC("raw_tp")
int calls_report(void *ctx)
{
	return report_now();
}

/* The same where a program of another kind continues than at the entry. */
SEC("raw_tp")
int calls_report_exit(void *ctx)
{
	return report_now();
}

#include "calls_tasks_bpf.h"
