/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of completion. */
#pragma once

#include "core/lib/buf.h"
#include "core/lib/nearest.h"
#include "verbs/cli/verb.h"

/* The word under the cursor, which is being completed. */
struct completion {
	struct buf head;	/* the part of it that is complete: "--trace=open," */
	const char *typed;	/* the rest; candidates begin with it */
	struct nearest offers;	/* prints what is offered to it */
};

/* Begin with the whole word, which must outlive c. */
void complete_start(struct completion *c, const char *word);

/* Print a candidate if the word may go on so.  help may be NULL. */
void complete_with(struct completion *c, const char *name, const char *help);

/* Move a leading word such as "trace=" to the head; return whether the text begins with it. */
bool complete_key(struct completion *c, const char *key);

/* Complete a list, perhaps negated by !, of these words, which are separated by blanks. */
void complete_list(struct completion *c, const char *list);

/* Complete an argument of these kinds, separated by |, as verb_option.arg names them. */
void complete_kinds(struct completion *c, const struct verb *v, const struct verb *const *all,
		    const char *names);
