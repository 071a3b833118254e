// SPDX-License-Identifier: LGPL-2.1-or-later
/* The calls of an experiment as a trace of it would show them. */
#include "conform/claim.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/die.h"
#include "model/model.h"
#include "text/text_view.h"

struct claim_trace {
	struct names names;	/* first: the hooks find the rest by it */
	struct claim_run *lab;
	struct text_options options;
	struct model *model;
	struct output *out;
	struct view *view;
	int fd;			/* what out writes to */
	bool muted;		/* calls are not shown */
};

static const struct claim_trace *self(const struct names *n)
{
	return (const struct claim_trace *)n;
}

static const char *name_pmu(const struct names *n, uint32_t type)
{
	return host_pmu(self(n)->lab->host, type);
}

static const char *name_tracepoint(const struct names *n, uint64_t id)
{
	return host_tracepoint(self(n)->lab->host, id);
}

static const char *name_fd(const struct names *n, const struct call *c, int64_t fd)
{
	const struct event *e = fd < 0 ? NULL : model_event(self(n)->model, c->tid, (int)fd);

	return e ? e->name : NULL;
}

static int64_t read_format(const struct names *n, const struct call *c, int64_t fd)
{
	const struct event *e = model_event(self(n)->model, c->tid, (int)fd);

	return !e ? NAMES_NO_EVENT : e->format_known ? (int64_t)e->read_format :
	       NAMES_NO_FORMAT;
}

static void on_enter(void *ctx, struct call *c)
{
	struct claim_trace *t = ctx;

	c->shown = !t->muted;
	t->view->ops->enter(t->view, c);
	model_enter(t->model, c);
}

static void on_exit_of(void *ctx, struct call *c)
{
	struct claim_trace *t = ctx;

	model_exit(t->model, c);
	t->view->ops->exit(t->view, c);
}

static const struct own_call_ops ops = { .enter = on_enter, .exit = on_exit_of };

struct claim_trace *claim_trace_new(struct claim_run *l)
{
	const struct birth birth = { .tid = gettid(), .pid = getpid(), .attached = true };
	struct claim_trace *t = xcalloc(1, sizeof(*t));
	char path[32];

	*t = (struct claim_trace){
		.names = {
			.pmu = name_pmu, .tracepoint = name_tracepoint, .fd = name_fd,
			.read_format = read_format,
			.page_size = (uint32_t)sysconf(_SC_PAGESIZE),
		},
		.lab = l, .fd = memfd_create("calls", MFD_CLOEXEC),
		.options = { .max_string = 64, .labels = true, .status = STATUS_ALL },
	};
	snprintf(path, sizeof(path), "/proc/self/fd/%d", t->fd);
	t->out = t->fd < 0 ? NULL : output_open(path, STDERR_FILENO, false);
	if (!t->out) {
		free(t);
		return NULL;
	}
	t->model = model_new(&t->names, false);
	t->view = text_view_new(&t->options, &t->names, t->out, 0);
	model_born(t->model, &birth);
	t->view->ops->born(t->view, &birth, 0);
	own_calls_init(&l->own_calls, &ops, t, &t->names);
	return t;
}

void claim_trace_mute(struct claim_trace *t, bool muted)
{
	if (muted && !t->muted)
		claim_trace_note(t, "and so on");
	t->muted = muted;
}

void claim_trace_note(struct claim_trace *t, const char *text)
{
	struct buf line = { 0 };

	buf_addf(&line, "/* %s */\n", text);
	output_write(t->out, gettid(), buf_str(&line), line.len);
	buf_free(&line);
}

void claim_trace_end(struct claim_trace *t, char *text, size_t size)
{
	ssize_t n;

	output_flush(t->out);
	n = pread(t->fd, text, size - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	t->view->ops->free(t->view);
	model_free(t->model);
	output_close(t->out);
	close(t->fd);
	own_calls_free(&t->lab->own_calls);
	free(t);
}
