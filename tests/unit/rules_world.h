/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Machines that are made up, and the rule that refuses a call on them. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>

#include "core/abi/layout.h"
#include "core/abi/rules.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

#define CAP(name) (1ULL << (name))
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A call on a machine; every test changes what it is about. */
struct world {
	struct rule_facts facts;
	struct rule_pmu pmus[20];
	uint8_t attr[4096];
	struct rule_ask ask;
	struct rule_verdict v;
};

static inline void put(struct world *w, unsigned int index, uint64_t v)
{
	field_set(&layout_perf_event_attr.fields[index], v, w->attr);
}

static inline void add_pmu(struct world *w, uint32_t type, const char *name)
{
	struct rule_machine *m = &w->facts.machine;

	w->pmus[m->npmus++] = (struct rule_pmu){
		.type = type, .name = name, .desc = pmu_desc_by_name(name),
	};
}

/* An ordinary user's dummy event on a task of theirs, which opens. */
static inline void make(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->facts.machine = (struct rule_machine){
		.release = KVER(6, 18, 0), .page_size = 4096, .arch = &arch_x86_64,
		.paranoid = 2, .max_sample_rate = 100000, .max_stack = 127, .cpus = 2,
		.user_end = (1ULL << 47) - 4096, .cgroups = FACT_YES, .kprobes = FACT_NO,
		.wide_breakpoints = FACT_NO, .lockdown = FACT_NO, .security = FACT_NO,
		.pmus_known = FACT_YES, .pmus = w->pmus,
	};
	add_pmu(w, 1, "software");
	add_pmu(w, 2, "tracepoint");
	add_pmu(w, 5, "breakpoint");
	add_pmu(w, 6, "cpu_clock");
	add_pmu(w, 7, "task_clock");
	add_pmu(w, 8, "uprobe");
	w->facts.target = (struct rule_target){
		.descriptor = FACT_YES, .cpu_online = FACT_YES, .breakpoint = FACT_YES,
		.cgroup_dir = FACT_YES, .cgroup_perf = FACT_YES,
		.tracepoint = FACT_YES, .tracepoint_name = "sched:sched_switch",
		.task = { FACT_YES, FACT_YES, FACT_YES, FACT_YES, FACT_NO },
		.group = { .event = FACT_YES, .alive = FACT_YES, .leads = FACT_YES,
			   .same_task = FACT_YES, .same_cgroup = FACT_YES,
			   .ring = FACT_YES, .attr = w->attr, .len = 136, .cpu = -1 },
	};
	w->ask = (struct rule_ask){
		.attr = w->attr, .len = 136, .pid = 7, .cpu = -1, .group_fd = -1,
		.facts = &w->facts,
	};
	put(w, ATTR_TYPE, PERF_TYPE_SOFTWARE);
	put(w, ATTR_SIZE, 136);
	put(w, ATTR_CONFIG, PERF_COUNT_SW_DUMMY);
	put(w, ATTR_EXCLUDE_KERNEL, 1);
	put(w, ATTR_EXCLUDE_HV, 1);
}

static inline void expect(struct world *w, const char *rule, int error)
{
	rules_judge(&w->ask, &w->v);
	if (strcmp(w->v.rule ? w->v.rule->name : "none", rule ? rule : "none"))
		fail_msg("rule %s, not %s", w->v.rule ? w->v.rule->name : "none",
			 rule ? rule : "none");
	assert_int_equal(w->v.error, error);
}
