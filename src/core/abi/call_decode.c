// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/call_decode.h"

#include <errno.h>

#include "core/abi/args.h"
#include "core/abi/attr.h"
#include "core/abi/ioctl.h"
#include "core/abi/swap.h"
#include "xlat/constants.h"

void call_capture(struct call *c, enum call_phase phase, const struct mem *m,
		  const struct names *n)
{
	for (unsigned int i = 0; i < c->desc->nargs; i++) {
		const struct arg_ops *ops = arg_ops(c->desc->args[i].kind);

		if (ops->capture)
			ops->capture(&(struct arg){ c, n, i }, c, phase, m);
	}
}

void swap_call(struct call *c, enum call_phase phase, const struct names *n)
{
	struct swapping s = { .c = c, .phase = phase, .names = n };

	for (; s.i < c->desc->nargs; s.i++) {
		const struct arg_ops *ops = arg_ops(c->desc->args[s.i].kind);

		if (ops->swap)
			ops->swap(&s, call_word(c, s.i));
		else if (ops->words)
			swap_words_at(&s, call_word(c, s.i), ops->words == SWAP_WORDS ?
				      c->arch->word : ops->words);
	}
}

void call_args(const struct call *c, enum call_phase phase,
	       const struct names *n, struct sink *s)
{
	unsigned int i = phase == AT_SYSCALL_ENTER ? 0 : c->desc->in_args;
	unsigned int end = phase == AT_SYSCALL_ENTER ? c->desc->in_args : c->desc->nargs;

	for (; i < end; i++) {
		const struct arg a = { c, n, i };

		arg_ops(c->desc->args[i].kind)->emit(&a, s);
		if (c->before && c->before->args[i] != c->args[i] &&
		    c->desc->args[i].kind != ARG_ATTR)
			sink_notef(s, "was", c->desc->args[i].xlat ? "was 0x%x" : "was %d",
				   call_int(c->before, i));
	}
}

enum call_result call_result_kind(const struct call *c)
{
	enum call_result kind = RESULT_NUMBER;
	int cmd;

	switch (c->desc->id) {
	case CALL_BPF:
		if ((uint32_t)c->args[0] == ABI_BPF_LINK_CREATE)
			kind = RESULT_FD;
		break;
	case CALL_PERF_EVENT_OPEN:
	case CALL_DUP:
	case CALL_DUP2:
	case CALL_DUP3:
	case CALL_EPOLL_CREATE:
	case CALL_EPOLL_CREATE1:
		kind = RESULT_FD;
		break;
	case CALL_MMAP:
	case CALL_MMAP2:
	case CALL_MREMAP:
	case CALL_SHMAT:
		kind = RESULT_ADDR;
		break;
	case CALL_FCNTL:
	case CALL_FCNTL64:
		cmd = call_int(c, 1);
		if (cmd == ABI_F_DUPFD || cmd == ABI_F_DUPFD_CLOEXEC)
			kind = RESULT_FD;
		else if (cmd == ABI_F_GETFL || cmd == ABI_F_GETFD)
			kind = RESULT_FLAGS;
		break;
	default:
		break;
	}
	/* an injected descriptor refers to no file */
	return kind == RESULT_FD && (c->no_event || call_is_fake(c)) ? RESULT_NUMBER : kind;
}

void call_results(const struct call *c, const struct names *n, struct sink *s)
{
	if (!c->returned || c->failed)
		return;
	if (c->desc->class == CLASS_POLL && c->desc->in_args > 1 && !c->ret &&
	    c->desc->id != CALL_EPOLL_CTL)
		sink_symbol(s, NULL, "Timeout");
	for (unsigned int i = 0; i < c->desc->nargs; i++) {
		const struct arg a = { c, n, i };
		const struct arg_ops *ops = arg_ops(c->desc->args[i].kind);

		if (ops->result)
			ops->result(&a, s);
	}
}

/* Note what a successful mmap of an event's descriptor mapped. */
static void call_note_ring(const struct call *c, const struct names *n,
			   struct sink *s)
{
	uint64_t length = c->args[1], page = n && n->page_size ? n->page_size : 4096;
	uint64_t unit = c->desc->id == CALL_MMAP2 && c->arch->mmap2_shift ?
		1ULL << c->arch->mmap2_shift : 1;
	uint64_t offset = c->args[5] * unit;
	uint64_t pages = length / page + !!(length % page);

	if (!n || !n->read_format ||
	    n->read_format(n, c, call_int(c, 4)) == NAMES_NO_EVENT)
		return;
	if (offset)
		sink_notef(s, "ring", "AUX area of %llu KiB",
			   (unsigned long long)(pages * page / 1024));
	else if (pages == 1)
		sink_note(s, "ring", "control page only, no records");
	else if (pages && (pages - 1) & (pages - 2))
		sink_notef(s, "ring", "1+%llu pages: data pages must be 2^n",
			   (unsigned long long)(pages - 1));
	else if (pages)
		sink_notef(s, "ring", "1+%llu pages: ring of %llu KiB",
			   (unsigned long long)(pages - 1),
			   (unsigned long long)((pages - 1) * page / 1024));
}

/* Note what a read of 0 bytes and ENOSPC mean for an event. */
static void note_read(const struct call *c, const struct names *n, struct sink *s)
{
	int64_t format = n && n->read_format ? n->read_format(n, c, call_int(c, 0)) : -1;

	if (format < 0)
		return;
	if (!c->failed && !c->ret && (uint32_t)c->args[2])
		sink_note(s, "words", "event in error state: pinned, and could "
			  "not be scheduled on its PMU");
	else if (c->failed && c->ret == ENOSPC && format & PERF_FORMAT_GROUP)
		sink_note(s, "words", "buffer too small for all members of the group");
	else if (c->failed && c->ret == ENOSPC)
		sink_notef(s, "words", "buffer too small: this read_format has %d bytes",
			   8 + 8 * __builtin_popcountll((unsigned long long)format));
}

void call_result_notes(const struct call *c, const struct names *n,
		       struct sink *s)
{
	if (!c->returned)
		return;
	if (c->inject.because[0])
		sink_note(s, "injected", c->inject.because);
	if (c->answered)
		sink_note(s, "words", "perhaps the answer of a seccomp filter, not of the kernel");
	/* the notes explain the kernel's result; of an injected one only the size is known */
	if (call_is_fake(c) && c->desc->class != CLASS_OPEN)
		return;
	switch (c->desc->id) {
	case CALL_PERF_EVENT_OPEN:
		attr_note_size(c, c->args[0], s);
		if (c->no_event)
			sink_note(s, "words", "no event: the number was injected by a "
				  "seccomp filter or another tracer");
		break;
	case CALL_IOCTL:
		ioctl_result_notes(c, s);
		break;
	case CALL_MMAP:
	case CALL_MMAP2:
		call_note_ring(c, n, s);
		break;
	default:
		if (c->desc->class == CLASS_READ)
			note_read(c, n, s);
		break;
	}
}
