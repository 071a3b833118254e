// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cmd/session.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "render/graph.h"
#include "render/text_view.h"

/* Calls a hook of every view that has it. */
#define TELL(s, hook, ...)							\
	do {									\
		for (size_t tell_i = 0; tell_i < (s)->nviews; tell_i++) {	\
			struct view *v = (s)->views[tell_i];			\
										\
			if (v->ops->hook)					\
				v->ops->hook(v, __VA_ARGS__);			\
		}								\
	} while (0)

/* Names ------------------------------------------------------------------ */

enum name_kind { NAME_PMU = 1, NAME_TRACEPOINT, NAME_TERMS };

static struct session *of_names(const struct names *n)
{
	return (struct session *)((char *)n - offsetof(struct session, names));
}

/* True when the views have not heard this name yet. */
static bool is_news(struct session *s, enum name_kind kind, uint64_t key)
{
	return !map_set(&s->named, key << 2 | kind, s);
}

static const char *name_pmu(const struct names *n, uint32_t type)
{
	struct session *s = of_names(n);
	const char *name = s->source->pmu ? s->source->pmu(s->source, type) : NULL;

	if (is_news(s, NAME_PMU, type))
		TELL(s, name_pmu, type, name);
	return name;
}

static const char *name_tracepoint(const struct names *n, uint64_t id)
{
	struct session *s = of_names(n);
	const char *name = s->source->tracepoint ? s->source->tracepoint(s->source, id) : NULL;

	/* a miss may be found later: it is no news to keep */
	if (name && is_news(s, NAME_TRACEPOINT, id))
		TELL(s, name_tracepoint, id, name);
	return name;
}

static const char *name_terms(const struct names *n, uint32_t type,
			      const uint64_t *config, size_t nconfigs)
{
	struct session *s = of_names(n);
	const char *name = NULL;
	uint64_t key = type;

	if (s->source->terms)
		name = s->source->terms(s->source, type, config, nconfigs);
	for (size_t i = 0; i < nconfigs; i++)
		key = (key ^ config[i]) * 0x100000001b3ULL;
	if (is_news(s, NAME_TERMS, key))
		TELL(s, name_terms, type, config, nconfigs, name);
	return name;
}

/* An event by its name, anything else by what the machine calls it. */
static const char *name_fd(const struct names *n, const struct call *c, int64_t fd)
{
	struct session *s = of_names(n);
	const struct event *e = fd < 0 ? NULL : model_event(s->model, c->tid, (int)fd);
	const char *name;

	if (e)
		return e->name;
	if (fd < 0 || !s->options->text.labels || !s->source->fd)
		return NULL;
	name = s->source->fd(s->source, c, fd);
	TELL(s, name_fd, c->tid, fd, name);
	return name;
}

static int64_t read_format(const struct names *n, const struct call *c, int64_t fd)
{
	const struct event *e = model_event(of_names(n)->model, c->tid, (int)fd);

	return e && !e->found ? (int64_t)e->read_format : -1;
}

static const char *name_event(const struct names *n, uint64_t id)
{
	const struct event *e = model_event_by_id(of_names(n)->model, id);

	return e ? e->name : NULL;
}

static const char *record_event(void *ctx, uint64_t id)
{
	return name_event(&((struct session *)ctx)->names, id);
}

/* The beginning and the end ----------------------------------------------- */

static bool wants_color(const struct session *s)
{
	if (s->options->color != COLOR_AUTO)
		return s->options->color == COLOR_ALWAYS;
	return output_is_terminal(s->output) && !getenv("NO_COLOR");
}

bool session_start(struct session *s, struct options *options,
		   const struct names *source, int64_t real_offset)
{
	struct text_options *text = &options->text;

	*s = (struct session){ .options = options, .source = source };
	s->output = output_open(options->output, options->separate);
	if (!s->output)
		return false;
	s->names = (struct names){
		.pmu = name_pmu, .tracepoint = name_tracepoint,
		.terms = name_terms, .fd = name_fd, .read_format = read_format,
		.event = name_event, .page_size = source->page_size,
	};
	s->hooks = (struct record_hooks){ .ctx = s, .event = record_event };
	text->color = wants_color(s);
	text->records = options->records;
	text->pid_always = options->output;
	text->pid_never = options->separate;
	s->model = model_new(&s->names, options->summary);
	if (!options->count)
		s->views[s->nviews++] = text_view_new(text, &s->names, s->output, real_offset);
	return true;
}

bool session_end(struct session *s)
{
	struct buf table = { 0 };

	if (s->options->summary)
		graph_print(s->model, &s->names, &table);
	if (s->options->count)
		counts_print(&s->counts, &table);
	output_write(s->output, getpid(), buf_str(&table), table.len);
	buf_free(&table);
	for (size_t i = 0; i < s->nviews; i++)
		s->views[i]->ops->free(s->views[i]);
	model_free(s->model);
	map_free(&s->shown);
	map_free(&s->named);
	return output_close(s->output);
}

/* What happens -------------------------------------------------------------- */

bool session_shows(const struct session *s, const struct call *c, bool concerns)
{
	enum selected selected = s->options->select.calls[c->desc->id];

	return selected == SELECT_ALL || (selected == SELECT_PERF && concerns);
}

void session_born(struct session *s, const struct birth *b, uint64_t ns)
{
	model_born(s->model, b);
	TELL(s, born, b, ns);
}

void session_comm(struct session *s, pid_t tid, const char *comm)
{
	model_comm(s->model, tid, comm);
	TELL(s, comm, tid, comm);
}

void session_found(struct session *s, pid_t tid, int fd, bool cloexec,
		   const struct event *e)
{
	TELL(s, found, tid, fd, cloexec, e);
}

void session_enter(struct session *s, const struct call *c)
{
	if (c->shown)
		map_set(&s->shown, (uint64_t)c->tid, s);
	TELL(s, enter, c);
	model_enter(s->model, c);
}

void session_exit(struct session *s, const struct call *c)
{
	model_exit(s->model, c);
	if (c->shown)
		counts_add(&s->counts, c);
	TELL(s, exit, c);
}

void session_stack(struct session *s, pid_t tid, const struct view_frame *frames,
		   size_t n, const char *why)
{
	TELL(s, stack, tid, frames, n, why);
}

void session_record(struct session *s, pid_t tid, uint64_t ns, struct view_record *r)
{
	r->hooks = &s->hooks;
	TELL(s, record, tid, ns, r);
}

void session_looked(struct session *s, pid_t tid, uint64_t ns, const struct view_look *l)
{
	TELL(s, looked, tid, ns, l);
}

void session_count(struct session *s, const struct event *e)
{
	TELL(s, count, e);
}

void session_signal(struct session *s, pid_t tid, uint64_t ns, const siginfo_t *info)
{
	bool shown = model_involved(s->model, tid) &&
		     selection_has_signal(&s->options->select, info->si_signo);

	TELL(s, signalled, tid, ns, info, shown);
}

void session_execed(struct session *s, pid_t tid, pid_t former, uint64_t ns,
		    const char *exe)
{
	/* a measured program's exec is where enable_on_exec acts */
	bool shown = model_involved(s->model, former);

	if (map_del(&s->shown, (uint64_t)former) || shown)
		map_set(&s->shown, (uint64_t)tid, s);
	TELL(s, execed, tid, former, ns, exe, shown);
	model_execed(s->model, tid, former);
}

void session_gone(struct session *s, pid_t tid, uint64_t ns, enum view_end how,
		  int status, const struct call *c)
{
	bool shown = map_del(&s->shown, (uint64_t)tid) || model_involved(s->model, tid);

	if (c)
		TELL(s, abandon, c, how == END_DETACHED, ns);
	TELL(s, gone, tid, ns, how, status, shown);
	model_gone(s->model, tid);
}
