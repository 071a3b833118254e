// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Attaching to a running process, thread by thread, and launching a program under trace, with
 * everything that pevtrace inherited.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/lib/program.h"
#include "engine/ptrace/proc.h"
#include "engine/ptrace/task.h"

static void refuse_permission(pid_t pid)
{
	FILE *yama = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	char path[32];
	struct stat st;
	int scope = 0;

	if (yama && fscanf(yama, "%d", &scope) != 1)
		scope = 0;
	if (yama)
		fclose(yama);
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
	char name[64];

	if (proc_is_zombie(pid)) {
		warn("cannot attach to process %d: it is a zombie", (int)pid);
		return ESRCH;
	}
	if (err == ESRCH) {
		warn("cannot attach to process %d: no such process", (int)pid);
	} else if (by > 0) {
		proc_name((pid_t)by, name, sizeof(name));
		warn("cannot attach to process %d: already traced by process %d (%s); detach that "
		     "tracer first", (int)pid, (int)by, name);
		return EPERM;
	} else if (err == EPERM) {
		refuse_permission(pid);
	} else {
		warn("cannot attach to process %d: %s", (int)pid, strerror(err));
	}
	return err;
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
	DIR *dir = proc_threads(pid);
	size_t n = 0;
	pid_t tid;

	while ((tid = proc_next_thread(dir)))
		n += !task_find(t, tid) && !attach_thread(t, tid, pid);
	if (dir)
		closedir(dir);
	return n;
}

int trace_attach(struct tracer *t, pid_t pid)
{
	char name[64];
	int err;

	if (pid <= 0)
		return refuse(pid, ESRCH);
	if (task_find(t, pid))
		return 0;
	/* PTRACE_SEIZE would refuse these without an explanation */
	if (pid == getpid()) {
		warn("cannot attach to process %d: it is pevtrace itself", (int)pid);
		return EINVAL;
	}
	if (proc_is_kernel(pid)) {
		proc_name(pid, name, sizeof(name));
		warn("cannot attach to process %d: it is a kernel thread (%s)", (int)pid, name);
		return EPERM;
	}
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

/* What the child reports through a pipe that its exec closes. */
struct child_error {
	enum { AT_FILTER, AT_EXEC } at;
	int err;
};

struct launch {
	int go[2]; /* parent to child: a byte once it is traced */
	int report[2]; /* child to parent: struct child_error */
	char *const *argv;
	bool filtered;
};

static void launched_report(const struct launch *l, int at, int err)
{
	struct child_error error = { at, err };
	ssize_t n;

	do
		n = write(l->report[1], &error, sizeof(error));
	while (n < 0 && errno == EINTR);
}

static _Noreturn void launched_main(const struct tracer *t, const struct launch *l)
{
	char byte;
	ssize_t n;
	int err;

	close(l->go[1]); /* so that read() ends if the tracer dies */
	do
		n = read(l->go[0], &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		launched_report(l, AT_EXEC, errno);
	if (n != 1)
		_exit(EXIT_TROUBLE); /* the tracer has warned */
	if (t->opts->daemon)
		prctl(PR_SET_PTRACER, 0);
	setrlimit(RLIMIT_NOFILE, &t->inherited.nofile);
	/* restore the actions that exec keeps */
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		signal(sig, sigismember(&t->inherited.ignored, sig) == 1 ? SIG_IGN : SIG_DFL);
	if (l->filtered) {
		err = filter_install(&t->filter);
		if (err)
			launched_report(l, AT_FILTER, err);
	}
	sigprocmask(SIG_SETMASK, &t->inherited.mask, NULL);
	launched_report(l, AT_EXEC, program_exec(&t->opts->program, l->argv));
	_exit(127);
}

static void try_open(const void *ctx, void *error)
{
	const unsigned long no_such_flag = 1UL << 31;

	(void)ctx;
	if (syscall(SYS_perf_event_open, NULL, 0, -1, -1, no_such_flag) < 0)
		*(int *)error = errno;
}

/*
 * Return whether a filter that this process inherited, such as that of a container, answers
 * perf_event_open(2): the kernel would see the flag first.  Its errors go before our filter's
 * SECCOMP_RET_TRACE, so that such calls would not be seen.  A child asks, as filters may kill.
 */
static bool open_is_filtered(void)
{
	int error = 0;

	if (prctl(PR_GET_SECCOMP) <= 0)
		return false;
	child_run(try_open, NULL, &error, sizeof(error));
	if (error != EINVAL)
		warn("a seccomp filter, as of a container, answers perf_event_open in place of the "
		     "kernel; expect the program to run slower, as every system call stops it");
	return error != EINVAL;
}

static bool want_filter(struct tracer *t)
{
	/* Tasks with a filter cannot be detached: see leave_task(). */
	if (t->opts->no_seccomp || t->opts->detach_on_exec || t->opts->may_leave)
		return false;
	if (t->filter.len)
		return true;
	if (open_is_filtered())
		return false;
	filter_build(&t->filter, t->opts, &t->nrs);
	filter_set_data(&t->filter, t->mark);
	return true;
}

/* Warn of what the child reported; return 0, or the errno of its exec. */
static int read_report(struct tracer *t, struct launch *l, struct task *task)
{
	struct child_error error;
	int err = 0;

	while (read(l->report[0], &error, sizeof(error)) == (ssize_t)sizeof(error)) {
		if (error.at == AT_EXEC) {
			err = program_warn(l->argv[0], error.err);
			continue;
		}
		if (task)
			task->filtered = false;
		filter_free(&t->filter);
		warn("cannot install a seccomp filter: %s; expect the program to run slower, as "
		     "every system call stops it", strerror(error.err));
	}
	return err;
}

/*
 * Trace the child to the stop of its exec, or to its end; return 0 or an errno.  The
 * report is read before the exec stop is handled.  err: why the child was killed, or 0.
 */
static int trace_to_exec(struct tracer *t, struct launch *l, pid_t pid, int err)
{
	int status = 0;

	for (;;) {
		unsigned int event;
		pid_t got = wait4(pid, &status, __WALL, NULL);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || !WIFSTOPPED(status))
			break;
		event = (unsigned int)status >> 16;
		if (event == PTRACE_EVENT_EXEC) {
			err = read_report(t, l, task_find(t, pid));
			stop_handle(t, pid, status);
			return err;
		}
		stop_handle(t, pid, status);
	}
	if (!err)
		err = read_report(t, l, NULL);
	if (!err) {
		/* A signal killed the child before its exec: report it as the program. */
		struct trace_birth birth = { .tid = pid, .pid = pid };

		task_find(t, pid)->starting = false;
		t->ops->born(t->ctx, &birth);
	} else {
		t->launched = 0;
	}
	task_gone(t, task_find(t, pid), status);
	return err;
}

static int trace_child(struct tracer *t, struct launch *l, pid_t pid)
{
	int err = ptrace_seize(pid, true, l->filtered);
	struct task *task;
	long by;

	if (err) {
		by = proc_status(getpid(), "TracerPid");
		if (err == EPERM && by > 0)
			warn("cannot trace the program: process %ld traces pevtrace, and so its "
			     "children; run pevtrace without that tracer", by);
		else
			warn("cannot trace the program: %s%s", strerror(err),
			     err == EPERM || err == ENOSYS || err == EACCES ?
			     "; check whether the container, AppArmor, SELinux or "
			     "kernel.yama.ptrace_scope forbids ptrace" : "");
		kill(pid, SIGKILL);
		child_wait(pid);
		return err;
	}
	task = task_add(t, pid, pid);
	task->starting = true;
	task->root = true;
	task->filtered = l->filtered;
	if (l->filtered)
		task->second_filter = second_filter_new();
	t->launched = pid;
	if (write(l->go[1], "", 1) != 1) {
		err = errno;
		warn("cannot start '%s': %s", l->argv[0], strerror(err));
		kill(pid, SIGKILL);
	}
	return trace_to_exec(t, l, pid, err);
}

/*
 * Leave the calling process to the program, and go on in a grandchild of it.  Return 0 in the
 * program's process, its pid in the grandchild, -1 on failure.
 */
static pid_t fork_tracer(struct tracer *t)
{
	pid_t program = getpid(), pid = fork();

	if (pid > 0) {
		/* the program must have no child that it does not know; Yama must let us trace it */
		child_wait(pid);
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		return 0;
	}
	if (pid < 0)
		return -1;
	pid = fork();
	if (pid)
		_exit(pid < 0);
	if (t->opts->daemon == TRACE_OWN_GROUP)
		setpgid(0, 0);
	else if (t->opts->daemon == TRACE_OWN_SESSION)
		setsid();
	pulse_start(t);		/* timers are not inherited */
	return program;
}

static void close_pipe(int p[2])
{
	close(p[0]);
	close(p[1]);
}

int trace_launch(struct tracer *t, char *const argv[])
{
	struct launch l = { .argv = argv };
	pid_t pid = -1;
	int err = 0;

	signal_forward_block(t);
	l.filtered = want_filter(t);
	if (pipe2(l.go, O_CLOEXEC)) {
		err = errno;
	} else if (pipe2(l.report, O_CLOEXEC)) {
		err = errno;
		close_pipe(l.go);
	} else {
		pid = t->opts->daemon ? fork_tracer(t) : fork();
		if (pid == 0)
			launched_main(t, &l);
		if (pid < 0) {
			err = errno;
			close_pipe(l.report);
			close_pipe(l.go);
		}
	}
	if (err) {
		warn("cannot start '%s': %s%s", argv[0], strerror(err), error_advice(err));
		return err;
	}
	close(l.report[1]);
	err = trace_child(t, &l, pid);
	close(l.report[0]);
	close_pipe(l.go);
	return err;
}
