// SPDX-License-Identifier: LGPL-2.1-or-later
#include "abi/rules.h"

#include "abi/rules_internal.h"

static rule_fn *const predicates[RULE_COUNT] = {
#define RULE(id, name) [RULE_##id] = rule_##name,
#define RULE_CHANCE(id, name)
#include "xlat/rule_ids.h"
#undef RULE
#undef RULE_CHANCE
};

/* Releases --------------------------------------------------------------------- */

static bool in_release(uint32_t since, uint32_t release)
{
	return !release || since <= release;
}

uint32_t rules_attr_size(uint32_t release)
{
	const struct layout *l = &layout_perf_event_attr;
	uint32_t size = 0;

	for (size_t i = 0; i < l->n; i++)
		if (in_release(l->fields[i].since, release) && l->fields[i].size > size)
			size = l->fields[i].size;
	return size;
}

uint32_t rule_attr_size(const struct rule_input *in)
{
	return in->machine->attr_size ? in->machine->attr_size :
					rules_attr_size(in->machine->release);
}

bool rule_newer(const struct rule_input *in)
{
	const struct layout *l = &layout_perf_event_attr;
	uint32_t newest = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->fields[i].since > newest)
			newest = l->fields[i].since;
	/* stable releases bring nothing new */
	return in->machine->release >> 8 > newest >> 8;
}

int rule_unknown_bits(const struct rule_input *in, uint64_t v, const struct xlat *x)
{
	uint64_t known = 0, named = 0;

	for (size_t i = 0; i < x->n; i++) {
		const struct xlat_entry *e = &x->entries[i];

		if (e->traits & XLAT_NONABI)
			continue;
		named |= e->mask;
		if (in_release(e->since, in->machine->release))
			known |= e->mask;
	}
	if (v & ~named && rule_newer(in))
		return RULE_UNKNOWN;
	return refuses_if(v & ~known);
}

/* PMUs ------------------------------------------------------------------------- */

enum fact rule_trait(const struct rule_input *in, uint64_t trait)
{
	/* what differs from one PMU of the kind to the next */
	const uint64_t varies = PMU_TRAIT_NO_INTERRUPT | PMU_TRAIT_NO_EXCLUDE;

	if (!in->pmu || !in->pmu->desc)
		return FACT_UNKNOWN;
	if (in->pmu->desc->traits & trait)
		return FACT_YES;
	return trait & varies && in->pmu->desc->traits & PMU_TRAIT_CPU_ONLY ?
	       FACT_UNKNOWN : FACT_NO;
}

static const struct rule_pmu *by_type(const struct rule_machine *m, uint32_t type)
{
	for (size_t i = 0; i < m->npmus; i++)
		if (m->pmus[i].type == type)
			return &m->pmus[i];
	return NULL;
}

static const struct rule_pmu *by_name(const struct rule_machine *m, const char *name)
{
	for (size_t i = 0; i < m->npmus; i++)
		if (!strcmp(m->pmus[i].name, name))
			return &m->pmus[i];
	return NULL;
}

/*
 * The generic hardware events: of the PMU that config names, which must be one of
 * a CPU; of the CPU's where it names none, or none that there is.
 */
static const struct rule_pmu *hardware(const struct rule_machine *m, uint64_t config)
{
	uint32_t type = (uint32_t)(config >> PERF_PMU_TYPE_SHIFT);
	const struct rule_pmu *p = type ? by_type(m, type) : NULL;

	if (p)
		return !p->desc || p->desc->traits & PMU_TRAIT_CORE ? p : NULL;
	for (size_t i = 0; i < m->npmus; i++)
		if (m->pmus[i].desc && m->pmus[i].desc->traits & PMU_TRAIT_CORE)
			return &m->pmus[i];
	return NULL;
}

const struct rule_pmu *rules_pmu(const struct rule_machine *m, const uint8_t *attr,
				 size_t len)
{
	const struct layout *l = &layout_perf_event_attr;
	uint64_t type = layout_get(l, ATTR_TYPE, attr, len);
	uint64_t config = layout_get(l, ATTR_CONFIG, attr, len);
	const struct rule_pmu *p = NULL;

	switch (type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		return hardware(m, config);
	case PERF_TYPE_RAW:
		p = by_type(m, PERF_TYPE_RAW);
		return p ? p : hardware(m, 0);
	case PERF_TYPE_SOFTWARE:
		/* these two go on to the clocks' own PMUs */
		if (config == PERF_COUNT_SW_CPU_CLOCK)
			p = by_name(m, "cpu_clock");
		else if (config == PERF_COUNT_SW_TASK_CLOCK)
			p = by_name(m, "task_clock");
		return p ? p : by_type(m, PERF_TYPE_SOFTWARE);
	default:
		return by_type(m, (uint32_t)type);
	}
}

/* Judging ---------------------------------------------------------------------- */

static struct rule_input input_of(const struct rule_ask *ask)
{
	struct rule_input in = {
		.ask = ask, .machine = &ask->facts->machine, .target = &ask->facts->target,
		.cgroup = ask->flags & PERF_FLAG_PID_CGROUP,
	};

	in.size = (uint32_t)layout_get(&layout_perf_event_attr, ATTR_SIZE, ask->attr,
				       ask->len);
	if (!in.size)
		in.size = PERF_ATTR_SIZE_VER0;
	in.len = ask->len < in.size ? ask->len : in.size;
	in.task = ask->pid != -1 && !in.cgroup;
	in.grouped = ask->group_fd != -1 && !(ask->flags & PERF_FLAG_FD_NO_GROUP);
	in.output = ask->group_fd != -1 && ask->flags & PERF_FLAG_FD_OUTPUT;
	in.pmu = rules_pmu(in.machine, ask->attr, in.len);
	return in;
}

static int judge(const struct rule_input *in, const struct rule_desc *d)
{
	uint32_t release = in->machine->release;

	if (!in_release(d->since, release) ||
	    (d->until && (!release || release >= d->until)))
		return RULE_PASSES;
	return predicates[d->id] ? predicates[d->id](in) : RULE_UNFORESEEN;
}

int rules_error(const struct rule_verdict *v, enum rule_id id)
{
	return v->says[id] > 0 ? v->says[id] : rule_descs[id].error;
}

void rules_judge(const struct rule_ask *ask, struct rule_verdict *v)
{
	struct rule_input in = input_of(ask);

	*v = (struct rule_verdict){ .rule = NULL };
	for (size_t i = 0; i < RULE_COUNT; i++) {
		v->says[i] = judge(&in, &rule_descs[i]);
		if (v->rule || (v->says[i] <= 0 && v->says[i] != RULE_REFUSES))
			continue;
		v->rule = &rule_descs[i];
		v->error = rules_error(v, (enum rule_id)i);
		/* the others look at an attr that the kernel does not get */
		if (i <= RULE_ATTR_FAULT)
			break;
	}
}

int rules_place(const struct rule_desc *rule, const char *name)
{
	const char *p = rule ? rule->fields : "";

	for (int i = 0; *p; i++) {
		size_t len = strcspn(p, ",");

		if (strlen(name) == len && !memcmp(p, name, len))
			return i;
		p += len + (p[len] == ',');
	}
	return -1;
}

const struct rule_desc *rules_explain(const struct rule_verdict *v, int error)
{
	for (size_t i = 0; i < RULE_COUNT && &rule_descs[i] != v->rule; i++) {
		int may = rules_error(v, (enum rule_id)i);

		if ((v->says[i] == RULE_UNKNOWN || v->says[i] == RULE_UNFORESEEN) &&
		    error && (!may || may == error))
			return &rule_descs[i];
	}
	return NULL;
}
