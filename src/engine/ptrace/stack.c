// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/stack.h"

#include "engine/ptrace/task.h"

#ifdef HAVE_LIBUNWIND
#include <errno.h>
#include <fcntl.h>
#include <libunwind-ptrace.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/lib/child.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/lib/late.h"
#include "engine/ptrace/walker.h"

/* Limit the time that hostile programs can cost: each death takes that of a walk. */
enum { MAX_DEATHS = 8 };

/* End a walker that is idle for so long: while it exists, wait4() cannot fail with ECHILD. */
static const uint64_t rest_ns = 2000000000;

struct stacks {
	pid_t walker;		/* child process; 0: not running */
	int socket;		/* to the walker */
	uint64_t used_ns;
	unsigned int deaths;
	unw_addr_space_t space;	/* to read registers */
};

static bool start_walker(struct stacks *s)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return false;
	s->walker = fork();
	if (!s->walker)
		walker_run(pair[1]);
	close(pair[1]);
	s->socket = pair[0];
	if (s->walker > 0)
		return true;
	s->walker = 0;
	close(s->socket);
	return false;
}

static struct stacks *stack_helper(struct tracer *t)
{
	struct stacks *s = t->stacks;

	if (!s) {
		s = t->stacks = xcalloc(1, sizeof(*s));
		if (LATE_LOAD(UNWIND))
			s->space = UNW(unw_create_addr_space)(UNW(_UPT_accessors), 0);
	}
	s->used_ns = clock_ns();
	return s->space && (s->walker || start_walker(s)) ? s : NULL;
}

static void end_walker(struct stacks *s)
{
	if (!s->walker)
		return;
	close(s->socket);
	kill(s->walker, SIGKILL);
	child_wait(s->walker);
	s->walker = 0;
}

void stack_end(struct tracer *t)
{
	struct stacks *s = t->stacks;

	if (!s)
		return;
	end_walker(s);
	if (s->space)
		UNW(unw_destroy_addr_space)(s->space);
	free(s);
	t->stacks = NULL;
}

void stack_rest(struct tracer *t)
{
	if (t->stacks && clock_ns() - t->stacks->used_ns > rest_ns)
		end_walker(t->stacks);
}

bool stack_is_walker(struct tracer *t, pid_t tid)
{
	struct stacks *s = t->stacks;

	if (!s || !s->walker || tid != s->walker)
		return false;
	close(s->socket);
	s->walker = 0;
	return true;
}

static bool stack_send(const struct stacks *s, struct walk_request *r, int memory)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { r, sizeof(*r) };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	if (memory >= 0) {
		struct cmsghdr *c = &control.header;

		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &memory, sizeof(memory));
	}
	do
		n = sendmsg(s->socket, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == sizeof(*r);
}

void stack_forget(struct tracer *t, struct task *task)
{
	struct walk_request r = { .tid = task->walked, .forget = true };

	if (task->walked && t->stacks && t->stacks->walker)
		stack_send(t->stacks, &r, -1);
	task->walked = 0;
	task->unwalkable = false;
}

/* Receive an answer; return false if the walker died, hangs or sends an invalid answer. */
static bool stack_next_answer(const struct stacks *s, struct walk_answer *a, uint64_t until)
{
	for (;;) {
		struct pollfd p = { .fd = s->socket, .events = POLLIN };
		uint64_t now = clock_ns();
		ssize_t n;

		if (now >= until)
			return false;
		poll(&p, 1, (int)((until - now) / 1000000 + 1));
		n = recv(s->socket, a, sizeof(*a), MSG_DONTWAIT);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n != sizeof(*a) || a->end >= WALK_ENDS)
			return false;
		a->module[sizeof(a->module) - 1] = a->symbol[sizeof(a->symbol) - 1] = '\0';
		return true;
	}
}

static void stack_pass(const struct walk_answer *a,
		       void (*frame)(void *ctx, const struct trace_frame *f), void *ctx)
{
	const struct trace_frame f = {
		.module = *a->module ? a->module : NULL,
		.symbol = *a->symbol ? a->symbol : NULL,
		.ip = a->ip, .offset = a->offset, .start = a->start,
		.end = a->end_of_map, .pgoff = a->pgoff, .after_call = a->after_call,
	};

	frame(ctx, &f);
}

static enum walk_end stack_answers(const struct stacks *s,
				  void (*frame)(void *ctx, const struct trace_frame *f),
				  void *ctx)
{
	/* the walker's own limit comes first */
	uint64_t until = clock_ns() + (WALK_ALL_S + 2) * 1000000000ULL;
	struct walk_answer answers[2];
	int n = 0;

	for (; n <= WALK_FRAMES && stack_next_answer(s, &answers[n % 2], until); n++) {
		const struct walk_answer *a = &answers[n % 2];
		struct walk_answer *last = &answers[!(n % 2)];

		/* the last frame is a signal's trampoline, at its first instruction */
		if (n > 1 && a->end == WALK_GOES_ON && !a->after_call)
			last->after_call = false;
		if (n)
			stack_pass(last, frame, ctx);
		if (a->end != WALK_GOES_ON)
			return a->end;
	}
	if (n)
		stack_pass(&answers[!(n % 2)], frame, ctx);
	return WALK_GOES_ON;
}

static void stack_registers(const struct stacks *s, pid_t tid, struct walk_request *r)
{
	void *upt = UNW(_UPT_create)(tid);

	for (int i = 0; upt && i <= UNW_REG_LAST && i < WALK_REGISTERS; i++) {
		unw_word_t word;

		r->known[i] = !UNW(_UPT_access_reg)(s->space, i, &word, 0, upt);
		if (r->known[i])
			r->registers[i] = word;
	}
	if (upt)
		UNW(_UPT_destroy)(upt);
}

static bool stack_ask(const struct stacks *s, pid_t tid, bool named)
{
	struct walk_request r = { .tid = tid, .named = named };
	char path[32];
	bool sent;
	int memory;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	if (memory < 0)
		return false;
	stack_registers(s, tid, &r);
	sent = stack_send(s, &r, memory);
	close(memory);
	return sent;
}

const char *trace_stack(struct tracer *t, pid_t tid, bool named,
			void (*frame)(void *ctx, const struct trace_frame *f),
			void *ctx)
{
	static const char *const ends[WALK_ENDS] = {
		[WALK_GOES_ON] = "libunwind crashed or hung on the files of this program",
		[WALK_NO_LIBUNWIND] = "libunwind cannot examine the task",
		[WALK_NO_REGISTERS] = "the registers of the task cannot be read",
		[WALK_NO_POINTER] = "the instruction pointer cannot be read",
		[WALK_NO_INFORMATION] = "no unwind information at this address",
		[WALK_CUT_OFF] = "no unwind information beyond this frame",
		[WALK_DEEP] = "the stack is deeper than 64 frames",
	};
	struct task *task = task_find(t, tid);
	enum walk_end end;
	struct stacks *s;

	if (!task)
		return "the task is gone";
	if (task->arch && task->arch != arch_native())
		return "the program is of another architecture than pevtrace";
	if (task->unwalkable)
		return ends[WALK_GOES_ON];
	if (t->stacks && t->stacks->deaths >= MAX_DEATHS)
		return "libunwind crashed or hung too often in this trace";
	s = stack_helper(t);
	if (!s)
		return "cannot create the process that walks stacks";
	if (!stack_ask(s, tid, named))
		return "the memory of the task cannot be read";
	task->walked = tid;
	end = stack_answers(s, frame, ctx);
	if (end == WALK_GOES_ON) {
		end_walker(s);
		s->deaths++;
		task->unwalkable = true;
	}
	return ends[end];
}

#else

void stack_forget(struct tracer *t, struct task *task)
{
	(void)t;
	(void)task;
}

void stack_end(struct tracer *t)
{
	(void)t;
}

void stack_rest(struct tracer *t)
{
	(void)t;
}

bool stack_is_walker(struct tracer *t, pid_t tid)
{
	(void)t;
	(void)tid;
	return false;
}

const char *trace_stack(struct tracer *t, pid_t tid, bool named,
			void (*frame)(void *ctx, const struct trace_frame *f),
			void *ctx)
{
	(void)t;
	(void)tid;
	(void)named;
	(void)frame;
	(void)ctx;
	return "this pevtrace was built without libunwind";
}

#endif
