// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace COMMAND: an engine feeds a session. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "core/lib/die.h"
#include "engine/live/live.h"
#include "engine/rings/borrow.h"
#include "engine/rings/earlier.h"
#include "engine/rings/look.h"
#include "experiment/workload.h"
#include "formats/perfdata/measured.h"
#include "verbs/cli/input.h"
#include "verbs/cli/views.h"
#include "verbs/cmd.h"

enum { AUX_MIB = 256 };

struct trace {
	struct live live;	/* first: its functions get it alone */
	struct options options;
	struct views views;
	struct machine machine;
};

static const struct trace *trace_of(const struct live *l)
{
	return (const struct trace *)l;
}

/* Setting up ---------------------------------------------------------------- */

static void trace_ask(struct live *l, struct call *c)
{
	injections_ask(trace_of(l)->options.inject, l->session.model, c);
}

static void trace_execed(struct live *l, pid_t tid, pid_t former)
{
	if (former != tid)
		injections_move(trace_of(l)->options.inject, former, tid);
}

static void trace_gone(struct live *l, pid_t tid)
{
	injections_move(trace_of(l)->options.inject, tid, 0);
}

static bool trace_nobody_reads(const struct live *l)
{
	return views_cannot_write(&trace_of(l)->views);
}

static const struct live_user user = {
	.ask = trace_ask, .execed = trace_execed, .gone = trace_gone,
	.nobody_reads = trace_nobody_reads,
};

static void plan_live(struct trace *r)
{
	struct options *o = &r->options;

	r->live.user = &user;
	r->live.names = &r->machine.names;
	r->live.host = r->machine.host;
	r->live.symbols = r->machine.symbols;
	r->live.options = (struct live_options){
		.argv = o->argv, .program = &o->program, .pids = o->pids, .npids = o->npids,
		.cgroup = o->cgroup, .bpf_hooks = o->bpf_hooks, .buffer = o->buffer,
		.text = &o->text, .limit = o->limit, .look_ms = o->look_ms, .all = o->all,
		.json = o->json, .perf_data = o->perf_data, .keep = o->keep, .stacks = o->stacks,
		.holders = o->explain, .doubts = o->explain || o->summary,
	};
}

static void plan_stops(const struct options *o, struct trace_options *t)
{
	bool all = o->keep || o->records || o->perf_data;

	for (size_t i = 0; i < CALL_COUNT; i++) {
		enum selected selected = o->select.calls[i];

		t->watch[i] = selected == SELECT_ALL ? WATCH_ALWAYS : call_descs[i].watch;
		t->unwanted[i] = selected == SELECT_NONE && !all &&
				 !model_needs((enum call_id)i) &&
				 !injections_want(o->inject, (enum call_id)i);
	}
	t->unwanted[CALL_PTRACE] = false;
	t->no_seccomp = o->no_seccomp;
	t->detach_on_exec = o->detach_on_exec;
	t->program = o->program;
	t->may_leave = o->limit || !o->argv;
	t->kill_on_exit = o->kill_on_exit;
	t->daemon = (enum trace_daemon)o->daemon;
}

static void start_looking(struct live *l, const struct options *o)
{
	const char *why;

	if (!o->records && !o->keep && !o->perf_data)
		return;
	why = borrow_refusal();
	if (why) {
		warn("cannot read ring buffers: %s", why);
		return;
	}
	l->looker = looker_new(&l->session);
	if (o->perf_data || (o->json && o->records))
		look_take_aux(l->looker, (uint64_t)o->aux_mib << 20);
	if (o->json || o->perf_data)
		l->measured = measured_new(&l->session, o->perf_data);
}

static int live_attach_ptrace(struct live *l, pid_t pid)
{
	return trace_attach(l->tracer, pid);
}

/* Return the option that only a tracer that stops tasks can carry out, or NULL. */
static const char *requires_stops(const struct options *o)
{
	return o->inject ? "-e inject= and --as-kernel" : o->stacks ? "-k" :
	       o->detach_on_exec ? "-b" : o->limit ? "--syscall-limit" :
	       o->kill_on_exit ? "--kill-on-exit" : NULL;
}

/* Return false if the trace could not begin. */
static bool live_trace(struct live *l, const struct options *o, const struct trace_options *t,
		       int *status)
{
	bool begun;

	l->tracer = trace_new(t, &live_ops, l);
	/* report failed writes; tracees get the dispositions from before trace_new() */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* with -D this process becomes COMMAND, so it must not be who attaches */
	begun = (!o->daemon || !trace_launch(l->tracer, o->argv)) &&
		live_attach(l, live_attach_ptrace) &&
		(o->daemon || !o->argv || !trace_launch(l->tracer, o->argv));
	if (begun)
		*status = trace_run(l->tracer);
	/* the last messages must not stop a background job */
	signal(SIGTTOU, SIG_IGN);
	trace_free(l->tracer);
	if (live_stops_were_slow(l) && !requires_stops(o) && !o->daemon &&
	    !(o->text.quiet & QUIET_ATTACH) && live_bpf_works(l, t))
		warn("a task had %zu events, all of which the kernel goes through at each stop; "
		     "--engine=bpf stops no task", l->most_events);
	return begun;
}

/* Options ------------------------------------------------------------------- */

static void set_env(void *to, const char *arg, const struct verb_option *opt)
{
	(void)opt;
	program_env(to, arg);
}

static void set_user(void *to, const char *arg, const struct verb_option *opt)
{
	(void)opt;
	program_user(to, arg);
}

static void set_seccomp(void *to, const char *arg, const struct verb_option *opt)
{
	(void)arg, (void)opt;
	*(bool *)to = false;
}

/* -D to -DDD, or a word. */
static void set_daemonize(void *to, const char *arg, const struct verb_option *opt)
{
	int *how = to;

	if (arg)
		*how = (int)verb_word(arg, opt) + TRACE_GRANDCHILD;
	else if (++*how > TRACE_OWN_SESSION)
		die("more than three -D: -D, -DD and -DDD are grandchild, pgroup and session");
}

static void set_engine(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;
	unsigned int i = verb_word(arg, opt);

	o->bpf = i;
	o->ptrace = !i;
	o->bpf_hooks = i ? (enum bpf_hooks)(i - 1) : BPF_HOOKS_ANY;
}

static void set_buffer(void *to, const char *arg, const struct verb_option *opt)
{
	char *end;
	unsigned long mib = strtoul(arg, &end, 10);

	(void)opt;
	if (*end || mib < 1 || mib > BPF_BUFFER_MOST >> 20 || mib & (mib - 1))
		die("--buffer=%s: expected a power of two from 1 to 1024", arg);
	*(size_t *)to = mib << 20;
}

static void set_explain(void *to, const char *arg, const struct verb_option *opt)
{
	char *copy = xstrdup(arg ? arg : ""), *save, *word;
	struct options *o = to;

	o->explain = true;
	for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		unsigned int i = verb_word(word, opt);

		if (i)
			o->story.kernel = true;
		else
			o->story.deep = true;
	}
	free(copy);
}

/* Options of strace that make no sense here, or that have another name. */
static const struct verb_foreign foreign[] = {
	{ "trace-path", 'P', .why = "only uprobes have a path; pevtrace --json, and jq on uprobe_path, "
	  "finds those of a file" },
	{ "arg-names", 'N', .why = "--json has the arguments by their names" },
	{ "interruptible", 'I', .why = "signals to pevtrace are forwarded to the command" },
	{ "summary-syscall-overhead", 'O', .why = "times are wall-clock times, from which nothing is taken" },
	{ "const-print-style", 'X', .why = "constants have names; --json has their numbers, too" },
	{ "pidns-translation", 0, .why = "[pid N] is the pid that pevtrace sees, and arguments are as "
	  "the program passes them" },
	{ NULL, 'Y', .why = "-a shows the names of tasks, and so does --summary" },
	{ "debug", 'd', .why = "to debug pevtrace, use strace or gdb on it" },
	{ "always-show-pid", 0, .why = "-o FILE shows the pid on every line" },
	{ "stack-trace-frame-limit", 0, .why = "-k shows up to 64 frames" },
	{ "duration", 0, .why = "-T shows the time spent in each call, and jq on a dump selects by it" },
	{ "tips", 0, .why = "'pevtrace learn' has lessons instead" },
	OPTIONS_FOREIGN
	{ "call-graph", 'g', .why = "-k shows the stack of each call" },
	{ "pid", .same = "attach" },
	{ "silent", .same = "quiet" },
	{ "silence", .same = "quiet" },
	{ "timestamps", .same = "absolute-timestamps" },
	{ "failing-only", .same = "failed-only" },
	{ "signals", .same = "signal" },
	{ "daemonised", .same = "daemonize" },
	{ "daemonized", .same = "daemonize" },
	{ 0 },
};

#define AT(member) offsetof(struct options, member)

static const struct verb_option what_to_trace[] = {
	{ .name = "attach", .key = 'p', .arg = "PID", .set = options_set_pids,
	  .help = "trace a running process with its threads; repeatable" },
	{ .name = "all", .key = 'a', .set = verb_set_true, .at = AT(all),
	  .help = "trace every process of the machine, until ^C or while COMMAND runs; requires "
		  "the BPF engine, and implies it" },
	{ .name = "cgroup", .arg = "DIR", .set = verb_set_text, .at = AT(cgroup),
	  .help = "of these, only processes of that cgroup and those below it" },
	{ .name = "engine", .arg = "ENGINE", .words = "ptrace bpf|ebpf bpf-functions bpf-tracepoints",
	  .set = set_engine,
	  .help = "how calls are seen: ptrace (the default) stops tasks at them; bpf, which requires "
		  "root, lets programs in the kernel report them" },
	{ .name = "buffer", .arg = "MIB", .set = set_buffer, .at = AT(buffer),
	  .help = "size of the buffer of the BPF engine, a power of two; default 8" },
	{ .name = "detach-on", .key = 'b', .arg = "WHEN", .words = "execve",
	  .set = verb_set_true, .at = AT(detach_on_exec),
	  .help = "detach from children that run another program" },
	{ .name = "daemonize", .key = 'D', .excludes = 'D', .arg = "HOW", .optional = true,
	  .bare = "grandchild", .words = "grandchild pgroup|pgrp session",
	  .set = set_daemonize, .at = AT(daemon),
	  .help = "trace COMMAND from a grandchild of it, so that COMMAND has the pid and the parent "
		  "that pevtrace had; -DD: in a process group of its own, -DDD: in a session" },
	{ .name = "syscall-limit", .arg = "N", .set = verb_set_size, .at = AT(limit),
	  .least = 1, .most = LONG_MAX,
	  .help = "detach from all processes after N calls were shown" },
	{ .name = "kill-on-exit", .set = verb_set_true, .at = AT(kill_on_exit),
	  .help = "kill processes of -p when pevtrace ends, as a COMMAND is if pevtrace is killed" },
	{ .name = "env", .key = 'E', .arg = "VAR=VALUE", .set = set_env, .at = AT(program),
	  .help = "set a variable of COMMAND's environment; VAR alone removes it" },
	{ .name = "user", .key = 'u', .arg = "USER", .set = set_user, .at = AT(program),
	  .help = "run COMMAND as that user, or UID:GID; requires root" },
	{ .name = "argv0", .arg = "NAME", .set = verb_set_text, .at = AT(program.argv0),
	  .help = "run COMMAND with NAME as its zeroth argument" },
	{ .name = "seccomp-bpf", .set = set_seccomp, .at = AT(no_seccomp),
	  .help = "accepted for compatibility with strace: a filter is always used" },
	{ .name = "no-seccomp", .set = verb_set_true, .at = AT(no_seccomp),
	  .help = "stop at every system call, without a seccomp filter" },
	{ 0 },
};

static const struct verb_option tampering[] = {
	{ .name = "expr", .key = 'e', .arg = "EXPR", .exprs = true,
	  .help = "inject=SET:DO[:when=WHEN], where DO is error=ERRNO, retval=N, delay_enter=T, "
		  "delay_exit=T or signal=SIGNAL, and WHEN a count of calls or a condition such "
		  "as 'precise_ip>0'; or trace=, status=, signal=, quiet= or decode-fds=, as the options "
		  "of these names" },
	{ .name = "inject", .expr = "inject", .arg = "SET:DO", .set = injections_add,
	  .at = AT(inject), .help = "-e inject=" },
	{ .name = "fault", .expr = "fault", .arg = "SET[:error=E]", .set = injections_add,
	  .at = AT(inject), .help = "the same with ENOSYS, unless error= names another" },
	{ .name = "as-kernel", .arg = "RELEASE", .set = injections_as_kernel, .at = AT(inject),
	  .instead = "pevtrace explain EVENT says which kernels open it, and pevtrace explain "
		     "--as-kernel=RELEASE -- COMMAND what an older one refuses",
	  .help = "refuse what that older kernel would have refused" },
	{ 0 },
};

static const struct verb_option looking[] = {
	{ .name = "instruction-pointer", .key = 'i', .set = verb_set_true, .at = AT(text.ip),
	  .instead = "a dump does not have it",
	  .help = "show the instruction pointer of each call" },
	{ .name = "look-every", .arg = "MS", .set = verb_set_int, .at = AT(look_ms),
	  .least = 1, .most = 3600000,
	  .help = "read the ring buffers also every MS milliseconds; with --perf-data, the "
		  "default is as often as they fill" },
	{ .name = "aux-limit", .arg = "MIB", .set = verb_set_int, .at = AT(aux_mib),
	  .least = 0, .most = 1 << 20,
	  .help = "read that much of AUX areas, for --perf-data and dumps with --records; "
		  "default 256" },
	{ .name = "explain", .arg = "HOW", .optional = true, .words = "deep kernel",
	  .set = set_explain, .instead = "pevtrace explain DUMP explains a dump",
	  .help = "show no calls; at the end, explain in English what happened" },
	{ 0 },
};

static void trace_init(void *state)
{
	struct trace *r = state;

	r->live.view.ops = &live_view_ops;
	options_init(&r->options);
	r->options.aux_mib = AUX_MIB;
}

static void trace_check_bpf(const struct options *o)
{
	static const char why[] = "the BPF engine does not stop tasks; use --engine=ptrace";

	if (o->cgroup && !o->all)
		die("--cgroup requires -a: it selects from all processes");
	if (o->all && o->npids)
		die("-a cannot be combined with -p: it traces every process");
	if (o->all && o->ptrace)
		die("-a requires the BPF engine: it cannot be combined with --engine=ptrace");
	if (!o->bpf)
		return;
	if (requires_stops(o))
		die("%s: %s", requires_stops(o), why);
}

static void trace_check(struct options *o, const struct verb_args *args)
{
	if (args->n)
		o->argv = args->words;
	/* -a N aligns results in strace */
	if (o->all && o->argv && (!*o->argv[0] || program_find(o->argv[0])))
		die("invalid -a argument: '%s' is no command; -a traces every process, -aN or "
		    "--columns=N aligns results at column N", o->argv[0]);
	options_finish(o);
	o->bpf |= o->all;
	o->buffer = o->buffer ? o->buffer : BPF_BUFFER_DEFAULT;
	trace_check_bpf(o);
	if (!o->argv && !o->npids && !o->all)
		die("nothing to trace%s%s: name a command, or a process with -p; see "
		    "pevtrace --help", *args->swallowed ? ", as " : "", args->swallowed);
	if (o->daemon && (!o->argv || o->bpf))
		die("-D requires a COMMAND and the ptrace engine");
	if (o->daemon && o->output && output_is_command(o->output))
		die("-D cannot be combined with -o '|CMD', which would be a child of COMMAND");
	if (o->look_ms && !o->records && !o->keep && !o->perf_data)
		die("--look-every requires --records, --explain, --perf-data or --summary");
}

/* Pass on, to what is written at the end, what was noted while events were used. */
static void tell_noted(struct trace *r)
{
	struct story_options *story = &r->options.story;
	struct live *l = &r->live;

	live_note_doubts(l);
	story->doubts = l->doubts.len ? buf_str(&l->doubts) : NULL;
	story->sharers = l->sharers.len ? buf_str(&l->sharers) : NULL;
	story->held = l->held.len ? buf_str(&l->held) : NULL;
	story->held_errno = l->held_errno;
}

/* Die if the command that is not found is misspelt, or something that another verb uses. */
static void trace_is_other(const struct verb_args *args, const char *word)
{
	enum input_kind kind;
	struct event_list list = { 0 };
	struct buf hint = { 0 };

	if (args->certain || !args->all)
		return;
	verb_check_spelling(args->all, word);
	kind = *word ? input_kind(word, NULL, &list) : INPUT_NONE;
	if (kind != INPUT_NONE)
		input_check(args, word, kind, NULL);
	else if (input_hint(args, word, &hint))
		die("cannot run '%s': not found in PATH; %s", word, buf_str(&hint));
}

static int trace_run_verb(void *state, const struct verb_args *args)
{
	struct trace *r = state;
	struct options *o = &r->options;
	struct live *l = &r->live;
	struct trace_options t = { 0 };
	bool begun, written;
	int status = 0, missing;

	trace_check(o, args);
	/* before output files are truncated; its exec may fail all the same */
	missing = o->argv ? program_find(o->argv[0]) : 0;
	if (missing) {
		trace_is_other(args, o->argv[0]);
		program_warn(o->argv[0], missing);
		options_free(o);
		return EXIT_TROUBLE;
	}
	mounts_warn();
	machine_live(&r->machine, o->symbols || o->stacks);
	o->text.host = r->machine.host;
	injections_begin(o->inject, r->machine.host);
	plan_live(r);
	begun = written = views_start_here(&r->views, &l->session, o, &r->machine.names);
	if (begun) {
		session_add_view(&l->session, &l->view);
		start_looking(l, o);
		plan_stops(o, &t);
		l->earlier = earlier_new(&l->session);
		begun = o->bpf ? live_trace_bpf(l, &t, &status) : live_trace(l, o, &t, &status);
		looker_free(l->looker);
		earlier_free(l->earlier);
		measured_free(l->measured);
		map_free(&l->known);
		map_free(&l->waiting);
		map_free(&l->uring);
		/* an empty trace is complete */
		if (begun && !l->saw_perf && o->argv && !(o->text.quiet & QUIET_ATTACH) &&
		    r->views.text && output_is_terminal(r->views.text))
			warn("no perf_event_open was seen: '%s' used no perf events%s%s",
			     o->argv[0],
			     verb_is_perfs(o->argv[0]) ? "; perf's is pevtrace perf " : "",
			     verb_is_perfs(o->argv[0]) ? o->argv[0] : "");
		tell_noted(r);
		written = views_end(&r->views, &l->session);
	}
	buf_free(&l->held);
	buf_free(&l->sharers);
	buf_free(&l->doubts);
	machine_close(&r->machine);
	options_free(o);
	return begun && written ? end_like(status) : EXIT_TROUBLE;
}

enum { OPTIONS = offsetof(struct trace, options) };

static const struct verb_group groups[] = {
	{ "What to trace", what_to_trace, OPTIONS, 0 },
	{ "What to do to it", tampering, OPTIONS, 0 },
	{ "What to show", options_calls, OPTIONS, 0 },
	{ NULL, options_session, OPTIONS, 0 },
	{ NULL, looking, OPTIONS, 0 },
	{ NULL, options_full, OPTIONS, 0 },
	{ "How to show it", options_log, OPTIONS, 0 },
	{ NULL, options_dump, OPTIONS, 0 },
	{ NULL, options_perf_data, OPTIONS, 0 },
	{ NULL, options_times, OPTIONS, 0 },
	{ NULL, options_files, OPTIONS, 0 },
	{ 0 },
};

const struct verb trace_verb = {
	.name = "trace",
	.summary = "Trace what a program does with perf events (the default)",
	.usage =
"[trace] [OPTION]... [--] COMMAND [ARG]...\n"
"[trace] [OPTION]... -p PID [COMMAND [ARG]...]\n"
"VERB [OPTION]... [ARG]...",
	.about =
"Trace the perf_event_open(2) calls of a program and its children, and all calls on the "
"descriptors that they return.",
	.notes =
"A SET, STATUS or SIGNAL is a list separated by commas; a leading ! negates it. The exit "
"status is COMMAND's own; 2 on misuse and trouble.\n"
"\n"
"'pevtrace help VERB' shows the options of a verb, and pevtrace-VERB(1) more.",
	.examples =
"pevtrace perf stat -e cycles true\n"
"pevtrace --explain perf record -e cpu-clock true\n"
"pevtrace why -- perf stat -e cycles true\n"
"pevtrace --summary -o trace.txt perf record -g sleep 1\n"
"pevtrace --json=dump.jsonl -p 1234",
	.operand = "COMMAND",
	.command = true,
	.groups = groups,
	.foreign = foreign,
	.size = sizeof(struct trace),
	.init = trace_init,
	.run = trace_run_verb,
};
