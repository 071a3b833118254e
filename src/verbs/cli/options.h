/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options that verbs share, and what they set. */
#pragma once

#include "core/host/event_syntax.h"
#include "engine/bpf/bpf_engine.h"
#include "explain/story.h"
#include "formats/text/counts.h"
#include "formats/text/text_view.h"
#include "verbs/cli/injections.h"
#include "verbs/cli/select.h"

enum choice { CHOICE_AUTO, CHOICE_ALWAYS, CHOICE_NEVER };

struct options {
	const char *output;	/* -o */
	bool to_stdout;		/* where text goes without -o; else stderr */
	bool json;		/* -j */
	const char *json_path;	/* --json=FILE */
	const char *perf_data;	/* --perf-data */
	bool keep_going;	/* --keep-going */
	const char *machine;	/* --machine: a file, or NULL: this machine */
	unsigned int follow;	/* -f given how often */
	bool separate;		/* --output-separately, or -ff */
	bool append;		/* -A */
	size_t max_size;	/* --max-size, in bytes; 0: none */
	pid_t *pids;		/* -p; owned */
	size_t npids;
	struct selection select;
	struct text_options text;
	enum choice color;
	bool no_pager;		/* --no-pager, or what is shown is no list */
	bool stacks;		/* -k */
	bool count;		/* -c: show no calls */
	bool table;		/* -c, -C: show a table of calls */
	bool beside;		/* -C: show calls, too */
	bool wall_clock;	/* -w, which changes nothing */
	struct call_counts_form counts; /* of that table */
	const char *counts_by;	/* -S or -U, whichever was given last, or NULL */
	bool summary;		/* --summary, or -c, -C */
	bool explain;		/* --explain: show no calls, but explain them */
	struct story_options story; /* of --explain */
	bool keep;		/* the model keeps closed events and ended tasks */
	bool records;		/* --records */
	bool symbols;		/* --symbols */
	unsigned int aux_mib;	/* --aux-limit */
	unsigned int look_ms;	/* --look-every, 0: at calls, and for --perf-data as needed */
	struct injections *inject; /* -e inject=, --as-kernel; NULL: none; owned */
	bool no_seccomp;
	bool detach_on_exec;	/* -b */
	size_t limit;		/* --syscall-limit; 0: none */
	bool kill_on_exit;
	int daemon;			/* enum trace_daemon */
	bool ptrace;		/* --engine=ptrace */
	bool bpf;		/* --engine=bpf, or implied by -a */
	enum bpf_hooks bpf_hooks; /* where that engine sees calls */
	bool all;		/* -a */
	const char *cgroup;	/* --cgroup: a directory, or NULL */
	size_t buffer;		/* --buffer: bytes, a power of two */
	char **argv;		/* the command, or NULL */
	struct program program;	/* how the command is run */
};

enum { OPTIONS_MAX_STRING = 32 };	/* -s, unless it is given */

/* Set the defaults of all options: also the init of a verb whose state begins with them. */
void options_init(void *options);
void options_free(struct options *o);

/* Set what depends on several options; die if they contradict each other. */
void options_finish(struct options *o);

/* The arguments of -e. */
struct event_texts {
	const char **texts;	/* owned */
	size_t n;
};

/* Read them into a list, and free them; die where one is no event. */
void options_read_events(struct event_texts *e, struct host *h, struct event_list *list);

/* Parts of the tables of verbs; all set members of struct options. */
extern const struct verb_option
	options_plain[],	/* -o, for verbs that write to standard output, and --color */
	options_json[],		/* -j: JSON to the same place */
	options_full[],		/* -v, -s */
	options_calls[],	/* --trace, -y, --symbols */
	options_log[],		/* -o, for verbs that write to standard error, and --color */
	options_dump[],		/* -j[=FILE]: a dump, beside the text or in its place */
	options_perf_data[],	/* --perf-data */
	options_times[],	/* -t, -r, -T */
	options_session[],	/* for trace and decode: parts of a session */
	options_files[],	/* for trace and decode: -f, -ff, -q */
	options_keep_going[],
	options_machine[];	/* --machine */

/* Setters for struct options. */
verb_set_fn options_set_pids;	/* -p: a list */
verb_set_fn options_set_event;	/* -e: struct event_texts */
verb_set_fn options_set_choice;	/* enum choice, not struct options */

/* Return whether to write colors: CHOICE_AUTO means on a terminal unless NO_COLOR is set
   and not empty (no-color.org). */
bool color_wanted(enum choice when, bool terminal);

/* Options of strace, -e NAME=ARG and --NAME=ARG, that pevtrace does not have: entries of foreign. */
#define OPTIONS_FOREIGN \
	{ "abbrev", .expr = "a", .why = "-v shows every member of a structure" }, \
	{ "verbose", .expr = "v", .why = "structures are always decoded" }, \
	{ "raw", .expr = "x", .why = "--json has the raw arguments of every call" }, \
	{ "read", .expr = "reads|r", \
	  .why = "counts are decoded, and --json has their bytes; use strace for other data" }, \
	{ "write", .expr = "writes|w", \
	  .why = "a program cannot write to an event; use strace for other data" }, \
	{ "trace-fds", .expr = "trace-fd|fds|fd", \
	  .why = "every descriptor of an event is traced; -y shows which event it is" }, \
	{ "namespace", \
	  .why = "perf events have no namespace; --records shows NAMESPACES records" }, \
	{ "decode-pids", .expr = "decode-pid", \
	  .why = "-a shows the names of tasks, and so does --summary" }, \
	{ "secontext", .why = "perf events have no SELinux context" }, \
	{ "kvm", .why = "it concerns no perf events; use strace" },
