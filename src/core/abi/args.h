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

struct arg_ops {
	/* Copy the memory that it points to into the call; NULL: no pointer. */
	void (*capture)(const struct arg *a, struct call *c,
			enum call_phase phase, const struct mem *m);
	/* Write it to the sink under its name. */
	void (*emit)(const struct arg *a, struct sink *s);
	/* Write what the kernel changed in it; NULL: nothing. */
	void (*result)(const struct arg *a, struct sink *s);
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

/* Operations that are defined in other files than args.c. */
extern const struct arg_ops arg_pollfds, arg_fdset, arg_timespec,
	arg_timespec64, arg_timeval, arg_sigset, arg_sigset_pair,
	arg_epoll_event, arg_epoll_events;				/* args_poll.c */
extern const struct arg_ops arg_argv, arg_envp, arg_clone_args,
	arg_clone_flags;				/* args_process.c */
extern const struct arg_ops arg_bpf_attr;			/* args_bpf.c */
extern const struct arg_ops arg_read_buf, arg_read_iov, arg_fcntl_cmd,
	arg_fcntl_arg;					/* args_desc.c */

/* Return the kind of fcntl's result for that command. */
enum call_result fcntl_result(int cmd);
