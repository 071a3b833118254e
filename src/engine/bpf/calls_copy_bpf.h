/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies of the memory that system calls point to, for calls.bpf.c, which includes this after
 * calls_event_at().  The verifier looks at functions that are not static once, not for each
 * call of them.
 */
#pragma once

static __always_inline __u32 word_size(const struct calls_message *m)
{
	return m->compat ? 4 : 8;
}

/*
 * bytes[n] is at a multiple of 8, which the verifier must see where the processor has no
 * unaligned accesses (riscv64), and everywhere with BPF_F_STRICT_ALIGNMENT.
 */
#define ALIGNED(n) ((n) & ~7ULL)

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
	b = (struct calls_block *)(m->bytes + ALIGNED(at));
	b->addr = addr;
	b->len = len;
	m->used = ALIGNED(m->last + len + 7);
}

/* Copy up to the end of a page to bytes[at]; return how much. */
__noinline int calls_copy_page(struct calls_message *m, __u64 at, __u64 addr, __u64 want)
{
	__u64 len = CALLS_PAGE - (addr & (CALLS_PAGE - 1));

	if (len > want)
		len = want;
	KNOWN(len);
	if (!m || at >= CALLS_BYTES || len > CALLS_PAGE)
		return 0;
	if (!bpf_probe_read_user(m->bytes + at, len, (void *)addr))
		return len;
	m->incomplete = 1;
	return 0;
}

/* Copy memory of the task up to a page that is missing; return how much. */
__noinline int calls_copy(struct calls_message *m, __u64 addr, __u64 want)
{
	__u64 at, got = 0;

	if (!m || !addr)
		return 0;
	if (want > MEMORY_RUN)
		want = MEMORY_RUN;
	at = copy_begin(m);
	for (int i = 0; i < MEMORY_RUN / CALLS_PAGE + 1 && got < want; i++) {
		__u32 len = calls_copy_page(m, at + got, addr + got, want - got);

		if (!len)
			break;
		got += len;
	}
	copy_end(m, addr, got);
	return got;
}

/* Return the word of 4 or 8 bytes at an address; 0 if it is not resident. */
__noinline __u64 calls_word(__u64 addr, __u32 size)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, size == 4 ? 4 : 8, (void *)addr);
	return word;
}

/* Copy a string with its NUL, at most that many bytes, up to a page that is missing; return how many. */
__noinline int calls_copy_string(struct calls_message *m, __u64 addr, __u64 most)
{
	__u64 at;
	long n;

	if (!m || !addr)
		return 0;
	at = copy_begin(m);
	KNOWN(at);
	KNOWN(most);
	if (at >= CALLS_BYTES || most > MEMORY_STRING_BYTES)
		return 0;
	n = bpf_probe_read_user_str(m->bytes + at, most + 1, (void *)addr);
	if (n <= 0)
		return calls_copy(m, addr, most);
	if (n > most)
		n = most; /* the kernel puts a NUL where it stops */
	copy_end(m, addr, n);
	return n;
}

/* Return the word at an offset of what was last copied; 0 if it was not. */
__noinline __u64 calls_last_word(const struct calls_message *m, __u32 at, __u32 size)
{
	__u64 from, word = 0;

	if (!m)
		return 0;
	from = (__u64)m->last + at;
	if (from > CALLS_BYTES || from + size > m->used)
		return 0;
	bpf_probe_read_kernel(&word, size == 4 ? 4 : 8, m->bytes + from);
	return word;
}

static __always_inline void copy_attr(struct calls_message *m, __u64 addr)
{
	__u32 head[2] = { 0 }, incomplete;
	__u64 path;

	if (bpf_probe_read_user(head, sizeof(head), (void *)addr))
		m->incomplete = 1;
	if (!head[1])
		head[1] = ATTR_SIZE_VER0;
	calls_copy(m, addr, head[1] < 8 ? 8 : head[1] > CALLS_PAGE ? 256 : head[1]);
	path = calls_last_word(m, ATTR_AT_CONFIG1, 8);
	if (head[0] >= ATTR_DYNAMIC && path)
		calls_copy_string(m, path, MEMORY_STRING_BYTES);
	/* what lies beyond a small size, which need not be there */
	if (head[1] < ATTR_SIZE_VER3) {
		incomplete = m->incomplete;
		calls_copy(m, addr + head[1], ATTR_SIZE_VER5 - head[1]);
		m->incomplete = incomplete;
	}
}

static __always_inline void copy_ioctl(struct calls_message *m, __u32 request, __u64 arg)
{
	__u32 ids;

	if ((request >> 8 & 0xff) != IOCTL_TYPE)
		return;
	switch (request & 0xff) {
	case IOCTL_PERIOD:
	case IOCTL_ID:
		calls_copy(m, arg, 8);
		break;
	case IOCTL_SET_FILTER:
		calls_copy_string(m, arg, MEMORY_STRING_BYTES);
		break;
	case IOCTL_MODIFY_ATTRIBUTES:
		copy_attr(m, arg);
		break;
	case IOCTL_QUERY_BPF:
		ids = 0;
		bpf_probe_read_user(&ids, sizeof(ids), (void *)arg);
		calls_copy(m, arg, 8 + 4 * (ids < MEMORY_IDS ? ids : MEMORY_IDS));
		break;
	}
}

enum { MESSAGE_WORDS = 7 };

/* Copy what a vector's element points to, up to so many bytes; return how many are left. */
__noinline __u64 calls_copy_iovec(struct calls_message *m, __u64 addr, __u64 left)
{
	__u64 len;

	if (!m)
		return 0;
	len = calls_word(addr + word_size(m), word_size(m));
	if (len > left)
		len = left;
	calls_copy(m, calls_word(addr, word_size(m)), len);
	return left - len;
}

static __always_inline void copy_iovecs(struct calls_message *m, __u64 addr, __u64 n, __u64 left)
{
	__u32 size = 2 * word_size(m);

	if (n > MEMORY_IOVECS)
		n = MEMORY_IOVECS;
	if (left > MEMORY_IOVECS_BYTES)
		left = MEMORY_IOVECS_BYTES;
	n = calls_copy(m, addr, n * size) / size;
	for (__u32 i = 0; i < MEMORY_IOVECS_READ && i < n && left; i++)
		left = calls_copy_iovec(m, addr + i * size, left);
}

enum { SOL_SOCKET = 1, SCM_RIGHTS = 1 };

/* Return the id of the event behind the descriptor at an offset of a control message; 0: none. */
__noinline __u64 calls_passed_id(struct calls_message *m, __u64 control, __u64 at, __u64 size)
{
	__u64 id;
	int fd;

	if (!m || at + sizeof(fd) > size ||
	    bpf_probe_read_user(&fd, sizeof(fd), (void *)(control + at)))
		return 0;
	id = calls_event_at(fd);
	if (id)
		m->passes = 1;
	return id;
}

static __always_inline void copy_message(struct calls_message *m, __u64 addr)
{
	__u32 word = word_size(m);
	__u64 control, len, size, into, *ids;

	calls_copy(m, addr, MESSAGE_WORDS * word);
	control = calls_last_word(m, 4 * word, word);
	len = calls_last_word(m, 5 * word, word);
	if (!control || !len)
		return;
	calls_copy(m, control, len < MEMORY_CONTROL_BYTES ? len : MEMORY_CONTROL_BYTES);
	/* find the events of the first control message, if that has descriptors */
	size = calls_word(control, word);
	if (calls_word(control + word, 4) != SOL_SOCKET ||
	    calls_word(control + word + 4, 4) != SCM_RIGHTS || size > len)
		return;
	into = copy_begin(m);
	KNOWN(into);
	if (into > CALLS_BYTES)
		return;
	ids = (__u64 *)(m->bytes + ALIGNED(into));
	/* kernels before 6.2 refuse how clang 14 turns this into a loop */
#pragma unroll
	for (__u32 i = 0; i < CALLS_PASSED; i++)
		ids[i] = calls_passed_id(m, control, word + 8 + i * sizeof(int), size);
	copy_end(m, 0, CALLS_PASSED * sizeof(*ids));
}

/*
 * Copy the string that a word of an argv points to, of which that many bytes are left; return how
 * many then are, 0 if there is no string.
 */
__noinline __u64 calls_copy_argv_word(struct calls_message *m, __u64 addr, __u64 left)
{
	__u64 string;

	if (!m)
		return 0;
	string = calls_word(addr, word_size(m));
	if (!string)
		return 0;
	return left - calls_copy_string(m, string,
					left < MEMORY_STRING_BYTES ? left : MEMORY_STRING_BYTES);
}

static __always_inline void copy_argv(struct calls_message *m, __u64 addr)
{
	__u64 left = MEMORY_STRINGS_BYTES;
	__u32 word = word_size(m);

	calls_copy(m, addr, (MEMORY_STRINGS + 1) * word);
	for (__u32 i = 0; i < MEMORY_STRINGS && left; i++)
		left = calls_copy_argv_word(m, addr + i * word, left);
}

/* Commands of bpf(2) that have a string, and where their attr points to it. */
enum { BPF_OBJ_PIN = 6, BPF_TASK_FD_QUERY = 20, PIN_AT_PATH = 0, QUERY_AT_NAME = 16 };

/* Members of struct clone_args, by their offset. */
enum { CLONE_AT_TIDS = 64, CLONE_AT_NUMBER = 72 };

/* Copy a structure of so many bytes, and what the call makes of it points to. */
static __always_inline void copy_struct(struct calls_message *m, __u64 addr, __u32 size, __u32 memory)
{
	__u64 tids;

	calls_copy(m, addr, size < MEMORY_STRUCT_BYTES ? size : MEMORY_STRUCT_BYTES);
	if (memory == MEMORY_CLONE) {
		tids = calls_last_word(m, CLONE_AT_NUMBER, 8);
		calls_copy(m, calls_last_word(m, CLONE_AT_TIDS, 8),
			   4 * (tids < MEMORY_TIDS ? tids : MEMORY_TIDS));
	} else if ((__u32)m->args[0] == BPF_OBJ_PIN || (__u32)m->args[0] == BPF_TASK_FD_QUERY) {
		calls_copy_string(m, calls_last_word(m, (__u32)m->args[0] == BPF_OBJ_PIN ?
						     PIN_AT_PATH : QUERY_AT_NAME, 8),
				  MEMORY_STRING_BYTES);
	}
}

/* Copy what an argument points to. */
__noinline int calls_copy_argument(struct calls_message *m, __u64 i, __u32 memory)
{
	__u64 arg, next = 0, ret;

	KNOWN(i);
	if (!m || i >= CALLS_ARGS)
		return 0;
	arg = m->args[i];
	if (i + 1 < CALLS_ARGS)
		next = m->args[i + 1];
	ret = m->ret > 0 ? m->ret : 0;
	switch (memory) {
	case MEMORY_8:
		calls_copy(m, arg, 8);
		break;
	case MEMORY_16:
		calls_copy(m, arg, 16);
		break;
	case MEMORY_STRING:
		calls_copy_string(m, arg, MEMORY_STRING_BYTES);
		break;
	case MEMORY_ATTR:
		copy_attr(m, arg);
		break;
	case MEMORY_IOCTL:
		copy_ioctl(m, m->args[1], arg);
		break;
	case MEMORY_BPF:
	case MEMORY_CLONE:
		copy_struct(m, arg, next, memory);
		break;
	case MEMORY_POLLFDS:
		calls_copy(m, arg, (__u64)(__u32)next * 8);
		break;
	case MEMORY_FDSET:
		next = ((__u32)m->args[0] + 63ULL) / 64 * 8;
		calls_copy(m, arg, next < MEMORY_FDSET_BYTES ? next : MEMORY_FDSET_BYTES);
		break;
	case MEMORY_EPOLL:
		calls_copy(m, arg, ret * 16);
		break;
	case MEMORY_RETURNED:
		calls_copy(m, arg, ret);
		break;
	case MEMORY_IOVEC:
		copy_iovecs(m, arg, (__u32)next, ret);
		break;
	case MEMORY_MESSAGE:
		copy_message(m, arg);
		break;
	case MEMORY_PAIR:
		if (calls_copy(m, arg, 2 * word_size(m)) > 0)
			calls_copy(m, calls_last_word(m, 0, word_size(m)), 8);
		break;
	case MEMORY_ARGV:
		copy_argv(m, arg);
		break;
	case MEMORY_ENVP: /* environments may hold secrets */
		calls_copy(m, arg, MEMORY_VARS * word_size(m));
		break;
	}
	return 0;
}

static __always_inline void copy_arguments(struct calls_message *m, const struct calls_plan *plan)
{
	for (__u32 i = 0; i < CALLS_ARGS; i++)
		if (plan->memory[i])
			calls_copy_argument(m, i, plan->memory[i]);
}
