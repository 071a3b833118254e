/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the program that asks kernels shares between its files. */
#ifndef PEVTRACE_TESTS_ASKS_H
#define PEVTRACE_TESTS_ASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/abi/layout.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum {
	ATTR_ROOM = 8192,
	ASK_SIZE = 160,		/* of attrs: more than any kernel knows */
	PLACE = 0x20000000,	/* of a page that attrs end at, the same in every run */
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* An event to begin with. */
struct base {
	char name[48];
	bool absent;		/* this machine has no such thing */
	bool slow;		/* to open and to close */
	uint8_t attr[ATTR_ROOM];
};

/* The arguments of perf_event_open besides the attr, with words for them. */
struct asked {
	const uint8_t *attr;
	uint64_t pointer;	/* in place of the attr's address, unless 0 */
	int32_t pid, cpu, group_fd;
	uint64_t flags;
	char label[200];
};

/* Makes the call and prints a line of it: what was asked, errno, attr.size. */
void ask(const struct asked *a);

/* perf_event_open and ioctl, counted: the descriptor or result, or a negative errno. */
int64_t counted_open(void *attr, int32_t pid, int32_t cpu, int32_t group_fd, uint64_t flags);
int64_t counted_ioctl(int fd, unsigned long request, uint64_t arg);

/* Prints the line of a call: the count of calls, what it was, errno and a size. */
void tell(const char *label, int64_t result, uint32_t size);

void put(uint8_t *attr, unsigned int index, uint64_t v);

/* The bases, and the stopped child that is measured. */
struct base *bases_make(size_t *n);
int32_t stopped_child(void);

/* asks_ioctl.c: every ioctl on events of every kind. */
void ask_ioctls(const struct base *bases, size_t n, int32_t child);

#endif
