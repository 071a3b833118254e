/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that differ a little from one that opens, and the rules that then do not pass, all of them. */
#pragma once

#include "rules_world.h"

enum { MEMBER, OTHER, PLACE };

/* A change of the call: a member of its attr, of that of group_fd, or a place of the world. */
struct set {
	uint16_t kind, size;
	uint32_t at;
	uint64_t v;
	const void *p;		/* for a place that is a pointer */
};

struct row {
	/* the rules that refuse; with ? those that are not known, with ~ those that are assumed */
	const char *fail;
	struct set sets[12];
};

/* The world, and what its pointers may point to. */
struct sides {
	struct world w;
	uint8_t other[144];
};

#define SIZE_OF(place) sizeof(((struct world *)NULL)->place)
#define A(member, v) { MEMBER, 1, ATTR_##member, v, NULL }
#define G(member, v) { OTHER, 1, ATTR_##member, v, NULL }
#define W(place, v) { PLACE, SIZE_OF(place), offsetof(struct world, place), (uint64_t)(v), NULL }
#define P(place, p) { PLACE, 0, offsetof(struct world, place), 1, p }
#define M(member, v) W(facts.machine.member, v)
#define T(member, v) W(facts.target.member, v)
#define C(member, v) W(ask.member, v)
#define REL(a, b, c) M(release, KVER(a, b, c))
#define ARCH(name) P(facts.machine.arch, &arch_##name)
#define NAME(name) P(facts.target.tracepoint_name, name)
#define CAPS(name) M(caps, CAP(ABI_CAP_##name))

enum { PMU_CLOCK = 6, PMU_TASK_CLOCK, PMU_UPROBE, PMU_MSR, PMU_KPROBE, PMU_ODD, PMU_V3, PMU_A57,
       PMU_UNCORE, PMU_CSTATE, PMU_IBS_OP, PMU_IBS_FETCH,
       IN_MSR = 7, IN_V3 = 10 };

static const uint64_t msr_configs[] = { 0, 2 };
static const uint64_t v3_configs[] = { 0x08, 0x11, 0x21, 0x04, 0x03, 0x14, 0x25, 0x26, 0x12 };

static inline void begin(struct sides *s)
{
	static const char *const names[] = {
		"msr", "kprobe", "odd", "armv8_pmuv3_0", "armv8_cortex_a57", "uncore_imc_0",
		"cstate_core", "ibs_op", "ibs_fetch",
	};
	struct world *w = &s->w;

	make(w);
	add_pmu(w, 4, "cpu");
	for (uint32_t i = 0; i < COUNT(names); i++)
		add_pmu(w, PMU_MSR + i, names[i]);
	w->pmus[IN_MSR].configs = msr_configs;
	w->pmus[IN_MSR].nconfigs = COUNT(msr_configs);
	w->pmus[IN_V3].configs = v3_configs;
	w->pmus[IN_V3].nconfigs = COUNT(v3_configs);
	memset(s->other, 0, sizeof(s->other));
	memcpy(s->other, w->attr, 136);
	w->facts.target.group.attr = s->other;
	w->facts.target.path = (struct rule_path){
		.readable = FACT_YES, .regular = FACT_YES, .pages = FACT_YES, .size = 10,
		.mapped = FACT_NO,
	};
}

static inline void change(struct sides *s, const struct set *c)
{
	uint8_t *place = (uint8_t *)&s->w + c->at;

	switch (c->kind) {
	case MEMBER:
		put(&s->w, c->at, c->v);
		break;
	case OTHER:
		field_set(&layout_perf_event_attr.fields[c->at], c->v, s->other);
		break;
	default:
		if (!c->size)
			memcpy(place, &c->p, sizeof(c->p));
		else if (c->size == 1)
			memcpy(place, &(uint8_t){ (uint8_t)c->v }, 1);
		else if (c->size == 4)
			memcpy(place, &(uint32_t){ (uint32_t)c->v }, 4);
		else
			memcpy(place, &c->v, 8);
	}
}

/* Write the rules that do not pass, except those by chance, in their order. */
static inline void name_failing(const struct rule_verdict *v, char *out, size_t room)
{
	size_t n = 0;

	*out = '\0';
	for (size_t i = 0; i < RULE_COUNT; i++) {
		const char *mark = v->assumed[i] ? "~" : v->says[i] == RULE_UNKNOWN ? "?" : "";

		if (!v->says[i] || v->says[i] == RULE_UNFORESEEN)
			continue;
		assert_true(v->says[i] == RULE_REFUSES || v->says[i] == RULE_UNKNOWN ||
			    v->says[i] > 0);
		n += (size_t)snprintf(out + n, room - n, "%s%s%s", n ? " " : "",
				      rule_descs[i].name, mark);
		assert_true(n < room);
	}
}

static inline void try_rows(const struct row *rows, size_t n)
{
	size_t wrong = 0;

	for (size_t i = 0; i < n; i++) {
		struct sides s;
		char failing[2000];

		begin(&s);
		for (size_t k = 0; k < COUNT(rows[i].sets) &&
		     (rows[i].sets[k].size || rows[i].sets[k].v); k++)
			change(&s, &rows[i].sets[k]);
		rules_judge(&s.w.ask, &s.w.v);
		name_failing(&s.w.v, failing, sizeof(failing));
		if (strcmp(failing, rows[i].fail)) {
			print_message("# row %zu: \"%s\", not \"%s\"\n", i, failing, rows[i].fail);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}
