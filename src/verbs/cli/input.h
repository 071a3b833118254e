/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a verb reads: a dump, perf.data, a log, an event, what a command does; an attr. */
#pragma once

#include <stdio.h>

#include "core/host/event_syntax.h"
#include "verbs/cli/verb.h"

/*
 * What an operand names.  verb.operand lists what a verb uses, by these names:
 * "DUMP|EVENT|COMMAND".
 */
enum input_kind {
	INPUT_NONE,		/* no file, attr or event */
	INPUT_OTHER,		/* a file of no other kind, or that cannot be read */
	INPUT_DUMP,		/* DUMP */
	INPUT_PERF_DATA,	/* PERF.DATA */
	INPUT_LOG,		/* LOG: a text with attrs, as of strace, perf -vv, pevtrace or C */
	INPUT_ATTR,		/* ATTR: as text */
	INPUT_EVENT,		/* EVENT */
	INPUT_COMMAND,		/* COMMAND, behind -- */
	INPUT_PROGRAM,		/* the file of a program, which a command may name */
};

/* Return the kind of a file by its content; INPUT_NONE: there is none; "-" is a dump. */
enum input_kind input_file_kind(const char *path);

/*
 * Return the kind of a word, and of an event, as the host (NULL: this machine) names it, its attrs in
 * *list.
 */
enum input_kind input_kind(const char *word, struct host *of, struct event_list *list);

/*
 * Die unless the verb uses operands of that kind: name the verbs that do.  INPUT_OTHER passes.
 * why: of INPUT_NONE, event_list.why.
 */
void input_check(const struct verb_args *args, const char *word, enum input_kind kind,
		 const char *why);

/*
 * Return the kind of the i-th operand of a verb, the command being the last, and of an event its
 * attrs in *list.  Die unless the verb uses such operands.
 */
enum input_kind input_operand(const struct verb_args *args, size_t i, struct host *of,
			      struct event_list *list);

/*
 * Open a session that the i-th operand of a verb names, as a dump: a file, the trace of the command
 * (the operand behind the others), or what a program does that opens the event.  Die where that
 * fails.  *name is its name for messages, valid as long as the operand.  records: a trace has
 * records and final counts.  to_stdout: the verb writes there, so the command's standard output
 * goes to standard error.
 */
FILE *input_session(const struct verb_args *args, size_t i, bool records, bool to_stdout,
		    const char **name);

/*
 * Append what a word is that is no file which the verb reads, no attr and no event: a term, a line of a
 * file, an ioctl, a program; and the command that would do.  Return false if it is nothing known.
 */
bool input_hint(const struct verb_args *args, const char *word, struct buf *out);

/* Die as there is no file of that name: name one that is spelt like it. */
_Noreturn void input_no_file(const char *path);

/* Trace the command with options, which end with NULL; return the exit status of that verb. */
int input_run_trace(const struct verb *trace, const char *const *options, char *const *command);

/*
 * Trace the command; die where that fails.  Return the dump, or NULL after a warn() if it has
 * nothing.  records, to_stdout: as of input_session().  *ended is its wait status.
 */
FILE *input_trace(const struct verb *trace, char *const *command, bool records, bool to_stdout,
		  int *ended);

/*
 * Open the file, or return stdin for "-"; die where that fails.  *name is its name for
 * messages, valid as long as path.
 */
FILE *input_open(const char *path, const char **name);

/*
 * Create files from now on without rights that group and others do not have on this one, which
 * has what a tracee had in memory.  input_open() does so.
 */
void input_limit_outputs(const char *path);
void input_close(FILE *f);

/* Return whether a path means standard input and that is a terminal, which a pager reads, too. */
bool input_is_terminal(const char *path);

/*
 * Read an argument: the file of @FILE, standard input for -, else arg itself.  Return false
 * after a warn(), which names the option.
 */
bool input_text(const char *arg, const char *option, struct buf *text);

/* Return whether the bytes are not text. */
bool input_is_binary(const struct buf *text);

/* Use an attr of an argument; return whether to read on. */
typedef bool input_attr_fn(void *ctx, struct attr_text *a);

/*
 * Call use() for each attr of an argument (input_text()).  Return false after a warn() where it is
 * none.  option: NULL: no warning, and no bytes.
 */
bool input_attrs(const char *arg, const char *option, input_attr_fn *use, void *ctx);

/* Read the one attr of an argument.  Return false after a warn(). */
bool input_attr(const char *arg, const char *option, struct attr_text *out);

/* Return whether an argument surely is an attr; a few hexadecimal digits are not. */
bool input_has_attr(const char *arg);
