/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why an event of open or watch was refused: the rule, and how to find out more. */
#pragma once

#include "verbs/measure/measure.h"

struct reason {
	const struct rule_desc *rule;	/* NULL: unknown */
	bool sure;			/* the rule certainly applies */
	struct buf command;		/* a pevtrace why that examines the call */
};

/* Warn about each event that could not be opened, with the reason if it is known. */
void reason_tell(const struct measure *m);
