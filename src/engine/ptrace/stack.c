// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stacks of tasks, by a process that walks them.  libunwind maps the ELF files of the tracee and
 * crashes or loops over malformed ones, so a helper (core/lib/program.h) calls it.
 */
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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/lib/late.h"
#include "core/lib/map.h"
#include "core/lib/maps.h"
#include "core/lib/program.h"

enum {
	WALK_REGISTERS = 128,	/* more than libunwind has on any processor */
	WALK_FRAMES = 64,
	WALK_MODULE = 4096,
	WALK_SYMBOL = 512,
	/* Limits of one walk: of CPU time and of elapsed time. */
	WALK_CPU_S = 2,
	WALK_ALL_S = 10,
};

/*
 * A request to the walker, one packet.  A walk comes with a descriptor of /proc/TID/mem.
 * forget discards what the walker caches about the task; it has no answer.
 */
struct walk_request {
	pid_t tid;
	bool forget;
	bool named;		/* answer with libunwind's symbols, which are slow */
	bool known[WALK_REGISTERS];	/* whether each of registers has been read */
	uint64_t registers[WALK_REGISTERS];
};

enum walk_end {
	WALK_GOES_ON,	/* this is a frame */
	WALK_WHOLE,
	WALK_NO_LIBUNWIND,
	WALK_NO_REGISTERS,
	WALK_NO_POINTER,
	WALK_NO_INFORMATION,
	WALK_CUT_OFF,
	WALK_DEEP,
	WALK_ENDS,
};

/* An answer of the walker: a packet for each frame, and one after the last. */
struct walk_answer {
	enum walk_end end;
	/*
	 * module and symbol are set by the receiver.  after_call of a signal's trampoline is true:
	 * that the next frame was interrupted shows that it is one.
	 */
	struct trace_frame frame;
	char module[WALK_MODULE];	/* "" for none */
	char symbol[WALK_SYMBOL];
};

/* The walker ------------------------------------------------------------------- */

/* /proc/TID/mem of the task: libunwind passes no context to some accessors. */
enum { MEMORY_FD = HELPER_FILE };

/*
 * Cached state of a task.  Each has an address space of its own, because libunwind caches
 * unwind information by address.
 */
struct walked {
	unw_addr_space_t space;
	void *upt;
	struct maps maps;
	bool fresh;				/* maps were read during this walk */
	bool probing;				/* find_proc_info() only notes the address */
	unw_word_t looked_up;			/* by the last find_proc_info() */
	const struct walk_request *request;	/* during a walk */
	unw_cursor_t cursor;			/* here because riscv64's has 40 KB */
};

/* Accessors that read memory and registers without ptrace(2), which only the tracer may use. */
static int access_mem(unw_addr_space_t space, unw_word_t addr, unw_word_t *word, int write,
		      void *ctx)
{
	(void)space;
	(void)ctx;
	if (write || pread(MEMORY_FD, word, sizeof(*word), (off_t)addr) != sizeof(*word))
		return -UNW_EINVAL;
	return 0;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *word, int write,
		      void *ctx)
{
	const struct walked *w = ctx;

	(void)space;
	if (write || reg < 0 || reg >= WALK_REGISTERS || !w->request->known[reg])
		return -UNW_EBADREG;
	*word = (unw_word_t)w->request->registers[reg];
	return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t *value, int write,
			void *ctx)
{
	(void)space;
	(void)reg;
	(void)value;
	(void)write;
	(void)ctx;
	return -UNW_EBADREG;
}

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info,
			  int need_unwind_info, void *ctx)
{
	struct walked *w = ctx;

	w->looked_up = ip;
	return w->probing ? -UNW_ENOINFO :
	       UNW(_UPT_find_proc_info)(space, ip, info, need_unwind_info, w->upt);
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *ctx)
{
	UNW(_UPT_put_unwind_info)(space, info, ((struct walked *)ctx)->upt);
}

static int no_dyn_info(unw_addr_space_t space, unw_word_t *list, void *ctx)
{
	(void)space;
	(void)list;
	(void)ctx;
	return -UNW_ENOINFO;
}

static int get_proc_name(unw_addr_space_t space, unw_word_t ip, char *name, size_t size,
			 unw_word_t *offset, void *ctx)
{
	return UNW(_UPT_get_proc_name)(space, ip, name, size, offset, ((struct walked *)ctx)->upt);
}

/* Tasks ------------------------------------------------------------------------ */

static struct walked *walked_new(pid_t tid)
{
	unw_accessors_t accessors = {
		.find_proc_info = find_proc_info, .put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = no_dyn_info, .access_mem = access_mem,
		.access_reg = access_reg, .access_fpreg = access_fpreg,
		.get_proc_name = get_proc_name,
	};
	struct walked *w = xcalloc(1, sizeof(*w));

	w->space = UNW(unw_create_addr_space)(&accessors, 0);
	w->upt = w->space ? UNW(_UPT_create)(tid) : NULL;
	if (!w->upt) {
		if (w->space)
			UNW(unw_destroy_addr_space)(w->space);
		free(w);
		return NULL;
	}
	UNW(unw_set_caching_policy)(w->space, UNW_CACHE_GLOBAL);
	return w;
}

/* Return the mapping of an address; the maps are read at the first one that they lack in a walk. */
static const struct mapping *walked_mapping(struct walked *w, uint64_t ip)
{
	const struct mapping *m = maps_find(&w->maps, ip);
	char path[32];
	FILE *f;

	if (m || w->fresh)
		return m;
	w->fresh = true;
	maps_free(&w->maps);
	UNW(unw_flush_cache)(w->space, 0, 0);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)w->request->tid);
	f = fopen(path, "re");
	if (f) {
		maps_read(&w->maps, f);
		fclose(f);
	}
	return maps_find(&w->maps, ip);
}

/* Walking ---------------------------------------------------------------------- */

static void walker_answer(const struct walk_answer *a)
{
	if (send(HELPER_SOCKET, a, sizeof(*a), MSG_NOSIGNAL) != sizeof(*a))
		_exit(1);
}

static void walker_answer_frame(struct walked *w, unw_cursor_t *cursor, uint64_t ip,
				bool after_call)
{
	struct walk_answer a = {
		.end = WALK_GOES_ON, .frame = { .ip = ip, .after_call = after_call },
	};
	struct trace_frame *f = &a.frame;
	const struct mapping *m = walked_mapping(w, ip);
	unw_word_t offset = 0;
	int err = !w->request->named ? -UNW_ENOINFO :
		  UNW(unw_get_proc_name)(cursor, a.symbol, sizeof(a.symbol), &offset);

	if (err && err != -UNW_ENOMEM)
		a.symbol[0] = '\0';
	if (m) {
		snprintf(a.module, sizeof(a.module), "%s", m->path);
		f->start = m->start;
		f->end = m->end;
		f->pgoff = m->pgoff;
	}
	if (a.symbol[0])
		f->offset = offset;
	else if (a.module[0])
		f->offset = ip - m->start + m->pgoff;
	walker_answer(&a);
}

static enum walk_end walker_walk(struct walked *w)
{
	unw_cursor_t *cursor = &w->cursor;
	unw_proc_info_t info;

	if (UNW(unw_init_remote)(cursor, w->space, w))
		return WALK_NO_REGISTERS;
	for (int i = 0; i < WALK_FRAMES; i++) {
		bool after_call = true;	/* the call's instruction is before the innermost address */
		unw_word_t ip;
		int more;

		if (UNW(unw_get_reg)(cursor, UNW_REG_IP, &ip))
			return WALK_NO_POINTER;
		if (!ip)
			return WALK_WHOLE;
		/*
		 * A signal may have interrupted a further frame before the instruction at ip.
		 * libunwind looks up such a frame at ip, and a frame that called another at ip - 1.
		 * unw_is_signal_frame() is of no use: depending on processor and version it is
		 * true of the interrupted frame, or of the trampoline that the handler returns to.
		 */
		if (i) {
			w->looked_up = 0;
			w->probing = true;
			UNW(unw_get_proc_info)(cursor, &info);
			w->probing = false;
			after_call = w->looked_up != ip;
		}
		walker_answer_frame(w, cursor, ip, after_call);
		more = UNW(unw_step)(cursor);
		if (!more)
			return WALK_WHOLE;
		if (more < 0)
			return i ? WALK_CUT_OFF : WALK_NO_INFORMATION;
	}
	return WALK_DEEP;
}

static void walker_serve(struct map *tasks, const struct walk_request *r)
{
	struct walk_answer last = { .end = WALK_NO_LIBUNWIND };
	struct walked *w = map_get(tasks, (uint64_t)r->tid);

	if (r->forget) {
		if (w) {
			map_del(tasks, (uint64_t)r->tid);
			maps_free(&w->maps);
			UNW(_UPT_destroy)(w->upt);
			UNW(unw_destroy_addr_space)(w->space);
			free(w);
		}
		return;
	}
	helper_limit(WALK_CPU_S, WALK_ALL_S);
	if (!w) {
		w = walked_new(r->tid);
		if (w)
			map_set(tasks, (uint64_t)r->tid, w);
	}
	if (w) {
		w->request = r;
		w->fresh = false;
		last.end = walker_walk(w);
	}
	helper_limit(0, 0);
	walker_answer(&last);
}

/* Receive a request; the descriptor that comes with it becomes MEMORY_FD. */
static bool walker_receive(struct walk_request *r)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { r, sizeof(*r) };
	struct msghdr msg = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	const struct cmsghdr *c;
	ssize_t n;
	int fd;

	do
		n = recvmsg(HELPER_SOCKET, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*r))
		return false;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS) {
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
		dup2(fd, MEMORY_FD);
		if (fd != MEMORY_FD)
			close(fd);
	}
	return true;
}

/* The tracer ------------------------------------------------------------------- */

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

/*
 * Return the walker, a child that answers until the socket closes, or NULL.  A walk that takes too
 * long ends it by a signal.
 */
static struct stacks *stack_helper(struct tracer *t)
{
	struct stacks *s = t->stacks;
	struct walk_request r = { 0 };
	struct map tasks = { 0 };
	int pair[2];

	if (!s) {
		s = t->stacks = xcalloc(1, sizeof(*s));
		if (LATE_LOAD(UNWIND))
			s->space = UNW(unw_create_addr_space)(UNW(_UPT_accessors), 0);
	}
	s->used_ns = clock_ns();
	if (!s->space || s->walker)
		return s->space ? s : NULL;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return NULL;
	s->walker = fork();
	if (!s->walker) {
		helper_seclude("pevtrace stacks", pair[1]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (walker_receive(&r))
			walker_serve(&tasks, &r);
		_exit(0);
	}
	close(pair[1]);
	s->socket = pair[0];
	if (s->walker > 0)
		return s;
	s->walker = 0;
	close(s->socket);
	return NULL;
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
		a->frame.module = *a->module ? a->module : NULL;
		a->frame.symbol = *a->symbol ? a->symbol : NULL;
		return true;
	}
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
		if (n > 1 && a->end == WALK_GOES_ON && !a->frame.after_call)
			last->frame.after_call = false;
		if (n)
			frame(ctx, &last->frame);
		if (a->end != WALK_GOES_ON)
			return a->end;
	}
	if (n)
		frame(ctx, &answers[!(n % 2)].frame);
	return WALK_GOES_ON;
}

static bool stack_ask(const struct stacks *s, pid_t tid, bool named)
{
	struct walk_request r = { .tid = tid, .named = named };
	char path[32];
	void *upt;
	bool sent;
	int memory;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	if (memory < 0)
		return false;
	upt = UNW(_UPT_create)(tid);
	for (int i = 0; upt && i <= UNW_REG_LAST && i < WALK_REGISTERS; i++) {
		unw_word_t word;

		r.known[i] = !UNW(_UPT_access_reg)(s->space, i, &word, 0, upt);
		if (r.known[i])
			r.registers[i] = word;
	}
	if (upt)
		UNW(_UPT_destroy)(upt);
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

