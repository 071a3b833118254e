/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Verbs and their options as data, from which command lines are parsed and --help and
 * pevtrace help --list are printed; completion and tests read that list.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct verb_option;
struct nearest;

/* Store the argument (NULL: none was given) at `to`; die with a message if it is invalid. */
typedef void verb_set_fn(void *to, const char *arg, const struct verb_option *o);

struct verb_option {
	const char *name;	/* long, without --; NULL: short only */
	char key;		/* short; 0: long only */
	bool optional;		/* the argument may be missing: --name[=ARG] */
	const char *arg;	/* name of the argument in help, and its kind; NULL: none */
	const char *words;	/* the valid arguments, separated by blanks, each perhaps
				   followed by |SYNONYM...; NULL: any */
	const char *help;	/* NULL only at the end of a table */
	verb_set_fn *set;
	size_t at;		/* offset of what it sets in the group's structure */
	long least, most;	/* of a number */
	const char *instead;	/* of trace's: what to use in other verbs, or NULL */
	const char *bare;	/* what the setter gets for the long name without an argument */
	char excludes;		/* a letter that cannot be combined with the long name; or 0 */
	char digits_of;		/* -aN sets this option where it is 'a'; 0: no letter does */
	const char *operand;	/* if it is given: the kinds of the operands, or NULL; */
	void (*offer)(struct nearest *n); /* and their words, for completion */
	const char *typed;	/* set for setters: how it was given, "-p", "--attach" or "-e fault";
				   valid until the verb ends */
	bool command;		/* if it is given, operands are a command, where options end */
	bool exprs;		/* -e: its argument is NAME=ARG of another option, or ARG of --trace */
	const char *expr;	/* the NAMEs of this one there, separated by |, or NULL */
};

/* An option of another program that users may try. */
struct verb_foreign {
	const char *name;	/* long, without -- */
	char key;		/* short; 0: long only */
	const char *why;	/* why it is not there, and what to use; NULL: end of a table */
	const char *same;	/* in place of that, the long option that does the same */
	const char *expr;	/* further NAMEs in -e NAME=ARG, separated by |, or NULL */
};

/* Options below one heading, which several verbs may share. */
struct verb_group {
	const char *heading;	/* NULL: they follow those of the group before */
	const struct verb_option *options; /* NULL: end of the groups */
	size_t at;		/* offset of the structure that they set in the verb's state */
	size_t given;		/* offset of a const char *: how the last one was given; 0: no */
};

struct verb;

/* What the command line has beside options. */
struct verb_args {
	char **words;		/* the operands, NULL-terminated */
	size_t n;
	char **command;		/* the words after "--", if they are a command; or NULL */
	bool certain;		/* "trace" or "--" says that the operands of trace are a command */
	char swallowed[128];	/* "'WORD' is the argument of -o", of the last word; or "" */
	const struct verb *verb;
	const struct verb *const *all; /* of pevtrace, NULL-terminated; NULL: unknown */
};

struct verb {
	const char *name;
	const char *summary;	/* one line for lists */
	const char *usage;	/* what follows "pevtrace", one form in each line */
	const char *about;	/* paragraphs before the options, lines of up to 79 columns */
	const char *notes;	/* the same after the options, or NULL */
	const char *examples;	/* command lines, one in each line */
	const char *operand;	/* kinds of the operands (input.h), separated by |; NULL: none */
	const char *own;	/* a kind of argument that no other verb has, or NULL: */
	void (*offer)(struct nearest *n); /* its words, for completion */
	bool command;		/* options end at the first operand, which is a program */
	const struct verb_group *groups;
	const struct verb_foreign *foreign; /* answered with their reason, or NULL */
	size_t size;		/* of its state, which begins as zeros */
	void (*init)(void *state); /* or NULL */
	int (*run)(void *state, const struct verb_args *args); /* returns the exit status */
};

/*
 * Parse argv as the command line of v, argv[0] being ignored, and run it; return its exit
 * status.  Print help or the version and exit with 0 where asked to; die on misuse.  all: the
 * verbs that trace's help lists, NULL: none.
 */
int verb_run(const struct verb *v, const struct verb *const *all, int argc, char **argv);

/* Return the verb with that name, NULL if no verb has it. */
const struct verb *verb_find(const struct verb *const *all, const char *name);

/*
 * Return the verb whose name is nearest to word, "" if none is near, with the option that the verb
 * of an old name became: a string of n or a literal.  Die with that if word is the old name, for
 * one release.
 */
const char *verb_nearest(const struct verb *const *all, const char *word, struct nearest *n);

/*
 * Die if word is the old name of a verb, or with the name of a verb, or of a command of perf, if it
 * resembles one and is no program in PATH.
 */
void verb_check_spelling(const struct verb *const *all, const char *word);

/* Return whether the word is a command of perf, such as record. */
bool verb_is_perfs(const char *word);

/* Die unless there are n operands; the words of a command are one. */
void verb_want(const struct verb_args *args, size_t n);

/* Return whether the verb has operands of that kind. */
bool verb_reads(const struct verb *v, const char *kind);

/*
 * Print the usage of v, examples, and the verbs or the most common options, in 25 lines at most, to
 * standard output.
 */
void verb_brief(const struct verb *v, const struct verb *const *all);

/* Print the help of v to standard output; die where that fails. */
void verb_help(const struct verb *v, const struct verb *const *all);

/*
 * Print all verbs and options as lines of fields, which are separated by tabs:
 * verb NAME OPERAND SUMMARY, and
 * option VERB SHORT LONG no|required|optional ARG WORDS HELP; "-" is an empty field.
 */
void verb_list(const struct verb *const *all);

/*
 * Print how the last of n words after "pevtrace", which may be empty, can go on; one line each:
 *	WORD TAB HELP	the whole word; HELP may be missing
 *	:file TAB HEAD	HEAD and the name of a file; likewise :directory
 *	:command N	the words from the Nth on, counted from 0, are a command line
 */
void complete_words(const struct verb *const *all, char *const *words, size_t n);

/* Flush standard output and exit with 0; die where it cannot be written. */
_Noreturn void verb_exit_flushed(void);

/* Iterate over the options of v, --help and --version included: NULL at the end. */
struct verb_at {
	const struct verb_group *group;
	const struct verb_option *option;
};
const struct verb_option *verb_next(const struct verb *v, struct verb_at *at);

/* Return the option with that name (of one letter: key), or NULL. */
const struct verb_option *verb_option_of(const struct verb *v, const char *word, size_t len);

/* Offer what an argument of -e begins with, "trace=" and so on. */
void verb_offer_exprs(const struct verb *v, struct nearest *n);

/* Setters ------------------------------------------------------------------------- */

verb_set_fn verb_set_true;	/* bool; an argument must be one of the words */
verb_set_fn verb_set_text;	/* const char *, which points into argv */
verb_set_fn verb_set_size;	/* size_t, from least to most */
verb_set_fn verb_set_int;	/* unsigned int, pid_t; from least to most */
verb_set_fn verb_set_signed;	/* int32_t, but not INT32_MIN */

/* Return the number in text; die, naming the option, unless it is from least to most. */
long verb_number(const char *text, const struct verb_option *o, long least, long most);

/* Return words, as of an option, without the synonyms; the caller frees it. */
char *verb_words(const char *words);

/*
 * Return whether the text of len bytes is the word at w, of those of an option, or a synonym of
 * it; an _ is a -.
 */
bool verb_is_word(const char *w, const char *text, size_t len);

/*
 * Return whether a name matches a pattern, in any case: one with wildcards the whole name, another
 * one any part of it.
 */
bool verb_pattern_matches(const char *pattern, const char *name);

/* Return the index of word in o->words; die, naming the nearest one, if it is not there. */
unsigned int verb_word(const char *word, const struct verb_option *o);
