// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel release that the features indicate, and the limits here. */
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "core/host/host.h"
#include "verbs/list/features.h"
#include "verbs/measure/refusal.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

void features_release(const struct features *fs, struct features_release *r)
{
	*r = (struct features_release){ .from = 0 };
	for (size_t i = 0; i < fs->n; i++) {
		const struct feature *f = &fs->list[i];

		if (!f->kind->dated || !f->since)
			continue;
		r->undecided += f->known == FACT_UNKNOWN;
		if (f->known == FACT_NO && (!r->before || f->since < r->before))
			r->before = f->since;
	}
	for (size_t i = 0; i < fs->n; i++) {
		const struct feature *f = &fs->list[i];

		if (f->kind->dated && f->known == FACT_YES && f->since > r->from &&
		    (!r->before || f->since < r->before))
			r->from = f->since;
	}
}

/* Compare major and minor only, as stable updates bring no features. */
bool features_release_fits(const struct features *fs, const struct features_release *r)
{
	uint32_t here = fs->facts.rules.machine.release >> 8;

	return r->from >> 8 <= here && (!r->before || here < r->before >> 8);
}

static bool has(const struct features *fs, unsigned int cap)
{
	/* those that may not count here are said to be by container() */
	return (fs->facts.rules.machine.caps | fs->facts.rules.machine.caps_unread) >> cap & 1;
}

static void paranoid(const struct features *fs, struct buf *out)
{
	int32_t level = fs->facts.rules.machine.paranoid;

	if (has(fs, ABI_CAP_PERFMON) || has(fs, ABI_CAP_SYS_ADMIN))
		return;
	if (fs->facts.rules.machine.unread & UNREAD_PARANOID) {
		buf_adds(out, "perf_event_paranoid cannot be read; without CAP_PERFMON it limits "
			      "what may be measured");
		return;
	}
	buf_addf(out, "perf_event_paranoid is %d without CAP_PERFMON: ", level);
	buf_adds(out, level > 1 ? "no kernel events (features that only count there show as "
				  "accepted), no other users' tasks, no whole CPUs" :
		      level > 0 ? "no other users' tasks, no whole CPUs" :
				  "no other users' tasks");
}

static void administrator(const struct features *fs, struct buf *out)
{
	if (!has(fs, ABI_CAP_SYS_ADMIN))
		buf_adds(out, "no CAP_SYS_ADMIN: no uprobes, no breakpoints in the kernel");
}

static void memory(const struct features *fs, struct buf *out)
{
	struct rlimit limit = { 0, 0 };

	if (has(fs, ABI_CAP_IPC_LOCK) || fs->facts.rules.machine.paranoid < 0)
		return;
	getrlimit(RLIMIT_MEMLOCK, &limit);
	buf_adds(out, "no CAP_IPC_LOCK: rings of this user are limited to ");
	if (fs->facts.mlock_kb >= 0)
		buf_addf(out, "%lld KiB per CPU (perf_event_mlock_kb)",
			 (long long)fs->facts.mlock_kb);
	else
		buf_adds(out, "perf_event_mlock_kb, which cannot be read, per CPU");
	if (limit.rlim_cur != RLIM_INFINITY)
		buf_addf(out, " and %llu KiB more per process (RLIMIT_MEMLOCK)",
			 (unsigned long long)limit.rlim_cur / 1024);
}

static void no_hardware(const struct features *fs, struct buf *out)
{
	const struct rule_machine *m = &fs->facts.rules.machine;

	for (size_t i = 0; i < m->npmus; i++)
		if (m->pmus[i].desc && m->pmus[i].desc->traits & PMU_TRAIT_CORE)
			return;
	if (m->pmus_known != FACT_YES) {
		buf_adds(out, "the PMUs cannot be read from sysfs");
		return;
	}
	buf_adds(out, "no core PMU: no hardware, cache or raw events, no branches");
	if (fs->facts.virtual_machine)
		buf_adds(out, "; this is a virtual machine: its host decides whether it has one");
}

static void tracing(const struct features *fs, struct buf *out)
{
	if (!host_has_tracepoints(fs->machine.host))
		buf_adds(out, "tracefs cannot be read: no tracepoints by name");
}

static void bpf(const struct features *fs, struct buf *out)
{
	if (fs->bpf_error)
		buf_addf(out, "no BPF program can be loaded: %s", strerror(fs->bpf_error));
}

static void container(const struct features *fs, struct buf *out)
{
	if (fs->facts.rules.machine.caps_unread)
		buf_adds(out, "the user namespace cannot be read: perf ignores capabilities of all "
			      "but the first one");
	else if (fs->facts.own_caps & ~fs->facts.rules.machine.caps)
		buf_adds(out, "this is a user namespace: perf ignores its capabilities");
}

static void seccomp(const struct features *fs, struct buf *out)
{
	if (fs->gate)
		refusal_add_gate(out, fs->gate);
	else if (prctl(PR_GET_SECCOMP) == 2)
		buf_adds(out, "a seccomp filter is active, as in containers: it may refuse "
			      "what the kernel accepts");
}

static void security(const struct features *fs, struct buf *out)
{
	const struct rule_machine *m = &fs->facts.rules.machine;

	if (m->lockdown == FACT_YES)
		buf_adds(out, "the kernel is locked down: no registers of interrupted code");
	else if (m->security == FACT_YES)
		buf_adds(out, "SELinux checks perf events, too");
}

/* Limits that more privilege would remove. */
static void denied(const struct features *fs, struct buf *out)
{
	const char *sep = "";

	for (size_t i = 0; i < fs->n; i++) {
		const struct feature *f = &fs->list[i];

		if (f->result != FEATURE_NO || !f->rule || !f->sure ||
		    !(f->rule->by & RULE_BY_CAPS))
			continue;
		buf_addf(out, "%s%s", *sep ? sep : "more privilege would allow ", f->name.data);
		sep = ", ";
	}
}

size_t features_limits(const struct features *fs, struct buf *lines, size_t max)
{
	static void (*const all[])(const struct features *, struct buf *) = {
		paranoid, administrator, memory, denied, no_hardware, tracing, bpf,
		container, seccomp, security,
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all) && n < max; i++) {
		lines[n] = (struct buf){ 0 };
		all[i](fs, &lines[n]);
		n += lines[n].len > 0;
	}
	return n;
}
