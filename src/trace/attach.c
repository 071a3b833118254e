// SPDX-License-Identifier: LGPL-2.1-or-later
/* Taking hold of a process that runs already, thread by thread. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/die.h"
#include "trace/proc.h"
#include "trace/task.h"

static int refuse_traced(pid_t pid, pid_t by)
{
	char name[64];

	if (by == getpid()) {
		warn("process %d is traced already, by this command", (int)pid);
	} else {
		proc_name(by, name, sizeof(name));
		warn("cannot attach to process %d: it is traced already, by "
		     "process %d (%s); a process has one tracer only",
		     (int)pid, (int)by, name);
	}
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
		warn("cannot attach to process %d: it belongs to user %u, not "
		     "to you (%u), or is set-user-ID; try as root",
		     (int)pid, (unsigned int)st.st_uid,
		     (unsigned int)geteuid());
	else if (scope >= 3)
		warn("cannot attach to process %d: "
		     "kernel.yama.ptrace_scope=%d forbids all tracing until "
		     "the next boot",
		     (int)pid, scope);
	else if (scope >= 1 && geteuid())
		warn("cannot attach to process %d: kernel.yama.ptrace_scope="
		     "%d; try as root, or as root: "
		     "sysctl kernel.yama.ptrace_scope=0",
		     (int)pid, scope);
	else
		warn("cannot attach to process %d: not permitted; in a "
		     "container this needs the SYS_PTRACE capability, and a "
		     "security module (AppArmor, SELinux) may forbid it",
		     (int)pid);
}

static int refuse(pid_t pid, int err)
{
	long by = proc_status(pid, "TracerPid");

	if (proc_is_zombie(pid)) {
		warn("cannot attach to process %d: it has ended, and only "
		     "waits for its parent to notice",
		     (int)pid);
		return ESRCH;
	}
	if (err == ESRCH)
		warn("cannot attach to process %d: no such process", (int)pid);
	else if (by > 0)
		return refuse_traced(pid, (pid_t)by);
	else if (err == EPERM)
		refuse_permission(pid);
	else
		warn("cannot attach to process %d: %s", (int)pid,
		     strerror(err));
	return err;
}

/* What SEIZE would refuse without a good reason, or should not be done. */
static int check(pid_t pid)
{
	char name[64];

	if (pid == getpid()) {
		warn("cannot attach to process %d: that is pevtrace itself",
		     (int)pid);
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

/* 0 or an errno.  The task runs on until the stop that we ask for here. */
static int seize(struct tracer *t, pid_t tid, pid_t pid)
{
	struct trace_birth birth = { .tid = tid, .pid = pid, .attached = true };
	struct task *task;

	if (ptrace_do(PTRACE_SEIZE, tid, 0, seize_options(false, false)))
		return errno;
	task = task_add(t, tid, pid);
	task_ask(task);
	task->root = true;
	birth.shares_files = birth.shares_memory = tid != pid;
	t->ops->born(t->ctx, &birth);
	return 0;
}

/*
 * Seizes the threads that are not ours yet; how many that were.  A thread
 * that a seized one makes is traced from birth: SEIZE refuses it, and its
 * maker will announce it.
 */
static size_t seize_threads(struct tracer *t, pid_t pid)
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

		if (tid > 0 && !task_find(t, tid) && !seize(t, tid, pid))
			n++;
	}
	closedir(dir);
	return n;
}

int trace_attach(struct tracer *t, pid_t pid)
{
	long group = pid > 0 ? proc_status(pid, "Tgid") : -1;
	int err;

	if (group > 0 && group != pid) {
		warn("%d is a thread of process %ld: attaching to the process",
		     (int)pid, group);
		pid = (pid_t)group;
	}
	if (pid <= 0)
		return refuse(pid, ESRCH);
	err = check(pid);
	if (err)
		return err;
	err = seize(t, pid, pid);
	/* The first thread may have ended, and others go on. */
	if (err && proc_is_zombie(pid) && seize_threads(t, pid))
		err = 0;
	if (err)
		return refuse(pid, err);
	while (seize_threads(t, pid))
		;
	return 0;
}
