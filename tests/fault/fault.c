// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Preloaded into pevtrace by tests/fault.py: makes one call of one function fail.
 *
 *   FAULT=NAME:N:ERRNO	the Nth call of the function, of pevtrace and the
 *			children it forks together; "NAME:0:0" none
 *   FAULT_PAGE=FILE	4096 bytes: how often each function was called, as u64
 *			in the order of names[]
 *
 * What pevtrace runs by exec is left alone.  Wrappers take and hand on seven words,
 * whatever the function takes: so do the calling conventions of x86-64 and
 * aarch64 for numbers and pointers.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* name, what it returns when it fails, whether it is to be done all the same */
#define FUNCTIONS(f) \
	f(malloc, 0, false) f(calloc, 0, false) f(realloc, 0, false) \
	f(open, -1, false) f(openat, -1, false) f(fopen, 0, false) \
	f(fdopen, 0, false) f(opendir, 0, false) f(fdopendir, 0, false) \
	f(readdir, 0, false) f(readlink, -1, false) f(readlinkat, -1, false) \
	f(read, -1, false) f(pread, -1, false) f(write, -1, false) f(send, -1, false) \
	f(fread, 0, false) f(fflush, -1, true) f(fclose, -1, true) f(fstat, -1, false) \
	f(ftruncate, -1, false) f(fcntl, -1, false) f(dup2, -1, false) \
	f(process_vm_readv, -1, false) \
	f(process_vm_writev, -1, false) f(mmap, -1, false) f(mprotect, -1, false) \
	f(fork, -1, false) f(pipe2, -1, false) f(socketpair, -1, false) \
	f(execve, -1, false) f(prctl, -1, false) \
	f(ioctl, -1, false) f(poll, -1, false) f(signalfd, -1, false) \
	f(memfd_create, -1, false) f(tmpfile, 0, false) f(timer_create, -1, false) \
	f(timer_settime, -1, false) f(sigaction, -1, false) f(setrlimit, -1, false) \
	f(sched_setaffinity, -1, false) f(getrandom, -1, false)

enum function {
#define NUMBER(name, value, anyway) F_##name,
	FUNCTIONS(NUMBER)
	/* by syscall(2); what the kernel says to perf_event_open is its business */
	F_ptrace, F_syscall, NFUNCTIONS,
};

static const char *const names[] = {
#define NAME(name, value, anyway) #name,
	FUNCTIONS(NAME)
	"ptrace", "syscall",
};

enum { ERROR_SEEN = 0x20 };	/* what ferror() looks at in glibc */

typedef long function(long, long, long, long, long, long, long);

static function *real[NFUNCTIONS];
static uint64_t *counts;	/* shared with the children; NULL: keep out */
static uint64_t wanted;
static enum function which;
static int error;

/* These are called before there is a dlsym(), and by it. */
extern function __libc_malloc, __libc_calloc, __libc_realloc;

static bool fails(enum function f)
{
	if (!counts ||
	    __atomic_add_fetch(&counts[f], 1, __ATOMIC_RELAXED) != wanted || f != which)
		return false;
	errno = error;
	return true;
}

static function *really(enum function f)
{
	if (f == F_malloc)
		return __libc_malloc;
	if (f == F_calloc)
		return __libc_calloc;
	if (f == F_realloc)
		return __libc_realloc;
	if (!real[f])
		real[f] = (function *)dlsym(RTLD_NEXT, names[f]);
	return real[f];
}

#define WRAPPER(name, value, anyway) \
	function fault_##name __asm__(#name); \
	long fault_##name(long a, long b, long c, long d, long e, long f, long g) \
	{ \
		bool failing = fails(F_##name); \
		\
		if (failing && anyway) \
			really(F_##name)(a, b, c, d, e, f, g); \
		if (failing && F_##name == F_fread) \
			((FILE *)d)->_flags |= ERROR_SEEN; \
		if (failing) \
			errno = error; \
		return failing ? value : really(F_##name)(a, b, c, d, e, f, g); \
	}
FUNCTIONS(WRAPPER)

function fault_syscall __asm__("syscall");
long fault_syscall(long a, long b, long c, long d, long e, long f, long g)
{
	if (a != SYS_perf_event_open && fails(a == SYS_ptrace ? F_ptrace : F_syscall))
		return -1;
	return really(F_syscall)(a, b, c, d, e, f, g);
}

__attribute__((constructor)) static void begin(void)
{
	const char *fault = getenv("FAULT"), *page = getenv("FAULT_PAGE");
	char name[32] = "", *end;
	void *at;
	int fd;

	if (!fault || !page || strcmp(program_invocation_short_name, "pevtrace"))
		return;
	for (size_t i = 0; i < sizeof(name) - 1 && fault[i] && fault[i] != ':'; i++)
		name[i] = fault[i];
	for (which = 0; which < NFUNCTIONS && strcmp(names[which], name); which++)
		;
	fault += strlen(name);
	wanted = *fault ? strtoull(fault + 1, &end, 0) : 0;
	error = *fault && *end ? atoi(end + 1) : 0;
	fd = open(page, O_RDWR | O_CLOEXEC);
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at != MAP_FAILED)
		counts = at;
}
