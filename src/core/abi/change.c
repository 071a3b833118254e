// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/change.h"

#include <stdlib.h>
#include <string.h>

#include "core/abi/tables.h"
#include "core/lib/die.h"

/* Indexes of the call's arguments. */
enum { ARG_NR_ATTR, ARG_NR_PID, ARG_NR_CPU, ARG_NR_GROUP_FD, ARG_NR_FLAGS };

/* A user address that is aligned for every length. */
#define SOME_ADDRESS 0x1000

static const struct layout *const layout = &layout_perf_event_attr;

/* A call whose possible changes are listed. */
struct listing {
	const struct rule_ask *ask;
	const struct rule_machine *machine;
	const struct change_stock *stock;
	const struct rule_pmu *pmu;
	const struct field *field;	/* the current member */
	uint64_t value;			/* its value */
	struct change_list *out;
};

static uint64_t change_get(const struct listing *l, unsigned int index)
{
	return layout_get(layout, index, l->ask->attr, l->ask->len);
}

static void change_add(struct listing *l, const struct change *c)
{
	struct change_list *out = l->out;

	APPEND(out->list, out->n) = *c;
}

/* Add a change of the current member to another value. */
static void change_offer(struct listing *l, enum change_how how, uint64_t v, unsigned int distance)
{
	if (v != l->value)
		change_add(l, &(struct change){ .field = l->field, .value = v, .how = how,
					 .distance = distance });
}

static void offer_arg(struct listing *l, unsigned int arg, enum change_how how, uint64_t v,
		      unsigned int distance)
{
	change_add(l, &(struct change){ .arg = arg, .value = v, .how = how, .distance = distance });
}

static unsigned int change_distance(uint64_t a, uint64_t b)
{
	uint64_t d = a > b ? a - b : b - a;

	return d > 1000 ? 1000 : (unsigned int)d;
}

/* Kinds of members --------------------------------------------------------------- */

static bool known(const struct listing *l, const struct xlat_entry *e)
{
	return !(e->traits & XLAT_NONABI) &&
	       (!l->machine->release || xlat_since(e, l->machine->release) <= l->machine->release);
}

/* Return those of the bits that pass the rules as far as the current member does without them. */
static uint64_t passing_bits(const struct listing *l, uint64_t bits)
{
	struct change c = { .field = l->field };
	const struct change *const set[] = { &c };
	struct change_call call;
	struct rule_verdict v;
	unsigned int best = 0, id;

	for (int bit = -1; bit < 64; bit++) {
		uint64_t was = c.value, one = bit < 0 ? 0 : bits & 1ULL << bit;

		c.value |= one;
		change_make(&call, l->ask, set, 1);
		rules_judge(&call.ask, &v);
		id = v.rule ? v.rule->id : RULE_COUNT;
		if (id < best)
			c.value = was;
		else
			best = id;
	}
	return c.value;
}

static void flags(struct listing *l, const struct xlat *x)
{
	uint64_t all = 0;

	for (size_t i = 0; i < x->n; i++)
		if (known(l, &x->entries[i]))
			all |= x->entries[i].mask;
	change_offer(l, CHANGE_FIX, l->value & all, 0);
	if (l->value & ~all)
		change_offer(l, CHANGE_DROP, passing_bits(l, l->value & all), 0);
	/* without its unknown bits the mask may name no kind */
	if (x == &xlat_perf_branch_sample_type && l->value & ~all)
		change_offer(l, CHANGE_FIX, (l->value & all) | PERF_SAMPLE_BRANCH_ANY, 1);
	for (size_t i = 0; i < x->n; i++) {
		uint64_t bits = x->entries[i].mask;

		if (!known(l, &x->entries[i]) || x->entries[i].traits & XLAT_ALIAS)
			continue;
		if (l->value & bits)
			change_offer(l, CHANGE_DROP, l->value & ~bits, 0);
		else
			/* a flag with a member of its own is closer */
			change_offer(l, CHANGE_ADD, l->value | x->entries[i].value, 500);
	}
	change_offer(l, CHANGE_DROP, 0, 1);
}

static void enumeration(struct listing *l, const struct xlat *x, enum change_how how)
{
	for (size_t i = 0; i < x->n; i++) {
		uint64_t v = x->entries[i].value;

		if (!known(l, &x->entries[i]) || x->entries[i].traits & XLAT_ALIAS)
			continue;
		/* bp_type is a set of accesses, although its table is an enum */
		change_offer(l, how, v, l->field->xlat == &xlat_hw_breakpoint_type ?
			     (unsigned int)__builtin_popcountll(v ^ l->value) :
			     change_distance(v, l->value));
	}
}

/* List the limits of members that have one; the others may be zero. */
static void change_number(struct listing *l)
{
	const struct rule_machine *m = l->machine;

	switch (l->field - layout->fields) {
	case ATTR_SAMPLE_FREQ:
		if (l->value > m->max_sample_rate)
			change_offer(l, CHANGE_FIX, m->max_sample_rate, 0);
		break;
	case ATTR_SAMPLE_PERIOD:
		if (l->value >> 63)
			change_offer(l, CHANGE_FIX, INT64_MAX, 0);
		break;
	case ATTR_SAMPLE_MAX_STACK:
		if (l->value > m->max_stack)
			change_offer(l, CHANGE_FIX, m->max_stack, 0);
		break;
	case ATTR_SAMPLE_STACK_USER:
		change_offer(l, CHANGE_FIX, l->value > RULE_STACK_MAX ? RULE_STACK_MAX :
								  l->value & ~7ULL, 0);
		break;
	}
	if (l->value)
		change_offer(l, l->field->kind == FIELD_RESERVED ? CHANGE_FIX : CHANGE_DROP, 0, 0);
}

static void registers(struct listing *l)
{
	const struct arch *a = l->machine->arch;
	uint64_t named = l->value & ~rules_unknown_bits(a, l->field, l->value), all = 0;
	const struct xlat_entry *e;

	if (!a->regs)
		return;
	change_offer(l, CHANGE_FIX, named, 0);
	change_offer(l, CHANGE_FIX, l->value & ~a->regs_extended, 0);
	change_offer(l, CHANGE_FIX, named & ~a->regs_extended, 1);
	for (size_t i = 0; i < a->regs->n; i++) {
		e = &a->regs->entries[i];
		if (known(l, e) && e->value < 64)
			all |= 1ULL << e->value;
	}
	change_offer(l, CHANGE_FIX, all & ~a->regs_refused & ~a->regs_extended, 2);
}

/* List other events of the same PMU. */
static void config(struct listing *l)
{
	const struct rule_pmu *p = l->pmu;

	switch (change_get(l, ATTR_TYPE)) {
	case PERF_TYPE_SOFTWARE:
		enumeration(l, &xlat_perf_sw_ids, CHANGE_EVENT);
		return;
	case PERF_TYPE_TRACEPOINT:
		if (l->stock->tracepoint)
			change_offer(l, CHANGE_EVENT, l->stock->tracepoint, 0);
		return;
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		change_offer(l, CHANGE_FIX, (uint32_t)l->value, 0);
		break;
	}
	if (p && !strcmp(p->name, "uprobe"))
		change_offer(l, CHANGE_FIX, l->value & ~(1ULL << 32), 0);
	if (p && !strcmp(p->name, "task_clock"))
		change_offer(l, CHANGE_EVENT, PERF_COUNT_SW_TASK_CLOCK, 0);
	for (size_t i = 0; p && i < p->nconfigs; i++)
		change_offer(l, CHANGE_EVENT, p->configs[i],
			     change_distance(p->configs[i], l->value));
	if (l->value && !(p && p->nconfigs))
		change_offer(l, CHANGE_EVENT, 0, 1);
}

/* List published sizes. */
static void size(struct listing *l)
{
	const struct xlat *x = l->field->xlat;
	/* the kernel's, the one that can be read, and the next */
	uint64_t sizes[] = {
		l->machine->attr_size ?: rules_attr_size(l->machine->release), 0, 0,
	};

	for (size_t i = 0; i < x->n; i++) {
		uint64_t v = x->entries[i].value;

		if (v <= l->ask->len && v < l->value)
			sizes[1] = v;
		if (v > l->value && !sizes[2])
			sizes[2] = v;
	}
	for (size_t i = 0; i < 3; i++)
		if (sizes[i] && (!i || sizes[i] != sizes[0]))
			change_offer(l, CHANGE_FIX, sizes[i], change_distance(sizes[i], l->value));
}

static void change_member(struct listing *l)
{
	uint64_t len;

	switch (l->field->kind) {
	case FIELD_BOOL:
		/* the kernel does not refuse an event for being disabled */
		if (l->field - layout->fields != ATTR_DISABLED)
			change_offer(l, l->value ? CHANGE_DROP : CHANGE_ADD, !l->value, 0);
		break;
	case FIELD_FLAGS:
		flags(l, l->field->xlat);
		break;
	case FIELD_ENUM:
		enumeration(l, l->field->xlat, CHANGE_FIX);
		break;
	case FIELD_WORDS:
		for (uint64_t v = l->value; v--;)
			change_offer(l, CHANGE_FIX, v, change_distance(v, l->value));
		break;
	case FIELD_REGS:
		registers(l);
		break;
	case FIELD_ADDR:
		if (l->field - layout->fields != ATTR_BP_ADDR)
			break;
		/* for a breakpoint: nearby, or at least in the program */
		len = change_get(l, ATTR_BP_LEN);
		if (len && !(len & (len - 1)))
			change_offer(l, CHANGE_FIX, l->value & ~(len - 1), 0);
		change_offer(l, CHANGE_EVENT, SOME_ADDRESS, 1);
		break;
	case FIELD_STRING:
		if (l->field - layout->fields == ATTR_UPROBE_PATH && l->stock->path)
			change_add(l, &(struct change){
				.field = l->field, .value = (uintptr_t)l->stock->path,
				.string = l->stock->path, .how = CHANGE_EVENT,
			});
		break;
	case FIELD_CONFIG:
		config(l);
		break;
	case FIELD_PMU:
		change_offer(l, CHANGE_KIND, PERF_TYPE_SOFTWARE, 0);
		break;
	case FIELD_SIZE:
		size(l);
		break;
	default:
		change_number(l);
		break;
	}
}

/* Arguments ------------------------------------------------------------------------ */

static void change_arguments(struct listing *l)
{
	const struct rule_ask *a = l->ask;
	const struct rule_group *g = &a->facts->target.group;
	bool task = !(a->flags & PERF_FLAG_PID_CGROUP);

	if (a->pid && task)
		offer_arg(l, ARG_NR_PID, CHANGE_TARGET, 0, 0);
	if (a->group_fd != -1 && g->attr && g->cpu != a->cpu)
		offer_arg(l, ARG_NR_CPU, CHANGE_FIX, (uint32_t)g->cpu, 0);
	if (a->cpu != -1)
		offer_arg(l, ARG_NR_CPU, CHANGE_TARGET, UINT32_MAX, 0);
	if (a->cpu)
		/* a cgroup is measured by an event for each CPU */
		offer_arg(l, ARG_NR_CPU, task || a->cpu != -1 ? CHANGE_TARGET : CHANGE_FIX, 0, 1);
	if (a->group_fd != -1)
		offer_arg(l, ARG_NR_GROUP_FD, CHANGE_DROP, UINT32_MAX, 0);
	for (unsigned int bit = 0; bit < 64; bit++) {
		uint64_t flag = a->flags & 1ULL << bit;

		if (flag == PERF_FLAG_PID_CGROUP) /* the caller is measured then */
			offer_arg(l, ARG_NR_FLAGS, CHANGE_TARGET, a->flags & ~flag, 2);
		else if (flag)
			offer_arg(l, ARG_NR_FLAGS, xlat_find(&xlat_perf_event_open_flags, flag) ?
				  CHANGE_DROP : CHANGE_FIX, a->flags & ~flag, 0);
	}
	l->value = 0;
	for (size_t i = 0; i < xlat_perf_event_open_flags.n; i++)
		l->value |= xlat_perf_event_open_flags.entries[i].mask;
	if (a->flags & ~l->value)
		offer_arg(l, ARG_NR_FLAGS, CHANGE_FIX, a->flags & l->value, 1);
}

void change_list(const struct rule_ask *ask, const struct names *names,
		 const struct change_stock *stock, struct change_list *out)
{
	struct listing l = {
		.ask = ask, .machine = &ask->facts->machine, .stock = stock, .out = out,
		.pmu = rules_pmu(&ask->facts->machine, ask->attr, ask->len),
	};
	struct walk w = {
		.layout = layout, .bytes = ask->attr, .len = ask->len, .names = names,
	};
	const struct rule_group *g = &ask->facts->target.group;
	uint8_t first[PERF_ATTR_SIZE_VER0] = { 0 };
	size_t at = 0;
	uint64_t want;

	*out = (struct change_list){ .n = 0 };
	/* another size makes room for the members that every kernel has */
	if (ask->attr && ask->len >= 8 && ask->len < sizeof(first)) {
		memcpy(first, ask->attr, ask->len);
		w.bytes = first;
		w.len = sizeof(first);
	}
	while (ask->attr && (l.field = layout_next(&w, &at))) {
		/* a member that is not fully readable cannot be set */
		if ((size_t)l.field->offset + l.field->width > w.len)
			continue;
		l.value = field_get(l.field, ask->attr, ask->len);
		/* members that share their value with those of the group leader */
		if (ask->group_fd != -1 && g->attr &&
		    (l.field->kind == FIELD_ENUM || l.field->kind == FIELD_UINT))
			change_offer(&l, CHANGE_FIX, field_get(l.field, g->attr, g->len), 0);
		change_member(&l);
	}
	/* an attr that is not readable up to its size */
	want = change_get(&l, ATTR_SIZE);
	if (ask->len < 8 || (ask->len < want && want <= CHANGE_ATTR_MAX))
		offer_arg(&l, ARG_NR_ATTR, CHANGE_FIX, 1, 0);
	change_arguments(&l);
}

void change_list_free(struct change_list *l)
{
	free(l->list);
}

/* Making them ------------------------------------------------------------------------ */

const char *change_name(const struct change *c)
{
	return c->field ? c->field->name : call_by_name("perf_event_open")->args[c->arg].name;
}

bool change_same_place(const struct change *a, const struct change *b)
{
	return a->field == b->field && a->arg == b->arg;
}

static void change_begin(struct change_call *to, const struct rule_ask *from)
{
	memset(to->attr, 0, sizeof(to->attr));
	to->ask = *from;
	if (!from->attr)
		return;
	if (to->ask.len > sizeof(to->attr))
		to->ask.len = sizeof(to->attr);
	memcpy(to->attr, from->attr, to->ask.len);
	to->ask.attr = to->attr;
}

static void change_put(struct change_call *to, unsigned int index, uint64_t v)
{
	field_set(&layout->fields[index], v, to->attr);
}

/* Extend the attr with zeros. */
static void put_size(struct change_call *to, uint64_t v)
{
	if (v > sizeof(to->attr))
		return;
	change_put(to, ATTR_SIZE, v);
	if (v > to->ask.len)
		memset(to->attr + to->ask.len, 0, v - to->ask.len);
	to->ask.len = v;
}

static void apply_arg(struct change_call *to, const struct change *c)
{
	struct change_call simple;

	switch (c->arg) {
	case ARG_NR_ATTR:
		/* unreadable bytes are zero, or the event is the simplest */
		if (to->ask.len >= 8) {
			put_size(to, layout_get(layout, ATTR_SIZE, to->ask.attr, to->ask.len));
			break;
		}
		change_simplest(&simple, to->ask.facts);
		memcpy(to->attr, simple.attr, sizeof(to->attr));
		to->ask.attr = to->attr;
		to->ask.len = simple.ask.len;
		break;
	case ARG_NR_PID:
		to->ask.pid = (int32_t)c->value;
		break;
	case ARG_NR_CPU:
		to->ask.cpu = (int32_t)c->value;
		break;
	case ARG_NR_GROUP_FD:
		to->ask.group_fd = (int32_t)c->value;
		break;
	case ARG_NR_FLAGS:
		/* without the flag, a cgroup descriptor would be taken for a pid */
		if (to->ask.flags & ~c->value & PERF_FLAG_PID_CGROUP && to->ask.pid > 0)
			to->ask.pid = 0;
		to->ask.flags = c->value;
		break;
	}
}

void change_make(struct change_call *to, const struct rule_ask *from,
		 const struct change *const *set, size_t n)
{
	change_begin(to, from);
	for (size_t i = 0; i < n; i++) /* members may lie behind the former size */
		if (set[i]->field && set[i]->field->kind == FIELD_SIZE)
			put_size(to, set[i]->value);
	for (size_t i = 0; i < n; i++) {
		const struct field *f = set[i]->field;

		if (!f) {
			apply_arg(to, set[i]);
		} else if (f->kind == FIELD_PMU) {
			/* the attr of the first software event */
			change_put(to, ATTR_TYPE, set[i]->value);
			change_put(to, ATTR_BP_TYPE, 0);
			for (size_t k = 0; k < ATTR_CONFIGS; k++)
				change_put(to, attr_configs[k], 0);
		} else if (f->kind != FIELD_SIZE && (size_t)f->offset + f->width <= to->ask.len) {
			field_set(f, set[i]->value, to->attr);
		}
	}
}

void change_simplest(struct change_call *to, const struct rule_facts *facts)
{
	memset(to, 0, sizeof(*to));
	to->ask = (struct rule_ask){
		.attr = to->attr, .len = PERF_ATTR_SIZE_VER0, .cpu = -1, .group_fd = -1,
		.facts = facts,
	};
	change_put(to, ATTR_TYPE, PERF_TYPE_SOFTWARE);
	change_put(to, ATTR_SIZE, PERF_ATTR_SIZE_VER0);
	change_put(to, ATTR_CONFIG, PERF_COUNT_SW_CPU_CLOCK);
	change_put(to, ATTR_DISABLED, 1);
	change_put(to, ATTR_EXCLUDE_KERNEL, 1);
	change_put(to, ATTR_EXCLUDE_HV, 1);
}
