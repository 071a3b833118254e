// SPDX-License-Identifier: LGPL-2.1-or-later
/* Trials of event types, events, PMUs, arguments, flags and ioctls. */
#include <errno.h>
#include <string.h>

#include "core/abi/tables.h"
#include "core/host/cgroup.h"
#include "core/host/pmu.h"
#include "experiment/work.h"
#include "verbs/list/features.h"

static const char *const system_wide = "it would measure other tasks: use --all-cpus";
static const char *const no_tracefs =
	"tracefs cannot be read, which has the numbers of tracepoints";

static bool has_counted(const struct observed *o, uint64_t unused)
{
	(void)unused;
	return o->count;
}

/* Try whether the event opens and counts. */
static void try_counting(struct features *fs, struct feature *f, const struct experiment *x)
{
	const struct observed *o = features_observe(fs, x, 0);

	if (!o)
		features_found(f, FEATURE_UNTRIED, NULL, "the trial came to no end");
	else if (o->error)
		features_refused(fs, f, x, o->error, NULL);
	else if (!features_dead(fs, f, x->attr, x->len, o->count, NULL))
		features_judge(f, features_shows(fs, x, has_counted, 0), NULL, NULL,
			       "it opens, but the work counted nothing");
}

/* Try an event; f->value is its config, f->what points to its type. */
void features_try_event(struct features *fs, struct feature *f)
{
	const uint32_t *type = f->what;
	uint8_t attr[FEATURE_ATTR_MAX];
	const struct experiment x = {
		.attr = attr, .len = features_attr(fs, *type, f->value, attr),
		.work = WORK_SPIN | WORK_MOVE,
	};

	try_counting(fs, f, &x);
}

/* Try a type with the event that most machines have. */
void features_try_type(struct features *fs, struct feature *f)
{
	uint8_t attr[FEATURE_ATTR_MAX];
	struct experiment x = { .attr = attr, .work = WORK_SPIN };

	for (size_t i = 0; i < fs->nbases; i++) {
		const struct feature_base *b = &fs->bases[i];

		if (b->probe || layout_get(&layout_perf_event_attr, ATTR_TYPE, b->attr,
					   b->len) != f->value)
			continue;
		memcpy(attr, b->attr, sizeof(attr));
		x.len = b->len;
		try_counting(fs, f, &x);
	}
	if (f->result != FEATURE_UNTRIED || f->why.len)
		return;
	if (f->value == PERF_TYPE_TRACEPOINT) {
		features_found(f, FEATURE_UNTRIED, NULL, no_tracefs);
		return;
	}
	/* in a cache event these are the first level, reads, all of them */
	x.len = features_attr(fs, (uint32_t)f->value, 0, attr);
	try_counting(fs, f, &x);
}

/* A kind of access (what is NULL), or a length (what is the table of lengths). */
void features_try_breakpoint(struct features *fs, struct feature *f)
{
	bool length = f->what;
	uint64_t type = length ? HW_BREAKPOINT_W : f->value;
	bool code = type == HW_BREAKPOINT_X;
	uint8_t attr[FEATURE_ATTR_MAX];
	const struct experiment x = {
		.attr = attr, .len = features_attr(fs, PERF_TYPE_BREAKPOINT, 0, attr),
	};

	features_put(attr, ATTR_EXCLUDE_KERNEL, 1);
	features_put(attr, ATTR_BP_TYPE, type);
	features_put(attr, ATTR_BP_ADDR, code ? work_called() : work_watched());
	features_put(attr, ATTR_BP_LEN, length ? f->value : code ? sizeof(long) :
		     HW_BREAKPOINT_LEN_4);
	try_counting(fs, f, &x);
}

/* PMUs --------------------------------------------------------------------------------- */

static const struct feature_base *base_of(const struct features *fs, uint32_t type)
{
	for (size_t i = 0; i < fs->nbases; i++)
		if (layout_get(&layout_perf_event_attr, ATTR_TYPE, fs->bases[i].attr,
			       fs->bases[i].len) == type)
			return &fs->bases[i];
	return NULL;
}

void features_try_pmu(struct features *fs, struct feature *f)
{
	const struct pmu *p = f->what;
	const struct pmu_desc *d = pmu_desc_by_name(p->name);
	const struct feature_base *b = base_of(fs, p->type);
	bool cpus = d && d->traits & PMU_TRAIT_CPU_ONLY;
	uint8_t attr[FEATURE_ATTR_MAX];
	const struct experiment x = {
		.attr = attr, .len = features_attr(fs, p->type, 0, attr), .work = WORK_SPIN,
		.whom = cpus ? EXPERIMENT_CPU : EXPERIMENT_TASK,
	};

	/* the first event that sysfs names, else config 0 */
	if (b)
		memcpy(attr, b->attr, sizeof(attr));
	else if (p->naliases)
		for (size_t i = 0; i < ATTR_CONFIGS; i++)
			features_put(attr, attr_configs[i], p->aliases[0].config[i]);
	if (d && d->traits & PMU_TRAIT_NO_EXCLUDE)
		features_put(attr, ATTR_EXCLUDE_KERNEL, 0);
	if (cpus && !fs->all_cpus)
		features_found(f, FEATURE_UNTRIED, NULL, system_wide);
	else if (b && b->untried)
		features_found(f, FEATURE_UNTRIED, NULL, b->untried);
	else if (p->type == PERF_TYPE_TRACEPOINT && !b)
		features_found(f, FEATURE_UNTRIED, NULL, no_tracefs);
	else
		try_counting(fs, f, &x);
}

/* The call ------------------------------------------------------------------------------ */

void features_try_size(struct features *fs, struct feature *f)
{
	if (!fs->attr_size) {
		features_found(f, FEATURE_UNTRIED, NULL,
			       "the size of the kernel's attr is unknown");
		return;
	}
	f->known = fact_of(fs->attr_size >= f->value);
	features_found(f, f->known == FACT_YES ? FEATURE_YES : FEATURE_NO, NULL, NULL);
	if (f->result == FEATURE_NO)
		buf_addf(&f->why, "sizeof(struct perf_event_attr) is %u in this kernel",
			 fs->attr_size);
}

/* Try a call on an event that opens; without: the same call without the feature. */
static void compare_calls(struct features *fs, struct feature *f, struct experiment x,
			  struct experiment without)
{
	const struct feature_base *b = features_any(fs);
	const struct observed *a;

	if (features_nothing_opens(fs, f))
		return;
	x.attr = without.attr = b->attr;
	x.len = without.len = b->len;
	x.work = without.work = b->work;
	a = features_observe(fs, &x, 0);
	if (!a)
		return;
	if (a->error)
		features_refused(fs, f, &x, a->error, NULL);
	else
		features_judge(f, features_differ(fs, &x, &without, b->exact, false), NULL, NULL,
			       FEATURES_NO_EFFECT);
}

/* Try a flag of the call; features_try_cpu() tries those that choose the target. */
void features_try_flag(struct features *fs, struct feature *f)
{
	const struct experiment without = {
		.whom = EXPERIMENT_TASK_CPU, .other = true, .grouped = true,
	};
	struct experiment x = without;

	x.flags = f->value;
	compare_calls(fs, f, x, without);
}

/* Try the arguments pid and group_fd. */
void features_try_argument(struct features *fs, struct feature *f)
{
	const struct arg_desc *a = f->what;
	struct experiment x = {
		.whom = a->kind == ARG_EVENT_PID ? EXPERIMENT_TASK : EXPERIMENT_TASK_CPU,
		.other = a->kind == ARG_GROUP_FD,
	};
	struct experiment grouped = x;

	grouped.grouped = true;
	if (a->kind == ARG_GROUP_FD) {
		compare_calls(fs, f, grouped, x);
		return;
	}
	if (features_nothing_opens(fs, f))
		return;
	x.attr = features_any(fs)->attr;
	x.len = features_any(fs)->len;
	x.work = features_any(fs)->work;
	try_counting(fs, f, &x);
}

/* Try to measure every task of a CPU or cgroup. */
void features_try_cpu(struct features *fs, struct feature *f)
{
	uint8_t attr[FEATURE_ATTR_MAX];
	const struct experiment x = {
		.attr = attr, .work = WORK_SPIN,
		.len = features_attr(fs, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, attr),
		.whom = f->value == PERF_FLAG_PID_CGROUP ? EXPERIMENT_CGROUP : EXPERIMENT_CPU,
	};
	char path[256];

	if (!fs->all_cpus)
		features_found(f, FEATURE_UNTRIED, NULL, system_wide);
	else if (x.whom == EXPERIMENT_CGROUP && !cgroup_mount(path, sizeof(path)))
		features_found(f, FEATURE_UNTRIED, NULL,
			       "no cgroup hierarchy with perf_event is mounted");
	else
		try_counting(fs, f, &x);
}

/* ioctls -------------------------------------------------------------------------------- */

/*
 * Try the ioctl on an event that is opened disabled or not, before or after the work.
 * Return the error of loading its BPF program, or 0.
 */
static int ioctl_on(struct features *fs, struct feature *f, const struct feature_base *b,
		    bool disabled, struct experiment x)
{
	uint8_t attr[FEATURE_ATTR_MAX];
	struct experiment y;
	const struct observed *a;
	enum features_verdict v;

	memcpy(attr, b->attr, sizeof(attr));
	features_put(attr, ATTR_DISABLED, disabled);
	x.attr = attr;
	x.len = b->len;
	x.work = b->work;
	a = features_observe(fs, &x, 0);
	if (!a || a->error)
		return 0;
	if (a->bpf_error)
		return a->bpf_error;
	if (a->ioctl_error) {
		if (a->ioctl_error != ENOTTY)
			f->known = FACT_YES;
		else if (f->known == FACT_UNKNOWN)
			f->known = FACT_NO;
		if (features_found(f, FEATURE_NO, b->name, NULL))
			f->error = a->ioctl_error;
		return 0;
	}
	y = x;
	y.ioctl = NULL;
	v = features_differ(fs, &x, &y, b->exact, false);
	if (v != FEATURES_SAME || f->result >= FEATURE_ACCEPTED ||
	    !features_dead(fs, f, b->attr, b->len, a->count, b->name))
		features_judge(f, v, b->name, NULL, FEATURES_NO_EFFECT);
	return 0;
}

void features_try_ioctl(struct features *fs, struct feature *f)
{
	const struct ioctl_desc *d = f->what;
	bool takes_fd = d->arg == IOCTL_ARG_FD;
	const char *lacks;
	int error;

	/* bits 0 to 2 of i: after the work, opened disabled, with a BPF program */
	for (size_t i = 0; i < 8 * fs->nbases && f->result != FEATURE_YES; i++) {
		const struct feature_base *b = &fs->bases[i / 8];
		const struct experiment x = {
			.ioctl = d, .when = i & 1 ? EXPERIMENT_AFTER : EXPERIMENT_BEFORE,
			.bpf = i & 4, .other = takes_fd && !(i & 4),
		};

		if (b->error || b->probe || (x.bpf && (!takes_fd || fs->bpf_error)))
			continue;
		error = ioctl_on(fs, f, b, i & 2, x);
		if (error)
			fs->bpf_error = error;
	}
	lacks = takes_fd && fs->bpf_error ?
		"refuses an event as its argument; no BPF program can be loaded here" :
		base_of(fs, PERF_TYPE_TRACEPOINT) ? NULL : "no tracepoint to try it on";
	if (lacks && f->result == FEATURE_NO && f->error != ENOTTY) {
		f->result = FEATURE_UNTRIED;
		f->error = 0;
		f->on = NULL;
		buf_adds(&f->why, lacks);
	}
	features_nothing_opens(fs, f);
}
