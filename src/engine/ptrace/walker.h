/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The process that walks stacks.  libunwind maps the ELF files of the tracee and crashes
 * or loops over malformed ones, so a helper (core/lib/helper.h) calls it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	WALK_REGISTERS = 128,	/* more than libunwind has on any processor */
	WALK_FRAMES = 64,
	WALK_MODULE = 4096,
	WALK_SYMBOL = 512,
	/* Limits of one walk: of CPU time and of elapsed time. */
	WALK_CPU_S = 2,
	WALK_ALL_S = 10,
};

/*
 * A request to the walker, one packet.  A walk comes with a descriptor of /proc/TID/mem.
 * forget discards what the walker caches about the task; it has no answer.
 */
struct walk_request {
	pid_t tid;
	bool forget;
	bool named;		/* answer with libunwind's symbols, which are slow */
	bool known[WALK_REGISTERS];	/* whether each of registers has been read */
	uint64_t registers[WALK_REGISTERS];
};

enum walk_end {
	WALK_GOES_ON,	/* this is a frame */
	WALK_WHOLE,
	WALK_NO_LIBUNWIND,
	WALK_NO_REGISTERS,
	WALK_NO_POINTER,
	WALK_NO_INFORMATION,
	WALK_CUT_OFF,
	WALK_DEEP,
	WALK_ENDS,
};

/* An answer of the walker: a packet for each frame, and one after the last. */
struct walk_answer {
	enum walk_end end;
	/*
	 * The rest as in struct trace_frame, except that after_call of a signal's trampoline is
	 * true: that the next frame was interrupted shows that it is one.
	 */
	uint64_t ip, offset, start, end_of_map, pgoff;
	bool after_call;
	char module[WALK_MODULE];	/* "" for none */
	char symbol[WALK_SYMBOL];
};

/*
 * Answer in a forked child, until the socket closes.  A walk that takes too long ends
 * the process by a signal.
 */
_Noreturn void walker_run(int socket);
