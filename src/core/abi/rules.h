/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Predict the result of a perf_event_open(2) and its reason: the kernel's checks in
 * their order (xlat/rules.in), applied to the call and to struct rule_facts, which
 * describes the machine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/abi/arch.h"
#include "core/abi/xlat.h"

/* Of sample_stack_user: the largest multiple of 8 that 16 bits hold. */
enum { RULE_STACK_MAX = 65528 };

/* Zero-initialized facts are unknown. */
enum fact { FACT_UNKNOWN, FACT_NO, FACT_YES };

static inline enum fact fact_of(bool yes)
{
	return yes ? FACT_YES : FACT_NO;
}

/* A PMU that is registered, whether sysfs shows it or not. */
struct rule_pmu {
	uint32_t type;
	const char *name;
	const struct pmu_desc *desc;	/* NULL: not described */
	const uint64_t *configs;	/* in its events/, of msr and armv8_pmuv3 */
	size_t nconfigs;
	int64_t threshold_max;	/* caps/threshold_max of armv8_*; 0 if there is no such file */
	bool threshold_unread;	/* that file cannot be read */
	bool brs;		/* its events/ has branch-brs, of AMD's Zen 3 */
};

/* Numbers of struct rule_machine that could not be read. */
enum rule_unread {
	UNREAD_PARANOID = 1 << 0,
	UNREAD_SAMPLE_RATE = 1 << 1,
	UNREAD_STACK = 1 << 2,
	UNREAD_CPUS = 1 << 3,
};

/* Facts that hold for every call of this process. */
struct rule_machine {
	uint32_t release;	/* KVER(); 0: as new as the tables */
	uint32_t attr_size;	/* sizeof of the kernel's struct; 0: by release */
	uint32_t page_size;	/* bytes */
	const struct arch *arch; /* of the kernel */
	int32_t paranoid;	/* kernel.perf_event_paranoid */
	uint64_t caps;		/* effective, 1 << CAP_*, in the first user namespace */
	uint64_t caps_unread;	/* those of which that is not known; not in caps */
	uint64_t max_sample_rate, max_stack; /* kernel.perf_event_max_* */
	uint32_t cpus;		/* one more than the highest number of a CPU */
	uint64_t user_end;	/* end of the user address space; 0: not known */
	unsigned int unread;	/* UNREAD_*: these have a default value, on which nothing rests */
	enum fact cgroups;	/* built with cgroups of perf events */
	enum fact kprobes;	/* built with kprobes */
	enum fact wide_breakpoints; /* the CPU watches more than 8 bytes */
	enum fact lockdown;	/* locked down to confidentiality */
	enum fact security;	/* a security module checks perf events */
	enum fact denies_all;	/* patched: a perf_event_paranoid above 2 refuses everything */
	enum fact pmus_known;	/* pmus is complete */
	const struct rule_pmu *pmus;
	size_t npmus;
};

/* The task that pid names; unused without one. */
struct rule_task {
	enum fact exists;
	enum fact living;	/* not exiting */
	enum fact readable;	/* PTRACE_MODE_READ_REALCREDS */
	enum fact attachable;	/* PTRACE_MODE_ATTACH_REALCREDS */
	enum fact killable;	/* CAP_KILL in its user namespace */
};

enum { RULE_CPU_UNKNOWN = INT32_MIN };

/* The event of group_fd. */
struct rule_group {
	enum fact event;	/* it is an open perf event */
	enum fact alive;	/* its task and PMU still exist */
	enum fact leads;	/* it is a group leader */
	enum fact same_task;	/* it measures what pid names, or both measure CPUs */
	enum fact same_cgroup;	/* of the cgroup that pid names, or both of none */
	enum fact ring;		/* it is mapped */
	const uint8_t *attr;	/* its attr; NULL: this and the following are not known */
	size_t len;
	int32_t cpu;		/* RULE_CPU_UNKNOWN: only the attr is known */
	size_t siblings;	/* members besides the leader */
	uint32_t formats;	/* bit N: one of them has N as its read_format */
};

/* The string that uprobe_path points to, and the file of that name. */
struct rule_path {
	enum fact readable;
	bool empty, too_long;
	int error;		/* positive errno of looking the path up; 0: none */
	enum fact regular;
	enum fact pages;	/* the file has pages in memory */
	uint64_t size;		/* of the file, in bytes */
	enum fact mapped;	/* a task to be measured has mapped it */
};

/* Facts that hold for one call. */
struct rule_target {
	enum fact descriptor;	/* one more is available */
	enum fact cpu_online;
	enum fact cgroup_dir;	/* pid is the descriptor of a cgroup's directory */
	enum fact cgroup_perf;	/* of the hierarchy that has perf events */
	enum fact breakpoint;	/* one more is available on the target */
	enum fact pmu_event;	/* the PMU has the event of type and config */
	int pmu_error;		/* if it has not: positive errno */
	enum fact tracepoint;	/* config is the id of a tracepoint */
	const char *tracepoint_name; /* "system:name"; NULL: not known */
	struct rule_task task;
	struct rule_group group;
	struct rule_path path;
};

struct rule_facts {
	struct rule_machine machine;
	struct rule_target target;
};

/* A call, as made or to be made. */
struct rule_ask {
	const uint8_t *attr;	/* NULL: cannot be read at all */
	size_t len;		/* bytes of it that can be read */
	int32_t pid, cpu, group_fd;
	uint64_t flags;
	const struct rule_facts *facts;
};

/* The result of a rule; a positive number is an errno. */
enum {
	RULE_PASSES = 0,
	RULE_REFUSES = -1,	/* with the error of its description */
	RULE_UNKNOWN = -2,	/* a fact that it depends on is not known */
	RULE_ASSUMED = -4,	/* refuses, if nothing changed since xlat_release; not in says */
	RULE_UNFORESEEN = -3,	/* it depends on chance */
};

struct rule_verdict {
	const struct rule_desc *rule;	/* the first that refuses; NULL: it opens */
	int error;			/* positive errno; 0 */
	/*
	 * The result of each, as if those before it had passed; RULE_PASSES for those
	 * that require an attr which could not be read.
	 */
	int says[RULE_COUNT];
	/* those that refuse only if nothing has changed since xlat_release */
	bool assumed[RULE_COUNT];
};

/* Return whether the decisive rule is among these. */
static inline bool rules_assumed(const struct rule_verdict *v)
{
	return v->rule && v->assumed[v->rule->id];
}

void rules_judge(const struct rule_ask *ask, struct rule_verdict *v);

/* Append ", if nothing changed since Linux 7.3", the release of the tables. */
void rules_assumption_text(struct buf *out);

/* Return the error with which the rule refuses or may refuse; 0: not known. */
int rules_error(const struct rule_verdict *v, enum rule_id id);

/*
 * Return the first rule that explains a result of the kernel that differs from the
 * verdict: a rule before the decisive one that could not be judged and has that error.
 * NULL: none, so that rules and kernel disagree.
 */
const struct rule_desc *rules_explain(const struct rule_verdict *v, int error);

/*
 * Return the rule behind an error of the kernel, a positive errno: the decisive one if it has that
 * error, which sets *sure, else that of rules_explain().
 */
const struct rule_desc *rules_cause(const struct rule_verdict *v, int error, bool *sure);

/*
 * Return whether a kernel of that release (0: not known) refuses bits in that member of
 * perf_event_attr by rule reserved_bits: it is reserved, or newer than the release.
 */
bool rules_reserved(const struct field *f, uint32_t release);

/* Return the size of a read of n events with that read_format, in bytes. */
uint64_t rules_read_size(uint64_t format, uint64_t n);

/* Return the bits of a member that no kernel of the tables accepts on that architecture. */
uint64_t rules_unknown_bits(const struct arch *arch, const struct field *f, uint64_t v);

/* Return the index of the member or argument among the rule's fields, or -1. */
int rules_place(const struct rule_desc *rule, const char *name);

/* Return sizeof(struct perf_event_attr) in that release; 0: the newest known one. */
uint32_t rules_attr_size(uint32_t release);

/* Return the PMU of an attr, by type and config; NULL: none is known. */
const struct rule_pmu *rules_pmu(const struct rule_machine *m, const uint8_t *attr,
				 size_t len);
