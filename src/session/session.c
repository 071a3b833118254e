// SPDX-License-Identifier: LGPL-2.1-or-later
#include "session/session.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "dump/dump_view.h"
#include "explain/story.h"
#include "host/rawdata.h"
#include "lib/hash.h"
#include "text/summary.h"
#include "text/text_view.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

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

enum name_kind { NAME_PMU, NAME_TRACEPOINT, NAME_TERMS, NAME_FORMAT, NAME_SYMBOL };

static struct session *of_names(const struct names *n)
{
	return (struct session *)((char *)n - offsetof(struct session, names));
}

/* True when the views have not heard this name yet. */
static bool is_news(struct session *s, enum name_kind kind, uint64_t key)
{
	return !map_set(&s->named, key << 3 | kind, s);
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
	uint64_t key = hash_word(HASH_START, type);

	if (s->source->terms)
		name = s->source->terms(s->source, type, config, nconfigs);
	for (size_t i = 0; i < nconfigs; i++)
		key = hash_word(key, config[i]);
	if (is_news(s, NAME_TERMS, key))
		TELL(s, name_terms, type, config, nconfigs, name);
	return name;
}

/* Descriptors change: only another name than the last one is news. */
static bool is_new_fd_name(struct session *s, pid_t tid, int64_t fd, const char *name)
{
	uint64_t hash = hash_text(HASH_START, name ? name : "") | 1; /* never NULL */

	return map_set(&s->fd_names, (uint64_t)tid << 32 | (uint32_t)fd,
		       (void *)(uintptr_t)hash) != (void *)(uintptr_t)hash;
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
	if (is_new_fd_name(s, c->tid, fd, name))
		TELL(s, name_fd, c->tid, fd, name);
	return name;
}

static int64_t read_format(const struct names *n, const struct call *c, int64_t fd)
{
	const struct event *e = model_event(of_names(n)->model, c->tid, (int)fd);

	return !e ? NAMES_NO_EVENT : e->format_known ? (int64_t)e->read_format :
	       NAMES_NO_FORMAT;
}

static const char *name_event(const struct names *n, uint64_t id)
{
	const struct event *e = model_event_by_id(of_names(n)->model, id);

	return e ? e->name : NULL;
}

static const char *format_of(void *ctx, uint64_t id)
{
	struct session *s = ctx;
	const char *text = s->source->format ? s->source->format(s->source, id) : NULL;

	if (text && is_news(s, NAME_FORMAT, id))
		TELL(s, name_format, id, text);
	return text;
}

/* Raw data has a meaning where a tracepoint wrote it. */
static bool record_raw(void *ctx, const uint8_t *data, size_t len, struct sink *sink)
{
	struct session *s = ctx;
	const struct event *e = s->recording;

	return event_attr(e, ATTR_TYPE) == PERF_TYPE_TRACEPOINT &&
	       rawdata_emit(s->rawdata, event_attr(e, ATTR_CONFIG), data, len, sink);
}

static const char *record_symbol(void *ctx, int32_t pid, uint64_t ip,
				 unsigned int cpumode)
{
	struct session *s = ctx;
	const char *name = s->source->symbol(s->source, pid, ip, cpumode);
	uint64_t key = (ip ^ (uint64_t)(uint32_t)pid << 40) * 31 + cpumode;

	if (name && is_news(s, NAME_SYMBOL, key))
		TELL(s, name_symbol, pid, ip, cpumode, name);
	return name;
}

static const char *session_record_event(void *ctx, uint64_t id)
{
	return name_event(&((struct session *)ctx)->names, id);
}

/* The beginning and the end ----------------------------------------------- */

/* --json alone takes the place of the text; --json=FILE goes beside it. */
static bool open_outputs(struct session *s)
{
	const struct options *o = s->options;

	if (o->no_text)
		return true;
	if (o->json && !o->json_path) {
		s->json = output_open(o->output, STDOUT_FILENO, false);
		return s->json;
	}
	s->text = output_open(o->output, o->to_stdout ? STDOUT_FILENO : STDERR_FILENO,
			      o->separate);
	if (!s->text || !o->json)
		return s->text;
	s->json = output_open(o->json_path, STDOUT_FILENO, false);
	if (!s->json)
		output_close(s->text);
	return s->json;
}

static void add_dump(struct session *s, const struct session_facts *f)
{
	const struct dump_header h = {
		.pevtrace = PACKAGE_VERSION, .sysname = f->sysname, .release = f->release,
		.version = f->version, .machine = f->machine, .arch = f->arch->name,
		.page_size = s->names.page_size, .command = f->command, .pids = f->pids,
		.npids = f->npids, .real_offset = f->real_offset, .start_ns = f->start_ns,
	};

	s->views[s->nviews++] = dump_view_new(&h, s->model, &s->names, s->json);
}

/* KVER() of "6.18.44-fc"; 0: not known. */
static uint32_t release_of(const char *text)
{
	return text ? release_read(&text) : 0;
}

static void add_text(struct session *s, const struct session_facts *f)
{
	struct text_options *text = &s->options->text;

	text->color = color_wanted(s->options->color,
				   output_is_terminal(s->text));
	text->records = s->options->records;
	text->pid_always = s->options->output;
	text->pid_never = s->options->separate;
	if (s->options->explain)
		s->views[s->nviews++] = s->story = story_view_new(s->model, &s->names, f->arch,
								  release_of(f->release));
	else if (!s->options->count)
		s->views[s->nviews++] = text_view_new(text, &s->names, s->text,
						      f->real_offset);
}

bool session_start(struct session *s, struct options *options,
		   const struct names *source, const struct session_facts *facts)
{
	*s = (struct session){
		.options = options, .source = source, .arch = facts->arch,
		.program = facts->command ? facts->command[0] : NULL,
		.hooks = { .ctx = s, .event = session_record_event, .raw = record_raw },
		.names = {
			.pmu = name_pmu, .tracepoint = name_tracepoint,
			.terms = name_terms, .fd = name_fd, .read_format = read_format,
			.event = name_event, .page_size = source->page_size,
		},
	};
	if (!open_outputs(s))
		return false;
	if (options->symbols && source->symbol)
		s->hooks.symbol = record_symbol;
	s->rawdata = rawdata_new(format_of, s);
	s->model = model_new(&s->names, options->keep);
	if (s->text)
		add_text(s, facts);
	if (s->json)
		add_dump(s, facts);
	return true;
}

void session_add_view(struct session *s, struct view *v)
{
	s->views[s->nviews++] = v;
}

uint64_t session_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* CLOCK_REALTIME minus CLOCK_MONOTONIC, in ns. */
static int64_t real_offset(void)
{
	struct timespec real, mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	return (real.tv_sec - mono.tv_sec) * 1000000000LL + (real.tv_nsec - mono.tv_nsec);
}

bool session_start_here(struct session *s, struct options *options,
			const struct names *source)
{
	struct session_facts facts = {
		.arch = arch_native(), .command = options->argv,
		.pids = options->pids, .npids = options->npids,
		.real_offset = real_offset(), .start_ns = session_now(),
	};
	struct utsname u;

	if (!uname(&u)) {
		facts.sysname = u.sysname;
		facts.release = u.release;
		facts.version = u.version;
		facts.machine = u.machine;
	}
	return session_start(s, options, source, &facts);
}

void session_tick(struct session *s, uint64_t ns)
{
	TELL(s, idle, ns);
	if (s->text)
		output_flush(s->text);
	if (s->json)
		output_flush(s->json);
}

static void tell_story(struct session *s, struct buf *out)
{
	struct prose p;

	prose_init(&p, out, s->options->width ? s->options->width :
			    prose_width(output_is_terminal(s->text) ?
					(s->options->to_stdout ? STDOUT_FILENO : STDERR_FILENO) :
					-1));
	p.color = p.links = s->options->text.color;
	story_write(s->story, &s->options->story, &p);
	prose_free(&p);
}

static void write_tables(struct session *s)
{
	struct buf table = { 0 };

	if (s->story)
		tell_story(s, &table);

	if (s->options->summary)
		summary_print(s->model, &s->names, &table);
	if (s->options->count)
		counts_print(&s->counts, &table);
	output_write(s->text, getpid(), buf_str(&table), table.len);
	buf_free(&table);
}

bool session_end(struct session *s)
{
	bool ok = true;

	if (s->text)
		write_tables(s);
	for (size_t i = 0; i < s->nviews; i++)
		s->views[i]->ops->free(s->views[i]);
	model_free(s->model);
	rawdata_free(s->rawdata);
	map_free(&s->shown);
	map_free(&s->named);
	map_free(&s->fd_names);
	if (s->text)
		ok = output_close(s->text);
	return (!s->json || output_close(s->json)) && ok;
}

/* What happens -------------------------------------------------------------- */

bool session_shows(const struct session *s, const struct call *c, bool concerns)
{
	enum selected selected = s->options->select.calls[c->desc->id];

	return selected == SELECT_ALL || (selected == SELECT_PERF && concerns);
}

/* What the kernel calls a task that runs the program of that path. */
static const char *path_end(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void session_born(struct session *s, const struct birth *b, uint64_t ns)
{
	model_born(s->model, b);
	if (s->program && !b->parent && !b->attached) /* its exec came before us */
		model_comm(s->model, b->tid, path_end(s->program));
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

void session_found_ring(struct session *s, pid_t tid, const struct ring *r)
{
	TELL(s, found_ring, tid, r);
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
	s->recording = r->event;
	TELL(s, record, tid, ns, r);
}

void session_looked(struct session *s, pid_t tid, uint64_t ns, const struct view_look *l)
{
	TELL(s, looked, tid, ns, l);
}

void session_learnt_id(struct session *s, const struct event *e)
{
	TELL(s, learnt_id, e);
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
	if (exe)
		model_comm(s->model, tid, path_end(exe));
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
