/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The process that walks stacks.  libunwind maps the ELF files of the target and
 * believes what they say of themselves: over one that lies it crashes, or goes
 * round for ever.  So it does it where nothing else is lost.
 */
#ifndef PEVTRACE_TRACE_WALKER_H
#define PEVTRACE_TRACE_WALKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	WALK_REGISTERS = 128,	/* more than libunwind numbers on any processor */
	WALK_FRAMES = 64,
	WALK_MODULE = 4096,
	WALK_SYMBOL = 512,
	/* How long one walk may take: on the processor, and altogether. */
	WALK_CPU_S = 2,
	WALK_ALL_S = 10,
};

/*
 * To the walker, one packet; with a descriptor of /proc/TID/mem unless it is to
 * forget what it knows of the task, which it does not answer.
 */
struct walk_request {
	pid_t tid;
	bool forget;
	bool known[WALK_REGISTERS];	/* these registers */
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

/* From the walker, a packet for each frame, and one behind the last. */
struct walk_answer {
	enum walk_end end;
	uint64_t ip, offset;		/* as in struct trace_frame */
	char module[WALK_MODULE];	/* "" for none */
	char symbol[WALK_SYMBOL];
};

/*
 * What a forked child does: answers until the other end of the socket closes.
 * Ends itself, by a signal, when a walk takes too long.
 */
_Noreturn void walker_run(int socket);

#endif
