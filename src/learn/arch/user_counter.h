/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading hardware counters and the CPU's clock without the kernel. */
#ifndef PEVTRACE_LEARN_ARCH_USER_COUNTER_H
#define PEVTRACE_LEARN_ARCH_USER_COUNTER_H

#include <stdint.h>

struct user_counter {
	const char *instruction, *clock_instruction;
	const char *permission;	/* the file that decides who may use it */
	const char *event;	/* that counts instructions, and may be read that way */
	uint64_t (*read)(uint32_t counter);	/* index of the page minus 1; NULL: impossible */
	uint64_t (*clock)(void);		/* NULL: impossible */
};

/* Those of the processor that pevtrace was built for. */
extern const struct user_counter user_counter;

#endif
