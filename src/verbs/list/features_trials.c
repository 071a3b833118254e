// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The trials: run the same work with and without an attr member or bit, an ioctl, a flag, and compare
 * what the event does; or see whether an event counts.
 */
#include <errno.h>

#include "core/abi/tables.h"
#include "core/host/cgroup.h"
#include "core/host/pmu.h"
#include "core/lib/list.h"
#include "experiment/work.h"
#include "verbs/list/features.h"

/* Members of the attr ---------------------------------------------------------------------- */

enum { HEADER = 8 };

static const struct layout *const layout = &layout_perf_event_attr;

/*
 * How to try a member that has no effect if merely set to 1.  Its WHEN and NEEDS in
 * xlat/attr.in are satisfied in any case.
 */
struct recipe {
	unsigned int member;
	uint64_t value;			/* 0: the value in the event, or 1 */
	struct {
		unsigned int member;	/* 0: none */
		uint64_t value;
	} with[2];
	unsigned int work;
	bool one_cpu;	/* rings of inherited events are for one CPU */
	bool chains;	/* it affects the length of callchains */
	bool file;	/* its work maps the program's file */
	bool opens;	/* that an event opens proves its effect */
};

static const struct recipe recipes[] = {
	{ .member = ATTR_TYPE, .opens = true },
	{ .member = ATTR_SIZE, .opens = true },
	{ .member = ATTR_CONFIG, .opens = true },
	/* The kernel lowers perf_event_max_sample_rate to HZ at least, which is 100 or more. */
	{ ATTR_SAMPLE_FREQ, 100, .work = WORK_SPIN },
	{ ATTR_SAMPLE_TYPE, PERF_SAMPLE_TID, .work = 0 },
	{ ATTR_READ_FORMAT, PERF_FORMAT_TOTAL_TIME_ENABLED, .work = 0 },
	{ ATTR_INHERIT, .one_cpu = true },
	{ ATTR_FREQ, .with = { { ATTR_SAMPLE_PERIOD, 100 } } },
	{ ATTR_INHERIT_STAT, .work = WORK_EXIT, .one_cpu = true },
	{ ATTR_ENABLE_ON_EXEC, .with = { { ATTR_DISABLED, 1 } }, .work = WORK_EXEC },
	/* more events, but less bytes, than page faults write */
	{ ATTR_WATERMARK, .with = { { ATTR_WAKEUP_EVENTS, 64 } } },
	{ ATTR_SAMPLE_ID_ALL,
	  .with = { { ATTR_COMM, 1 }, { ATTR_SAMPLE_TYPE, PERF_SAMPLE_TID } } },
	{ ATTR_EXCLUDE_CALLCHAIN_KERNEL, .with = { { ATTR_SAMPLE_TYPE, PERF_SAMPLE_CALLCHAIN } } },
	{ ATTR_EXCLUDE_CALLCHAIN_USER, .with = { { ATTR_SAMPLE_TYPE, PERF_SAMPLE_CALLCHAIN } } },
	{ ATTR_MMAP2, .with = { { ATTR_MMAP, 1 } }, .file = true },
	{ ATTR_COMM_EXEC, .work = WORK_EXEC },
	/* CLOCK_REALTIME (0): the default clock of events may be close to other clocks */
	{ ATTR_USE_CLOCKID, .with = { { ATTR_SAMPLE_TYPE, PERF_SAMPLE_TIME } } },
	{ ATTR_CLOCKID, CLOCK_MONOTONIC, .with = { { ATTR_SAMPLE_TYPE, PERF_SAMPLE_TIME } } },
	{ ATTR_KSYMBOL, .work = WORK_BPF },
	{ ATTR_BPF_EVENT, .work = WORK_BPF },
	{ ATTR_BUILD_ID, .with = { { ATTR_MMAP, 1 } }, .work = WORK_EXEC },
	{ ATTR_INHERIT_THREAD, .with = { { ATTR_INHERIT, 1 } }, .one_cpu = true },
	{ ATTR_REMOVE_ON_EXEC, .with = { { ATTR_COMM, 1 } }, .work = WORK_EXEC },
	{ ATTR_SIGTRAP, .with = { { ATTR_REMOVE_ON_EXEC, 1 } } },
	{ ATTR_DEFER_CALLCHAIN, .with = { { ATTR_SAMPLE_TYPE, PERF_SAMPLE_CALLCHAIN } } },
	{ ATTR_WAKEUP_WATERMARK, 16, .work = 0 },
	{ ATTR_SAMPLE_STACK_USER, 64, .work = 0 },
	{ ATTR_AUX_WATERMARK, 4096, .work = 0 },
	{ ATTR_SAMPLE_MAX_STACK, .chains = true },
	{ ATTR_AUX_SAMPLE_SIZE, 64, .work = 0 },
	{ ATTR_SIG_DATA, 0x5eed, .with = { { ATTR_REMOVE_ON_EXEC, 1 } } },
	{ ATTR_BRANCH_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER, .work = 0 },
};

static const struct recipe *recipe_of(const struct field *f)
{
	static const struct recipe plain;

	/* compare names: the table may list a member twice, at the same offset */
	for (size_t i = 0; i < sizeof(recipes) / sizeof(*recipes); i++)
		if (!strcmp(layout->fields[recipes[i].member].name, f->name))
			return &recipes[i];
	return &plain;
}

/* Return the value to try; for a mask of registers, the first register. */
static uint64_t features_value_of(const struct features *fs, const struct field *f,
				  const uint8_t *base)
{
	const struct recipe *r = recipe_of(f);
	const struct xlat *regs = fs->facts.rules.machine.arch->regs;

	if (r->value)
		return r->value;
	if (f->kind == FIELD_REGS)
		return regs && regs->n ? 1ULL << regs->entries[0].value : 1;
	return field_get(f, base, layout->size) && !f->nbits ?
	       field_get(f, base, layout->size) : 1;
}

static void satisfy(const struct cond *c, uint8_t *attr)
{
	const struct field *f = &layout->fields[c->field];

	if (c->op == COND_EQ && c->field != ATTR_TYPE)
		field_set(f, c->value, attr);
	else if (c->op == COND_MASK)
		field_set(f, field_get(f, attr, layout->size) | (c->value & -c->value), attr);
}

/* Set all that the member requires to have an effect. */
static void accompany(const struct field *f, uint8_t *attr)
{
	const struct recipe *r = recipe_of(f);
	const struct cond *c = &f->needs;

	for (size_t i = 0; i < sizeof(r->with) / sizeof(*r->with); i++)
		if (r->with[i].member)
			features_put(attr, r->with[i].member, r->with[i].value);
	satisfy(&f->when, attr);
	satisfy(c, attr);
}

/* Return whether the kernel reads the member: its WHEN and NEEDS hold. */
static bool applies(const struct features *fs, const struct field *f, const uint8_t *attr)
{
	const struct walk w = {
		.layout = layout, .bytes = attr, .len = layout->size,
		.names = &fs->machine.names,
	};
	const struct field *g;
	size_t at = 0;

	while ((g = layout_next(&w, &at)))
		if (g == f)
			return cond_holds(&w, &f->needs);
	return false;
}

static bool is_about_type(const struct cond *c)
{
	return c->op == COND_EQ && c->field == ATTR_TYPE;
}

/*
 * Try a member on one event; return true if the result cannot improve any more.  If the event
 * does not open without the member, that is an effect, too.
 */
static bool try_on(struct features *fs, struct feature *f, const struct feature_base *b)
{
	const struct field *field = f->what;
	const struct recipe *r = recipe_of(field);
	uint8_t with[FEATURE_ATTR_MAX], without[FEATURE_ATTR_MAX];
	const char *why;
	bool exact;
	struct experiment x = {
		.attr = with, .len = b->len, .work = b->work | r->work,
		.whom = r->one_cpu ? EXPERIMENT_TASK_CPU : EXPERIMENT_TASK,
	};
	struct experiment y;
	const struct observed *a;

	memcpy(without, b->attr, sizeof(without));
	accompany(field, without);
	memcpy(with, without, sizeof(with));
	field_set(field, features_value_of(fs, field, b->attr), with);
	field_set(field, 0, without);
	x.clock = (clockid_t)layout_get(layout, ATTR_CLOCKID, with, b->len);
	if (!applies(fs, field, with))
		return false;
	if (b->untried) {
		features_found(f, FEATURE_UNTRIED, NULL, b->untried);
		return false;
	}
	a = features_observe(fs, &x, 0);
	if (!a)
		return false;
	if (a->error) {
		features_refused(fs, f, &x, a->error, b->name);
		return false;
	}
	if (r->opens)
		return features_found(f, FEATURE_YES, NULL, NULL);
	why = r->file || r->work & WORK_EXEC ? work_lacks_file() : NULL;
	if (why) {
		features_found(f, FEATURE_UNTRIED, NULL, why);
		return false;
	}
	/* an event that does not open without a member of its type shows no effect of that */
	if ((b->probe || is_about_type(&field->when) || is_about_type(&field->needs)) &&
	    features_dead(fs, f, with, x.len, a->count, b->name))
		return false;
	y = x;
	y.attr = without;
	why = r->work & WORK_BPF && fs->bpf_error ?
	      "no BPF program can be loaded to see what it does" :
	      a->ring ? FEATURES_NO_EFFECT : "no ring could be mapped to see what it does";
	/* the counts of a program after an exec depend on where it is loaded */
	exact = b->exact && !(x.work & WORK_EXEC);
	return features_judge(f, features_differ(fs, &x, &y, exact, r->chains), b->name, NULL, why);
}

void features_try_member(struct features *fs, struct feature *f)
{
	const struct field *field = f->what;
	bool done = false;

	for (size_t i = 0; i < fs->nbases && !done; i++) {
		const struct feature_base *b = &fs->bases[i];

		/* try probes that do not open, too, for the reason of their members */
		if (b->probe ? field->when.op == COND_NONE : b->error && !b->untried)
			continue;
		done = try_on(fs, f, b);
	}
	features_nothing_opens(fs, f);
	features_found(f, FEATURE_UNTRIED, NULL, mounts_pmus_missing() ?: "no such PMU here");
}

/* Samples ------------------------------------------------------------------------------ */

/* The data source with which every part is not available. */
static const uint64_t no_source =
	(uint64_t)PERF_MEM_OP_NA << PERF_MEM_OP_SHIFT |
	(uint64_t)PERF_MEM_LVL_NA << PERF_MEM_LVL_SHIFT |
	(uint64_t)PERF_MEM_SNOOP_NA << PERF_MEM_SNOOP_SHIFT |
	(uint64_t)PERF_MEM_LOCK_NA << PERF_MEM_LOCK_SHIFT |
	(uint64_t)PERF_MEM_TLB_NA << PERF_MEM_TLB_SHIFT |
	(uint64_t)PERF_MEM_BLK_NA << PERF_MEM_BLK_SHIFT |
	(uint64_t)PERF_MEM_LVLNUM_NA << PERF_MEM_LVLNUM_SHIFT;

/* Return whether samples with only this part contain more than a placeholder. */
static bool says_something(const struct observed *o, uint64_t bit)
{
	size_t len = o->sizes[PERF_RECORD_SAMPLE];
	const uint8_t *p = o->sample + HEADER;

	if (!o->samples)
		return false;
	len = (len < sizeof(o->sample) ? len : sizeof(o->sample)) - HEADER;
	if (bit == PERF_SAMPLE_CPU) /* which may well be 0 */
		return len >= 8 && load_uint(p, 4) == (uint64_t)o->cpu;
	if (bit == PERF_SAMPLE_RAW) /* its length, and then 4 bytes of 0 where it has none */
		return len > 8 || (len == 8 && load_uint(p + 4, 4));
	if (bit == PERF_SAMPLE_DATA_SRC && len >= 8 &&
	    (load_uint(p, 8) | (uint64_t)PERF_MEM_BLK_NA << PERF_MEM_BLK_SHIFT) == no_source)
		return false;
	for (size_t i = 0; i < len; i++)
		if (p[i])
			return true;
	return false;
}

/* Set the members without which these bits of sample_type have no effect. */
static void fill_members(const struct features *fs, uint64_t bits, uint8_t *attr)
{
	for_each(f, layout->fields, layout->n) {
		if (f->needs.op == COND_MASK && f->needs.field == ATTR_SAMPLE_TYPE &&
		    f->needs.value & bits &&
		    f->offset != layout->fields[ATTR_SAMPLE_MAX_STACK].offset &&
		    !field_get(f, attr, layout->size))
			field_set(f, features_value_of(fs, f, attr), attr);
	}
}

/*
 * Try a bit of sample_type, or of branch_sample_type: combine a level with any branch, and a kind
 * of branch with the user level.
 */
void features_try_sample(struct features *fs, struct feature *f)
{
	bool branch = f->kind->table == &xlat_perf_branch_sample_type;
	bool alone = f->value == PERF_SAMPLE_BRANCH_ANY ||
		     f->value == PERF_SAMPLE_BRANCH_CALL_STACK;
	uint64_t bit = branch ? PERF_SAMPLE_BRANCH_STACK : f->value, branches = 0;
	uint8_t attr[FEATURE_ATTR_MAX];
	struct experiment x = { .attr = attr, .whom = EXPERIMENT_TASK_CPU };
	const struct observed *o;

	if (branch && f->value & PERF_SAMPLE_BRANCH_PLM_ALL)
		branches = f->value | PERF_SAMPLE_BRANCH_ANY;
	else if (branch)
		branches = f->value | PERF_SAMPLE_BRANCH_USER |
			   (alone ? 0 : PERF_SAMPLE_BRANCH_ANY);
	for (size_t i = 0; i < fs->nbases && f->result != FEATURE_YES; i++) {
		const struct feature_base *b = &fs->bases[i];

		if (b->error || b->probe)
			continue;
		x.len = b->len;
		x.work = b->work;
		memcpy(attr, b->attr, sizeof(attr));
		features_put(attr, ATTR_BRANCH_SAMPLE_TYPE, branches);
		features_put(attr, ATTR_SAMPLE_TYPE, bit);
		fill_members(fs, bit, attr);
		o = features_observe(fs, &x, 0);
		if (o && o->error)
			features_refused(fs, f, &x, o->error, b->name);
		else if (o && (o->samples || layout_get(layout, ATTR_TYPE, attr, b->len) !=
			       PERF_TYPE_HARDWARE ||
			       !features_dead(fs, f, attr, b->len, 0, b->name)))
			features_judge(f, features_shows(fs, &x, says_something, bit), b->name,
				       b->name, o->samples ? "field present in samples but empty" :
				       "no sample was written");
	}
	features_nothing_opens(fs, f);
}

/* Try a bit of read_format: a read must return more bytes. */
void features_try_read(struct features *fs, struct feature *f)
{
	uint8_t attr[FEATURE_ATTR_MAX];
	struct experiment x = { .attr = attr };
	const struct observed *a, *o;

	for (size_t i = 0; i < fs->nbases && f->result != FEATURE_YES; i++) {
		if (fs->bases[i].error || fs->bases[i].probe)
			continue;
		x.len = fs->bases[i].len;
		memcpy(attr, fs->bases[i].attr, sizeof(attr));
		o = features_observe(fs, &x, 0);
		features_put(attr, ATTR_READ_FORMAT, f->value);
		a = features_observe(fs, &x, 0);
		if (!a || !o)
			continue;
		if (a->error)
			features_refused(fs, f, &x, a->error, fs->bases[i].name);
		else
			features_found(f, a->read_len > o->read_len ? FEATURE_YES :
				       FEATURE_ACCEPTED, NULL, NULL);
	}
	features_nothing_opens(fs, f);
}

static bool is_in_clock(const struct observed *o, uint64_t unused)
{
	(void)unused;
	return o->in_clock;
}

void features_try_clock(struct features *fs, struct feature *f)
{
	uint8_t attr[FEATURE_ATTR_MAX];
	struct experiment x = { .attr = attr, .clock = (clockid_t)f->value };
	const struct observed *o;

	for (size_t i = 0; i < fs->nbases && f->result != FEATURE_YES; i++) {
		const struct feature_base *b = &fs->bases[i];

		if (b->error || b->probe)
			continue;
		x.len = b->len;
		x.work = b->work;
		memcpy(attr, b->attr, sizeof(attr));
		features_put(attr, ATTR_USE_CLOCKID, 1);
		features_put(attr, ATTR_CLOCKID, f->value);
		features_put(attr, ATTR_SAMPLE_TYPE, PERF_SAMPLE_TIME);
		o = features_observe(fs, &x, 0);
		if (!o)
			continue;
		if (o->error)
			features_refused(fs, f, &x, o->error, b->name);
		else
			features_judge(f, features_shows(fs, &x, is_in_clock, 0), b->name, b->name,
				       "the times of its samples are not of that clock");
	}
	features_nothing_opens(fs, f);
}

/* Events, types, breakpoints ---------------------------------------------------------------- */

static const char *const system_wide = "it would measure other tasks: use --all-cpus";
static const char *const no_tracefs =
	"tracefs cannot be read, which has the numbers of tracepoints";

static bool has_counted(const struct observed *o, uint64_t unused)
{
	(void)unused;
	return o->count;
}

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

	for_each(b, fs->bases, fs->nbases) {
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
