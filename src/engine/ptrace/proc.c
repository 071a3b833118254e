// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/lib/die.h"

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

bool proc_is_pending(pid_t pid, int sig)
{
	unsigned long long set = status_number(pid, "ShdPnd", 16);

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

uint32_t proc_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == 0xeffffffc ? 0 : (uint32_t)st.st_ino;
}
