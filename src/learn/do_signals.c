// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/signals.lesson */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "abi/strings.h"
#include "learn/judge.h"
#include "lessons/lessons.h"
#include "text/text.h"

enum { FAULTS = 6, REFRESH = 3, TIMES = 3, ASYNC = 0, TRAP };

#define DATA 0x1234
#define WITHOUT "page-faults:u,sigtrap,sample_period=1"

bool learn_signals_prepare(struct learn *l)
{
	learn_set(l, "faults", "%d", FAULTS);
	learn_set(l, "refresh", "%d", REFRESH);
	learn_set(l, "times", "%d", TIMES);
	learn_set(l, "data", "0x%x", DATA);
	return learn_worker(l, child_touch, FAULTS);
}

static int64_t call_fcntl(struct learn *l, int fd, int cmd, long arg)
{
	return own_call(&l->own_session.own_calls, CALL_FCNTL, (const uint64_t[CALL_MAX_ARGS]){
		(uint64_t)fd, (uint64_t)cmd, (uint64_t)arg,
	});
}

/* What is asked for, and what the kernel sends when its queue of signals is full. */
static sigset_t both_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGIO);
	return set;
}

bool learn_signals_async(struct learn *l)
{
	int fd = learn_open(l, "page-faults:u,sample_period=1,sample_type=IP,disabled,"
			    "wakeup_events=1", l->task, -1, -1);
	const sigset_t wanted = both_signals();

	l->fds[ASYNC] = fd;
	if (fd < 0 || !learn_map(l, fd, 1))
		return false;
	/* they wait until we fetch them */
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	return (call_fcntl(l, fd, F_SETOWN, getpid()) >= 0 &&
		call_fcntl(l, fd, F_SETSIG, SIGRTMIN) >= 0 &&
		call_fcntl(l, fd, F_SETFL, O_RDONLY | O_ASYNC) >= 0) ||
	       learn_fail(l, "the descriptor cannot be made to signal");
}

static void say_signal(struct learn *l, const siginfo_t *info, const char *code)
{
	struct buf name = { 0 };
	struct text_sink sink;

	text_sink_init(&sink, &name);
	text_sink_top(&sink, false, NULL);
	emit_signal(NULL, info->si_signo, &sink.sink);
	learn_say(l, "%s: si_fd=%d, si_code=%s", buf_str(&name), info->si_fd, code);
	buf_free(&name);
}

static const char *code_name(int code)
{
	return code == POLL_HUP ? "POLL_HUP" : code == POLL_IN ? "POLL_IN" : "another code";
}

bool learn_signals_refresh(struct learn *l)
{
	const struct timespec patience = { 1, 0 };
	const sigset_t wanted = both_signals();
	unsigned int signals = 0;
	bool full = false;
	siginfo_t info = { .si_code = 0 };
	int fd = l->fds[ASYNC];

	learn_ioctl(l, fd, PERF_EVENT_IOC_REFRESH, REFRESH);
	if (!learn_work(l))
		return false;
	/* the last says so itself; without one, patience ends */
	while (info.si_code != POLL_HUP && sigtimedwait(&wanted, &info, &patience) > 0) {
		signals++;
		full |= info.si_signo == SIGIO;
		say_signal(l, &info, code_name(info.si_code));
	}
	learn_unmap(l);
	learn_close(l, fd);
	l->fds[ASYNC] = -1;
	sigprocmask(SIG_UNBLOCK, &wanted, NULL);
	learn_set(l, "signals", "%u", signals);
	learn_set(l, "last", "%s", code_name(info.si_code));
	if (!full)
		learn_set(l, "queued", "yes");
	return true;
}

bool learn_signals_trap(struct learn *l)
{
	struct child_task *c = learn_worker(l, child_trap, TIMES);
	char event[128];

	if (!c)
		return false;
	snprintf(event, sizeof(event), "mem:0x%llx/8:w:u,sample_period=1,sigtrap,"
		 "remove_on_exec,sig_data=0x%x", (unsigned long long)(uintptr_t)&c->variable,
		 DATA);
	l->fds[TRAP] = learn_try_open(l, event, l->task, -1, -1);
	if (l->fds[TRAP] < 0)
		return true;
	if (!learn_work(l))
		return false;
	for (uint64_t i = 0; i < c->traps; i++)
		learn_say(l, "SIGTRAP in %d", (int)l->task);
	learn_set(l, "traps", "%llu", (unsigned long long)c->traps);
	learn_set(l, "data", "0x%llx", (unsigned long long)c->sig_data);
	learn_set(l, "addr", "0x%llx", (unsigned long long)c->addr);
	learn_set(l, "trapped", "yes");
	return true;
}

bool learn_signals_without(struct learn *l)
{
	learn_refused(l, "refused", WITHOUT, 0, -1);
	return true;
}
