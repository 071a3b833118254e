/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * System calls that pevtrace makes itself: each fills in a struct call, captures its
 * memory, and feeds a session as a traced call would.
 */
#pragma once

#include <sys/types.h>

#include "core/abi/attr_text.h"
#include "core/abi/call.h"
#include "core/session/session.h"

struct own_calls {
	struct session *session;	/* NULL: no view sees the calls */
	struct call call;		/* the last one */
	int imagined;			/* 0: calls are made; else what the next open returns */
};

/* Initialise.  session: NULL, or receives the calls; must outlive o. */
void own_calls_init(struct own_calls *o, struct session *session);
void own_calls_free(struct own_calls *o);

/*
 * Make the call by its number on this machine.  Return its result or a negative
 * errno; -ENOSYS also where the machine has no call of that name.  o->call keeps
 * it until the next one.
 */
int64_t own_call(struct own_calls *o, enum call_id id, const uint64_t args[CALL_MAX_ARGS]);

/*
 * Call perf_event_open: return a descriptor, which the caller closes, or a negative
 * errno.  The attr is passed in its len bytes, followed by zeros up to the size that
 * it states; its pointers to strings are made to point to these.
 */
int own_call_open(struct own_calls *o, const struct attr_text *attr, pid_t pid, int cpu,
	       int group_fd, uint64_t flags);

/* Replace the made-up addresses of strings in a copy of the attr's bytes by real ones. */
void own_call_place_strings(const struct attr_text *a, uint8_t *bytes);

/* Return the result or a negative errno.  arg is a value or an address, as request requires. */
int64_t own_call_ioctl(struct own_calls *o, int fd, uint32_t request, uint64_t arg);

/*
 * Map length bytes of an event, from an offset in bytes on, shared.  write: the kernel heeds data_tail; else it
 * overwrites (perf_event_open(2), "MMAP layout").  Return NULL with an errno in *error.
 */
void *own_call_map_at(struct own_calls *o, int fd, size_t length, uint64_t offset, bool write,
		   int *error);

/* Call mmap with any protection and flags; return an address or a negative errno. */
int64_t own_call_mmap(struct own_calls *o, int fd, uint64_t length, uint64_t offset, int prot,
		      int flags);

int64_t own_call_unmap(struct own_calls *o, void *at, size_t length);

/* Return the number of bytes, or a negative errno. */
ssize_t own_call_read(struct own_calls *o, int fd, void *buf, size_t size);
int own_call_close(struct own_calls *o, int fd);
