/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The protocol between the resolver and its helper process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/host/symtab.h"

enum {
	/* Limits of one answer: of CPU time and of elapsed time. */
	RESOLVER_CPU_S = 5,
	RESOLVER_ALL_S = 15,
};

/* To the helper, a packet that ends with the path's NUL. */
struct resolver_request {
	pid_t pid;
	bool after_call;
	uint64_t file;		/* its number in an earlier answer, or 0 */
	uint64_t start, end;	/* of the mapping */
	uint64_t offset;	/* in the file */
	char path[4096];
};

/* From the helper, a packet that ends where code does. */
struct resolver_answer {
	uint64_t file;		/* 0: the file cannot be read */
	struct code code;
};

/*
 * Answer in a forked child, until the socket closes or no request comes for a while.
 * Files are numbered from first_file + 1.  With link-time optimization, too, its frame is not
 * part of its callers'.
 */
_Noreturn __attribute__((noinline)) void resolver_run(int socket, const char *proc,
							  uint64_t first_file);
