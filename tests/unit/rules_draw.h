/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random calls of perf_event_open: tasks, leaders and valid attrs to begin with, and mutations that
 * leave most of them nearly valid.
 */
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
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/abi/call_decode.h"
#include "core/abi/layout.h"
#include "core/host/facts.h"
#include "core/host/pmu.h"
#include "core/lib/libc.h"
#include "core/judge/judge.h"
#include "experiment/trial.h"
#include "formats/dump/machine_file.h"
#include "public/pevtrace.h"
#include "tree.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum {
	ROUNDS = 24000,		/* as ourselves */
	NOBODY_ROUNDS = 8000,	/* as an ordinary user */
	NOBODY = 65534,
	SKIPPED = 77,		/* exit status of a child that cannot become nobody */
	ATTR_ROOM = 4200,
	LEADERS = 16,
	BASES = 64,
	SHOWN = 40,
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

enum { SEED = 20240607 };

/* Offsets of reference counters, as config of a uprobe has them. */
enum { COUNTER_SHIFT = 32, OUR_COUNTER = 2 };

/* One that every kernel has and that may be probed. */
static const char kernel_function[] = "kernel_clone";

static uint64_t seed;

static inline uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* One in n. */
static inline bool chance(unsigned int n)
{
	return any() % n == 0;
}

static inline void put(uint8_t *attr, unsigned int index, uint64_t v)
{
	field_set(&layout_perf_event_attr.fields[index], v, attr);
}

static inline uint64_t get(const uint8_t *attr, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, attr, ATTR_ROOM);
}

struct leader {
	uint8_t attr[PERF_ATTR_SIZE_VER8];
	int fd;
	pid_t pid;
	int cpu, group_fd;
	bool leads, ring, dead;
	size_t siblings;
};

struct call_args {
	int32_t pid, cpu, group_fd;
	uint64_t flags;
	const struct leader *leader;
};

struct run {
	struct host *host;
	struct facts facts;
	uint8_t bases[BASES][PERF_ATTR_SIZE_VER8];
	size_t nbases;
	uint32_t newest;	/* the highest type of a PMU */
	int keep[BASES];	/* one event of each tracepoint, so that closing is quick */
	size_t nkeep;
	struct leader leaders[LEADERS];
	size_t nleaders;
	pid_t child, zombie, foreign;
	/* called when the children exist; NULL: nothing is done */
	void (*before_rounds)(struct run *r);
	int told, hidden;	/* pipes for it */
	int cgroup;		/* descriptor of one that events can be of; -1 */
	char path[PATH_MAX], long_path[PATH_MAX + 10];
	unsigned int rounds, opened, kinds;
	unsigned int wrong, disagreed; /* disagreed: not even a rule not known explains it */
	struct facts filed;	/* the same machine, from its machine file */
	unsigned int filed_certain, filed_otherwise; /* both verdicts are certain; they differ */
	struct pevtrace_machine *library; /* NULL: it is not asked */
	struct pevtrace_verdict verdict;  /* its last one */
	unsigned int certain, wrongly_certain, grouped, grouped_certain;
	unsigned int agreed[RULE_COUNT];
	unsigned int wrong_by[RULE_COUNT + 1]; /* the last: where none refuses */
};

/* Children --------------------------------------------------------------------------- */

/* A child of ours that is stopped, or has ended; nothing that hits it does harm. */
static inline pid_t child(bool ends)
{
	pid_t pid = fork();
	siginfo_t info;

	assert_true(pid >= 0);
	if (!pid) {
		if (ends)
			_exit(0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitid(P_PID, (id_t)pid, &info,
				WSTOPPED | WEXITED | WNOWAIT), 0);
	return pid;
}

static inline void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Valid attrs -------------------------------------------------------------------------- */

static inline uint8_t *base(struct run *r, uint64_t type, uint64_t config)
{
	uint8_t *a;

	assert_true(r->nbases < BASES);
	a = r->bases[r->nbases++];
	memset(a, 0, sizeof(r->bases[0]));
	put(a, ATTR_TYPE, type);
	put(a, ATTR_SIZE, PERF_ATTR_SIZE_VER8);
	put(a, ATTR_CONFIG, config);
	put(a, ATTR_DISABLED, 1);
	return a;
}

/* Open the event until the end, if that is permitted. */
static inline void keep(struct run *r, uint8_t *attr)
{
	r->keep[r->nkeep] = open_event(attr, PERF_ATTR_SIZE_VER8, 0, -1, -1, 0);
	if (r->keep[r->nkeep] >= 0)
		r->nkeep++;
}

static inline void add_tracepoint(struct run *r, const char *name)
{
	char path[PATH_MAX];
	unsigned int id;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", name);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%u", &id) != 1) {
		if (f)
			fclose(f);
		return;
	}
	fclose(f);
	keep(r, base(r, PERF_TYPE_TRACEPOINT, id));
}

static inline bool is_shown(const struct run *r, uint32_t type)
{
	for (const struct pmu *p = host_pmus(r->host); p; p = p->next)
		if (p->type == type)
			return true;
	return false;
}

static inline void add_bases(struct run *r)
{
	static const char *const tracepoints[] = {
		"sched/sched_switch", "sched/sched_process_exit", "syscalls/sys_enter_sync",
		"raw_syscalls/sys_enter", "irq_vectors/irq_work_exit", "signal/signal_deliver",
	};
	uint8_t *a;

	for (uint64_t i = 0; i < PERF_COUNT_SW_MAX; i++)
		base(r, PERF_TYPE_SOFTWARE, i);
	for (size_t i = 0; i < COUNT(tracepoints); i++)
		add_tracepoint(r, tracepoints[i]);
	for (uint64_t i = 0; i < 4; i++) {
		a = base(r, PERF_TYPE_BREAKPOINT, 0);
		put(a, ATTR_BP_TYPE, i ? HW_BREAKPOINT_RW : HW_BREAKPOINT_X);
		put(a, ATTR_BP_ADDR, (uintptr_t)&seed & ~63ULL);
		put(a, ATTR_BP_LEN, i ? 1 << i : 8);
		put(a, ATTR_EXCLUDE_KERNEL, 1);
	}
	for (const struct pmu *p = host_pmus(r->host); p; p = p->next) {
		if (p->type <= PERF_TYPE_BREAKPOINT)
			continue;
		a = base(r, p->type, p->naliases ? p->aliases[0].config[0] : 0);
		r->newest = p->type > r->newest ? p->type : r->newest;
		if (!strcmp(p->name, "uprobe")) {
			put(a, ATTR_UPROBE_PATH, (uintptr_t)r->path);
			/* while another one is there, with a reference counter */
			put(a, ATTR_CONFIG, (uint64_t)OUR_COUNTER << COUNTER_SHIFT);
			keep(r, a);
		}
		if (!strcmp(p->name, "kprobe")) {
			put(a, ATTR_KPROBE_FUNC, (uintptr_t)kernel_function);
			put(a, ATTR_CONFIG, 0);
		}
	}
	base(r, PERF_TYPE_HARDWARE, 0);
	base(r, PERF_TYPE_HW_CACHE, 0);
	base(r, PERF_TYPE_RAW, 0x1a8);
	base(r, r->newest + 1, 0);	/* that no PMU has */
	/* the clocks' own numbers are other PMUs' before 6.5 */
	if (!is_shown(r, PERF_TYPE_MAX))
		base(r, PERF_TYPE_MAX, PERF_COUNT_SW_CPU_CLOCK);
	if (!is_shown(r, PERF_TYPE_MAX + 1))
		base(r, PERF_TYPE_MAX + 1, PERF_COUNT_SW_TASK_CLOCK);
}

/* Events that others are opened with ----------------------------------------------------- */

static inline struct leader *add_leader(struct run *r, pid_t pid, int cpu, int group_fd,
				 unsigned int index, uint64_t v)
{
	struct leader *l = &r->leaders[r->nleaders];

	assert_true(r->nleaders < LEADERS);
	*l = (struct leader){ .pid = pid, .cpu = cpu, .group_fd = group_fd,
			      .leads = group_fd == -1 };
	put(l->attr, ATTR_TYPE, PERF_TYPE_SOFTWARE);
	put(l->attr, ATTR_SIZE, PERF_ATTR_SIZE_VER8);
	put(l->attr, ATTR_CONFIG, PERF_COUNT_SW_DUMMY);
	put(l->attr, ATTR_EXCLUDE_KERNEL, 1);
	put(l->attr, index, v);
	if (index == ATTR_CLOCKID)
		put(l->attr, ATTR_USE_CLOCKID, 1);
	l->fd = open_event(l->attr, sizeof(l->attr), pid, cpu, group_fd, 0);
	if (l->fd >= 0)
		r->nleaders++;
	return l->fd >= 0 ? l : NULL;
}

/* A cgroup of the hierarchy that has perf events. */
static inline int find_cgroup(struct run *r)
{
	static const char *const places[] = {
		"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/perf_event",
	};

	for (size_t i = 0; i < COUNT(places); i++) {
		int fd = open(places[i], O_RDONLY | O_CLOEXEC);
		struct rule_ask ask = {
			.attr = r->bases[0], .len = sizeof(r->bases[0]), .pid = fd,
			.group_fd = -1, .flags = PERF_FLAG_PID_CGROUP,
			.facts = &r->facts.rules,
		};

		facts_target(&r->facts, &ask);
		if (r->facts.rules.target.cgroup_perf == FACT_YES)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

static inline void add_leaders(struct run *r)
{
	struct leader *l;
	pid_t mortal = child(false);

	add_leader(r, r->child, -1, -1, ATTR_DISABLED, 1);
	add_leader(r, r->child, -1, -1, ATTR_INHERIT, 1);
	add_leader(r, r->child, -1, -1, ATTR_CLOCKID, 1);
	add_leader(r, r->child, 0, -1, ATTR_READ_FORMAT, PERF_FORMAT_GROUP);
	l = add_leader(r, 0, -1, -1, ATTR_PINNED, 1);
	if (l && add_leader(r, 0, -1, l->fd, ATTR_DISABLED, 1))
		l->siblings = 1;
	add_leader(r, -1, 0, -1, ATTR_DISABLED, 1);
	l = add_leader(r, mortal, -1, -1, ATTR_DISABLED, 1);
	end_child(mortal);
	if (l)
		l->dead = true;
	l = add_leader(r, r->child, -1, -1, ATTR_WATERMARK, 1);
	if (l)
		l->ring = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, l->fd, 0) !=
			  MAP_FAILED;
}

/* Mutations ------------------------------------------------------------------------------ */

static inline uint64_t of(const uint64_t *list, size_t n)
{
	return list[any() % n];
}

#define OF(...) of((const uint64_t[]){ __VA_ARGS__ }, \
		   sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* A value at an edge: of the member, or of what the kernel checks. */
static inline uint64_t edge(const struct run *r, const struct field *f)
{
	const struct rule_machine *m = &r->facts.rules.machine;
	unsigned int bits = f->nbits ? f->nbits : 8u * f->width, bit = any() % bits;

	switch (any() % 3 ? f - layout_perf_event_attr.fields : -1) {
	case ATTR_TYPE:
		return any() % (r->newest + 4);
	case ATTR_SIZE:
		return OF(0, 1, 63, 64, 65, 72, 80, 96, 104, 112, 120, 128, 136, 137, 144,
			  4096, 4097);
	case ATTR_SAMPLE_FREQ:
		return OF(1, m->max_sample_rate, m->max_sample_rate + 1, ~0ULL, 1ULL << 63);
	case ATTR_BP_TYPE:
		return any() % 9;
	case ATTR_BP_ADDR:
		return OF(0, 1, 2, 4, 8, m->user_end - 8, m->user_end - 1, m->user_end,
			  0xffff800000000000, 0xfffffdffffffffff, 0xfffffe0000000000, ~0ULL);
	case ATTR_BP_LEN:
		return OF(0, 1, 2, 3, 4, 5, 8, 9, 16, 64, 1ULL << 40, ~0ULL);
	case ATTR_CLOCKID:
		return any() % 13;
	case ATTR_SAMPLE_MAX_STACK:
		return m->max_stack + any() % 3 - 1;
	case ATTR_SAMPLE_STACK_USER:
		return OF(8, 13, 65528, 65529, 65535, 65536);
	case ATTR_SAMPLE_REGS_USER:
	case ATTR_SAMPLE_REGS_INTR:
		return OF(0, 0xff0fff, 1, 1 << 12, 1 << 24, 1ULL << 32, ~0ULL);
	case ATTR_BRANCH_SAMPLE_TYPE:
		return OF(0, 1, 2, 4, 7, 8, 9, 10, 1 << 19, 1 << 20);
	default:
		return OF(0, 1, 1ULL << bit, (1ULL << bit) - 1, ~0ULL, any());
	}
}

/* Members that the drivers of PMUs look at, some of them in the order of the driver. */
static inline void mutate_driver(const struct run *r, uint8_t *attr)
{
	uint64_t type = get(attr, ATTR_TYPE);

	switch (any() % 5) {
	case 0:
		put(attr, ATTR_SAMPLE_TYPE, get(attr, ATTR_SAMPLE_TYPE) | PERF_SAMPLE_BRANCH_STACK);
		put(attr, ATTR_BRANCH_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY);
		break;
	case 1:
		/* bits of format/ of armv8_pmuv3: long, rdpmc, threshold */
		if (type <= PERF_TYPE_RAW || type > r->newest || chance(4))
			put(attr, ATTR_CONFIG1, OF(1, 2, 3, 1 << 5, 0xfff << 5));
		break;
	case 2:
		put(attr, ATTR_INHERIT, 1);
		put(attr, ATTR_SAMPLE_TYPE, get(attr, ATTR_SAMPLE_TYPE) | PERF_SAMPLE_READ |
					    any() % 2 * PERF_SAMPLE_TID);
		break;
	case 3:
		put(attr, ATTR_EXCLUDE_IDLE, 1);
		break;
	default:
		/* the upper half names a PMU since 5.13 */
		if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE)
			put(attr, ATTR_CONFIG, any() % (PERF_COUNT_HW_MAX + 1) |
					       any() % 2 * (any() % (r->newest + 3)) << 32);
	}
}

static inline void mutate(const struct run *r, uint8_t *attr)
{
	/* those without which the kernel does not look at others */
	static const unsigned int gates[] = {
		ATTR_SAMPLE_TYPE, ATTR_FREQ, ATTR_USE_CLOCKID, ATTR_SIGTRAP,
		ATTR_REMOVE_ON_EXEC, ATTR_INHERIT, ATTR_EXCLUDE_KERNEL,
	};

	for (unsigned int n = any() % 3; n && chance(2); n--)
		mutate_driver(r, attr);
	if (get(attr, ATTR_UPROBE_PATH) == (uintptr_t)r->path && chance(4))
		put(attr, ATTR_CONFIG, OF(0, 1, 4) << COUNTER_SHIFT);
	for (unsigned int n = 1 + any() % 3; n; n--) {
		unsigned int i = any() % layout_perf_event_attr.n;
		const struct field *f;

		if (chance(3))
			i = gates[any() % COUNT(gates)];
		f = &layout_perf_event_attr.fields[i];
		/* where a kprobe may be is not described */
		if ((f->offset == 56 || f->offset == 64) &&
		    get(attr, ATTR_KPROBE_FUNC) == (uintptr_t)kernel_function)
			continue;
		/* a path must stay one of ours, lest it be of a program that runs */
		if (f->offset == 56 && get(attr, ATTR_UPROBE_PATH) == (uintptr_t)r->path &&
		    any() % 4) {
			put(attr, i, OF(0, 8, ~0ULL, ~0ULL - 7, r->facts.rules.machine.user_end - 1,
					0xffff800000000000, (uintptr_t)"", (uintptr_t)"/nonexistent",
					(uintptr_t)"/proc/version", (uintptr_t)"/tmp",
					(uintptr_t)r->long_path));
			continue;
		}
		if (i == ATTR_SAMPLE_TYPE)
			field_set(f, get(attr, i) ^ 1ULL << any() % 26, attr);
		else if (f->nbits == 1)
			field_set(f, !field_get(f, attr, ATTR_ROOM), attr);
		else if (f->offset + f->width <= PERF_ATTR_SIZE_VER9)
			field_set(f, edge(r, f), attr);
	}
}

/* What goes with a leader most of the time, and anything now and then. */
static inline struct call_args arguments(const struct run *r)
{
	struct call_args c = { .pid = 0, .cpu = -1, .group_fd = -1 };

	if (chance(2))
		c.pid = r->child;
	if (chance(8)) {
		c.pid = -1;
		c.cpu = 0;
	}
	if (chance(6) && r->nleaders) {
		c.leader = &r->leaders[any() % r->nleaders];
		c.group_fd = c.leader->fd;
		c.pid = c.leader->pid;
		c.cpu = c.leader->cpu;
		if (chance(4))
			c.flags = any() % 4;
	}
	if (chance(12))
		c.pid = (int32_t)OF(0, -1, -2, r->zombie, r->foreign, INT_MAX);
	if (chance(12))
		c.cpu = (int32_t)OF(0, 1, -1, -2, 9999, INT_MAX);
	if (chance(20)) {
		c.flags = OF(PERF_FLAG_FD_CLOEXEC, PERF_FLAG_PID_CGROUP, 16, 1ULL << 31, 1, 2, 7);
	}
	if (r->cgroup >= 0 && chance(30)) {
		c.pid = r->cgroup;
		c.cpu = 0;
		c.flags |= PERF_FLAG_PID_CGROUP;
	}
	if (chance(40)) {
		c.leader = NULL;
		c.group_fd = (int32_t)OF(-2, 0, 900);
	}
	return c;
}

/* Where the kernel would work, or could hit us, it is off. */
static inline void make_safe(const struct run *r, uint8_t *attr, const struct call_args *c)
{
	if (c->pid != r->child)
		put(attr, ATTR_DISABLED, 1);
}
