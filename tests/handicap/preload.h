/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What libraries for LD_PRELOAD share: they change calls that a program makes with syscall(3).
 * Include it first, and define preload_call().
 */
#ifndef PEVTRACE_TESTS_PRELOAD_H
#define PEVTRACE_TESTS_PRELOAD_H

#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Make a system call as the program wants it, or another; return as the kernel does. */
static long preload_call(long nr, const long *a);

/* Make a system call, and return as the kernel does. */
static long call(long nr, const long *a)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = a[3];
	register long r8 __asm__("r8") = a[4];
	register long r9 __asm__("r9") = a[5];
	long ret;

	__asm__ volatile("syscall" : "=a"(ret)
			 : "0"(nr), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
#define ARGUMENT(n) register long x##n __asm__("x" #n) = a[n]
	register long x8 __asm__("x8") = nr;
	ARGUMENT(0); ARGUMENT(1); ARGUMENT(2); ARGUMENT(3); ARGUMENT(4); ARGUMENT(5);

	__asm__ volatile("svc #0" : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#elif defined(__riscv)
#define ARGUMENT(n) register long a##n __asm__("a" #n) = a[n]
	register long a7 __asm__("a7") = nr;
	ARGUMENT(0); ARGUMENT(1); ARGUMENT(2); ARGUMENT(3); ARGUMENT(4); ARGUMENT(5);

	__asm__ volatile("ecall" : "+r"(a0)
			 : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
	return a0;
#endif
}

/*
 * Copy memory of this process that need not be there, from it (SYS_process_vm_readv) or to it
 * (SYS_process_vm_writev); return whether it was.
 */
static bool copy(long nr, void *own, const void *other, size_t size)
{
	struct iovec local = { own, size }, remote = { (void *)other, size };
	const long a[6] = { getpid(), (long)&local, 1, (long)&remote, 1, 0 };

	return call(nr, a) == (long)size;
}

static long result(long ret)
{
	if (ret >= 0 || ret < -4095)
		return ret;
	errno = (int)-ret;
	return -1;
}

long syscall(long nr, ...)
{
	va_list ap;
	long a[6];

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	return result(preload_call(nr, a));
}

#endif
