/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which calls, outcomes and signals the user wants to see (-e). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/xlat.h"

enum selected {
	SELECT_NONE,	/* never shown */
	SELECT_PERF,	/* shown where it concerns perf */
	SELECT_ALL,	/* always shown */
};

struct selection {
	enum selected calls[CALL_COUNT];
	bool chosen;		/* -e trace= was given */
	unsigned int status;	/* enum call_status */
	char outcome;		/* z or Z, the last of these options; 0: neither */
	uint64_t signals;	/* bit n-1 for signal n */
};

static inline bool selection_has_signal(const struct selection *s, int sig)
{
	return sig < 1 || sig > 64 || s->signals >> (sig - 1) & 1;
}
