// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/rules.h"

#include "core/abi/rules_internal.h"

static rule_fn *const predicates[RULE_COUNT] = {
#define RULE(id, name) [RULE_##id] = rule_##name,
#define RULE_CHANCE(id, name)
#include "xlat/rule_ids.h"
#undef RULE
#undef RULE_CHANCE
};

/* Judging ---------------------------------------------------------------------- */

static struct rule_input input_of(const struct rule_ask *ask)
{
	struct rule_input in = {
		.ask = ask, .machine = &ask->facts->machine, .target = &ask->facts->target,
		.group = &ask->facts->target.group,
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

int rules_error(const struct rule_verdict *v, enum rule_id id)
{
	return v->says[id] > 0 ? v->says[id] : rule_descs[id].error;
}

void rules_assumption_text(struct buf *out)
{
	buf_adds(out, ", if nothing changed since Linux ");
	release_text(xlat_release, out);
}

void rules_judge(const struct rule_ask *ask, struct rule_verdict *v)
{
	struct rule_input in = input_of(ask);
	uint32_t release = in.machine->release;

	*v = (struct rule_verdict){ .rule = NULL };
	for (size_t i = 0; i < RULE_COUNT; i++) {
		const struct rule_desc *d = &rule_descs[i];

		if (rule_in_release(d->since, release) &&
		    (!d->until || (release && release < d->until)))
			v->says[i] = predicates[d->id] ? predicates[d->id](&in) : RULE_UNFORESEEN;
		v->assumed[i] = v->says[i] == RULE_ASSUMED;
		if (v->assumed[i])
			v->says[i] = RULE_REFUSES;
		if (v->rule || (v->says[i] <= 0 && v->says[i] != RULE_REFUSES))
			continue;
		v->rule = d;
		v->error = rules_error(v, (enum rule_id)i);
		/* the other rules require the attr, which the kernel could not read */
		if (i <= RULE_ATTR_FAULT)
			break;
	}
}

uint64_t rules_unknown_bits(const struct arch *arch, const struct field *f, uint64_t v)
{
	uint64_t rest = v;
	size_t at = 0;

	if (f->kind == FIELD_REGS && arch && arch->regs) {
		while (xlat_next_flag(arch->regs, &rest, &at))
			;
		return rest | (v & arch->regs_refused);
	}
	for (size_t i = 0; f->kind == FIELD_FLAGS && i < f->xlat->n; i++)
		if (!(f->xlat->entries[i].traits & XLAT_NONABI))
			rest &= ~f->xlat->entries[i].mask;
	return f->kind == FIELD_FLAGS ? rest : 0;
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

const struct rule_desc *rules_cause(const struct rule_verdict *v, int error, bool *sure)
{
	*sure = v->error == error;
	return *sure ? v->rule : rules_explain(v, error);
}
