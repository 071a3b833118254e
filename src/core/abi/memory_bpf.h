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
	MEMORY_NEXT,		/* as many bytes as the next argument says */
	MEMORY_POLLFDS,		/* as many struct pollfd as it says */
	MEMORY_FDSET,		/* of as many descriptors as the first argument says */
	MEMORY_EPOLL,		/* as many struct epoll_event as the call returned */
	MEMORY_RETURNED,		/* as many bytes as the call returned */
	MEMORY_IOVEC,		/* the next argument's number of them, and what was read */
	MEMORY_MESSAGE,		/* struct msghdr, with its control data */
	MEMORY_PAIR,		/* pselect6's: a pointer to 8 bytes, and a size */
	MEMORY_ARGV, MEMORY_ENVP,
};
