/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where two descriptions of one structure differ. */
#ifndef PEVTRACE_CONFORM_MEMBER_DIFF_H
#define PEVTRACE_CONFORM_MEMBER_DIFF_H

#include "conform/api_desc.h"

enum member_diff_kind {
	MEMBER_MISSING,		/* is only in what is right */
	MEMBER_EXTRA,		/* is only in what is compared */
	MEMBER_WIDTH,		/* has another size, or is an array on one side only */
	MEMBER_NAME,		/* seems to have another name */
	MEMBER_WHEN,		/* depends on something else */
	MEMBER_ORDER,		/* stands elsewhere among the others */
	MEMBER_PLACE,		/* begins elsewhere: the first, unless others explain it */
	MEMBER_LEFT_OVER,	/* bits of a word belong to no bit-field; no members */
};

/*
 * Calls hook for each difference; right or said is NULL where it has no such
 * member.  Members that share a place may stand in any order, and reserved
 * ones have any width: they give way to new members.
 */
void member_diff(const struct api_struct *right, const struct api_struct *said,
		 void (*hook)(void *ctx, enum member_diff_kind kind,
			      const struct api_member *right, const struct api_member *said),
		 void *ctx);

#endif
