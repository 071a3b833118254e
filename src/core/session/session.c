// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "core/abi/swap.h"
#include "core/host/rawdata.h"
#include "core/lib/die.h"
#include "core/session/session_internal.h"

/* Start and end ----------------------------------------------------------- */

void session_start(struct session *s, const struct session_setup *setup,
		   const struct session_facts *facts)
{
	*s = (struct session){
		.source = setup->source, .selection = setup->selection,
		.fd_names = setup->fd_names, .symbols = setup->symbols,
		.stacks = setup->stacks, .arch = facts->arch,
		.program = facts->command ? facts->command[0] : NULL,
	};
	session_names_init(s);
	s->model = model_new(&s->names, setup->keep);
}

void session_add_view(struct session *s, struct view *v)
{
	struct view **last = &s->views;

	while (*last)
		last = &(*last)->next;
	*last = v;
}

void session_end(struct session *s)
{
	for (struct view *v = s->views, *next; v; v = next) {
		next = v->next;
		if (v->ops->free)
			v->ops->free(v);
	}
	model_free(s->model);
	rawdata_free(s->rawdata);
	map_free(&s->shown);
	map_free(&s->named);
	map_free(&s->fd_named);
	map_free(&s->programs_named);
	map_free(&s->symbols_named);
}

void session_lost(struct session *s, uint64_t ns, uint64_t n)
{
	s->lost += n;
	EACH_VIEW(s, lost, ns, n);
}

void session_tick(struct session *s, uint64_t ns)
{
	EACH_VIEW(s, idle, ns);
}

bool session_shows(const struct session *s, const struct call *c)
{
	enum selected selected = s->selection ? s->selection->calls[c->desc->id] : SELECT_ALL;

	return selected == SELECT_ALL ||
	       (selected == SELECT_PERF && model_concerns(s->model, c));
}

/* Tasks --------------------------------------------------------------------- */

/* Return the name that exec of that path gives to a task. */
static const char *session_comm_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void session_born(struct session *s, const struct birth *b, uint64_t ns)
{
	model_born(s->model, b);
	if (s->program && !b->parent && !b->attached) /* its exec is not reported */
		model_comm(s->model, b->tid, session_comm_of(s->program));
	EACH_VIEW(s, born, b, ns);
}

void session_comm(struct session *s, pid_t tid, const char *comm)
{
	model_comm(s->model, tid, comm);
	EACH_VIEW(s, comm, tid, comm);
}

void session_command(struct session *s, pid_t tid, char *const *words)
{
	EACH_VIEW(s, command, tid, words);
}

void session_measured(struct session *s, uint64_t ns, const struct proc_image *p)
{
	EACH_VIEW(s, measured, ns, p);
}

void session_build_id(struct session *s, const char *path, const uint8_t *id, size_t size)
{
	if (size)
		EACH_VIEW(s, build_id, path, id, size);
}

void session_signal(struct session *s, pid_t tid, uint64_t ns, const siginfo_t *info)
{
	bool shown = model_involved(s->model, tid) &&
		     (!s->selection || selection_has_signal(s->selection, info->si_signo));

	EACH_VIEW(s, signalled, tid, ns, info, shown);
}

void session_execed(struct session *s, pid_t tid, pid_t former, uint64_t ns,
		    const char *exe)
{
	/* the exec of a measured task is shown: enable_on_exec takes effect there */
	bool shown = model_involved(s->model, former);

	if (map_del(&s->shown, (uint64_t)former) || shown)
		map_set(&s->shown, (uint64_t)tid, s);
	EACH_VIEW(s, execed, tid, former, ns, exe, shown);
	model_execed(s->model, tid, former);
	if (exe)
		model_comm(s->model, tid, session_comm_of(exe));
}

void session_gone(struct session *s, pid_t tid, uint64_t ns, enum view_end how,
		  int status, const struct call *c)
{
	bool shown = map_del(&s->shown, (uint64_t)tid) || model_involved(s->model, tid);

	if (c)
		EACH_VIEW(s, abandon, c, how == END_DETACHED, ns);
	EACH_VIEW(s, gone, tid, ns, how, status, shown);
	model_gone(s->model, tid, how == END_DETACHED);
}

/* State from before attach ------------------------------------------------------- */

struct adopted_fd {
	int fd;
	bool cloexec;
	const struct event *event;
};

struct adoption {
	struct session *session;
	pid_t tid;
	struct adopted_fd *fds;
	size_t n;
};

static void adoption_add(void *ctx, int fd, bool cloexec, struct event *e)
{
	struct adoption *a = ctx;

	a->fds = xrealloc(a->fds, (a->n + 1) * sizeof(*a->fds));
	a->fds[a->n++] = (struct adopted_fd){ fd, cloexec, e };
}

static int adoption_compare(const void *a, const void *b)
{
	const struct adopted_fd *x = a, *y = b;

	return x->event->number < y->event->number ? -1 :
	       x->event->number > y->event->number ? 1 : x->fd - y->fd;
}

static void adoption_report_ring(void *ctx, const struct ring *r)
{
	struct adoption *a = ctx;

	EACH_VIEW(a->session, found_ring, a->tid, r);
}

/* Report events in the order of their numbers: the reader of a dump assigns them anew. */
void session_adopt(struct session *s, pid_t tid, bool all, model_id_of *id_of)
{
	struct adoption a = { .session = s, .tid = tid };

	model_adopt(s->model, tid, all, id_of);
	model_each_fd(s->model, tid, adoption_add, &a);
	if (a.n)
		qsort(a.fds, a.n, sizeof(*a.fds), adoption_compare);
	for (size_t i = 0; i < a.n; i++)
		EACH_VIEW(s, found, tid, a.fds[i].fd, a.fds[i].cloexec, a.fds[i].event);
	for (size_t i = 0; i < a.n; i++)
		if (a.fds[i].event->id && (!i || a.fds[i].event != a.fds[i - 1].event))
			EACH_VIEW(s, learnt_id, a.fds[i].event);
	free(a.fds);
}

void session_adopt_rings(struct session *s, pid_t tid, model_ring_event *of, void *ctx)
{
	struct adoption a = { .session = s, .tid = tid };

	model_adopt_rings(s->model, tid, of, ctx);
	model_each_mapping(s->model, tid, adoption_report_ring, &a);
}

void session_describe(struct session *s, pid_t tid, uint64_t ns, struct event *e,
		      const struct event_facts *f)
{
	model_describe(s->model, e, f);
	EACH_VIEW(s, described, tid, ns, e);
}

struct event *session_found(struct session *s, pid_t tid, int fd, bool cloexec,
			    unsigned int number)
{
	struct event *e = model_found(s->model, tid, fd, cloexec, number);

	if (e)
		EACH_VIEW(s, found, tid, fd, cloexec, e);
	return e;
}

void session_closed(struct session *s, pid_t tid, int fd)
{
	EACH_VIEW(s, closed, tid, fd);
	model_closed(s->model, tid, fd);
}

static void session_take_last(void *ctx, const struct ring *r)
{
	*(const struct ring **)ctx = r;
}

void session_found_ring(struct session *s, pid_t tid, uint64_t start, uint64_t end,
			struct event *e, bool aux)
{
	const struct ring *last = NULL;

	model_found_ring(s->model, tid, start, end, e, aux);
	model_each_mapping(s->model, tid, session_take_last, &last);
	if (last)
		EACH_VIEW(s, found_ring, tid, last);
}

/* Calls --------------------------------------------------------------------------- */

void session_enter(struct session *s, const struct call *c)
{
	if (c->shown)
		map_set(&s->shown, (uint64_t)c->tid, s);
	EACH_VIEW(s, enter, c);
	model_enter(s->model, c);
}

void session_exit(struct session *s, const struct call *c)
{
	EACH_VIEW(s, before_exit, c);
	model_exit(s->model, c);
	EACH_VIEW(s, exit, c);
}

void session_stack(struct session *s, pid_t tid, const struct view_frame *frames,
		   size_t n, const char *why)
{
	if (s->stacks)
		EACH_VIEW(s, stack, tid, frames, n, why);
}

/* Rings and counts -------------------------------------------------------------------- */

void session_swap_record(struct session *s, const struct event *e,
			 const struct record_format *f, uint8_t *bytes, size_t len)
{
	s->recording = e;
	swap_record(bytes, len, f, &s->hooks);
}

void session_record(struct session *s, pid_t tid, uint64_t ns, struct view_record *r)
{
	model_recorded(r->ring, r->event, r->bytes, r->len);
	r->hooks = &s->hooks;
	s->recording = r->event;
	EACH_VIEW(s, record, tid, ns, r);
}

void session_looked(struct session *s, pid_t tid, uint64_t ns, const struct view_look *l)
{
	if (l->error)
		model_blind(l->ring, l->error);
	else
		model_looked(l->ring, l->missed, l->torn);
	EACH_VIEW(s, looked, tid, ns, l);
}

void session_aux(struct session *s, pid_t tid, uint64_t ns, const struct view_aux *a)
{
	EACH_VIEW(s, aux, tid, ns, a);
}

void session_learnt_id(struct session *s, struct event *e, uint64_t id)
{
	model_set_id(s->model, e, id);
	EACH_VIEW(s, learnt_id, e);
}

void session_program(struct session *s, struct event *e, const struct bpf_program *p)
{
	e->bpf = BPF_FOUND;
	e->program = *p;
	EACH_VIEW(s, program, e);
}

void session_count(struct session *s, const struct event *e)
{
	EACH_VIEW(s, count, e);
}
