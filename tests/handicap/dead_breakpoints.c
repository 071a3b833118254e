// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A library for LD_PRELOAD: breakpoints open, and never fire, as under hypervisors that do not
 * deliver them.  Their address is replaced while the kernel reads the attr, so a tracer sees another
 * one.  Programs that make the call without syscall(3) are missed.
 */
#include "preload.h"

#include <sys/ioctl.h>

/* Below it nothing is mapped (vm.mmap_min_addr), and no breakpoint fires anyway. */
#define MAPPABLE 0x10000
/* The bit of an address whose change leads to where the kernel maps nothing unasked. */
#define NOWHERE (1ULL << 46)

/* Make a call whose argument n points to an attr, with another address if it is a breakpoint's. */
static long call_with_attr(long nr, const long *a, int n)
{
	char *attr = (char *)a[n];
	uint64_t *place = (uint64_t *)(attr + offsetof(struct perf_event_attr, bp_addr));
	uint64_t addr, nowhere;
	uint32_t type;
	long ret;

	if (!copy(SYS_process_vm_readv, &type, attr, sizeof(type)) ||
	    type != PERF_TYPE_BREAKPOINT ||
	    !copy(SYS_process_vm_readv, &addr, place, sizeof(addr)) || addr < MAPPABLE ||
	    (int64_t)addr < 0)
		return call(nr, a);
	nowhere = addr ^ NOWHERE;
	if (!copy(SYS_process_vm_writev, &nowhere, place, sizeof(nowhere)))
		return call(nr, a);
	ret = call(nr, a);
	copy(SYS_process_vm_writev, &addr, place, sizeof(addr));
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
