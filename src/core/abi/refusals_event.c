// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks of ioctls, reads and other calls on the descriptor of an event. */
#include "core/abi/bpf.h"
#include "core/abi/refusals_internal.h"

enum {
	ARG = 2,		/* the argument of an ioctl or fcntl */
	QUERY_IDS = 64,		/* limit of ids_len */
};

static uint64_t ioctl_arg(const struct refusal_facts *in)
{
	return call_word(in->call, ARG);
}

/* Return the integer of that width that the argument points to, if it was captured. */
static bool pointed_to(const struct refusal_facts *in, unsigned int width, uint64_t *v)
{
	size_t len;
	const uint8_t *p = call_bytes(in->call, AT_SYSCALL_ENTER, ioctl_arg(in), width, &len);

	if (!p || len < width)
		return false;
	*v = load_uint(p, width);
	return true;
}

/* Refuse on a condition about the event's attr. */
static int of_event(const struct refusal_facts *in, bool condition)
{
	return !in->event.attr ? RULE_UNKNOWN : refuses_if(condition);
}

static bool event_is(const struct refusal_facts *in, uint64_t type)
{
	return used_get(&in->event, ATTR_TYPE) == type;
}

/* Return whether perf_event_open made it a software clock, whose freq it replaces by a period. */
static bool event_is_clock(const struct used_event *e)
{
	uint64_t config = used_get(e, ATTR_CONFIG);

	return used_get(e, ATTR_TYPE) == PERF_TYPE_SOFTWARE &&
	       (config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK);
}

static const struct rule_pmu *event_pmu(const struct refusal_facts *in, const struct used_event *e)
{
	return e->attr ? rules_pmu(in->machine, e->attr, e->len) : NULL;
}

static bool event_is_pmu(const struct refusal_facts *in, const char *name)
{
	const struct rule_pmu *p = event_pmu(in, &in->event);

	return p && !strcmp(p->name, name);
}

static bool used_is_probe(const struct refusal_facts *in)
{
	return event_is_pmu(in, "kprobe") || event_is_pmu(in, "uprobe");
}

/* Return whether it is a tracepoint or a probe. */
static bool event_traces(const struct refusal_facts *in)
{
	return event_is(in, PERF_TYPE_TRACEPOINT) || used_is_probe(in);
}

/* Refuse what a PMU may support if none does that is described in full. */
static int unless_own_checks(const struct refusal_facts *in, const struct used_event *e, int says)
{
	const struct rule_pmu *p = event_pmu(in, e);

	return p && p->desc && !(p->desc->traits & PMU_TRAIT_OWN_CHECKS) ? says : RULE_UNKNOWN;
}

/* All requests -------------------------------------------------------------------------- */

REFUSES(ioctl_closed, in->event.event == FACT_YES ? RULE_PASSES : RULE_UNKNOWN)
REFUSES(ioctl_security, in->machine->security == FACT_NO ? RULE_PASSES : RULE_UNKNOWN)

int refusal_ioctl_memory(const struct refusal_facts *in)
{
	const struct ioctl_desc *d = ioctl_of(in->call);
	uint64_t v;
	size_t len;

	if (!d || d->dir == IOCTL_VALUE)
		return RULE_PASSES;
	if (d->request == PERF_EVENT_IOC_SET_FILTER)
		return refuses_if(!call_bytes(in->call, AT_SYSCALL_ENTER, ioctl_arg(in), 1, &len));
	if (d->request == PERF_EVENT_IOC_PERIOD)
		return refuses_if(!pointed_to(in, 8, &v));
	return RULE_UNKNOWN;
}

REFUSES(ioctl_unknown,
	refuses_if(in->event.event != FACT_YES || !ioctl_of(in->call) ||
		   !rule_in_release(ioctl_of(in->call)->since, in->machine->release)))

/* REFRESH, PERIOD, PAUSE_OUTPUT --------------------------------------------------------- */

REFUSES(refresh_inherit, of_event(in, used_get(&in->event, ATTR_INHERIT)))
REFUSES(refresh_sampling, of_event(in, !used_get(&in->event, ATTR_SAMPLE_PERIOD)))
REFUSES(period_sampling, of_event(in, !used_get(&in->event, ATTR_SAMPLE_PERIOD)))

int refusal_period_zero(const struct refusal_facts *in)
{
	uint64_t v;

	return refuses_if(pointed_to(in, 8, &v) && !v);
}

static bool has_freq(const struct refusal_facts *in)
{
	return used_get(&in->event, ATTR_FREQ) && !event_is_clock(&in->event);
}

int refusal_period_freq(const struct refusal_facts *in)
{
	const struct rule_machine *m = in->machine;
	uint64_t v;

	if (!in->event.attr || !pointed_to(in, 8, &v))
		return in->event.attr ? RULE_PASSES : RULE_UNKNOWN;
	return refuses_where(has_freq(in), v && m->unread & UNREAD_SAMPLE_RATE ? FACT_UNKNOWN :
			     fact_of(v > m->max_sample_rate));
}

int refusal_period_sign(const struct refusal_facts *in)
{
	uint64_t v;

	return refuses_if(pointed_to(in, 8, &v) && v >> 63 && !has_freq(in));
}

REFUSES(period_pmu, unless_own_checks(in, &in->event, RULE_PASSES))
REFUSES(pause_ring,
	in->event.ring == FACT_YES ? refuses_if(!in->event.pages) : refuses_unless(in->event.ring))

/* SET_OUTPUT ---------------------------------------------------------------------------- */

/* Return whether another event is named, in place of -1 as a long. */
static bool names_other(const struct refusal_facts *in)
{
	return in->call->arch->word == 4 || ~ioctl_arg(in);
}

/* Refuse on a difference of the two events. */
static int of_both(const struct refusal_facts *in, bool differ)
{
	if (!names_other(in))
		return RULE_PASSES;
	return in->event.attr && in->other.attr ? refuses_if(differ) : RULE_UNKNOWN;
}

static bool members_differ(const struct refusal_facts *in, unsigned int index)
{
	return used_get(&in->event, index) != used_get(&in->other, index);
}

REFUSES(output_closed, names_other(in) ? refuses_unless(in->other.event) : RULE_PASSES)
REFUSES(output_self, refuses_where(names_other(in), in->same_event))
REFUSES(output_other_cpu, of_both(in, in->event.cpu != in->other.cpu))

int refusal_output_other_task(const struct refusal_facts *in)
{
	int says = of_both(in, in->other.cpu == -1);

	if (says != RULE_REFUSES)
		return says;
	/* before 6.2 events of different kinds had contexts of their own */
	if (in->same_task == FACT_YES && members_differ(in, ATTR_TYPE) &&
	    !rule_in_release(KVER(6, 2, 0), in->machine->release))
		return RULE_UNKNOWN;
	return refuses_unless(in->same_task);
}

REFUSES(output_other_clock,
	of_both(in, members_differ(in, ATTR_USE_CLOCKID) || members_differ(in, ATTR_CLOCKID)))
REFUSES(output_other_way, of_both(in, members_differ(in, ATTR_WRITE_BACKWARD)))

int refusal_output_other_aux(const struct refusal_facts *in)
{
	if (!names_other(in) || !in->event.attr || !in->other.attr ||
	    !members_differ(in, ATTR_TYPE))
		return RULE_PASSES;
	return unless_own_checks(in, &in->event, RULE_PASSES) == RULE_PASSES ? RULE_PASSES :
	       unless_own_checks(in, &in->other, RULE_PASSES);
}

REFUSES(output_mapped, refuses_where(true, in->event.mapped))
REFUSES(output_no_ring, names_other(in) ? refuses_unless(in->other.ring) : RULE_PASSES)

/* SET_FILTER, SET_BPF, BPF_LINK_CREATE -------------------------------------------------- */

int refusal_filter_length(const struct refusal_facts *in)
{
	size_t len = 0, page = in->machine->page_size;
	const uint8_t *p = call_bytes(in->call, AT_SYSCALL_ENTER, ioctl_arg(in), page, &len);

	return refuses_if(p && len == page && !memchr(p, '\0', page));
}

REFUSES(filter_event,
	!in->event.attr ? RULE_UNKNOWN : event_traces(in) ? RULE_PASSES :
	unless_own_checks(in, &in->event, RULE_REFUSES))
REFUSES(filter_again,
	refuses_where(event_traces(in), in->event.filter))
REFUSES(filter_text, of_event(in, false) == RULE_PASSES && !event_traces(in) ? RULE_PASSES :
	RULE_UNKNOWN)
REFUSES(filter_task, in->event.attr && event_traces(in) ? RULE_PASSES : RULE_UNKNOWN)

REFUSES(program_closed, in->program == FACT_YES ? RULE_PASSES : RULE_UNKNOWN)
REFUSES(program_none, in->program == FACT_YES ? RULE_PASSES : RULE_UNKNOWN)

int refusal_program_event(const struct refusal_facts *in)
{
	const struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = in->event.attr, .len = in->event.len,
	};

	if (!in->event.attr)
		return RULE_UNKNOWN;
	for (const struct taker_desc *t = taker_descs; t->meaning; t++)
		if (t->request == PERF_EVENT_IOC_SET_BPF && cond_holds(&w, &t->events) &&
		    !rule_in_release(t->since, in->machine->release))
			return RULE_REFUSES;
	return RULE_PASSES;
}

/* Return the type of program that the event accepts. */
static uint32_t program_wanted(const struct refusal_facts *in)
{
	return used_is_probe(in) ? ABI_BPF_PROG_TYPE_KPROBE :
	       event_is(in, PERF_TYPE_TRACEPOINT) ? ABI_BPF_PROG_TYPE_TRACEPOINT :
	       ABI_BPF_PROG_TYPE_PERF_EVENT;
}

int refusal_program_type(const struct refusal_facts *in)
{
	if (!in->event.attr || in->program != FACT_YES)
		return RULE_UNKNOWN;
	if (in->program_type == program_wanted(in))
		return RULE_PASSES;
	/* probes that were made by tracefs are tracepoints, too */
	return event_is(in, PERF_TYPE_TRACEPOINT) && in->program_type == ABI_BPF_PROG_TYPE_KPROBE ?
	       RULE_UNKNOWN : RULE_REFUSES;
}

/* Of tracepoints and probes the type is checked before, of others after that. */
int refusal_program_again(const struct refusal_facts *in)
{
	int type = refusal_program_type(in);

	if (in->event.attr && event_traces(in) && type != RULE_PASSES)
		return in->event.program == FACT_NO || type == RULE_REFUSES ? RULE_PASSES :
		       RULE_UNKNOWN;
	return refuses_where(true, in->event.program);
}

static int program_may(const struct refusal_facts *in, bool may)
{
	return in->event.attr && !may ? RULE_PASSES : RULE_UNKNOWN;
}

REFUSES(program_flavour, program_may(in, used_is_probe(in)))
REFUSES(program_context, program_may(in, event_is(in, PERF_TYPE_TRACEPOINT)))
REFUSES(program_stack, program_may(in, used_get(&in->event, ATTR_PRECISE_IP)))
REFUSES(program_same, program_may(in, event_traces(in)))
REFUSES(link_again, refusal_program_again(in))
REFUSES(link_type, refusal_program_type(in))

/* QUERY_BPF, MODIFY_ATTRIBUTES ---------------------------------------------------------- */

REFUSES(query_rights,
	refuses_where(true, rule_caps_lack(in->machine, ABI_CAP_PERFMON, ABI_CAP_SYS_ADMIN)))
REFUSES(query_event, of_event(in, !event_is(in, PERF_TYPE_TRACEPOINT)))

int refusal_query_many(const struct refusal_facts *in)
{
	uint64_t v;

	return refuses_if(pointed_to(in, 4, &v) && v > QUERY_IDS);
}

static const uint8_t *new_attr(const struct refusal_facts *in, size_t *len)
{
	return call_bytes(in->call, AT_SYSCALL_ENTER, ioctl_arg(in), in->machine->page_size, len);
}

/* Judge the attr as perf_event_open does when it copies it. */
static int of_new_attr(const struct refusal_facts *in, int error)
{
	const struct rule_facts facts = { .machine = *in->machine };
	struct rule_ask ask = { .cpu = -1, .group_fd = -1, .facts = &facts };
	struct rule_verdict v;

	ask.attr = new_attr(in, &ask.len);
	if (!ask.attr)
		return RULE_PASSES;
	rules_judge(&ask, &v);
	return refuses_if(v.rule && v.rule->id < RULE_SECURITY_OPEN && v.error == error);
}

REFUSES(modify_size, of_new_attr(in, refusal_descs[REFUSAL_MODIFY_SIZE].error))
REFUSES(modify_attr, of_new_attr(in, refusal_descs[REFUSAL_MODIFY_ATTR].error))

int refusal_modify_type(const struct refusal_facts *in)
{
	size_t len;
	const uint8_t *attr = new_attr(in, &len);

	if (!attr || !in->event.attr)
		return RULE_UNKNOWN;
	return refuses_if(!event_is(in, layout_get(&layout_perf_event_attr, ATTR_TYPE, attr, len)) ||
			  (event_is_clock(&in->event) &&
			   rule_in_release(KVER(6, 5, 0), in->machine->release)));
}

REFUSES(modify_event, of_event(in, !event_is(in, PERF_TYPE_BREAKPOINT)))

/* Which breakpoints the processor has is checked here, too. */
int refusal_modify_members(const struct refusal_facts *in)
{
	const struct layout *l = &layout_perf_event_attr;
	size_t len;
	const uint8_t *attr = new_attr(in, &len);

	for (unsigned int i = 0; attr && in->event.attr && i < l->n; i++) {
		uint16_t at = l->fields[i].offset;

		if (at != l->fields[ATTR_BP_ADDR].offset && at != l->fields[ATTR_BP_LEN].offset &&
		    i != ATTR_BP_TYPE && i != ATTR_DISABLED && i != ATTR_SIG_DATA &&
		    used_get(&in->event, i) != layout_get(l, i, attr, len))
			return RULE_REFUSES;
	}
	return RULE_UNKNOWN;
}

/* read and others ----------------------------------------------------------------------- */

int refusal_read_memory(const struct refusal_facts *in)
{
	uint64_t at = call_word(in->call, 1), end = in->machine->user_end;

	return end && in->call->desc->id == CALL_READ && at > end ? RULE_REFUSES : RULE_UNKNOWN;
}

REFUSES(read_security, in->machine->security == FACT_NO ? RULE_PASSES : RULE_UNKNOWN)

static uint64_t read_required(const struct refusal_facts *in)
{
	return rules_read_size(used_get(&in->event, ATTR_READ_FORMAT), in->event.siblings + 1);
}

REFUSES(read_space,
	in->call->desc->id != CALL_READ ? RULE_UNKNOWN :
	of_event(in, call_word(in->call, 2) < read_required(in)))
REFUSES(pread_position, refuses_unless(in->event.event == FACT_YES ? FACT_NO : FACT_UNKNOWN))

int refusal_epoll_memory(const struct refusal_facts *in)
{
	size_t len;

	return refuses_if(call_int(in->call, 1) != ABI_EPOLL_CTL_DEL &&
			  !call_bytes(in->call, AT_SYSCALL_ENTER, call_word(in->call, 3), 4, &len));
}

REFUSES(epoll_again, refuses_where(call_int(in->call, 1) == ABI_EPOLL_CTL_ADD, in->watched))
REFUSES(epoll_missing,
	call_int(in->call, 1) == ABI_EPOLL_CTL_ADD ? RULE_PASSES : refuses_unless(in->watched))

static bool command_is(const struct refusal_facts *in, int command)
{
	return call_int(in->call, 1) == command;
}

/* The kernel has signals up to 64. */
REFUSES(fcntl_signal, refuses_if(command_is(in, ABI_F_SETSIG) && ioctl_arg(in) > 64))
REFUSES(fcntl_owner,
	command_is(in, ABI_F_SETOWN) || command_is(in, ABI_F_SETOWN_EX) ? RULE_UNKNOWN : RULE_PASSES)
REFUSES(fcntl_owner_kind, refusal_fcntl_owner(in))
REFUSES(fcntl_number,
	command_is(in, ABI_F_DUPFD) || command_is(in, ABI_F_DUPFD_CLOEXEC) ? RULE_UNKNOWN :
	RULE_PASSES)
REFUSES(fcntl_unknown,
	refuses_if(!xlat_find(&xlat_fcntl_cmd, (uint32_t)in->call->args[1])))

/* Numbers ------------------------------------------------------------------------------- */

static void program_numbers(const struct refusal_facts *in, struct buf *out)
{
	const struct xlat *x = &xlat_bpf_prog_type;

	buf_addf(out, "the event requires %s", xlat_name(x, program_wanted(in)));
	if (xlat_name(x, in->program_type))
		buf_addf(out, ", this one is %s", xlat_name(x, in->program_type));
}

void refusal_numbers(const struct refusal_facts *in, const struct refusal_desc *d, struct buf *out)
{
	unsigned long long pages = refusal_map_pages(in);
	uint64_t v;

	switch (d->id) {
	case REFUSAL_MMAP_PAGES:
	case REFUSAL_MMAP_AUX_PAGES:
		refusal_numbers_pages(in, out);
		break;
	case REFUSAL_MMAP_SIZE:
		buf_addf(out, "it has 1+%llu pages, %llu were requested",
			 (unsigned long long)in->event.pages, pages);
		break;
	case REFUSAL_MMAP_AUX_OFFSET:
	case REFUSAL_MMAP_AUX_SIZE:
		refusal_numbers_aux(in, d->id == REFUSAL_MMAP_AUX_SIZE, out);
		break;
	case REFUSAL_MMAP_MEMLOCK:
		refusal_numbers_memlock(in, out);
		break;
	case REFUSAL_PERIOD_FREQ:
		if (pointed_to(in, 8, &v) && !(in->machine->unread & UNREAD_SAMPLE_RATE) &&
		    v > in->machine->max_sample_rate)
			buf_addf(out, "%llu, the limit is %llu", (unsigned long long)v,
				 (unsigned long long)in->machine->max_sample_rate);
		break;
	case REFUSAL_OUTPUT_OTHER_CPU:
		if (in->event.attr && in->other.attr)
			buf_addf(out, "%d and %d", in->event.cpu, in->other.cpu);
		break;
	case REFUSAL_PROGRAM_TYPE:
	case REFUSAL_LINK_TYPE:
		if (in->event.attr && in->program == FACT_YES)
			program_numbers(in, out);
		break;
	case REFUSAL_READ_SPACE:
		if (in->event.attr)
			buf_addf(out, "%llu bytes, and %llu are required; the count is not lost",
				 (unsigned long long)call_word(in->call, 2),
				 (unsigned long long)read_required(in));
		break;
	default:
		break;
	}
}
