/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lessons, the one under way, and what experiments in C (experiments.c) consist of. */
#pragma once

#include "experiment/instruments.h"
#include "experiment/steps.h"
#include "experiment/stream.h"
#include "verbs/cli/views.h"
#include "xlat/constants.h"

extern const struct verb learn_verb;

/* Lessons: texts, questions and experiments that make real calls (lessons/NAME.lesson) --- */

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
	const char *needs;	/* names of struct learn_need, separated by blanks; or NULL */
	const char *man;	/* sections of manual pages */
	const struct lesson_item *items;
	size_t n;
};

extern const struct lesson lessons[];
extern const size_t nlessons;

/* Text of 80 columns, or Markdown (lesson_text.c) ----------------------------------------- */

struct lesson_text {
	FILE *out;
	bool markdown, color;
};

void lesson_text_title(const struct lesson_text *t, const char *name, const char *title);

/* The heading of a step, one of so many; number 0: of no step. */
void lesson_text_heading(const struct lesson_text *t, unsigned int number, unsigned int of,
			 const char *text);

/* A paragraph, broken into lines. */
void lesson_text_paragraph(const struct lesson_text *t, const char *text);

/* The same behind a bold mark: "Question", "Not quite". */
void lesson_text_marked(const struct lesson_text *t, const char *mark, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Preformatted lines. */
void lesson_text_block(const struct lesson_text *t, const char *lines);

/*
 * Lines of a trace.  Long lines continue with a deeper indent: broken at a blank, behind
 * '|', or anywhere with '\' at the end.
 */
void lesson_text_trace(const struct lesson_text *t, const char *lines);

/* The lesson under way -------------------------------------------------------------------- */

/* A value that replaces {name} in texts and is tested by %when. */
struct learn_value {
	char *name, *text;
};

/* A record from a ring; bytes are valid during the call only. */
struct learn_record {
	const uint8_t *bytes;
	size_t len;
	uint32_t type;
};

/* Return true to show the record. */
typedef bool learn_record_fn(void *ctx, const struct learn_record *r);

struct learn {
	const struct lesson *lesson;
	struct instruments *instruments; /* borrowed; those of the whole run */
	struct lesson_text text;
	bool ask;		/* read answers from the terminal */
	unsigned int missed;	/* questions answered wrongly to the end */
	/* for experiments */
	sigset_t interrupt;	/* SIGINT, which is blocked */
	struct own_session own_session;
	struct steps steps;	/* events and variables of the experiments */
	struct steps_outcome outcome; /* of the last steps */
	struct learn_value *values;
	size_t nvalues;
	int trace;		/* memfd that the session writes lines to */
	char path[32];		/* of trace */
	off_t taken;		/* bytes of trace that are in lines */
	struct buf lines;	/* to be shown */
	struct buf why;		/* set by learn_fail() */
	struct buf kept;	/* a record kept for a later experiment */
	learn_record_fn *each;	/* of the learn_look() under way */
	void *each_ctx;
};

/* Values ---------------------------------------------------------------------------- */

void learn_set(struct learn *l, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Return a copy of text with each {name} replaced by its value. */
char *learn_fill_in(const struct learn *l, const char *text);

void learn_set_number(struct learn *l, const char *name, uint64_t v);
/* Set name to the errno of a failed result, else to "none". */
void learn_set_error(struct learn *l, const char *name, int64_t result);
const char *learn_get(const struct learn *l, const char *name); /* NULL: not set */

void learn_values_free(struct learn *l);

/* What a lesson may require of the machine. */
struct learn_need {
	const char *name;			/* in %needs */
	const char *meaning;			/* after "needs" */
	enum instrument instrument;		/* INSTRUMENTS: none */
	const char *pmu;			/* must exist; or NULL */
	bool (*here)(struct host *host);	/* asked in place of .pmu; or NULL */
	const char *unless_here;		/* a sentence for the case that it is not */
};

/*
 * Return the next need in *words, which are separated by blanks, and advance *words; NULL at
 * the end.  End the program if a word is unknown.
 */
const struct learn_need *learn_need_next(const char **words);

/*
 * Return whether a need works on this machine, for this user.  If not, append to why one or two
 * sentences that say what is needed and why it does not work.
 */
bool learn_need_works(struct instruments *is, const struct learn_need *n, struct buf *why);

/* Output ---------------------------------------------------------------------------- */

/* Add a line to those of the calls; fmt has no newline. */
void learn_say(struct learn *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* End the lesson with a reason.  Return false. */
bool learn_fail(struct learn *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Return the lines since the caller last emptied the buffer. */
struct buf *learn_lines(struct learn *l);

/* Run another verb with these words and add its output to the lines. */
bool learn_run_verb(struct learn *l, const struct verb *v, const char *const *words);

/* Experiments ------------------------------------------------------------------------ */

/* Run steps, lines with '\n' at the end (lessons/README.md).  Return false after learn_fail(). */
bool learn_steps(struct learn *l, const char *lines);

/* The steps that only lessons have. */
extern const struct step_word learn_step_words[];

/* Return the name of the errno of a failed result. */
const char *learn_error(int64_t result);

/* Read new records of the event's ring.  Show those that each accepts, or all if it is NULL. */
void learn_look(struct learn *l, struct step_event *e, learn_record_fn *each, void *ctx);

/* Tasks (task.c) ---------------------------------------------------------------------- */

/* Return the task of that name, or NULL. */
const struct learn_task_desc *task_find(const char *name);

/* Show what to write. */
void task_show(const struct learn_task_desc *d, const struct lesson_text *t,
	       struct instruments *is);

/* Trace the command, and say whether it does the task.  Return the exit status. */
int task_check(const struct learn_task_desc *d, char *const *command, const struct lesson_text *t,
	       struct instruments *is);

/* Giving a lesson (give.c) ------------------------------------------------------------ */

/* The end of a lesson. */
enum given {
	GIVEN,		/* complete */
	GIVEN_UP,	/* the reader quit */
	GIVEN_NOT,	/* failed, after a warn() */
};

/* Give l->lesson.  The caller sets lesson, instruments, text and ask only. */
enum given give_lesson(struct learn *l);

/*
 * Return true if given is one of the right answers in wanted, separated by '|'.  Numbers may
 * be in any base, words up to twelve, and have a unit; names may lack the part before an
 * underscore; case, blanks and punctuation do not count.
 */
bool answer_accepts(const char *wanted, const char *given);
