// SPDX-License-Identifier: LGPL-2.1-or-later
/* The hooks of the engines: they feed the session. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/abi/call_decode.h"
#include "core/host/proc.h"
#include "core/host/symbols.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/session/session.h"
#include "engine/live/live.h"
#include "engine/ptrace/proc.h"
#include "engine/ptrace/trace.h"
#include "engine/rings/borrow.h"
#include "engine/rings/earlier.h"
#include "engine/rings/look.h"
#include "formats/perfdata/measured.h"
#include "formats/perfdata/perfout.h"
#include "formats/text/text_view.h"
#include "xlat/constants.h"

enum { TICK_MS = 250 };	/* between two flushes of the output */

/* Rings ------------------------------------------------------------------- */

static void live_on_record(struct view *v, const struct activity *a)
{
	const struct activity_record *r = &a->record;
	struct live *l = view_self(v);

	if (l->symbols)
		symbols_record(l->symbols, r->bytes, r->len);
	if (l->measured)
		measured_record(l->measured, r->ns, r);
}

/* Report the first look that failed. */
static void live_on_looked(struct view *v, const struct activity *a)
{
	const struct activity_look *k = &a->look;
	struct live *l = view_self(v);
	char comm[32] = "?";

	if (!k->error || l->warned_rings || k->error == ESRCH)
		return;
	l->warned_rings = true;
	proc_comm(k->tid, comm, sizeof(comm));
	warn("cannot read the ring buffer of %s[%d]: %s; its records are not shown",
	     comm, (int)k->ring->pid, strerror(k->error));
}

const struct view_ops live_view_ops = {
	.on[ACTIVITY_RECORD] = live_on_record,
	.on[ACTIVITY_LOOK] = live_on_looked,
};

/* Read the ring and count of an event whose last descriptor is closed. */
static void look_last(struct live *l, const struct call *c, int fd)
{
	struct event *e = model_event(l->session.model, c->tid, fd);

	if (!e || e->handles > 1)
		return;
	look_event(l->looker, c->pid, c->tid, event_writes_to(e));
	if (!c->inside) /* else it is closed by now */
		look_count(l->looker, c->pid, c->tid, e);
}

/* Read the rings and counts that this call ends. */
static void look_before(struct live *l, const struct call *c)
{
	struct model *m = l->session.model;
	uint64_t start, end;
	struct event *e;
	uint32_t request;

	for (unsigned int i = 0; model_covers(c, i, &start, &end); i++)
		look_range(l->looker, c->pid, c->tid, start, end);

	switch (c->desc->id) {
	case CALL_IOCTL:
		e = model_event(m, c->tid, call_int(c, 0));
		request = (uint32_t)c->args[1];
		if (e && (request == PERF_EVENT_IOC_DISABLE ||
			  request == PERF_EVENT_IOC_PAUSE_OUTPUT ||
			  request == PERF_EVENT_IOC_SET_OUTPUT))
			look_event(l->looker, c->pid, c->tid, event_writes_to(e));
		break;
	case CALL_CLOSE:
		look_last(l, c, call_int(c, 0));
		break;
	case CALL_DUP2:
	case CALL_DUP3:
		if (call_int(c, 0) != call_int(c, 1))
			look_last(l, c, call_int(c, 1));
		break;
	case CALL_CLOSE_RANGE:
	case CALL_EXECVE:
	case CALL_EXECVEAT:
	case CALL_EXIT_GROUP:
		look_all(l->looker, c->pid, c->tid);
		if (!c->inside)
			look_counts(l->looker, c->pid, c->tid);
		break;
	default:
		break;
	}
}

static void look_at_holder(void *ctx, pid_t tid, pid_t pid)
{
	struct live *l = ctx;

	look_all(l->looker, pid, tid);
}

/* Stacks of calls (-k) ----------------------------------------------------- */

/* The frames of one stack; their strings are allocated. */
struct stack {
	struct live *live;
	pid_t tid;
	struct view_frame frames[VIEW_FRAMES];
	size_t n;
};

static void stack_add(struct stack *s, const struct view_frame *f)
{
	if (s->n == VIEW_FRAMES)
		return;
	s->frames[s->n] = *f;
	s->frames[s->n].module = f->module ? xstrdup(f->module) : NULL;
	s->frames[s->n].symbol = f->symbol ? xstrdup(f->symbol) : NULL;
	s->frames[s->n++].file = f->file ? xstrdup(f->file) : NULL;
}

/* Add a frame, after those of the functions that are inlined at its address. */
static void stack_on_frame(void *ctx, const struct trace_frame *f)
{
	struct stack *s = ctx;
	struct symbols *y = s->live->symbols;
	struct view_frame v = {
		.module = f->module, .symbol = f->symbol, .offset = f->offset, .ip = f->ip,
	};
	struct code_line lines[CODE_LINES];
	const struct code *c = NULL;
	size_t n;

	if (f->module) {
		symbols_map(y, s->tid, f->start, f->end - f->start, f->pgoff, f->module);
		c = symbols_code(y, s->tid, f->ip, f->after_call);
	}
	n = c ? code_get_lines(c, lines) : 0;
	for (size_t i = 0; i + 1 < n; i++)
		stack_add(s, &(struct view_frame){
			.module = f->module, .symbol = lines[i].function, .ip = f->ip,
			.file = lines[i].file, .line = lines[i].line, .inlined = true,
		});
	if (n) {
		v.file = lines[n - 1].file;
		v.line = lines[n - 1].line;
	}
	if (c && code_symbol(c)) {
		v.symbol = code_symbol(c);
		v.offset = c->offset;
	}
	stack_add(s, &v);
}

/* Report the stack of the task's current call. */
static void tell_stack(struct live *l, pid_t tid)
{
	struct stack s = { .live = l, .tid = tid };
	const char *why = trace_stack(l->tracer, tid, !symbols_of_files(), stack_on_frame, &s);

	session_stack(&l->session, tid, s.frames, s.n, why);
	while (s.n--) {
		free((char *)s.frames[s.n].module);
		free((char *)s.frames[s.n].symbol);
		free((char *)s.frames[s.n].file);
	}
}

/* Hooks of the engine ------------------------------------------------------ */

/* A task whose descriptors of events have been found. */
struct found {
	struct live *live;
	pid_t tid;
};

static void watch_fd(void *ctx, int fd, bool cloexec, struct event *e)
{
	const struct found *f = ctx;

	(void)cloexec;
	live_watch_fd(f->live, fd);
	live_learn_program(f->live, f->tid, fd, e);
}

static bool wants_comms(const struct live *l)
{
	return l->options.keep || l->options.json || l->options.all || l->options.perf_data;
}

static void learn_comm(struct live *l, pid_t tid)
{
	char comm[32];

	if (wants_comms(l) && proc_comm(tid, comm, sizeof(comm)))
		session_feed(&l->session, &(struct activity){
			ACTIVITY_COMM, .comm = { tid, comm },
		});
}

/* Report the command line of perf, by which it names its events in a perf.data file. */
static void learn_command(struct live *l, pid_t tid)
{
	enum { MOST = 1 << 16 }; /* the task may say that it has any command line */
	char exe[PATH_MAX], **words;

	if (!l->measured || !proc_exe(tid, exe, sizeof(exe)) || !perfout_names_perf(exe))
		return;
	words = proc_command(tid, MOST);
	session_feed(&l->session, &(struct activity){
		ACTIVITY_COMMAND, .command = { tid, words },
	});
	proc_command_free(words);
}

/* Read the counts of events opened before attach: their length shows the read_format. */
static void learn_counts(struct live *l, pid_t pid, pid_t tid)
{
	struct looker *looker = l->looker;

	if (borrow_refusal())
		return;
	if (!looker)
		looker = looker_new(&l->session);
	look_counts(looker, pid, tid);
	if (looker != l->looker)
		looker_free(looker);
}

static void live_on_born(void *ctx, const struct trace_birth *b)
{
	struct live *l = ctx;
	bool thread = b->attached && b->tid != b->pid;
	const struct activity_task birth = {
		.tid = b->tid, .ns = clock_ns(), .pid = b->pid,
		.parent = thread ? b->pid : b->parent,
		.attached = b->attached,
		.shares_files = thread || b->shares_files,
		.shares_memory = thread || b->shares_memory,
	};

	session_feed(&l->session, &(struct activity){ ACTIVITY_TASK, .task = birth });
	if (l->measured)
		measured_born(l->measured, &birth, b->comm);
	if (b->comm[0] && wants_comms(l)) {
		map_set(&l->known, (uint64_t)b->tid, l);
		session_feed(&l->session, &(struct activity){
			ACTIVITY_COMM, .comm = { b->tid, b->comm },
		});
	}
	if (!birth.parent)
		learn_command(l, b->tid);
	if (birth.parent || b->late)
		return;
	if (!b->comm[0])
		learn_comm(l, b->tid);
	/* the task may have inherited events, or opened some before attach */
	session_adopt(&l->session, b->tid, b->attached, look_id);
	earlier_describe(l->earlier, b->pid, b->tid);
	earlier_rings(l->earlier, b->tid);
	if (l->measured)
		measured_task(l->measured, b->tid);
	model_each_fd(l->session.model, b->tid, watch_fd, &(struct found){ l, b->tid });
	if (!model_holds(l->session.model, b->tid))
		return;
	if (l->bpf)
		bpf_engine_holds(l->bpf, b->pid);
	if (l->bpf && l->looker)
		look_keep(l->looker, b->pid, b->tid);
	learn_counts(l, b->pid, b->tid);
}

/* Translate the pid of an open out of the PID namespace of its caller. */
static void find_target(struct live *l, struct call *c)
{
	pid_t pid = call_int(c, 1), here;

	if (c->desc->id != CALL_PERF_EVENT_OPEN || pid <= 0 || c->args[4] & PERF_FLAG_PID_CGROUP)
		return;
	here = proc_pid_here(c->tid, pid, l->last_target);
	if (here == pid)
		return;
	c->target = here;
	l->last_target = here;
}

static enum trace_next live_on_enter(void *ctx, struct call *c, const struct mem *mem)
{
	struct live *l = ctx;
	struct session *s = &l->session;
	/* the descriptors that are polled, sent or attached to are in memory */
	bool early = c->desc->class == CLASS_POLL || c->desc->class == CLASS_PASS ||
		     c->desc->class == CLASS_BPF;
	bool concerns, passing;

	if (early)
		call_capture(c, AT_SYSCALL_ENTER, mem, &s->names);
	if (c->inside) {
		live_agree(l, c);
	} else {
		live_forget_closed(l, c);
		live_adopt_used(l, c);
	}
	find_target(l, c);
	concerns = model_concerns(s->model, c);
	l->saw_perf |= concerns;
	c->shown = session_shows(s, c);
	if (!concerns && !c->shown && c->desc->id == CALL_RECVMSG) {
		map_set(&l->waiting, (uint64_t)c->tid, l);
		return TRACE_EXIT; /* an event may be sent while it waits */
	}
	if (!concerns && !c->shown && !model_learns(s->model, c))
		return c->desc->id == CALL_PTRACE ? TRACE_EXIT : TRACE_SKIP;
	if (!early)
		call_capture(c, AT_SYSCALL_ENTER, mem, &s->names);
	if (l->looker)
		look_before(l, c);
	if (wants_comms(l) && !map_set(&l->known, (uint64_t)c->tid, l))
		learn_comm(l, c->tid);
	if (concerns)
		l->user->ask(l, c);
	if (c->desc->id == CALL_SENDMSG && !c->inject.injected)
		live_learn_sent_ids(l, c);
	passing = model_passing(s->model);
	session_enter(s, c);
	if (c->shown && l->options.stacks)
		tell_stack(l, c->tid);
	if (!passing && model_passing(s->model) && l->tracer)
		trace_recheck(l->tracer); /* any task may receive it */
	return TRACE_EXIT;
}

/* Watch descriptors of events that the call returned or received. */
static void watch_new_fds(struct live *l, const struct call *c)
{
	int fds[CALL_MAX_PASSED];
	size_t n = 0;

	if (c->failed)
		return;
	if (c->desc->id == CALL_RECVMSG)
		n = call_passed_fds(c, AT_SYSCALL_EXIT, fds);
	else if (c->desc->class == CLASS_OPEN || c->desc->class == CLASS_DESC ||
		 c->desc->class == CLASS_BPF)
		fds[n++] = (int)c->ret;
	for (size_t i = 0; i < n; i++)
		if (model_event(l->session.model, c->tid, fds[i]) ||
		    model_linked(l->session.model, c->tid, fds[i]))
			live_watch_fd(l, fds[i]);
}

/*
 * Return whether an open's result is no event, as a seccomp filter may fake any number, or a
 * message passed descriptors, and certainly none of an event.
 */
static bool brought_no_event(const struct call *c)
{
	int fds[CALL_MAX_PASSED];
	size_t n;

	if (c->failed || c->inject.injected)
		return false;
	/* a filter's SIGSYS, in place of the call, leaves the number of the call as its result */
	if (c->desc->id == CALL_PERF_EVENT_OPEN && c->ret == (int64_t)c->nr &&
	    proc_is_pending(c->tid, "SigPnd", SIGSYS))
		return true;
	if (c->desc->id == CALL_PERF_EVENT_OPEN)
		return c->inside ? !c->event : c->ret < 0 || c->ret > INT_MAX ||
				   (!c->genuine &&
				    !proc_fd_is(c->tid, (int)c->ret, PROC_EVENT_LINK));
	if (c->inside || c->desc->id != CALL_RECVMSG)
		return false;
	n = call_passed_fds(c, AT_SYSCALL_EXIT, fds);
	for (size_t i = 0; i < n; i++)
		if (proc_fd_is(c->tid, fds[i], PROC_EVENT_LINK))
			return false;
	return n;
}

static void live_on_exit(void *ctx, struct call *c, const struct mem *mem)
{
	struct live *l = ctx;
	char comm[32] = "?";
	bool limited;

	call_capture(c, AT_SYSCALL_EXIT, mem, &l->session.names);
	c->no_event = brought_no_event(c);
	if (c->desc->id == CALL_RECVMSG && !live_adopt_received(l, c))
		return;
	session_exit(&l->session, c);
	if (c->inside)
		live_opened(l, c);
	if (l->looker && l->bpf && c->desc->class == CLASS_MEMORY)
		look_keep(l->looker, c->pid, c->tid);
	if (l->measured)
		measured_call(l->measured, c);
	watch_new_fds(l, c);
	/* pevtrace cannot conceal that a task has one tracer */
	if (c->desc->id == CALL_PTRACE && c->failed && c->ret == EPERM && !l->warned_ptrace) {
		l->warned_ptrace = true;
		proc_comm(c->tid, comm, sizeof(comm));
		warn("%s[%d] cannot use ptrace: a task has one tracer, here pevtrace; its results "
		     "may differ: run it without pevtrace", comm, (int)c->tid);
	}
	live_note_holders(l, c);
	live_note_stops(l, c);
	/*
	 * Detach from all tasks once as many calls were shown as the user wants (--syscall-limit),
	 * and without a command once nobody reads what further calls would show.
	 */
	limited = l->options.limit && c->shown && view_shows_status(l->options.text->status, c) &&
		  ++l->shown == l->options.limit;
	if (limited || (!l->options.argv && l->tracer && l->user->nobody_reads(l)))
		trace_leave(l->tracer);
	if (l->looker && c->desc->class == CLASS_POLL && c->desc->id != CALL_EPOLL_CTL)
		look_all(l->looker, c->pid, c->tid);
}

static bool has_inode(const char *path, uint64_t inode)
{
	struct stat s;

	return !stat(path, &s) && s.st_ino == inode;
}

static void live_on_execed(void *ctx, const struct trace_exec *x)
{
	struct live *l = ctx;
	char link[32], text[PATH_MAX];
	/* as the kernel was told, if /proc does not show it: the task ended, or runs another one */
	const char *exe = *x->path ? x->path : NULL;

	l->user->execed(l, x->tid, x->former);
	if (l->symbols)
		symbols_forget(l->symbols, x->tid);
	if (l->measured && measured_leave(l->measured, x->tid))
		model_each_holder(l->session.model, look_at_holder, l);
	/* only the dump has lines for programs without events */
	if (!l->options.json && !model_involved(l->session.model, x->former)) {
		exe = NULL;
	} else {
		snprintf(link, sizeof(link), "/proc/%d/exe", (int)x->tid);
		if (((!exe || has_inode(link, x->inode)) && proc_exe(x->tid, text, PATH_MAX)) ||
		    (exe && has_inode(exe, x->inode) && realpath(exe, text)))
			exe = text;
	}
	session_feed(&l->session, &(struct activity){
		ACTIVITY_EXEC, .exec = {
			.tid = x->tid, .former = x->former, .ns = clock_ns(), .exe = exe,
		},
	});
	if (l->measured)
		measured_execed(l->measured, x->tid, x->comm);
	learn_command(l, x->tid);
	if (*x->comm && wants_comms(l))
		session_feed(&l->session, &(struct activity){
			ACTIVITY_COMM, .comm = { x->tid, x->comm },
		});
	else if (model_involved(l->session.model, x->tid))
		learn_comm(l, x->tid);
}

static void live_on_signal(void *ctx, pid_t tid, const siginfo_t *info)
{
	session_feed(&((struct live *)ctx)->session, &(struct activity){
		ACTIVITY_SIGNAL, .signal = { .info = *info, .tid = tid, .ns = clock_ns() },
	});
}

static void live_on_gone(void *ctx, pid_t tid, int status, struct call *c)
{
	enum view_end how = status == TRACE_DETACHED ? END_DETACHED :
			    status < TRACE_DETACHED ? END_SUPERSEDED : END_EXIT;
	struct live *l = ctx;
	bool named = false;	/* by -p */

	if (l->bpf && l->looker && how == END_EXIT)
		look_all(l->looker, tid, tid); /* a kill is no call */
	if (map_del(&l->waiting, (uint64_t)tid))
		c = NULL; /* a receive that did not begin for the session */
	if (how == END_SUPERSEDED)
		status = TRACE_DETACHED - status;
	if (l->measured)
		measured_gone(l->measured, tid);
	session_feed(&l->session, &(struct activity){
		ACTIVITY_GONE, .gone = {
			.call = c, .tid = tid, .ns = clock_ns(), .how = how, .status = status,
		},
	});
	map_del(&l->known, (uint64_t)tid);
	map_del(&l->uring, (uint64_t)tid);
	l->user->gone(l, tid);
	for (size_t i = 0; i < l->options.npids; i++)
		named |= l->options.pids[i] == tid;
	if (how == END_DETACHED && named && !(l->options.text->quiet & QUIET_ATTACH))
		warn("detached from process %d", (int)tid);
}

static enum trace_closeness live_on_close_watch(void *ctx, pid_t tid)
{
	const struct model *m = ((struct live *)ctx)->session.model;

	/* a descriptor on its way may be received by any task, once */
	return model_holds(m, tid) ? TRACE_CLOSE : model_passing(m) ? TRACE_NEAR : TRACE_DISTANT;
}

/* Flush the output, and read rings regularly (--look-every), or as often as they fill. */
static unsigned int live_on_tick(void *ctx)
{
	struct live *l = ctx;

	model_forget_messages(l->session.model, clock_ns());
	if (l->bpf && l->looker)
		look_forget(l->looker);
	if (l->looker && (l->options.look_ms || l->options.perf_data))
		model_each_holder(l->session.model, look_at_holder, l);
	session_tick(&l->session, clock_ns());
	if (l->options.look_ms)
		return l->options.look_ms;
	return l->looker && l->options.perf_data ? look_pace(l->looker) : TICK_MS;
}

const struct trace_ops live_ops = {
	.born = live_on_born,
	.enter = live_on_enter,
	.exit = live_on_exit,
	.execed = live_on_execed,
	.signalled = live_on_signal,
	.gone = live_on_gone,
	.close_watch = live_on_close_watch,
	.tick = live_on_tick,
};

bool live_attach(struct live *l, live_attach_fn *attach)
{
	size_t attached = 0;

	for (size_t i = 0; i < l->options.npids; i++) {
		pid_t *pid = &l->options.pids[i];
		long group = proc_status(*pid, "Tgid");
		bool again = false;

		if (group > 0 && group != *pid) {
			warn("%d is a thread of process %ld: attaching to the process",
			     (int)*pid, group);
			*pid = (pid_t)group;
		}
		for (size_t k = 0; k < i; k++)
			again |= l->options.pids[k] == *pid;
		if (again || attach(l, *pid))
			continue;
		attached++;
		if (!(l->options.text->quiet & QUIET_ATTACH))
			warn("attached to process %d", (int)*pid);
	}
	return attached || !l->options.npids || l->options.argv;
}
