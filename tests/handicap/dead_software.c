// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A library for LD_PRELOAD: page faults and clocks open, and never count or sample.  In their place
 * the kernel opens the dummy event.  It may be combined with others, if it is the first.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

typedef long syscall_fn(long nr, ...);

/* Copy memory of this process that need not be there; return whether it was. */
static bool copy(syscall_fn *next, long nr, void *own, const void *other, size_t size)
{
	struct iovec local = { own, size }, remote = { (void *)other, size };

	return next(nr, (long)getpid(), &local, 1L, &remote, 1L, 0L) == (long)size;
}

static bool is_measured(uint32_t type, uint64_t config)
{
	return type == PERF_TYPE_SOFTWARE &&
	       (config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK ||
		config == PERF_COUNT_SW_PAGE_FAULTS || config == PERF_COUNT_SW_PAGE_FAULTS_MIN);
}

static long open_event(syscall_fn *next, const long *a)
{
	char *attr = (char *)a[0], *place = attr + offsetof(struct perf_event_attr, config);
	uint64_t config, dummy = PERF_COUNT_SW_DUMMY;
	uint32_t type;
	bool changed = copy(next, SYS_process_vm_readv, &type, attr, sizeof(type)) &&
		       copy(next, SYS_process_vm_readv, &config, place, sizeof(config)) &&
		       is_measured(type, config) &&
		       copy(next, SYS_process_vm_writev, &dummy, place, sizeof(dummy));
	long fd = next(SYS_perf_event_open, a[0], a[1], a[2], a[3], a[4], a[5]);

	if (changed)
		copy(next, SYS_process_vm_writev, &config, place, sizeof(config));
	return fd;
}

long syscall(long nr, ...)
{
	syscall_fn *next = (syscall_fn *)dlsym(RTLD_NEXT, "syscall");
	va_list ap;
	long a[6];

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	return nr == SYS_perf_event_open ? open_event(next, a) :
	       next(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}
