// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel's checks, applied to the calls of a session. */
#include <string.h>

#include "core/abi/layout.h"
#include "explain/story_internal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

const struct story_caller story_anybody = { .paranoid = -1, .caps = UINT64_MAX };
const struct story_caller story_nobody = { .paranoid = 4, .limited = true };

/* List the PMUs that every kernel has, and that of the call if the dump names it. */
static size_t known_pmus(const struct story *s, const struct rule_ask *ask, struct rule_pmu *out)
{
	static const struct {
		uint32_t type;
		const char *name;
	} fixed[] = {
		{ PERF_TYPE_SOFTWARE, "software" }, { PERF_TYPE_TRACEPOINT, "tracepoint" },
		{ PERF_TYPE_BREAKPOINT, "breakpoint" },
	};
	uint32_t type = 0;
	const char *name = NULL;
	size_t n = 0;

	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		out[n++] = (struct rule_pmu){ .type = fixed[i].type, .name = fixed[i].name };
	if (ask->len >= sizeof(type))
		memcpy(&type, ask->attr, sizeof(type));
	if (type >= PERF_TYPE_MAX && s->names->pmu)
		name = s->names->pmu(s->names, type);
	if (name)
		out[n++] = (struct rule_pmu){ .type = type, .name = name };
	for (size_t i = 0; i < n; i++)
		out[i].desc = pmu_desc_by_name(out[i].name);
	return n;
}

void story_judge(const struct story *s, const struct rule_ask *ask, const struct story_caller *c,
		 struct rule_verdict *v)
{
	uint64_t limit = c->limited ? 0 : UINT64_MAX;
	struct rule_pmu pmus[4];
	struct rule_facts facts = {
		.machine = {
			.release = s->release, .page_size = s->names->page_size,
			.arch = s->arch, .paranoid = c->paranoid, .caps = c->caps,
			.max_sample_rate = limit, .max_stack = limit,
			.cpus = c->limited ? 1 : INT32_MAX, .pmus = pmus,
		},
		.target.task = { .attachable = c->own_task, .readable = c->own_task },
	};
	const struct layout *l = &layout_perf_event_attr;
	struct rule_ask whole = *ask;

	facts.machine.npmus = known_pmus(s, ask, pmus);
	if (s->names->tracepoint)
		facts.target.tracepoint_name =
			s->names->tracepoint(s->names, layout_get(l, ATTR_CONFIG, ask->attr,
								  ask->len));
	whole.facts = &facts;
	rules_judge(&whole, v);
}
