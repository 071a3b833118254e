// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks of ioctls, reads and other calls on the descriptor of an event. */
#include "core/abi/bpf.h"
#include "core/abi/refusals_internal.h"

enum { QUERY_IDS = 64, SIGNALS = 64 };	/* limits of ids_len, and of the number of a signal */

/* Refuse on a condition about the event's attr. */
static int of_event(const struct refusal_input *in, bool condition)
{
	return !in->event->attr ? RULE_UNKNOWN : refuses_if(condition);
}

static bool used_is_type(const struct refusal_input *in, uint64_t type)
{
	return used_get(in->event, ATTR_TYPE) == type;
}

/* Return whether it is a software clock, whose freq perf_event_open replaces by a period. */
static bool used_is_clock(const struct used_event *e)
{
	uint64_t config = used_get(e, ATTR_CONFIG);

	return used_get(e, ATTR_TYPE) == PERF_TYPE_SOFTWARE &&
	       (config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK);
}

static bool used_is_probe(const struct rule_machine *m, const struct used_event *e)
{
	const struct rule_pmu *p = e->attr ? rules_pmu(m, e->attr, e->len) : NULL;

	return p && (!strcmp(p->name, "kprobe") || !strcmp(p->name, "uprobe"));
}

/* Return whether it is a tracepoint or a probe. */
static bool used_traces(const struct refusal_input *in)
{
	return used_is_type(in, PERF_TYPE_TRACEPOINT) || used_is_probe(in->machine, in->event);
}

int unless_own_checks(const struct refusal_input *in, const struct used_event *e, int says)
{
	const struct rule_pmu *p = e->attr ? rules_pmu(in->machine, e->attr, e->len) : NULL;

	return p && p->desc && !(p->desc->traits & PMU_TRAIT_OWN_CHECKS) ? says : RULE_UNKNOWN;
}

/* ioctls ------------------------------------------------------------------------------ */

REFUSES(ioctl_closed, in->event->event == FACT_YES ? RULE_PASSES : RULE_UNKNOWN)
REFUSES(ioctl_security, unless_security(in))

int refusal_ioctl_memory(const struct refusal_input *in)
{
	const struct ioctl_desc *d = ioctl_of(in->call);
	size_t len;

	return !d || d->dir == IOCTL_VALUE ? RULE_PASSES :
	       d->request == PERF_EVENT_IOC_PERIOD ? refuses_if(!in->captured) :
	       d->request == PERF_EVENT_IOC_SET_FILTER ?
	       refuses_if(!call_bytes(in->call, AT_SYSCALL_ENTER, in->arg, 1, &len)) : RULE_UNKNOWN;
}

REFUSES_IF(ioctl_unknown,
	   in->event->event != FACT_YES || !ioctl_of(in->call) ||
	   !rule_in_release(ioctl_of(in->call)->since, in->machine->release))
REFUSES(refresh_inherit, of_event(in, used_get(in->event, ATTR_INHERIT)))
REFUSES(refresh_sampling, of_event(in, !used_get(in->event, ATTR_SAMPLE_PERIOD)))
REFUSES(period_sampling, of_event(in, !used_get(in->event, ATTR_SAMPLE_PERIOD)))
REFUSES_IF(period_zero, in->captured && !in->pointed)

static bool used_has_freq(const struct refusal_input *in)
{
	return used_get(in->event, ATTR_FREQ) && !used_is_clock(in->event);
}

REFUSES(period_freq,
	!in->event->attr ? RULE_UNKNOWN : !used_has_freq(in) ? RULE_PASSES :
	in->machine->unread & UNREAD_SAMPLE_RATE ? RULE_UNKNOWN :
	refuses_if(in->pointed > in->machine->max_sample_rate))
REFUSES_IF(period_sign, in->pointed >> 63 && !used_has_freq(in))
REFUSES(period_pmu, unless_own_checks(in, in->event, RULE_PASSES))
REFUSES(pause_ring,
	in->event->ring == FACT_YES ? refuses_if(!in->event->pages) :
	refuses_unless(in->event->ring))

/* Return whether SET_OUTPUT names an event, in place of -1 as a long. */
static bool names_other(const struct refusal_input *in)
{
	return in->call->arch->word == 4 || ~in->arg;
}

/* Refuse on a difference of the two events. */
static int of_both(const struct refusal_input *in, bool differ)
{
	return !names_other(in) ? RULE_PASSES :
	       in->event->attr && in->facts->other.attr ? refuses_if(differ) : RULE_UNKNOWN;
}

static bool attrs_differ(const struct refusal_input *in, unsigned int index)
{
	return used_get(in->event, index) != used_get(&in->facts->other, index);
}

REFUSES(output_closed, names_other(in) ? refuses_unless(in->facts->other.event) : RULE_PASSES)
REFUSES(output_self, refuses_where(names_other(in), in->facts->same_event))
REFUSES(output_other_cpu, of_both(in, in->event->cpu != in->facts->other.cpu))

int refusal_output_other_task(const struct refusal_input *in)
{
	int says = of_both(in, in->facts->other.cpu == -1);

	/* before 6.2 events of different kinds had contexts of their own */
	return says != RULE_REFUSES ? says : in->facts->same_task == FACT_YES &&
	       attrs_differ(in, ATTR_TYPE) && !rule_in_release(KVER(6, 2, 0), in->machine->release) ?
	       RULE_UNKNOWN : refuses_unless(in->facts->same_task);
}

REFUSES(output_other_clock,
	of_both(in, attrs_differ(in, ATTR_USE_CLOCKID) || attrs_differ(in, ATTR_CLOCKID)))
REFUSES(output_other_way, of_both(in, attrs_differ(in, ATTR_WRITE_BACKWARD)))
REFUSES(output_other_aux,
	of_both(in, attrs_differ(in, ATTR_TYPE)) != RULE_REFUSES ||
	unless_own_checks(in, in->event, RULE_PASSES) == RULE_PASSES ? RULE_PASSES :
	unless_own_checks(in, &in->facts->other, RULE_PASSES))
REFUSES(output_mapped, refuses_where(true, in->event->mapped))
REFUSES(output_no_ring, names_other(in) ? refuses_unless(in->facts->other.ring) : RULE_PASSES)

int refusal_filter_length(const struct refusal_input *in)
{
	size_t len = 0;
	const uint8_t *p = call_bytes(in->call, AT_SYSCALL_ENTER, in->arg, in->page, &len);

	return refuses_if(p && len == in->page && !memchr(p, '\0', len));
}

REFUSES(filter_event,
	in->event->attr && used_traces(in) ? RULE_PASSES :
	unless_own_checks(in, in->event, RULE_REFUSES))
REFUSES(filter_again, refuses_where(used_traces(in), in->event->filter))
REFUSES(filter_text, in->event->attr && !used_traces(in) ? RULE_PASSES : RULE_UNKNOWN)
REFUSES(filter_task, in->event->attr && used_traces(in) ? RULE_PASSES : RULE_UNKNOWN)

/* Programs ---------------------------------------------------------------------------- */

REFUSES(program_closed, in->facts->program == FACT_YES ? RULE_PASSES : RULE_UNKNOWN)
REFUSES(program_none, in->facts->program == FACT_YES ? RULE_PASSES : RULE_UNKNOWN)

int refusal_program_event(const struct refusal_input *in)
{
	const struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = in->event->attr, .len = in->event->len,
	};

	for (const struct taker_desc *t = taker_descs; in->event->attr && t->meaning; t++)
		if (t->request == PERF_EVENT_IOC_SET_BPF && cond_holds(&w, &t->events) &&
		    !rule_in_release(t->since, in->machine->release))
			return RULE_REFUSES;
	return of_event(in, false);
}

uint32_t refusal_program_wanted(const struct refusal_facts *facts)
{
	return used_is_probe(facts->machine, &facts->event) ? ABI_BPF_PROG_TYPE_KPROBE :
	       used_get(&facts->event, ATTR_TYPE) == PERF_TYPE_TRACEPOINT ?
	       ABI_BPF_PROG_TYPE_TRACEPOINT : ABI_BPF_PROG_TYPE_PERF_EVENT;
}

int refusal_program_type(const struct refusal_input *in)
{
	uint32_t type = in->facts->program_type;

	if (!in->event->attr || in->facts->program != FACT_YES)
		return RULE_UNKNOWN;
	/* probes that were made by tracefs are tracepoints, too */
	return used_is_type(in, PERF_TYPE_TRACEPOINT) && type == ABI_BPF_PROG_TYPE_KPROBE ?
	       RULE_UNKNOWN : refuses_if(type != refusal_program_wanted(in->facts));
}

/* Of tracepoints and probes the type is checked before, of others after that. */
int refusal_program_again(const struct refusal_input *in)
{
	int type = in->event->attr && used_traces(in) ? refusal_program_type(in) : RULE_PASSES;

	return in->event->program == FACT_NO || type == RULE_REFUSES ? RULE_PASSES :
	       type == RULE_UNKNOWN ? type : refuses_where(true, in->event->program);
}

static int unknown_if(const struct refusal_input *in, bool may)
{
	return in->event->attr && !may ? RULE_PASSES : RULE_UNKNOWN;
}

REFUSES(program_flavour, unknown_if(in, used_is_probe(in->machine, in->event)))
REFUSES(program_context, unknown_if(in, used_is_type(in, PERF_TYPE_TRACEPOINT)))
REFUSES(program_stack, unknown_if(in, used_get(in->event, ATTR_PRECISE_IP)))
REFUSES(program_same, unknown_if(in, used_traces(in)))
REFUSES(link_again, refusal_program_again(in))
REFUSES(link_type, refusal_program_type(in))
REFUSES(query_rights,
	refuses_where(true, rule_caps_lack(in->machine, ABI_CAP_PERFMON, ABI_CAP_SYS_ADMIN)))
REFUSES(query_event, of_event(in, !used_is_type(in, PERF_TYPE_TRACEPOINT)))

int refusal_query_many(const struct refusal_input *in)
{
	size_t len = 0;
	const uint8_t *p = call_bytes(in->call, AT_SYSCALL_ENTER, in->arg, 4, &len);

	return refuses_if(p && len == 4 && load_uint(p, 4) > QUERY_IDS);
}

/* MODIFY_ATTRIBUTES ------------------------------------------------------------------- */

/* Judge the attr as perf_event_open does when it copies it. */
static int of_new_attr(const struct refusal_input *in, enum refusal_id id)
{
	const struct rule_facts facts = { .machine = *in->machine };
	struct rule_ask ask = { .cpu = -1, .group_fd = -1, .facts = &facts };
	struct rule_verdict v;

	ask.attr = call_bytes(in->call, AT_SYSCALL_ENTER, in->arg, in->page, &ask.len);
	if (!ask.attr)
		return RULE_PASSES;
	rules_judge(&ask, &v);
	return refuses_if(v.rule && v.rule->id < RULE_SECURITY_OPEN &&
			  v.error == refusal_descs[id].error);
}

REFUSES(modify_size, of_new_attr(in, REFUSAL_MODIFY_SIZE))
REFUSES(modify_attr, of_new_attr(in, REFUSAL_MODIFY_ATTR))

/* Return whether a member differs that the request does not change. */
static bool changes_others(const struct refusal_input *in, const uint8_t *attr, size_t len)
{
	const struct layout *l = &layout_perf_event_attr;

	for (unsigned int i = 0; i < l->n; i++)
		if (l->fields[i].offset != l->fields[ATTR_BP_ADDR].offset &&
		    l->fields[i].offset != l->fields[ATTR_BP_LEN].offset &&
		    i != ATTR_BP_TYPE && i != ATTR_DISABLED && i != ATTR_SIG_DATA &&
		    used_get(in->event, i) != layout_get(l, i, attr, len))
			return true;
	return false;
}

/* Refuse another type or value of a member; which breakpoints are possible is not known. */
static int of_old_attr(const struct refusal_input *in, bool type)
{
	size_t len = 0;
	const uint8_t *attr = call_bytes(in->call, AT_SYSCALL_ENTER, in->arg, in->page, &len);
	bool clock = used_is_clock(in->event) &&
		     rule_in_release(KVER(6, 5, 0), in->machine->release);

	if (!attr || !in->event->attr)
		return RULE_UNKNOWN;
	if (type)
		return refuses_if(clock || !used_is_type(in, layout_get(&layout_perf_event_attr,
								   ATTR_TYPE, attr, len)));
	return changes_others(in, attr, len) ? RULE_REFUSES : RULE_UNKNOWN;
}

REFUSES(modify_type, of_old_attr(in, true))
REFUSES(modify_event, of_event(in, !used_is_type(in, PERF_TYPE_BREAKPOINT)))
REFUSES(modify_members, of_old_attr(in, false))

/* read, epoll_ctl, fcntl -------------------------------------------------------------- */

uint64_t refusal_read_required(const struct refusal_facts *facts)
{
	return rules_read_size(used_get(&facts->event, ATTR_READ_FORMAT), facts->event.siblings + 1);
}

REFUSES(read_memory,
	in->machine->user_end && in->call->desc->id == CALL_READ &&
	call_word(in->call, 1) > in->machine->user_end ? RULE_REFUSES : RULE_UNKNOWN)
REFUSES(read_security, unless_security(in))
REFUSES(read_space,
	in->call->desc->id != CALL_READ ? RULE_UNKNOWN :
	of_event(in, in->arg < refusal_read_required(in->facts)))
REFUSES(pread_position, in->event->event == FACT_YES ? RULE_REFUSES : RULE_UNKNOWN)

static bool command_is(const struct refusal_input *in, int command)
{
	return call_int(in->call, 1) == command;
}

int refusal_epoll_memory(const struct refusal_input *in)
{
	size_t len;

	return refuses_if(!command_is(in, ABI_EPOLL_CTL_DEL) &&
			  !call_bytes(in->call, AT_SYSCALL_ENTER, call_word(in->call, 3), 4, &len));
}

REFUSES(epoll_again, refuses_where(command_is(in, ABI_EPOLL_CTL_ADD), in->facts->watched))
REFUSES(epoll_missing,
	command_is(in, ABI_EPOLL_CTL_ADD) ? RULE_PASSES : refuses_unless(in->facts->watched))
REFUSES_IF(fcntl_signal, command_is(in, ABI_F_SETSIG) && in->arg > SIGNALS)
REFUSES(fcntl_owner,
	command_is(in, ABI_F_SETOWN) || command_is(in, ABI_F_SETOWN_EX) ? RULE_UNKNOWN : RULE_PASSES)
REFUSES(fcntl_owner_kind, refusal_fcntl_owner(in))
REFUSES(fcntl_number,
	command_is(in, ABI_F_DUPFD) || command_is(in, ABI_F_DUPFD_CLOEXEC) ? RULE_UNKNOWN :
	RULE_PASSES)
REFUSES_IF(fcntl_unknown, !xlat_find(&xlat_fcntl_cmd, (uint32_t)in->call->args[1]))
