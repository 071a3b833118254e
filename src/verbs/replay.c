// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace replay: repeat the calls of a dump and compare the results. */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/abi/call_decode.h"
#include "core/abi/strings.h"
#include "core/lib/die.h"
#include "core/model/event_name.h"
#include "engine/rings/borrow.h"
#include "experiment/replay_engine.h"
#include "experiment/trial.h"
#include "formats/dump/reader.h"
#include "verbs/cli/input.h"
#include "verbs/cli/views.h"
#include "verbs/cmd.h"
#include "verbs/measure/refusal.h"

enum { REASONS = 32, DYING_MS = 500 };

struct replaying {
	struct view view;		/* of the dump's session; first: hooks cast it back */
	struct session there;		/* of the dump */
	struct own_session own_session;
	struct replay_engine again;
	struct replayed last;		/* by the call that is returning */
	struct reader *dump;
	const char *path;
	FILE *report;
	bool quiet, stopped;
	unsigned int ring_limit;	/* KiB; 0: what a user may lock */
	int given;			/* pidfd of the process of -p, or -1 */
	bool warned_rights, warned_memory;
	unsigned long made, differ;
	struct {
		const char *why;
		unsigned long n;
	} left_out[REASONS];
	size_t nreasons;
};

/* Options ------------------------------------------------------------------------- */

static void replay_set_quiet(void *to, const char *arg, const struct verb_option *o)
{
	struct replaying *r = to;

	(void)arg, (void)o;
	r->quiet = true;
	selection_no_calls(&r->own_session.options.select);
}

static void replay_set_allow(void *to, const char *arg, const struct verb_option *o)
{
	struct replaying *r = to;
	char *list = xstrdup(arg), *rest = list, *word;

	while ((word = strsep(&rest, ","))) {
		bool *allowed[] = { &r->again.kprobes, &r->again.sigtraps };

		*allowed[verb_word(word, o)] = true;
	}
	free(list);
}

enum { OPTIONS = offsetof(struct replaying, own_session.options) };

static const struct verb_option options[] = {
	{ .name = "attach", .key = 'p', .arg = "PID", .set = options_set_pids, .at = OPTIONS,
	  .help = "measure this process in place of each one that was measured (default: a "
		  "sleeping process for each)" },
	{ .name = "all-cpus", .key = 'a', .set = verb_set_true,
	  .at = offsetof(struct replaying, again.all_cpus),
	  .help = "include events of whole CPUs" },
	{ .name = "allow", .arg = "LIST", .set = replay_set_allow, .words = "kprobes sigtrap",
	  .help = "open on processes other than sleeping ones of pevtrace also: kprobes, sigtrap "
		  "(a dump from elsewhere can do harm with them)" },
	{ .name = "ring-limit", .arg = "KIB", .set = verb_set_int, .least = 1, .most = 1 << 30,
	  .at = offsetof(struct replaying, ring_limit),
	  .help = "map ring buffers of KIB in all (default: what perf_event_mlock_kb allows a "
		  "user)" },
	{ .name = "only-differences", .key = 'q', .set = replay_set_quiet,
	  .help = "show neither calls nor what was left out" },
	{ 0 },
};

static void replay_init(void *state)
{
	((struct replaying *)state)->given = -1;
	options_init(&((struct replaying *)state)->own_session.options);
}

/* What differs ---------------------------------------------------------------------- */

/* Append the name of the call's event; control bytes of the dump become '?'. */
static void label(const struct replaying *r, const struct call *c, struct buf *out)
{
	const struct event *e = NULL;
	const uint8_t *attr;
	size_t len;

	if (c->desc->class == CLASS_OPEN) {
		attr = call_bytes(c, AT_SYSCALL_ENTER, call_word(c, 0), EVENT_ATTR_MAX, &len);
		if (attr)
			event_name(attr, len, reader_names(r->dump), out);
	} else {
		e = model_subject(r->there.model, c);
	}
	if (e && e->name)
		buf_adds(out, e->name);
	for (size_t i = 0; i < out->len; i++)
		if ((unsigned char)out->data[i] < ' ' || out->data[i] == 0x7f)
			out->data[i] = '?';
}

static void add_outcome(struct buf *out, const struct call *c, int64_t result)
{
	const char *name = result < 0 ? error_name((int)-result) : NULL;

	if (name)
		buf_adds(out, name);
	else if (result < 0)
		buf_addf(out, "error %lld", (long long)-result);
	else if (c->desc->class == CLASS_READ)
		buf_addf(out, "%lld bytes", (long long)result);
	else
		buf_adds(out, "success");
}

/* Append the rule that refuses the open here, on a task of pevtrace's or on the CPU, if one does. */
static void add_rule(const struct replaying *r, const struct call *c, int error, struct buf *out)
{
	struct attempt refused = attempt_of(r->there.model, c);
	struct judgement j;

	refused.error = error;
	refused.pid = call_int(c, 1) < 0 ? -1 : 0;
	judge_here(&refused, r->own_session.machine.host, &j);
	if (j.rule)
		buf_addf(out, "%s%s (rule %s); ", j.sure ? "" : "perhaps: ", j.rule->meaning,
			 j.rule->name);
}

/* Explain missing rights and locked memory, once each. */
static void replay_explain(struct replaying *r, const struct call *c, int error)
{
	struct buf rights = { 0 };

	if (c->desc->class == CLASS_OPEN && (error == EACCES || error == EPERM)) {
		if (!r->warned_rights) {
			if (trial_gate() == error) {
				refusal_gate_words(&rights, error);
			} else {
				add_rule(r, c, error, &rights);
				refusal_rights(&rights);
			}
			warn("some events cannot be opened here: %s", buf_str(&rights));
			buf_free(&rights);
		}
		r->warned_rights = true;
	} else if (c->desc->class == CLASS_MEMORY && (error == EPERM || error == ENOMEM)) {
		uint64_t pages = c->args[1] / (uint64_t)sysconf(_SC_PAGESIZE);

		if (!r->warned_memory)
			refusal_map(r->again.rings.len + 1, pages ? (size_t)pages - 1 : 0,
				    error);
		r->warned_memory = true;
	}
}

static void count_left_out(struct replaying *r, const char *why)
{
	size_t i = 0;

	while (i < r->nreasons && strcmp(r->left_out[i].why, why))
		i++;
	if (i == REASONS)
		return;
	r->left_out[i].why = why;
	r->left_out[i].n++;
	if (i == r->nreasons)
		r->nreasons++;
}

static void stop(struct replaying *r, const char *what, int error)
{
	warn("%s:%lu: %s: %s", r->path, reader_line(r->dump), what, strerror(error));
	r->stopped = true;
}

static bool no_descriptors(struct replaying *r, int error)
{
	if (error != EMFILE && error != ENFILE)
		return false;
	stop(r, "more descriptors than ulimit -n or fs.file-max allow", error);
	return true;
}

static void replay_compare(struct replaying *r, const struct call *c, const char *what,
			   const struct replayed *a)
{
	int64_t there = c->failed ? -c->ret : c->ret, here = a->result;
	bool same;

	if (call_result_kind(c) == RESULT_ADDR && !c->failed)
		there = 0; /* an address may look negative */
	same = there < 0 || here < 0 || c->desc->class == CLASS_READ ? there == here : true;
	r->made++;
	if (same)
		return;
	if (!no_descriptors(r, (int)-here)) {
		struct buf line = { 0 };

		buf_addf(&line, "%s:%lu: %s%s%s: ", r->path, reader_line(r->dump), c->desc->name,
			 *what ? " " : "", what);
		add_outcome(&line, c, there);
		buf_adds(&line, " there, ");
		add_outcome(&line, c, here);
		fprintf(r->report, "%s here\n", buf_str(&line));
		buf_free(&line);
		r->differ++;
	}
	if (here < 0)
		replay_explain(r, c, (int)-here);
}

/* The dump's calls -------------------------------------------------------------------- */

static void replay_on_enter(struct view *v, const struct call *c)
{
	struct replaying *r = (struct replaying *)v;

	if (!r->stopped)
		replay_engine_enter(&r->again, c);
}

static void replay_before_exit(struct view *v, const struct call *c)
{
	struct replaying *r = (struct replaying *)v;
	struct replayed *a = &r->last;
	struct buf what = { 0 };

	if (r->stopped)
		return;
	label(r, c, &what);
	*a = replay_engine_before_exit(&r->again, c);
	if (a->trouble == EAGAIN)
		stop(r, "cannot create a process in place of each measured one; name one for all "
		     "with -p PID", a->trouble);
	else if (a->trouble && !no_descriptors(r, a->trouble))
		stop(r, "cannot create a process to measure", a->trouble);
	else if (a->left_out)
		count_left_out(r, a->left_out);
	else if (a->made)
		replay_compare(r, c, buf_str(&what), a);
	buf_free(&what);
}

static void replay_on_exit(struct view *v, const struct call *c)
{
	struct replaying *r = (struct replaying *)v;

	replay_engine_exit(&r->again, c, &r->last);
	r->last = (struct replayed){ 0 };
}

static void replay_on_execed(struct view *v, const struct activity *a)
{
	(void)a;
	replay_engine_execed(&((struct replaying *)v)->again);
}

static void replay_on_gone(struct view *v, const struct activity *a)
{
	replay_engine_gone(&((struct replaying *)v)->again, a->gone.tid);
}

static const struct view_ops replay_ops = {
	.enter = replay_on_enter, .before_exit = replay_before_exit, .exit = replay_on_exit,
	.on[ACTIVITY_EXEC] = replay_on_execed,
	.on[ACTIVITY_GONE] = replay_on_gone,
};

/* The verb ---------------------------------------------------------------------------- */

/* Raise RLIMIT_NOFILE, and set what the engine must know of this machine. */
static void prepare(struct replaying *r)
{
	struct host *h = r->own_session.machine.host;
	struct rlimit files;
	uint64_t each = (uint64_t)rights_sysctl("perf_event_mlock_kb", 516);
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);

	r->again.uprobe_type = host_pmu_type(h, "uprobe");
	r->again.kprobe_type = host_pmu_type(h, "kprobe");
	r->again.ring_limit = 1024 * (r->ring_limit ? r->ring_limit : each * cpus);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static void tell_nothing_made(const struct replaying *r)
{
	struct buf why = { 0 };

	for (size_t i = 0; i < r->nreasons; i++)
		buf_addf(&why, "%s%lu %s", i ? "; " : ": left out: ", r->left_out[i].n,
			 r->left_out[i].why);
	warn("%s: no call was repeated%s", r->path,
	     r->nreasons ? buf_str(&why) : ": it has no perf calls");
	buf_free(&why);
}

/* Return true if all calls were handled and all output written. */
static bool replay_calls(struct replaying *r)
{
	bool whole, written;
	int error;

	mounts_warn();
	if (!own_session_start(&r->own_session))
		return false;
	session_start(&r->there, &(struct session_setup){ .source = reader_names(r->dump) },
		      reader_facts(r->dump));
	r->view.ops = &replay_ops;
	session_add_view(&r->there, &r->view);
	r->again.own_calls = &r->own_session.own_calls;
	r->again.model = r->there.model;
	r->again.names = reader_names(r->dump);
	prepare(r);
	error = replay_engine_init(&r->again);
	if (error)
		warn("cannot map memory for calls: %s", strerror(-error));
	whole = !error && reader_run(r->dump, &r->there);
	replay_engine_free(&r->again);
	session_end(&r->there);
	written = own_session_end(&r->own_session);
	if (!r->quiet) {
		fprintf(r->report,
			"%lu call%s repeated: %lu with the same result, %lu with another\n",
			r->made, r->made == 1 ? "" : "s", r->made - r->differ, r->differ);
		for (size_t i = 0; i < r->nreasons; i++)
			fprintf(r->report, "%lu left out: %s\n", r->left_out[i].n,
				r->left_out[i].why);
	}
	/* a SIGTRAP of the last event may still be at work */
	if (r->given >= 0 && process_ended(r->given, r->again.sigtraps ? DYING_MS : 0)) {
		warn("the process %d of -p ended during the replay", r->again.given);
		r->stopped = true;
	}
	if (whole && !r->stopped && !r->made)
		tell_nothing_made(r);
	if (fflush(r->report) || ferror(r->report)) {
		warn("cannot write differences: %s", strerror(errno));
		written = false;
	}
	return whole && written && !r->stopped && r->made;
}

static int replay_run(void *state, const struct verb_args *args)
{
	struct replaying *r = state;
	struct options *o = &r->own_session.options;
	bool ran = false;
	FILE *f;

	options_finish(o);
	verb_want(args, 1);
	if (o->npids > 1)
		die("-p requires one process, which replaces all");
	r->again.given = o->npids ? o->pids[0] : 0;
	if (r->again.given && kill(r->again.given, 0) && errno == ESRCH)
		die("-p %d: no such process", r->again.given);
	if (r->again.given)
		r->given = process_open(r->again.given);
	o->npids = 0; /* the session attaches to nobody */
	o->text.quiet = QUIET_ALL; /* nothing runs that its events could count */
	/* keep a dump on standard output free of other lines */
	r->report = o->json && !o->json_path && !o->output ? stderr : stdout;
	f = input_session(args, 0, false, false, &r->path);
	r->dump = reader_open(f, r->path, false);
	if (r->dump) {
		ran = replay_calls(r);
		reader_close(r->dump);
	}
	input_close(f);
	options_free(o);
	return !ran ? EXIT_TROUBLE : r->differ ? EXIT_NO : EXIT_YES;
}

static const struct verb_group groups[] = {
	{ "What to replay", options, 0, 0 },
	{ "How to show the calls", options_log, OPTIONS, 0 },
	{ NULL, options_dump, OPTIONS, 0 },
	{ NULL, options_calls, OPTIONS, 0 },
	{ NULL, options_full, OPTIONS, 0 },
	{ NULL, options_times, OPTIONS, 0 },
	{ 0 },
};

const struct verb replay_verb = {
	.name = "replay",
	.summary = "Repeat the calls of a dump and compare the results",
	.usage = "replay [OPTION]... DUMP",
	.about =
"Repeat the perf calls of a dump in order, and report where the result differs: an error, "
"another error, no error, or another length of a read. Descriptors, ids, counts and "
"addresses may differ.",
	.notes =
"A DUMP of - is standard input. The exit status is 0 if all results agree, 1 if some "
"differ, 2 on misuse and trouble, or if no call could be repeated.",
	.examples =
"pevtrace replay -q dump.jsonl",
	.operand = "DUMP",
	.groups = groups,
	.size = sizeof(struct replaying),
	.init = replay_init,
	.run = replay_run,
};
