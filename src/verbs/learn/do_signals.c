// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/signals.lesson */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/strings.h"
#include "verbs/learn/judge.h"
#include "lessons/lessons.h"
#include "formats/text/text.h"

enum { FAULTS = 6, REFRESH = 3, TIMES = 3, ASYNC = 0, TRAP };

#define DATA 0x1234
#define WITHOUT "page-faults:u,sigtrap,sample_period=1"

bool learn_signals_prepare(struct learn *l)
{
	learn_set(l, "touched", "%d", FAULTS);
	learn_set(l, "refresh", "%d", REFRESH);
	learn_set(l, "times", "%d", TIMES);
	learn_set(l, "data", "0x%x", DATA);
	return learn_start_child(l, child_touch, FAULTS);
}

static int64_t call_fcntl(struct learn *l, int fd, int cmd, long arg)
{
	return own_call(&l->own_session.own_calls, CALL_FCNTL, (const uint64_t[CALL_MAX_ARGS]){
		(uint64_t)fd, (uint64_t)cmd, (uint64_t)arg,
	});
}

/* The requested signal, and the one that the kernel sends if its signal queue is full. */
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
	const sigset_t wanted = both_signals();
	int fd;

	if (!learn_open(l, ASYNC, "page-faults:u,sample_period=1,sample_type=IP,disabled,"
			"wakeup_events=1", l->child_pid, -1, -1))
		return false;
	fd = l->fds[ASYNC];
	if (!learn_map(l, fd, 1))
		return false;
	/* sigtimedwait() fetches them later */
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	return (call_fcntl(l, fd, F_SETOWN, getpid()) >= 0 &&
		call_fcntl(l, fd, F_SETSIG, SIGRTMIN) >= 0 &&
		call_fcntl(l, fd, F_SETFL, O_RDONLY | O_ASYNC) >= 0) ||
	       learn_fail(l, "cannot make the descriptor send signals");
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
	const struct timespec timeout = { 1, 0 };
	const sigset_t wanted = both_signals();
	unsigned int signals = 0;
	bool full = false;
	siginfo_t info = { .si_code = 0 };
	int fd = l->fds[ASYNC];

	learn_ioctl(l, fd, PERF_EVENT_IOC_REFRESH, REFRESH);
	if (!learn_run_child(l))
		return false;
	/* POLL_HUP is the last one */
	while (info.si_code != POLL_HUP && sigtimedwait(&wanted, &info, &timeout) > 0) {
		signals++;
		full |= info.si_signo == SIGIO;
		say_signal(l, &info, code_name(info.si_code));
	}
	learn_unmap(l);
	learn_close_slot(l, ASYNC);
	sigprocmask(SIG_UNBLOCK, &wanted, NULL);
	learn_set(l, "signals", "%u", signals);
	learn_set(l, "last", "%s", code_name(info.si_code));
	if (!full)
		learn_set(l, "queued", "yes");
	return true;
}

bool learn_signals_trap(struct learn *l)
{
	bool watched = learn_get(l, "sigtrap");
	struct lesson_child *c = learn_start_child(l, watched ? child_trap : child_touch_trap,
						   TIMES);
	char event[128], what[32] = "page-faults:u";

	if (!c)
		return false;
	if (watched)
		snprintf(what, sizeof(what), "mem:0x%llx/8:w:u",
			 (unsigned long long)(uintptr_t)&c->variable);
	snprintf(event, sizeof(event), "%s,sample_period=1,sigtrap,remove_on_exec,sig_data=0x%x",
		 what, DATA);
	l->fds[TRAP] = learn_try_open(l, event, l->child_pid, -1, -1);
	if (l->fds[TRAP] < 0)
		return true;
	if (!learn_run_child(l))
		return false;
	for (uint64_t i = 0; i < c->traps; i++)
		learn_say(l, "SIGTRAP in %d", (int)l->child_pid);
	learn_set_number(l, "traps", c->traps);
	learn_set_hex(l, "data", c->sig_data);
	learn_set_hex(l, "addr", c->addr);
	learn_set(l, "accessed", watched ? "of the variable" : "of the last page");
	learn_set(l, "trapped", "yes");
	return true;
}

bool learn_signals_without(struct learn *l)
{
	learn_refused(l, "refused", WITHOUT, 0, -1);
	return true;
}
