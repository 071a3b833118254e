// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/judge/flaws.h"

#include <string.h>

#include "core/abi/when.h"
#include "xlat/tables.h"

bool open_meets(const char *condition, const struct rule_ask *ask)
{
	const struct call_desc *desc = call_by_name("perf_event_open");
	struct text_cursor c = { .at = condition, .end = condition + strlen(condition) };
	struct call call = {
		.desc = desc,
		.args = { 0, (uint64_t)ask->pid, (uint64_t)ask->cpu, 0, ask->flags },
	};
	struct when *w = when_read(&c, &desc, 1, NULL);
	bool holds = w && when_holds(w, &call, ask->attr, ask->len);

	when_free(w);
	return holds;
}

/* Return whether the kernel has the flaw; of one that is not known, only what every kernel has. */
static bool flaw_is_of(const struct flaw_desc *d, const struct rule_facts *facts)
{
	uint32_t release = facts ? facts->machine.release : 0;

	return !d->until || (release >= d->since && release < d->until);
}

const struct flaw_desc *flaw_next(const struct rule_ask *ask, size_t *at)
{
	while (flaw_descs[*at].name) {
		const struct flaw_desc *d = &flaw_descs[(*at)++];

		if (*d->condition && flaw_is_of(d, ask->facts) && open_meets(d->condition, ask))
			return d;
	}
	return NULL;
}
