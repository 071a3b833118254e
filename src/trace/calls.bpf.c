// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * BPF programs at the entry and exit of system calls, and where tasks are created, exec and
 * end: they report calls that concern perf events, with the memory that those point to.
 * Structures of the kernel are declared with the members that are read; libbpf finds their
 * offsets (CO-RE).
 *
 * Kernel: include/trace/events/{syscalls,sched,signal}.h, include/linux/fdtable.h.
 */
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32, __wsum;
typedef _Bool bool;

/* of linux/bpf.h, which is not included: its types would clash */
enum {
	BPF_MAP_TYPE_HASH = 1, BPF_MAP_TYPE_ARRAY = 2, BPF_MAP_TYPE_CGROUP_ARRAY = 8,
	BPF_MAP_TYPE_RINGBUF = 27, BPF_MAP_TYPE_TASK_STORAGE = 29,
	BPF_F_NO_PREALLOC = 1, BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0, BPF_LOCAL_STORAGE_GET_F_CREATE = 1, BPF_ANY = 0,
};

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "calls_bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(TARGET_x86_64)
struct pt_regs {
	unsigned long bp, bx, r10, r9, r8, cx, dx, si, di, orig_ax;
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
	unsigned long a1, a2, a3, a4, a5, a7, orig_a0;
};
struct thread_info {
	unsigned long flags;
};
#endif

#include "lib/pid_bpf.h"

struct file_operations;

struct number { /* atomic_t */
	int counter;
};

struct perf_event {
	__u64 id;
};

struct file {
	const struct file_operations *f_op;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct signal_struct {
	struct number live;
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

char calls_license[] SEC("license") = "GPL";

const volatile struct calls_setup calls_setup = { 0 };
struct calls_state calls_state;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} calls_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2 * CALLS_NUMBERS);
	__type(key, __u32);
	__type(value, struct calls_plan);
} calls_plans SEC(".maps");

/* A message in preparation for each CPU: programs at tracepoints are not preempted. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct calls_message);
} calls_scratch SEC(".maps");

/* Followed tasks, by tid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 17);
	__type(key, __u32);
	__type(value, __u8);
} calls_tasks SEC(".maps");

/* Processes that hold an event, by pid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 17);
	__type(key, __u32);
	__type(value, __u8);
} calls_holders SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} calls_cgroup SEC(".maps");

/* A followed task, and the call that it is in. */
struct running {
	__u32 pid, tid;		/* before an exec, if it was not the leader */
	__u64 enter_ns;		/* 0: in none */
	__u64 event;
	bool reported;		/* at its beginning, too */
	bool holds;		/* its process holds an event */
	bool told;		/* a call of it was reported */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct running);
} calls_running SEC(".maps");

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
		return (struct ids){ task->tgid, task->pid };
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

static __always_inline bool is_holder(__u32 pid)
{
	return bpf_map_lookup_elem(&calls_holders, &pid) != 0;
}

static __always_inline void now_holds(__u32 pid)
{
	__u8 one = 1;

	if (!is_holder(pid) && bpf_map_update_elem(&calls_holders, &pid, &one, BPF_ANY))
		__sync_fetch_and_add(&calls_state.lost, 1); /* there is no room for so many */
}

/* The same of the current task: a process holds until its end. */
static __always_inline bool self_holds(struct running *r)
{
	if (!r->holds)
		r->holds = is_holder(r->pid);
	return r->holds;
}

static __always_inline void self_now_holds(struct running *r)
{
	if (!self_holds(r)) {
		now_holds(r->pid);
		r->holds = 1;
	}
}

/* Return the state of the current task if it is followed; without memory for it, that is lost. */
static __always_inline struct running *running(struct task_struct *task)
{
	struct running *r = bpf_task_storage_get(&calls_running, task, 0, 0);
	struct ids ids;

	if (r && !calls_setup.in_cgroup)
		return r;
	ids = task_ids(task);
	if (!followed(ids.pid, ids.tid))
		return 0;
	if (!r)
		r = bpf_task_storage_get(&calls_running, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!r) {
		__sync_fetch_and_add(&calls_state.lost, 1);
		return 0;
	}
	r->pid = ids.pid;
	r->tid = ids.tid;
	return r;
}

/*
 * Return the id of the event behind a descriptor of the current task; 0: of none.  Not inlined:
 * for each load of a pointer the verifier searches all types of the kernel.
 */
__noinline __u64 calls_event_at(int fd)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	struct files_struct *held = task->files;
	struct fdtable *table;
	struct file **files, *file = 0;
	struct perf_event *e;

	if (!held || fd < 0)
		return 0;
	table = held->fdt;
	if ((__u32)fd >= table->max_fds)
		return 0;
	files = table->fd;
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	if (!file || (__u64)BPF_CORE_READ(file, f_op) != calls_state.event_fops)
		return 0;
	e = BPF_CORE_READ(file, private_data);
	return BPF_CORE_READ(e, id);
}

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

/* Keep the compiler from leaving out a bound that the verifier requires. */
#define KNOWN(x) asm volatile("" : "+r"(x))

/* Messages -------------------------------------------------------------------------------- */

static __always_inline struct calls_message *message(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&calls_scratch, &cpu);
}

static __always_inline struct calls_message *message_new(__u32 kind, __u32 pid, __u32 tid)
{
	struct calls_message *m = message();

	if (!m)
		return 0;
	m->kind = kind;
	m->tid = tid;
	m->pid = pid;
	m->ns = bpf_ktime_get_ns();
	m->enter_ns = m->ns;
	m->ret = 0;
	m->event = 0;
	m->compat = 0;
	m->other = 0;
	m->incomplete = m->shares_files = m->shares_memory = m->passes = 0;
	m->used = m->last = 0;
	m->comm[0] = 0;
	return m;
}

static __always_inline void message_send(struct calls_message *m)
{
	/* a reader looks by itself, and is woken up if that would be too late */
	__u64 flags = bpf_ringbuf_query(&calls_ring, BPF_RB_AVAIL_DATA) > calls_setup.wake ?
		      BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
	__u32 used = m->used;

	if (used > CALLS_BYTES + 2 * CALLS_PAGE)
		return;
	if (bpf_ringbuf_output(&calls_ring, m, __builtin_offsetof(struct calls_message, bytes) + used,
			       flags))
		__sync_fetch_and_add(&calls_state.lost, 1);
}

/* Begin a block; return where its data are in bytes[], or a number beyond CALLS_BYTES. */
static __always_inline __u64 copy_begin(struct calls_message *m)
{
	__u64 at = (__u64)m->used + sizeof(struct calls_block);

	m->last = at;
	return at;
}

static __always_inline void copy_end(struct calls_message *m, __u64 addr, __u64 len)
{
	__u64 at = (__u64)m->last - sizeof(struct calls_block);
	struct calls_block *b;

	if (!len || at > CALLS_BYTES)
		return;
	b = (struct calls_block *)(m->bytes + at);
	b->addr = addr;
	b->len = len;
	m->used = (m->last + len + 7) & ~7U;
}

/*
 * Copy memory of the task, page by page up to one that is missing.  The verifier looks at
 * each of these functions once, as they are not static.
 */
__noinline int calls_copy(__u64 addr, __u64 want)
{
	struct calls_message *m = message();
	__u64 at, got = 0;

	if (!m || !addr || want > (1 << 30))
		return 0;
	at = copy_begin(m);
	for (int i = 0; i < CALLS_BYTES / CALLS_PAGE + 1 && got < want; i++) {
		__u64 len = CALLS_PAGE - ((addr + got) & (CALLS_PAGE - 1));

		if (len > want - got)
			len = want - got;
		KNOWN(len);
		KNOWN(at);
		if (at >= CALLS_BYTES || len > CALLS_PAGE)
			break;
		if (bpf_probe_read_user(m->bytes + at, len, (void *)(addr + got))) {
			m->incomplete = 1;
			break;
		}
		got += len;
		at += len;
	}
	copy_end(m, addr, got);
	return got;
}

__noinline int calls_copy_string(__u64 addr)
{
	struct calls_message *m = message();
	__u64 at;
	long n;

	if (!m || !addr)
		return 0;
	at = copy_begin(m);
	KNOWN(at);
	if (at >= CALLS_BYTES)
		return 0;
	n = bpf_probe_read_user_str(m->bytes + at, CALLS_PAGE, (void *)addr);
	if (n <= 0) {
		m->incomplete = 1;
		return 0;
	}
	if (n > CALLS_PAGE)
		return 0;
	copy_end(m, addr, n);
	return 0;
}

/* Return the word at an offset of what was last copied; 0 if it was not. */
static __always_inline __u64 last_word(const struct calls_message *m, __u32 at, __u32 size)
{
	__u64 from = (__u64)m->last + at;
	__u64 word = 0;

	if (from > CALLS_BYTES || from + size > m->used)
		return 0;
	bpf_probe_read_kernel(&word, size == 4 ? 4 : 8, m->bytes + from);
	return word;
}

/* Members of perf_event_attr, by their offset. */
enum { ATTR_AT_SIZE = 4, ATTR_AT_CONFIG1 = 56, ATTR_SIZE_VER0 = 64, ATTR_DYNAMIC = 6 };

static __always_inline void copy_attr(struct calls_message *m, __u64 addr)
{
	__u32 head[2] = { 0 };
	__u64 path;

	if (bpf_probe_read_user(head, sizeof(head), (void *)addr))
		m->incomplete = 1;
	if (!head[1])
		head[1] = ATTR_SIZE_VER0;
	calls_copy(addr, head[1] < 8 ? 8 : head[1] > CALLS_PAGE ? 256 : head[1]);
	path = last_word(m, ATTR_AT_CONFIG1, 8);
	if (head[0] >= ATTR_DYNAMIC && path)
		calls_copy_string(path);
}

/* Requests of type '$' by their number. */
enum {
	IOCTL_TYPE = '$', IOCTL_PERIOD = 4, IOCTL_SET_FILTER = 6, IOCTL_ID = 7,
	IOCTL_QUERY_BPF = 10, IOCTL_MODIFY_ATTRIBUTES = 11, IOCTL_IDS_MAX = 1024,
};

static __always_inline void copy_ioctl(struct calls_message *m, __u32 request, __u64 arg)
{
	__u32 ids;

	if ((request >> 8 & 0xff) != IOCTL_TYPE)
		return;
	switch (request & 0xff) {
	case IOCTL_PERIOD:
	case IOCTL_ID:
		calls_copy(arg, 8);
		break;
	case IOCTL_SET_FILTER:
		calls_copy_string(arg);
		break;
	case IOCTL_MODIFY_ATTRIBUTES:
		copy_attr(m, arg);
		break;
	case IOCTL_QUERY_BPF:
		ids = 0;
		bpf_probe_read_user(&ids, sizeof(ids), (void *)arg);
		calls_copy(arg, 8 + 4 * (ids < IOCTL_IDS_MAX ? ids : IOCTL_IDS_MAX));
		break;
	}
}

enum { IOVECS = 8, MESSAGE_WORDS = 7, CONTROL_MAX = 2048 };

static __always_inline void copy_iovecs(struct calls_message *m, __u64 addr, __u64 n, __s64 left)
{
	__u32 word = m->compat ? 4 : 8;

	if (n > IOVECS)
		n = IOVECS;
	if (calls_copy(addr, n * 2 * word) <= 0)
		return;
	for (__u32 i = 0; i < IOVECS && i < n && left > 0; i++) {
		__u64 base = 0, len = 0;

		bpf_probe_read_user(&base, word & 15, (void *)(addr + i * 2 * word));
		bpf_probe_read_user(&len, word & 15, (void *)(addr + (i * 2 + 1) * word));
		if (len > left)
			len = left;
		calls_copy(base, len);
		left -= len;
	}
}

enum { SOL_SOCKET = 1, SCM_RIGHTS = 1 };

/* Set m->passed of the first control message, if that has descriptors. */
static __always_inline void find_passed(struct calls_message *m, __u64 control, __u64 len)
{
	__u32 word = m->compat ? 4 : 8;
	int level = 0, type = 0;
	__u64 size = 0, *ids;
	__u64 into;

	bpf_probe_read_user(&size, word & 15, (void *)control);
	bpf_probe_read_user(&level, sizeof(level), (void *)(control + word));
	bpf_probe_read_user(&type, sizeof(type), (void *)(control + word + 4));
	if (level != SOL_SOCKET || type != SCM_RIGHTS || size > len)
		return;
	into = copy_begin(m);
	KNOWN(into);
	if (into > CALLS_BYTES)
		return;
	ids = (__u64 *)(m->bytes + into);
	/* kernels before 6.2 refuse how clang 14 turns this into a loop */
#pragma unroll
	for (__u32 i = 0; i < CALLS_PASSED; i++) {
		__u64 at = word + 8 + i * sizeof(int);
		int fd = -1;

		ids[i] = 0;
		if (at + sizeof(fd) <= size &&
		    !bpf_probe_read_user(&fd, sizeof(fd), (void *)(control + at)))
			ids[i] = calls_event_at(fd);
		if (ids[i])
			m->passes = 1;
	}
	copy_end(m, 0, CALLS_PASSED * sizeof(*ids));
}

static __always_inline void copy_message(struct calls_message *m, __u64 addr)
{
	__u32 word = m->compat ? 4 : 8;
	__u64 control, len;

	calls_copy(addr, MESSAGE_WORDS * word);
	control = last_word(m, 4 * word, word);
	len = last_word(m, 5 * word, word);
	if (!control || !len)
		return;
	calls_copy(control, len < CONTROL_MAX ? len : CONTROL_MAX);
	find_passed(m, control, len);
}

static __always_inline void copy_argv(struct calls_message *m, __u64 addr)
{
	__u32 word = m->compat ? 4 : 8;

	calls_copy(addr, CALLS_STRINGS * word);
	for (__u32 i = 0; i < CALLS_STRINGS; i++) {
		__u64 string = 0;

		if (bpf_probe_read_user(&string, word & 15, (void *)(addr + i * word)) || !string)
			break;
		calls_copy_string(string);
	}
}

/* Copy what an argument points to; next: the argument behind it; returned: at the call's end. */
__noinline int calls_copy_argument(__u64 arg, __u64 next, __u32 memory, __u32 returned)
{
	struct calls_message *m = message();
	__s64 ret;

	if (!m)
		return 0;
	ret = returned && m->ret > 0 ? m->ret : 0;
	switch (memory) {
	case CALLS_8:
		calls_copy(arg, 8);
		break;
	case CALLS_16:
		calls_copy(arg, 16);
		break;
	case CALLS_STRING:
		calls_copy_string(arg);
		break;
	case CALLS_ATTR:
		copy_attr(m, arg);
		break;
	case CALLS_IOCTL:
		copy_ioctl(m, m->args[1], arg);
		break;
	case CALLS_NEXT:
		calls_copy(arg, (__u32)next);
		break;
	case CALLS_POLLFDS:
		calls_copy(arg, (__u64)(__u32)next * 8);
		break;
	case CALLS_FDSET:
		calls_copy(arg, ((__u32)m->args[0] + 63) / 64 * 8);
		break;
	case CALLS_EPOLL:
		calls_copy(arg, ret * 16);
		break;
	case CALLS_RETURNED:
		calls_copy(arg, ret);
		break;
	case CALLS_IOVEC:
		copy_iovecs(m, arg, next, ret);
		break;
	case CALLS_MESSAGE:
		copy_message(m, arg);
		break;
	case CALLS_PAIR:
		if (calls_copy(arg, m->compat ? 8 : 16) > 0)
			calls_copy(last_word(m, 0, m->compat ? 4 : 8), 8);
		break;
	case CALLS_ARGV:
		copy_argv(m, arg);
		break;
	}
	return 0;
}

static __always_inline void copy_arguments(const struct calls_message *m,
					   const struct calls_plan *plan, bool returned)
{
#pragma unroll
	for (__u32 i = 0; i < CALLS_ARGS; i++)
		if (plan->memory[i])
			calls_copy_argument(m->args[i], i + 1 < CALLS_ARGS ? m->args[i + 1] : 0,
					    plan->memory[i], returned);
}

/* Calls ----------------------------------------------------------------------------------- */

enum {
	LINK_CREATE = 28, PERF_DISABLE = 31, PERF_ENABLE = 32, FILES = 0x400, SHARED = 1,
	RANGE_UNSHARE = 2, ATTACH_SIZE_MIN = 16,
};

/* Return whether the call is reported, and set r->event: the event that it is about. */
static __always_inline bool concerns(const struct calls_plan *plan, struct task_struct *task,
				     const __u64 *args, struct running *r)
{
	__u64 event;

	r->event = 0;
	switch (plan->watch) {
	case CALLS_ALWAYS:
		r->event = calls_event_at(args[0]);
		return 1;
	case CALLS_HELD:
		if (!self_holds(r))
			return 0;
		r->event = calls_event_at(args[0]);
		return 1;
	case CALLS_RECEIVE:
		return 1;
	case CALLS_FD:
		event = calls_event_at(args[0]);
		break;
	case CALLS_IOCTLS:
		event = calls_event_at(args[0]);
		if (!event)
			return ((__u32)args[1] >> 8 & 0xff) == IOCTL_TYPE;
		break;
	case CALLS_MAP_FD:
		event = args[3] & SHARED ? calls_event_at(args[4]) : 0;
		if (!event)
			return self_holds(r);
		break;
	case CALLS_ATTACH:
		return (__u32)args[0] == LINK_CREATE || self_holds(r);
	case CALLS_PRCTL:
		return (__u32)args[0] == PERF_DISABLE || (__u32)args[0] == PERF_ENABLE;
	case CALLS_FILES:
		return args[0] & FILES || self_holds(r);
	default:
		return 0;
	}
	r->event = event;
	if (event)
		self_now_holds(r);
	return event;
}

static __always_inline const struct calls_plan *plan_of(__u64 nr, bool compat)
{
	__u32 key = nr + (compat ? CALLS_NUMBERS : 0);
	const struct calls_plan *plan;

	if (nr >= CALLS_NUMBERS)
		return 0;
	plan = bpf_map_lookup_elem(&calls_plans, &key);
	return plan && plan->watch ? plan : 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(calls_enter, struct pt_regs *regs, long nr)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	bool compat = is_compat(task);
	const struct calls_plan *plan = plan_of(nr, compat);
	__u64 args[CALLS_ARGS];
	struct calls_message *m;
	struct running *r = plan ? running(task) : 0;

	if (!r)
		return 0;
	get_args(regs, compat, args);
	r->enter_ns = 0;
	if (!concerns(plan, task, args, r))
		return 0;
	r->enter_ns = bpf_ktime_get_ns();
	r->reported = plan->early && (plan->watch != CALLS_RECEIVE || self_holds(r));
	if (!r->reported)
		return 0;
	r->told = 1;
	m = message_new(CALLS_ENTER, r->pid, r->tid);
	if (!m)
		return 0;
	m->enter_ns = r->enter_ns;
	m->event = r->event;
	m->compat = compat;
	m->nr = nr;
	__builtin_memcpy(m->args, args, sizeof(args));
	bpf_get_current_comm(m->comm, sizeof(m->comm));
	copy_arguments(m, plan, 0);
	message_send(m);
	return 0;
}

/* Return whether a call is reported whatever state its process is in. */
static __always_inline bool refusable(const struct calls_plan *plan)
{
	return plan->watch == CALLS_ALWAYS;
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

/* Report the return of a call, whose beginning r tells unless a seccomp filter refused it. */
static __always_inline void report_exit(const struct calls_plan *plan, struct task_struct *task,
					struct running *r, struct pt_regs *regs, long ret)
{
	struct calls_message *m = message_new(r->enter_ns && r->reported ? CALLS_EXIT : CALLS_WHOLE,
					      r->pid, r->tid);

	if (!m)
		return;
	if (r->enter_ns) {
		m->enter_ns = r->enter_ns;
		m->event = r->event;
	}
	m->compat = is_compat(task);
	m->nr = syscall_nr(regs);
	m->ret = ret;
	get_args(regs, m->compat, m->args);
	if (plan->memory[0] == CALLS_ATTR && ret >= 0) {
		m->event = calls_event_at(ret);
		self_now_holds(r);
	}
	copy_arguments(m, plan, 1);
	if (plan->watch == CALLS_RECEIVE && m->passes)
		self_now_holds(r);
	if (plan->watch == CALLS_RECEIVE && !self_holds(r))
		return;
	r->told = 1;
	message_send(m);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(calls_exit, struct pt_regs *regs, long ret)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	const struct calls_plan *plan = plan_of(syscall_nr(regs), is_compat(task));
	struct running *r;

	if (!plan)
		return 0;
	if (!calls_state.event_fops && plan->memory[0] == CALLS_ATTR && ret >= 0 && is_pevtrace(task))
		learn_fops(task, ret);
	r = running(task);
	/* a seccomp filter refuses calls before their entry is reported */
	if (!r || !(r->enter_ns || (refusable(plan) && ret < 0)))
		return 0;
	report_exit(plan, task, r, regs, ret);
	r->enter_ns = 0;
	return 0;
}

/* Tasks ----------------------------------------------------------------------------------- */

/* Return whether the reader knows the current task: it holds an event, or a call was reported. */
static __always_inline bool is_reported(const struct running *r, __u32 pid)
{
	return (r && r->told) || is_holder(pid);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(calls_forked, struct task_struct *parent, struct task_struct *child)
{
	struct ids from = task_ids(parent), to = task_ids(child);
	struct calls_message *m;
	__u8 one = 1;

	if (!followed(from.pid, from.tid))
		return 0;
	if (calls_setup.every_task && !is_holder(from.pid))
		return 0;
	if (!calls_setup.every_task && bpf_map_update_elem(&calls_tasks, &to.tid, &one, BPF_ANY))
		__sync_fetch_and_add(&calls_state.lost, 1); /* there is no room for so many */
	if (is_holder(from.pid))
		now_holds(to.pid);
	m = message_new(CALLS_FORKED, to.pid, to.tid);
	if (!m)
		return 0;
	m->other = from.tid;
	bpf_get_current_comm(m->comm, sizeof(m->comm));
	m->shares_files = BPF_CORE_READ(parent, files) == BPF_CORE_READ(child, files);
	m->shares_memory = BPF_CORE_READ(parent, mm) == BPF_CORE_READ(child, mm);
	message_send(m);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(calls_execed, struct task_struct *task, int former)
{
	struct running *r = bpf_task_storage_get(&calls_running, task, 0, 0);
	struct ids ids = task_ids(task);
	/* the former id in a namespace is known from the call */
	__u32 old = !calls_setup.pid_ns ? former : r ? r->tid : ids.tid;
	struct calls_message *m;
	__u8 one = 1;

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
	m = message_new(CALLS_EXECED, ids.pid, ids.tid);
	if (!m)
		return 0;
	m->other = old;
	bpf_get_current_comm(m->comm, sizeof(m->comm));
	message_send(m);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(calls_gone, struct task_struct *task)
{
	struct running *r = bpf_task_storage_get(&calls_running, task, 0, 0);
	struct ids ids = task_ids(task);
	bool had = is_reported(r, ids.pid), was = followed(ids.pid, ids.tid);
	struct signal_struct *signal = BPF_CORE_READ(task, signal);
	struct calls_message *m;
	int live = 0;

	bpf_map_delete_elem(&calls_tasks, &ids.tid);
	bpf_probe_read_kernel(&live, sizeof(live), __builtin_preserve_access_index(&signal->live));
	if (!live)
		bpf_map_delete_elem(&calls_holders, &ids.pid);
	if (!was || (calls_setup.every_task && !had))
		return 0;
	m = message_new(CALLS_GONE, ids.pid, ids.tid);
	if (!m)
		return 0;
	m->ret = BPF_CORE_READ(task, exit_code);
	message_send(m);
	return 0;
}

enum { SIGINFO_BYTES = 48 };

SEC("tp_btf/signal_deliver")
int BPF_PROG(calls_signalled, int sig, struct kernel_siginfo *info)
{
	struct ids ids = task_ids((struct task_struct *)bpf_get_current_task_btf());
	struct calls_message *m;

	if (!followed(ids.pid, ids.tid) || !is_holder(ids.pid))
		return 0;
	m = message_new(CALLS_SIGNALLED, ids.pid, ids.tid);
	if (!m || bpf_probe_read_kernel(m->bytes, SIGINFO_BYTES, info))
		return 0;
	m->nr = sig;
	m->used = SIGINFO_BYTES;
	message_send(m);
	return 0;
}
