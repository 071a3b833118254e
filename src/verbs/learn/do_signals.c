// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/signals.lesson */
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "core/abi/strings.h"
#include "formats/text/text.h"
#include "lessons/lessons.h"
#include "verbs/learn/learn.h"

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

	/* sigtimedwait() fetches them later */
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	steps_set_var(&l->steps, "signal", (uint64_t)SIGRTMIN);
	return learn_steps(l, "fcntl a F_SETOWN $pid\nfcntl a F_SETSIG $signal\n"
			   "fcntl a F_SETFL O_RDONLY|O_ASYNC\n");
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

	/* POLL_HUP is the last one */
	while (info.si_code != POLL_HUP && sigtimedwait(&wanted, &info, &timeout) > 0) {
		signals++;
		full |= info.si_signo == SIGIO;
		say_signal(l, &info, code_name(info.si_code));
	}
	if (!learn_steps(l, "unmap a\nclose a\n"))
		return false;
	sigprocmask(SIG_UNBLOCK, &wanted, NULL);
	learn_set(l, "signals", "%u", signals);
	learn_set(l, "last", "%s", code_name(info.si_code));
	if (!full)
		learn_set(l, "queued", "yes");
	return true;
}
