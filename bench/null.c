// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The least that a ptrace tracer with a seccomp filter can do: it follows a
 * program and everything it starts, stops at the given calls, and does nothing
 * there.  No tracer that stops at these calls can be faster.
 *
 *	null [-1] [-e CALL[,CALL]... | -e perf] COMMAND [ARG]...
 *
 * -e perf, the default, stops at perf_event_open, at ioctl where the command's
 * type is '$', and at mmap of a shared file.  -1 stops at the start of a call
 * only, not at its return too.
 */
#include <errno.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TROUBLE = 2 };

static _Noreturn void fail(const char *what, int error)
{
	fprintf(stderr, "null: %s: %s\n", what, strerror(error));
	exit(TROUBLE);
}

static void watch(scmp_filter_ctx filter, const char *name, unsigned int n,
		  const struct scmp_arg_cmp *args)
{
	int nr = seccomp_syscall_resolve_name(name);
	int err;

	if (nr == __NR_SCMP_ERROR) {
		fprintf(stderr, "null: no such call: %s\n", name);
		exit(TROUBLE);
	}
	err = seccomp_rule_add_array(filter, SCMP_ACT_TRACE(0), nr, n, args);
	if (err)
		fail(name, -err);
}

static void watch_perf(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp ioctl_perf[] = {
		SCMP_A1(SCMP_CMP_MASKED_EQ, 0xff00, '$' << 8),
	};
	const struct scmp_arg_cmp mmap_shared[] = {
		SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_SHARED | MAP_ANONYMOUS,
			MAP_SHARED),
	};

	watch(filter, "perf_event_open", 0, NULL);
	watch(filter, "ioctl", 1, ioctl_perf);
	watch(filter, "mmap", 1, mmap_shared);
}

static scmp_filter_ctx make_filter(char *calls)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (!filter)
		fail("seccomp_init", ENOMEM);
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, geteuid() != 0);
	if (!calls || !strcmp(calls, "perf")) {
		watch_perf(filter);
		return filter;
	}
	for (char *name = strtok(calls, ","); name; name = strtok(NULL, ","))
		watch(filter, name, 0, NULL);
	return filter;
}

static pid_t launch(scmp_filter_ctx filter, char **argv)
{
	const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP |
		PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
		PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
	pid_t pid = fork();
	int err;

	if (pid < 0)
		fail("fork", errno);
	if (!pid) {
		raise(SIGSTOP);
		err = seccomp_load(filter);
		if (err)
			fail("seccomp_load", -err);
		execvp(argv[0], argv);
		fail(argv[0], errno);
	}
	if (waitpid(pid, NULL, WUNTRACED) < 0)
		fail("waitpid", errno);
	if (ptrace(PTRACE_SEIZE, pid, 0, options))
		fail("PTRACE_SEIZE", errno);
	kill(pid, SIGCONT);
	return pid;
}

/* How a stopped task goes on. */
static void resume(pid_t tid, int status, bool returns)
{
	int event = status >> 16;
	int sig = WSTOPSIG(status);
	enum __ptrace_request how = PTRACE_CONT;

	if (event == PTRACE_EVENT_STOP && sig != SIGTRAP && sig != SIGCONT)
		how = PTRACE_LISTEN;
	else if (event == PTRACE_EVENT_SECCOMP && returns)
		how = PTRACE_SYSCALL;
	if (event || sig == (SIGTRAP | 0x80))
		sig = 0;
	ptrace(how, tid, 0, sig);
}

int main(int argc, char **argv)
{
	char *calls = NULL;
	bool returns = true;
	int opt, status, result = 0;
	pid_t first, tid;

	while ((opt = getopt(argc, argv, "+1e:")) != -1) {
		if (opt == '1')
			returns = false;
		else if (opt == 'e')
			calls = optarg;
		else
			return TROUBLE;
	}
	if (optind == argc) {
		fputs("usage: null [-1] [-e CALL,...|perf] COMMAND [ARG]...\n",
		      stderr);
		return TROUBLE;
	}
	first = launch(make_filter(calls), argv + optind);
	while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (tid > 0 && WIFSTOPPED(status))
			resume(tid, status, returns);
		else if (tid == first)
			result = WIFEXITED(status) ? WEXITSTATUS(status)
						   : 128 + WTERMSIG(status);
	}
	return result;
}
