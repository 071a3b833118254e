/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Giving a lesson: its items one after the other. */
#ifndef PEVTRACE_LEARN_GIVE_H
#define PEVTRACE_LEARN_GIVE_H

#include "learn/learn.h"

/* How a lesson ended. */
enum given {
	GIVEN,		/* to its end */
	GIVEN_UP,	/* the reader has left */
	GIVEN_NOT,	/* after a warn() */
};

/* l->lesson, with l->tell and l->ask; everything else is filled in here. */
enum given give_lesson(struct learn *l);

#endif
