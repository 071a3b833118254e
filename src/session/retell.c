// SPDX-License-Identifier: LGPL-2.1-or-later
#include "session/retell.h"

static struct session *of(void *ctx)
{
	return ctx;
}

static void on_born(void *ctx, const struct birth *b, uint64_t ns)
{
	session_born(of(ctx), b, ns);
}

static void on_found(void *ctx, pid_t tid, int fd, bool cloexec)
{
	struct event *e = model_found(of(ctx)->model, tid, fd, cloexec);

	if (e)
		session_found(of(ctx), tid, fd, cloexec, e);
}

static void tell_last(void *ctx, const struct ring *r)
{
	*(const struct ring **)ctx = r;
}

static void on_found_ring(void *ctx, pid_t tid, uint64_t start, uint64_t end)
{
	struct session *s = of(ctx);
	const struct ring *last = NULL;

	model_found_ring(s->model, tid, start, end);
	model_each_mapping(s->model, tid, tell_last, &last);
	if (last)
		session_found_ring(s, tid, last);
}

static void on_comm(void *ctx, pid_t tid, const char *comm)
{
	session_comm(of(ctx), tid, comm);
}

static void on_enter(void *ctx, struct call *c)
{
	struct session *s = of(ctx);

	/* what was shown then, unless something else is asked for now */
	if (s->options->select.chosen)
		c->shown = c->shown && session_shows(s, c, model_concerns(s->model, c));
	session_enter(s, c);
}

static void on_exit_of(void *ctx, struct call *c)
{
	session_exit(of(ctx), c);
}

static void on_stack(void *ctx, pid_t tid, const struct view_frame *frames, size_t n,
		     const char *why)
{
	if (of(ctx)->options->stacks)
		session_stack(of(ctx), tid, frames, n, why);
}

static void on_record(void *ctx, pid_t tid, uint64_t ns, unsigned int ring,
		      unsigned int event, bool sure, const uint8_t *bytes, size_t len)
{
	struct session *s = of(ctx);
	struct event *e = model_event_number(s->model, event);
	struct record_format format;
	struct ring *into = model_ring(s->model, ring);
	struct view_record r = {
		.ring = into, .event = e, .sure = sure, .format = &format,
		.bytes = bytes, .len = len,
	};

	if (!into || !e)
		return;
	record_format_of(&format, e->attr, e->attr_len, s->arch);
	model_recorded(into, e, bytes, len);
	session_record(s, tid, ns, &r);
}

static void on_looked(void *ctx, pid_t tid, uint64_t ns, unsigned int ring,
		      uint64_t missed, bool torn, const uint8_t *page, size_t len, int error)
{
	struct session *s = of(ctx);
	struct ring *r = model_ring(s->model, ring);
	const struct view_look look = {
		.ring = r, .page = page, .page_len = len, .missed = missed, .torn = torn,
		.error = error,
	};

	if (!r)
		return;
	if (error)
		model_blind(r, error);
	else
		model_looked(r, missed, torn);
	session_looked(s, tid, ns, &look);
}

static void on_learnt_id(void *ctx, unsigned int event, uint64_t id)
{
	struct event *e = model_event_number(of(ctx)->model, event);

	if (!e)
		return;
	model_set_id(of(ctx)->model, e, id);
	session_learnt_id(of(ctx), e);
}

static void on_count(void *ctx, unsigned int event, uint64_t id,
		     const struct event_count *count, const uint64_t *read_format)
{
	struct session *s = of(ctx);
	struct event *e = model_event_number(s->model, event);

	if (!e)
		return;
	model_set_id(s->model, e, id); /* a read told it; nobody asked */
	e->count = *count;
	if (read_format && !event_told(e)) {
		e->read_format = *read_format;
		e->format_known = true;
	}
	session_count(s, e);
}

static void on_signal(void *ctx, pid_t tid, uint64_t ns, const siginfo_t *info)
{
	session_signal(of(ctx), tid, ns, info);
}

static void on_execed(void *ctx, pid_t tid, pid_t former, uint64_t ns, const char *exe)
{
	session_execed(of(ctx), tid, former, ns, exe);
}

static void on_gone(void *ctx, pid_t tid, uint64_t ns, enum view_end how, int status,
		    struct call *c)
{
	session_gone(of(ctx), tid, ns, how, status, c);
}

static const struct reader_ops ops = {
	.born = on_born, .found = on_found, .found_ring = on_found_ring, .comm = on_comm, .enter = on_enter,
	.exit = on_exit_of, .stack = on_stack, .record = on_record,
	.looked = on_looked, .learnt_id = on_learnt_id, .count = on_count, .signalled = on_signal,
	.execed = on_execed, .gone = on_gone,
};

bool retell_start(struct session *s, struct options *options, struct reader *r)
{
	const struct dump_facts *f = reader_facts(r);
	const struct session_facts about = {
		.arch = f->arch, .sysname = f->sysname, .release = f->release,
		.version = f->version, .machine = f->machine, .command = f->command,
		.pids = f->pids, .npids = f->npids, .real_offset = f->real_offset,
		.start_ns = f->start_ns,
	};

	return session_start(s, options, reader_names(r), &about);
}

bool retell(struct session *s, struct reader *r)
{
	return reader_run(r, &ops, s);
}
