// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/ptrace.h"

#include <errno.h>
#include <string.h>
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
