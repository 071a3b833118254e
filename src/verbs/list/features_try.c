// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events to try features on, and the evaluation of a trial. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/abi/tables.h"
#include "core/host/pmu.h"
#include "core/judge/judge.h"
#include "core/lib/die.h"
#include "core/model/event_name.h"
#include "engine/rings/bpf.h"
#include "experiment/trial.h"
#include "experiment/work.h"
#include "verbs/list/features.h"

/* Bits of misc to compare: the CPU mode of samples differs from run to run. */
#define MISC_OWN (~(uint16_t)PERF_RECORD_MISC_CPUMODE_MASK)

static const struct layout *const attr_layout = &layout_perf_event_attr;

void features_put(uint8_t *attr, unsigned int index, uint64_t v)
{
	field_set(&attr_layout->fields[index], v, attr);
}

size_t features_attr(struct features *fs, uint32_t type, uint64_t config, uint8_t *attr)
{
	const struct rule_machine *m = &fs->facts.rules.machine;

	memset(attr, 0, FEATURE_ATTR_MAX);
	features_put(attr, ATTR_TYPE, type);
	features_put(attr, ATTR_SIZE, attr_layout->size);
	features_put(attr, ATTR_CONFIG, config);
	features_put(attr, ATTR_EXCLUDE_KERNEL,
		     (m->unread & UNREAD_PARANOID || m->paranoid >= 2) &&
		     !(m->caps & (1ULL << ABI_CAP_PERFMON | 1ULL << ABI_CAP_SYS_ADMIN)));
	return attr_layout->size;
}

/* Runs --------------------------------------------------------------------------------- */

struct features_experiment {
	struct experiment x;	/* without its attr, which is the next member */
	uint8_t attr[FEATURE_ATTR_MAX];
	struct observed *seen[FEATURE_RUNS];	/* owned */
	size_t n;
};

static bool features_same(const struct features_experiment *e, const struct experiment *x)
{
	const struct experiment *y = &e->x;

	return x->len == y->len && !memcmp(x->attr, e->attr, x->len) && x->whom == y->whom &&
	       x->flags == y->flags && x->work == y->work && x->clock == y->clock &&
	       x->other == y->other && x->grouped == y->grouped && x->ioctl == y->ioctl &&
	       x->when == y->when && x->bpf == y->bpf;
}

static struct features_experiment *features_experiment(struct features *fs,
							const struct experiment *x)
{
	struct features_experiment *e;

	for (size_t i = 0; i < fs->nexperiments; i++)
		if (features_same(&fs->experiments[i], x))
			return &fs->experiments[i];
	APPEND(fs->experiments, fs->nexperiments) = (struct features_experiment){ .x = *x };
	e = &fs->experiments[fs->nexperiments - 1];
	e->x.attr = NULL;
	memcpy(e->attr, x->attr, x->len);
	return e;
}

const struct observed *features_observe(struct features *fs, const struct experiment *x, size_t n)
{
	struct features_experiment *e = features_experiment(fs, x);

	for (; e->n <= n; e->n++) {
		struct observed *o = xrealloc(NULL, sizeof(*o));

		if (!experimenter_run(&fs->experimenter, x, o)) {
			free(o);
			return NULL;
		}
		e->seen[e->n] = o;
	}
	return e->seen[n];
}

void features_runs_free(struct features *fs)
{
	experimenter_end(&fs->experimenter);
	for (size_t i = 0; i < fs->nexperiments; i++)
		for (size_t j = 0; j < fs->experiments[i].n; j++)
			free(fs->experiments[i].seen[j]);
	free(fs->experiments);
}

/* Bases ------------------------------------------------------------------------------- */

static struct feature_base *add_base(struct features *fs, uint32_t type, uint64_t config,
				     uint64_t period)
{
	struct feature_base *b = &fs->bases[fs->nbases++];
	struct buf name = { 0 };

	*b = (struct feature_base){ .error = 0 };
	b->len = features_attr(fs, type, config, b->attr);
	features_put(b->attr, ATTR_EXCLUDE_KERNEL, 0); /* no modifiers in the name */
	event_name(b->attr, b->len, &fs->machine.names, &name);
	snprintf(b->name, sizeof(b->name), "%s", buf_str(&name));
	buf_free(&name);
	b->len = features_attr(fs, type, config, b->attr);
	features_put(b->attr, ATTR_SAMPLE_PERIOD, period);
	return b;
}

/*
 * One that a task meets whenever it calls the kernel, if we may know its number.  The close of
 * the last event of a tracepoint takes some 50 ms: perf_trace_event_unreg() waits for all
 * CPUs.  An event that is held throughout the trials leaves that to the end.
 */
static void add_tracepoint(struct features *fs)
{
	struct feature_base *b;
	uint8_t attr[FEATURE_ATTR_MAX];
	uint64_t id;

	if (host_tracepoint_id(fs->machine.host, "raw_syscalls:sys_enter", &id) &&
	    host_tracepoint_id(fs->machine.host, "sched:sched_switch", &id))
		return;
	b = add_base(fs, PERF_TYPE_TRACEPOINT, id, 1);
	memcpy(attr, b->attr, sizeof(attr));
	features_put(attr, ATTR_DISABLED, 1);
	fs->held = open_event(attr, b->len, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void add_probe(struct features *fs, const char *pmu)
{
	struct feature_base *b;
	int64_t type = host_pmu_type(fs->machine.host, pmu);

	if (type < 0)
		return;
	b = add_base(fs, (uint32_t)type, 0, 1);
	snprintf(b->name, sizeof(b->name), "%s", pmu);
	b->probe = true;
	if (!strcmp(pmu, "uprobe")) {
		b->untried = work_lacks_probe();
		features_put(b->attr, ATTR_UPROBE_PATH, (uintptr_t)WORK_FILE);
		features_put(b->attr, ATTR_PROBE_OFFSET, work_called_offset());
	} else {
		/* a disabled one changes nothing in the kernel's code */
		features_put(b->attr, ATTR_KPROBE_FUNC, (uintptr_t)"vfs_read");
		features_put(b->attr, ATTR_DISABLED, 1);
	}
}

void features_prepare(struct features *fs)
{
	struct experiment x = { .whom = EXPERIMENT_TASK };
	const struct observed *o;
	struct feature_base *b;
	int fd;

	fs->held = -1;
	fs->attr_size = trial_attr_size();
	fs->facts.rules.machine.attr_size = fs->attr_size;
	fs->facts.rules.machine.denies_all = trial_denies_all(&fs->facts.rules.machine);
	add_base(fs, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 100000)->work = WORK_SPIN;
	add_base(fs, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1)->exact = true;
	b = add_base(fs, PERF_TYPE_BREAKPOINT, 0, 1);
	/* its own name would have the address */
	snprintf(b->name, sizeof(b->name), "breakpoint");
	features_put(b->attr, ATTR_BP_TYPE, HW_BREAKPOINT_W);
	features_put(b->attr, ATTR_BP_ADDR, work_watched());
	features_put(b->attr, ATTR_BP_LEN, HW_BREAKPOINT_LEN_4);
	features_put(b->attr, ATTR_EXCLUDE_KERNEL, 1);
	b->exact = true;
	add_base(fs, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 1);
	add_base(fs, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 100000)->work = WORK_SPIN;
	add_tracepoint(fs);
	add_probe(fs, "uprobe");
	add_probe(fs, "kprobe");
	for (size_t i = 0; i < fs->nbases; i++) {
		b = &fs->bases[i];
		x.attr = b->attr;
		x.len = b->len;
		o = b->untried ? NULL : features_observe(fs, &x, 0);
		b->error = o ? o->error : ECHILD;
		b->untried = b->untried ?: instrument_in_use(b->attr, b->len, b->error);
	}
	fd = bpf_load(BPF_PROG_TYPE_PERF_EVENT, 0);
	fs->bpf_error = fd < 0 ? -fd : 0;
	if (fd >= 0)
		close(fd);
}

const struct feature_base *features_any(const struct features *fs)
{
	for (size_t i = 0; i < fs->nbases; i++)
		if (!fs->bases[i].error && !fs->bases[i].probe)
			return &fs->bases[i];
	return NULL;
}

bool features_nothing_opens(const struct features *fs, struct feature *f)
{
	bool none = !features_any(fs);

	if (none)
		features_found(f, FEATURE_UNTRIED, NULL, "no event can be opened");
	return none;
}

/* What a trial says ------------------------------------------------------------------- */

static bool differ(const struct observed *a, const struct observed *b, bool exact, bool chains)
{
	/* records that depend on the load of the machine */
	const uint64_t chance = 1ULL << PERF_RECORD_LOST | 1ULL << PERF_RECORD_THROTTLE |
				1ULL << PERF_RECORD_UNTHROTTLE;

	if (!a->error != !b->error || !a->count != !b->count ||
	    (exact && a->count != b->count) || a->read_len != b->read_len ||
	    a->cloexec != b->cloexec || a->traps != b->traps ||
	    a->sig_data != b->sig_data || a->members != b->members ||
	    a->wrote != b->wrote || (exact && a->woken != b->woken))
		return true;
	if (!a->ring || !b->ring)
		return false;
	if ((a->types ^ b->types) & ~chance || a->backward != b->backward ||
	    !a->samples != !b->samples || (exact && a->samples != b->samples) ||
	    a->kernel_chain != b->kernel_chain || a->user_chain != b->user_chain ||
	    (chains && a->longest != b->longest) ||
	    a->in_clock != b->in_clock)
		return true;
	for (size_t i = 0; i < OBSERVED_TYPES; i++) {
		if (!a->sizes[i] || !b->sizes[i])
			continue;
		if ((a->misc[i] ^ b->misc[i]) & MISC_OWN)
			return true;
		/* the length of the first callchain varies */
		if (a->sizes[i] != b->sizes[i] &&
		    !(i == PERF_RECORD_SAMPLE && (a->longest || b->longest)))
			return true;
	}
	return false;
}

/* An experiment is repeated until one answer is so far ahead of the other. */
enum { AHEAD = 2 };

/* Count an answer; return whether that decides, with the verdict. */
static bool decides(bool different, int *ahead, enum features_verdict *v)
{
	*ahead += different ? 1 : -1;
	*v = *ahead > 0 ? FEATURES_DIFFERENT : FEATURES_SAME;
	return *ahead == AHEAD || *ahead == -AHEAD;
}

enum features_verdict features_differ(struct features *fs, const struct experiment *x,
				      const struct experiment *y, bool exact, bool chains)
{
	const struct observed *a, *b;
	enum features_verdict v;
	int ahead = 0;

	for (size_t n = 0; n < FEATURE_RUNS; n++) {
		a = features_observe(fs, x, n);
		b = features_observe(fs, y, n);
		/* others may have all breakpoints meanwhile */
		if (a && b && !a->error && decides(differ(a, b, exact, chains), &ahead, &v))
			return v;
	}
	return FEATURES_UNSTEADY;
}

enum features_verdict features_shows(struct features *fs, const struct experiment *x,
				     bool (*shows)(const struct observed *o, uint64_t arg),
				     uint64_t arg)
{
	const struct observed *o;
	enum features_verdict v;
	int ahead = 0;

	for (size_t n = 0; n < FEATURE_RUNS; n++) {
		o = features_observe(fs, x, n);
		if (o && !o->error && decides(shows(o, arg), &ahead, &v))
			return v;
	}
	return FEATURES_UNSTEADY;
}

bool features_judge(struct feature *f, enum features_verdict v, const char *on,
		    const char *accepted_on, const char *why)
{
	if (v == FEATURES_DIFFERENT)
		return features_found(f, FEATURE_YES, on, NULL);
	if (v == FEATURES_SAME) {
		features_found(f, FEATURE_ACCEPTED, accepted_on, why);
	} else if (f->result <= FEATURE_ACCEPTED) {
		f->result = FEATURE_UNTRIED;
		features_found(f, FEATURE_ACCEPTED, on, "its effect was observed in some runs only");
	}
	return false;
}

bool features_found(struct feature *f, enum feature_result r, const char *on,
		    const char *why)
{
	if (r > FEATURE_NO)
		f->known = FACT_YES;
	if (r <= f->result && !(f->result == FEATURE_UNTRIED && !f->why.len))
		return false;
	f->result = r;
	f->on = on;
	f->error = 0;
	f->rule = NULL;
	buf_reset(&f->why);
	if (why)
		buf_adds(&f->why, why);
	return true;
}

bool features_dead(struct features *fs, struct feature *f, const uint8_t *attr, size_t len,
		   uint64_t count, const char *on)
{
	struct buf why = { 0 };
	bool dead = instrument_doubt(&fs->instruments, attr, len, count, &why);

	if (dead)
		features_found(f, FEATURE_DEAD, on, buf_str(&why));
	buf_free(&why);
	return dead;
}

/* A number for the descriptor of the group leader, for the rules. */
enum { OTHER_FD = 3 };

static struct rule_ask ask_of(const struct experiment *x, const struct rule_facts *facts)
{
	return (struct rule_ask){
		.attr = x->attr, .len = x->len, .pid = x->whom == EXPERIMENT_CPU ? -1 : 0,
		.cpu = x->whom == EXPERIMENT_TASK ? -1 : 0, .group_fd = x->grouped ? OTHER_FD : -1,
		.flags = x->flags, .facts = facts,
	};
}

/*
 * Return whether the kernel knows the refused feature.  It does not if no rule of the newest
 * kernel explains the refusal.
 */
static enum fact known_by(const struct features *fs, const struct experiment *x, int error)
{
	struct rule_facts facts = fs->facts.rules;
	struct judgement j;

	facts.machine.release = 0;
	facts.machine.attr_size = 0;
	judge_open(&(struct judge_case){ .ask = ask_of(x, &facts), .seen = error }, &j);
	if (!features_any(fs)) /* a filter may have answered instead of the kernel */
		return FACT_UNKNOWN;
	if (error != EINVAL && error != E2BIG && error != ENOENT)
		return FACT_YES;
	return j.rule ? FACT_UNKNOWN : FACT_NO;
}

void features_refused(struct features *fs, struct feature *f, const struct experiment *x,
		      int error, const char *on)
{
	const struct judge_case c = { .ask = ask_of(x, &fs->facts.rules), .seen = error };
	const char *in_use = instrument_in_use(x->attr, x->len, error);
	struct judgement j;
	enum fact known;

	/* the kernel lowers perf_event_max_sample_rate when interrupts take long */
	facts_refresh(&fs->facts);
	facts_target(&fs->facts, &c.ask);
	/* without the leader's attr, rules about it are unknown */
	fs->facts.rules.target.group = (struct rule_group){
		.event = FACT_YES, .alive = FACT_YES, .leads = FACT_YES,
		.same_task = FACT_YES, .same_cgroup = FACT_YES, .ring = FACT_YES,
	};
	fs->facts.rules.target.breakpoint = FACT_YES; /* the child has none */
	known = known_by(fs, x, error);
	if (f->known == FACT_UNKNOWN || known == FACT_YES)
		f->known = known;
	if (error == EMFILE || error == ENFILE)
		fs->ran_out = error;
	if (in_use)
		features_found(f, FEATURE_UNTRIED, NULL, in_use);
	if (in_use || !features_found(f, FEATURE_NO, on, NULL))
		return;
	judge_open(&c, &j);
	f->error = error;
	f->rule = j.rule;
	f->sure = j.sure;
}
