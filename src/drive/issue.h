/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Making calls ourselves, as calls like any other: each becomes a struct call
 * with its memory captured, and is told to whom it may concern, as a traced
 * one would be.
 */
#ifndef PEVTRACE_DRIVE_ISSUE_H
#define PEVTRACE_DRIVE_ISSUE_H

#include <sys/types.h>

#include "abi/attr_text.h"
#include "abi/call.h"

struct issue_ops {
	/* The call begins; its memory is captured AT_ENTER. */
	void (*enter)(void *ctx, struct call *c);
	/* It returned; its memory is captured AT_EXIT. */
	void (*exit)(void *ctx, struct call *c);
};

struct issuer {
	const struct issue_ops *ops;
	void *ctx;
	const struct names *names;	/* tells which PMUs take pointers; may be NULL */
	struct call call;		/* the last one */
};

/* What is given must outlive the issuer; ops NULL: nobody is told. */
void issuer_init(struct issuer *i, const struct issue_ops *ops, void *ctx,
		 const struct names *names);
void issuer_free(struct issuer *i);

/*
 * Makes the call by its number on this machine.  Returns its result or a
 * negative errno, -ENOSYS also where the machine has no call of that name.
 * i->call stays as it is until the next one.
 */
int64_t issue(struct issuer *i, enum call_id id, const uint64_t args[CALL_MAX_ARGS]);

/*
 * perf_event_open: a descriptor, which is the caller's to close, or a negative
 * errno.  The attr is passed in len bytes and zeros up to the size that it
 * states; where it points to strings, these are.
 */
int issue_open(struct issuer *i, const struct attr_text *attr, pid_t pid, int cpu,
	       int group_fd, uint64_t flags);

/* In a copy of the attr's bytes, made-up addresses of strings become those of the strings. */
void issue_place_strings(const struct attr_text *a, uint8_t *bytes);

/* 0 or more, or a negative errno.  arg is a value or an address, as request says. */
int64_t issue_ioctl(struct issuer *i, int fd, uint32_t request, uint64_t arg);

/*
 * Maps length bytes of an event, shared: with write, so that the kernel heeds
 * data_tail, or for reading only.  NULL with *error, an errno.
 */
void *issue_map(struct issuer *i, int fd, size_t length, bool write, int *error);

/* The same from an offset of the event on, which is in bytes. */
void *issue_map_at(struct issuer *i, int fd, size_t length, uint64_t offset, bool write,
		   int *error);

/* The same with any protection and flags: an address, or a negative errno. */
int64_t issue_mmap(struct issuer *i, int fd, uint64_t length, int prot, int flags);

int64_t issue_unmap(struct issuer *i, void *at, size_t length);

/* How many bytes, or a negative errno. */
ssize_t issue_read(struct issuer *i, int fd, void *buf, size_t size);
int issue_close(struct issuer *i, int fd);

#endif
