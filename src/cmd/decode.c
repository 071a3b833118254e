// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace decode DUMP: a dump feeds a session, as a traced program would. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "cmd/cmd.h"
#include "cmd/decode.h"
#include "cmd/decode_one.h"
#include "cmd/decode_perfdata.h"
#include "cmd/session.h"
#include "dump/perfdata.h"
#include "dump/replay.h"
#include "lib/die.h"

struct decoding {
	struct session session;
	struct options *options;
};

static struct session *of(void *ctx)
{
	return &((struct decoding *)ctx)->session;
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
		      uint64_t missed, bool torn, const uint8_t *page, size_t len)
{
	struct session *s = of(ctx);
	struct ring *r = model_ring(s->model, ring);
	const struct view_look look = {
		.ring = r, .page = page, .page_len = len, .missed = missed, .torn = torn,
	};

	if (!r)
		return;
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
	if (read_format && e->found) {
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

static const struct replay_ops ops = {
	.born = on_born, .found = on_found, .found_ring = on_found_ring, .comm = on_comm, .enter = on_enter,
	.exit = on_exit_of, .stack = on_stack, .record = on_record,
	.looked = on_looked, .learnt_id = on_learnt_id, .count = on_count, .signalled = on_signal,
	.execed = on_execed, .gone = on_gone,
};

int decode_dump(FILE *f, const char *path, struct options *options)
{
	struct decoding decoding = { .options = options }, *d = &decoding;
	struct replay *r = replay_open(f, path, options->keep_going);
	const struct dump_facts *facts;
	struct session_facts about;
	bool whole, written;

	if (!r)
		return EXIT_TROUBLE;
	facts = replay_facts(r);
	about = (struct session_facts){
		.arch = facts->arch, .sysname = facts->sysname,
		.release = facts->release, .version = facts->version,
		.machine = facts->machine, .command = facts->command,
		.pids = facts->pids, .npids = facts->npids, .real_offset = facts->real_offset,
		.start_ns = facts->start_ns,
	};
	if (!session_start(&d->session, options, replay_names(r), &about)) {
		replay_close(r);
		return EXIT_TROUBLE;
	}
	whole = replay_run(r, &ops, d);
	written = session_end(&d->session);
	replay_close(r);
	return whole && written ? EXIT_YES : EXIT_TROUBLE;
}

int cmd_decode(int argc, char **argv)
{
	struct options options;
	const char *path;
	FILE *f;
	int status;

	if (decode_one_wanted(argc, argv))
		return cmd_decode_one(argc, argv);
	options_parse(&options, OPTIONS_DECODE, argc, argv);
	path = options.argv[0];
	f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	if (!f)
		die("cannot read '%s': %s", path, strerror(errno));
	path = f == stdin ? "standard input" : path;
	if (options.explain)
		die("--explain is for tracing; pevtrace explain %s tells a dump's story", path);
	status = perfdata_is(f) ? perfdata_decode(f, path, &options) :
				  decode_dump(f, path, &options);
	if (f != stdin)
		fclose(f);
	options_free(&options);
	return status;
}
