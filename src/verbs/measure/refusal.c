// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/measure/refusal.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/abi/strings.h"
#include "experiment/trial.h"
#include "core/host/rights.h"
#include "core/lib/die.h"
#include "verbs/measure/reason.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

/*
 * The highest perf_event_paranoid with which a user may measure a whole CPU, and the lowest with
 * which none may count the kernel.
 */
enum { SYSTEM_LEVEL = 0, USER_LEVEL = 2 };

bool refusal_may_count_kernel(void)
{
	return rights_perfmon() ||
	       rights_sysctl("perf_event_paranoid", USER_LEVEL) < USER_LEVEL;
}

void refusal_rights(struct buf *out)
{
	long level = rights_sysctl("perf_event_paranoid", LONG_MIN);

	if (level == LONG_MIN)
		buf_adds(out, "perf_event_paranoid cannot be read here");
	else
		buf_addf(out, "perf_event_paranoid is %ld here", level);
	buf_adds(out, "; CAP_PERFMON (or root) overrides it");
}

void refusal_gate(const struct confinement *c, struct buf *out)
{
	buf_adds(out, "every call fails before it reaches perf");
	if (!c->seccomp) {
		buf_adds(out, ", though this process has no seccomp filter");
		return;
	}
	buf_addf(out, ": this process has a seccomp filter (Seccomp is %d", c->seccomp);
	if (c->filters)
		buf_addf(out, ", Seccomp_filters %d", c->filters);
	buf_addf(out, ", NoNewPrivs %d), as containers and sandboxes set them; allow "
		      "perf_event_open in its profile", c->no_new_privs);
}

void refusal_descriptors(const char *verb, size_t n)
{
	struct rlimit limit = { 0, 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	warn("%s requires %zu more descriptors: the limit of %llu is reached (EMFILE; hard "
	     "limit %llu); raise it (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of "
	     "containers)", verb, n,
	     (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
}

bool refusal_is_gate(int error)
{
	/* filters return these; for other errors avoid the trial, which a trace would show */
	return (error == EPERM || error == EACCES || error == ENOSYS) && trial_gate() == error;
}

void refusal_gate_words(struct buf *out, int error)
{
	struct confinement c;

	confinement_read(&c);
	if (error == ENOSYS && !c.seccomp)
		buf_adds(out, "the kernel is built without perf events");
	else
		refusal_gate(&c, out);
}

bool refusal_add_gate(struct buf *out, int error)
{
	bool gate = refusal_is_gate(error);

	if (gate)
		refusal_gate_words(out, error);
	return gate;
}

static void add_advice(struct buf *out, int error, bool system, const struct rule_desc *rule)
{
	struct rlimit limit;

	switch (error) {
	case EACCES:
	case EPERM:
		if (!rule)
			break;
		/* the level matters only to rules that check it */
		if (rule->by & RULE_BY_PARANOID) {
			buf_adds(out, "; ");
			refusal_rights(out);
			if (system)
				buf_addf(out, "; events of a whole CPU require %d "
					 "or less", SYSTEM_LEVEL);
		} else if (rule->by & RULE_BY_TASK) {
			buf_adds(out, "; processes of other users require "
				      "CAP_PERFMON (or root)");
		}
		break;
	case EMFILE:
		if (!getrlimit(RLIMIT_NOFILE, &limit))
			buf_addf(out, "; the limit is %llu: raise it (ulimit -n)",
				 (unsigned long long)limit.rlim_cur);
		break;
	default:
		break;
	}
}

void refusal_open(const char *event, int error, bool system, const struct reason *r)
{
	const struct xlat_entry *e = xlat_find(&xlat_perf_open_errno, (uint64_t)error);
	const char *name = error_name(error);
	struct buf text = { 0 };
	bool gate = refusal_add_gate(&text, error);

	if (!gate) {
		if (r->rule)
			buf_addf(&text, "%s%s (rule %s)", r->sure ? "" : "perhaps: ",
				 r->rule->meaning, r->rule->name);
		else
			buf_adds(&text, e ? e->meaning : strerror(error));
		add_advice(&text, error, system, r->rule);
	}
	warn("cannot open '%s': %s: %s", event, name ? name : "error", buf_str(&text));
	if (!gate)
		warn("find out more with: %s", buf_str(&r->command));
	buf_free(&text);
}

void refusal_map(size_t rings, size_t pages, int error)
{
	unsigned long long kib = (1 + pages) * (unsigned long long)sysconf(_SC_PAGESIZE) / 1024;
	struct rlimit limit = { 0 };
	struct buf each = { 0 };
	long mlock;

	switch (error) {
	case EPERM:
		getrlimit(RLIMIT_MEMLOCK, &limit);
		mlock = rights_sysctl("perf_event_mlock_kb", -1);
		if (mlock >= 0)
			buf_addf(&each, "%ld KiB ", mlock);
		warn("cannot map %zu rings of %llu KiB: more than perf_event_mlock_kb (%s"
		     "for each CPU) and ulimit -l (%llu KiB) allow; use fewer pages with "
		     "--mmap, or CAP_IPC_LOCK", rings, kib, buf_str(&each),
		     (unsigned long long)limit.rlim_cur / 1024);
		buf_free(&each);
		break;
	case EINVAL:
		warn("cannot map a ring of %zu pages: EINVAL: use a power of two; an event of "
		     "any CPU with inherit=1 cannot have a ring, and all events must have the "
		     "same clock (use_clockid, clockid)", pages);
		break;
	case ENOMEM:
		warn("cannot map a ring of %llu KiB: out of memory; use fewer pages with "
		     "--mmap", kib);
		break;
	default:
		warn("cannot map a ring of %zu pages: %s", pages, strerror(error));
	}
}

void refusal_aux(size_t pages, int error)
{
	if (error == EOPNOTSUPP)
		warn("cannot map an AUX area: EOPNOTSUPP: no PMU of these events writes AUX "
		     "data, as intel_pt, intel_bts, arm_spe and cs_etm do; omit --aux");
	else if (error == EPERM)
		warn("cannot map an AUX area of %zu pages: EPERM: rings and areas exceed what "
		     "perf_event_mlock_kb and ulimit -l allow; use fewer pages with --aux, or "
		     "CAP_IPC_LOCK", pages);
	else if (error == EINVAL)
		warn("cannot map an AUX area of %zu pages: EINVAL: an event of any CPU with "
		     "inherit=1 cannot have one", pages);
	else
		warn("cannot map an AUX area of %zu pages: %s", pages, strerror(error));
}
