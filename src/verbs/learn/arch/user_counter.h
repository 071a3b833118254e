/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading hardware counters and the CPU's clock without the kernel. */
#pragma once

#include <stdint.h>

struct user_counter {
	const char *instruction, *clock_instruction;
	const char *permission;	/* the file that decides who may use it */
	const char *event;	/* that counts instructions, and may be read that way */
	uint64_t (*read)(uint32_t counter);	/* index of the page minus 1; NULL: impossible */
	uint64_t (*clock)(void);		/* NULL: impossible */
};

/*
 * Return the count of an event from offset and pmc_width of its page and the counter's value.
 * linux/perf_event.h extends the counter's sign and adds; but the counters of arm64 with 32 bits
 * store an offset without that sign after a read(2), so that the sum is 2^32 too small.  Modulo
 * 2^width it is right in either case, and counts in a lesson are smaller than that.
 */
static inline uint64_t user_count(uint64_t offset, uint64_t counter, unsigned int width)
{
	uint64_t sum = offset + counter;

	return width < 64 ? sum & ((1ULL << width) - 1) : sum;
}

/* Those of the processor that pevtrace was built for. */
extern const struct user_counter user_counter;
