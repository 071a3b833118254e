/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why an event of open or watch was refused: the rule, and how to find out more. */
#ifndef PEVTRACE_MEASURE_REASON_H
#define PEVTRACE_MEASURE_REASON_H

#include "measure/measure.h"

struct reason {
	const struct rule_desc *rule;	/* NULL: none that is known */
	bool sure;			/* the rule was foreseen, not only possible */
	struct buf command;		/* pevtrace why, with the call */
};

/* Says of each event that could not be opened what is known of it. */
void reason_tell(const struct measure *m);

#endif
