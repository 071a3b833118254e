/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Differences between two descriptions of a structure. */
#pragma once

#include "conform/api_desc.h"

enum member_diff_kind {
	MEMBER_MISSING,		/* in known only */
	MEMBER_EXTRA,		/* in stated only */
	MEMBER_WIDTH,		/* other size, or an array in one of them only */
	MEMBER_NAME,		/* other name at the same place */
	MEMBER_WHEN,		/* other condition */
	MEMBER_ORDER,		/* other position among the members */
	MEMBER_PLACE,		/* first with another offset, if nothing above explains it */
	MEMBER_SIGN,		/* signed in one of them, unsigned in the other */
	MEMBER_LEFT_OVER,	/* bits of a word belong to no bit-field; no members */
};

/*
 * Call hook for each difference; known or stated is NULL if it has no such member.
 * Members that share a place may be in any order.  Reserved members may have any width,
 * as new members replace them.
 */
void member_diff(const struct api_struct *known, const struct api_struct *stated,
		 void (*hook)(void *ctx, enum member_diff_kind kind,
			      const struct api_member *known, const struct api_member *stated),
		 void *ctx);
