/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why an event of open or watch was refused: the rule, and how to find out more. */
#ifndef PEVTRACE_CMD_REASON_H
#define PEVTRACE_CMD_REASON_H

#include "cmd/measure.h"
#include "host/facts.h"

struct reason {
	const struct rule_desc *rule;	/* NULL: none that is known */
	bool sure;			/* the rule was foreseen, not only possible */
	struct buf command;		/* pevtrace why, with the call */
};

/* The event, which failed with that errno on one of the targets. */
void reason_find(struct reason *r, const struct measure *m, struct facts *facts,
		 size_t event, int error);
void reason_free(struct reason *r);

#endif
