/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of a trace. */
#ifndef PEVTRACE_CLI_OPTIONS_H
#define PEVTRACE_CLI_OPTIONS_H

#include <sys/types.h>

#include "cli/injections.h"
#include "cli/select.h"
#include "explain/story.h"
#include "text/text_view.h"

/* Whose command line it is. */
enum options_of { OPTIONS_TRACE, OPTIONS_DECODE };

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct options {
	const char *output;	/* -o */
	bool no_text;		/* neither text nor dump: the verb has its own view */
	bool to_stdout;		/* where text goes without -o; else stderr */
	bool json;		/* -j */
	const char *json_path;	/* --json=FILE */
	bool keep_going;	/* --keep-going */
	bool separate;		/* -ff */
	pid_t *pids;		/* -p; owned */
	size_t npids;
	struct selection select;
	struct text_options text;
	enum color_when color;
	bool stacks;		/* -k */
	bool count;		/* -c */
	bool summary;		/* --summary, or -c */
	bool explain;		/* --explain: a story in place of the calls */
	struct story_options story; /* how it is told */
	unsigned int width;	/* columns of running text; 0: what fits */
	bool keep;		/* the model is to keep what has ended, for one of these */
	bool records;		/* --records */
	bool symbols;		/* --symbols */
	unsigned int look_ms;	/* --look-every, 0: at calls only */
	struct injections *inject; /* -e inject=, --as-kernel; NULL: none; owned */
	bool no_seccomp;
	bool detach_on_exec;	/* -b */
	char **argv;		/* the command or the dump, NULL if there is none */
};

/*
 * Reads argv into o.  Prints help or the version and exits with 0 where asked
 * to; dies with a message on misuse.
 */
void options_parse(struct options *o, enum options_of of, int argc, char **argv);
void options_free(struct options *o);

/*
 * How things are shown, which several verbs take in the same way: for getopt,
 * with values from OPTIONS_FIRST on.
 */
enum { OPTIONS_FIRST = 256, OPTIONS_COLOR = OPTIONS_FIRST, OPTIONS_SYMBOLS, OPTIONS_SET,
       OPTIONS_OWN };
#define OPTIONS_SHOW_SHORT "jo:rs:tTvy"
#define OPTIONS_SHOW_LONG						\
	{ "absolute-timestamps", no_argument, NULL, 't' },		\
	{ "color", optional_argument, NULL, OPTIONS_COLOR },		\
	{ "decode-fds", no_argument, NULL, 'y' },			\
	{ "json", optional_argument, NULL, 'j' },			\
	{ "no-abbrev", no_argument, NULL, 'v' },			\
	{ "output", required_argument, NULL, 'o' },			\
	{ "relative-timestamps", no_argument, NULL, 'r' },		\
	{ "string-limit", required_argument, NULL, 's' },		\
	{ "symbols", no_argument, NULL, OPTIONS_SYMBOLS },		\
	{ "syscall-times", no_argument, NULL, 'T' },			\
	{ "trace", required_argument, NULL, OPTIONS_SET }

/* Prints help or a version, and exits with 0. */
_Noreturn void options_say(const char *text);

/*
 * Dies of what getopt_long() has returned for an option that the verb cannot take:
 * ':' where its argument is missing, '?' where there is no such option.  verb: whose
 * --help is named; NULL: pevtrace's own.
 */
_Noreturn void options_wrong(int opt, char *const *argv, const char *verb);

/* As they are before any option is read. */
void options_init(struct options *o);

/* Takes one of them; false when opt is none. */
bool options_show(struct options *o, int opt, const char *arg);

/* Dies unless they go together. */
void options_check_show(const struct options *o);

/* Takes the words of --explain; NULL: none. */
void options_explain(struct options *o, const char *words);

/* Takes a list of pids for -p. */
void options_pids(struct options *o, const char *list);

/* The number in an option's argument; dies unless it is from least to most. */
long option_number(const char *text, const char *option, long least, long most);

/* --color's argument, NULL if there is none; dies if it is another word. */
enum color_when option_color(const char *word);

/* Whether to write colors; by itself on a terminal, unless NO_COLOR is set. */
bool color_wanted(enum color_when when, bool terminal);

#endif
