// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/lib/libc.h"

long ptrace_do(unsigned int request, pid_t tid, uintptr_t addr, uintptr_t data)
{
	return syscall(SYS_ptrace, (long)request, (long)tid, addr, data);
}

bool ptrace_must(unsigned int request, pid_t tid, uintptr_t addr, uintptr_t data)
{
	if (!ptrace_do(request, tid, addr, data))
		return true;
	if (errno != ESRCH)
		die("cannot control task %d: ptrace request %#x: %s", (int)tid, request,
		    strerror(errno));
	return false;
}

int ptrace_seize(pid_t tid, bool launched, bool filtered)
{
	const uintptr_t options =
		PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
		(filtered ? PTRACE_O_TRACESECCOMP : 0) | (launched ? PTRACE_O_EXITKILL : 0);

	return ptrace_do(PTRACE_SEIZE, tid, 0, options) ? errno : 0;
}

void ptrace_syscall_info(pid_t tid, struct ptrace_syscall_info *info)
{
	*info = (struct ptrace_syscall_info){ .op = PTRACE_SYSCALL_INFO_NONE };
	if (ptrace_do(PTRACE_GET_SYSCALL_INFO, tid, sizeof(*info), (uintptr_t)info) < 0 &&
	    errno != ESRCH)
		die("cannot read the system call of task %d: PTRACE_GET_SYSCALL_INFO: %s%s",
		    (int)tid, strerror(errno),
		    errno == EIO ? "; use Linux 5.3 or later" : "");
}

/* Read /proc/TID/FILE as a string; return false if it is empty or unreadable. */
static bool proc_read(pid_t tid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static unsigned long long status_number(pid_t tid, const char *key, int base)
{
	char text[4096];
	size_t len = strlen(key);

	if (!proc_read(tid, "status", text, sizeof(text)))
		return ULLONG_MAX;
	for (char *line = text; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (!strncmp(line, key, len) && line[len] == ':')
			return strtoull(line + len + 1, NULL, base);
	}
	return ULLONG_MAX;
}

long proc_status(pid_t tid, const char *key)
{
	return (long)status_number(tid, key, 10);
}

bool proc_is_pending(pid_t tid, const char *key, int sig)
{
	unsigned long long set = status_number(tid, key, 16);

	return set != ULLONG_MAX && set >> (sig - 1) & 1;
}

long proc_syscall(pid_t tid)
{
	char text[256], *end;
	long nr;

	/* "running", or a number and its arguments */
	if (!proc_read(tid, "syscall", text, sizeof(text)))
		return -1;
	nr = strtol(text, &end, 10);
	return end == text ? -1 : nr;
}

void proc_name(pid_t tid, char *name, size_t size)
{
	if (!proc_read(tid, "comm", name, size))
		snprintf(name, size, "?");
	name[strcspn(name, "\n")] = '\0';
}

/* Read the state and the flags (PF_*) from /proc/TID/stat. */
static bool proc_stat(pid_t tid, char *state, unsigned int *flags)
{
	char text[1024], *p;

	if (!proc_read(tid, "stat", text, sizeof(text)))
		return false;
	p = strrchr(text, ')'); /* the name may contain parentheses */
	return p &&
	       sscanf(p + 1, " %c %*d %*d %*d %*d %*d %u", state, flags) == 2;
}

bool proc_is_kernel(pid_t tid)
{
	enum { KTHREAD = 0x00200000 }; /* PF_KTHREAD */
	unsigned int flags;
	char state;

	return proc_stat(tid, &state, &flags) && (flags & KTHREAD);
}

bool proc_is_zombie(pid_t tid)
{
	unsigned int flags;
	char state;

	return proc_stat(tid, &state, &flags) &&
	       (state == 'Z' || state == 'X');
}

DIR *proc_threads(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return opendir(path);
}

pid_t proc_next_thread(DIR *dir)
{
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0)
			return tid;
	}
	return 0;
}

uint32_t proc_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == 0xeffffffc ? 0 : (uint32_t)st.st_ino;
}

enum {
	PAGE = 4096, /* the page size of every architecture is a multiple */
	BATCH = 32,
	LIMIT_NS = 200000000, /* a disk may be slow */
	STACK = 64 * 1024,
};

/* A read by another thread.  Both threads own it; the last one frees it. */
struct timed_read {
	sem_t done;
	atomic_int owners;
	pid_t tid;
	uint64_t addr;
	size_t len, got;
	char data[];
};

static void timed_read_put(struct timed_read *r)
{
	if (atomic_fetch_sub(&r->owners, 1) > 1)
		return;
	sem_destroy(&r->done);
	free(r);
}

static void *timed_read_run(void *ctx)
{
	struct timed_read *r = ctx;

	r->got = remote_read(r->tid, r->addr, r->data, r->len);
	sem_post(&r->done);
	timed_read_put(r);
	return NULL;
}

static size_t timed_read(pid_t tid, uint64_t addr, void *dst, size_t len)
{
	struct timed_read *r = xmalloc(sizeof(*r) + len);
	pthread_attr_t attr;
	struct timespec end;
	sigset_t all, mask;
	size_t got = 0;
	pthread_t id;
	int err;

	*r = (struct timed_read){ .tid = tid, .addr = addr, .len = len };
	atomic_init(&r->owners, 2);
	sem_init(&r->done, 0, 0);
	/* block signals in the new thread: the tracing thread handles them */
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	err = pthread_create(&id, &attr, timed_read_run, r);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_attr_destroy(&attr);
	if (err) {
		free(r);
		return remote_read(tid, addr, dst, len);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += LIMIT_NS;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do
		err = sem_clockwait(&r->done, CLOCK_MONOTONIC, &end) ? errno : 0;
	while (err == EINTR);
	if (!err) {
		got = r->got;
		memcpy(dst, r->data, got);
	}
	timed_read_put(r);
	return got;
}

size_t remote_read_timeout(pid_t tid, uint64_t addr, void *dst, size_t len)
{
	const uint64_t last = (addr + len - 1) / PAGE;
	uint64_t page = addr / PAGE;
	bool valid = len && addr == (uintptr_t)addr && len <= UINTPTR_MAX - addr;

	/* are all pages present? */
	while (valid && page <= last) {
		void *pages[BATCH];
		int where[BATCH];
		size_t n = 0;

		for (; n < BATCH && page <= last; page++)
			pages[n++] = (void *)(uintptr_t)(page * PAGE);
		if (syscall(SYS_move_pages, tid, n, pages, NULL, where, 0))
			break; /* it cannot tell */
		for (size_t i = 0; i < n; i++)
			if (where[i] < 0)
				return timed_read(tid, addr, dst, len);
	}
	return remote_read(tid, addr, dst, len);
}

static size_t mem_read(const struct mem *m, uint64_t addr, void *dst, size_t len)
{
	/* mem is the first member of struct remote */
	return remote_read_timeout(((const struct remote *)m)->tid, addr, dst, len);
}

struct remote remote_of(pid_t tid)
{
	return (struct remote){ { mem_read }, tid };
}

/* Read /proc/TID/mem: process_vm_readv(2) may be missing or forbidden. */
static size_t remote_read_file(pid_t tid, uint64_t addr, char *dst, size_t len)
{
	char path[32];
	size_t done = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	while (done < len) {
		ssize_t n =
			pread(fd, dst + done, len - done, (off_t)(addr + done));

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	close(fd);
	return done;
}

size_t remote_read(pid_t tid, uint64_t addr, void *dst, size_t len)
{
	size_t done = 0;

	if (addr != (uintptr_t)addr)
		return 0;
	if (len > UINTPTR_MAX - addr)
		len = (size_t)(UINTPTR_MAX - addr);
	while (done < len) {
		struct iovec remote[BATCH], local;
		size_t bytes = 0, n = 0;
		ssize_t got;

		/* process_vm_readv(2) copies each piece whole or not at all: they end with pages */
		while (bytes < len - done && n < BATCH) {
			uint64_t at = addr + done + bytes;
			size_t piece = PAGE - (size_t)(at % PAGE);

			if (piece > len - done - bytes)
				piece = len - done - bytes;
			remote[n++] = (struct iovec){ (void *)(uintptr_t)at, piece };
			bytes += piece;
		}
		local = (struct iovec){ (char *)dst + done, bytes };
		got = process_vm_readv(tid, &local, 1, remote, n, 0);
		if (got < 0 && (errno == EPERM || errno == ENOSYS))
			return done + remote_read_file(tid, addr + done, (char *)dst + done,
						       len - done);
		if (got <= 0)
			break;
		done += (size_t)got;
		if ((size_t)got < bytes)
			break;
	}
	return done;
}
