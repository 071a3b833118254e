/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words of %needs, each with what it requires of the machine. */
#pragma once

#include "experiment/instruments.h"

struct learn_need {
	const char *name;
	const char *meaning;			/* after "needs" */
	enum instrument instrument;		/* INSTRUMENTS: none, only .here decides */
	bool (*here)(struct host *host);	/* asked first; or NULL */
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
