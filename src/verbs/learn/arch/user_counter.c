// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/learn/arch/user_counter.h"

#include <stddef.h>

#if defined(__x86_64__) || defined(__i386__)

static uint64_t counter_read(uint32_t counter)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
	return (uint64_t)high << 32 | low;
}

static uint64_t clock_read(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

const struct user_counter user_counter = {
	"rdpmc", "rdtsc", "/sys/bus/event_source/devices/cpu/rdpmc", "instructions:u",
	counter_read, clock_read,
};

#elif defined(__aarch64__)

/* Return a system register by the last two numbers of its encoding. */
#define COUNTER(n, crm, op2) \
	case n: \
		__asm__ volatile("mrs %0, s3_3_c14_c" #crm "_" #op2 : "=r"(v)); \
		break;
#define COUNTERS(n, crm) \
	COUNTER(n, crm, 0) COUNTER(n + 1, crm, 1) COUNTER(n + 2, crm, 2) COUNTER(n + 3, crm, 3) \
	COUNTER(n + 4, crm, 4) COUNTER(n + 5, crm, 5) COUNTER(n + 6, crm, 6)

/* pmevcntr0_el0 to pmevcntr30_el0, and pmccntr_el0 as 31 */
static uint64_t counter_read(uint32_t counter)
{
	uint64_t v = 0;

	switch (counter) {
	COUNTERS(0, 8) COUNTER(7, 8, 7)
	COUNTERS(8, 9) COUNTER(15, 9, 7)
	COUNTERS(16, 10) COUNTER(23, 10, 7)
	COUNTERS(24, 11)
	case 31:
		__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(v));
	}
	return v;
}

static uint64_t clock_read(void)
{
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
}

/* Bit 1 of config1 is the term rdpmc of the PMU. */
const struct user_counter user_counter = {
	"mrs", "mrs of cntvct_el0", "/proc/sys/kernel/perf_user_access",
	"instructions:u,config1=2", counter_read, clock_read,
};

#elif defined(__riscv) && __riscv_xlen == 64

#define COUNTER(n) \
	case n: \
		__asm__ volatile("csrr %0, %1" : "=r"(v) : "i"(0xc00 + (n))); \
		break;
#define COUNTERS(n) COUNTER(n) COUNTER(n + 1) COUNTER(n + 2) COUNTER(n + 3) \
		    COUNTER(n + 4) COUNTER(n + 5) COUNTER(n + 6) COUNTER(n + 7)

/* cycle, time, instret and hpmcounter3 to hpmcounter31 */
static uint64_t counter_read(uint32_t counter)
{
	uint64_t v = 0;

	switch (counter) {
	COUNTERS(0) COUNTERS(8) COUNTERS(16) COUNTERS(24)
	}
	return v;
}

static uint64_t clock_read(void)
{
	return counter_read(1);
}

const struct user_counter user_counter = {
	"csrr", "rdtime", "/proc/sys/kernel/perf_user_access", "instructions:u",
	counter_read, clock_read,
};

#else

const struct user_counter user_counter = {
	"none known here", "none known here", "the kernel", "instructions:u", NULL, NULL,
};

#endif
