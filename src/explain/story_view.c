// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a story needs and the model does not keep. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "abi/ioctl.h"
#include "abi/layout.h"
#include "explain/story_internal.h"
#include "lib/die.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Where the file name of a MMAP and of a MMAP2 begins. */
enum { MMAP_NAME = 40, MMAP2_NAME = 72 };

static struct story *of(struct view *v)
{
	return (struct story *)v;
}

/* Tasks --------------------------------------------------------------------------- */

static struct told_task *task_of(struct story *s, pid_t tid)
{
	size_t i = (size_t)(uintptr_t)map_get(&s->by_tid, (uint64_t)tid);

	return i ? &s->tasks[i - 1] : NULL;
}

const struct told_task *story_task(const struct story *s, pid_t tid)
{
	return task_of((struct story *)s, tid);
}

static void on_born(struct view *v, const struct birth *b, uint64_t ns)
{
	struct story *s = of(v);
	const struct told_task *parent = task_of(s, b->parent);
	const struct call_desc *by = parent ? parent->making : NULL;

	(void)ns;
	s->tasks = xrealloc(s->tasks, (s->ntasks + 1) * sizeof(*s->tasks));
	s->tasks[s->ntasks++] = (struct told_task){
		.tid = b->tid, .pid = b->pid, .parent = b->parent, .attached = b->attached,
		.thread = b->tid != b->pid, .by = by,
	};
	map_set(&s->by_tid, (uint64_t)b->tid, (void *)(uintptr_t)s->ntasks);
}

static void on_execed(struct view *v, pid_t tid, pid_t former, uint64_t ns, const char *exe,
		      bool shown)
{
	struct told_task *t = task_of(of(v), former);

	(void)ns;
	(void)shown;
	if (!t)
		return;
	if (tid != former) {
		t->tid = tid;
		map_set(&of(v)->by_tid, (uint64_t)tid,
			map_get(&of(v)->by_tid, (uint64_t)former));
	}
	t->execs++;
	free(t->exe);
	t->exe = exe ? xstrdup(exe) : NULL;
}

static void end_wait(struct told_task *t)
{
	t->unfinished += t->waiting;
	t->waiting = false;
}

static void on_gone(struct view *v, pid_t tid, uint64_t ns, enum view_end how, int status,
		    bool shown)
{
	struct told_task *t = task_of(of(v), tid);

	(void)ns;
	(void)shown;
	if (!t)
		return;
	end_wait(t);
	t->gone = true;
	t->how = how;
	t->status = status;
	t->making = NULL;
}

/* Calls --------------------------------------------------------------------------- */

static bool makes_tasks(enum call_id id)
{
	return id == CALL_CLONE || id == CALL_CLONE3 || id == CALL_FORK || id == CALL_VFORK;
}

static bool is_wait(const struct call *c)
{
	return c->desc->class == CLASS_POLL && c->desc->id != CALL_EPOLL_CTL &&
	       c->desc->id != CALL_EPOLL_CREATE && c->desc->id != CALL_EPOLL_CREATE1;
}

static struct told_event *event_of(struct story *s, const struct event *e)
{
	struct told_event *told = map_get(&s->by_number, e->number);

	if (!told) {
		told = xcalloc(1, sizeof(*told));
		map_set(&s->by_number, e->number, told);
	}
	return told;
}

static void on_enter(struct view *v, const struct call *c)
{
	struct told_task *t = task_of(of(v), c->tid);
	const struct event *e;

	if (c->desc->id == CALL_CLOSE && !c->inject.injected &&
	    (e = model_event(of(v)->m, c->tid, call_int(c, 0))))
		event_of(of(v), e)->closes++;
	if (!t)
		return;
	if (makes_tasks(c->desc->id))
		t->making = c->desc;
	if (!is_wait(c) || !model_concerns(of(v)->m, c))
		return;
	t->waiting = true;
	t->waits++;
	t->wait = c->desc;
}

/* What events had to do with the end of a poll or ppoll; other waits do not tell. */
static uint64_t revents(const struct story *s, const struct call *c)
{
	const uint8_t *fds;
	uint64_t all = 0;
	size_t len;

	if (c->desc->id != CALL_POLL && c->desc->id != CALL_PPOLL &&
	    c->desc->id != CALL_PPOLL_TIME64)
		return 0;
	fds = call_bytes(c, AT_SYSCALL_EXIT, c->args[0], SIZE_MAX, &len);
	for (; fds && len >= 8; fds += 8, len -= 8)
		if (model_event(s->m, c->tid,
				(int)layout_get(&layout_pollfd, POLLFD_FD, fds, 8)))
			all |= layout_get(&layout_pollfd, POLLFD_REVENTS, fds, 8);
	return all;
}

static void waited(const struct story *s, struct told_task *t, const struct call *c)
{
	uint64_t events = !c->failed && c->ret ? revents(s, c) : 0;

	t->waiting = false;
	if (c->inject.injected)
		t->answered++;
	else if (c->failed)
		t->interrupted++;
	else if (!c->ret)
		t->timed_out++;
	else if (events & POLLIN)
		t->woken++;
	else if (events & POLLHUP)
		t->hung_up++;
	else
		t->ready++;
}

const struct told_event *story_event(const struct story *s, const struct event *e)
{
	return map_get(&s->by_number, e->number);
}

/* The event that the call is about, by its descriptor; NULL: none. */
static const struct event *subject(const struct story *s, const struct call *c)
{
	unsigned int fd = c->desc->id == CALL_MMAP || c->desc->id == CALL_MMAP2 ? 4 : 0;

	return c->desc->nargs > fd && c->desc->args[fd].kind == ARG_FD ?
	       model_event(s->m, c->tid, call_int(c, fd)) : NULL;
}

static void note_failure(struct story *s, const struct call *c, const struct event *e)
{
	const struct ioctl_desc *request = c->desc->id == CALL_IOCTL ? ioctl_of(c) : NULL;

	for (size_t i = 0; i < s->nfailures; i++) {
		struct told_failure *f = &s->failures[i];

		if (f->call == c->desc && f->request == request && f->error == c->ret &&
		    f->injected == c->inject.injected) {
			f->times++;
			return;
		}
	}
	s->failures = xrealloc(s->failures, (s->nfailures + 1) * sizeof(*s->failures));
	s->failures[s->nfailures++] = (struct told_failure){
		.call = c->desc, .request = request, .error = (int)c->ret, .times = 1,
		.injected = c->inject.injected, .event = e,
	};
}

static void on_exit_of(struct view *v, const struct call *c)
{
	struct story *s = of(v);
	struct told_task *t = task_of(s, c->tid);
	const struct event *e = subject(s, c);
	const struct ioctl_desc *d;

	if (t && makes_tasks(c->desc->id))
		t->making = NULL;
	if (t && t->waiting && is_wait(c))
		waited(s, t, c);
	if (!e)
		return;
	d = c->desc->id == CALL_IOCTL ? ioctl_of(c) : NULL;
	if (c->failed && c->ret != EINTR && c->ret != EAGAIN)
		note_failure(s, c, e);
	else if (!c->failed && !c->inject.injected && d && d - ioctl_descs < TOLD_IOCTLS)
		event_of(s, e)->ioctls[d - ioctl_descs]++;
}

/* Records and signals ------------------------------------------------------------------ */

static void note_path(struct story *s, const char *path, size_t len)
{
	for (size_t i = 0; i < s->npaths; i++)
		if (strlen(s->paths[i]) == len && !memcmp(s->paths[i], path, len))
			return;
	if (s->npaths == TOLD_PATHS || !len)
		return;
	s->paths[s->npaths] = xcalloc(1, len + 1);
	memcpy(s->paths[s->npaths++], path, len);
}

static void on_record(struct view *v, pid_t tid, uint64_t ns, const struct view_record *r)
{
	struct story *s = of(v);
	uint64_t type = layout_get(&layout_perf_event_header, PERF_EVENT_HEADER_TYPE, r->bytes,
				   r->len);
	size_t at = type == PERF_RECORD_MMAP ? MMAP_NAME :
		    type == PERF_RECORD_MMAP2 ? MMAP2_NAME : 0;

	(void)tid;
	(void)ns;
	if (!at)
		return;
	s->maps++;
	if (r->len > at)
		note_path(s, (const char *)r->bytes + at,
			  strnlen((const char *)r->bytes + at, r->len - at));
}

/* Signals that an event sends: SIGTRAP of its own, or what F_SETSIG asked for. */
static bool of_event(const siginfo_t *info)
{
	const char *trap = xlat_name(&xlat_si_code_trap, (uint64_t)info->si_code);

	if (info->si_signo == SIGTRAP)
		return trap && !strcmp(trap, "TRAP_PERF");
	return (info->si_signo == SIGIO || info->si_signo >= SIGRTMIN) &&
	       (info->si_code == POLL_IN || info->si_code == POLL_HUP);
}

static void on_signalled(struct view *v, pid_t tid, uint64_t ns, const siginfo_t *info,
			 bool shown)
{
	struct story *s = of(v);

	(void)ns;
	(void)shown;
	if (!of_event(info))
		return;
	for (size_t i = 0; i < s->nsignals; i++) {
		struct told_signal *t = &s->signals[i];

		if (t->signo == info->si_signo && t->code == info->si_code && t->tid == tid) {
			t->times++;
			return;
		}
	}
	s->signals = xrealloc(s->signals, (s->nsignals + 1) * sizeof(*s->signals));
	s->signals[s->nsignals++] = (struct told_signal){
		.signo = info->si_signo, .code = info->si_code, .tid = tid, .times = 1,
	};
}

static void on_free(struct view *v)
{
	struct story *s = of(v);
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&s->by_number, &at)))
		free(slot->value);
	map_free(&s->by_number);
	map_free(&s->by_tid);
	for (size_t i = 0; i < s->ntasks; i++)
		free(s->tasks[i].exe);
	for (size_t i = 0; i < s->npaths; i++)
		free(s->paths[i]);
	free(s->tasks);
	free(s->failures);
	free(s->signals);
	free(s);
}

static const struct view_ops ops = {
	.born = on_born, .enter = on_enter, .exit = on_exit_of, .record = on_record,
	.signalled = on_signalled, .execed = on_execed, .gone = on_gone, .free = on_free,
};

struct view *story_view_new(struct model *m, const struct names *n, const struct arch *arch,
			    uint32_t release)
{
	struct story *s = xcalloc(1, sizeof(*s));

	s->view.ops = &ops;
	s->m = m;
	s->names = n;
	s->arch = arch;
	s->release = release;
	return &s->view;
}
