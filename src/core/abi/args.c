// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/args.h"

#include "core/abi/attr.h"
#include "core/abi/capture.h"
#include "core/abi/ioctl.h"
#include "core/abi/pass.h"
#include "core/abi/strings.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

static void emit_uint(const struct arg *a, struct sink *s)
{
	s->ops->uint(s, arg_name(a), (uint32_t)arg_value(a));
}

static void emit_sint(const struct arg *a, struct sink *s)
{
	s->ops->sint(s, arg_name(a), call_int(a->call, a->i));
}

static void emit_hex(const struct arg *a, struct sink *s)
{
	s->ops->hex(s, arg_name(a), arg_word(a));
}

static void emit_addr(const struct arg *a, struct sink *s)
{
	s->ops->addr(s, arg_name(a), arg_word(a));
}

static void emit_enum(const struct arg *a, struct sink *s)
{
	s->ops->enumeration(s, arg_name(a), arg_desc(a)->xlat, (uint32_t)arg_value(a));
}

static void emit_flags(const struct arg *a, struct sink *s)
{
	s->ops->flags(s, arg_name(a), arg_desc(a)->xlat, arg_word(a));
}

static void emit_flags32(const struct arg *a, struct sink *s)
{
	s->ops->flags(s, arg_name(a), arg_desc(a)->xlat, (uint32_t)arg_value(a));
}

static void emit_hex32(const struct arg *a, struct sink *s)
{
	s->ops->hex(s, arg_name(a), (uint32_t)arg_value(a));
}

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
	s->ops->sint(s, arg_name(a), (int64_t)v);
}

static void arg_emit_fd(const struct arg *a, struct sink *s)
{
	int fd = call_int(a->call, a->i);

	s->ops->fd(s, arg_name(a), fd, arg_fd_label(a, fd));
	if (a->names && a->names->link && a->names->link(a->names, a->call, fd))
		sink_notef(s, "link", "link of a BPF program to %s",
			   a->names->link(a->names, a->call, fd));
}

static void emit_dirfd(const struct arg *a, struct sink *s)
{
	int fd = call_int(a->call, a->i);

	if (xlat_name(&xlat_at_fd, (uint64_t)fd))
		s->ops->enumeration(s, arg_name(a), &xlat_at_fd, (uint64_t)fd);
	else
		arg_emit_fd(a, s);
}

static void emit_size(const struct arg *a, struct sink *s)
{
	s->ops->uint(s, arg_name(a), arg_word(a));
}

static void capture_path(const struct arg *a, struct call *c,
			 enum call_phase phase, const struct mem *m)
{
	if (phase == AT_SYSCALL_ENTER)
		capture_string(c, phase, arg_word(a), m);
}

static void arg_emit_path(const struct arg *a, struct sink *s)
{
	call_emit_path(a->call, AT_SYSCALL_ENTER, arg_name(a), arg_word(a), s);
}

static void capture_attr(const struct arg *a, struct call *c,
			 enum call_phase phase, const struct mem *m)
{
	if (phase == AT_SYSCALL_ENTER)
		attr_capture(c, phase, arg_word(a), m, a->names);
	else if (c->failed)
		capture_bytes(c, phase, arg_word(a) + 4, 4, m); /* size, for E2BIG */
}

static void emit_attr(const struct arg *a, struct sink *s)
{
	attr_emit(a->call, AT_SYSCALL_ENTER, arg_name(a), arg_word(a), a->names, s);
}

/* With PERF_FLAG_PID_CGROUP the pid of perf_event_open is a cgroup descriptor. */
static void emit_event_pid(const struct arg *a, struct sink *s)
{
	int pid = call_int(a->call, a->i);

	if (a->call->args[4] & PERF_FLAG_PID_CGROUP) {
		s->ops->fd(s, arg_name(a), pid, arg_fd_label(a, pid));
		s->ops->note(s, "words", "cgroup");
		return;
	}
	s->ops->sint(s, arg_name(a), pid);
	if (pid == 0)
		s->ops->note(s, "words", "calling thread");
	else if (pid == -1)
		s->ops->note(s, "words", "every task");
	else if (a->call->target)
		sink_notef(s, "words", "task %d, as pevtrace sees it", (int)a->call->target);
}

static void emit_cpu(const struct arg *a, struct sink *s)
{
	int cpu = call_int(a->call, a->i);

	s->ops->sint(s, arg_name(a), cpu);
	if (cpu == -1)
		s->ops->note(s, "words", "any cpu");
}

static void emit_group_fd(const struct arg *a, struct sink *s)
{
	int fd = call_int(a->call, a->i);

	s->ops->fd(s, arg_name(a), fd, arg_fd_label(a, fd));
	if (fd == -1)
		return;
	if (a->call->args[4] & PERF_FLAG_FD_OUTPUT)
		s->ops->note(s, "words", "records go to its ring");
	else if (a->call->args[4] & PERF_FLAG_FD_NO_GROUP)
		s->ops->note(s, "words", "ignored: PERF_FLAG_FD_NO_GROUP");
}

static void emit_ioctl_request(const struct arg *a, struct sink *s)
{
	ioctl_emit_request(a->call, arg_name(a), s);
}

static void capture_ioctl_arg(const struct arg *a, struct call *c,
			      enum call_phase phase, const struct mem *m)
{
	ioctl_capture(c, phase, arg_word(a), m, a->names);
}

static void emit_ioctl_arg(const struct arg *a, struct sink *s)
{
	ioctl_emit_arg(a->call, arg_name(a), arg_word(a), a->names, s);
}

/* Write the offset in bytes, whatever its unit in the call. */
static void emit_mmap_offset(const struct arg *a, struct sink *s)
{
	unsigned int shift = a->call->desc->id == CALL_MMAP2 ?
		a->call->arch->mmap2_shift : 0;

	s->ops->hex(s, arg_name(a), arg_word(a) << shift);
}

static void emit_open_flags(const struct arg *a, struct sink *s)
{
	if ((uint32_t)arg_value(a))
		emit_flags32(a, s);
	else
		s->ops->uint(s, arg_name(a), 0);
}

static void emit_pos_high(const struct arg *a, struct sink *s)
{
	if (a->call->arch->word == 4 || arg_value(a))
		emit_hex(a, s);
}

static void emit_mremap_addr(const struct arg *a, struct sink *s)
{
	if (a->call->args[3] & ABI_MREMAP_FIXED)
		emit_addr(a, s);
}

static void emit_prctl_arg(const struct arg *a, struct sink *s)
{
	int op = call_int(a->call, 0);

	if (op != ABI_PR_TASK_PERF_EVENTS_DISABLE && op != ABI_PR_TASK_PERF_EVENTS_ENABLE)
		emit_hex(a, s);
}

static const struct arg_ops table[] = {
	[ARG_UINT] = { .emit = emit_uint },
	[ARG_SINT] = { .emit = emit_sint },
	[ARG_HEX32] = { .emit = emit_hex32 },
	[ARG_FLAGS32] = { .emit = emit_flags32 },
	[ARG_LOFF] = { .emit = emit_loff },
	[ARG_DIRFD] = { .emit = emit_dirfd },
	[ARG_HEX] = { .emit = emit_hex },
	[ARG_ADDR] = { .emit = emit_addr },
	[ARG_ENUM] = { .emit = emit_enum },
	[ARG_FLAGS] = { .emit = emit_flags },
	[ARG_FD] = { .emit = arg_emit_fd },
	[ARG_PID] = { .emit = emit_sint },
	[ARG_CPU] = { .emit = emit_cpu },
	[ARG_SIZE] = { .emit = emit_size },
	[ARG_STRING] = { capture_path, arg_emit_path, NULL },
	[ARG_ATTR] = { capture_attr, emit_attr, NULL },
	[ARG_EVENT_PID] = { .emit = emit_event_pid },
	[ARG_GROUP_FD] = { .emit = emit_group_fd },
	[ARG_IOCTL_REQUEST] = { .emit = emit_ioctl_request },
	[ARG_IOCTL_ARG] = { capture_ioctl_arg, emit_ioctl_arg, NULL },
	[ARG_MMAP_OFFSET] = { .emit = emit_mmap_offset },
	[ARG_MSEC] = { .emit = emit_sint },
	[ARG_STATUS] = { .emit = emit_sint },
	[ARG_MREMAP_ADDR] = { .emit = emit_mremap_addr },
	[ARG_OPEN_FLAGS] = { .emit = emit_open_flags },
	[ARG_POS_HIGH] = { .emit = emit_pos_high },
	[ARG_PRCTL_ARG] = { .emit = emit_prctl_arg },
};

const struct arg_ops *arg_ops(enum arg_kind kind)
{
	switch (kind) {
	case ARG_ARGV: return &arg_argv;
	case ARG_ENVP: return &arg_envp;
	case ARG_POLLFDS: return &arg_pollfds;
	case ARG_FDSET: return &arg_fdset;
	case ARG_TIMESPEC: return &arg_timespec;
	case ARG_TIMESPEC64: return &arg_timespec64;
	case ARG_TIMEVAL: return &arg_timeval;
	case ARG_SIGSET: return &arg_sigset;
	case ARG_SIGSET_PAIR: return &arg_sigset_pair;
	case ARG_EPOLL_EVENT: return &arg_epoll_event;
	case ARG_EPOLL_EVENTS: return &arg_epoll_events;
	case ARG_READ_BUF: return &arg_read_buf;
	case ARG_READ_IOV: return &arg_read_iov;
	case ARG_BPF_ATTR: return &arg_bpf_attr;
	case ARG_FCNTL_CMD: return &arg_fcntl_cmd;
	case ARG_FCNTL_ARG: return &arg_fcntl_arg;
	case ARG_CLONE_ARGS: return &arg_clone_args;
	case ARG_CLONE_FLAGS: return &arg_clone_flags;
	case ARG_MSGHDR: return &arg_msghdr;
	default: return &table[kind];
	}
}
