/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Differences between two descriptions of a structure. */
#pragma once

#include "conform/api_desc.h"

/*
 * Handle a difference; known or stated is NULL if it has no such member, and both are for
 * FINDING_BITS.
 */
typedef void member_diff_fn(void *ctx, enum finding_kind kind, const struct api_member *known,
			    const struct api_member *stated);

/*
 * Call hook for each difference, FINDING_MEMBER_...: _PLACE for the first member with another
 * offset, if nothing before explains it.  Members that share a place may be in any order.
 * Reserved members may have any width, as new members replace them.
 */
void member_diff(const struct api_struct *known, const struct api_struct *stated,
		 member_diff_fn *hook, void *ctx);
