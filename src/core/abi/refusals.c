// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/bpf.h"
#include "core/abi/refusals_internal.h"

static refusal_fn *const predicates[REFUSAL_COUNT] = {
#define REFUSAL(id, name) [REFUSAL_##id] = refusal_##name,
#define REFUSAL_CHANCE(id, name)
#include "xlat/refusal_ids.h"
#undef REFUSAL
#undef REFUSAL_CHANCE
};

/* Return the call whose checks are those of a call. */
static const char *refusal_call(const struct call_desc *d)
{
	switch (d->id) {
	case CALL_MMAP2:
		return "mmap";
	case CALL_PKEY_MPROTECT:
		return "mprotect";
	case CALL_READV:
		return "read";
	default:
		return d->name;
	}
}

bool refusal_applies(const struct refusal_desc *d, const struct call *c)
{
	const struct ioctl_desc *ioctl = c->desc->id == CALL_IOCTL ? ioctl_of(c) : NULL;
	const char *request = c->desc->class == CLASS_BPF ?
			      xlat_name(&xlat_bpf_cmd, (uint32_t)c->args[0]) :
			      ioctl ? ioctl->name : NULL;

	return !strcmp(d->call, refusal_call(c->desc)) &&
	       (!d->request || (request && !strcmp(d->request, request)));
}

void refusals_judge(const struct refusal_facts *facts, struct refusal_verdict *v)
{
	uint32_t release = facts->machine->release;

	*v = (struct refusal_verdict){ .refusal = NULL };
	for (size_t i = 0; i < REFUSAL_COUNT; i++) {
		const struct refusal_desc *d = &refusal_descs[i];

		if (!refusal_applies(d, facts->call) || !rule_in_release(d->since, release) ||
		    (d->until && release >= d->until))
			continue;
		v->says[i] = predicates[i] ? predicates[i](facts) : RULE_UNFORESEEN;
		if (v->says[i] == RULE_REFUSES && !v->refusal)
			v->refusal = d;
	}
}

const struct refusal_desc *refusals_next(const struct refusal_verdict *v, int error,
					 const struct refusal_desc *after)
{
	for (size_t i = after ? after->id + 1 : 0; i < REFUSAL_COUNT; i++)
		if (refusal_descs[i].error == error && v->says[i] != RULE_PASSES &&
		    (!v->refusal || i <= v->refusal->id))
			return &refusal_descs[i];
	return NULL;
}

const struct refusal_desc *refusals_cause(const struct refusal_verdict *v, int error, bool *sure)
{
	const struct refusal_desc *first = refusals_next(v, error, NULL);

	*sure = v->refusal && v->refusal->error == error;
	if (*sure)
		return v->refusal;
	*sure = first && !refusals_next(v, error, first);
	return first;
}
