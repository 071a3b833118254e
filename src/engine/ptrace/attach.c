// SPDX-License-Identifier: LGPL-2.1-or-later
/* Attaching to a running process, thread by thread. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "engine/ptrace/proc.h"
#include "engine/ptrace/task.h"

static int refuse_traced(pid_t pid, pid_t by)
{
	char name[64];

	proc_name(by, name, sizeof(name));
	warn("cannot attach to process %d: already traced by process %d (%s); detach that tracer "
	     "first", (int)pid, (int)by, name);
	return EPERM;
}

static int yama_scope(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%d", &scope) != 1)
		scope = 0;
	fclose(f);
	return scope;
}

static void refuse_permission(pid_t pid)
{
	char path[32];
	struct stat st;
	int scope = yama_scope();

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (geteuid() && !stat(path, &st) && st.st_uid != geteuid())
		warn("cannot attach to process %d: user %u owns it, not you (user %u), "
		     "or it is set-user-ID; try as root",
		     (int)pid, (unsigned int)st.st_uid, (unsigned int)geteuid());
	else if (scope >= 3)
		warn("cannot attach to process %d: kernel.yama.ptrace_scope=%d forbids all "
		     "tracing; reboot with another value", (int)pid, scope);
	else if (scope >= 1 && geteuid())
		warn("cannot attach to process %d: kernel.yama.ptrace_scope=%d; try as root, "
		     "or run as root: sysctl kernel.yama.ptrace_scope=0", (int)pid, scope);
	else
		warn("cannot attach to process %d: not permitted; check CAP_SYS_PTRACE of "
		     "the container, and AppArmor or SELinux", (int)pid);
}

static int refuse(pid_t pid, int err)
{
	long by = proc_status(pid, "TracerPid");

	if (proc_is_zombie(pid)) {
		warn("cannot attach to process %d: it is a zombie", (int)pid);
		return ESRCH;
	}
	if (err == ESRCH)
		warn("cannot attach to process %d: no such process", (int)pid);
	else if (by > 0)
		return refuse_traced(pid, (pid_t)by);
	else if (err == EPERM)
		refuse_permission(pid);
	else
		warn("cannot attach to process %d: %s", (int)pid, strerror(err));
	return err;
}

/* Refuse what PTRACE_SEIZE would refuse without an explanation. */
static int check_target(pid_t pid)
{
	char name[64];

	if (pid == getpid()) {
		warn("cannot attach to process %d: it is pevtrace itself", (int)pid);
		return EINVAL;
	}
	if (proc_is_kernel(pid)) {
		proc_name(pid, name, sizeof(name));
		warn("cannot attach to process %d: it is a kernel thread (%s)",
		     (int)pid, name);
		return EPERM;
	}
	return 0;
}

/* Seize and interrupt one thread; return 0 or an errno. */
static int attach_thread(struct tracer *t, pid_t tid, pid_t pid)
{
	struct trace_birth birth = { .tid = tid, .pid = pid, .attached = true };
	int err = ptrace_seize(tid, t->opts->kill_on_exit, false);
	struct task *task;

	if (err)
		return err;
	task = task_add(t, tid, pid);
	task_interrupt(task);
	task->root = true;
	birth.shares_files = birth.shares_memory = tid != pid;
	t->ops->born(t->ctx, &birth);
	return 0;
}

/*
 * Seize the threads that are not traced yet; return how many.  PTRACE_SEIZE refuses a new
 * thread of a seized one, which is traced from birth: its parent's event reports it.
 */
static size_t attach_threads(struct tracer *t, pid_t pid)
{
	char path[32];
	struct dirent *entry;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !task_find(t, tid) && !attach_thread(t, tid, pid))
			n++;
	}
	closedir(dir);
	return n;
}

int trace_attach(struct tracer *t, pid_t pid)
{
	int err;

	if (pid <= 0)
		return refuse(pid, ESRCH);
	if (task_find(t, pid))
		return 0;
	err = check_target(pid);
	if (err)
		return err;
	err = attach_thread(t, pid, pid);
	/* The leader may have ended while other threads run. */
	if (err && proc_is_zombie(pid) && attach_threads(t, pid))
		err = 0;
	if (err)
		return refuse(pid, err);
	while (attach_threads(t, pid))
		;
	return 0;
}
