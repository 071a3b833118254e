/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Giving a lesson: its items in order. */
#pragma once

#include "verbs/learn/learn.h"

/* The end of a lesson. */
enum given {
	GIVEN,		/* complete */
	GIVEN_UP,	/* the reader quit */
	GIVEN_NOT,	/* failed, after a warn() */
};

/* Give l->lesson.  The caller sets lesson, text and ask only. */
enum given give_lesson(struct learn *l);
