/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attrs and ioctls as a log of calls has them: with the other arguments, the result, and its cause. */
#pragma once

#include "verbs/cli/log_calls.h"
#include "verbs/cli/showing.h"

/* Add the attr at that address of c to the line or object, and if it was in a call its arguments. */
void decode_log_begin(const struct attr_text *a, struct call *c, uint64_t at,
		      const struct names *n, struct showing *out);

/* Add the result of the call, the rule that may have refused it, and what of the text is no attr. */
void decode_log_end(struct log_calls *l, const struct attr_text *a, const struct call *c,
		    const struct names *n, struct showing *out);

/* Show an ioctl(2) of a log. */
void decode_log_ioctl(const struct attr_text_ioctl *i, const struct arch *arch,
		      const struct names *n, struct showing *out);
