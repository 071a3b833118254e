/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lessons: texts and questions (lessons/NAME.lesson) around experiments, which
 * are C (src/learn/do_*.c) and make real calls.
 */
#ifndef PEVTRACE_LEARN_LESSON_H
#define PEVTRACE_LEARN_LESSON_H

#include <stdbool.h>
#include <stddef.h>

struct learn;

/*
 * Does something, shows its calls, and sets values that texts have in braces.
 * False after learn_fail(): the lesson cannot go on.
 */
typedef bool lesson_fn(struct learn *l);

enum lesson_kind {
	LESSON_STEP,	/* a heading */
	LESSON_TEXT,	/* a paragraph */
	LESSON_BLOCK,	/* lines as they stand */
	LESSON_DO,	/* an experiment */
	LESSON_HOLD,	/* one whose calls are shown later */
	LESSON_SHOW,	/* now */
	LESSON_ASK,
	LESSON_TRY,	/* a heading: what to try next */
};

struct lesson_item {
	enum lesson_kind kind;
	const char *when;	/* only where that value is set, "!": is not; or NULL */
	const char *text;
	const char *answer;	/* right ones, with '|' between them */
	const char *hint, *told; /* after a wrong answer; after it all */
	lesson_fn *run;
};

struct lesson {
	const char *name, *title, *summary;
	const char *needs;	/* words of machine_needs[], or NULL */
	const char *man;	/* section to read */
	const struct lesson_item *items;
	size_t n;
};

extern const struct lesson lessons[];
extern const size_t nlessons;

#endif
