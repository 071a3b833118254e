// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/args.h"

#include "core/abi/attr.h"
#include "core/abi/ioctl.h"
#include "core/abi/strings.h"
#include "core/abi/tables.h"

/* Define emit_KIND() of a kind that is one value for the sink. */
#define EMIT(kind, call) \
	static void emit_##kind(const struct arg *a, struct sink *s) { call; }

/* Define capture_KIND() of a kind that is one call. */
#define CAPTURE(kind, what) \
	static void capture_##kind(const struct arg *a, struct call *c, enum call_phase phase, \
				   const struct mem *m) { what; }

CAPTURE(path, if (phase == AT_SYSCALL_ENTER) capture_string(c, phase, arg_word(a), m))
CAPTURE(attr, attr_capture(c, phase, arg_word(a), m, a->names))
CAPTURE(ioctl_arg, ioctl_capture(c, phase, arg_word(a), m, a->names))
CAPTURE(sigset, if (phase == AT_SYSCALL_ENTER) capture_bytes(c, phase, arg_word(a), 8, m))
CAPTURE(time, if (phase == AT_SYSCALL_ENTER || call_gave(c))
		capture_bytes(c, phase, arg_word(a), 16, m))
CAPTURE(pollfds, if (phase == AT_SYSCALL_ENTER || call_gave(c))
		capture_bytes(c, phase, arg_word(a), (uint64_t)(uint32_t)c->args[a->i + 1] * 8, m))
CAPTURE(epoll_event, if (phase == AT_SYSCALL_ENTER)
		capture_bytes(c, phase, arg_word(a), c->arch->epoll_size, m))
CAPTURE(epoll_events, if (phase == AT_SYSCALL_EXIT && call_gave(c))
		capture_bytes(c, phase, arg_word(a), (uint64_t)c->ret * c->arch->epoll_size, m))
CAPTURE(read_buf, if (phase == AT_SYSCALL_EXIT && call_gave(c))
		capture_bytes(c, phase, arg_word(a), (uint64_t)c->ret, m))
/* The pointers only, for their number: environments may hold secrets. */
CAPTURE(envp, if (phase == AT_SYSCALL_ENTER)
		capture_bytes(c, phase, arg_word(a), MEMORY_VARS * c->arch->word, m))

EMIT(uint, sink_uint(s, arg_name(a), (uint32_t)arg_value(a)))
EMIT(sint, sink_sint(s, arg_name(a), call_int(a->call, a->i)))
EMIT(hex, sink_hex(s, arg_name(a), arg_word(a)))
EMIT(addr, sink_addr(s, arg_name(a), arg_word(a)))
EMIT(enum, sink_enum(s, arg_name(a), arg_desc(a)->xlat, (uint32_t)arg_value(a)))
EMIT(enum_long, sink_enum(s, arg_name(a), arg_desc(a)->xlat, arg_word(a)))
EMIT(flags, sink_flags(s, arg_name(a), arg_desc(a)->xlat, arg_word(a)))
EMIT(flags32, sink_flags(s, arg_name(a), arg_desc(a)->xlat, (uint32_t)arg_value(a)))
EMIT(hex32, sink_hex(s, arg_name(a), (uint32_t)arg_value(a)))

/*
 * 32-bit ABIs pass the halves of a loff_t in two registers, low first; arm begins the pair at
 * an even one.
 */
static void emit_loff(const struct arg *a, struct sink *s)
{
	const struct call *c = a->call;
	uint64_t v = arg_value(a);
	unsigned int i;

	if (call_registers(c) > c->desc->nargs) {
		i = (unsigned int)call_registers(c) - 2;
		v = (uint32_t)c->args[i] | c->args[i + 1] << 32;
	}
	sink_sint(s, arg_name(a), (int64_t)v);
}

static void emit_fd(const struct arg *a, struct sink *s)
{
	int fd = call_int(a->call, a->i);

	sink_fd(s, arg_name(a), fd, arg_fd_label(a, fd));
	if (a->names && a->names->link && a->names->link(a->names, a->call, fd))
		sink_notef(s, "link", "link of a BPF program to %s",
			   a->names->link(a->names, a->call, fd));
}

static void emit_dirfd(const struct arg *a, struct sink *s)
{
	int fd = call_int(a->call, a->i);

	if (xlat_name(&xlat_at_fd, (uint64_t)fd))
		sink_enum(s, arg_name(a), &xlat_at_fd, (uint64_t)fd);
	else
		emit_fd(a, s);
}

EMIT(size, sink_uint(s, arg_name(a), arg_word(a)))

EMIT(path, call_emit_path(a->call, AT_SYSCALL_ENTER, arg_name(a), arg_word(a), s))

EMIT(attr, attr_emit(a->call, AT_SYSCALL_ENTER, arg_name(a), arg_word(a), a->names, s))

/* With PERF_FLAG_PID_CGROUP the pid of perf_event_open is a cgroup descriptor. */
static void emit_event_pid(const struct arg *a, struct sink *s)
{
	int pid = call_int(a->call, a->i);

	if (a->call->args[4] & PERF_FLAG_PID_CGROUP) {
		sink_fd(s, arg_name(a), pid, arg_fd_label(a, pid));
		sink_note(s, "words", "cgroup");
		return;
	}
	sink_sint(s, arg_name(a), pid);
	if (pid == 0)
		sink_note(s, "words", "calling thread");
	else if (pid == -1)
		sink_note(s, "words", "every task");
	else if (a->call->target)
		sink_notef(s, "words", "task %d, as pevtrace sees it", (int)a->call->target);
}

static void emit_cpu(const struct arg *a, struct sink *s)
{
	int cpu = call_int(a->call, a->i);

	sink_sint(s, arg_name(a), cpu);
	if (cpu == -1)
		sink_note(s, "words", "any cpu");
}

static void emit_group_fd(const struct arg *a, struct sink *s)
{
	int fd = call_int(a->call, a->i);

	sink_fd(s, arg_name(a), fd, arg_fd_label(a, fd));
	if (fd == -1)
		return;
	if (a->call->args[4] & PERF_FLAG_FD_OUTPUT)
		sink_note(s, "words", "records go to its ring");
	else if (a->call->args[4] & PERF_FLAG_FD_NO_GROUP)
		sink_note(s, "words", "ignored: PERF_FLAG_FD_NO_GROUP");
}

EMIT(ioctl_request, ioctl_emit_request(a->call, arg_name(a), s))

EMIT(ioctl_arg, ioctl_emit_arg(a->call, arg_name(a), arg_word(a), a->names, s))

/* The offset in bytes, whatever its unit in the call. */
EMIT(mmap_offset, sink_hex(s, arg_name(a), arg_word(a) << (a->call->desc->id == CALL_MMAP2 ?
							    a->call->arch->mmap2_shift : 0)))

static void emit_open_flags(const struct arg *a, struct sink *s)
{
	if ((uint32_t)arg_value(a))
		emit_flags32(a, s);
	else
		sink_uint(s, arg_name(a), 0);
}

EMIT(pos, sink_sint(s, arg_name(a), a->call->arch->word == 4 ?
		    (int64_t)((uint32_t)arg_value(a) | a->call->args[a->i + 1] << 32) :
		    (int64_t)arg_value(a)))
EMIT(pos_high, if (a->call->arch->word == 8 && arg_value(a)) emit_hex(a, s))
EMIT(mremap_addr, if (a->call->args[3] & ABI_MREMAP_FIXED) emit_addr(a, s))
EMIT(prctl_arg, if (call_int(a->call, 0) != ABI_PR_TASK_PERF_EVENTS_DISABLE &&
		    call_int(a->call, 0) != ABI_PR_TASK_PERF_EVENTS_ENABLE) emit_hex(a, s))

/* The rows: capture, emit, result, memory. */
static const struct arg_ops kinds[] = {
	[ARG_UINT] = { .emit = emit_uint },
	[ARG_SINT] = { .emit = emit_sint },
	[ARG_HEX32] = { .emit = emit_hex32 },
	[ARG_ENUM] = { .emit = emit_enum },
	[ARG_ENUM_LONG] = { .emit = emit_enum_long },
	[ARG_FLAGS32] = { .emit = emit_flags32 },
	[ARG_HEX] = { .emit = emit_hex },
	[ARG_ADDR] = { .emit = emit_addr },
	[ARG_FLAGS] = { .emit = emit_flags },
	[ARG_LOFF] = { .emit = emit_loff },
	[ARG_DIRFD] = { .emit = emit_dirfd },
	[ARG_FD] = { .emit = emit_fd },
	[ARG_PID] = { .emit = emit_sint },
	[ARG_CPU] = { .emit = emit_cpu },
	[ARG_SIZE] = { .emit = emit_size },
	[ARG_STRING] = { capture_path, emit_path, .memory = MEMORY_STRING },
	[ARG_ARGV] = { arg_capture_argv, arg_emit_argv, NULL, MEMORY_ARGV, .words = SWAP_WORDS },
	[ARG_ENVP] = { capture_envp, arg_emit_envp, NULL, MEMORY_ENVP, .words = SWAP_WORDS },
	[ARG_ATTR] = { capture_attr, emit_attr, NULL, MEMORY_ATTR, .swap = arg_swap_attr },
	[ARG_EVENT_PID] = { .emit = emit_event_pid },
	[ARG_GROUP_FD] = { .emit = emit_group_fd },
	[ARG_IOCTL_REQUEST] = { .emit = emit_ioctl_request },
	[ARG_IOCTL_ARG] = { capture_ioctl_arg, emit_ioctl_arg, NULL, MEMORY_IOCTL,
			    .swap = arg_swap_ioctl },
	[ARG_BPF_ATTR] = { arg_capture_bpf_attr, arg_emit_bpf_attr, NULL, MEMORY_BPF,
			   .swap = arg_swap_bpf_attr },
	[ARG_MMAP_OFFSET] = { .emit = emit_mmap_offset },
	[ARG_POLLFDS] = { capture_pollfds, arg_emit_pollfds, arg_result_pollfds, MEMORY_POLLFDS,
			  .swap = arg_swap_pollfds },
	[ARG_FDSET] = { arg_capture_fdset, arg_emit_fdset, arg_result_fdset, MEMORY_FDSET,
			.words = SWAP_WORDS },
	[ARG_TIMESPEC] = { capture_time, arg_emit_time, arg_result_time, MEMORY_16,
			   .words = SWAP_WORDS },
	[ARG_TIMESPEC64] = { capture_time, arg_emit_time, arg_result_time, MEMORY_16,
			     .words = SWAP_64 },
	[ARG_TIMEVAL] = { capture_time, arg_emit_time, arg_result_time, MEMORY_16,
			  .words = SWAP_WORDS },
	[ARG_MSEC] = { .emit = emit_sint },
	/* 32-bit ABIs have the lower half of a mask first */
	[ARG_SIGSET] = { capture_sigset, arg_emit_sigset, NULL, MEMORY_8, .words = SWAP_WORDS },
	[ARG_SIGSET_PAIR] = { arg_capture_sigset_pair, arg_emit_sigset_pair, NULL, MEMORY_PAIR,
			      .swap = arg_swap_sigset_pair },
	[ARG_EPOLL_EVENT] = { capture_epoll_event, arg_emit_epoll_event, NULL, MEMORY_16,
			      .swap = arg_swap_epoll },
	[ARG_EPOLL_EVENTS] = { capture_epoll_events, arg_emit_epoll_events, NULL, MEMORY_EPOLL,
			       .swap = arg_swap_epoll },
	[ARG_READ_BUF] = { capture_read_buf, arg_emit_read_buf, NULL, MEMORY_RETURNED,
			   .swap = arg_swap_read_buf },
	[ARG_READ_IOV] = { arg_capture_read_iov, arg_emit_read_iov, NULL, MEMORY_IOVEC,
			   .swap = arg_swap_read_iov },
	[ARG_FCNTL_CMD] = { .emit = emit_enum },
	/* struct f_owner_ex */
	[ARG_FCNTL_ARG] = { arg_capture_fcntl_arg, arg_emit_fcntl_arg, arg_result_fcntl_arg,
			    MEMORY_8, .words = SWAP_32 },
	[ARG_CLONE_ARGS] = { arg_capture_clone_args, arg_emit_clone_args, NULL, MEMORY_CLONE,
			     .swap = arg_swap_clone_args },
	[ARG_CLONE_FLAGS] = { .emit = arg_emit_clone_flags },
	[ARG_STATUS] = { .emit = emit_sint },
	[ARG_OPEN_FLAGS] = { .emit = emit_open_flags },
	[ARG_POS] = { .emit = emit_pos },
	[ARG_POS_HIGH] = { .emit = emit_pos_high },
	[ARG_MSGHDR] = { arg_capture_msghdr, arg_emit_msghdr, NULL, MEMORY_MESSAGE,
			 .swap = arg_swap_msghdr },
	[ARG_MREMAP_ADDR] = { .emit = emit_mremap_addr },
	[ARG_PRCTL_ARG] = { .emit = emit_prctl_arg },
};

const struct arg_ops *arg_ops(enum arg_kind kind)
{
	return &kinds[kind];
}
