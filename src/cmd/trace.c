// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace COMMAND: the engine, the model and a view wired together. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "drive/look.h"
#include "host/host.h"
#include "host/proc.h"
#include "lib/die.h"
#include "lib/map.h"
#include "model/model.h"
#include "render/counts.h"
#include "render/graph.h"
#include "render/output.h"
#include "render/text_view.h"
#include "trace/trace.h"
#include "xlat/constants.h"

/* A file that somebody else reads is at most so old. */
#define FLUSH_MS 500

struct session {
	struct options options;
	struct names names;
	struct host *host;
	struct model *model;
	struct output *output;
	struct text_view *view;
	struct counts counts;
	struct tracer *tracer;
	struct looker *looker;	/* NULL: nobody wants to see into rings */
	pid_t looking;		/* the tid at whose stop we look */
	struct map shown;	/* tids that a line was written about */
	size_t tasks;		/* born so far */
	char link[4096];	/* what names.fd returned last */
};

/* Names ------------------------------------------------------------------ */

static struct session *of_names(const struct names *n)
{
	return (struct session *)((char *)n - offsetof(struct session, names));
}

static const char *name_pmu(const struct names *n, uint32_t type)
{
	return host_pmu(of_names(n)->host, type);
}

static const char *name_tracepoint(const struct names *n, uint64_t id)
{
	return host_tracepoint(of_names(n)->host, id);
}

static const char *name_terms(const struct names *n, uint32_t type,
			      const uint64_t *config, size_t nconfigs)
{
	return host_terms(of_names(n)->host, type, config, nconfigs);
}

/* An event by its name, anything else by its link in /proc. */
static const char *name_fd(const struct names *n, const struct call *c, int64_t fd)
{
	struct session *s = of_names(n);
	const struct event *e;

	if (!s->options.text.labels || fd < 0)
		return NULL;
	e = model_event(s->model, c->tid, (int)fd);
	if (e)
		return e->name;
	return proc_fd_link(c->tid, (int)fd, s->link, sizeof(s->link)) ? s->link : NULL;
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

/* Rings ------------------------------------------------------------------ */

static const char *record_event(void *ctx, uint64_t id)
{
	return name_event(&((struct session *)ctx)->names, id);
}

static void on_record(void *ctx, const struct ring *r, const struct event *e,
		      const struct record_format *format, const uint8_t *bytes,
		      size_t len)
{
	struct session *s = ctx;
	const struct record_hooks hooks = { .ctx = s, .event = record_event };

	if (s->options.records && !s->options.count)
		text_view_record(s->view, s->looking, r->number, e->name, format,
				 &hooks, bytes, len);
}

static void on_looked(void *ctx, const struct ring *r, const struct ring_result *result)
{
	struct session *s = ctx;
	char text[128];

	if (!s->options.records || s->options.count)
		return;
	if (s->options.text.full)
		text_view_ring_page(s->view, s->looking, r->number, result->page.bytes,
				    sizeof(result->page.bytes));
	if (result->missed) {
		snprintf(text, sizeof(text), "%llu bytes were overwritten before we looked",
			 (unsigned long long)result->missed);
		text_view_ring(s->view, s->looking, r->number, text);
	}
	if (result->torn)
		text_view_ring(s->view, s->looking, r->number,
			       "holds bytes that are no records; skipped");
}

static const struct look_ops look_ops = { .record = on_record, .looked = on_looked };

/* What goes with this call is seen now or never. */
static void look_before(struct session *s, const struct call *c)
{
	struct event *e;

	s->looking = c->tid;
	switch (c->desc->id) {
	case CALL_IOCTL:
		e = model_event(s->model, c->tid, call_int(c, 0));
		if (e && (c->args[1] == PERF_EVENT_IOC_DISABLE ||
			  c->args[1] == PERF_EVENT_IOC_PAUSE_OUTPUT ||
			  c->args[1] == PERF_EVENT_IOC_SET_OUTPUT))
			look_event(s->looker, c->pid, c->tid, e->output ? e->output : e);
		break;
	case CALL_MUNMAP:
	case CALL_MREMAP:
		look_range(s->looker, c->pid, c->tid, c->args[0], c->args[0] + c->args[1]);
		break;
	case CALL_CLOSE:
		e = model_event(s->model, c->tid, call_int(c, 0));
		if (!e || e->handles > 1)
			break;
		look_event(s->looker, c->pid, c->tid, e);
		look_count(s->looker, c->pid, c->tid, e);
		break;
	case CALL_CLOSE_RANGE:
	case CALL_EXECVE:
	case CALL_EXECVEAT:
	case CALL_EXIT_GROUP:
		look_all(s->looker, c->pid, c->tid);
		look_counts(s->looker, c->pid, c->tid);
		break;
	default:
		break;
	}
}

static void look_after(struct session *s, const struct call *c)
{
	s->looking = c->tid;
	if (c->desc->class == CLASS_POLL && c->desc->id != CALL_EPOLL_CTL)
		look_all(s->looker, c->pid, c->tid);
}

/* What the engine tells -------------------------------------------------- */

static void on_born(void *ctx, const struct trace_birth *b)
{
	struct session *s = ctx;
	bool thread = b->attached && b->tid != b->pid;

	model_born(s->model, b->tid, b->pid, thread ? b->pid : b->parent,
		   thread || b->shares_files, thread || b->shares_memory);
	if (b->attached && !thread)
		model_adopt(s->model, b->tid);
	if (++s->tasks > 1)
		text_view_many(s->view);
}

static bool is_shown(const struct session *s, const struct call *c, bool concerns)
{
	enum selected selected = s->options.select.calls[c->desc->id];

	return selected == SELECT_ALL || (selected == SELECT_PERF && concerns);
}

static void learn_comm(struct session *s, pid_t tid)
{
	char comm[32];

	if (s->options.summary && proc_comm(tid, comm, sizeof(comm)))
		model_comm(s->model, tid, comm);
}

struct stack_of {
	struct session *session;
	pid_t tid;
};

static void add_frame(void *ctx, const struct trace_frame *f)
{
	const struct stack_of *o = ctx;

	text_view_frame(o->session->view, o->tid, f->module, f->symbol, f->offset, f->ip);
}

static void show_enter(struct session *s, const struct call *c)
{
	struct stack_of o = { s, c->tid };
	const char *why;

	if (!map_set(&s->shown, (uint64_t)c->tid, s))
		learn_comm(s, c->tid);
	if (s->options.count)
		return;
	text_view_enter(s->view, c);
	if (!s->options.stacks)
		return;
	why = trace_stack(s->tracer, c->tid, add_frame, &o);
	if (why)
		text_view_no_stack(s->view, c->tid, why);
}

static enum trace_next on_enter(void *ctx, struct call *c, const struct mem *mem)
{
	struct session *s = ctx;
	/* which descriptors are polled or sent is known only from memory */
	bool early = c->desc->class == CLASS_POLL || c->desc->class == CLASS_PASS;
	bool concerns, passing;

	if (early)
		call_capture(c, AT_ENTER, mem, &s->names);
	concerns = model_concerns(s->model, c);
	c->shown = is_shown(s, c, concerns);
	if (!concerns && !c->shown)
		return TRACE_SKIP;
	if (!early)
		call_capture(c, AT_ENTER, mem, &s->names);
	if (s->looker)
		look_before(s, c);
	if (c->shown)
		show_enter(s, c);
	passing = model_passing(s->model);
	model_enter(s->model, c);
	if (!passing && model_passing(s->model))
		trace_recheck(s->tracer); /* whoever may receive it is to be watched */
	return TRACE_EXIT;
}

static void on_exit_of(void *ctx, struct call *c, const struct mem *mem)
{
	struct session *s = ctx;

	call_capture(c, AT_EXIT, mem, &s->names);
	model_exit(s->model, c);
	if (c->shown && s->options.count)
		counts_add(&s->counts, c);
	else if (c->shown)
		text_view_exit(s->view, c);
	if (s->looker)
		look_after(s, c);
}

static void on_execed(void *ctx, pid_t tid, pid_t former)
{
	struct session *s = ctx;
	bool told = text_view_in_call(s->view, former);
	char text[4200], exe[4096];

	text_view_renamed(s->view, former, tid);
	/* a measured program's exec is where enable_on_exec acts */
	if (model_involved(s->model, former) && !told && !s->options.count &&
	    proc_exe(tid, exe, sizeof(exe))) {
		snprintf(text, sizeof(text), "now runs %s", exe);
		text_view_event(s->view, tid, text);
		map_set(&s->shown, (uint64_t)tid, s);
	}
	model_execed(s->model, tid, former);
	if (model_involved(s->model, tid))
		learn_comm(s, tid);
}

static void on_signal(void *ctx, pid_t tid, const siginfo_t *info)
{
	struct session *s = ctx;

	if (!s->options.count && model_involved(s->model, tid) &&
	    selection_has_signal(&s->options.select, info->si_signo))
		text_view_signal(s->view, tid, info);
}

static void on_gone(void *ctx, pid_t tid, int status, struct call *c)
{
	struct session *s = ctx;
	bool shown = map_del(&s->shown, (uint64_t)tid);

	shown = (shown || model_involved(s->model, tid)) && !s->options.count;
	if (c && c->shown && !s->options.count)
		text_view_abandon(s->view, tid, status == TRACE_DETACHED);
	if (shown && status >= 0)
		text_view_gone(s->view, tid, status);
	else if (shown && status == TRACE_SUPERSEDED)
		text_view_event(s->view, tid, "superseded by another thread's exec");
	model_gone(s->model, tid);
}

static void look_at_holder(void *ctx, pid_t tid, pid_t pid)
{
	struct session *s = ctx;

	s->looking = tid;
	look_all(s->looker, pid, tid);
}

static bool on_close_watch(void *ctx, pid_t tid)
{
	const struct session *s = ctx;

	return model_holds(s->model, tid) || model_passing(s->model);
}

/* Lets others read the file as it grows, and looks where no call gives cause. */
static void on_tick(void *ctx)
{
	struct session *s = ctx;

	output_flush(s->output);
	if (s->looker && s->options.look_ms)
		model_each_holder(s->model, look_at_holder, s);
}

static const struct trace_ops ops = {
	.born = on_born,
	.enter = on_enter,
	.exit = on_exit_of,
	.execed = on_execed,
	.signalled = on_signal,
	.gone = on_gone,
	.close_watch = on_close_watch,
	.tick = on_tick,
};

/* Setting up ------------------------------------------------------------- */

static void plan_stops(const struct session *s, struct trace_options *t)
{
	for (size_t i = 0; i < CALL_COUNT; i++) {
		enum selected selected = s->options.select.calls[i];

		t->watch[i] = selected == SELECT_ALL ? WATCH_ALWAYS : call_descs[i].watch;
		t->unwanted[i] = selected == SELECT_NONE && !model_needs((enum call_id)i);
	}
	t->no_seccomp = s->options.no_seccomp;
	t->detach_on_exec = s->options.detach_on_exec;
	t->tick_ms = s->options.look_ms ? s->options.look_ms :
		     s->options.output ? FLUSH_MS : 0;
}

/* CLOCK_REALTIME minus CLOCK_MONOTONIC, in ns. */
static int64_t real_offset(void)
{
	struct timespec real, mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	return (real.tv_sec - mono.tv_sec) * 1000000000LL + (real.tv_nsec - mono.tv_nsec);
}

static bool wants_color(const struct session *s)
{
	if (s->options.color != COLOR_AUTO)
		return s->options.color == COLOR_ALWAYS;
	return output_is_terminal(s->output) && !getenv("NO_COLOR");
}

static void start_looking(struct session *s)
{
	const char *why;

	if (!s->options.records && !s->options.summary)
		return;
	why = look_refusal();
	if (!why)
		s->looker = looker_new(s->model, &look_ops, s);
	else
		warn("cannot see into ring buffers: %s", why);
}

static bool session_start(struct session *s)
{
	s->output = output_open(s->options.output, s->options.separate);
	if (!s->output)
		return false;
	s->names = (struct names){
		.pmu = name_pmu, .tracepoint = name_tracepoint,
		.terms = name_terms, .fd = name_fd, .read_format = read_format,
		.event = name_event,
		.page_size = (uint32_t)sysconf(_SC_PAGESIZE),
	};
	s->options.text.color = wants_color(s);
	s->options.text.pid_always = s->options.output;
	s->options.text.pid_never = s->options.separate;
	s->host = host_new("/sys", NULL);
	s->model = model_new(&s->names, s->options.summary);
	start_looking(s);
	s->view = text_view_new(&s->options.text, &s->names, s->output, real_offset());
	return true;
}

/* True when everything that was shown could be written. */
static bool session_end(struct session *s)
{
	struct buf table = { 0 };
	bool ok;

	if (s->options.summary)
		graph_print(s->model, &s->names, &table);
	if (s->options.count)
		counts_print(&s->counts, &table);
	output_write(s->output, getpid(), buf_str(&table), table.len);
	buf_free(&table);
	text_view_free(s->view);
	looker_free(s->looker);
	model_free(s->model);
	host_free(s->host);
	map_free(&s->shown);
	ok = output_close(s->output);
	options_free(&s->options);
	return ok;
}

static bool begin(struct session *s)
{
	for (size_t i = 0; i < s->options.npids; i++) {
		pid_t pid = s->options.pids[i];

		if (trace_attach(s->tracer, pid))
			return false;
		if (!s->options.text.quiet)
			warn("attached to process %d", (int)pid);
	}
	return !s->options.argv || !trace_launch(s->tracer, s->options.argv);
}

/* Ends as the target did, so that whoever waits for us sees the same. */
static int end_like(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* the target has left its core dump; ours would overwrite it */
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status); /* it was blocked */
}

int cmd_trace(int argc, char **argv)
{
	struct session s = { 0 };
	struct trace_options t = { 0 };
	bool begun;
	int status = 0;

	options_parse(&s.options, argc, argv);
	if (!session_start(&s))
		return EXIT_TROUBLE;
	plan_stops(&s, &t);
	s.tracer = trace_new(&t, &ops, &s);
	begun = begin(&s);
	if (begun) {
		/* only now: the target keeps what we inherited */
		signal(SIGPIPE, SIG_IGN);
		status = trace_run(s.tracer);
	}
	trace_free(s.tracer);
	if (!session_end(&s) || !begun)
		return EXIT_TROUBLE;
	return end_like(status);
}
