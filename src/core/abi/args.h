/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operations on each kind of call argument (enum arg_kind). */
#pragma once

#include "core/abi/call_decode.h"

/* One argument of one call. */
struct arg {
	const struct call *call;
	const struct names *names;
	unsigned int i;		/* its index */
};

/* Copy the memory that an argument points to into the call. */
typedef void arg_capture(const struct arg *a, struct call *c, enum call_phase phase,
			 const struct mem *m);
/* Write an argument, or what the kernel changed in it, to the sink under its name. */
typedef void arg_emit(const struct arg *a, struct sink *s);

/* The captures of a call that are being converted from the other byte order. */
struct swapping {
	struct call *c;
	enum call_phase phase;
	const struct names *names;
	unsigned int i;		/* the argument */
	uint64_t done;		/* bits of the captures that were converted */
};

/* Convert the memory at addr, to which argument s->i points. */
typedef void arg_swap(struct swapping *s, uint64_t addr);

/* A kind of argument: a row of the table in args.c. */
struct arg_ops {
	arg_capture *capture;	/* NULL: no pointer */
	arg_emit *emit;
	arg_emit *result;	/* NULL: the kernel changes nothing */
	enum arg_memory memory;	/* what the BPF programs copy */
	arg_swap *swap;		/* NULL: see words */
	/* it points to integers of that many bytes, or of a word; 0: to none, or as swap says */
	enum { SWAP_NONE = 0, SWAP_32 = 4, SWAP_64 = 8, SWAP_WORDS = 1 } words;
};

/* Return the operations of a kind; never NULL. */
const struct arg_ops *arg_ops(enum arg_kind kind);

static inline uint64_t arg_value(const struct arg *a)
{
	return a->call->args[a->i];
}

/* Return the argument as a pointer or unsigned long of the caller's ABI. */
static inline uint64_t arg_word(const struct arg *a)
{
	return call_word(a->call, a->i);
}

static inline const struct arg_desc *arg_desc(const struct arg *a)
{
	return &a->call->desc->args[a->i];
}

/* Return the argument's name in the caller's ABI. */
static inline const char *arg_name(const struct arg *a)
{
	const struct call *c = a->call;
	unsigned int i = a->i;

	/* tls and child_tid change places between architectures */
	if (c->desc->id == CALL_CLONE && c->arch->clone_tls_first && i >= 3)
		i = 7 - i;
	return c->desc->args[i].name;
}

/* Return what the caller's descriptor refers to, or NULL where that is unknown. */
static inline const char *arg_fd_label(const struct arg *a, int64_t fd)
{
	return a->names && a->names->fd ? a->names->fd(a->names, a->call, fd) : NULL;
}

/* Return whether the call returned a number above 0: of bytes, or of descriptors that are ready. */
static inline bool call_gave(const struct call *c)
{
	return !c->failed && c->ret > 0;
}

/* The functions that rows of args.c refer to, by file: args_poll.c, */
arg_capture arg_capture_fdset, arg_capture_sigset_pair;
arg_emit arg_emit_pollfds, arg_result_pollfds, arg_emit_fdset, arg_result_fdset, arg_emit_time,
	 arg_result_time, arg_emit_sigset, arg_emit_sigset_pair, arg_emit_epoll_event,
	 arg_emit_epoll_events;
/* args_process.c, */
arg_capture arg_capture_argv, arg_capture_clone_args;
arg_emit arg_emit_argv, arg_emit_envp, arg_emit_clone_args, arg_emit_clone_flags;
/* args_desc.c, */
arg_capture arg_capture_read_iov, arg_capture_fcntl_arg, arg_capture_bpf_attr, arg_capture_msghdr;
arg_emit arg_emit_read_buf, arg_emit_read_iov, arg_emit_fcntl_arg, arg_result_fcntl_arg,
	 arg_emit_bpf_attr, arg_emit_msghdr;
/* and swap.c */
arg_swap arg_swap_attr, arg_swap_ioctl, arg_swap_bpf_attr, arg_swap_pollfds,
	 arg_swap_sigset_pair, arg_swap_epoll, arg_swap_read_buf,
	 arg_swap_read_iov, arg_swap_clone_args, arg_swap_msghdr;

/* Convert the captures at addr, integers of that width. */
void swap_words_at(struct swapping *s, uint64_t addr, size_t width);
