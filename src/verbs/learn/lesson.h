/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lessons: texts, questions and experiments that make real calls (lessons/NAME.lesson); what steps
 * cannot say is in src/verbs/learn/do_NAME.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct learn;

/* An experiment.  Return false after learn_fail(), which ends the lesson. */
typedef bool lesson_fn(struct learn *l);

enum lesson_kind {
	LESSON_STEP,	/* a heading */
	LESSON_TEXT,	/* a paragraph */
	LESSON_BLOCK,	/* preformatted lines */
	LESSON_DO,	/* an experiment */
	LESSON_HOLD,	/* an experiment whose calls are shown later */
	LESSON_SHOW,	/* show them */
	LESSON_ASK,	/* a question */
	LESSON_LACK,	/* why the need that text names does not work here */
	LESSON_TRY,	/* the heading "Try this" */
};

struct lesson_item {
	enum lesson_kind kind;
	const char *when;	/* values that must be set, "!NAME": must not; or NULL */
	const char *text;
	const char *answer;	/* right answers, separated by '|' */
	const char *hint;	/* after a wrong answer */
	const char *explain;	/* explanation after the answer */
	const char *steps;	/* of an experiment; or NULL, and */
	lesson_fn *run;		/* its function */
};

struct lesson {
	const char *name, *title, *summary;
	const char *needs;	/* names of learn_needs[], separated by blanks; or NULL */
	const char *man;	/* sections of manual pages */
	const struct lesson_item *items;
	size_t n;
};

extern const struct lesson lessons[];
extern const size_t nlessons;
