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

/* Return whether the check is one of the call's; some calls have the checks of another one. */
static bool check_applies(const struct refusal_desc *d, const struct call *c)
{
	enum call_id id = c->desc->id;
	const struct ioctl_desc *ioctl = id == CALL_IOCTL ? ioctl_of(c) : NULL;
	const char *request = ioctl ? ioctl->name : c->desc->class == CLASS_BPF ?
			      xlat_name(&xlat_bpf_cmd, (uint32_t)c->args[0]) : NULL;
	const char *of = id == CALL_MMAP2 ? "mmap" : id == CALL_PKEY_MPROTECT ? "mprotect" :
			 id == CALL_READV ? "read" : c->desc->name;

	return !strcmp(d->call, of) && (!d->request || (request && !strcmp(d->request, request)));
}

static struct refusal_input refusal_input_of(const struct refusal_facts *facts)
{
	const struct call *c = facts->call;
	struct refusal_input in = {
		.facts = facts, .call = c, .machine = facts->machine, .event = &facts->event,
		.page = facts->machine->page_size, .addr = call_word(c, 0), .arg = call_word(c, 2),
		.offset = call_word(c, 5) << (c->desc->id == CALL_MMAP2 ? c->arch->mmap2_shift : 0),
	};
	size_t len = 0;
	const uint8_t *p = call_bytes(c, AT_SYSCALL_ENTER, in.arg, 8, &len);

	in.len = round_up(call_word(c, 1), in.page);
	in.captured = p && len == 8;
	in.pointed = in.captured ? load_uint(p, 8) : 0;
	return in;
}

void refusals_judge(const struct refusal_facts *facts, struct refusal_verdict *v)
{
	struct refusal_input in = refusal_input_of(facts);

	*v = (struct refusal_verdict){ .refusal = NULL };
	for (size_t i = 0; i < REFUSAL_COUNT; i++) {
		const struct refusal_desc *d = &refusal_descs[i];

		if (!check_applies(d, facts->call) ||
		    !rule_in_release(d->since, in.machine->release) ||
		    (d->until && in.machine->release >= d->until))
			continue;
		v->says[i] = predicates[i] ? predicates[i](&in) : RULE_UNFORESEEN;
		if (v->says[i] == RULE_REFUSES && !v->refusal)
			v->refusal = d;
	}
}

/* Return the next check after `after` (NULL: the first) that may be behind the error, or NULL. */
static const struct refusal_desc *refusal_suspect(const struct refusal_verdict *v, int error,
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
	const struct refusal_desc *first = refusal_suspect(v, error, NULL);

	*sure = v->refusal && v->refusal->error == error;
	if (*sure)
		return v->refusal;
	*sure = first && !refusal_suspect(v, error, first);
	return first;
}

void refusal_numbers(const struct refusal_facts *facts, const struct refusal_desc *d,
		     struct buf *out)
{
	const struct xlat *types = &xlat_bpf_prog_type;
	struct refusal_input in = refusal_input_of(facts);
	bool both = facts->event.attr && facts->other.attr;

	switch (d->id) {
	case REFUSAL_PERIOD_FREQ:
		if (in.captured && in.pointed > in.machine->max_sample_rate &&
		    !(in.machine->unread & UNREAD_SAMPLE_RATE))
			buf_addf(out, "%llu, the limit is %llu", (unsigned long long)in.pointed,
				 (unsigned long long)in.machine->max_sample_rate);
		break;
	case REFUSAL_OUTPUT_OTHER_CPU:
		if (both)
			buf_addf(out, "%d and %d", facts->event.cpu, facts->other.cpu);
		break;
	case REFUSAL_PROGRAM_TYPE:
	case REFUSAL_LINK_TYPE:
		if (facts->event.attr && facts->program == FACT_YES &&
		    xlat_name(types, facts->program_type))
			buf_addf(out, "the event requires %s, this one is %s",
				 xlat_name(types, refusal_program_wanted(facts)),
				 xlat_name(types, facts->program_type));
		break;
	case REFUSAL_READ_SPACE:
		if (facts->event.attr)
			buf_addf(out, "%llu bytes, and %llu are required; the count is not lost",
				 (unsigned long long)in.arg,
				 (unsigned long long)refusal_read_required(facts));
		break;
	default:
		refusal_memory_numbers(&in, d->id, out);
		break;
	}
}
