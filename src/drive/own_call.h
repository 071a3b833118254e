/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Making calls ourselves, as calls like any other: each becomes a struct call
 * with its memory captured, and is told to whom it may concern, as a traced
 * one would be.
 */
#ifndef PEVTRACE_DRIVE_OWN_CALL_H
#define PEVTRACE_DRIVE_OWN_CALL_H

#include <sys/types.h>

#include "abi/attr_text.h"
#include "abi/call.h"

struct own_call_ops {
	/* The call begins; its memory is captured AT_SYSCALL_ENTER. */
	void (*enter)(void *ctx, struct call *c);
	/* It returned; its memory is captured AT_SYSCALL_EXIT. */
	void (*exit)(void *ctx, struct call *c);
};

struct own_calls {
	const struct own_call_ops *ops;
	void *ctx;
	const struct names *names;	/* tells which PMUs take pointers; may be NULL */
	struct call call;		/* the last one */
};

/* What is given must outlive the issuer; ops NULL: nobody is told. */
void own_calls_init(struct own_calls *i, const struct own_call_ops *ops, void *ctx,
		 const struct names *names);
void own_calls_free(struct own_calls *i);

/*
 * Makes the call by its number on this machine.  Returns its result or a
 * negative errno, -ENOSYS also where the machine has no call of that name.
 * i->call stays as it is until the next one.
 */
int64_t own_call(struct own_calls *i, enum call_id id, const uint64_t args[CALL_MAX_ARGS]);

/*
 * perf_event_open: a descriptor, which is the caller's to close, or a negative
 * errno.  The attr is passed in len bytes and zeros up to the size that it
 * states; where it points to strings, these are.
 */
int own_call_open(struct own_calls *i, const struct attr_text *attr, pid_t pid, int cpu,
	       int group_fd, uint64_t flags);

/* In a copy of the attr's bytes, made-up addresses of strings become those of the strings. */
void own_call_place_strings(const struct attr_text *a, uint8_t *bytes);

/* 0 or more, or a negative errno.  arg is a value or an address, as request says. */
int64_t own_call_ioctl(struct own_calls *i, int fd, uint32_t request, uint64_t arg);

/*
 * Maps length bytes of an event, shared: with write, so that the kernel heeds
 * data_tail, or for reading only.  NULL with *error, an errno.
 */
void *own_call_map(struct own_calls *i, int fd, size_t length, bool write, int *error);

/* The same from an offset of the event on, which is in bytes. */
void *own_call_map_at(struct own_calls *i, int fd, size_t length, uint64_t offset, bool write,
		   int *error);

/* The same with any protection and flags: an address, or a negative errno. */
int64_t own_call_mmap(struct own_calls *i, int fd, uint64_t length, int prot, int flags);

int64_t own_call_unmap(struct own_calls *i, void *at, size_t length);

/* How many bytes, or a negative errno. */
ssize_t own_call_read(struct own_calls *i, int fd, void *buf, size_t size);
int own_call_close(struct own_calls *i, int fd);

#endif
