// SPDX-License-Identifier: LGPL-2.1-or-later
/* The view that collects what a story needs and the model does not keep. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

#include "core/abi/bpf.h"
#include "core/abi/ioctl.h"
#include "core/judge/refused.h"
#include "explain/story_internal.h"

static uint64_t story_key(unsigned int kind, const struct event *e)
{
	return (uint64_t)kind << 40 | e->number;
}

/* Note that a task did something to an event; NULL: to none.  Return its span, or NULL. */
static struct span *story_note(struct story *s, unsigned int kind, const struct event *e,
			       unsigned int how, pid_t tid, uint64_t ns)
{
	struct seen_task *t = story_task(s, tid);
	const struct span now = {
		.kind = kind, .part = t ? t->execs : 0, .first_ns = ns, .last_ns = ns, .times = 1,
		.list = &(struct span_event){ e, how }, .n = e ? 1 : 0,
	};

	if (e)
		map_set(&s->by_kind, story_key(kind, e),
			(void *)(uintptr_t)(story_times(s, kind, e) + 1));
	return t ? spans_add(&t->spans, &now, STORY_SPANS) : NULL;
}

uint64_t story_times(const struct story *s, unsigned int kind, const struct event *e)
{
	return (uintptr_t)map_get(&s->by_kind, story_key(kind, e));
}

unsigned int story_ioctl_kind(uint32_t request)
{
	unsigned int i = 0;

	while (i < ioctl_ndescs && ioctl_descs[i].request != request)
		i++;
	return SEEN_IOCTL + i;
}

/* Tasks --------------------------------------------------------------------------- */

struct seen_task *story_task(const struct story *s, pid_t tid)
{
	size_t i = (size_t)(uintptr_t)map_get(&s->by_tid, (uint64_t)tid);

	return i ? &s->tasks[i - 1] : NULL;
}

static void story_on_born(struct view *v, const struct activity *a)
{
	const struct activity_task *b = &a->task;
	struct story *s = view_self(v);
	const struct seen_task *parent = story_task(s, b->parent);
	const struct call_desc *by = parent ? parent->creating : NULL;
	const struct event *inherited = parent && parent->inheritable &&
					!parent->inheritable->closed ? parent->inheritable : NULL;

	s->start_ns = s->ntasks ? s->start_ns : b->ns;
	s->threads |= inherited && parent->pid == b->pid;
	s->children |= inherited && parent->pid != b->pid;
	APPEND(s->tasks, s->ntasks) = (struct seen_task){
		.tid = b->tid, .pid = b->pid, .parent = b->parent,
		.thread = b->tid != b->pid, .by = by,
		.inheritable = inherited, .inherited = inherited,
	};
	map_set(&s->by_tid, (uint64_t)b->tid, (void *)(uintptr_t)s->ntasks);
}

/* Note an exec, and the events that it enables: it does so once. */
static void note_exec(struct story *s, const struct activity_exec *x)
{
	struct span *exec = story_note(s, SEEN_EXEC, NULL, 0, x->tid, x->ns);
	struct event *const *events;

	free(exec->exe);
	exec->exe = x->exe ? xstrdup(x->exe) : NULL;
	for (size_t i = 0, n = model_events(s->m, &events); i < n; i++) {
		const struct event *e = events[i];

		if (e->start == START_EXEC && !e->closed && !story_times(s, SEEN_EXEC, e) &&
		    (e->pid ? e->pid : e->opener) == x->tid)
			story_note(s, SEEN_EXEC, e, 0, x->tid, x->ns)->times--;
	}
}

static void story_on_execed(struct view *v, const struct activity *a)
{
	const struct activity_exec *x = &a->exec;
	struct story *s = view_self(v);
	struct seen_task *t = story_task(s, x->former);

	if (!t)
		return;
	if (x->tid != x->former) {
		t->tid = x->tid;
		map_set(&s->by_tid, (uint64_t)x->tid, map_get(&s->by_tid, (uint64_t)x->former));
	}
	t->execs++;
	note_exec(s, x);
}

static void story_on_gone(struct view *v, const struct activity *a)
{
	struct seen_task *t = story_task(view_self(v), a->gone.tid);

	if (!t)
		return;
	t->unfinished += t->waiting;
	t->waiting = false;
	t->gone = true;
	t->gone_ns = a->gone.ns;
	t->how = a->gone.how;
	t->status = a->gone.status;
	t->creating = NULL;
}

/* Calls --------------------------------------------------------------------------- */

static bool creates_task(enum call_id id)
{
	return id == CALL_CLONE || id == CALL_CLONE3 || id == CALL_FORK || id == CALL_VFORK;
}

static bool is_wait(const struct call *c)
{
	return c->desc->class == CLASS_POLL && c->desc->id != CALL_EPOLL_CTL &&
	       c->desc->id != CALL_EPOLL_CREATE && c->desc->id != CALL_EPOLL_CREATE1;
}

static bool is_poll(const struct call *c)
{
	return c->desc->id == CALL_POLL || c->desc->id == CALL_PPOLL ||
	       c->desc->id == CALL_PPOLL_TIME64;
}

/* Return what poll or ppoll asks for, or reported, of events: member is POLLFD_*; else 0. */
static uint64_t story_polled(const struct story *s, const struct call *c, enum call_phase phase,
			     unsigned int member)
{
	const uint8_t *fds;
	uint64_t all = 0;
	size_t len;

	if (!is_poll(c))
		return 0;
	fds = call_bytes(c, phase, c->args[0], SIZE_MAX, &len);
	for (; fds && len >= 8; fds += 8, len -= 8)
		if (model_event(s->m, c->tid, (int)layout_get(&layout_pollfd, POLLFD_FD, fds, 8)))
			all |= layout_get(&layout_pollfd, member, fds, 8);
	return all;
}

/* Note an event that a task waits for: that of its ring, or one that has none. */
static void note_waited(void *ctx, struct event *e)
{
	struct seen_task *t = ctx;

	e = e->output ? e->output : e;
	t->ringless |= !e->mapped && !e->found;
	for (size_t i = 0; i < t->nwaited; i++)
		if (t->waited[i] == e)
			return;
	APPEND(t->waited, t->nwaited) = e;
}

/* Return the timeout of a wait in ms; -1: it has none, -2: not known. */
static int wait_timeout(const struct call *c)
{
	size_t len = 0;
	const uint8_t *p;

	if (c->desc->id == CALL_POLL)
		return call_int(c, 2) < 0 ? -1 : call_int(c, 2);
	p = is_poll(c) ? call_bytes(c, AT_SYSCALL_ENTER, c->args[2], 16, &len) : NULL;
	return p && len == 16 ? (int)(load_uint(p, 8) * 1000 + load_uint(p + 8, 8) / 1000000) :
	       is_poll(c) && !c->args[2] ? -1 : -2;
}

/* Return HOW_* of an ioctl that begins: whether it is for a group, whether it enables anything. */
static unsigned int ioctl_how(const struct story *s, const struct call *c)
{
	const struct ioctl_desc *d = ioctl_of(c);
	const struct event *e = model_event(s->m, c->tid, call_int(c, 0));
	const struct seen_task *of = e && e->pid > 0 && !(e->flags & PERF_FLAG_PID_CGROUP) ?
				     story_task(s, e->pid) : NULL;
	bool enable = d && d->request == PERF_EVENT_IOC_ENABLE;

	if (!d || !e)
		return 0;
	if ((enable || d->request == PERF_EVENT_IOC_DISABLE || d->request == PERF_EVENT_IOC_RESET) &&
	    c->args[2] & PERF_IOC_FLAG_GROUP && (e->leads || e->leader))
		return HOW_GROUP;
	if (enable && of && of->gone && of->how == END_EXIT && !event_attr(e, ATTR_INHERIT))
		return HOW_DEAD;
	/* the error state, and the last of a number of overflows, disable */
	return enable && e->enabled && !e->empty_reads &&
	       !story_times(s, story_ioctl_kind(PERF_EVENT_IOC_REFRESH), e) ? HOW_ON : 0;
}

static unsigned int read_how(const struct event *e, const struct call *c)
{
	size_t len;
	const uint8_t *p = call_bytes(c, AT_SYSCALL_EXIT, c->args[1], 8, &len);

	if (!(e->read_format & PERF_FORMAT_GROUP) || !p || len < 8)
		return 0;
	return (unsigned int)load_uint(p, 8) << HOW_MEMBERS |
	       (e->leader && e->leader->closed ? HOW_LEFT : 0);
}

static void story_on_enter(struct view *v, const struct call *c)
{
	struct story *s = view_self(v);
	struct seen_task *t = story_task(s, c->tid);

	if (!t)
		return;
	t->closing = c->desc->id == CALL_CLOSE && !c->inject.injected ?
		     model_event(s->m, c->tid, call_int(c, 0)) : NULL;
	if (c->desc->id == CALL_IOCTL)
		t->ioctl_how = ioctl_how(s, c);
	if (creates_task(c->desc->id))
		t->creating = c->desc;
	if (!is_wait(c) || !model_concerns(s->m, c))
		return;
	model_each_waited(s->m, c, note_waited, t);
	t->timeout = t->waits++ && t->timeout != wait_timeout(c) ? -2 : wait_timeout(c);
	t->waiting = true;
	t->wait = c->desc;
	t->for_ends = is_poll(c) && !(story_polled(s, c, AT_SYSCALL_ENTER, POLLFD_EVENTS) & POLLIN);
}

static void story_waited(struct story *s, struct seen_task *t, const struct call *c)
{
	uint64_t events = !c->failed && c->ret ?
			  story_polled(s, c, AT_SYSCALL_EXIT, POLLFD_REVENTS) : 0;

	t->waiting = false;
	if (c->inject.injected)
		t->injected++;
	else if (c->failed)
		t->unexplained = ++t->interrupted > 0;
	else if (!c->ret)
		t->timed_out++;
	else if (events & POLLIN)
		t->woken++;
	else if (events & POLLHUP)
		t->hung_up++;
	else
		t->ready++;
}

static void story_note_failure(struct story *s, const struct call *c, const struct event *e)
{
	const struct ioctl_desc *ioctl = c->desc->id == CALL_IOCTL ? ioctl_of(c) : NULL;
	const char *request = c->desc->class == CLASS_BPF ?
			      xlat_name(&xlat_bpf_cmd, (uint32_t)c->args[0]) :
			      ioctl ? ioctl->name : NULL;

	const struct refused_where where = { NULL, s->release, s->arch, s->names };
	struct refused r;

	judge_call(s->m, c, &where, (int)c->ret, &r);
	for_each(f, s->failures, s->nfailures) {
		if (f->call == c->desc && f->request == request && f->error == c->ret &&
		    f->injected == c->inject.injected && f->cause == r.cause &&
		    !strcmp(f->numbers, buf_str(&r.numbers))) {
			f->times++;
			buf_free(&r.numbers);
			return;
		}
	}
	APPEND(s->failures, s->nfailures) = (struct seen_failure){
		.call = c->desc, .request = request, .error = (int)c->ret, .times = 1,
		.injected = c->inject.injected, .event = e, .cause = r.cause, .sure = r.sure,
		.numbers = xstrdup(buf_str(&r.numbers)),
	};
	buf_free(&r.numbers);
}

static void story_on_exit(struct view *v, const struct call *c)
{
	struct story *s = view_self(v);
	struct seen_task *t = story_task(s, c->tid);
	unsigned int fd = c->desc->id == CALL_MMAP || c->desc->id == CALL_MMAP2 ? 4 : 0;
	const struct event *e = NULL;	/* that of the call's descriptor */
	const struct ioctl_desc *d;
	struct bpf_command b;

	if (bpf_command(c, &b) && !b.pid)
		e = b.cmd == ABI_BPF_LINK_CREATE ? model_event(s->m, c->tid, b.fd) :
						   model_linked(s->m, c->tid, b.fd);
	else if (c->desc->nargs > fd && c->desc->args[fd].kind == ARG_FD)
		e = model_event(s->m, c->tid, call_int(c, fd));
	if (t && creates_task(c->desc->id))
		t->creating = NULL;
	if (c->desc->id == CALL_PRCTL && !c->failed && !call_is_fake(c) &&
	    (c->args[0] == PR_TASK_PERF_EVENTS_ENABLE || c->args[0] == PR_TASK_PERF_EVENTS_DISABLE))
		story_note(s, c->args[0] == PR_TASK_PERF_EVENTS_ENABLE ? SEEN_PRCTL_ENABLE :
			   SEEN_PRCTL_DISABLE, NULL, 0, c->tid, c->exit_ns);
	if (t && t->waiting && is_wait(c))
		story_waited(s, t, c);
	if (t && t->closing)
		story_note(s, SEEN_CLOSE, t->closing, 0, c->tid, c->exit_ns);
	if (c->desc->id == CALL_PERF_EVENT_OPEN && c->failed)
		story_note(s, SEEN_REFUSED, NULL, 0, c->tid, c->exit_ns);
	else if (c->desc->id == CALL_PERF_EVENT_OPEN &&
		 (e = model_event(s->m, c->tid, (int)c->ret))) {
		story_note(s, SEEN_OPEN, e, e->start == START_OPEN ? HOW_OPEN :
			   e->start == START_LEADER ? HOW_LEADER : 0, c->tid, c->exit_ns);
		t = event_attr(e, ATTR_INHERIT) && !(e->flags & PERF_FLAG_PID_CGROUP) ?
		    story_task(s, e->pid ? e->pid : c->tid) : NULL;
		if (t && (!t->inheritable || t->inheritable->closed))
			t->inheritable = e;
	}
	if (!e || c->desc->id == CALL_PERF_EVENT_OPEN)
		return;
	if (c->failed && c->ret != EINTR && c->ret != EAGAIN)
		story_note_failure(s, c, e);
	if (c->failed || call_is_fake(c))
		return;
	d = c->desc->id == CALL_IOCTL ? ioctl_of(c) : NULL;
	s->controls += d && (d->request == PERF_EVENT_IOC_PAUSE_OUTPUT ||
			     d->request == PERF_EVENT_IOC_ENABLE ||
			     d->request == PERF_EVENT_IOC_DISABLE);
	if (d && d->request == PERF_EVENT_IOC_PAUSE_OUTPUT && !(uint32_t)c->args[2])
		story_note(s, SEEN_RESUME, e, 0, c->tid, c->exit_ns);
	else if (d)
		story_note(s, SEEN_IOCTL + (unsigned int)(d - ioctl_descs), e, t ? t->ioctl_how : 0, c->tid,
			   c->exit_ns);
	else if (fd == 4)
		story_note(s, SEEN_MAP, e, 0, c->tid, c->exit_ns);
	else if (c->desc->id == CALL_READ)
		story_note(s, SEEN_READ, e, read_how(e, c), c->tid, c->exit_ns);
}

bool story_is_perf(const struct story *s, pid_t tid)
{
	struct task_info *const *tasks;
	size_t n = model_tasks(s->m, &tasks);

	while (n--)
		if (tasks[n]->tid == tid)
			return !strncmp(tasks[n]->comm, "perf", 4);
	return false;
}

size_t story_found(const struct story *s, const struct event **list)
{
	struct event *const *events;
	size_t n = model_events(s->m, &events), found = 0;

	for (size_t i = 0; i < n; i++) {
		if (event_known(events[i]))
			continue;
		if (list)
			list[found] = events[i];
		found++;
	}
	return found;
}

bool story_looked(const struct story *s)
{
	struct ring *const *rings;
	size_t n = model_rings(s->m, &rings);

	while (n--)
		if (rings[n]->looks || rings[n]->blind)
			return true;
	return false;
}

/* Records and signals ------------------------------------------------------------------ */

/* Note a record, and when it was taken by its own time. */
static void note_record(struct story *s, unsigned int kind, const struct activity_record *r)
{
	struct record_id id = { 0 };
	struct span now = {
		.kind = kind, .part = s->controls, .first_ns = r->ns, .last_ns = r->ns, .times = 1,
		.list = &(struct span_event){ r->event, 0 }, .n = 1,
	};
	bool known = r->format && record_identify(r->bytes, r->len, r->format, &id);

	s->idle += known && kind == SEEN_RECORD + PERF_RECORD_SAMPLE && id.has_tid && !id.tid;
	if (known && id.has_time && !event_attr(r->event, ATTR_USE_CLOCKID)) {
		now.timed = 1;
		now.taken_first = now.taken_last = id.time;
	}
	spans_add(&s->records[kind - SEEN_RECORD], &now, STORY_SPANS);
}

static void story_on_record(struct view *v, const struct activity *a)
{
	const struct activity_record *r = &a->record;
	struct story *s = view_self(v);
	uint64_t type = layout_get(&layout_perf_event_header, PERF_EVENT_HEADER_TYPE, r->bytes,
				   r->len);

	s->modes[type == PERF_RECORD_SAMPLE ?
		 layout_get(&layout_perf_event_header, PERF_EVENT_HEADER_MISC, r->bytes, r->len) &
		 PERF_RECORD_MISC_CPUMODE_MASK : 0]++;
	if (r->event)
		note_record(s, SEEN_RECORD + (type < EVENT_RECORD_TYPES ? (unsigned int)type : 0), r);
}

static void story_on_signalled(struct view *v, const struct activity *a)
{
	const siginfo_t *info = &a->signal.info;
	const char *trap = xlat_name(&xlat_si_code_trap, (uint64_t)info->si_code);
	struct story *s = view_self(v);
	struct seen_task *to = story_task(s, a->signal.tid);
	/* by sigtrap, or by F_SETSIG */
	struct seen_signal now = {
		.signo = info->si_signo, .tid = a->signal.tid, .ns = a->signal.ns,
		.of_event = info->si_signo == SIGTRAP ? trap && !strcmp(trap, "TRAP_PERF") :
			    (info->si_signo == SIGIO || info->si_signo >= SIGRTMIN) &&
			    (info->si_code == POLL_IN || info->si_code == POLL_HUP),
		.code = info->si_code,
	};

	if (now.code == SI_USER || now.code == SI_TKILL || now.code == SI_QUEUE ||
	    now.signo == SIGCHLD)
		now.from = info->si_pid;
	if (to && to->unexplained) {	/* what interrupted its wait */
		to->unexplained = false;
		to->stopped_by = to->interrupted > 1 && to->stopped_by.signo != now.signo ?
				 (struct seen_signal){ .signo = 0 } : now;
	}
	/* those that neither end nor concern a process are left out */
	if (now.signo == SIGCHLD || now.signo == SIGWINCH || now.signo == SIGCONT ||
	    now.signo == SIGURG || (now.signo == SIGTRAP && !now.of_event))
		return;
	for_each(t, s->signals, s->nsignals) {
		if (t->signo == now.signo && t->code == now.code && t->tid == now.tid &&
		    t->from == now.from) {
			t->times++;
			return;
		}
	}
	now.times = 1;
	APPEND(s->signals, s->nsignals) = now;
}

static void story_on_free(struct view *v)
{
	struct story *s = view_self(v);

	map_free(&s->by_kind);
	map_free(&s->by_tid);
	for (size_t i = 0; i < EVENT_RECORD_TYPES; i++)
		spans_free(&s->records[i]);
	for_each(t, s->tasks, s->ntasks) {
		spans_free(&t->spans);
		free(t->waited);
	}
	free(s->tasks);
	for_each(f, s->failures, s->nfailures)
		free(f->numbers);
	free(s->failures);
	free(s->signals);
	free(s);
}

static const struct view_ops story_ops = {
	.on[ACTIVITY_TASK] = story_on_born,
	.enter = story_on_enter,
	.exit = story_on_exit,
	.on[ACTIVITY_RECORD] = story_on_record,
	.on[ACTIVITY_SIGNAL] = story_on_signalled,
	.on[ACTIVITY_EXEC] = story_on_execed,
	.on[ACTIVITY_GONE] = story_on_gone,
	.free = story_on_free,
};

struct view *story_view_new(struct model *m, const struct names *n, const struct arch *arch,
			    uint32_t release)
{
	struct story *s = xcalloc(1, sizeof(*s));

	s->view.ops = &story_ops;
	s->m = m;
	s->names = n;
	s->arch = arch;
	s->release = release;
	return &s->view;
}
