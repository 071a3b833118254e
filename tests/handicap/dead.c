// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A library for LD_PRELOAD: events open, and never count or sample.  DEAD names which: "breakpoints"
 * (also if it is not set), as under hypervisors that do not deliver them; "software": page faults
 * and clocks; or both.  "late": a sample_freq is lowered, so that samples come late, as on a busy
 * machine.  A member of the attr is replaced while the kernel reads it, so a tracer sees
 * another one: the address of a breakpoint, the config of the dummy event, or a sample_freq.  Programs that make
 * the call without syscall(3) are missed.
 */
#include "preload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

/* Below it nothing is mapped (vm.mmap_min_addr), and no breakpoint fires anyway. */
#define MAPPABLE 0x10000
/* Samples in a second of the CPU. */
#define LATE 10
/* The bit of an address whose change leads to where the kernel maps nothing unasked. */
#define NOWHERE (1ULL << 46)

static bool is_dead(const char *kind)
{
	const char *dead = getenv("DEAD") ?: "breakpoints";

	return strstr(dead, kind);
}

/* Return whether an address, or a member of a software event, is to be replaced, and by what. */
static bool replacement(uint32_t type, uint64_t value, uint64_t *other)
{
	if (type == PERF_TYPE_BREAKPOINT) {
		*other = value ^ NOWHERE;
		return is_dead("breakpoints") && value >= MAPPABLE && (int64_t)value >= 0;
	}
	*other = LATE;
	if (is_dead("late"))
		return value > 100 && value < 1000;	/* no short period, and none in ns */
	*other = PERF_COUNT_SW_DUMMY;
	return is_dead("software") &&
	       (value == PERF_COUNT_SW_CPU_CLOCK || value == PERF_COUNT_SW_TASK_CLOCK ||
		value == PERF_COUNT_SW_PAGE_FAULTS || value == PERF_COUNT_SW_PAGE_FAULTS_MIN);
}

/* Make a call whose argument n points to an attr, with one member replaced. */
static long call_with_attr(long nr, const long *a, int n)
{
	char *attr = (char *)a[n], *place;
	uint64_t value, other;
	uint32_t type;
	long ret;

	if (!copy(SYS_process_vm_readv, &type, attr, sizeof(type)) ||
	    (type != PERF_TYPE_BREAKPOINT && type != PERF_TYPE_SOFTWARE))
		return call(nr, a);
	place = attr + (type == PERF_TYPE_BREAKPOINT ? offsetof(struct perf_event_attr, bp_addr) :
			is_dead("late") ? offsetof(struct perf_event_attr, sample_freq) :
			offsetof(struct perf_event_attr, config));
	if (!copy(SYS_process_vm_readv, &value, place, sizeof(value)) ||
	    !replacement(type, value, &other) ||
	    !copy(SYS_process_vm_writev, &other, place, sizeof(other)))
		return call(nr, a);
	ret = call(nr, a);
	copy(SYS_process_vm_writev, &value, place, sizeof(value));
	return ret;
}

static long preload_call(long nr, const long *a)
{
	return nr == SYS_perf_event_open ? call_with_attr(nr, a, 0) : call(nr, a);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	long a[6] = { fd, (long)request };

	va_start(ap, request);
	a[2] = va_arg(ap, long);
	va_end(ap);
	return (int)result((unsigned int)request == PERF_EVENT_IOC_MODIFY_ATTRIBUTES ?
			   call_with_attr(SYS_ioctl, a, 2) : call(SYS_ioctl, a));
}
