/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies of the memory that system calls point to, for calls.bpf.c, which includes this after
 * message() and calls_event_at().  The verifier looks at functions that are not static once,
 * not for each call of them.
 */
#ifndef PEVTRACE_TRACE_CALLS_COPY_BPF_H
#define PEVTRACE_TRACE_CALLS_COPY_BPF_H

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

/* Return whether a message that was received has control data. */
__noinline int calls_has_control(__u64 addr, __u32 compat)
{
	__u32 word = compat ? 4 : 8;
	__u64 len = 0;

	return bpf_probe_read_user(&len, word & 15, (void *)(addr + 5 * word)) || len;
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

#endif
