/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kinds of memory that arguments of calls point to; the BPF programs copy it, too. */
#pragma once

/* The memory that an argument points to. */
enum arg_memory {
	MEMORY_NONE,
	MEMORY_8, MEMORY_16,	/* bytes */
	MEMORY_STRING,
	MEMORY_ATTR,		/* perf_event_attr, with the string of a probe */
	MEMORY_IOCTL,		/* by the request */
	MEMORY_BPF,		/* union bpf_attr, with the string of its command */
	MEMORY_CLONE,		/* struct clone_args, with the ids for the child */
	MEMORY_POLLFDS,		/* as many struct pollfd as it says */
	MEMORY_FDSET,		/* of as many descriptors as the first argument says */
	MEMORY_EPOLL,		/* as many struct epoll_event as the call returned */
	MEMORY_RETURNED,		/* as many bytes as the call returned */
	MEMORY_IOVEC,		/* the next argument's number of them, and what was read */
	MEMORY_MESSAGE,		/* struct msghdr, with its control data */
	MEMORY_PAIR,		/* pselect6's: a pointer to 8 bytes, and a size */
	MEMORY_ARGV, MEMORY_ENVP,
};

/* What is copied at most, by each engine, so that both show the same. */
enum {
	MEMORY_RUN = 32 * 1024,	/* bytes at an address */
	MEMORY_STRING_BYTES = 4096, /* PATH_MAX, and more than a filter may have */
	MEMORY_STRINGS = 32,	/* of an argv, */
	MEMORY_STRINGS_BYTES = 16 * 1024, /* and of all of them */
	MEMORY_VARS = 1025,	/* pointers of an envp */
	MEMORY_FDSET_BYTES = 8192,
	MEMORY_IOVECS = 1024,	/* the kernel takes no more (UIO_MAXIOV); */
	MEMORY_IOVECS_READ = 63, /* of these, buffers that were read, */
	MEMORY_IOVECS_BYTES = 16 * 1024, /* and bytes in them */
	MEMORY_CONTROL_BYTES = 4096, /* of a message */
	MEMORY_STRUCT_BYTES = 256, /* union bpf_attr has 144 in Linux 6.18, struct clone_args 88 */
	MEMORY_IDS = 64,	/* of QUERY_BPF (BPF_TRACE_MAX_PROGS) */
	MEMORY_TIDS = 32,	/* of clone_args (MAX_PID_NS_LEVEL) */
};
